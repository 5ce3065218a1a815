//! `guardc trace prune`: removes old sessions from a store.

use super::sources::{SHOWN, open};
use crate::config::Config;
use crate::failure::{CommandResult, Exit, Failure};
use crate::term::{Console, count};
use guard_plan::render::cut;
use guard_plan::time;
use guard_sdk::system_time;
use guard_trace::line::LineFields;
use guard_trace::store::{Store, StoreError};
use std::path::{Path, PathBuf};

/// Drops old sessions from a store
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The store: a folder or a database
    pub store: PathBuf,
    /// Drop sessions whose last record is older than this (`30d`), or from before this time
    /// (`2026-01-05T00:00:00Z`)
    #[arg(long, value_name = "AGE", value_parser = Age::parse)]
    pub older_than: Option<Age>,
    /// Keep the N sessions with the latest records
    #[arg(long, value_name = "N")]
    pub keep: Option<usize>,
    /// Only list the sessions that would be dropped
    #[arg(long)]
    pub dry_run: bool,
}

/// The age limit.
#[derive(Debug, Clone, Copy)]
pub enum Age {
    /// This many milliseconds before now.
    For(i64),
    /// Before this instant.
    Before(i64),
}

impl Age {
    fn parse(text: &str) -> Result<Age, String> {
        let instant = time::parse_rfc3339(text).map(Age::Before);
        let age = instant.or_else(|| time::parse_duration(text).map(Age::For));
        age.ok_or_else(|| "it is a duration, `30d`, or an instant, `2026-01-05T00:00:00Z`".into())
    }

    fn instant(self) -> i64 {
        match self {
            Age::For(millis) => system_time().saturating_sub(millis),
            Age::Before(instant) => instant,
        }
    }
}

/// Runs the command.
pub fn run(args: &Args, term: &Console) -> CommandResult {
    let mut older_than = args.older_than;
    let mut keep = args.keep;
    if older_than.is_none() && keep.is_none() {
        // A limit on the command line replaces the project's rule as a whole, so that the two never
        // mix.
        let project = Config::discover(Path::new("."))?.retention;
        (older_than, keep) = (project.older_than.map(Age::For), project.keep);
    }
    if older_than.is_none() && keep.is_none() {
        return Err(Failure::new("no option selects the sessions to drop").help(
            "give `--older-than AGE`, `--keep N` or both, or set them under `[retention]` in `guard.toml`",
        ));
    }
    let store = open(&args.store, None)?;
    let found = old_sessions(&*store, older_than.map(Age::instant), keep);
    let (gone, left) = found?;
    for (last, id) in &gone {
        if !args.dry_run {
            store.remove(id)?;
        }
        let id = cut(id, SHOWN);
        term.print(&format!("{id}, last used {}\n", time::format_rfc3339(*last)))?;
    }
    let verb = if args.dry_run { "would be dropped" } else { "dropped" };
    term.print(&format!("{} {verb}, {left} left\n", count(gone.len(), "session")))?;
    Ok(Exit::Fine)
}

/// Returns the sessions whose last record is from before an instant, except the `keep` latest ones,
/// with the time of that record; and the number of remaining sessions.
///
/// # Errors
///
/// Returns an error if the store cannot be read.
pub fn old_sessions(
    store: &dyn Store,
    before: Option<i64>,
    keep: Option<usize>,
) -> Result<(Vec<(i64, String)>, usize), StoreError> {
    let mut sessions = Vec::new();
    for id in store.sessions()? {
        sessions.push((last(store, &id)?, id));
    }
    // The latest session comes first.
    sessions.sort_by(|a, b| b.cmp(a));
    let all = sessions.len();
    let goes = |(rank, (last, _)): &(usize, (i64, String))| {
        before.is_none_or(|before| *last < before) && keep.is_none_or(|keep| *rank >= keep)
    };
    let gone: Vec<_> =
        sessions.into_iter().enumerate().filter(goes).map(|(_, session)| session).collect();
    let left = all - gone.len();
    Ok((gone, left))
}

/// Returns the time of a session's last record, by the session's clock.
fn last(store: &dyn Store, id: &str) -> Result<i64, StoreError> {
    let head = store.head(id)?.unwrap_or_default();
    let mut records = store.records(id, head.version.saturating_sub(1))?;
    let line = records.next().transpose()?.unwrap_or_default();
    let read =
        LineFields::read(line.as_bytes()).ok().and_then(|line| time::parse_rfc3339(line.time));
    // Without a time the age is unknown, and guessing it could drop a session that is still needed.
    let no_time = || StoreError::Misfit(format!("the last record of session `{id}` has no time"));
    read.ok_or_else(no_time)
}
