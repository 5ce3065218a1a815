//! Rendering of a compilation's findings in the suites: every place with its text, every help,
//! every fix.

use guard_compiler::{Compilation, Loader, SourceFile};
use guard_syntax::diagnostic::{Diagnostic, DiagnosticSeverity};
use guard_syntax::span::Span;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Files that a case brings along for its `use` items.
#[derive(Default)]
pub struct Beside(pub BTreeMap<String, String>);

impl Loader for Beside {
    fn load(&mut self, path: &str) -> Result<String, String> {
        self.0.get(path).cloned().ok_or_else(|| "no such file".into())
    }
}

/// Compiles a case under a name.
pub fn compile(name: &str, text: &str, mut beside: Beside) -> Compilation {
    let root = SourceFile { path: name.into(), text: text.into() };
    guard_compiler::compile(root, &mut beside)
}

/// All diagnostics of a compilation, or a word that there are none.
pub fn diagnostics(compilation: &Compilation) -> String {
    if compilation.diagnostics.is_empty() {
        return "no diagnostics\n".into();
    }
    let printed: Vec<String> =
        compilation.diagnostics.iter().map(|d| diagnostic(&compilation.files, d)).collect();
    printed.join("\n")
}

fn diagnostic(files: &[SourceFile], d: &Diagnostic) -> String {
    let severity = if d.severity == DiagnosticSeverity::Error { "error" } else { "warning" };
    let mut out = format!("{} {severity} {}\n", d.code, d.message);
    let mut line = |what: &str, span: Span, text: &str| {
        let dash = if text.is_empty() { "" } else { " — " };
        let _ =
            writeln!(out, "  {what} {} `{}`{dash}{text}", place(files, span), excerpt(files, span));
    };
    line("at", d.primary.span, &d.primary.text);
    for label in &d.secondary {
        line("and", label.span, &label.text);
    }
    if let Some(help) = &d.help {
        let _ = writeln!(out, "  help: {help}");
    }
    if let Some(fix) = &d.fix {
        let at = place(files, fix.span);
        let old = excerpt(files, fix.span);
        let _ = writeln!(out, "  fix: {at} `{old}` → `{}`", fix.replacement);
    }
    out
}

/// `line:column-column`, with the file where it is not the first one.
fn place(files: &[SourceFile], span: Span) -> String {
    let file = &files[span.file.0 as usize];
    let start = position(&file.text, span.start as usize);
    let end = position(&file.text, span.end as usize);
    let named = if span.file.0 == 0 { String::new() } else { format!("{}:", file.path) };
    if start.0 == end.0 {
        format!("{named}{}:{}-{}", start.0, start.1, end.1)
    } else {
        format!("{named}{}:{}-{}:{}", start.0, start.1, end.0, end.1)
    }
}

fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// The text of a place on one line, its middle left out where it is long.
fn excerpt(files: &[SourceFile], span: Span) -> String {
    let text = &files[span.file.0 as usize].text[span.start as usize..span.end as usize];
    let words: Vec<char> = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect();
    if words.len() <= 72 {
        return words.into_iter().collect();
    }
    let head = &words[..40];
    let tail = &words[words.len() - 24..];
    format!("{} … {}", head.iter().collect::<String>(), tail.iter().collect::<String>())
}

/// Compares with the file, or rewrites it where `GUARD_BLESS` is set; says what differs.
pub fn compare(beside: &Path, got: &str) -> Option<String> {
    let expected = std::fs::read_to_string(beside).unwrap_or_default();
    if got == expected {
        return None;
    }
    if std::env::var_os("GUARD_BLESS").is_some() {
        std::fs::write(beside, got).expect("the suite is writable");
        return None;
    }
    let name = beside.file_name().unwrap_or_default().to_string_lossy();
    let old: Vec<&str> = expected.lines().collect();
    let new: Vec<&str> = got.lines().collect();
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let mut out = format!("\n=== {name}, from line {}\n", same + 1);
    old[same..].iter().take(20).for_each(|l| out.push_str(&format!("- {l}\n")));
    new[same..].iter().take(20).for_each(|l| out.push_str(&format!("+ {l}\n")));
    Some(out)
}
