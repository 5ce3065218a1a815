//! The report for a terminal.

use super::{counts, findings, rerun, standing, tiers};
use crate::clause;
use crate::run::{AckReport, CaseOutcome, CaseVerdict};
use guard_plan::builtin::is_hidden;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The number of findings shown in full.
const WHOLE: usize = 4;
/// The number of further findings that are listed, so that the report fits a screen.
const NAMED: usize = 12;

/// The time above which a case is called slow, in milliseconds.
const SLOW: u64 = 1_000;
/// The number of lines shown of the adapter's standard error, around the point where it stopped and
/// at its end.
const STDERR_LINES: usize = 12;
const STDERR_ASIDE: usize = 3;
/// The number of last messages shown, and their length in characters.
const LAST: usize = 5;
const MESSAGE: usize = 160;

/// Returns a table of the tiers, followed by the findings. `command` starts the adapter.
pub fn text(report: &AckReport, command: &str) -> String {
    let mut out = String::new();
    let version = &report.adapter.version;
    let name = if report.adapter.name.is_empty() { "the adapter" } else { &report.adapter.name };
    let suite = match report.version.as_str() {
        "" => String::new(),
        version => format!(", suite {version}"),
    };
    let _ = writeln!(out, "{name} {version}, seed {}{suite}", report.seed);
    let _ = writeln!(out, "\n  tier            passed  failed  errored  skipped");
    for tier in tiers(report) {
        let label = format!("{} {}", tier.number, tier.name);
        let _ = writeln!(
            out,
            "  {label:<14} {:>7} {:>7} {:>8} {:>8}",
            tier.passed, tier.failed, tier.errored, tier.skipped
        );
    }
    for file in &report.unreadable {
        for problem in &file.problems {
            let _ = writeln!(out, "\n{}:{}: {problem}", file.file, problem.line);
        }
    }
    let mut findings: Vec<&CaseOutcome> =
        report.outcomes.iter().filter(|outcome| outcome.is_finding()).collect();
    findings.sort_by_key(|outcome| rank(outcome));
    let found = || findings.iter().copied();
    found().take(WHOLE).for_each(|outcome| finding(report, outcome, command, &mut out));
    // An adapter that breaks a promise of the first tier breaks it in many cases, so the rest is
    // only listed.
    let more = found().count().saturating_sub(WHOLE);
    if more > 0 {
        let _ = writeln!(out, "\n{more} more, all shown whole with `--format html` or `json`:\n");
    }
    for outcome in found().skip(WHOLE).take(NAMED) {
        let clauses = match &outcome.verdict {
            CaseVerdict::Failed(broken) => {
                let clauses: BTreeSet<&str> =
                    broken.iter().map(|promise| promise.clause.as_str()).collect();
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
    let time = match report.took {
        0..1000 => String::new(),
        took => format!(" in {}", seconds(took)),
    };
    let _ = writeln!(out, "\n{cases}{time}: {}", counts(report));
    let _ = writeln!(out, "{}", standing(report).1);
    slowest(report, &mut out);
    if report.not_played > 0 {
        let _ = writeln!(out, "{} more were not played: --fail-fast", report.not_played);
    }
    if report.is_nothing_judged() {
        let declares = if report.adapter.capabilities.values().any(|declared| *declared) {
            "no capability that these cases need"
        } else {
            "no capability at all"
        };
        let _ = writeln!(out, "Nothing was judged: the adapter declares {declares}.");
    }
    // Names and logs come from adapters and files, and could steer the terminal.
    let is_shown = |c: char| matches!(c, '\n' | '\t') || !(c.is_control() || is_hidden(c));
    out.chars().map(|c| if is_shown(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Returns the position of a finding in the report: by the first broken promise, in the order of
/// the reference. The simplest promises come first there, and one root cause often breaks several
/// promises.
fn rank(outcome: &CaseOutcome) -> usize {
    let place = |id: &str| clause::all().iter().position(|clause| clause.id == id);
    match &outcome.verdict {
        CaseVerdict::Failed(broken) => {
            broken.iter().filter_map(|promise| place(&promise.clause)).min().unwrap_or(usize::MAX)
        }
        _ => usize::MAX,
    }
}

/// Formats a time: `0.4 s`.
pub(super) fn seconds(millis: u64) -> String {
    format!("{}.{} s", millis / 1000, millis % 1000 / 100)
}

/// Writes the slow cases, and the cases that passed only when they were played again.
fn slowest(report: &AckReport, out: &mut String) {
    let mut slow: Vec<&CaseOutcome> =
        report.outcomes.iter().filter(|outcome| outcome.took >= SLOW).collect();
    slow.sort_by_key(|outcome| std::cmp::Reverse(outcome.took));
    let slow: Vec<String> = slow
        .iter()
        .take(3)
        .map(|outcome| format!("{} ({})", outcome.name, seconds(outcome.took)))
        .collect();
    if !slow.is_empty() {
        let _ = writeln!(out, "slowest: {}", slow.join(", "));
    }
    for outcome in report.outcomes.iter().filter(|outcome| outcome.is_flaky) {
        let _ = writeln!(
            out,
            "{} could be judged only when it was played again alone: the machine was busy, or the adapter is unsteady",
            outcome.name
        );
    }
}

/// Writes the problem of a case, and the command that runs it again.
fn finding(report: &AckReport, outcome: &CaseOutcome, command: &str, out: &mut String) {
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
    if let Some(hint) = &outcome.hint {
        let _ = writeln!(out, "    often     {hint}");
    }
    stderr(outcome, out);
    last_messages(outcome, out);
    let _ = writeln!(out, "  again     {}", rerun(report, outcome, command));
}

/// Writes the end of the adapter's standard error, with tracebacks folded.
fn stderr(outcome: &CaseOutcome, out: &mut String) {
    let broke_off = match &outcome.verdict {
        CaseVerdict::Failed(broken) => {
            let is_error =
                |promise: &crate::judge::BrokenPromise| promise.observed.contains(" an error: ");
            outcome.trouble.is_some() || broken.iter().any(is_error)
        }
        _ => true,
    };
    let limit = if broke_off { STDERR_LINES } else { STDERR_ASIDE };
    // The problem itself was already reported.
    let trouble = outcome.trouble().map(|trouble| format!("! {trouble}"));
    let mut said = outcome.log.iter().filter(|line| line.starts_with('!'));
    if let Some(said) = said.rfind(|line| Some(*line) != trouble.as_ref()) {
        let said = super::traceback::folded(said[1..].trim());
        let lines: Vec<&str> = said.lines().collect();
        let shown = &lines[lines.len().saturating_sub(limit)..];
        let _ = writeln!(out, "    it said   {}", shown.join("\n              "));
    }
}

/// Writes the last messages before the adapter was silent or ended.
fn last_messages(outcome: &CaseOutcome, out: &mut String) {
    if outcome.trouble().is_none() {
        return;
    }
    let messages = outcome.log.iter().zip(1..).filter(|(line, _)| !line.starts_with('!'));
    let messages: Vec<(&String, usize)> = messages.collect();
    let from = messages.len().saturating_sub(LAST);
    for (at, (line, number)) in messages[from..].iter().enumerate() {
        let label = if at == 0 { "last" } else { "" };
        let line = guard_plan::render::cut(line, MESSAGE);
        let _ = writeln!(out, "    {label:<9} {number:>3} {line}");
    }
}

/// Writes the skipped cases, by missing capability.
fn skipped(report: &AckReport, out: &mut String) {
    let missing = report.outcomes.iter().filter_map(|outcome| match &outcome.verdict {
        CaseVerdict::Skipped(missing) => Some(missing.as_str()),
        _ => None,
    });
    let mut counted: BTreeMap<&str, usize> = BTreeMap::new();
    missing.for_each(|missing| *counted.entry(missing).or_default() += 1);
    for (missing, count) in counted {
        let _ = writeln!(out, "\nskipped {count}: it does not declare `{missing}`");
    }
}
