//! The files of an open database: whether they are still those at the path.
//!
//! SQLite goes on writing to a file that was deleted or replaced. So the identity and the length of
//! the database, its log and its index are compared before and after each commit. The database
//! itself is written by checkpoints only: after each change of it a second connection, which has
//! nothing in memory, must find the session as it was committed.
//!
//! The files are never opened here, only looked at: closing a database file would release the locks
//! that SQLite has on it.

use super::super::StoreError;
use super::super::place::{CUT, GONE, REPLACED, is_absent, is_same};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A file that was written so shortly before it was looked at may be written again without another
/// time of its last change.
const TICK: Duration = Duration::from_millis(50);

/// The files of a database.
#[derive(Debug)]
pub struct Place {
    files: Vec<(PathBuf, Metadata)>,
    /// The database was not looked into since its last change.
    unread: bool,
}

impl Place {
    /// Looks at the files of a database that is open.
    pub fn new(database: &Path) -> Result<Place, StoreError> {
        let mut place = Place { files: Vec::new(), unread: true };
        for suffix in ["", "-wal", "-shm"] {
            let mut path = database.as_os_str().to_owned();
            path.push(suffix);
            let path = PathBuf::from(path);
            // A database without a log is one that nobody has read or written yet.
            if let Some(meta) = look(&path)? {
                place.files.push((path, meta));
            } else if suffix.is_empty() {
                return Err(StoreError::lost(database, GONE));
            }
        }
        Ok(place)
    }

    /// Checks that the files are those that were open, and not shorter than before.
    pub fn check(&mut self) -> Result<(), StoreError> {
        for (at, (path, before)) in self.files.iter_mut().enumerate() {
            let now = look(path)?.ok_or_else(|| StoreError::lost(path, GONE))?;
            if !is_same(before, &now) {
                return Err(StoreError::lost(path, REPLACED));
            }
            if now.len() < before.len() {
                return Err(StoreError::lost(path, CUT));
            }
            if at == 0 {
                self.unread |= !is_unchanged(before, &now);
            }
            *before = now;
        }
        Ok(())
    }

    /// Returns whether the database may have changed since somebody looked into it.
    pub fn is_unread(&self) -> bool {
        self.unread
    }

    /// Remembers that the database was looked into.
    pub fn read(&mut self) {
        self.unread = false;
    }
}

fn look(path: &Path) -> Result<Option<Metadata>, StoreError> {
    match std::fs::metadata(path) {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(StoreError::io(path, &error)),
    }
}

fn is_unchanged(before: &Metadata, now: &Metadata) -> bool {
    let (Ok(was), Ok(is)) = (before.modified(), now.modified()) else { return false };
    let settled = SystemTime::now().duration_since(is).is_ok_and(|age| age > TICK);
    was == is && before.len() == now.len() && settled
}
