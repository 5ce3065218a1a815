//! The findings of one run, over all its files, and their output formats.

mod github;
mod json;
mod lines;
mod plain;
mod sarif;
mod terminal;

pub use lines::{Lines, Position};

use crate::failure::Failure;
use crate::term::{Term, count};
use guard_compiler::SourceFile;
use guard_syntax::diagnostic::{Diagnostic, Severity};
use guard_syntax::span::Span;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// How findings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
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

/// One text that findings refer to.
pub struct Text {
    /// Its displayed name.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
    /// The text in displayable form, with the same byte offsets.
    pub shown: Arc<str>,
    /// Its lines.
    pub lines: Lines,
}

/// A range of bytes in one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Index into the report's texts.
    pub file: usize,
    /// First byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

/// One finding: a diagnostic with positions in the report's texts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Finding {
    /// Its code.
    pub code: &'static str,
    /// True if it is or counts as an error.
    pub error: bool,
    /// The message, one line.
    pub message: String,
    /// The position of the problem, and its label.
    pub primary: (Place, String),
    /// Other relevant positions.
    pub secondary: Vec<(Place, String)>,
    /// A suggestion.
    pub help: Option<String>,
    /// A range and its replacement.
    pub fix: Option<(Place, String)>,
}

/// The findings of a run.
#[derive(Default)]
pub struct Report {
    /// The texts, in order of first use.
    pub texts: Vec<Text>,
    /// The findings, without duplicates.
    pub findings: Vec<Finding>,
    /// The number of checked files.
    pub roots: usize,
    names: HashMap<String, usize>,
    known: HashSet<Finding>,
}

impl Report {
    /// A report on one guard.
    pub fn of_one() -> Report {
        Report { roots: 1, ..Report::default() }
    }

    /// Returns the index of a text; the same name is the same text.
    pub fn text(&mut self, name: &str, text: &str) -> usize {
        *self.names.entry(name.to_owned()).or_insert_with(|| {
            self.texts.push(Text {
                name: name.to_owned(),
                shown: Arc::from(visible(text)),
                lines: Lines::new(text),
                text: Arc::from(text),
            });
            self.texts.len() - 1
        })
    }

    /// Adds the diagnostics of one compilation; `files` have their displayed names.
    pub fn add(&mut self, files: &[SourceFile], diagnostics: &[Diagnostic]) {
        let map: Vec<usize> = files.iter().map(|f| self.text(&f.path, &f.text)).collect();
        for diagnostic in diagnostics {
            let finding = self.finding(&map, diagnostic);
            if self.known.insert(finding.clone()) {
                self.findings.push(finding);
            }
        }
    }

    fn finding(&self, map: &[usize], diagnostic: &Diagnostic) -> Finding {
        let place = |span: Span| self.place(map, span);
        let label = |l: &guard_syntax::diagnostic::Label| (place(l.span), l.text.clone());
        Finding {
            code: diagnostic.code,
            error: diagnostic.severity == Severity::Error,
            message: diagnostic.message.clone(),
            primary: label(&diagnostic.primary),
            secondary: diagnostic.secondary.iter().map(label).collect(),
            help: diagnostic.help.clone(),
            fix: diagnostic.fix.as_ref().map(|fix| (place(fix.span), fix.replacement.clone())),
        }
    }

    fn place(&self, map: &[usize], span: Span) -> Place {
        let file = map.get(span.file.0 as usize).or(map.first()).copied().unwrap_or(0);
        let text = self.texts.get(file).map_or("", |t| &t.text);
        let start = lines::floor(text, span.start as usize);
        let end = lines::floor(text, span.end as usize).max(start);
        Place { file, start, end }
    }

    /// Returns the start and end positions of a range.
    pub fn positions(&self, place: Place) -> (Position, Position) {
        let text = &self.texts[place.file];
        let at = |offset| text.lines.position(&text.text, offset);
        (at(place.start), at(place.end))
    }

    /// Returns `file:line:column` of a range.
    pub fn at(&self, place: Place) -> String {
        let (start, _) = self.positions(place);
        format!("{}:{}:{}", self.texts[place.file].name, start.line, start.column)
    }

    /// Returns the number of errors, and of other findings.
    pub fn counts(&self) -> (usize, usize) {
        let errors = self.findings.iter().filter(|f| f.error).count();
        (errors, self.findings.len() - errors)
    }

    /// The findings as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        json::object(self)
    }

    /// Returns whether the run has failed.
    pub fn failed(&self) -> bool {
        self.counts().0 > 0
    }

    /// Turns warnings into errors.
    pub fn harden(&mut self) {
        self.findings.iter_mut().for_each(|finding| finding.error = true);
    }

    /// Sorts files by name and findings by position.
    pub fn sort(&mut self) {
        let texts = &self.texts;
        self.findings.sort_by(|a, b| {
            let key = |f: &Finding| (f.primary.0.start, f.code);
            let names = texts[a.primary.0.file].name.cmp(&texts[b.primary.0.file].name);
            names.then_with(|| key(a).cmp(&key(b))).then_with(|| a.message.cmp(&b.message))
        });
    }

    /// Writes all findings, as text at most `max` of them unless it is 0.
    pub fn print(
        &self,
        term: &Term,
        format: Format,
        max: usize,
        quiet: bool,
    ) -> Result<(), Failure> {
        let text = match format {
            Format::Json => json::render(self),
            Format::Sarif => sarif::render(self),
            Format::Github => github::render(self),
            Format::Text => self.render_text(term, max, quiet),
        };
        term.print(&text)
    }

    /// Writes all findings to standard error, as text, for a command with another output.
    pub fn print_to_stderr(&self, term: &Term) {
        let to_err = Term { out: term.err, out_tty: term.err_tty, ..*term };
        term.note(self.render_text(&to_err, 0, true).trim_end());
    }

    fn render_text(&self, term: &Term, max: usize, quiet: bool) -> String {
        let shown = if max == 0 { self.findings.len() } else { max.min(self.findings.len()) };
        let mut text = String::new();
        for finding in &self.findings[..shown] {
            let one = if term.out_tty || term.out.on {
                terminal::render(self, finding, term)
            } else {
                plain::render(self, finding)
            };
            text.push_str(&one);
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

    fn summary(&self, term: &Term) -> String {
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
        format!("{files} checked: {said}\n")
    }
}

/// Replaces the characters that move the cursor, colour or hide text by others with the same number
/// of bytes.
pub fn visible(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\r' | '\t' => c,
            '\0'..='\u{1f}' | '\u{7f}' => '?',
            '\u{80}'..='\u{9f}' => '¿',
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => {
                '\u{fffd}'
            }
            other => other,
        })
        .collect()
}
