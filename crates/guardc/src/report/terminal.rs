//! Findings on a terminal, drawn by miette.

use super::{Finding, FindingReport, visible};
use crate::term::Console;
use guard_sdk::diagnostics;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, Severity};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Draws one finding. Positions in other files follow as separate drawings.
pub fn render(report: &FindingReport, finding: &Finding, term: &Console) -> String {
    if diagnostics::is_long(report, finding) {
        return diagnostics::render(report, finding);
    }
    let theme =
        if term.out.on { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_context_lines(1);
    let mut out = String::new();
    match handler.render_report(&mut out, &DrawnFinding::new(report, finding)) {
        Ok(()) => out,
        Err(_) => diagnostics::render(report, finding),
    }
}

/// A finding, or its positions in one other file, in miette's form.
#[derive(Debug)]
struct DrawnFinding {
    code: Option<&'static str>,
    severity: Severity,
    message: String,
    source: NamedSource<Arc<str>>,
    labels: Vec<LabeledSpan>,
    help: Option<String>,
    elsewhere: Vec<DrawnFinding>,
}

impl DrawnFinding {
    fn new(report: &FindingReport, finding: &Finding) -> DrawnFinding {
        let (primary, label) = &finding.primary;
        let span = |start: usize, end: usize| start..end;
        let text = |label: &str| (!label.is_empty()).then(|| visible(label));
        let mut labels =
            vec![LabeledSpan::new_primary_with_span(text(label), span(primary.start, primary.end))];
        let mut others: BTreeMap<usize, Vec<LabeledSpan>> = BTreeMap::new();
        for (place, label) in &finding.secondary {
            let drawn = LabeledSpan::new_with_span(text(label), span(place.start, place.end));
            if place.file == primary.file {
                &mut labels
            } else {
                others.entry(place.file).or_default()
            }
            .push(drawn);
        }
        let help: Vec<String> =
            finding.help.iter().cloned().chain(diagnostics::fix_line(report, finding)).collect();
        DrawnFinding {
            code: Some(finding.code),
            severity: if finding.error { Severity::Error } else { Severity::Warning },
            message: visible(&finding.message),
            source: source(report, primary.file),
            labels,
            help: (!help.is_empty()).then(|| visible(&help.join("\n"))),
            elsewhere: others
                .into_iter()
                .map(|(file, labels)| DrawnFinding::elsewhere(report, file, labels))
                .collect(),
        }
    }

    fn elsewhere(report: &FindingReport, file: usize, labels: Vec<LabeledSpan>) -> DrawnFinding {
        DrawnFinding {
            code: None,
            severity: Severity::Advice,
            message: format!("see `{}`", report.texts[file].name),
            source: source(report, file),
            labels,
            help: None,
            elsewhere: Vec::new(),
        }
    }
}

fn source(report: &FindingReport, file: usize) -> NamedSource<Arc<str>> {
    let text = &report.texts[file];
    NamedSource::new(text.name.clone(), Arc::clone(&text.shown))
}

impl std::fmt::Display for DrawnFinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DrawnFinding {}

impl miette::Diagnostic for DrawnFinding {
    fn code<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.code.map(|code| Box::new(code) as Box<dyn std::fmt::Display>)
    }

    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn std::fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
        let drawn = self.elsewhere.iter().map(|d| d as &dyn miette::Diagnostic);
        (!self.elsewhere.is_empty()).then(|| Box::new(drawn) as Box<dyn Iterator<Item = _>>)
    }
}
