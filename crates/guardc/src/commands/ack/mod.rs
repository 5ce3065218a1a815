//! `guardc ack`: judges adapters by simulating the world around them.
//!
//! The judge is `guard-ack`; this module handles arguments, files and exit codes.

mod bless;
mod diff;
mod doctor;
mod list;
mod ours;
mod outage;
mod plans;
mod report;
mod run;
mod sample;
mod selection;

use crate::failure::{Failure, Outcome};
use crate::term::Term;
use guard_ack::Suite;
use std::path::PathBuf;

/// Judges adapters: does the loop around the tools keep the guard's word?
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands of `guardc ack`.
#[derive(Debug, clap::Subcommand)]
#[allow(missing_docs, reason = "each module documents its own")]
pub enum Command {
    Run(Box<run::Args>),
    List(list::Args),
    Show(list::Show),
    Explain(list::Explain),
    Sample(sample::Args),
    Doctor(doctor::Args),
    Report(report::Args),
    Bless(bless::Args),
    Diff(diff::Args),
    Adapter(ours::Args),
    #[command(hide = true)]
    Outage(outage::Args),
}

/// Runs the command.
pub fn run(args: &Args, term: &Term) -> Outcome {
    match &args.command {
        Command::Run(args) => run::run(args, term),
        Command::List(args) => list::list(args, term),
        Command::Show(args) => list::show(args, term),
        Command::Explain(args) => list::explain(args, term),
        Command::Sample(args) => sample::run(args, term),
        Command::Doctor(args) => doctor::run(args, term),
        Command::Report(args) => report::run(args, term),
        Command::Bless(args) => bless::run(args, term),
        Command::Diff(args) => diff::run(args, term),
        Command::Adapter(args) => ours::run(args),
        Command::Outage(args) => outage::run(args),
    }
}

/// Returns the cases of a folder, or those bundled with this binary.
fn suite(cases: Option<&PathBuf>) -> Result<Suite, Failure> {
    let Some(folder) = cases else { return Ok(Suite::bundled()) };
    Suite::read(folder).map_err(|error| {
        let shown = crate::files::display(folder);
        Failure::new(format!(
            "cannot read the cases in `{shown}`: {}",
            crate::failure::reason(&error)
        ))
    })
}

/// Returns the adapter's environment: the path of this binary, for adapters that start
/// `guardc serve`.
fn environment() -> Vec<(String, String)> {
    let path = std::env::current_exe().ok().and_then(|path| path.to_str().map(str::to_owned));
    path.map(|path| ("GUARDC".to_owned(), path)).into_iter().collect()
}
