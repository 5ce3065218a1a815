//! `guardc trace show`: describes the records of a trace.

use super::filter::Filter;
use super::story::tell;
use super::walk::walk;
use crate::failure::{CommandResult, Failure};
use crate::term::Console;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Prints what happened: calls, verdicts with their reasons, changes of state, and messages
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Traces, or folders of them; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    #[command(flatten)]
    pub filter: Filter,
    /// Print one JSON object per record: `{file, line, session, tool, record}`
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    args.filter.check()?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut last = String::new();
    let sound = walk(&args.traces, "reading", term, &mut |at, record, line| {
        if !args.filter.takes(at, record) {
            return Ok(());
        }
        let written = if args.json {
            let head = serde_json::json!({
                "file": at.file, "line": at.line, "session": at.session, "tool": at.tool,
            });
            let head = head.to_string();
            // The record's line is copied as it is, because its hash covers these very bytes.
            let head = head.strip_suffix('}').unwrap_or(&head).as_bytes();
            out.write_all(head).and_then(|()| out.write_all(b",\"record\":")).and_then(|()| {
                out.write_all(line)?;
                out.write_all(b"}\n")
            })
        } else {
            let told = tell(at, record, &mut last, term.out);
            out.write_all(term.out.visible(&told).as_bytes())
        };
        written.map_err(|error| Failure::output(&error))
    })?;
    out.flush().map_err(|error| Failure::output(&error))?;
    if sound { Ok(crate::failure::Exit::Fine) } else { Err(Failure::Said) }
}
