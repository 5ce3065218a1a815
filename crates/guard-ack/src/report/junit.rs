//! The report as JUnit XML.

use super::{findings, rerun};
use crate::run::{AckReport, CaseOutcome, CaseVerdict};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// Returns one suite, with one test per case; unreadable cases are errors.
pub fn junit(report: &AckReport, command: &str) -> String {
    let mut suite = TestSuite::new("guard-ack");
    for outcome in &report.outcomes {
        let (area, name) = outcome.name.split_once('/').unwrap_or(("", &outcome.name));
        let mut case = TestCase::new(name, status(report, outcome, command));
        case.set_classname(area);
        case.set_time(Duration::from_millis(outcome.took));
        suite.add_test_case(case);
    }
    for case in &report.unreadable {
        let problems = case.problems.iter();
        let problems: Vec<String> =
            problems.map(|problem| format!("{}:{}: {problem}", case.file, problem.line)).collect();
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message("the case cannot be read");
        status.set_description(problems.join("\n"));
        let mut case = TestCase::new(case.name.as_str(), status);
        case.set_classname("cases");
        suite.add_test_case(case);
    }
    suite.set_time(Duration::from_millis(report.took));
    let mut all = quick_junit::Report::new("guard-ack");
    all.set_time(Duration::from_millis(report.took));
    all.add_test_suite(suite);
    // INVARIANT: writing to memory does not fail.
    all.to_string().expect("XML in memory")
}

fn status(report: &AckReport, outcome: &CaseOutcome, command: &str) -> TestCaseStatus {
    let skipped = |message: String| {
        let mut status = TestCaseStatus::skipped();
        status.set_message(message);
        status
    };
    let found = |kind| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_message(outcome.claim.as_str());
        let findings: Vec<String> = findings(outcome)
            .into_iter()
            .map(|(promise, expected, observed)| {
                format!("{promise}\nexpected: {expected}\nobserved: {observed}")
            })
            .collect();
        let again = rerun(report, outcome, command);
        let hint = outcome.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
        status.set_description(format!("{}{hint}\nagain: {again}", findings.join("\n")));
        status
    };
    match (&outcome.verdict, outcome.is_finding()) {
        (CaseVerdict::Passed, false) => TestCaseStatus::success(),
        (CaseVerdict::Passed, true) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message("known to fail, and passed");
            status
        }
        (CaseVerdict::Skipped(missing), _) => skipped(format!("`{missing}` is not declared")),
        (_, false) => skipped("known to fail".into()),
        (CaseVerdict::Errored(_), true) => found(NonSuccessKind::Error),
        (CaseVerdict::Failed(_), true) => found(NonSuccessKind::Failure),
    }
}
