//! The report for people.

use crate::term::Style;
use guard_plan::render;
use guard_plan::replay_report::{Aspect, Difference, ReplayReport, SkippedLines, View};
use guard_plan::verdict::Decision;
use guard_plan::words::{count, grouped};
use std::fmt::Write as _;

/// The maximum number of differences shown per kind.
const TOLD: usize = 3;
/// The maximum number of rules shown.
const RULES: usize = 10;
/// The maximum length of shown arguments, in characters.
const ARGS_CHARS: usize = 80;
/// The maximum length of a position or an explanation, in characters.
const PLACE_CHARS: usize = 400;

/// Formats a number of things: `1 call`, `12,431 calls`.
pub fn counted(number: u64, noun: &str) -> String {
    count(grouped(number), noun)
}

/// Describes a change of decision for a sentence: `that were allowed would now be denied`.
pub fn shifted(then: Decision, now: Decision, count: u64) -> String {
    let were = if count == 1 { "was" } else { "were" };
    let past = match then {
        Decision::Allow => format!("{were} allowed"),
        Decision::Deny => format!("{were} denied"),
        Decision::Ask => "waited for an approval".into(),
        Decision::Wait => "waited for another call".into(),
    };
    let present = match now {
        Decision::Allow => "would now be allowed",
        Decision::Deny => "would now be denied",
        Decision::Ask => "would now need an approval",
        Decision::Wait => "would now wait for another call",
    };
    format!("that {past} {present}")
}

/// Describes the counts besides decisions on calls; empty if there are none.
pub fn others(view: &View) -> Vec<String> {
    let stops = |count: u64, what: &str| format!("{} would now be {what}", counted(count, "stop"));
    let all = [
        (view.stops_blocked, stops(view.stops_blocked, "blocked")),
        (view.stops_allowed, stops(view.stops_allowed, "allowed")),
        (view.halts, format!("{} would now halt the session", counted(view.halts, "settlement"))),
        (
            view.halts_gone,
            format!("{} would no longer halt the session", counted(view.halts_gone, "settlement")),
        ),
        (
            view.items,
            format!(
                "{} would have a different outcome",
                counted(view.items, "item or served call")
            ),
        ),
        (
            view.reasons,
            format!("{} with the same decision for other reasons", counted(view.reasons, "call")),
        ),
        (view.feedback, format!("{} with other feedback", counted(view.feedback, "event"))),
        (view.records, format!("{} not the same to the byte", counted(view.records, "record"))),
    ];
    all.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect()
}

/// Describes the cases that cannot be determined.
pub fn unsaid(view: &View) -> Option<String> {
    let parts = [
        (
            view.unsaid.world,
            "this guard asks for something that the recorded session did not ask for",
        ),
        (view.unsaid.secrets, "only the mark of a secret is known"),
        (view.unsaid.after, "they differ, but only after something that cannot be decided"),
    ];
    let total = view.unsaid.total();
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| {
            if *count == total {
                format!("because {why}")
            } else {
                format!("{} because {why}", grouped(*count))
            }
        })
        .collect();
    (total > 0)
        .then(|| format!("{} cannot be decided, {}", counted(total, "event"), parts.join("; ")))
}

/// Returns the heading of a report: the number of replayed sessions and the deciding plan.
pub fn heading(report: &ReplayReport) -> String {
    let decided: Vec<String> = report
        .guards
        .iter()
        .filter(|guard| guard.sessions > 0 || report.guards.len() == 1)
        .map(|guard| {
            let own = match guard.own {
                0 => "",
                own if own == guard.sessions => ", the guard they were recorded with",
                _ => ", the guard that some were recorded with",
            };
            format!("`{}`{own}", guard.guard)
        })
        .collect();
    let sessions = counted(report.sessions, "session");
    let days = match (&report.begin, &report.end) {
        (Some(begin), Some(end)) if begin[..10.min(begin.len())] == end[..10.min(end.len())] => {
            format!(" of {}", &begin[..10.min(begin.len())])
        }
        (Some(begin), Some(end)) => {
            format!(" from {} to {}", &begin[..10.min(begin.len())], &end[..10.min(end.len())])
        }
        _ => String::new(),
    };
    let logs = report.from.as_ref().map(|form| format!(", from logs ({form})")).unwrap_or_default();
    format!("{sessions}{days}{logs}, decided by {}", decided.join(" and "))
}

/// Returns the whole report.
pub fn report(report: &ReplayReport, exact: bool, style: Style) -> String {
    let mut out = String::new();
    if report.sessions > 0 {
        out = format!("{}\n\n", heading(report));
        verdicts(&mut out, report, exact, style);
        rules(&mut out, report, style);
        views(&mut out, report);
    }
    let notes: Vec<&SkippedLines> = report.passed_over.iter().collect();
    if !notes.is_empty() {
        gap(&mut out);
        out += "passed over:\n";
        for note in notes {
            let lines = if note.lines == 1 {
                String::new()
            } else {
                format!(" ({} lines)", grouped(note.lines))
            };
            let file = render::cut(&note.file, PLACE_CHARS);
            let why = render::cut(&note.why, PLACE_CHARS);
            let _ = writeln!(out, "  {file}:{}{lines}: {why}", note.first);
        }
    }
    out
}

