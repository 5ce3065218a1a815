//! Generated first guards: formatting, and the check that they are valid guards.

use crate::failure::Failure;

/// Returns the text as `guardc fmt` writes it, if it is a guard without errors.
///
/// # Errors
///
/// Returns a failure with `help` if it has errors.
pub fn formatted(text: &str, help: &str) -> Result<String, Failure> {
    let bug =
        |why: String| Failure::new(format!("the guard that was made has errors: {why}")).help(help);
    let formatted = guard_syntax::format(text).map_err(|found| {
        bug(found.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>().join("; "))
    })?;
    guard_sdk::Guard::compile("imported.guard", formatted.clone())
        .map_err(|error| bug(error.to_string()))?;
    Ok(formatted)
}
