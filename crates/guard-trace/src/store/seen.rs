//! The heads that this process has seen acknowledged. A session that is resumed must still have
//! them.

use super::{StoreError, StoredStart, lock};
use crate::line::{Head, LineFields};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

/// The maximum number of remembered sessions. Beyond it, only the ledger remembers that a session
/// exists.
const MAX_SEEN: usize = 200_000;

/// The heads of sessions.
#[derive(Debug, Default)]
pub(super) struct Seen(Mutex<HashMap<String, Head>>);

impl Seen {
    fn heads(&self) -> MutexGuard<'_, HashMap<String, Head>> {
        lock(&self.0)
    }

    /// Remembers the head of a session.
    pub fn keep(&self, session: &str, head: Head) {
        let mut heads = self.heads();
        if let Some(known) = heads.get_mut(session) {
            *known = head;
        } else if heads.len() < MAX_SEEN {
            heads.insert(session.to_owned(), head);
        }
    }

    /// Returns the remembered head of a session.
    pub fn head(&self, session: &str) -> Option<Head> {
        self.heads().get(session).copied()
    }

    /// Forgets a session that was removed.
    pub fn forget(&self, session: &str) {
        self.heads().remove(session);
    }

    /// Checks that a session still has the records that this process has seen.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Lost`] if they are not there.
    pub fn check(&self, path: &Path, session: &str, begun: &StoredStart) -> Result<(), StoreError> {
        if begun.head.version == 0 {
            // The ledger says that the session was removed.
            self.forget(session);
            return Ok(());
        }
        let Some(seen) = self.heads().get(session).copied() else { return Ok(()) };
        if has_head(begun, &seen) {
            Ok(())
        } else {
            let last = seen.version - 1;
            let why = format!("does not have record {last} of session `{session}` any more");
            Err(StoreError::lost(path, &why))
        }
    }
}

/// Returns true if a session contains the record of a head. The session may be longer.
pub(super) fn has_head(begun: &StoredStart, seen: &Head) -> bool {
    match seen.version {
        0 => true,
        last if last > begun.head.version => false,
        last if last == begun.head.version => seen.hash == begun.head.hash,
        last => has(begun, last - 1, seen),
    }
}

/// Returns true if a record is unchanged. A record before the snapshot is not checked.
fn has(begun: &StoredStart, seq: u64, seen: &Head) -> bool {
    let Some(first) = begun.head.version.checked_sub(begun.records.len() as u64) else {
        return true;
    };
    let Some(at) = seq.checked_sub(first).and_then(|at| usize::try_from(at).ok()) else {
        return true;
    };
    let line = begun.records.get(at).and_then(|line| LineFields::read(line.as_bytes()).ok());
    line.is_some_and(|line| line.hash == seen.hash)
}
