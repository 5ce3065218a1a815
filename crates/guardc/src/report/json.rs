//! Findings as one JSON object, for tools.

use super::{Finding, FindingReport, TextRange};
use serde_json::{Value, json};

/// Formats `{diagnostics, summary}`, pretty-printed.
pub fn render(report: &FindingReport) -> String {
    format!("{:#}\n", object(report))
}

/// Returns `{diagnostics, summary}`.
pub fn object(report: &FindingReport) -> Value {
    let (errors, warnings) = report.counts();
    json!({
        "diagnostics": report.findings.iter().map(|f| finding(report, f)).collect::<Vec<_>>(),
        "summary": { "files": report.roots, "errors": errors, "warnings": warnings },
    })
}

fn finding(report: &FindingReport, finding: &Finding) -> Value {
    let label = |(at, text): &(TextRange, String)| {
        let mut value = place(report, *at);
        value["label"] = text.as_str().into();
        value
    };
    let fix = finding.fix.as_ref().map(|(at, replacement)| {
        let mut value = place(report, *at);
        value["replacement"] = replacement.as_str().into();
        value
    });
    json!({
        "code": finding.code,
        "severity": if finding.error { "error" } else { "warning" },
        "message": finding.message,
        "primary": label(&finding.primary),
        "secondary": finding.secondary.iter().map(label).collect::<Vec<_>>(),
        "help": finding.help,
        "fix": fix,
    })
}

/// Returns a range. Columns count Unicode scalar values from 1, and offsets count bytes from 0.
fn place(report: &FindingReport, place: TextRange) -> Value {
    let (start, end) = report.positions(place);
    json!({
        "file": report.texts[place.file].name,
        "start": { "line": start.line, "column": start.column, "offset": place.start },
        "end": { "line": end.line, "column": end.column, "offset": place.end },
    })
}
