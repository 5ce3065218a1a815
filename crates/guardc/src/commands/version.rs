//! `guardc version`: describes this build, for people and for tools.

use crate::failure::{CommandResult, Exit};
use crate::term::Console;
use serde_json::json;

/// Prints the version
#[derive(Debug, clap::Args)]
pub struct Args {
    /// As a JSON object
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let version = env!("CARGO_PKG_VERSION");
    if args.json {
        let object = json!({ "name": "guardc", "version": version, "edition": 1, "protocol": 1 });
        term.data(&format!("{object}\n"))?;
    } else {
        term.print(&format!("guardc {version}\n"))?;
    }
    Ok(Exit::Fine)
}
