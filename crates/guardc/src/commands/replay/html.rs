//! The report as one self-contained page, without scripts, light or dark by the reader's
//! preference.

use super::text::{counted, heading, shifted, unsaid};
use guard_plan::markup::escape;
use guard_plan::render;
use guard_plan::replay_report::{Aspect, Difference, ReplayReport, TimelineRow, View};
use guard_plan::words::grouped;
use std::fmt::Write as _;

/// The width of a timeline.
const WIDTH: f64 = 800.0;
/// The margin for a mark at each end.
const MARGIN: f64 = 6.0;

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1c1e21; --soft: #65696f; --paper: #fff; --line: #d5d8dc; --box: #f5f6f7;
  --deny: #b3261e; --allow: #1b6e3c; --ask: #8a5a00; --other: #5b4bb7; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e7e9; --soft: #a0a4aa; --paper: #16181b; --line: #3a3e44;
  --box: #1f2226; --deny: #ff8a80; --allow: #7bd69a; --ask: #f0be5a; --other: #b3a7ff; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
p.soft, .soft { color: var(--soft); } code, .code { font-family: ui-monospace, monospace; font-size: .875em; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .25rem .75rem .25rem 0;
  border-bottom: 1px solid var(--line); vertical-align: top; } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
details { border: 1px solid var(--line); border-radius: 6px; background: var(--box); margin: .5rem 0; padding: .4rem .75rem; }
summary { cursor: pointer; } dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .5rem 0 0; }
dt { color: var(--soft); } dd { margin: 0; white-space: pre-wrap; }
.deny { color: var(--deny); } .allow { color: var(--allow); } .ask, .wait { color: var(--ask); } .other { color: var(--other); }
figure { margin: 0 0 1rem; } figcaption { font-size: .875rem; }
svg { width: 100%; height: auto; display: block; } svg .axis { stroke: var(--line); stroke-width: 1; }
svg .same { stroke: var(--soft); stroke-width: 1; } svg .deny, svg .block, svg .halted { fill: var(--deny); }
svg .allow { fill: var(--allow); } svg .ask, svg .wait { fill: var(--ask); } svg .other { fill: var(--other); }
";

