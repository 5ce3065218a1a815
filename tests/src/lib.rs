//! Helpers shared by the suites: how a case file becomes a printed outcome, and the machinery of the laws.

pub mod big;
pub mod bounded;
pub mod claimed;
pub mod claims;
pub mod differential;
pub mod disproofs;
pub mod edits;
pub mod exhausted;
pub mod generate;
pub mod opinion;
pub mod small;
pub mod steps;
pub mod walks;
pub mod written;

use guard_compiler::{CompilerOutput, NoFiles, SourceFile, compile};
use std::path::{Path, PathBuf};

/// Compiles a guard by itself; none where it is refused.
pub fn compiled(text: &str) -> Option<CompilerOutput> {
    let root = SourceFile { path: "guard.guard".into(), text: text.into() };
    compile(root, &mut NoFiles).output
}

/// The guards that stand in a folder, sorted by path.
pub fn guards_in(folder: &Path) -> Vec<PathBuf> {
    let mut paths = entries(folder);
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "guard"));
    paths.sort();
    paths
}

/// The guards below a folder, sorted by path.
pub fn guards_below(folder: &Path) -> Vec<PathBuf> {
    let folders = entries(folder).into_iter().filter(|path| path.is_dir());
    let mut paths = guards_in(folder);
    paths.extend(folders.flat_map(|folder| guards_below(&folder)));
    paths.sort();
    paths
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder);
    let read = read.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    read.map(|entry| entry.expect("a readable entry").path()).collect()
}
