//! A folder of traces: JSON Lines, one file per session, locked while in use.
//!
//! A record cut by a crash was never acknowledged, and is removed. Files are synchronised one by
//! one: commits cannot be grouped, so `batch` equals `full` here.

mod budgets;
mod file;

use super::memory::{check_snapshot, no_snapshot};
use super::place::{GONE, is_absent};
use super::seen::Seen;
use super::{
    Begun, Commit, Committed, Durability, Fit, Records, Store, StoreError, Taken, charge_all,
    check_id, fit,
};
use crate::keys::Keys;
use crate::line::{Head, Line};
use file::{Held, Reading};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The first bytes of a snapshot file.
const MAGIC: &[u8; 16] = b"GUARD SNAPSHOT1\n";

/// The length of the header of a snapshot file, in bytes: magic, version, hash, tag, position in
/// the trace.
const HEADER: usize = 16 + 8 + 32 + 32 + 8;

/// A folder of traces.
#[derive(Debug)]
pub struct FolderStore {
    dir: PathBuf,
    durability: Durability,
    keys: Option<Keys>,
    held: Mutex<HashMap<String, Arc<Mutex<Held>>>>,
    seen: Seen,
}

impl FolderStore {
    /// Opens a folder, which is created if it is missing. Without a key no snapshot is written or
    /// trusted.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be created.
    pub fn open(
        dir: &Path,
        durability: Durability,
        keys: Option<Keys>,
    ) -> Result<FolderStore, StoreError> {
        fs::create_dir_all(dir).map_err(|error| StoreError::io(dir, &error))?;
        let (dir, held, seen) = (dir.to_owned(), Mutex::default(), Seen::default());
        Ok(FolderStore { dir, durability, keys, held, seen })
    }

    /// Returns the path of a session's file.
    ///
    /// # Errors
    ///
    /// Returns an error if its id is not a valid file name.
    pub fn path(&self, session: &str) -> Result<PathBuf, StoreError> {
        check_id(session)?;
        Ok(self.dir.join(format!("{session}.jsonl")))
    }

    fn snapshot_path(&self, session: &str) -> PathBuf {
        self.dir.join(format!("{session}.snapshot"))
    }

    /// Returns the session's locked file; opens it if this process does not have it.
    fn hold(&self, session: &str) -> Result<Arc<Mutex<Held>>, StoreError> {
        let path = self.path(session)?;
        let mut held = lock(&self.held);
        if let Some(held) = held.get(session) {
            return Ok(held.clone());
        }
        if self.seen.knows(session) && !path.exists() {
            return Err(StoreError::lost(&path, GONE));
        }
        let new = Arc::new(Mutex::new(Held::open(&path)?));
        self.sync_dir()?;
        held.insert(session.to_owned(), new.clone());
        Ok(new)
    }

    /// A new file is durable only if its folder is synchronised too; not every system supports
    /// that.
    fn sync_dir(&self) -> Result<(), StoreError> {
        if self.durability == Durability::Off {
            return Ok(());
        }
        match File::open(&self.dir).and_then(|dir| dir.sync_all()) {
            Err(error) if is_absent(&error) => Err(StoreError::lost(&self.dir, GONE)),
            Err(error) if is_of_disk(&error) => Err(StoreError::io(&self.dir, &error)),
            _ => Ok(()),
        }
    }

    /// Takes a session up from the file at its path.
    fn take_up(&self, session: &str) -> Result<Begun, StoreError> {
        let mut held = self.hold(session)?;
        if !lock(&held).is_in_place() {
            // The file that was open is not the one at the path: only the latter counts.
            lock(&self.held).remove(session);
            drop(held);
            held = self.hold(session)?;
        }
        let mut held = lock(&held);
        let begun = self.read(session, &mut held)?;
        self.seen.check(&held.path, session, &begun)?;
        Ok(begun)
    }

    fn read(&self, session: &str, held: &mut Held) -> Result<Begun, StoreError> {
        let (snapshot, mut distrusted) = self.taken(session);
        if let Some((taken, reading)) = snapshot {
            if held.ends_at(&reading) {
                let records = held.read(session, reading)?;
                let snapshot = Some(taken);
                return Ok(Begun { head: held.head, snapshot, distrusted, records });
            }
            distrusted = true;
        }
        let records = held.read(session, Reading::default())?;
        Ok(Begun { head: held.head, snapshot: None, distrusted, records })
    }

