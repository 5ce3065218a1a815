//! Findings as plain text, for pipes, logs and case files.

use super::{Finding, Place, Report};
use std::fmt::Write as _;

/// One finding: message, place, source line, labels, help.
pub fn render(report: &Report, finding: &Finding) -> String {
    let severity = if finding.error { "error" } else { "warning" };
    let (place, label) = &finding.primary;
    let mut out = format!("{severity}[{}]: {}\n", finding.code, finding.message);
    let _ = writeln!(out, "  --> {}", report.at(*place));
    excerpt(&mut out, report, *place, '^', label);
    for (place, label) in &finding.secondary {
        let _ = writeln!(out, "  ::: {}", report.at(*place));
        excerpt(&mut out, report, *place, '-', label);
    }
    if let Some(help) = &finding.help {
        let _ = writeln!(out, "  help: {help}");
    }
    if let Some(fix) = fix_line(report, finding) {
        let _ = writeln!(out, "  fix: {fix}");
    }
    out
}

/// The first line of a place with marks beneath it.
fn excerpt(out: &mut String, report: &Report, place: Place, mark: char, label: &str) {
    let text = &report.texts[place.file];
    let (start, end) = report.positions(place);
    let line = text.lines.line(&text.text, start.line).trim_start_matches('\u{feff}');
    let to = if end.line == start.line { end.column } else { line.chars().count() + 1 };
    let width = start.line.to_string().len().max(3);
    let pad: String =
        line.chars().take(start.column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let marks: String = std::iter::repeat_n(mark, to.saturating_sub(start.column).max(1)).collect();
    let _ = writeln!(out, "{:>width$} | {}", start.line, line.trim_end());
    let label = if label.is_empty() { String::new() } else { format!(" {label}") };
    let _ = writeln!(out, "{:>width$} | {pad}{marks}{label}", "");
}

/// The edit in words.
pub fn fix_line(report: &Report, finding: &Finding) -> Option<String> {
    let (place, replacement) = finding.fix.as_ref()?;
    let old = &report.texts[place.file].text[place.start..place.end];
    Some(match (old.is_empty(), replacement.is_empty()) {
        (true, _) => format!("insert `{}` at {}", replacement.trim(), report.at(*place)),
        (_, true) => format!("remove `{}`", old.trim()),
        _ => format!("replace `{old}` with `{replacement}`"),
    })
}
