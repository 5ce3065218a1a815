//! Findings as SARIF 2.1.0, for code scanning.

use super::{Finding, FindingReport, TextRange};
use crate::commands::explain::codes;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Formats a log with one run.
pub fn render(report: &FindingReport) -> String {
    let used: BTreeSet<&str> = report.findings.iter().map(|f| f.code).collect();
    let rules: Vec<Value> = used.iter().map(|code| rule(code)).collect();
    let index = |code: &str| used.iter().position(|c| *c == code);
    let results: Vec<Value> =
        report.findings.iter().map(|f| result(report, f, index(f.code))).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "guardc",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn rule(code: &str) -> Value {
    let mut rule = json!({ "id": code });
    if let Some(page) = codes::page(code) {
        rule["shortDescription"] = json!({ "text": codes::title(page) });
        rule["help"] = json!({ "text": page, "markdown": page });
    }
    rule
}

fn result(report: &FindingReport, finding: &Finding, rule: Option<usize>) -> Value {
    let help = finding.help.as_ref().map(|help| format!("\n{help}")).unwrap_or_default();
    let related: Vec<Value> = finding
        .secondary
        .iter()
        .enumerate()
        .map(|(id, (place, label))| {
            let mut value = location(report, *place);
            value["id"] = id.into();
            value["message"] = json!({ "text": label });
            value
        })
        .collect();
    let mut result = json!({
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": if finding.error { "error" } else { "warning" },
        "message": { "text": format!("{}{help}", finding.message) },
        "locations": [location(report, finding.primary.0)],
    });
    if !related.is_empty() {
        result["relatedLocations"] = related.into();
    }
    if let Some((place, replacement)) = &finding.fix {
        result["fixes"] = json!([{ "artifactChanges": [{
            "artifactLocation": { "uri": uri(&report.texts[place.file].name) },
            "replacements": [{ "deletedRegion": region(report, *place), "insertedContent": { "text": replacement } }],
        }] }]);
    }
    result
}

fn location(report: &FindingReport, place: TextRange) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(&report.texts[place.file].name) },
        "region": region(report, place),
    } })
}

fn region(report: &FindingReport, place: TextRange) -> Value {
    let (start, end) = report.positions(place);
    json!({
        "startLine": start.line, "startColumn": start.column,
        "endLine": end.line, "endColumn": end.column,
    })
}

/// Formats a relative path as a URI reference: special characters are percent-encoded.
fn uri(path: &str) -> String {
    path.bytes()
        .map(|b| match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                char::from(b).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use guard_compiler::SourceFile;
    use guard_syntax::diagnostic::Diagnostic;
    use guard_syntax::span::{FileId, Span};

    #[test]
    fn a_finding_has_rule_place_related_places_and_fix() {
        let file = SourceFile { path: "a b.guard".into(), text: "guard é\ntool x()\n".into() };
        let span = |start, end| Span::new(FileId(0), start, end);
        let diagnostic = Diagnostic::warning("G0999", span(6, 8), "odd")
            .label("here")
            .also(span(14, 15), "there")
            .fix(span(6, 8), "e");
        let mut report = FindingReport::of_one();
        report.add(&[file], &[diagnostic]);
        let log: Value = serde_json::from_str(&render(&report)).expect("SARIF is JSON");
        let run = &log["runs"][0];
        assert_eq!(log["version"], "2.1.0");
        assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "G0999");
        let result = &run["results"][0];
        assert_eq!(result["ruleIndex"], 0);
        assert_eq!(result["level"], "warning");
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20b.guard");
        let region = json!({ "startLine": 1, "startColumn": 7, "endLine": 1, "endColumn": 8 });
        assert_eq!(place["region"], region);
        assert_eq!(result["relatedLocations"][0]["message"]["text"], "there");
        assert_eq!(
            result["fixes"][0]["artifactChanges"][0]["replacements"][0]["deletedRegion"],
            region
        );
    }
}
