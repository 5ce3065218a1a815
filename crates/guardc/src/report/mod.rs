//! The findings of one run, over all its files, and their output formats.

mod github;
mod json;
mod sarif;
mod terminal;

pub use guard_sdk::diagnostics::{Finding, SourceLines, TextRange, visible};

use crate::failure::Failure;
use crate::term::{Console, count};
use guard_sdk::diagnostics::{self, DiagnosticReport};
use std::ops::{Deref, DerefMut};

/// The output format of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum FindingFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Workflow commands of GitHub Actions.
    Github,
}

/// The findings of a run.
#[derive(Default)]
pub struct FindingReport {
    found: DiagnosticReport,
    /// The number of checked files.
    pub roots: usize,
    /// The number of warnings that comments accept.
    pub accepted: usize,
}

impl Deref for FindingReport {
    type Target = DiagnosticReport;

    fn deref(&self) -> &DiagnosticReport {
        &self.found
    }
}

impl DerefMut for FindingReport {
    fn deref_mut(&mut self) -> &mut DiagnosticReport {
        &mut self.found
    }
}

impl FindingReport {
    /// Creates a report on one guard.
    pub fn of_one() -> FindingReport {
        FindingReport { roots: 1, ..FindingReport::default() }
    }

    /// Returns the findings as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        json::object(self)
    }

    /// Returns true if the run has failed.
    pub fn failed(&self) -> bool {
        self.counts().0 > 0
    }

    /// Writes all findings. As text, at most `max` of them are written, unless it is 0.
    pub fn print(
        &self,
        term: &Console,
        format: FindingFormat,
        max: usize,
        quiet: bool,
    ) -> Result<(), Failure> {
        let text = match format {
            FindingFormat::Json => json::render(self),
            FindingFormat::Sarif => sarif::render(self),
            FindingFormat::Github => github::render(self),
            FindingFormat::Text => self.render_text(term, max, quiet),
        };
        term.data(&text)
    }

    /// Writes all findings to standard error, as text, for a command with another output.
    pub fn print_to_stderr(&self, term: &Console) {
        let to_err = Console { out: term.err, out_tty: term.err_tty, ..*term };
        term.note_drawn(self.render_text(&to_err, 0, true).trim_end());
    }

    fn render_text(&self, term: &Console, max: usize, quiet: bool) -> String {
        let shown = if max == 0 { self.findings.len() } else { max.min(self.findings.len()) };
        let mut text = String::new();
        for finding in &self.findings[..shown] {
            let rendered = if term.out_tty || term.out.on {
                terminal::render(self, finding, term)
            } else {
                diagnostics::render(self, finding)
            };
            text.push_str(&rendered);
            text.push('\n');
        }
        let hidden = self.findings.len() - shown;
        if hidden > 0 {
            text.push_str(&format!("{hidden} more not shown; `--max-diagnostics 0` shows all\n"));
        }
        if !quiet {
            text.push_str(&self.summary(term));
        }
        text
    }

    fn summary(&self, term: &Console) -> String {
        let (errors, warnings) = self.counts();
        let files = count(self.roots, "file");
        let said = match (errors, warnings) {
            (0, 0) => term.out.green("no problems"),
            (0, w) => term.out.yellow(&count(w, "warning")),
            (e, 0) => term.out.red(&count(e, "error")),
            (e, w) => format!(
                "{}, {}",
                term.out.red(&count(e, "error")),
                term.out.yellow(&count(w, "warning"))
            ),
        };
        let accepted = match self.accepted {
            0 => String::new(),
            n => format!(", {} accepted", count(n, "warning")),
        };
        format!("{files} checked: {said}{accepted}\n")
    }
}
