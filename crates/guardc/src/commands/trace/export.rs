//! `guardc trace export`: exports traces from their store, as JSON Lines or for other tools.

use super::filter::Filter;
use super::sources::{self, SessionTrace};
use super::verify::{unsound, verify_all};
use super::{csv, otel};
use crate::failure::{CommandResult, Exit, Failure, reason};
use crate::files;
use crate::term::{Console, count};
use guard_trace::draft::{DraftFile, SHARED};
use guard_trace::store::check_id;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes traces as JSON Lines, as CSV or as OpenTelemetry spans
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Traces: files, folders of them, databases; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    #[command(flatten)]
    pub filter: Filter,
    /// The format of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: TraceFormat,
    /// Put arguments and results into the spans; they may be private
    #[arg(long)]
    pub content: bool,
    /// Write to this path: for `jsonl` a folder, which gets a file for each session, else a file
    #[arg(long, short, value_name = "PATH", default_value = "-", hide_default_value = true)]
    pub output: PathBuf,
}

/// The output format of exported traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum TraceFormat {
    /// The records, as they are.
    #[default]
    Jsonl,
    /// A table: a row for each record.
    Csv,
    /// OpenTelemetry spans: OTLP as JSON, one request per line.
    Otel,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    args.filter.check()?;
    if args.format == TraceFormat::Jsonl {
        return jsonl(args, term);
    }
    let path = &args.output;
    let sound = if path.as_os_str() == "-" {
        let mut out = BufWriter::new(std::io::stdout().lock());
        let sound = table_or_spans(args, &mut out, term)?;
        out.flush().map_err(|error| Failure::output(&error))?;
        sound
    } else {
        files::refuse_input(path, &args.traces)?;
        let mut out = BufWriter::new(files::OutputFile::create(path)?);
        let sound = table_or_spans(args, &mut out, term)?;
        let file = out.into_inner().map_err(|e| files::unwritable(path, e.error()))?;
        file.finish()?;
        sound
    };
    if sound { Ok(Exit::Fine) } else { Err(Failure::Said) }
}

/// Writes the records in a format that is read by other tools. Returns true if all lines were
/// records.
fn table_or_spans(args: &Args, out: &mut dyn Write, term: &Console) -> Result<bool, Failure> {
    match args.format {
        TraceFormat::Otel => otel::write(&args.traces, &args.filter, args.content, out, term),
        _ => csv::write(&args.traces, &args.filter, out, term),
    }
}

fn jsonl(args: &Args, term: &Console) -> CommandResult {
    if !args.filter.is_of_sessions() {
        return Err(Failure::new("records are exported whole: a chain with gaps proves nothing")
            .help("choose sessions with `--session`, or another `--format`"));
    }
    let found = sources::all(&args.traces, &args.filter.session, None)?;
    if args.output.as_os_str() == "-" {
        let [source] = &found[..] else {
            return Err(Failure::new(format!("there are {} sessions", found.len()))
                .help("name a folder, `--output DIR`, or one session, `--session ID`"));
        };
        let mut out = BufWriter::new(std::io::stdout().lock());
        write(source, &mut out)?.map_err(|error| Failure::output(&error))?;
        return Ok(Exit::Fine);
    }
    let checked = verify_all(&found, None, None, false, term)?;
    if unsound(&found, &checked, term)? {
        return Ok(Exit::Findings);
    }
    let folder = |error: std::io::Error| {
        Failure::new(format!("cannot write `{}`: {}", files::display(&args.output), reason(&error)))
    };
    let names = found.iter().zip(&checked).map(|(source, trace)| {
        let id = source.session.as_ref().or(trace.session.as_ref());
        let id =
            id.ok_or_else(|| Failure::new(format!("`{}` does not name its session", source.name)))?;
        // The id is in the trace, so its author could name a file outside of the folder.
        check_id(id)?;
        Ok(format!("{id}.jsonl"))
    });
    let names = names.collect::<Result<Vec<String>, Failure>>()?;
    std::fs::create_dir_all(&args.output).map_err(folder)?;
    for (source, name) in found.iter().zip(&names) {
        into_file(source, &args.output.join(name))?;
    }
    let records: u64 = checked.iter().map(|trace| trace.records).sum();
    let records = count(usize::try_from(records).unwrap_or(usize::MAX), "record");
    term.print(&format!("{}, {records}\n", count(found.len(), "session")))?;
    Ok(Exit::Fine)
}

/// Writes a whole file, and never overwrites one.
fn into_file(source: &SessionTrace, path: &Path) -> Result<(), Failure> {
    let fail = |error: std::io::Error| {
        Failure::new(format!("cannot write `{}`: {}", files::display(path), reason(&error)))
    };
    if path.exists() {
        return Err(fail(std::io::ErrorKind::AlreadyExists.into()));
    }
    // The name of the trace appears only when the copy is complete, and on disk.
    let draft = DraftFile::beside(path, SHARED).map_err(fail)?;
    let mut out = BufWriter::with_capacity(1 << 18, draft);
    let written = write(source, &mut out)?.and_then(|()| {
        out.into_inner().map_err(std::io::IntoInnerError::into_error)?.replace(path)
    });
    written.map_err(fail)
}

fn write(source: &SessionTrace, out: &mut impl Write) -> Result<std::io::Result<()>, Failure> {
    for line in source.lines()? {
        let line = line?;
        let written = out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n"));
        if written.is_err() {
            return Ok(written);
        }
    }
    Ok(out.flush())
}
