//! The report for a pull request.

use super::{Tier, counts, findings, rerun, tiers};
use crate::run::AckReport;
use guard_plan::markup::escape;
use std::fmt::Write as _;

/// Returns a table of the tiers, and a folded section for each finding.
pub fn markdown(report: &AckReport, command: &str) -> String {
    let name = plain(&report.adapter.name);
    let mut out = format!("### Guard conformance: {name} {}\n\n", plain(&report.adapter.version));
    out.push_str(
        "| tier | passed | failed | errored | skipped |\n| --- | ---: | ---: | ---: | ---: |\n",
    );
    for Tier { number, name, total, passed, failed, errored, skipped } in tiers(report) {
        let tier = format!("{number} {name} | {passed} of {total} | {failed} | {errored}");
        let _ = writeln!(out, "| {tier} | {skipped} |");
    }
    let cases = format!("{} cases: {}", report.outcomes.len(), counts(report));
    let _ = writeln!(out, "\n{cases}. Seed {}, suite {}.", report.seed, code(&report.suite));
    for file in &report.unreadable {
        for problem in &file.problems {
            let at = code(&format!("{}:{}", file.file, problem.line));
            let _ = writeln!(out, "\n- {at}: {}", plain(&problem.to_string()));
        }
    }
    for outcome in report.outcomes.iter().filter(|outcome| outcome.is_finding()) {
        let _ = writeln!(
            out,
            "\n<details><summary>{}: <code>{}</code> {}</summary>\n",
            outcome.verdict.word(),
            one_line(&escape(&outcome.name)),
            one_line(&escape(&outcome.claim))
        );
        for (promise, expected, observed) in findings(outcome) {
            let expected = code(&expected);
            let observed = code(&observed);
            let lines = format!("  - expected: {expected}\n  - observed: {observed}");
            let _ = writeln!(out, "- **{}**\n{lines}", plain(&promise));
        }
        if outcome.known {
            let _ = writeln!(out, "- it is known to fail, and passed: take it off the list");
        }
        let again = code(&rerun(report, outcome, command));
        let _ = writeln!(out, "\n{again}\n\n</details>");
    }
    out
}

/// Formats any text as text: none of its characters begins a tag, a link, code or a cell.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(&escape(text)).chars() {
        if "\\`*[]|".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Formats any text as code.
pub(super) fn code(text: &str) -> String {
    let line = one_line(text);
    let longest = line.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    match longest {
        0 => format!("{fence}{line}{fence}"),
        _ => format!("{fence} {line} {fence}"),
    }
}

/// Returns a text without line breaks, which would end its paragraph.
fn one_line(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}
