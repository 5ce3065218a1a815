//! `guardc trace checkpoint`: writes the current state of sessions to a file that is kept
//! elsewhere.

use super::sources;
use super::verify::{unsound, verify_all};
use crate::failure::{CommandResult, Exit, Failure};
use crate::files;
use crate::term::Console;
use guard_trace::checkpoint::Checkpoint;
use guard_trace::sign::SigningKey;
use std::path::PathBuf;

/// Writes a checkpoint of every session. Keep it elsewhere: with it, `trace verify --checkpoint`
/// finds traces that were cut or replaced
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Traces: files, folders of them, databases; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// Only this session; may be given several times
    #[arg(long, value_name = "ID")]
    pub session: Vec<String>,
    /// Sign it with this key, which `guardc trace keygen` makes
    #[arg(long, value_name = "KEY")]
    pub sign: Option<PathBuf>,
    /// Write to this file; `-` is standard output
    #[arg(long, short, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub output: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    files::refuse_input(&args.output, &args.traces)?;
    let key = args.sign.as_deref().map(SigningKey::read).transpose()?;
    let found = sources::all_with_ledgers(&args.traces, &args.session, None)?;
    let checked = verify_all(&found, None, None, true, term)?;
    // A checkpoint of a damaged trace would vouch for the damage.
    if unsound(&found, &checked, term)? {
        return Ok(Exit::Findings);
    }
    let mut entries = Vec::with_capacity(checked.len());
    for (source, trace) in found.iter().zip(checked) {
        let nameless = || Failure::new(format!("`{}` does not name its session", source.name));
        entries.push(trace.entry.ok_or_else(nameless)?);
    }
    let made = Checkpoint::new(entries, key.as_ref());
    let made = made.map_err(|doubt| Failure::new(format!("no checkpoint can be made: {doubt}")))?;
    write(&args.output, &made, term)?;
    Ok(Exit::Fine)
}

/// Writes a JSON document to a file, or to standard output.
pub fn write(
    path: &std::path::Path,
    what: &impl serde::Serialize,
    term: &Console,
) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(what)?;
    if path.as_os_str() == "-" {
        term.data(&(text + "\n"))
    } else {
        files::write_atomic(path, (text + "\n").as_bytes())
    }
}
