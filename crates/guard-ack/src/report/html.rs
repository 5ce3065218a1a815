//! A self-contained page with the tiers, the causes of findings, and all cases, which can be
//! searched, sorted and filtered.

use super::causes::causes;
use super::{Tier, findings, rerun, tiers};
use crate::clause::{self, TIERS};
use crate::run::{AckReport, CaseOutcome};
use guard_plan::markup::escape;
use std::fmt::Write as _;

const STYLE: &str = include_str!("html.css");
const SCRIPT: &str = include_str!("html.js");

/// Returns one page for several adapters, each with its start command.
pub fn html(reports: &[(&AckReport, &str)]) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Guard conformance</title><style>\n{STYLE}</style>\n<h1>Guard conformance</h1>\n"
    );
    summary(reports, &mut out);
    for (number, (report, _)) in reports.iter().enumerate() {
        explained(number, report, &mut out);
    }
    filter(&mut out);
    matrix(reports, &mut out);
    for (number, (report, command)) in reports.iter().enumerate() {
        details(number, report, command, &mut out);
    }
    let _ = write!(out, "<script>\n{SCRIPT}</script>\n</html>\n");
    out
}

fn summary(reports: &[(&AckReport, &str)], out: &mut String) {
    out.push_str("<table><tr><th>adapter<th>tier<th>passed<th>failed<th>errored<th>skipped</tr>\n");
    for (report, _) in reports {
        let adapter = escape(&format!("{} {}", report.adapter.name, report.adapter.version));
        for Tier { number, name, total, passed, failed, errored, skipped } in tiers(report) {
            let tier = format!("{number} {name}<td>{passed} of {total}<td>{failed}<td>{errored}");
            let _ = writeln!(out, "<tr><td>{adapter}<td>{tier}<td>{skipped}</tr>");
        }
    }
    out.push_str("</table>\n");
    for (report, _) in reports {
        let name = escape(&report.adapter.name);
        let standing = escape(&super::standing(report).1);
        let AckReport { seed, version, suite, .. } = report;
        let suite = format!("suite {} <code>{}</code>", escape(version), escape(suite));
        let _ = writeln!(out, "<p>{name}: {standing}. Seed {seed}, {suite}.</p>");
    }
}

/// Writes the broken promises of an adapter, with the cases that each explains.
fn explained(number: usize, report: &AckReport, out: &mut String) {
    let causes = causes(report);
    if causes.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<h2>Broken promises of {}</h2>\n<p>The first explains the most cases by itself: mend it first.</p>\n\
         <table><tr><th>promise<th>cases<th>with no other finding<th></tr>",
        escape(&report.adapter.name)
    );
    for cause in causes {
        let link =
            |name: &String| format!("<a href=\"#{}\">{}</a>", anchor(number, name), escape(name));
        let links: Vec<String> = cause.cases.iter().map(link).collect();
        let _ = writeln!(
            out,
            "<tr><td>{}<br>{}<td>{}<td>{}<td><details><summary>cases</summary>{}</details></tr>",
            escape(&cause.name),
            escape(cause.promise),
            cause.cases.len(),
            cause.alone,
            links.join("<br>")
        );
    }
    out.push_str("</table>\n");
}

fn filter(out: &mut String) {
    let tiers = (1..).zip(TIERS);
    let tiers: String = tiers
        .map(|(number, name)| format!("<option value=\"{number}\">{number} {name}</option>"))
        .collect();
    let _ = writeln!(
        out,
        "<h2>Cases</h2>\n<form id=\"filter\" hidden>\
         <input type=\"search\" name=\"search\" placeholder=\"clause, words of a claim, name\" aria-label=\"search\">\
         <label>outcome <select name=\"outcome\"><option value=\"\">all</option><option>failed</option><option>errored</option>\
         <option>passed</option><option>skipped</option></select></label>\
         <label>tier <select name=\"tier\"><option value=\"\">all</option>{tiers}</select></label>\
         <span id=\"count\"></span></form>"
    );
}

