//! Plans: compiled from a guard, or loaded from a compiled file.

use crate::config::Config;
use crate::failure::Failure;
use crate::files;
use crate::project;
use crate::term::Console;
use guard_plan::{LoadedPlan, load};
pub use guard_sdk::sources::is_plan;
use std::path::Path;

/// Opens a guard or a plan; `None` if the guard has errors, which have been reported.
pub fn open(path: &Path, config: &Config, term: &Console) -> Result<Option<LoadedPlan>, Failure> {
    if path.as_os_str() != "-" {
        let bytes = files::read_bytes(path).map_err(|why| files::unreadable(path, &why))?;
        if is_plan(&bytes) || path.extension().is_some_and(|e| e == "plan") {
            let bad = |why| Failure::new(format!("cannot load `{}`: {why}", files::display(path)));
            return load(&bytes).map(Some).map_err(bad);
        }
    }
    let Some(compiled) = project::compile_one(path, config, term)? else {
        return Ok(None);
    };
    compiled.compilation.output.map(|output| loaded(output.plan, output.sources)).transpose()
}

/// Converts a compiled plan to the form that a kernel takes.
pub fn loaded(
    plan: guard_plan::plan::Plan,
    sources: guard_plan::plan::Sources,
) -> Result<LoadedPlan, Failure> {
    LoadedPlan::from_plan(plan, sources)
        .map_err(|why| Failure::new(format!("the compiled plan is refused: {why}")))
}
