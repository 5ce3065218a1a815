//! The report for a pull request.

use super::{Tier, counts, findings, rerun, tiers};
use crate::run::AckReport;
use guard_plan::markup::escape;
use std::fmt::Write as _;

/// Returns a table of the tiers, and a folded section for each finding.
pub fn markdown(report: &AckReport, command: &str) -> String {
    let mut out =
        format!("### Guard conformance: {} {}\n\n", report.adapter.name, report.adapter.version);
    out.push_str(
        "| tier | passed | failed | errored | skipped |\n| --- | ---: | ---: | ---: | ---: |\n",
    );
    for Tier { number, name, total, passed, failed, errored, skipped } in tiers(report) {
        let tier = format!("{number} {name} | {passed} of {total} | {failed} | {errored}");
        let _ = writeln!(out, "| {tier} | {skipped} |");
    }
    let cases = format!("{} cases: {}", report.outcomes.len(), counts(report));
    let _ = writeln!(out, "\n{cases}. Seed {}, suite `{}`.", report.seed, report.suite);
    for file in &report.unreadable {
        for problem in &file.problems {
            let _ = writeln!(out, "\n- `{}:{}`: {problem}", file.file, problem.line);
        }
    }
    for outcome in report.outcomes.iter().filter(|outcome| outcome.is_finding()) {
        let _ = writeln!(
            out,
            "\n<details><summary>{}: <code>{}</code> {}</summary>\n",
            outcome.verdict.word(),
            outcome.name,
            escape(&outcome.claim)
        );
        for (promise, expected, observed) in findings(outcome) {
            let expected = code(&expected);
            let observed = code(&observed);
            let lines = format!("  - expected: {expected}\n  - observed: {observed}");
            let _ = writeln!(out, "- **{promise}**\n{lines}");
        }
        if outcome.known {
            let _ = writeln!(out, "- it is known to fail, and passed: take it off the list");
        }
        let _ = writeln!(out, "\n`{}`\n\n</details>", rerun(report, outcome, command));
    }
    out
}

/// Formats any text as code.
fn code(text: &str) -> String {
    let line = text.replace(['\n', '\r'], " ");
    let longest = line.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    format!("{fence} {line} {fence}")
}
