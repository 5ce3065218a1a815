//! Verifies fixes: each offered fix must remove its finding, and must not add a new one where it
//! changes the text.
//!
//! Input: the files of a compilation and its diagnostics. Output: the diagnostics, without the fixes that do not help.

use crate::sources::{self, Loader, SourceFile};
use crate::{names, types};
use guard_syntax::diagnostic::{Diagnostic, SuggestedFix};
use guard_syntax::span::{FileId, Span};

/// The maximum number of bytes that are checked again. In a text with more mistakes than that, only
/// the first ones get fixes.
const MAX_BYTES: usize = 256 * 1024;

/// A loader for the files of a compilation, with one of them changed.
struct EditedFiles<'f> {
    files: &'f [SourceFile],
    changed: SourceFile,
}

impl Loader for EditedFiles<'_> {
    fn load(&mut self, path: &str) -> Result<String, String> {
        if self.changed.path == path {
            return Ok(self.changed.text.clone());
        }
        let file = self.files.iter().find(|file| file.path == path);
        file.map(|file| file.text.clone()).ok_or_else(|| "it is not tried".into())
    }
}

/// Removes the fixes that do not help, and the questions `did you mean …?` that belong to them.
pub(crate) fn keep_helpful(files: &[SourceFile], diagnostics: &mut [Diagnostic]) {
    if diagnostics.iter().all(|diagnostic| diagnostic.fix.is_none()) {
        return;
    }
    let size: usize = files.iter().map(|file| file.text.len()).sum();
    let before = diagnostics.to_vec();
    let mut checked = 0;
    for diagnostic in diagnostics {
        let Some(fix) = &diagnostic.fix else { continue };
        checked += size;
        if checked > MAX_BYTES {
            diagnostic.fix = None;
        } else if !helps(files, &before, diagnostic, fix) {
            diagnostic.fix = None;
            diagnostic.help =
                diagnostic.help.take().filter(|help| !help.starts_with("did you mean"));
        }
    }
}

fn helps(
    files: &[SourceFile],
    before: &[Diagnostic],
    finding: &Diagnostic,
    fix: &SuggestedFix,
) -> bool {
    let Some((changed, file)) = applied(files, fix) else { return false };
    let root = if file == 0 { changed.clone() } else { files[0].clone() };
    let after = findings(root, &mut EditedFiles { files, changed });
    let count = |findings: &[Diagnostic]| {
        // The change moves positions, so findings are compared by code and message.
        let same =
            |found: &&Diagnostic| found.code == finding.code && found.message == finding.message;
        findings.iter().filter(same).count()
    };
    let replaced = fix.span.start..=fix.span.start + fix.replacement.len() as u32;
    let touches = |span: Span| {
        span.file == fix.span.file && span.start <= *replaced.end() && *replaced.start() <= span.end
    };
    let new = |found: &Diagnostic| !before.iter().any(|known| known.message == found.message);
    count(&after) < count(before)
        && !after.iter().any(|found| touches(found.primary.span) && new(found))
}

/// Returns the file that a fix changes, after the change, and the file's number.
fn applied(files: &[SourceFile], fix: &SuggestedFix) -> Option<(SourceFile, usize)> {
    let number = fix.span.file.0 as usize;
    let file = files.get(number)?;
    let start = fix.span.start as usize;
    let end = fix.span.end as usize;
    let before = file.text.get(..start)?;
    let after = file.text.get(end..)?;
    let text = format!("{before}{}{after}", fix.replacement);
    Some((SourceFile { path: file.path.clone(), text }, number))
}

/// Returns the findings of loading, resolving and checking.
fn findings(root: SourceFile, loader: &mut dyn Loader) -> Vec<Diagnostic> {
    let mut sources = sources::load(root, loader);
    let mut diagnostics = std::mem::take(&mut sources.diagnostics);
    let names = names::resolve(&sources, &mut diagnostics);
    types::check(&names, Span::new(FileId(0), 0, 0), &mut diagnostics);
    diagnostics
}
