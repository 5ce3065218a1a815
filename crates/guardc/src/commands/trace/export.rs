//! `guardc trace export`: traces for other tools.

use super::filter::Filter;
use super::{csv, otel};
use crate::failure::{Exit, Failure, Outcome, reason};
use crate::files;
use crate::term::Term;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Writes traces for other tools
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Traces, or folders of them; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    #[command(flatten)]
    pub filter: Filter,
    /// As what
    #[arg(long, value_enum)]
    pub format: Format,
    /// With arguments and results in spans, which may be private
    #[arg(long)]
    pub content: bool,
    /// Write here
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What traces are written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A table: a row for each record.
    Csv,
    /// OpenTelemetry spans, OTLP as JSON, a request a line.
    Otel,
}

/// Runs the command.
pub fn run(args: &Args, term: &Term) -> Outcome {
    args.filter.check()?;
    let mut out: Box<dyn Write> = match &args.output {
        Some(path) if path.as_os_str() != "-" => {
            let fail = |e| Failure::new(format!("cannot write `{}`: {}", files::display(path), reason(&e)));
            Box::new(BufWriter::new(std::fs::File::create(path).map_err(fail)?))
        }
        _ => Box::new(BufWriter::new(std::io::stdout().lock())),
    };
    let sound = match args.format {
        Format::Csv => csv::write(&args.traces, &args.filter, &mut out, term)?,
        Format::Otel => otel::write(&args.traces, &args.filter, args.content, &mut out, term)?,
    };
    out.flush().map_err(|error| Failure::output(&error))?;
    if sound { Ok(Exit::Fine) } else { Err(Failure::Said) }
}
