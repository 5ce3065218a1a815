//! Plans: compiled from a guard, or loaded from a compiled file.

use crate::config::Config;
use crate::failure::Failure;
use crate::files;
use crate::project;
use crate::term::Console;
use guard_plan::{LoadedPlan, load};
pub use guard_sdk::sources::is_plan;
use std::path::Path;

/// Returns the bytes of a compiled plan; `None` for a guard.
fn compiled(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    if path.as_os_str() == "-" {
        return Ok(None);
    }
    let bytes = files::read_bytes(path).map_err(|why| files::unreadable(path, &why))?;
    let named = path.extension().is_some_and(|ending| ending == "plan");
    Ok((named || is_plan(&bytes)).then_some(bytes))
}

/// Returns true if a file is a plan, in either form, and not a guard.
pub fn is_compiled(path: &Path) -> Result<bool, Failure> {
    Ok(compiled(path)?.is_some())
}

/// Opens a guard or a plan. The errors of a guard are reported.
pub fn open(path: &Path, term: &Console) -> Result<LoadedPlan, Failure> {
    let config = Config::of_file(path)?;
    if let Some(bytes) = compiled(path)? {
        let bad = |why| Failure::new(format!("cannot load `{}`: {why}", files::display(path)));
        return load(&bytes).map_err(bad);
    }
    let (output, _) = project::compile_one(path, &config, term)?;
    loaded(output.plan, output.sources)
}

/// Converts a compiled plan to the form that a kernel takes.
pub fn loaded(
    plan: guard_plan::plan::Plan,
    sources: guard_plan::plan::Sources,
) -> Result<LoadedPlan, Failure> {
    LoadedPlan::from_plan(plan, sources)
        .map_err(|why| Failure::new(format!("the compiled plan is rejected: {why}")))
}
