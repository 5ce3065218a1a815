//! `guardc completions`: prints a shell's completion script.

use crate::failure::{CommandResult, Exit};
use crate::term::Console;
use clap::CommandFactory;

/// Prints a completion script
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::cli::Cli::command(), "guardc", &mut script);
    term.write(&script)?;
    Ok(Exit::Fine)
}
