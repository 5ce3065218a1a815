//! `guardc trace repair`: keeps the valid beginning of a damaged trace, or updates the ledger of a
//! store to its content.

use super::sources;
use crate::failure::{CommandResult, Exit, Failure, reason};
use crate::files;
use crate::term::{Console, count};
use guard_plan::lines::{LineEnd, read_line_into, rest_of_line};
use guard_trace::line::Head;
use guard_trace::verify;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Copies the sound beginning of a damaged trace, and reports what it left out. Exit code 1:
/// something was left out
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The trace: a file, a folder or a database; it is not changed
    pub trace: PathBuf,
    /// The session; needed if the traces hold several
    #[arg(long, value_name = "ID", conflicts_with = "ledger")]
    pub session: Option<String>,
    /// Write the sound records to this file, which must not exist yet
    #[arg(long, short, value_name = "FILE", required_unless_present = "ledger")]
    pub output: Option<PathBuf>,
    /// Bring the ledger of this store up to date: the sessions that the store holds, and those that
    /// are gone
    #[arg(long, conflicts_with = "output")]
    pub ledger: bool,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    match &args.output {
        Some(output) => prefix(args, output, term),
        None => ledger(args, term),
    }
}

/// Updates the ledger of a store.
fn ledger(args: &Args, term: &Console) -> CommandResult {
    let store = sources::open(&args.trace, None)?;
    let said = store.settle_ledger()?;
    for line in &said {
        term.print(&format!("{line}\n"))?;
    }
    term.print(&format!("{} written to the ledger\n", count(said.len(), "record")))?;
    Ok(Exit::Fine)
}

/// The part of a trace that was kept, and the reason for the cut.
struct KeptPrefix {
    head: Head,
    bytes: u64,
    /// The first problem, and the number of lines and bytes from there on.
    cut: Option<(String, u64, u64)>,
}

fn prefix(args: &Args, output: &Path, term: &Console) -> CommandResult {
    let fail = |error: std::io::Error| {
        Failure::new(format!("cannot write `{}`: {}", files::display(output), reason(&error)))
    };
    let (name, reader) = input(args)?;
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create_new(true).open(output).map_err(fail)?;
    let mut out = BufWriter::with_capacity(1 << 18, file);
    let kept = copy(&name, reader, &mut out, &fail)?;
    let file = out.into_inner().map_err(|error| fail(error.into_error()))?;
    file.sync_all().map_err(fail)?;
    let records = kept.head.version - kept.head.first;
    let records = count(usize::try_from(records).unwrap_or(usize::MAX), "record");
    term.print(&format!("kept {records}, {} bytes\n", kept.bytes))?;
    let Some((why, lines, bytes)) = kept.cut else { return Ok(Exit::Fine) };
    let at = kept.head.version;
    let lines = count(usize::try_from(lines).unwrap_or(usize::MAX), "line");
    term.print(&format!("cut {lines}, {bytes} bytes, from record {at} on: {why}\n"))?;
    Ok(Exit::Findings)
}

/// Returns the lines of the only selected session.
fn input(args: &Args) -> Result<(String, Box<dyn BufRead>), Failure> {
    let source = sources::one(&args.trace, args.session.as_ref())?;
    let name = source.name.clone();
    if let Some(path) = source.path() {
        let file = std::fs::File::open(path);
        let file = file.map_err(|error| files::unreadable(path, &reason(&error)))?;
        return Ok((name, Box::new(BufReader::with_capacity(1 << 18, file))));
    }
    let mut text = Vec::new();
    for line in source.lines()? {
        text.extend_from_slice(line?.as_bytes());
        text.push(b'\n');
    }
    Ok((name, Box::new(std::io::Cursor::new(text))))
}

fn copy(
    name: &str,
    mut reader: Box<dyn BufRead>,
    out: &mut impl Write,
    fail: &dyn Fn(std::io::Error) -> Failure,
) -> Result<KeptPrefix, Failure> {
    let unreadable =
        |error: std::io::Error| Failure::new(format!("cannot read `{name}`: {}", reason(&error)));
    let mut kept = KeptPrefix { head: Head::default(), bytes: 0, cut: None };
    let mut line = Vec::new();
    loop {
        let end = read_line_into(&mut reader, verify::MAX_LINE, &mut line).map_err(unreadable)?;
        let mut read = line.len() as u64;
        match end {
            LineEnd::End => return Ok(kept),
            LineEnd::Feed => read += 1,
            LineEnd::TooLong => {
                let count = |piece: &[u8]| read += piece.len() as u64;
                rest_of_line(&mut reader, count).map_err(unreadable)?;
            }
            LineEnd::Open => {}
        }
        if let Some((_, lines, bytes)) = &mut kept.cut {
            (*lines, *bytes) = (*lines + 1, *bytes + read);
            continue;
        }
        let next = match end {
            LineEnd::Feed => kept.head.follow(&line).map_err(|broken| broken.to_string()),
            LineEnd::TooLong => {
                Err(format!("the line is longer than {} MiB", verify::MAX_LINE >> 20))
            }
            // Without its line feed a record may be cut, even if the text so far is valid.
            LineEnd::Open | LineEnd::End => Err("the line has no end".to_owned()),
        };
        match next {
            Ok(head) => {
                line.push(b'\n');
                out.write_all(&line).map_err(fail)?;
                (kept.head, kept.bytes) = (head, kept.bytes + read);
            }
            Err(why) => kept.cut = Some((why, 1, read)),
        }
    }
}
