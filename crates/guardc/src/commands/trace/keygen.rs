//! `guardc trace keygen`: generates a key for signing checkpoints.

use crate::failure::{CommandResult, Exit, Failure, reason};
use crate::files;
use crate::term::Console;
use guard_trace::KeyError;
use guard_trace::sign::SigningKey;
use std::path::PathBuf;

/// Makes a key that signs checkpoints, and the public key beside it
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file of the key; the public key goes to the file of this name with `.pub` appended
    pub file: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let made = SigningKey::make(&args.file).map_err(|error| match error {
        KeyError::Io(path, error) => {
            Failure::new(format!("cannot make `{}`: {}", files::display(&path), reason(&error)))
        }
        other => Failure::new(other.to_string()),
    })?;
    let secret = files::display(&args.file);
    let public = files::display(&made.1);
    term.print(&format!("{secret}: signs; keep it to yourself\n{public}: checks what it signs\n"))?;
    Ok(Exit::Fine)
}
