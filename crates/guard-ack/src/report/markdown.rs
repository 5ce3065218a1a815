//! The report for a pull request.

use super::{counts, findings, rerun, tiers};
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
    for tier in tiers(report) {
        let _ = writeln!(
            out,
            "| {} {} | {} of {} | {} | {} | {} |",
            tier.number,
            tier.name,
            tier.passed,
            tier.total,
            tier.failed,
            tier.errored,
            tier.skipped
        );
    }
    let _ = writeln!(
        out,
        "\n{} cases: {}. Seed {}, suite `{}`.",
        report.outcomes.len(),
        counts(report),
        report.seed,
        report.suite
    );
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
            let _ = writeln!(
                out,
                "- **{promise}**\n  - expected: {}\n  - observed: {}",
                code(&expected),
                code(&observed)
            );
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
