//! Findings as plain text, for pipes, logs and case files.

use super::{DiagnosticReport, Finding, TextRange, visible};
use std::fmt::Write as _;

/// Formats one finding: message, positions with their lines and labels, and help.
///
/// ```
/// use guard_sdk::diagnostics::{DiagnosticReport, render};
/// let error = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool a() { requires b }").unwrap_err();
/// let guard_sdk::GuardError::Source { files, diagnostics } = error else { panic!("a source error") };
/// let report = DiagnosticReport::new(&files, &diagnostics);
/// assert!(render(&report, &report.findings[0]).contains("unknown tool `b`"));
/// ```
pub fn render(report: &DiagnosticReport, finding: &Finding) -> String {
    let severity = if finding.error { "error" } else { "warning" };
    let mut out = format!("{severity}[{}]: {}\n", finding.code, finding.message);
    let line = |place: TextRange| (place.file, report.positions(place).0.line);
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
            marks(&mut out, report, *place, *other, mark, label);
        }
    }
    if let Some(help) = &finding.help {
        let _ = writeln!(out, "  help: {}", help.replace('\n', "\n    "));
    }
    if let Some(fix) = fix_line(report, finding) {
        let _ = writeln!(out, "  fix: {fix}");
    }
    visible(&out)
}

/// The maximum length of a shown line.
const MAX_LINE: usize = 240;

/// Returns true if some line is too long to be shown as a whole.
pub fn is_long(report: &DiagnosticReport, finding: &Finding) -> bool {
    let places = std::iter::once(&finding.primary).chain(&finding.secondary);
    let long = |place: TextRange| {
        let text = &report.texts[place.file];
        text.lines.line(&text.shown, report.positions(place).0.line).chars().count() > MAX_LINE
    };
    places.into_iter().any(|(place, _)| long(*place))
}

/// Returns the first line of a range: the number of omitted columns, the shown text, and the width
/// of the line numbers.
fn line_of(report: &DiagnosticReport, place: TextRange) -> (usize, String, usize) {
    let text = &report.texts[place.file];
    let start = report.positions(place).0;
    let line = text.lines.line(&text.shown, start.line).trim_start_matches('\u{feff}');
    let skipped =
        if line.chars().count() > MAX_LINE { start.column.saturating_sub(MAX_LINE / 2) } else { 0 };
    let shown = line.chars().skip(skipped).take(MAX_LINE).collect();
    (skipped, shown, start.line.to_string().len().max(3))
}

fn source_line(out: &mut String, report: &DiagnosticReport, place: TextRange) {
    let (_, line, width) = line_of(report, place);
    let number = report.positions(place).0.line;
    let _ = writeln!(out, "{}", format!("{number:>width$} | {line}").trim_end());
}

/// Marks the part of the line that a range covers, with its label. `under` is the range for which
/// the line is shown.
fn marks(
    out: &mut String,
    report: &DiagnosticReport,
    under: TextRange,
    place: TextRange,
    mark: char,
    label: &str,
) {
    let (start, end) = report.positions(place);
    let (skipped, line, width) = line_of(report, under);
    let from = start.column.saturating_sub(1 + skipped);
    let to = if end.line == start.line {
        end.column.saturating_sub(1 + skipped)
    } else {
        line.chars().count()
    };
    let pad: String = line.chars().take(from).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let length = to.min(line.chars().count()).saturating_sub(from).max(1);
    let marks: String = std::iter::repeat_n(mark, length).collect();
    let label = if label.is_empty() { String::new() } else { format!(" {label}") };
    let _ = writeln!(out, "{:>width$} | {pad}{marks}{label}", "");
}

/// Describes the fix.
pub fn fix_line(report: &DiagnosticReport, finding: &Finding) -> Option<String> {
    let (place, replacement) = finding.fix.as_ref()?;
    let old = &report.texts[place.file].text[place.start..place.end];
    Some(match (old.is_empty(), replacement.is_empty()) {
        (true, _) => format!("insert `{}` at {}", replacement.trim(), report.at(*place)),
        (_, true) => format!("remove `{}`", old.trim()),
        _ => format!("replace `{old}` with `{replacement}`"),
    })
}
