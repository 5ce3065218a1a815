//! Findings as plain text, for pipes, logs and case files.

use super::{Finding, Place, Report};
use std::fmt::Write as _;

/// One finding: message, places with their lines and labels, help.
pub fn render(report: &Report, finding: &Finding) -> String {
    let severity = if finding.error { "error" } else { "warning" };
    let mut out = format!("{severity}[{}]: {}\n", finding.code, finding.message);
    let line = |place: Place| (place.file, report.positions(place).0.line);
    let mut shown = Vec::new();
    let labels = || {
        std::iter::once(('^', &finding.primary)).chain(finding.secondary.iter().map(|s| ('-', s)))
    };
    for (mark, (place, _)) in labels() {
        if shown.contains(&line(*place)) {
            continue;
        }
        shown.push(line(*place));
        let arrow = if mark == '^' { "-->" } else { ":::" };
        let _ = writeln!(out, "  {arrow} {}", report.at(*place));
        source_line(&mut out, report, *place);
        for (mark, (other, label)) in
            labels().filter(|(_, (other, _))| line(*other) == line(*place))
        {
            marks(&mut out, report, *other, mark, label);
        }
    }
    if let Some(help) = &finding.help {
        let _ = writeln!(out, "  help: {help}");
    }
    if let Some(fix) = fix_line(report, finding) {
        let _ = writeln!(out, "  fix: {fix}");
    }
    out
}

/// The line a place begins in, without a byte order mark; and how wide its number is.
fn line_of(report: &Report, place: Place) -> (&str, usize, usize) {
    let text = &report.texts[place.file];
    let number = report.positions(place).0.line;
    let line = text.lines.line(&text.text, number).trim_start_matches('\u{feff}');
    (line, number, number.to_string().len().max(3))
}

fn source_line(out: &mut String, report: &Report, place: Place) {
    let (line, number, width) = line_of(report, place);
    let _ = writeln!(out, "{}", format!("{number:>width$} | {line}").trim_end());
}

/// Marks beneath the part of the line that a place covers, and its label.
fn marks(out: &mut String, report: &Report, place: Place, mark: char, label: &str) {
    let (start, end) = report.positions(place);
    let (line, _, width) = line_of(report, place);
    let to = if end.line == start.line { end.column } else { line.chars().count() + 1 };
    let pad: String =
        line.chars().take(start.column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let marks: String = std::iter::repeat_n(mark, to.saturating_sub(start.column).max(1)).collect();
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
