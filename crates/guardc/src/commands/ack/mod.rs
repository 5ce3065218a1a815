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

use crate::failure::{CommandResult, Failure};
use crate::term::Console;
use guard_ack::CaseSuite;
use std::path::PathBuf;

/// Judges adapters: does the loop around the tools do what the guard decides?
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    pub command: AckCommand,
}

/// The subcommands of `guardc ack`.
#[derive(Debug, clap::Subcommand)]
#[allow(missing_docs, reason = "each module documents its own")]
pub enum AckCommand {
    Run(Box<run::Args>),
    List(list::Args),
    Show(list::ShowCase),
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
pub fn run(args: &Args, term: &Console) -> CommandResult {
    match &args.command {
        AckCommand::Run(args) => run::run(args, term),
        AckCommand::List(args) => list::list(args, term),
        AckCommand::Show(args) => list::show(args, term),
        AckCommand::Explain(args) => list::explain(args, term),
        AckCommand::Sample(args) => sample::run(args, term),
        AckCommand::Doctor(args) => doctor::run(args, term),
        AckCommand::Report(args) => report::run(args, term),
        AckCommand::Bless(args) => bless::run(args, term),
        AckCommand::Diff(args) => diff::run(args, term),
        AckCommand::Adapter(args) => ours::run(args),
        AckCommand::Outage(args) => outage::run(args),
    }
}

/// Returns the cases of a folder, or those bundled with this binary.
fn suite(cases: Option<&PathBuf>) -> Result<CaseSuite, Failure> {
    let Some(folder) = cases else { return Ok(CaseSuite::bundled()) };
    CaseSuite::read(folder).map_err(|error| {
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
