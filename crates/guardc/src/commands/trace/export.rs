//! `guardc trace export`: traces out of their store, as JSON Lines.

use super::sources::{self, Source};
use super::verify::{unsound, verify_all};
use crate::failure::{Exit, Failure, Outcome, reason};
use crate::files;
use crate::term::{Term, count};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes traces as JSON Lines, whose chain verifies with nothing but SHA-256
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Traces: files, folders of them, databases; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// Only this session; may be given again
    #[arg(long, value_name = "ID")]
    pub session: Vec<String>,
    /// As what
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// A folder, which gets a file for each session; `-` is standard output, for one session
    #[arg(long, short, value_name = "DIR", default_value = "-", hide_default_value = true)]
    pub output: PathBuf,
}

/// What traces are written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// The records, as they are.
    #[default]
    Jsonl,
}

/// Runs the command.
pub fn run(args: &Args, term: &Term) -> Outcome {
    match args.format {
        Format::Jsonl => jsonl(args, term),
    }
}

fn jsonl(args: &Args, term: &Term) -> Outcome {
    let found = sources::all(&args.traces, &args.session, None)?;
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
    std::fs::create_dir_all(&args.output).map_err(folder)?;
    for (source, it) in found.iter().zip(&checked) {
        let id = source.session.as_ref().or(it.session.as_ref()).ok_or_else(|| {
            Failure::new(format!("`{}` does not say of which session it is", source.name))
        })?;
        into_file(source, &args.output.join(format!("{id}.jsonl")))?;
    }
    let records: u64 = checked.iter().map(|it| it.records).sum();
    let records = count(usize::try_from(records).unwrap_or(usize::MAX), "record");
    term.print(&format!("{}, {records}\n", count(found.len(), "session")))?;
    Ok(Exit::Fine)
}

/// Writes a file whole or not at all, and none over another.
fn into_file(source: &Source, path: &Path) -> Result<(), Failure> {
    let fail = |error: std::io::Error| {
        Failure::new(format!("cannot write `{}`: {}", files::display(path), reason(&error)))
    };
    if path.exists() {
        return Err(fail(std::io::ErrorKind::AlreadyExists.into()));
    }
    let draft = path.with_extension("jsonl.draft");
    let file = std::fs::File::create(&draft).map_err(fail)?;
    let mut out = BufWriter::with_capacity(1 << 18, file);
    let written = write(source, &mut out)?.and_then(|()| {
        out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
        std::fs::rename(&draft, path)
    });
    written.map_err(|error| {
        let _ = std::fs::remove_file(&draft);
        fail(error)
    })
}

fn write(source: &Source, out: &mut impl Write) -> Result<std::io::Result<()>, Failure> {
    for line in source.lines()? {
        let line = line?;
        let written = out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n"));
        if written.is_err() {
            return Ok(written);
        }
    }
    Ok(out.flush())
}
