//! `guardc trace prove`: proves that one record belongs to a checkpoint, without the other records.

use super::checkpoint::write;
use super::sources;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files;
use crate::term::Console;
use guard_trace::checkpoint::Checkpoint;
use guard_trace::line::LineFields;
use std::path::PathBuf;

/// Proves that a record belongs to a checkpoint, without showing the other records
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The trace: a file, a folder or a database
    pub trace: PathBuf,
    /// The session; needed if the traces hold several
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// The number of the record
    #[arg(long, value_name = "SEQ")]
    pub record: u64,
    /// The checkpoint
    #[arg(long, value_name = "FILE")]
    pub checkpoint: PathBuf,
    /// Write the proof to this file; `-` is standard output
    #[arg(long, short, value_name = "FILE", default_value = "-", hide_default_value = true)]
    pub output: PathBuf,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    if args.trace.as_os_str() == "-" {
        return Err(Failure::new(
            "a proof reads the trace twice, and standard input can be read only once",
        ));
    }
    files::refuse_input(&args.output, std::slice::from_ref(&args.trace))?;
    let path = &args.checkpoint;
    let text = files::read_text(path).map_err(|why| files::unreadable(path, &why))?;
    let checkpoint = Checkpoint::parse(&text)
        .map_err(|why| Failure::new(format!("checkpoint `{}`: {why}", files::display(path))))?;
    let source = &sources::one(&args.trace, args.session.as_ref())?;
    let (record, named) = find(source, args.record)?;
    let id = args.session.clone().or(source.session.clone()).or(named).unwrap_or_default();
    if checkpoint.entry(&id).is_none() {
        let known = checkpoint.sessions.iter().map(|entry| entry.session.as_str());
        return Err(sources::no_session(&id, known).help("the checkpoint does not contain it"));
    }
    let mut failure = None;
    // An invalid or unreadable record ends the hashes, and the proof cannot be made.
    let hashes = source.lines()?.map_while(|line| match line {
        Ok(line) => LineFields::read(line.as_bytes()).ok().map(|line| line.hash),
        Err(error) => {
            failure = Some(error);
            None
        }
    });
    let proof = checkpoint.prove(&id, &record, hashes);
    if let Some(error) = failure {
        return Err(error);
    }
    let why = "the trace differs from the one in the checkpoint, or is shorter";
    let cannot =
        |doubt| Failure::new(format!("record {} cannot be proved: {doubt}", args.record)).help(why);
    write(&args.output, &proof.map_err(cannot)?, term)?;
    Ok(Exit::Fine)
}

/// Returns a record by its number, and the session that the first record names.
fn find(source: &sources::SessionTrace, seq: u64) -> Result<(String, Option<String>), Failure> {
    let mut named = None;
    for (at, line) in source.lines()?.enumerate() {
        let line = line?;
        if at == 0 {
            named = sources::session(&line);
        }
        if LineFields::read(line.as_bytes()).is_ok_and(|read| read.seq == seq) {
            return Ok((line, named));
        }
    }
    Err(Failure::new(format!("`{}` has no record {seq}", source.name)))
}
