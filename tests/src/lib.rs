//! Helpers shared by the suites: how a case file becomes a printed outcome, and the machinery of the laws.

pub mod big;
pub mod bounded;
pub mod claimed;
pub mod claims;
pub mod differential;
pub mod disproofs;
pub mod edits;
pub mod generate;
pub mod opinion;
pub mod small;
pub mod steps;
pub mod walks;

use guard_compiler::{NoFiles, Output, SourceFile, compile};

/// Compiles a guard by itself; none where it is refused.
pub fn compiled(text: &str) -> Option<Output> {
    let root = SourceFile { path: "guard.guard".into(), text: text.into() };
    compile(root, &mut NoFiles).output
}
