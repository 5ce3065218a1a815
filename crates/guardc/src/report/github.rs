//! Findings as workflow commands of GitHub Actions, which annotate the changed files.

use super::FindingReport;
use std::fmt::Write as _;

/// Formats one command per finding.
pub fn render(report: &FindingReport) -> String {
    let mut out = String::new();
    for finding in &report.findings {
        let (start, end) = report.positions(finding.primary.0);
        let kind = if finding.error { "error" } else { "warning" };
        let file = property(&report.texts[finding.primary.0.file].name);
        let mut message = finding.message.clone();
        if let Some(help) = &finding.help {
            let _ = write!(message, "\n{help}");
        }
        // Columns are only supported within one line.
        let columns = if start.line == end.line {
            format!(",col={},endColumn={}", start.column, end.column)
        } else {
            String::new()
        };
        let title = property(finding.code);
        let _ = writeln!(
            out,
            "::{kind} title={title},file={file},line={},endLine={}{columns}::{}",
            start.line,
            end.line,
            data(&message)
        );
    }
    out
}

fn data(text: &str) -> String {
    // The percent sign comes first, or it would escape the other escapes again.
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
