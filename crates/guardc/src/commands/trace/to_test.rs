//! `guardc trace to-test`: writes recorded sessions as tests of their guard.

use super::scenario::TestWriter;
use super::walk::walk;
use crate::failure::{CommandResult, Exit, Failure};
use crate::plans;
use crate::term::Console;
use guard_plan::record::{Payload, Record};
use guard_syntax::ast::{File, FileItem, ItemKind, SpanEq};
use guard_syntax::span::Span;
use std::io::Write;
use std::path::PathBuf;

/// Writes a `test` block from a recorded session
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The test begins when the session began, in the workspace `/workspace`. Times are in whole seconds.\n\
                  What a test cannot express is left out, and listed on standard error."
)]
pub struct Args {
    /// Traces, or folders of them; `-` is standard input
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// Only the session of this id [default: all sessions of the traces]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// The guard or plan, which declares the names of the tools
    #[arg(long, visible_alias = "plan", value_name = "FILE")]
    pub guard: Option<PathBuf>,
    /// The title of the test [default: `session ID`]
    #[arg(long, value_name = "TITLE")]
    pub name: Option<String>,
    /// Leave out what does not change the session: refused calls, feedback and stops
    #[arg(long)]
    pub slim: bool,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let loaded = args.guard.as_deref().map(|path| plans::open(path, term)).transpose();
    let loaded = loaded.map_err(Failure::fatal)?;
    let plan = loaded.as_ref().map(|loaded| loaded.plan());
    let mut sessions: Vec<(String, Vec<Record>)> = Vec::new();
    let sound = walk(&args.traces, "reading", term, &mut |at, record, _| {
        if args.session.as_ref().is_some_and(|wanted| *wanted != at.session) {
            return Ok(());
        }
        let begins = matches!(record.payload, Payload::Open(_) | Payload::Snapshot(_));
        if begins || sessions.is_empty() {
            sessions.push((at.session.clone(), Vec::new()));
        }
        if let Some((_, records)) = sessions.last_mut() {
            records.push(record.clone());
        }
        Ok(())
    })?;
    if sessions.is_empty() {
        let what =
            args.session.as_ref().map_or("no session".into(), |id| format!("no session `{id}`"));
        return Err(Failure::new(format!("the traces hold {what}")));
    }
    let mut file = File::default();
    for (session, records) in &sessions {
        let title = args.name.clone().unwrap_or_else(|| format!("session {session}"));
        let (test, left_out) = TestWriter::new(plan, args.slim).write(title, records);
        for note in left_out {
            term.note(&format!("session `{session}`: {note}"));
        }
        let span = SpanEq(Span::default());
        file.items.push(FileItem { docs: Vec::new(), kind: ItemKind::Test(test), span });
    }
    let written = std::io::stdout().lock().write_all(guard_syntax::print(&file).as_bytes());
    written.map_err(|error| Failure::output(&error))?;
    if sound { Ok(Exit::Fine) } else { Err(Failure::Said) }
}