    /// Returns the snapshot of a session with the position in its file where the trace continues,
    /// and whether a snapshot was rejected.
    fn taken(&self, session: &str) -> (Option<(Taken, Reading)>, bool) {
        let mut bytes = Vec::new();
        let read =
            File::open(self.snapshot_path(session)).and_then(|mut it| it.read_to_end(&mut bytes));
        if read.is_err() {
            return (None, false);
        }
        let taken = self.trusted(session, &bytes);
        let distrusted = taken.is_none() && self.keys.is_some();
        (taken, distrusted)
    }

    fn trusted(&self, session: &str, bytes: &[u8]) -> Option<(Taken, Reading)> {
        let (header, bytes) = bytes.split_at_checked(HEADER)?;
        let rest = header.strip_prefix(MAGIC)?;
        let version = u64::from_be_bytes(rest[..8].try_into().ok()?);
        let hash = rest[8..40].try_into().ok()?;
        let offset = u64::from_be_bytes(rest[72..80].try_into().ok()?);
        let said = [&rest[72..80], bytes].concat();
        let keys = self.keys.as_ref()?;
        keys.bears(session, (version, &hash), &said, &rest[40..72]).then(|| {
            let head = Head { first: 0, version, hash };
            (Taken { version, hash, bytes: bytes.to_vec() }, Reading { offset, head })
        })
    }

    /// Writes a snapshot. It is optional: if this fails, the session is resumed from its records.
    fn keep_snapshot(&self, session: &str, held: &Held, bytes: &[u8]) {
        let Some(keys) = &self.keys else { return };
        let offset = held.len.to_be_bytes();
        let head = &held.head;
        let tag = keys.tag(session, (head.version, &head.hash), &[&offset[..], bytes].concat());
        let version = head.version.to_be_bytes();
        let file = [&MAGIC[..], &version, &head.hash, &tag, &offset, bytes].concat();
        let draft = self.dir.join(format!(".{session}.snapshot"));
        let written = fs::write(&draft, file);
        let _ = written.and_then(|()| fs::rename(&draft, self.snapshot_path(session)));
    }

    fn append(
        &self,
        session: &str,
        held: &mut Held,
        commit: &Commit<'_>,
        head: Head,
    ) -> Result<(), StoreError> {
        let mut lines = Vec::with_capacity(commit.records.iter().map(|it| it.len() + 1).sum());
        for record in commit.records {
            lines.extend_from_slice(record.as_bytes());
            lines.push(b'\n');
        }
        held.append(&lines, head, self.durability != Durability::Off)?;
        if let Some(bytes) = commit.snapshot {
            self.keep_snapshot(session, held, bytes);
        }
        Ok(())
    }
}

impl Store for FolderStore {
    fn begin(&self, session: &str) -> Result<Begun, StoreError> {
        // After a failure nothing of the session stays open or locked.
        self.take_up(session).inspect_err(|_| self.release(session))
    }

    fn commit(&self, session: &str, commit: &Commit<'_>) -> Result<Committed, StoreError> {
        let known = lock(&self.held).get(session).cloned();
        let held = match known {
            Some(held) => held,
            None => {
                self.begin(session)?;
                self.hold(session)?
            }
        };
        let mut held = lock(&held);
        if held.broken {
            return Err(StoreError::Refused(session.to_owned()));
        }
        let head = match fit(&held.head, commit)? {
            Fit::Yes(head) => head,
            Fit::Conflict(version) => return Ok(Committed::Conflict { version }),
        };
        held.check_place().inspect_err(|_| held.broken = true)?;
        if !commit.charges.is_empty() {
            // The budget is written before the record: a crash between the two counts too much,
            // never too little.
            let budgets = budgets::Budgets::lock(&self.dir)?;
            match charge_all(commit.charges, |key| Ok(budgets.spent(key)))? {
                Ok(sums) => budgets.keep(sums).inspect_err(|_| held.broken = true)?,
                Err(over) => return Ok(over),
            }
        }
        self.append(session, &mut held, commit, head)?;
        self.seen.keep(session, head);
        Ok(Committed::Yes(head))
    }

