//! `differential SESSIONS [SEED]`: plays random sessions on kernel and reference evaluator.
//!
//! Builds the runner in release mode; a disagreement is printed with the seed that gives it again.

use std::path::Path;
use std::process::Command;

pub fn run(root: &Path, args: &[String]) -> Result<bool, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .current_dir(root)
        .args([
            "run",
            "--quiet",
            "--release",
            "--package",
            "guard-tests",
            "--bin",
            "differential",
            "--",
        ])
        .args(args)
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    Ok(status.success())
}
