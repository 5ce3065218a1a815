//! `guardc trace backup`: copies a store while others use it.

use super::sources::open;
use crate::failure::{CommandResult, Exit};
use crate::files;
use crate::term::{Console, count};
use std::path::PathBuf;

/// Copies a store while other processes use it; does not copy its key
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The store: a folder or a database
    pub store: PathBuf,
    /// The copy: a path that does not exist yet
    #[arg(long, short, value_name = "PATH")]
    pub output: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let store = open(&args.store, None)?;
    store.backup(&args.output)?;
    let copy = open(&args.output, None)?;
    let sessions = copy.sessions()?.len();
    let shown = files::display(&args.output);
    term.print(&format!("{} copied to `{shown}`\n", count(sessions, "session")))?;
    Ok(Exit::Fine)
}