    fn release(&self, session: &str) {
        lock(&self.held).remove(session);
    }

    fn sessions(&self) -> Result<Vec<String>, StoreError> {
        let fail = |error| StoreError::io(&self.dir, &error);
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let name = entry.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".jsonl"));
            let Some(id) = id.filter(|id| check_id(id).is_ok()) else { continue };
            if entry.metadata().is_ok_and(|meta| meta.is_file() && meta.len() > 0) {
                found.push(id.to_owned());
            }
        }
        found.sort();
        Ok(found)
    }

    fn head(&self, session: &str) -> Result<Option<Head>, StoreError> {
        let path = self.path(session)?;
        // No other process writes to a file that we hold.
        let ours = lock(&self.held).get(session).cloned();
        if let Some(held) = ours {
            let held = lock(&held);
            if !held.broken {
                return Ok((held.head.version > 0).then_some(held.head));
            }
        }
        file::head(&path)
    }

    fn records(&self, session: &str, from: u64) -> Result<Records<'_>, StoreError> {
        let lines = file::lines(&self.path(session)?)?;
        let before = move |line: &Result<String, StoreError>| match line {
            Ok(line) => Line::read(line.as_bytes()).is_ok_and(|line| line.seq < from),
            Err(_) => false,
        };
        Ok(Box::new(lines.skip_while(before)))
    }

    fn snapshot(&self, session: &str) -> Result<(Option<Taken>, bool), StoreError> {
        check_id(session)?;
        let (taken, distrusted) = self.taken(session);
        Ok((taken.map(|(taken, _)| taken), distrusted))
    }

    fn spent(&self, key: &str) -> Result<i64, StoreError> {
        Ok(budgets::Budgets::lock(&self.dir)?.spent(key))
    }

    fn forget(&self, session: &str, before: u64) -> Result<(), StoreError> {
        let path = self.path(session)?;
        if !path.exists() {
            return Err(no_snapshot(before));
        }
        let held = self.hold(session)?;
        let mut held = lock(&held);
        let records = held.read(session, Reading::default())?;
        let place = before.checked_sub(held.head.first).and_then(|at| usize::try_from(at).ok());
        let place = place.filter(|at| *at < records.len()).ok_or_else(|| no_snapshot(before))?;
        check_snapshot(&records[place], before)?;
        let fail = |error| StoreError::io(&path, &error);
        // Its file position is no longer valid; the snapshot record replaces it.
        let _ = fs::remove_file(self.snapshot_path(session));
        let draft = self.dir.join(format!(".{session}.jsonl"));
        let mut new = Held::draft(&draft)?;
        for record in &records[place..] {
            new.file.write_all(record.as_bytes()).map_err(fail)?;
            new.file.write_all(b"\n").map_err(fail)?;
        }
        new.file.sync_all().map_err(fail)?;
        fs::rename(&draft, &path).map_err(fail)?;
        self.sync_dir()?;
        new.path = path;
        new.read(session, Reading::default())?;
        *held = new;
        Ok(())
    }

    fn remove(&self, session: &str) -> Result<bool, StoreError> {
        let path = self.path(session)?;
        if !path.exists() {
            return Ok(false);
        }
        let held = self.hold(session)?;
        let some = lock(&held).len > 0 || fs::metadata(&path).is_ok_and(|meta| meta.len() > 0);
        let _ = fs::remove_file(self.snapshot_path(session));
        fs::remove_file(&path).map_err(|error| StoreError::io(&path, &error))?;
        self.seen.forget(session);
        self.release(session);
        self.sync_dir()?;
        Ok(some)
    }
}

/// Returns whether an error of a folder's synchronisation means more than that the system has none.
fn is_of_disk(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    !matches!(
        error.kind(),
        ErrorKind::InvalidInput | ErrorKind::Unsupported | ErrorKind::PermissionDenied
    )
}

/// Takes over a lock that a panicking thread leaves: the guarded data is marked broken before it is
/// changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
