//! Retention: old sessions are dropped, and long ones are compacted when they are closed. An open
//! session is never dropped, and every drop is logged.

use super::log;
use super::server::{Server, lock};
use crate::commands::trace::prune;
use crate::config::Retention;
use guard_plan::time;
use guard_sdk::{Session, SessionError, system_time};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// The interval between searches for old sessions.
const EVERY: Duration = Duration::from_secs(3600);

/// The settings of retention. `guard.toml` holds the settings that are not given here.
#[derive(Debug, Clone, Copy, clap::Args)]
#[group(skip)]
pub struct Args {
    /// Drop sessions of the store whose last record is older than this, such as `30d`; checked at
    /// the start and every hour
    #[arg(long, value_name = "AGE", value_parser = age, requires = "journal")]
    pub prune_older_than: Option<i64>,
    /// Keep the N sessions of the store with the latest records, whatever their age
    #[arg(long, value_name = "N", requires = "journal")]
    pub prune_keep: Option<usize>,
    /// Compact a session if it has more records than this when it is closed
    #[arg(long, value_name = "N")]
    pub compact_after: Option<u64>,
}

impl Args {
    /// Returns the settings of a project, overridden by those of the command line.
    pub fn over(self, project: Retention) -> Retention {
        Retention {
            older_than: self.prune_older_than.or(project.older_than),
            keep: self.prune_keep.or(project.keep),
            compact_after: self.compact_after.or(project.compact_after),
        }
    }
}

/// Parses an age.
pub fn age(text: &str) -> Result<i64, String> {
    let age = time::parse_duration(text).filter(|age| *age > 0);
    age.ok_or_else(|| "it is a duration, `30d` or `12h`".into())
}

/// Drops old sessions now, and every hour.
pub fn begin(server: &Arc<Server>) {
    let retention = server.options.retention;
    if retention.older_than.is_none() {
        return;
    }
    let server = Arc::clone(server);
    std::thread::spawn(move || {
        loop {
            if let Err(error) = server.prune() {
                log::event(
                    "prune_failed",
                    json!({ "code": error.code(), "message": error.to_string() }),
                );
            }
            std::thread::sleep(EVERY);
        }
    });
}

impl Server {
    fn prune(&self) -> Result<(), SessionError> {
        let Ok(Some(storage)) = self.storage(None) else { return Ok(()) };
        let store = storage.store();
        let Retention { older_than, keep, .. } = self.options.retention;
        let old = older_than.map(|age| system_time().saturating_sub(age));
        let (gone, _) = prune::old_sessions(&**store, old, keep)?;
        for (last, id) in gone {
            // No session is being opened at this moment, and none waits to be opened, so a slow
            // open takes precedence.
            let Ok(_alone) = self.opening.try_write() else { continue };
            // A session of a folder that another process has open is locked, and is kept.
            if lock(&self.sessions).contains_key(&id) || store.remove(&id).is_err() {
                continue;
            }
            self.stats.pruned();
            log::event("pruned", json!({ "session": id, "last": time::format_rfc3339(last) }));
        }
        Ok(())
    }

    /// Compacts a session that is about to be closed, if it is long. After a failure the session is
    /// unchanged.
    pub(super) fn shorten(&self, session: &mut Session) {
        let Some(most) = self.options.retention.compact_after else { return };
        if session.stored_records() <= most {
            return;
        }
        let id = session.id().to_owned();
        match session.compact() {
            Ok(None) => {}
            Ok(Some(dropped)) => {
                self.stats.compacted();
                log::event("compacted", json!({ "session": id, "records": *dropped }));
            }
            Err(error) => log::event(
                "compact_failed",
                json!({ "session": id, "code": error.code(), "message": error.to_string() }),
            ),
        }
    }
}
