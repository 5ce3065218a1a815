//! `guardc man`: writes the manual pages, one for each command.

use crate::failure::{CommandResult, Exit, Failure, reason};
use clap::CommandFactory;
use std::path::PathBuf;

/// Writes the manual pages
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder for the pages
    pub folder: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args) -> CommandResult {
    std::fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(crate::cli::Cli::command(), &args.folder))
        .map_err(|error| {
            let folder = args.folder.display();
            Failure::new(format!("cannot write manual pages to `{folder}`: {}", reason(&error)))
        })?;
    Ok(Exit::Fine)
}
