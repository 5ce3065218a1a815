//! The errors of a guard as text, as `guardc check` prints them to a pipe.

use guard_compiler::SourceFile;
use guard_syntax::diagnostic::{Diagnostic, Label};
use guard_syntax::span::Span;
use std::fmt::Write as _;

/// The maximum length of a shown line, in characters.
const MAX_LINE: usize = 240;

/// The errors among the diagnostics: message, positions with their lines and labels, help, fix.
///
/// ```
/// let error = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool a() { requires b }").unwrap_err();
/// let guard_sdk::GuardError::Source { files, diagnostics } = error else { panic!("a source error") };
/// let text = guard_sdk::diagnostics::errors(&files, &diagnostics);
/// assert!(text.contains("demo.guard:2:21"));
/// ```
pub fn errors(files: &[SourceFile], diagnostics: &[Diagnostic]) -> String {
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
    let texts: Vec<String> = errors.map(|diagnostic| error(files, diagnostic)).collect();
    visible(texts.join("\n").trim_end())
}

/// A position in a file: the index of the file, line and column from 1.
#[derive(Clone, Copy, PartialEq, Eq)]
struct LineColumn {
    file: usize,
    line: usize,
    column: usize,
}

fn position(files: &[SourceFile], span: Span, offset: u32) -> LineColumn {
    let file = span.file.0 as usize;
    let text = files.get(file).map_or("", |file| file.text.as_str());
    let before = &text[..text.floor_char_boundary((offset as usize).min(text.len()))];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before[start..].trim_start_matches('\u{feff}').chars().count() + 1;
    LineColumn { file, line: before.matches('\n').count() + 1, column }
}

fn error(files: &[SourceFile], diagnostic: &Diagnostic) -> String {
    let mut out = format!("error[{}]: {}\n", diagnostic.code, diagnostic.message);
    let labels = || {
        let others = diagnostic.secondary.iter().map(|label| ('-', label));
        std::iter::once(('^', &diagnostic.primary)).chain(others)
    };
    let line = |label: &Label| {
        let at = position(files, label.span, label.span.start);
        (at.file, at.line)
    };
    let mut shown = Vec::new();
    for (mark, label) in labels() {
        if shown.contains(&line(label)) {
            continue;
        }
        shown.push(line(label));
        let at = position(files, label.span, label.span.start);
        let arrow = if mark == '^' { "-->" } else { ":::" };
        let name = files.get(at.file).map_or("", |file| file.path.as_str());
        let _ = writeln!(out, "  {arrow} {name}:{}:{}", at.line, at.column);
        source_line(&mut out, files, at);
        for (mark, other) in labels().filter(|(_, other)| line(other) == line(label)) {
            marks(&mut out, files, at, other, mark);
        }
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(out, "  help: {}", help.replace('\n', "\n    "));
    }
    if let Some(fix) = &diagnostic.fix {
        let _ = writeln!(out, "  fix: {}", fix_text(files, fix.span, &fix.replacement));
    }
    out
}

/// The line at a position: how many columns were left out, the shown part, and the width of line numbers.
fn line_at(files: &[SourceFile], at: LineColumn) -> (usize, String, usize) {
    let text = files.get(at.file).map_or("", |file| file.text.as_str());
    let line = text.lines().nth(at.line - 1).unwrap_or_default().trim_start_matches('\u{feff}');
    let is_long = line.chars().count() > MAX_LINE;
    let skipped = if is_long { at.column.saturating_sub(MAX_LINE / 2) } else { 0 };
    let shown = line.chars().skip(skipped).take(MAX_LINE).collect();
    (skipped, shown, at.line.to_string().len().max(3))
}

fn source_line(out: &mut String, files: &[SourceFile], at: LineColumn) {
    let (_, line, width) = line_at(files, at);
    let _ = writeln!(out, "{}", format!("{:>width$} | {line}", at.line).trim_end());
}

/// Marks the part of the line at a position that a label covers.
fn marks(out: &mut String, files: &[SourceFile], at: LineColumn, label: &Label, mark: char) {
    let start = position(files, label.span, label.span.start);
    let end = position(files, label.span, label.span.end);
    let (skipped, line, width) = line_at(files, at);
    let length = line.chars().count();
    let from = start.column.saturating_sub(1 + skipped);
    let same_line = end.line == start.line;
    let to = if same_line { end.column.saturating_sub(1 + skipped) } else { length };
    let pad = line.chars().take(from).map(|c| if c == '\t' { '\t' } else { ' ' });
    let pad: String = pad.collect();
    let marks = std::iter::repeat_n(mark, to.min(length).saturating_sub(from).max(1));
    let marks: String = marks.collect();
    let text = if label.text.is_empty() { String::new() } else { format!(" {}", label.text) };
    let _ = writeln!(out, "{:>width$} | {pad}{marks}{text}", "");
}

fn fix_text(files: &[SourceFile], span: Span, replacement: &str) -> String {
    let text = files.get(span.file.0 as usize).map_or("", |file| file.text.as_str());
    let old = text.get(span.start as usize..span.end as usize).unwrap_or_default();
    match (old.is_empty(), replacement.is_empty()) {
        (true, _) => {
            let at = position(files, span, span.start);
            let name = files.get(at.file).map_or("", |file| file.path.as_str());
            let place = format!("{name}:{}:{}", at.line, at.column);
            format!("insert `{}` at {place}", replacement.trim())
        }
        (_, true) => format!("remove `{}`", old.trim()),
        _ => format!("replace `{old}` with `{replacement}`"),
    }
}

/// Replaces characters that move the cursor, colour or hide text.
fn visible(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\r' | '\t' => c,
        '\0'..='\u{1f}' | '\u{7f}' => '?',
        '\u{80}'..='\u{9f}' => '¿',
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => '\u{fffd}',
        other => other,
    };
    text.chars().map(shown).collect()
}