/// Returns the page.
pub fn page(report: &ReplayReport) -> String {
    let mut out =
        String::from("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    let guards: Vec<&str> = report.guards.iter().map(|guard| guard.guard.as_str()).collect();
    let title = escape(&format!("Replay of {}", guards.join(", ")));
    let _ = writeln!(
        out,
        "<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>"
    );
    let _ = writeln!(out, "<p>{}.</p>", code(&heading(report)));
    for guard in &report.guards {
        let _ = writeln!(out, "<p class=\"soft\"><code>{}</code></p>", escape(&guard.plan));
    }
    summary(&mut out, report);
    rules(&mut out, report);
    lanes(&mut out, report);
    differences(&mut out, report);
    problems(&mut out, report);
    out + "</body>\n</html>\n"
}

/// A count of a view.
type HistogramOf = fn(&View) -> u64;

/// Writes both views, side by side.
fn summary(out: &mut String, report: &ReplayReport) {
    let recorded = &report.recorded;
    let strict = &report.strict;
    if recorded.is_same() {
        let calls = counted(recorded.calls, "recorded call");
        let _ = writeln!(out, "<p class=\"allow\">Every verdict on {calls} is reproduced.</p>");
        return;
    }
    *out += "<table>\n<thead><tr><th>calls</th><th class=\"n\">as recorded</th><th class=\"n\">up to the first difference</th></tr></thead>\n<tbody>\n";
    let mut row = |what: &str, a: u64, b: u64| {
        let _ = writeln!(
            out,
            "<tr><td>{what}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            grouped(a),
            grouped(b)
        );
    };
    row("decided again", recorded.calls, strict.calls);
    for change in &recorded.decisions {
        row(
            &shifted(change.then, change.now, 2),
            change.count,
            strict.shifted(change.then, change.now),
        );
    }
    let columns: [(&str, HistogramOf); 8] = [
        ("with the same decision for other reasons", |view| view.reasons),
        ("stops that would now be blocked", |view| view.stops_blocked),
        ("stops that would now be allowed", |view| view.stops_allowed),
        ("settlements that would now halt the session", |view| view.halts),
        ("settlements that would no longer halt it", |view| view.halts_gone),
        ("items and served calls with a different outcome", |view| view.items),
        ("events with other feedback", |view| view.feedback),
        ("that cannot be decided", |view| view.unsaid.total()),
    ];
    for (what, counted) in columns.iter().filter(|(_, count)| count(recorded) > 0) {
        row(what, counted(recorded), counted(strict));
    }
    *out += "</tbody>\n</table>\n";
    if let Some(line) = unsaid(recorded) {
        let _ = writeln!(out, "<p>{}.</p>", escape(&line));
    }
    *out += "<p class=\"soft\">After the first difference in a session, the recorded events might not have happened; the second column stops there.</p>\n";
}

fn rules(out: &mut String, report: &ReplayReport) {
    if report.rules.is_empty() {
        return;
    }
    *out += "<h2>By rule</h2>\n<table>\n<thead><tr><th class=\"n\">calls</th><th>then</th><th>now</th><th>code</th><th>rule</th><th>where</th></tr></thead>\n<tbody>\n";
    for rule in &report.rules {
        let then = rule.then.as_str();
        let now = rule.now.as_str();
        let span = escape(rule.span.as_deref().unwrap_or_default());
        let _ = writeln!(
            out,
            "<tr><td class=\"n\">{}</td><td class=\"{then}\">{then}</td><td class=\"{now}\">{now}</td><td><code>{}</code></td><td><code>{}</code></td><td><code>{span}</code></td></tr>",
            grouped(rule.count),
            rule.code.as_str(),
            escape(&render::cut(&rule.rule, 100)),
        );
    }
    *out += "</tbody>\n</table>\n";
}

fn lanes(out: &mut String, report: &ReplayReport) {
    if report.lanes.is_empty() {
        return;
    }
    *out += "<h2>Sessions</h2>\n<p class=\"soft\">A stroke is a call as it was, a dot something that differs: ";
    *out += "<span class=\"deny\">denied or blocked</span>, <span class=\"ask\">asks or waits</span>, <span class=\"allow\">allowed</span>, <span class=\"other\">anything else</span>.</p>\n";
    report.lanes.iter().for_each(|row| lane(out, row));
    let differing = report.sessions - report.same_sessions;
    if differing > report.lanes.len() as u64 {
        let more = differing - report.lanes.len() as u64;
        let _ = writeln!(out, "<p class=\"soft\">and {} more</p>", counted(more, "session"));
    }
}

/// Draws one session from its beginning to its end.
fn lane(out: &mut String, lane: &TimelineRow) {
    let x = |at: i64| {
        let part = if lane.length > 0 { at as f64 / lane.length as f64 } else { 0.0 };
        MARGIN + part.clamp(0.0, 1.0) * (WIDTH - 2.0 * MARGIN)
    };
    let name = escape(&render::cut(&lane.session, 100));
    let length = guard_plan::time::speak_duration(lane.length);
    let _ = writeln!(
        out,
        "<figure>\n<figcaption><code>{name}</code> <span class=\"soft\">{}, {}, {}</span></figcaption>",
        escape(&lane.begin),
        escape(&length),
        counted(lane.calls, "call")
    );
    let _ = writeln!(
        out,
        "<svg viewBox=\"0 0 {WIDTH} 24\" role=\"img\" aria-label=\"timeline of {name}\">"
    );
    let _ = writeln!(out, "<line class=\"axis\" x1=\"0\" y1=\"12\" x2=\"{WIDTH}\" y2=\"12\"/>");
    for mark in lane.marks.iter().filter(|mark| mark.aspect.is_none()) {
        let x = x(mark.at);
        let _ =
            writeln!(out, "<line class=\"same\" x1=\"{x:.1}\" y1=\"6\" x2=\"{x:.1}\" y2=\"18\"/>");
    }
    for mark in lane.marks.iter() {
        let Some(aspect) = mark.aspect else { continue };
        let decided = matches!(aspect, Aspect::Decision | Aspect::Stop | Aspect::Halt);
        let class = if decided { kind(&mark.now) } else { "other" };
        let what = format!("record {}: {} {}", mark.seq, name_of(aspect), mark.now);
        let x = x(mark.at);
        let _ = writeln!(
            out,
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"12\" r=\"5\"><title>{}</title></circle>",
            escape(what.trim_end())
        );
    }
    *out += "</svg>\n</figure>\n";
}

/// Maps a word of a report to one of our classes.
fn kind(now: &str) -> &'static str {
    match now {
        "deny" => "deny",
        "block" => "block",
        "halted" => "halted",
        "allow" | "continues" => "allow",
        "ask" => "ask",
        "wait" => "wait",
        _ => "other",
    }
}

fn differences(out: &mut String, report: &ReplayReport) {
    if report.differences.is_empty() {
        return;
    }
    *out += "<h2>Differences</h2>\n";
    report.differences.iter().for_each(|listed| difference(out, listed));
    if report.unlisted > 0 {
        let _ = writeln!(out, "<p class=\"soft\">and {} more</p>", grouped(report.unlisted));
    }
}

