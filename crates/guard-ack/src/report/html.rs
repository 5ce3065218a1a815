//! The matrix: adapters × tiers × claims, as one self-contained page.

use super::{findings, rerun, tiers};
use crate::clause;
use crate::run::{Outcome, Report};
use guard_plan::markup::escape;
use std::fmt::Write as _;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem;max-width:75rem;color:#1d1d1f}\
table{border-collapse:collapse;margin:1rem 0}th,td{border:1px solid #d0d0d5;padding:.25rem .6rem;text-align:left;vertical-align:top}\
.passed{background:#e3f4e6}.failed{background:#fbe3e1}.errored{background:#fdeccb}.skipped{background:#eeeef1;color:#6a6a70}\
pre{background:#f6f6f8;padding:.6rem;overflow:auto;max-height:24rem;white-space:pre-wrap}code{font-size:.92em}\
dt{font-weight:600}@media(prefers-color-scheme:dark){body{background:#161618;color:#e8e8ea}th,td{border-color:#3a3a3f}\
.passed{background:#143d1f}.failed{background:#551a16}.errored{background:#4f3a0c}.skipped{background:#29292d;color:#9a9aa2}pre{background:#202024}}";

/// Returns one page for several adapters, each with its start command.
pub fn html(reports: &[(&Report, &str)]) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Guard conformance</title><style>{STYLE}</style>\n<h1>Guard conformance</h1>\n"
    );
    summary(reports, &mut out);
    matrix(reports, &mut out);
    for (report, command) in reports {
        details(report, command, &mut out);
    }
    out.push_str("</html>\n");
    out
}

fn summary(reports: &[(&Report, &str)], out: &mut String) {
    out.push_str("<table><tr><th>adapter<th>tier<th>passed<th>failed<th>errored<th>skipped</tr>\n");
    for (report, _) in reports {
        for tier in tiers(report) {
            let _ = writeln!(
                out,
                "<tr><td>{} {}<td>{} {}<td>{} of {}<td>{}<td>{}<td>{}</tr>",
                escape(&report.adapter.name),
                escape(&report.adapter.version),
                tier.number,
                tier.name,
                tier.passed,
                tier.total,
                tier.failed,
                tier.errored,
                tier.skipped
            );
        }
    }
    out.push_str("</table>\n");
    if let Some((report, _)) = reports.first() {
        let _ = writeln!(out, "<p>Seed {}, suite <code>{}</code>.</p>", report.seed, report.suite);
    }
}

fn matrix(reports: &[(&Report, &str)], out: &mut String) {
    out.push_str("<table><tr><th>clause<th>claim");
    for (report, _) in reports {
        let _ = write!(out, "<th>{}", escape(&report.adapter.name));
    }
    out.push_str("</tr>\n");
    let mut names: Vec<&Outcome> =
        reports.iter().flat_map(|(report, _)| &report.outcomes).collect();
    names.sort_by(|a, b| (a.tier, &a.name).cmp(&(b.tier, &b.name)));
    names.dedup_by(|a, b| a.name == b.name);
    for one in names {
        let promise = clause::find(&one.clause).map_or("", |clause| clause.promise);
        let _ = write!(
            out,
            "<tr><td title=\"{}\">{}<td>{}",
            escape(promise),
            one.clause,
            escape(&one.claim)
        );
        for (number, (report, _)) in reports.iter().enumerate() {
            match report.outcomes.iter().find(|it| it.name == one.name) {
                None => out.push_str("<td>"),
                Some(it) if findings(it).is_empty() => {
                    let _ = write!(out, "<td class=\"{0}\">{0}", it.verdict.word());
                }
                Some(it) => {
                    let (word, name) = (it.verdict.word(), escape(&it.name));
                    let _ =
                        write!(out, "<td class=\"{word}\"><a href=\"#{number}-{name}\">{word}</a>");
                }
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n");
    for (number, (report, _)) in reports.iter().enumerate() {
        for one in report.outcomes.iter().filter(|one| !findings(one).is_empty()) {
            let _ = write!(out, "<span id=\"{number}-{}\"></span>", escape(&one.name));
        }
    }
}

fn details(report: &Report, command: &str, out: &mut String) {
    for one in report.outcomes.iter().filter(|one| !findings(one).is_empty()) {
        let _ = writeln!(
            out,
            "<h2><code>{}</code> {}</h2><p>{}</p><dl>",
            escape(&one.name),
            one.verdict.word(),
            escape(&one.claim)
        );
        for (promise, expected, observed) in findings(one) {
            let _ = writeln!(
                out,
                "<dt>{}<dd>expected: {}<dd>observed: {}",
                escape(&promise),
                escape(&expected),
                escape(&observed)
            );
        }
        let _ = writeln!(
            out,
            "</dl><p><code>{}</code></p><details><summary>messages</summary><pre>{}</pre></details>",
            escape(&rerun(report, one, command)),
            escape(&one.log.join("\n"))
        );
    }
}
