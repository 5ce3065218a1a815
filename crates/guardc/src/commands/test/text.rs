//! Results for people.

use super::{Results, ShownRule, TestedGuard, coverage};
use crate::commands::test::runner::{FailedStep, TestResult};
use crate::report::visible;
use crate::term::{Style, count};
use guard_plan::verdict::Reason;
use std::fmt::Write as _;

/// Formats all suites, then failures, then coverage, then a summary line.
pub fn render(results: &Results, style: Style) -> String {
    let mut out = String::new();
    for suite in &results.suites {
        titles(&mut out, suite, style);
    }
    for (ran, failed) in
        results.suites.iter().flat_map(|s| &s.ran).filter_map(|r| Some((r, r.failure.as_ref()?)))
    {
        failure(&mut out, ran, failed, style);
    }
    let counted = !results.suites.is_empty() || results.broken == 0;
    if counted && (results.coverage || results.uncovered()) {
        covered(&mut out, results, style);
    }
    let (ran, failed) = results.counts();
    let said = match (ran, failed) {
        (0, _) => style.yellow("no tests"),
        (n, 0) => style.green(&format!("{} passed", count(n, "test"))),
        (n, f) => {
            format!("{}: {} passed, {}", count(n, "test"), n - f, style.red(&format!("{f} failed")))
        }
    };
    let broken = match results.broken {
        0 => String::new(),
        n => format!("; {} could not be compiled", style.red(&count(n, "guard"))),
    };
    let _ = writeln!(out, "\n{said}{broken}");
    out.trim_start_matches('\n').to_owned()
}

fn titles(out: &mut String, suite: &TestedGuard, style: Style) {
    let _ = writeln!(out, "\n{}", style.bold(&suite.file));
    for ran in &suite.ran {
        let mark = if ran.failure.is_some() {
            style.red("FAIL")
        } else {
            format!("{}  ", style.green("ok"))
        };
        let _ = writeln!(out, "  {mark}  {}", visible(&ran.title));
    }
    if suite.ran.is_empty() {
        let _ = writeln!(out, "  {}", style.dim("no tests"));
    }
}

fn failure(out: &mut String, ran: &TestResult, failed: &FailedStep, style: Style) {
    let _ = writeln!(out, "\n{}: {}", style.cyan(&failed.at), style.bold(&visible(&ran.title)));
    if let Some(beginning) = &failed.beginning {
        let _ = writeln!(out, "  begins after `{}`, which fails at this step", visible(beginning));
        return;
    }
    let _ = writeln!(out, "  {}", visible(&failed.step));
    let _ = writeln!(out, "  expected  {}", failed.expected);
    let _ = writeln!(out, "  got       {}", style.red(&failed.got));
    for reason in &failed.reasons {
        out.push_str(&indent(&reason_lines(reason, style), "            "));
    }
    for (label, value) in &failed.shows {
        let _ = writeln!(out, "            {label} = {value}");
    }
    for note in &failed.notes {
        let _ = writeln!(out, "  {}    {}", style.yellow("noted"), visible(note));
    }
}

/// Formats a reason: code, rule, message; its help; its position.
pub fn reason_lines(reason: &Reason, style: Style) -> String {
    let mut out =
        format!("{} ({}) {}\n", style.yellow(reason.code.as_str()), reason.rule, reason.message);
    if !reason.help.is_empty() {
        let _ = writeln!(out, "  {} {}", style.cyan("help:"), reason.help);
    }
    if let Some(span) = &reason.span {
        let _ = writeln!(out, "  {} {span}", style.dim("at"));
    }
    out
}

fn indent(text: &str, by: &str) -> String {
    text.lines().map(|line| format!("{by}{line}\n")).collect()
}

fn covered(out: &mut String, results: &Results, style: Style) {
    let (seen, all) = results.sides();
    let percent = coverage::percent((seen, all));
    // Rounded down: 100 percent is shown only for complete coverage.
    let percent = percent.floor();
    let _ =
        writeln!(out, "\n{} {seen} of {all} rule outcomes ({percent}%)", style.bold("coverage"));
    let missing: Vec<(&ShownRule, &str)> = results
        .suites
        .iter()
        .flat_map(|s| &s.rules)
        .filter_map(|shown| Some((shown, missing(shown)?)))
        .collect();
    let at = missing.iter().map(|(shown, _)| shown.at.len()).max().unwrap_or(0);
    for (shown, what) in missing {
        let text: String = shown.text.chars().take(60).collect();
        let dots = if text.len() < shown.text.len() { "…" } else { "" };
        let _ = writeln!(
            out,
            "  {}{:pad$}  {what:13}  {text}{dots}",
            style.cyan(&shown.at),
            "",
            pad = at - shown.at.len()
        );
    }
    if let Some(min) = results.min_coverage.filter(|_| results.uncovered()) {
        let _ = writeln!(out, "  {} {min}% are asked for", style.red("too little:"));
    }
}

/// Describes the outcomes of a rule that were not observed.
pub fn missing(shown: &ShownRule) -> Option<&'static str> {
    let rule = &shown.rule;
    match (rule.passed, rule.refused, rule.kind.two_sided()) {
        (true, true, _) | (true, _, false) => None,
        (false, false, true) => Some("never judged"),
        (false, _, false) => Some("never happens"),
        (true, false, true) => Some("never refuses"),
        (false, true, true) => Some("never passes"),
    }
}
