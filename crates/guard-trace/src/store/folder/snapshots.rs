//! The files of snapshots beside the traces of a folder. Each one bears a tag of the store's key, and
//! the position in the trace where the session continues.

use super::super::SessionSnapshot;
use super::file::{FilePosition, Held};
use crate::draft::{self, DraftFile};
use crate::keys::Keys;
use crate::line::Head;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The first bytes of a snapshot file.
const MAGIC: &[u8; 16] = b"GUARD SNAPSHOT1\n";

/// The length of the header of a snapshot file, in bytes: magic, version, hash, tag, position in
/// the trace.
const HEADER: usize = 16 + 8 + 32 + 32 + 8;

/// The snapshot files of a folder. Without a key no snapshot is written or trusted.
#[derive(Debug)]
pub(super) struct SnapshotFiles {
    dir: PathBuf,
    keys: Option<Keys>,
}

impl SnapshotFiles {
    /// Creates the snapshot files of a folder.
    pub fn new(dir: &Path, keys: Option<Keys>) -> SnapshotFiles {
        SnapshotFiles { dir: dir.to_owned(), keys }
    }

    /// Returns true if snapshots can be written and trusted.
    pub fn is_keyed(&self) -> bool {
        self.keys.is_some()
    }

    fn path(&self, session: &str) -> PathBuf {
        self.dir.join(format!("{session}.snapshot"))
    }

    /// Returns the snapshot of a session with the position in its file where the trace continues,
    /// and whether a snapshot was rejected.
    pub fn taken(&self, session: &str) -> (Option<(SessionSnapshot, FilePosition)>, bool) {
        let mut bytes = Vec::new();
        let read = File::open(self.path(session)).and_then(|mut file| file.read_to_end(&mut bytes));
        if read.is_err() {
            return (None, false);
        }
        let taken = self.trusted(session, &bytes);
        let distrusted = taken.is_none() && self.keys.is_some();
        (taken, distrusted)
    }

    fn trusted(&self, session: &str, bytes: &[u8]) -> Option<(SessionSnapshot, FilePosition)> {
        let (header, bytes) = bytes.split_at_checked(HEADER)?;
        let rest = header.strip_prefix(MAGIC)?;
        let version = u64::from_be_bytes(rest[..8].try_into().ok()?);
        let hash = rest[8..40].try_into().ok()?;
        let offset = u64::from_be_bytes(rest[72..80].try_into().ok()?);
        let said = [&rest[72..80], bytes].concat();
        let keys = self.keys.as_ref()?;
        keys.bears(session, (version, &hash), &said, &rest[40..72]).then(|| {
            let head = Head { first: 0, version, hash };
            (
                SessionSnapshot { version, hash, bytes: bytes.to_vec() },
                FilePosition { offset, head },
            )
        })
    }

    /// Writes a snapshot. It is optional: if this fails, the session is resumed from its records.
    pub fn keep(&self, session: &str, held: &Held, bytes: &[u8]) {
        let Some(keys) = &self.keys else { return };
        let offset = held.len.to_be_bytes();
        let head = &held.head;
        let tag = keys.tag(session, (head.version, &head.hash), &[&offset[..], bytes].concat());
        let version = head.version.to_be_bytes();
        let file = [&MAGIC[..], &version, &head.hash, &tag, &offset, bytes].concat();
        let path = self.path(session);
        let _ = DraftFile::beside(&path, draft::SHARED).and_then(|mut draft| {
            draft.write_all(&file)?;
            draft.rename(&path)
        });
    }

    /// Removes the snapshot of a session, if there is one.
    pub fn remove(&self, session: &str) {
        // A file that cannot be removed does not fit the records any more, so it is not used.
        let _ = fs::remove_file(self.path(session));
    }
}
