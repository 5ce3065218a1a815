//! `guardc ack diff`: compares two reports of earlier runs, case by case.

use super::report::read_report;
use crate::failure::{CommandResult, Exit};
use crate::term::Console;
use guard_ack::report::diff::diff;
use std::path::PathBuf;

/// Compares two JSON reports; a case that passed in OLD and does not pass in NEW is a finding
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The report of the earlier run
    pub old: PathBuf,
    /// The report of the later run
    pub new: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let (old, _) = read_report(&args.old)?;
    let (new, _) = read_report(&args.new)?;
    let diff = diff(&old, &new);
    term.print(&diff.text)?;
    Ok(Exit::findings(diff.is_worse))
}
