//! Fixes that the compiler offers: each, applied, removes its finding and makes no new one where it changed the text.

use guard_compiler::{NoFiles, SourceFile, compile};
use guard_syntax::diagnostic::{Diagnostic, SuggestedFix};
use guard_tests::guards_in;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The folders whose guards have findings.
const FOLDERS: [&str; 4] = ["mistakes", "names", "syntax", "types"];

fn guards(folder: &str) -> Vec<PathBuf> {
    guards_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("suite").join(folder))
}

fn findings(text: &str) -> Vec<Diagnostic> {
    let file = SourceFile { path: "case.guard".into(), text: text.to_owned() };
    compile(file, &mut NoFiles).diagnostics
}

fn applied(text: &str, fix: &SuggestedFix) -> String {
    let start = fix.span.start as usize;
    let end = fix.span.end as usize;
    format!("{}{}{}", &text[..start], fix.replacement, &text[end..])
}

/// Says what is wrong with a fix, if anything is.
fn objection(text: &str, finding: &Diagnostic, fix: &SuggestedFix) -> Option<String> {
    let after = findings(&applied(text, fix));
    let start = fix.span.start;
    let end = fix.span.start + fix.replacement.len() as u32;
    let here = |found: &&Diagnostic| {
        let span = found.primary.span;
        span.start <= end && start <= span.end
    };
    let same = |found: &&Diagnostic| found.code == finding.code && found.message == finding.message;
    let before = findings(text);
    if after.iter().filter(same).count() >= before.iter().filter(same).count() {
        return Some("the finding is still there".into());
    }
    let new = |found: &&Diagnostic| !before.iter().any(|known| known.message == found.message);
    after.iter().filter(here).find(new).map(|found| format!("now: {}", found.message))
}

#[test]
fn each_fix_removes_its_finding_and_makes_no_other() {
    let mut objections = String::new();
    for path in FOLDERS.iter().flat_map(|folder| guards(folder)) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        for finding in findings(&text) {
            let Some(fix) = &finding.fix else { continue };
            if let Some(objection) = objection(&text, &finding, fix) {
                let name = path.file_name().unwrap_or_default().display();
                let was = &text[fix.span.start as usize..fix.span.end as usize];
                let message = &finding.message;
                let new = &fix.replacement;
                let _ = writeln!(objections, "{name}: {message}: {was:?} → {new:?}: {objection}");
            }
        }
    }
    assert!(objections.is_empty(), "{objections}");
}
