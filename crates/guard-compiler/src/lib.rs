//! The compiler of the Guard language: sources in, diagnostics and a plan out.
//!
//! Phases are modules, in this order: `sources` loads, `names` resolves, `types` checks, `verify` proves,
//! `lower` makes the plan. Only [`compile`] knows the order. Knows nothing of running a plan, of terminals
//! or of files: a [`Loader`] brings the texts that `use` names.

pub mod scenario;
mod sources;

pub use sources::{Loader, SourceFile, std_library};

use guard_plan::plan::{Plan, Sources};
use guard_syntax::diagnostic::Diagnostic;

/// Everything a compilation gives.
pub struct Compilation {
    /// The files read, in order of loading; a span's `FileId` is an index here.
    pub files: Vec<SourceFile>,
    /// All problems, ordered by file and position.
    pub diagnostics: Vec<Diagnostic>,
    /// What was made, where no diagnostic is an error.
    pub output: Option<Output>,
}

/// What a guard compiles to.
pub struct Output {
    /// The plan.
    pub plan: Plan,
    /// Where its rules stand.
    pub sources: Sources,
    /// The scenarios of its `test` blocks.
    pub scenarios: Vec<scenario::Scenario>,
}

/// Compiles `root` and whatever it uses. Never fails: what is wrong is in the diagnostics.
pub fn compile(root: SourceFile, loader: &mut dyn Loader) -> Compilation {
    let _ = loader;
    Compilation { files: vec![root], diagnostics: Vec::new(), output: None }
}
