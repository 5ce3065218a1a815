//! Results as JUnit XML.

use super::{Results, Suite};
use crate::commands::test::runner::Ran;
use crate::commands::test::text::reason_lines;
use crate::term::Style;
use std::fmt::Write as _;

/// Formats one `testsuite` for each guard. Tests run on a simulated clock, so they take no time.
pub fn render(results: &Results) -> String {
    let (ran, failed) = results.counts();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuites tests=\"{ran}\" failures=\"{failed}\" errors=\"{}\">",
        results.broken
    );
    for suite in &results.suites {
        one(&mut out, suite);
    }
    out.push_str("</testsuites>\n");
    out
}

fn one(out: &mut String, suite: &Suite) {
    let failed = suite.ran.iter().filter(|ran| ran.failure.is_some()).count();
    let name = escape(&suite.file);
    let _ = writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"0\">",
        suite.ran.len()
    );
    for ran in &suite.ran {
        case(out, suite, ran);
    }
    out.push_str("  </testsuite>\n");
}

fn case(out: &mut String, suite: &Suite, ran: &Ran) {
    let head = format!(
        "    <testcase classname=\"{}\" name=\"{}\"",
        escape(&suite.guard),
        escape(&ran.title)
    );
    let Some(failed) = &ran.failure else {
        let _ = writeln!(out, "{head}/>");
        return;
    };
    let message = format!("expected {}, got {}", failed.expected, failed.got);
    let mut body = format!("{}: {}\n", failed.at, failed.step);
    for reason in &failed.reasons {
        body.push_str(&reason_lines(reason, Style { on: false }));
    }
    let _ = writeln!(
        out,
        "{head}>\n      <failure message=\"{}\">{}</failure>\n    </testcase>",
        escape(&message),
        escape(&body)
    );
}

/// Escapes text and attributes; characters that XML cannot represent become `?`.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push('\t'),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}
