//! `guardc trace`: verifies, anchors, proves, shows, searches, counts, moves and compacts traces.

mod backup;
mod checkpoint;
mod compact;
mod csv;
mod export;
mod filter;
mod grep;
mod import;
mod keygen;
mod otel;
mod prove;
pub mod prune;
mod repair;
mod scenario;
mod show;
pub mod sources;
mod stated_answers;
mod stated_files;
mod stats;
mod story;
mod test_nodes;
mod to_test;
mod verify;
pub mod walk;

use crate::failure::CommandResult;
use crate::term::Console;

/// Verifies, shows, searches, counts, exports and compacts traces
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub what: TraceCommand,
}

/// The subcommands of `guardc trace`.
#[derive(Debug, clap::Subcommand)]
#[allow(missing_docs, reason = "each module documents its own")]
pub enum TraceCommand {
    Verify(verify::Args),
    Show(show::Args),
    Grep(grep::Args),
    Stats(stats::Args),
    Export(export::Args),
    ToTest(to_test::Args),
    Import(import::Args),
    Checkpoint(checkpoint::Args),
    Prove(prove::Args),
    Keygen(keygen::Args),
    Compact(compact::Args),
    Prune(prune::Args),
    Backup(backup::Args),
    Repair(repair::Args),
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    match &args.what {
        TraceCommand::Verify(args) => verify::run(args, term),
        TraceCommand::Show(args) => show::run(args, term),
        TraceCommand::Grep(args) => grep::run(args, term),
        TraceCommand::Stats(args) => stats::run(args, term),
        TraceCommand::Export(args) => export::run(args, term),
        TraceCommand::ToTest(args) => to_test::run(args, term),
        TraceCommand::Import(args) => import::run(args, term),
        TraceCommand::Checkpoint(args) => checkpoint::run(args, term),
        TraceCommand::Prove(args) => prove::run(args, term),
        TraceCommand::Keygen(args) => keygen::run(args, term),
        TraceCommand::Compact(args) => compact::run(args, term),
        TraceCommand::Prune(args) => prune::run(args, term),
        TraceCommand::Backup(args) => backup::run(args, term),
        TraceCommand::Repair(args) => repair::run(args, term),
    }
}
