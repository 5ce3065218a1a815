//! Results as JUnit XML.

use super::runner::{FailedStep, TestResult};
use super::text::reason_lines;
use super::{Results, TestedGuard};
use crate::failure::Failure;
use crate::term::Style;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// Formats one `testsuite` for each guard. Tests run on a simulated clock, so they take no time.
pub fn render(results: &Results) -> Result<String, Failure> {
    let mut report = Report::new("guardc test");
    report.add_test_suites(results.suites.iter().map(test_suite));
    report.errors += results.broken;
    Ok(report.to_string()?)
}

fn test_suite(suite: &TestedGuard) -> TestSuite {
    let mut tests = TestSuite::new(suite.file.as_str());
    tests.add_test_cases(suite.ran.iter().map(|ran| test_case(suite, ran)));
    tests
}

fn test_case(suite: &TestedGuard, ran: &TestResult) -> TestCase {
    let status = ran.failure.as_ref().map_or_else(TestCaseStatus::success, failure);
    let mut case = TestCase::new(ran.title.as_str(), status);
    case.set_classname(suite.guard.as_str());
    case
}

fn failure(failed: &FailedStep) -> TestCaseStatus {
    let mut body = format!("{}: {}\n", failed.at, failed.step);
    if let Some(beginning) = &failed.beginning {
        body.push_str(&format!("begins after `{beginning}`, which fails at this step\n"));
    }
    for reason in &failed.reasons {
        body.push_str(&reason_lines(reason, Style { on: false }));
    }
    for note in &failed.notes {
        body.push_str(&format!("noted {note}\n"));
    }
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_message(format!("expected {}, got {}", failed.expected, failed.got));
    status.set_description(body);
    status
}