fn verdicts(out: &mut String, report: &ReplayReport, exact: bool, style: Style) {
    let view = &report.recorded;
    let calls = counted(view.calls, "recorded call");
    if view.is_same() {
        let bytes = if exact { ", and every record, byte for byte" } else { "" };
        let _ =
            writeln!(out, "{} every verdict on {calls} is reproduced{bytes}", style.green("same:"));
        return;
    }
    let mut decisions: Vec<_> = view.decisions.iter().collect();
    // Denials come first.
    let order = |change: &&guard_plan::replay_report::DecisionChange| {
        (change.then != Decision::Allow, std::cmp::Reverse(change.now))
    };
    decisions.sort_by_key(order);
    let mut first = true;
    for change in &decisions {
        let sentence =
            format!("{} {}", grouped(change.count), shifted(change.then, change.now, change.count));
        let lead = if first { format!("of {calls}, ") } else { String::new() };
        first = false;
        let told: Vec<&Difference> = report
            .differences
            .iter()
            .filter(|d| {
                d.aspect == Aspect::Decision
                    && d.then == change.then.as_str()
                    && d.now == change.now.as_str()
            })
            .take(TOLD)
            .collect();
        let colon = match (told.len() as u64, change.count) {
            (0, _) => String::new(),
            (n, count) if n == count => ":".into(),
            (1, _) => "; the first is".into(),
            (2, _) => "; the first two are".into(),
            _ => "; the first three are".into(),
        };
        let _ = writeln!(out, "{lead}{}{colon}", style.bold(&sentence));
        told.iter().for_each(|difference| tell(out, difference, style));
        gap(out);
    }
    if decisions.is_empty() {
        let _ = writeln!(out, "no decision on {calls} differs");
    }
    for line in others(view) {
        let _ = writeln!(out, "{line}");
    }
    for difference in report.differences.iter().filter(|d| d.aspect == Aspect::Record).take(TOLD) {
        let because = render::cut(difference.because.as_deref().unwrap_or_default(), PLACE_CHARS);
        let _ = writeln!(out, "  {} differs in {because}", place(difference));
    }
    if let Some(line) = unsaid(view) {
        let _ = writeln!(out, "{line}");
        for difference in
            report.differences.iter().filter(|d| d.aspect == Aspect::Unsaid).take(TOLD)
        {
            let because =
                render::cut(difference.because.as_deref().unwrap_or_default(), PLACE_CHARS);
            let _ = writeln!(out, "  {}: {because}", place(difference));
        }
    }
}

/// Describes the position of a difference: session, record and call.
fn place(difference: &Difference) -> String {
    let call = difference.call.as_ref().map(|call| format!(" {}", render::cut(call, 60)));
    format!(
        "{} record {}{}",
        render::cut(&difference.session, 60),
        difference.seq,
        call.unwrap_or_default()
    )
}

/// Adds an empty line before the next part.
fn gap(out: &mut String) {
    if !out.is_empty() && !out.ends_with("\n\n") {
        out.push('\n');
    }
}

fn tell(out: &mut String, difference: &Difference, style: Style) {
    let tool = difference.tool.as_deref().unwrap_or_default();
    let call = difference.call.as_deref().unwrap_or_default();
    let session = render::cut(&difference.session, 60);
    let call = render::cut(call, 60);
    let what = format!("{} {}", render::cut(tool, 60), render::cut(&difference.args, ARGS_CHARS));
    let _ = writeln!(
        out,
        "\n  {}  {}  {}",
        style.dim(&render::cut(&difference.time, 40)),
        style.cyan(&format!("{session} {call}")),
        what.trim_end()
    );
    let Some(reason) = &difference.reason else { return };
    let _ = writeln!(out, "    {}: {}", reason.code.as_str(), render::cut(&reason.message, 400));
    if !reason.help.is_empty() {
        let _ = writeln!(out, "    {} {}", style.green("help:"), render::cut(&reason.help, 400));
    }
    if let Some(span) = &reason.span {
        let _ =
            writeln!(out, "    {}", style.dim(&format!("at {}", render::cut(span, PLACE_CHARS))));
    }
}

fn rules(out: &mut String, report: &ReplayReport, style: Style) {
    if report.rules.is_empty() {
        return;
    }
    gap(out);
    out.push_str("by rule:\n");
    for one in report.rules.iter().take(RULES) {
        let span = one
            .span
            .as_ref()
            .map(|span| style.dim(&format!("  at {}", render::cut(span, PLACE_CHARS))))
            .unwrap_or_default();
        let turn = format!("{} → {}", one.then.as_str(), one.now.as_str());
        let rule = render::cut(&one.rule, 60);
        let _ = writeln!(
            out,
            "  {:>7}  {turn}  {} {rule}{span}",
            grouped(one.count),
            one.code.as_str()
        );
    }
    if report.rules.len() > RULES {
        let _ = writeln!(out, "  and {} more", report.rules.len() - RULES);
    }
}

/// Writes the strict view beside the recorded one.
fn views(out: &mut String, report: &ReplayReport) {
    let strict = &report.strict;
    let recorded = &report.recorded;
    if recorded.changed() == 0 {
        return;
    }
    let decisions: u64 = strict.decisions.iter().map(|change| change.count).sum();
    gap(out);
    let _ = writeln!(
        out,
        "After the first difference in a session, what was recorded need not have happened. Counted only up to there:\n\
         of {}, {} would be decided otherwise, in {}.",
        counted(strict.calls, "call"),
        grouped(decisions),
        counted(report.sessions - report.same_sessions, "session"),
    );
    if recorded.skipped > 0 {
        let calls = counted(recorded.skipped, "call");
        let _ = writeln!(out, "Left out: the outcomes of {calls} that would not have run.");
    }
}
