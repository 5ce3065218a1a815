//! `guardc trace compact`: replaces earlier records by a snapshot record.

use super::sources::{SHOWN, no_session};
use crate::failure::{CommandResult, Exit};
use crate::files;
use crate::plans;
use crate::term::{Console, count};
use guard_plan::render::cut;
use guard_sdk::{Durability, Guard, Recorded, SessionError, Storage};
use guard_trace::store::{StoreError, key_path, open_existing};
use guard_trace::{Keys, ResumeError};
use std::path::PathBuf;

/// Drops records that a snapshot replaces; the chain can still be verified. Write a checkpoint
/// first
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The store: a folder or a database
    pub store: PathBuf,
    /// The guard or plan that decided; only its sessions are compacted
    #[arg(long, value_name = "GUARD")]
    pub plan: PathBuf,
    /// Only this session; may be given several times
    #[arg(long, value_name = "ID")]
    pub session: Vec<String>,
    /// Skip sessions with fewer records than this
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub at_least: u64,
    /// The key of the store [default: the key beside the store]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let guard = Guard::from_plan(plans::open(&args.plan, term)?)?;
    let key = args.key.clone().unwrap_or_else(|| key_path(&args.store));
    let keys = Keys::read(&key)?;
    let store = open_existing(&args.store, Durability::Full, Some(keys.clone()))?;
    let storage = Storage::of_store(store.into(), keys);
    let all = storage.store().sessions()?;
    if let Some(wanted) = args.session.iter().find(|id| !all.contains(id)) {
        return Err(no_session(wanted, all.iter().map(String::as_str)));
    }
    let meant = |id: &&String| args.session.is_empty() || args.session.contains(id);
    let mut done = 0;
    let mut dropped = 0;
    let mut others = 0;
    let mut left = 0;
    for id in all.iter().filter(meant) {
        match compact(&guard, &storage, id, args.at_least) {
            Ok(Some(records)) => (done, dropped) = (done + 1, dropped + records),
            Ok(None) => {}
            // For a named session the mismatch is reported; without names, only sessions of this
            // plan are compacted.
            Err(CompactFailure::Mismatch(_)) if args.session.is_empty() => others += 1,
            Err(CompactFailure::Mismatch(why) | CompactFailure::Other(why)) => {
                left += 1;
                term.error(
                    &format!(
                        "session `{}` of `{}`: {why}",
                        cut(id, SHOWN),
                        files::display(&args.store)
                    ),
                    None,
                );
            }
        }
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
    guard: &Guard,
    storage: &Storage,
    id: &str,
    at_least: u64,
) -> Result<Option<u64>, CompactFailure> {
    let head = storage.store().head(id)?.unwrap_or_default();
    // A snapshot record is written first, so that a shorter session would not become shorter.
    if head.version - head.first < at_least.max(2) {
        return Ok(None);
    }
    // Records are decided again before they are dropped, from the last upgrade on.
    let mut session = guard.session(id).storage(storage).replayed().open()?;
    Ok(session.compact()?.map(Recorded::into_outcome))
}

/// The reason why a session is not compacted.
enum CompactFailure {
    /// It belongs to another plan.
    Mismatch(String),
    Other(String),
}

impl From<StoreError> for CompactFailure {
    fn from(error: StoreError) -> CompactFailure {
        CompactFailure::Other(error.to_string())
    }
}

impl From<SessionError> for CompactFailure {
    fn from(error: SessionError) -> CompactFailure {
        match error {
            SessionError::Resume(ResumeError::Mismatch(_)) => {
                CompactFailure::Mismatch(error.to_string())
            }
            other => CompactFailure::Other(other.to_string()),
        }
    }
}
