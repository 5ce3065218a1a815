//! The report as JUnit XML.

use super::{escaped, findings, rerun};
use crate::run::{Report, Verdict};
use std::fmt::Write as _;

/// Returns one suite, with one test per case; unreadable cases are errors.
pub fn junit(report: &Report, command: &str) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let known = |word: &str| {
        report.outcomes.iter().filter(|it| it.verdict.word() == word && it.is_finding()).count()
    };
    let surprises =
        report.outcomes.iter().filter(|it| it.verdict == Verdict::Passed && it.known).count();
    let _ = writeln!(
        out,
        "<testsuite name=\"guard-ack\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
        report.outcomes.len() + report.unreadable.len(),
        known("failed") + surprises,
        known("errored") + report.unreadable.len(),
        report.outcomes.iter().filter(|it| skips(it.verdict.word(), it.is_finding())).count(),
    );
    for one in &report.outcomes {
        let (area, name) = one.name.split_once('/').unwrap_or(("", &one.name));
        let _ =
            write!(out, "  <testcase classname=\"{}\" name=\"{}\"", escaped(area), escaped(name));
        let text: Vec<String> = findings(one)
            .into_iter()
            .map(|(promise, expected, observed)| {
                format!("{promise}\nexpected: {expected}\nobserved: {observed}")
            })
            .collect();
        let text = format!("{}\nagain: {}", text.join("\n"), rerun(report, one, command));
        let _ = match (&one.verdict, one.is_finding()) {
            (Verdict::Passed, false) => writeln!(out, "/>"),
            (Verdict::Passed, true) => {
                writeln!(out, "><failure message=\"known to fail, and passed\"/></testcase>")
            }
            (Verdict::Skipped(missing), _) => {
                writeln!(
                    out,
                    "><skipped message=\"`{}` is not declared\"/></testcase>",
                    escaped(missing)
                )
            }
            (_, false) => writeln!(out, "><skipped message=\"known to fail\"/></testcase>"),
            (Verdict::Errored(_), true) => {
                writeln!(
                    out,
                    "><error message=\"{}\">{}</error></testcase>",
                    escaped(&one.claim),
                    escaped(&text)
                )
            }
            (Verdict::Failed(_), true) => {
                writeln!(
                    out,
                    "><failure message=\"{}\">{}</failure></testcase>",
                    escaped(&one.claim),
                    escaped(&text)
                )
            }
        };
    }
    for one in &report.unreadable {
        let text: Vec<String> =
            one.problems.iter().map(|it| format!("{}:{}: {it}", one.file, it.line)).collect();
        let _ = writeln!(
            out,
            "  <testcase classname=\"cases\" name=\"{}\"><error message=\"the case cannot be read\">{}</error></testcase>",
            escaped(&one.name),
            escaped(&text.join("\n"))
        );
    }
    out.push_str("</testsuite>\n");
    out
}

fn skips(word: &str, finding: bool) -> bool {
    word == "skipped" || (word != "passed" && !finding)
}