/// Returns the id of a case's section.
fn anchor(number: usize, name: &str) -> String {
    format!("{number}-{}", escape(name))
}

fn matrix(reports: &[(&AckReport, &str)], out: &mut String) {
    out.push_str(
        "<table id=\"cases\"><thead><tr><th data-sort>clause<th data-sort>case<th data-sort>claim",
    );
    for (report, _) in reports {
        let _ = write!(out, "<th data-sort>{}", escape(&report.adapter.name));
    }
    out.push_str("</tr></thead><tbody>\n");
    let mut cases: Vec<&CaseOutcome> =
        reports.iter().flat_map(|(report, _)| &report.outcomes).collect();
    cases.sort_by(|a, b| (a.tier, &a.name).cmp(&(b.tier, &b.name)));
    cases.dedup_by(|a, b| a.name == b.name);
    for case in cases {
        row(reports, case, out);
    }
    out.push_str("</tbody></table>\n");
}

fn row(reports: &[(&AckReport, &str)], case: &CaseOutcome, out: &mut String) {
    let outcomes: Vec<Option<&CaseOutcome>> = reports
        .iter()
        .map(|(report, _)| report.outcomes.iter().find(|outcome| outcome.name == case.name))
        .collect();
    let words: Vec<&str> =
        outcomes.iter().flatten().map(|outcome| outcome.verdict.word()).collect();
    let promise = clause::find(&case.clause).map_or("", |clause| clause.promise);
    let _ = write!(
        out,
        "<tr data-tier=\"{}\" data-outcomes=\"{}\"><td title=\"{}\">{}<td><code>{}</code><td>{}",
        case.tier,
        words.join(" "),
        escape(promise),
        escape(&case.clause),
        escape(&case.name),
        escape(&case.claim)
    );
    for (number, outcome) in outcomes.iter().enumerate() {
        match outcome {
            None => out.push_str("<td>"),
            Some(outcome) => {
                let word = outcome.verdict.word();
                let anchor = anchor(number, &outcome.name);
                let _ = write!(out, "<td class=\"{word}\"><a href=\"#{anchor}\">{word}</a>");
            }
        }
    }
    out.push_str("</tr>\n");
}

/// Writes a section for each case: its promise, the findings, and the command that plays it again.
fn details(number: usize, report: &AckReport, command: &str, out: &mut String) {
    for outcome in &report.outcomes {
        let promise = clause::find(&outcome.clause).map_or("", |clause| clause.promise);
        let _ = writeln!(
            out,
            "<section id=\"{}\"><h3><code>{}</code> <span class=\"{2}\">{2}</span></h3><p>{3}</p><p>{4}: {5}</p>",
            anchor(number, &outcome.name),
            escape(&outcome.name),
            outcome.verdict.word(),
            escape(&outcome.claim),
            escape(&outcome.clause),
            escape(promise)
        );
        found(outcome, out);
        let again = escape(&rerun(report, outcome, command));
        let _ = writeln!(out, "<p><code>{again}</code></p></section>");
    }
}

fn found(outcome: &CaseOutcome, out: &mut String) {
    let findings = findings(outcome);
    if findings.is_empty() {
        return;
    }
    out.push_str("<dl>");
    for (promise, expected, observed) in findings {
        let promise = escape(&promise);
        let expected = escape(&expected);
        let observed = escape(&observed);
        let _ = writeln!(out, "<dt>{promise}<dd>expected: {expected}<dd>observed: {observed}");
    }
    out.push_str("</dl>");
    if let Some(hint) = &outcome.hint {
        let _ = writeln!(out, "<p>Often: {}</p>", escape(hint));
    }
    let log = escape(&outcome.log.join("\n"));
    let _ = writeln!(out, "<details><summary>messages</summary><pre>{log}</pre></details>");
}
