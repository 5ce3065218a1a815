//! Diagnostics with their positions in texts, and their form as plain text, as `guardc check`
//! prints them to a pipe.

mod lines;
mod plain;

pub use lines::{Position, SourceLines};
pub use plain::{fix_line, is_long, render};

use guard_compiler::SourceFile;
use guard_plan::render::is_invisible;
use guard_syntax::diagnostic::{Diagnostic, DiagnosticSeverity, Label};
use guard_syntax::span::Span;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// One text that findings refer to.
pub struct Text {
    /// The name that is shown.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
    /// The text in a form that is safe to print, with the same byte offsets.
    pub shown: Arc<str>,
    /// The lines of the text.
    pub lines: SourceLines,
}

/// A range of bytes in one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextRange {
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
    /// The diagnostic code.
    pub code: &'static str,
    /// True if the finding is an error or counts as one.
    pub error: bool,
    /// The message, one line.
    pub message: String,
    /// The position of the problem, and its label.
    pub primary: (TextRange, String),
    /// Other relevant positions.
    pub secondary: Vec<(TextRange, String)>,
    /// A suggestion.
    pub help: Option<String>,
    /// A range and its replacement.
    pub fix: Option<(TextRange, String)>,
}

/// The diagnostics of one or several compilations, with their positions.
///
/// ```
/// use guard_sdk::diagnostics::DiagnosticReport;
/// let error = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool a() { requires b }").unwrap_err();
/// let guard_sdk::GuardError::Source { files, diagnostics } = error else { panic!("a source error") };
/// assert!(DiagnosticReport::new(&files, &diagnostics).errors().contains("demo.guard:2:21"));
/// ```
#[derive(Default)]
pub struct DiagnosticReport {
    /// The texts, in order of first use.
    pub texts: Vec<Text>,
    /// The findings, without duplicates.
    pub findings: Vec<Finding>,
    names: HashMap<String, usize>,
    known: HashSet<Finding>,
}

impl DiagnosticReport {
    /// The diagnostics of one compilation.
    pub fn new(files: &[SourceFile], diagnostics: &[Diagnostic]) -> DiagnosticReport {
        let mut report = DiagnosticReport::default();
        report.add(files, diagnostics);
        report
    }

    /// Formats the errors: message, positions with their lines and labels, help and fix.
    pub fn errors(&self) -> String {
        let errors = self.findings.iter().filter(|finding| finding.error);
        let texts: Vec<String> = errors.map(|finding| render(self, finding)).collect();
        texts.join("\n").trim_end().to_owned()
    }

    /// Returns the index of a text. The text is added unless the report has one with this name.
    pub fn text(&mut self, name: &str, text: &str) -> usize {
        *self.names.entry(name.to_owned()).or_insert_with(|| {
            self.texts.push(Text {
                name: name.to_owned(),
                shown: Arc::from(visible(text)),
                lines: SourceLines::new(text),
                text: Arc::from(text),
            });
            self.texts.len() - 1
        })
    }

    /// Adds the diagnostics of one compilation. `files` have the names that are shown.
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
        let label = |l: &Label| (place(l.span), l.text.clone());
        Finding {
            code: diagnostic.code,
            error: diagnostic.severity == DiagnosticSeverity::Error,
            message: diagnostic.message.clone(),
            primary: label(&diagnostic.primary),
            secondary: diagnostic.secondary.iter().map(label).collect(),
            help: diagnostic.help.clone(),
            fix: diagnostic.fix.as_ref().map(|fix| (place(fix.span), fix.replacement.clone())),
        }
    }

    fn place(&self, map: &[usize], span: Span) -> TextRange {
        let file = map.get(span.file.0 as usize).or(map.first()).copied().unwrap_or(0);
        let text = self.texts.get(file).map_or("", |t| &t.text);
        let start = lines::floor(text, span.start as usize);
        let end = lines::floor(text, span.end as usize).max(start);
        TextRange { file, start, end }
    }

    /// Returns the positions of the start and the end of a range.
    pub fn positions(&self, place: TextRange) -> (Position, Position) {
        let text = &self.texts[place.file];
        let at = |offset| text.lines.position(&text.text, offset);
        (at(place.start), at(place.end))
    }

    /// Returns the start of a range as `file:line:column`.
    pub fn at(&self, place: TextRange) -> String {
        let (start, _) = self.positions(place);
        format!("{}:{}:{}", self.texts[place.file].name, start.line, start.column)
    }

    /// Returns the number of errors and the number of other findings.
    pub fn counts(&self) -> (usize, usize) {
        let errors = self.findings.iter().filter(|f| f.error).count();
        (errors, self.findings.len() - errors)
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
}

/// Replaces the characters that move the cursor, change colours or hide text by others with the
/// same number of bytes.
pub fn visible(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\r' | '\t' => c,
            '\0'..='\u{1f}' | '\u{7f}' => '?',
            '\u{80}'..='\u{9f}' => '¿',
            c if is_invisible(c) => match c.len_utf8() {
                2 => '¿',
                3 => '\u{fffd}',
                // The negative squared question mark.
                _ => '\u{1fbc4}',
            },
            other => other,
        })
        .collect()
}
