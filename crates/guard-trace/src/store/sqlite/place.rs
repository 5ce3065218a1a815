//! The files of an open database: the test whether they are still those at the path.
//!
//! SQLite continues to write to a file that was deleted or replaced. So the identity and the length
//! of the database, its log and its index are compared before and after each commit. Only
//! checkpoints write the database file itself. After each change of it, a second connection without
//! cached data must find the session as it was committed.
//!
//! The database and its index are never opened here; only their metadata is read. Closing such a
//! file would release SQLite's locks on it. There are no locks on the log.

use super::super::StoreError;
use super::super::place::{CUT, GONE, OVERWRITTEN, REPLACED, is_absent, is_same};
use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The resolution of file times. A file that was written just before its metadata was read may be
/// written again without a change of its modification time.
const TICK: Duration = Duration::from_millis(50);

/// The files of a database.
#[derive(Debug)]
pub struct DatabaseFiles {
    /// The path that was opened, if it leads to the database through a link.
    opened: Option<PathBuf>,
    files: Vec<(PathBuf, Metadata)>,
    log: Option<File>,
    /// True if the database was not read since its last change.
    unread: bool,
}

impl DatabaseFiles {
    /// Reads the metadata of the files of an open database.
    pub fn new(database: &Path) -> Result<DatabaseFiles, StoreError> {
        // SQLite has the log and the index beside the database that a link leads to.
        let real = database.canonicalize().unwrap_or_else(|_| database.to_owned());
        let is_real = std::path::absolute(database).is_ok_and(|absolute| absolute == real);
        let opened = (!is_real).then(|| database.to_owned());
        let mut place = DatabaseFiles { opened, files: Vec::new(), log: None, unread: true };
        for suffix in ["", "-wal", "-shm"] {
            let mut path = real.as_os_str().to_owned();
            path.push(suffix);
            let path = PathBuf::from(path);
            // A database without a log was not read or written yet.
            if let Some(meta) = look(&path)? {
                if suffix == "-wal" {
                    let fail = |error| StoreError::io(&path, &error);
                    place.log = Some(File::open(&path).map_err(fail)?);
                }
                place.files.push((path, meta));
            } else if suffix.is_empty() {
                return Err(StoreError::lost(database, GONE));
            }
        }
        Ok(place)
    }

    /// Checks that the files are those that are open, and not shorter than before.
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
        if let Some(opened) = &self.opened {
            let there = std::fs::metadata(opened);
            if !there.is_ok_and(|there| is_same(&there, &self.files[0].1)) {
                return Err(StoreError::lost(opened, REPLACED));
            }
        }
        if self.is_log() { Ok(()) } else { Err(StoreError::lost(&self.files[1].0, OVERWRITTEN)) }
    }

    /// Returns true if the log is empty or begins like a log.
    fn is_log(&mut self) -> bool {
        let Some(log) = &mut self.log else { return true };
        let mut start = [0; 4];
        let read = log.seek(SeekFrom::Start(0)).and_then(|_| log.read(&mut start));
        match read {
            Ok(0) => true,
            Ok(4) => matches!(u32::from_be_bytes(start), 0x377f_0682 | 0x377f_0683),
            _ => false,
        }
    }

    /// Returns true if the database may have changed since it was last read.
    pub fn is_unread(&self) -> bool {
        self.unread
    }

    /// Records that the database was read.
    pub fn read(&mut self) {
        self.unread = false;
    }
}

/// Reads the metadata of a file. A link in its place is another file: a reader of the path follows
/// it to a folder without the log.
fn look(path: &Path) -> Result<Option<Metadata>, StoreError> {
    match std::fs::symlink_metadata(path) {
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
