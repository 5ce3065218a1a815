//! Accepted warnings: `// accept G0525: the branch closes at most 40 accounts a session`.
//!
//! Input: the files of a compilation and its diagnostics. Output: the diagnostics without the
//! warnings that a comment accepts. An error is never accepted. A comment applies to the element
//! that follows it. If there is code on its own line, it applies to that line.

use crate::errors;
use crate::sources::SourceFile;
use guard_syntax::diagnostic::{Diagnostic, DiagnosticSeverity};
use guard_syntax::span::{FileId, Span};

/// The warnings that only `verify` can find, because they need an exploration.
const EXPLORED: [&str; 5] = ["G0510", "G0511", "G0514", "G0515", "G0518"];

/// A comment that accepts a warning.
struct Acceptance<'f> {
    code: &'f str,
    /// The comment.
    span: Span,
    /// The start and the end of the text that the comment applies to.
    covered: (u32, u32),
    used: bool,
}

impl Acceptance<'_> {
    fn accepts(&self, found: &Diagnostic) -> bool {
        let at = found.primary.span;
        let covered = self.covered.0..self.covered.1;
        found.severity != DiagnosticSeverity::Error
            && found.code == self.code
            && at.file == self.span.file
            && covered.contains(&at.start)
    }
}

/// Removes the accepted warnings, and reports the comments that accept nothing. Returns the number
/// of removed warnings.
pub(crate) fn apply(files: &[SourceFile], diagnostics: &mut Vec<Diagnostic>) -> usize {
    let mut wrong = Vec::new();
    let mut all = acceptances(files, &mut wrong);
    let before = diagnostics.len();
    drop_accepted(&mut all, diagnostics);
    let accepted = before - diagnostics.len();
    let unused = all.iter().filter(|accept| !accept.used && !EXPLORED.contains(&accept.code));
    wrong.extend(unused.map(|accept| errors::accepts_nothing(accept.span, accept.code)));
    diagnostics.append(&mut wrong);
    accepted
}

/// Removes the accepted warnings from further warnings about a guard, such as those that an
/// exploration finds.
pub fn keep_unaccepted(files: &[SourceFile], diagnostics: &mut Vec<Diagnostic>) {
    drop_accepted(&mut acceptances(files, &mut Vec::new()), diagnostics);
}

fn drop_accepted(all: &mut [Acceptance<'_>], diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.retain(|found| {
        // Several comments may accept one warning, and each of them is used then.
        let mut accepting = all.iter_mut().filter(|accept| accept.accepts(found)).peekable();
        let is_accepted = accepting.peek().is_some();
        accepting.for_each(|accept| accept.used = true);
        !is_accepted
    });
}

/// Parses the comments of all files. A malformed comment is reported and accepts nothing.
fn acceptances<'f>(files: &'f [SourceFile], wrong: &mut Vec<Diagnostic>) -> Vec<Acceptance<'f>> {
    let mut all = Vec::new();
    for (file, id) in files.iter().zip(0..) {
        for comment in guard_syntax::comments(&file.text) {
            let span = Span::new(FileId(id), comment.start, comment.end);
            let text = file.text[comment.clone()].trim_start_matches('/').trim();
            let Some((code, reason)) = accepted(text) else { continue };
            if !errors::CODES.iter().any(|(known, _)| *known == code && code.starts_with("G05")) {
                wrong.push(errors::accepts_no_warning(span, code));
            } else if reason.is_empty() {
                wrong.push(errors::accepts_without_reason(span, code));
            } else {
                let covered = covered(&file.text, comment.start, comment.end);
                all.push(Acceptance { code, span, covered, used: false });
            }
        }
    }
    all
}

/// Returns the code and the reason of `accept CODE: reason`.
fn accepted(comment: &str) -> Option<(&str, &str)> {
    let said = comment.strip_prefix("accept ")?.trim_start();
    let end = said.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(said.len());
    let (code, rest) = said.split_at(end);
    let is_code = code.len() == 5
        && code.starts_with('G')
        && code[1..].bytes().all(|digit| digit.is_ascii_digit());
    is_code.then(|| (code, rest.trim_start_matches(':').trim()))
}

/// Returns the text that a comment applies to: its own line if there is code before it, otherwise
/// the next line of code. Lines below that are indented deeper belong to the line.
fn covered(text: &str, start: usize, end: usize) -> (u32, u32) {
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let own = !text[line_start..start].trim().is_empty();
    let first = if own { line_start } else { end };
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text[first..].split_inclusive('\n').scan(first, |at, line| {
        let begin = *at;
        *at += line.len();
        Some((begin, line))
    });
    let is_code = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let Some((from, head)) = lines.by_ref().find(|(_, line)| is_code(line)) else {
        return (0, 0);
    };
    let below = lines.take_while(|(_, line)| !is_code(line) || indent(line) > indent(head));
    let to = below.last().map_or(from + head.len(), |(begin, line)| begin + line.len());
    (from as u32, to as u32)
}
