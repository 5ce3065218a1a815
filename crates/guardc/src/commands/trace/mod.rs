//! `guardc trace`: traces read as stories, searched, counted and exported.

mod csv;
mod export;
mod filter;
mod grep;
mod otel;
mod show;
mod stats;
mod story;
mod walk;

use crate::failure::Outcome;
use crate::term::Term;

/// Reads, searches, counts and exports traces
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub what: What,
}

/// What is done with traces.
#[derive(Debug, clap::Subcommand)]
#[allow(missing_docs, reason = "each module documents its own")]
pub enum What {
    Show(show::Args),
    Grep(grep::Args),
    Stats(stats::Args),
    Export(export::Args),
}

/// Runs the command.
pub fn run(args: &Args, term: &Term) -> Outcome {
    match &args.what {
        What::Show(args) => show::run(args, term),
        What::Grep(args) => grep::run(args, term),
        What::Stats(args) => stats::run(args, term),
        What::Export(args) => export::run(args, term),
    }
}
