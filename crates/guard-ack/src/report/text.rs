//! The report for a terminal.

use super::{counts, findings, rerun, tiers};
use crate::run::{Outcome, Report, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The number of findings shown in full.
const WHOLE: usize = 4;
/// The number of further findings listed: the report should fit a screen.
const NAMED: usize = 12;

/// Returns a table of the tiers, followed by the findings. `command` starts the adapter.
pub fn text(report: &Report, command: &str) -> String {
    let mut out = String::new();
    let version = &report.adapter.version;
    let name = if report.adapter.name.is_empty() { "the adapter" } else { &report.adapter.name };
    let _ = writeln!(out, "{name} {version}, seed {}", report.seed);
    let _ = writeln!(out, "\n  tier            passed  failed  errored  skipped");
    for tier in tiers(report) {
        let label = format!("{} {}", tier.number, tier.name);
        let _ = writeln!(
            out,
            "  {label:<14} {:>7} {:>7} {:>8} {:>8}",
            tier.passed, tier.failed, tier.errored, tier.skipped
        );
    }
    for one in &report.unreadable {
        for problem in &one.problems {
            let _ = writeln!(out, "\n{}:{}: {problem}", one.file, problem.line);
        }
    }
    let found = || report.outcomes.iter().filter(|one| one.is_finding());
    found().take(WHOLE).for_each(|outcome| finding(report, outcome, command, &mut out));
    // An adapter that breaks a promise of the first tier breaks it in many cases: the rest is only
    // listed.
    let more = found().count().saturating_sub(WHOLE);
    if more > 0 {
        let _ = writeln!(out, "\n{more} more, all shown whole with `--format html` or `json`:\n");
    }
    for outcome in found().skip(WHOLE).take(NAMED) {
        let clauses = match &outcome.verdict {
            Verdict::Failed(broken) => {
                let clauses: BTreeSet<&str> =
                    broken.iter().map(|one| one.clause.as_str()).collect();
                clauses.into_iter().collect::<Vec<_>>().join(" ")
            }
            _ => String::new(),
        };
        let word = outcome.verdict.word().to_uppercase();
        let _ = writeln!(out, "{}", format!("{word:<8} {}  {clauses}", outcome.name).trim_end());
    }
    if more > NAMED {
        let _ = writeln!(out, "and {} others", more - NAMED);
    }
    skipped(report, &mut out);
    let cases = match report.outcomes.len() {
        1 => "1 case".to_owned(),
        count => format!("{count} cases"),
    };
    let _ = writeln!(out, "\n{cases}: {}", counts(report));
    out
}

/// Writes the problem of a case, and the command that runs it again.
fn finding(report: &Report, outcome: &Outcome, command: &str, out: &mut String) {
    let word = outcome.verdict.word().to_uppercase();
    let _ = writeln!(out, "\n{word}  {}: {}", outcome.name, outcome.claim);
    if outcome.known {
        let _ = writeln!(out, "  it is known to fail, and passed: take it off the list");
    }
    for (promise, expected, observed) in findings(outcome) {
        let _ = writeln!(out, "  {promise}");
        if !expected.is_empty() {
            let _ = writeln!(out, "    expected  {expected}");
        }
        let _ = writeln!(out, "    observed  {observed}");
    }
    if matches!(outcome.verdict, Verdict::Errored(_))
        && let Some(said) = outcome.log.iter().rev().find(|line| line.starts_with('!'))
    {
        let said = said[1..].trim().replace('\n', "\n              ");
        let _ = writeln!(out, "    it said   {said}");
    }
    let _ = writeln!(out, "  again     {}", rerun(report, outcome, command));
}

/// Writes the skipped cases, by missing capability.
fn skipped(report: &Report, out: &mut String) {
    let missing = report.outcomes.iter().filter_map(|one| match &one.verdict {
        Verdict::Skipped(missing) => Some(missing.as_str()),
        _ => None,
    });
    let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
    missing.for_each(|missing| *counted.entry(missing).or_default() += 1);
    for (missing, count) in counted {
        let _ = writeln!(out, "\nskipped {count}: it does not declare `{missing}`");
    }
}