fn difference(out: &mut String, difference: &Difference) {
    let tool = difference
        .tool
        .as_ref()
        .map(|tool| format!(" <code>{}</code>", escape(&render::cut(tool, 60))));
    let turn = match difference.aspect {
        Aspect::Decision | Aspect::Stop | Aspect::Halt => {
            format!(
                "{} → <span class=\"{}\">{}</span>",
                escape(&difference.then),
                kind(&difference.now),
                escape(&difference.now)
            )
        }
        aspect => format!("<span class=\"other\">{}</span>", name_of(aspect)),
    };
    let time = escape(&difference.time);
    let session = escape(&render::cut(&difference.session, 60));
    let tool = tool.unwrap_or_default();
    let _ = writeln!(
        out,
        "<details><summary>{turn}{tool} <span class=\"soft\">{time}, <code>{session}</code></span></summary>\n<dl>"
    );
    let mut row = |name: &str, text: &str| {
        if !text.is_empty() {
            let _ = writeln!(out, "<dt>{name}</dt><dd>{}</dd>", escape(text));
        }
    };
    row("file", &difference.file);
    row("record", &difference.seq.to_string());
    row("call", &render::cut(difference.call.as_deref().unwrap_or_default(), 100));
    row("arguments", &difference.args);
    if !matches!(difference.aspect, Aspect::Decision | Aspect::Stop | Aspect::Halt) {
        row("then", &difference.then);
        row("now", &difference.now);
    }
    if let Some(reason) = &difference.reason {
        row("code", reason.code.as_str());
        row("rule", &render::cut(&reason.rule, 100));
        row("because", &render::cut(&reason.message, 1000));
        row("help", &render::cut(&reason.help, 1000));
        row("where", reason.span.as_deref().unwrap_or_default());
    }
    row("because", difference.because.as_deref().unwrap_or_default());
    row(
        "view",
        if difference.strict {
            "the first difference of its session"
        } else {
            "after the first difference of its session"
        },
    );
    *out += "</dl></details>\n";
}

fn problems(out: &mut String, report: &ReplayReport) {
    if report.failures.is_empty() && report.passed_over.is_empty() {
        return;
    }
    *out += "<h2>Not decided</h2>\n<ul>\n";
    for failure in &report.failures {
        let line = failure.line.map(|line| format!(":{line}")).unwrap_or_default();
        let _ = writeln!(
            out,
            "<li class=\"deny\"><code>{}{line}</code>: {}</li>",
            escape(&failure.file),
            escape(&failure.message)
        );
    }
    for passed in &report.passed_over {
        let lines = counted(passed.lines, "line");
        let _ = writeln!(
            out,
            "<li><code>{}:{}</code>: {} ({lines})</li>",
            escape(&passed.file),
            passed.first,
            escape(&passed.why)
        );
    }
    *out += "</ul>\n";
}

/// Names the kind of difference.
fn name_of(aspect: Aspect) -> &'static str {
    match aspect {
        Aspect::Decision => "decision",
        Aspect::Stop => "stop",
        Aspect::Halt => "halt",
        Aspect::Item => "item or served call",
        Aspect::Unsaid => "cannot be decided",
        Aspect::Reasons => "other reasons",
        Aspect::Feedback => "other feedback",
        Aspect::Record => "other record",
    }
}

/// Escapes a text, with `` `code` `` as code.
fn code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(at, part)| match at % 2 {
        0 => escape(part),
        _ => format!("<code>{}</code>", escape(part)),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use guard_plan::replay_report::{Decider, Mark};

    /// Texts of agents and logs stay text, and nothing is fetched or run.
    #[test]
    fn nothing_is_read_as_html() {
        let evil = || "</title><script>alert('1')</script>\" onload=\"x".to_owned();
        let view = View { calls: 1, feedback: 1, ..View::default() };
        let mark = Mark { at: 9, seq: 1, aspect: Some(Aspect::Feedback), now: evil() };
        let difference = Difference {
            file: evil(),
            session: evil(),
            seq: 1,
            time: evil(),
            call: Some(evil()),
            tool: Some(evil()),
            args: evil(),
            aspect: Aspect::Stop,
            then: evil(),
            now: evil(),
            reason: None,
            because: Some(evil()),
            strict: true,
        };
        let lane = TimelineRow {
            session: evil(),
            begin: evil(),
            marks: vec![mark],
            ..TimelineRow::default()
        };
        let report = ReplayReport {
            guards: vec![Decider { guard: evil(), plan: evil(), sessions: 1, own: 0 }],
            sessions: 1,
            recorded: view,
            differences: vec![difference],
            lanes: vec![lane],
            ..ReplayReport::default()
        };
        let page = page(&report);
        for hook in ["<script", "onload=\"", "http", "src=", "url(", "@import"] {
            assert!(!page.contains(hook), "{hook} in {page}");
        }
        let count = |what: &str| page.matches(what).count();
        assert_eq!(count("<figure>"), count("</figure>"));
        assert_eq!(count("<details>"), count("</details>"));
    }
}
