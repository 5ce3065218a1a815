//! `guardc trace compact`: replaces earlier records by a snapshot record.

use super::sources::{failed, no_session};
use crate::config::Config;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files;
use crate::plans;
use crate::play;
use crate::term::{Console, count};
use guard_runtime::{Kernel, Secrets};
use guard_trace::store::{
    Commit, Committed, Durability, Store, StoreError, key_path, open_existing,
};
use guard_trace::{Keys, ResumeError, resume, snapshot};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Drops records for which a snapshot stands; the chain stays verifiable. Take a checkpoint before
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The store: a folder or a database
    pub store: PathBuf,
    /// The guard or plan that decided; only its sessions are compacted
    #[arg(long, value_name = "GUARD")]
    pub plan: PathBuf,
    /// Only this session; may be given again
    #[arg(long, value_name = "ID")]
    pub session: Vec<String>,
    /// Leave sessions alone that have fewer records than this
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub at_least: u64,
    /// The key of the store, where it is not beside it
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let config = Config::discover(args.plan.parent().unwrap_or(Path::new(".")))?;
    let Some(plan) = plans::open(&args.plan, &config, term)? else {
        return Ok(Exit::Findings);
    };
    let guard = play::guard(plan)?;
    let key = args.key.clone().unwrap_or_else(|| key_path(&args.store));
    let keys = Keys::read(&key).map_err(|error| Failure::new(error.to_string()))?;
    let opened = open_existing(&args.store, Durability::Full, Some(keys.clone()));
    let store = opened.map_err(|error| failed(&error))?;
    let all = store.sessions().map_err(|error| failed(&error))?;
    if let Some(wanted) = args.session.iter().find(|id| !all.contains(id)) {
        return Err(no_session(wanted, all.iter().map(String::as_str)));
    }
    let meant = |id: &&String| args.session.is_empty() || args.session.contains(id);
    let (mut done, mut dropped, mut others, mut left) = (0, 0, 0, 0);
    for id in all.iter().filter(meant) {
        let secrets: Arc<dyn Secrets> = Arc::new(keys.session(id));
        match compact(&*store, guard.kernel(), &secrets, id, args.at_least) {
            Ok(Some(records)) => (done, dropped) = (done + 1, dropped + records),
            Ok(None) => {}
            // For a named session the mismatch is reported; without names, only sessions of this
            // plan are compacted.
            Err(CompactFailure::Mismatch(_)) if args.session.is_empty() => others += 1,
            Err(CompactFailure::Mismatch(why) | CompactFailure::Other(why)) => {
                left += 1;
                term.error(
                    &format!("session `{id}` of `{}`: {why}", files::display(&args.store)),
                    None,
                );
            }
        }
        store.release(id);
    }
    let dropped = count(usize::try_from(dropped).unwrap_or(usize::MAX), "record");
    let others = match others {
        0 => String::new(),
        others => format!("; {} of other plans left alone", count(others, "session")),
    };
    term.print(&format!("{} compacted, {dropped} dropped{others}\n", count(done, "session")))?;
    Ok(Exit::findings(left > 0))
}

/// Writes the snapshot record of a session, then drops the records before it; returns their number,
/// or the reason for a failure.
fn compact(
    store: &dyn Store,
    kernel: &Kernel,
    secrets: &Arc<dyn Secrets>,
    id: &str,
    at_least: u64,
) -> Result<Option<u64>, CompactFailure> {
    let head = store.begin(id)?.head;
    if head.version - head.first < at_least.max(2) {
        return Ok(None);
    }
    // All records, even if the store has a snapshot: records are replayed before they are dropped.
    let records = store.records(id, 0)?.collect::<Result<Vec<_>, _>>()?;
    let mut resumed = resume(kernel, secrets, records.iter().map(String::as_str))?;
    let taken = snapshot(kernel, &resumed, &**secrets);
    let taken = taken.ok_or("the guard has secrets, and nobody can seal them")?;
    let line = resumed.recorder.snapshot(&resumed.session, &taken).to_vec();
    let line = String::from_utf8(line).map_err(|_| "its snapshot is no text")?;
    let commit = Commit { version: head.version, records: &[&line], ..Commit::default() };
    match store.commit(id, &commit)? {
        Committed::Yes(_) => {}
        _ => return Err("somebody else writes to it".into()),
    }
    store.forget(id, head.version)?;
    Ok(Some(head.version - head.first))
}

/// The reason why a session is not compacted.
enum CompactFailure {
    /// It belongs to another plan.
    Mismatch(String),
    Other(String),
}

impl From<&str> for CompactFailure {
    fn from(why: &str) -> CompactFailure {
        CompactFailure::Other(why.to_owned())
    }
}

impl From<StoreError> for CompactFailure {
    fn from(error: StoreError) -> CompactFailure {
        CompactFailure::Other(error.to_string())
    }
}

impl From<ResumeError> for CompactFailure {
    fn from(error: ResumeError) -> CompactFailure {
        match error {
            ResumeError::Mismatch(_) => CompactFailure::Mismatch(error.to_string()),
            other => CompactFailure::Other(other.to_string()),
        }
    }
}
