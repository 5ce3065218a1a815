//! A store in memory: for tests, and for temporary sessions.

use super::{
    Commit, Committed, Fit, RecordLines, SessionSnapshot, Store, StoreError, StoredStart,
    charge_all, check_id, fit, lock,
};
use crate::line::{Head, LineFields};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

/// A store in memory. Clones share the store. No other process can reach its snapshots, so they
/// have no tags.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore(Arc<Mutex<StoredSessions>>);

#[derive(Debug, Default)]
struct StoredSessions {
    sessions: BTreeMap<String, StoredSession>,
    spent: HashMap<String, i64>,
}

#[derive(Debug, Default)]
struct StoredSession {
    head: Head,
    lines: Vec<String>,
    snapshot: Option<SessionSnapshot>,
}

impl StoredSession {
    /// Returns the position of the record with a number.
    fn place(&self, seq: u64) -> usize {
        usize::try_from(seq.saturating_sub(self.head.first)).unwrap_or(usize::MAX)
    }
}

impl MemoryStore {
    /// Returns an empty store.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    /// Locks the data, also after a panic of another thread: every change below is made in one
    /// step.
    fn lock(&self) -> MutexGuard<'_, StoredSessions> {
        lock(&self.0)
    }
}

impl Store for MemoryStore {
    fn begin(&self, session: &str) -> Result<StoredStart, StoreError> {
        check_id(session)?;
        let kept = self.lock();
        let Some(found) = kept.sessions.get(session) else { return Ok(StoredStart::default()) };
        let from = found.snapshot.as_ref().map_or(0, |taken| found.place(taken.version));
        Ok(StoredStart {
            head: found.head,
            snapshot: found.snapshot.clone(),
            distrusted: false,
            records: found.lines[from.min(found.lines.len())..].to_vec(),
        })
    }

    fn commit(&self, session: &str, commit: &Commit<'_>) -> Result<Committed, StoreError> {
        check_id(session)?;
        let mut kept = self.lock();
        let before = kept.sessions.get(session).map(|found| found.head).unwrap_or_default();
        let head = match fit(&before, commit)? {
            Fit::Yes(head) => head,
            Fit::Conflict(version) => return Ok(Committed::Conflict { version }),
        };
        let sums =
            charge_all(commit.charges, |key| Ok(kept.spent.get(key).copied().unwrap_or_default()))?;
        let sums = match sums {
            Ok(sums) => sums,
            Err(over) => return Ok(over),
        };
        kept.spent.extend(sums.into_iter().map(|(key, sum)| (key.to_owned(), sum)));
        let found = kept.sessions.entry(session.to_owned()).or_default();
        found.head = head;
        found.lines.extend(commit.records.iter().map(|record| (*record).to_owned()));
        if let Some(bytes) = commit.snapshot {
            found.snapshot = Some(SessionSnapshot {
                version: head.version,
                hash: head.hash,
                bytes: bytes.to_vec(),
            });
        }
        Ok(Committed::Yes(head))
    }

    fn release(&self, _: &str) {}

    fn sessions(&self) -> Result<Vec<String>, StoreError> {
        let kept = self.lock();
        let some = kept.sessions.iter().filter(|(_, session)| !session.lines.is_empty());
        Ok(some.map(|(id, _)| id.clone()).collect())
    }

    fn head(&self, session: &str) -> Result<Option<Head>, StoreError> {
        let kept = self.lock();
        Ok(kept
            .sessions
            .get(session)
            .filter(|found| !found.lines.is_empty())
            .map(|session| session.head))
    }

    fn records(&self, session: &str, from: u64) -> Result<RecordLines<'_>, StoreError> {
        let store = self.clone();
        let id = session.to_owned();
        let mut next = from;
        Ok(Box::new(std::iter::from_fn(move || {
            let kept = store.lock();
            let found = kept.sessions.get(&id)?;
            // A compaction between two steps moves the first record.
            next = next.max(found.head.first);
            let line = found.lines.get(found.place(next))?.clone();
            next += 1;
            Some(Ok(line))
        })))
    }

    fn snapshot(&self, session: &str) -> Result<(Option<SessionSnapshot>, bool), StoreError> {
        let kept = self.lock();
        Ok((kept.sessions.get(session).and_then(|found| found.snapshot.clone()), false))
    }

    fn spent(&self, key: &str) -> Result<i64, StoreError> {
        Ok(self.lock().spent.get(key).copied().unwrap_or_default())
    }

    fn known(&self) -> Result<Option<Vec<String>>, StoreError> {
        Ok(None)
    }

    fn backup(&self, to: &Path) -> Result<(), StoreError> {
        Err(StoreError::NoStore(to.to_owned()))
    }

    fn settle_ledger(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    fn size(&self) -> Result<u64, StoreError> {
        let kept = self.lock();
        let lines = kept.sessions.values().flat_map(|session| &session.lines);
        Ok(lines.map(|line| line.len() as u64).sum())
    }

    fn forget(&self, session: &str, before: u64) -> Result<(), StoreError> {
        let mut kept = self.lock();
        let found = kept.sessions.get_mut(session).ok_or_else(|| no_snapshot(before))?;
        let place = found.place(before);
        let line = found.lines.get(place).ok_or_else(|| no_snapshot(before))?;
        check_snapshot(line, before)?;
        found.lines.drain(..place);
        found.head.first = before;
        if found.snapshot.as_ref().is_some_and(|taken| taken.version <= before) {
            found.snapshot = None;
        }
        Ok(())
    }

    fn remove(&self, session: &str) -> Result<bool, StoreError> {
        Ok(self.lock().sessions.remove(session).is_some_and(|found| !found.lines.is_empty()))
    }
}

/// Refuses to drop records that no snapshot replaces.
pub(super) fn check_snapshot(line: &str, seq: u64) -> Result<(), StoreError> {
    match LineFields::read(line.as_bytes()) {
        Ok(line) if line.kind == "snapshot" && line.seq == seq => Ok(()),
        _ => Err(no_snapshot(seq)),
    }
}

pub(super) fn no_snapshot(seq: u64) -> StoreError {
    StoreError::Misfit(format!(
        "record {seq} is not a snapshot, so it cannot replace the records before it"
    ))
}
