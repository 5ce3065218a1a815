//! `guardc trace import`: appends traces to the sessions in a store.

use super::sources::{self, SHOWN, SessionTrace};
use super::verify::{unsound, verify_all};
use crate::failure::{CommandResult, Exit, Failure};
use crate::files;
use crate::term::{Console, count};
use guard_plan::render::cut;
use guard_trace::store::{self, Commit, Committed, Durability, Store};
use std::path::PathBuf;

/// The number of records per commit.
const AT_ONCE: usize = 1000;

/// Copies traces into a store: a folder, or a database if its name ends in `.db`
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The store; created if it is missing
    pub store: PathBuf,
    /// Traces: files, folders of them, databases
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// Only this session; may be given several times
    #[arg(long, value_name = "ID")]
    pub session: Vec<String>,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    if args.traces.iter().any(|path| path.as_os_str() == "-") {
        return Err(Failure::new(
            "a trace is verified before it is used, and standard input can be read only once",
        ));
    }
    let found = sources::all(&args.traces, &args.session, None)?;
    let checked = verify_all(&found, None, None, false, term)?;
    if unsound(&found, &checked, term)? {
        return Ok(Exit::Findings);
    }
    let (store, _) = store::open(&args.store, Durability::Full, None)?;
    let mut taken = 0;
    let mut different = false;
    for (source, trace) in found.iter().zip(&checked) {
        let id =
            source.session.as_ref().or(trace.session.as_ref()).ok_or_else(|| {
                Failure::new(format!("`{}` does not name its session", source.name))
            })?;
        match copy(source, &*store, id)? {
            Some(records) => taken += records,
            None => {
                different = true;
                let place = files::display(&args.store);
                let id = cut(id, SHOWN);
                term.error(&format!("`{place}` has another session `{id}`"), None);
            }
        }
        store.release(id);
    }
    let sessions = count(found.len(), "session");
    term.print(&format!("{sessions}, {} new\n", count(taken, "record")))?;
    Ok(Exit::findings(different))
}

/// Appends the records that a store does not have; `None` if the common records differ.
pub fn copy(source: &SessionTrace, store: &dyn Store, id: &str) -> Result<Option<usize>, Failure> {
    let mut head = store.begin(id)?.head;
    let mut known = store.records(id, 0)?;
    let mut lines = source.lines()?;
    // The common records must be equal.
    for have in known.by_ref() {
        match lines.next().transpose()? {
            Some(line) if line == have? => {}
            Some(_) => return Ok(None),
            None => return Ok(Some(0)),
        }
    }
    drop(known);
    let mut taken = 0;
    loop {
        // A session begins with a commit of one record, so that a folder can register it.
        let most = if head.version == 0 { 1 } else { AT_ONCE };
        let next: Vec<String> = lines.by_ref().take(most).collect::<Result<_, _>>()?;
        if next.is_empty() {
            return Ok(Some(taken));
        }
        let records: Vec<&str> = next.iter().map(String::as_str).collect();
        let commit = Commit { version: head.version, records: &records, ..Commit::default() };
        head = match store.commit(id, &commit)? {
            Committed::Yes(head) => head,
            _ => return Err(Failure::new(format!("another process writes to session `{id}`"))),
        };
        taken += next.len();
    }
}
