//! A folder of traces: JSON Lines, one file per session, locked while in use.
//!
//! A record that was cut off by a crash was never acknowledged, and is removed. Files are
//! synchronised one by one: commits cannot be grouped, so `batch` equals `full` here.

mod file;
mod ledger;
mod snapshots;

use super::ledger::{KnownSession, LEDGER, gone, stranger, time_of};
use super::mark::{self, ChainMarks};
use super::memory::{check_snapshot, no_snapshot};
use super::place::{GONE, is_absent};
use super::seen::Seen;
use super::{
    Commit, Committed, Durability, Fit, RecordLines, SessionSnapshot, SharedCharge, Store,
    StoreError, StoredStart, audit, check_id, fit, lock,
};
use crate::keys::Keys;
use crate::line::{Head, LineFields};
use file::{FilePosition, Held};
use guard_plan::record::LedgerEntry;
use ledger::FolderLedger;
use snapshots::SnapshotFiles;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A folder of traces.
#[derive(Debug)]
pub struct FolderStore {
    dir: PathBuf,
    durability: Durability,
    snapshots: SnapshotFiles,
    held: Mutex<HashMap<String, Arc<Mutex<Held>>>>,
    /// The sessions that a thread is opening at this moment.
    opening: Mutex<HashMap<String, Arc<Mutex<()>>>>,
    seen: Seen,
    marks: ChainMarks,
    ledger: FolderLedger,
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
        let dir = dir.to_owned();
        let snapshots = SnapshotFiles::new(&dir, keys);
        let held = Mutex::default();
        let seen = Seen::default();
        let ledger = FolderLedger::new(&dir, durability);
        let opening = Mutex::default();
        let marks = ChainMarks::among(&dir, durability);
        Ok(FolderStore { dir, durability, snapshots, held, opening, seen, marks, ledger })
    }

    /// Returns the path of a session's file.
    ///
    /// # Errors
    ///
    /// Returns an error if its id is not a valid file name.
    pub fn path(&self, session: &str) -> Result<PathBuf, StoreError> {
        if session != LEDGER {
            check_id(session)?;
        }
        Ok(self.dir.join(format!("{session}.jsonl")))
    }

    /// Returns the session's locked file, and opens it if this process does not have it.
    fn hold(&self, session: &str) -> Result<Arc<Mutex<Held>>, StoreError> {
        let path = self.path(session)?;
        // One thread opens a session while others wait for it. Threads with other sessions
        // continue.
        let opening = Arc::clone(lock(&self.opening).entry(session.to_owned()).or_default());
        let turn = lock(&opening);
        let known = lock(&self.held).get(session).cloned();
        let held = known.map_or_else(|| self.open_file(session, &path), Ok);
        lock(&self.opening).remove(session);
        drop(turn);
        held
    }

    fn open_file(&self, session: &str, path: &Path) -> Result<Arc<Mutex<Held>>, StoreError> {
        let new = Arc::new(Mutex::new(Held::open(path)?));
        self.sync_dir()?;
        lock(&self.held).insert(session.to_owned(), new.clone());
        Ok(new)
    }

    /// Synchronises the folder. A new file is durable only if its folder is synchronised, which not
    /// every system supports.
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

    /// Resumes a session from the file at its path.
    fn resume(&self, session: &str) -> Result<StoredStart, StoreError> {
        check_id(session)?;
        let path = self.path(session)?;
        let locked = self.ledger.lock()?;
        let known = locked.ledger().knows(session);
        let exists = locked.exists();
        drop(locked);
        if known == KnownSession::Begun && !path.exists() {
            return Err(gone(&self.dir, session));
        }
        if !exists {
            // The ledger is created before the first session.
            drop(self.ledger.lock_or_make()?);
        }
        let mut held = self.hold(session)?;
        if !lock(&held).is_in_place() {
            // The open file is not the one at the path. Only the file at the path counts.
            lock(&self.held).remove(session);
            drop(held);
            held = self.hold(session)?;
        }
        let mut held = lock(&held);
        let mark = self.marks.read(session)?;
        let begun = self.read(session, &mut held)?;
        self.seen.check(&held.path, session, &begun)?;
        mark::check(&held.path, session, mark, &begun)?;
        // Another process may have written to the ledger before this process locked the session.
        let known = self.ledger.lock()?.ledger().knows(session);
        match (known, begun.head.version) {
            (KnownSession::Begun, 0) => Err(gone(&self.dir, session)),
            (KnownSession::No | KnownSession::Removed, 1..) if begun.records.len() > 1 => {
                Err(stranger(&self.dir, session))
            }
            // The process that wrote the first record of the session ended before it wrote to the
            // ledger.
            (KnownSession::No | KnownSession::Removed, 1..) => {
                self.register(session, begun.records.first().map_or("", String::as_str))?;
                Ok(begun)
            }
            _ => Ok(begun),
        }
    }

    /// Writes into the ledger that a session exists.
    fn register(&self, session: &str, first: &str) -> Result<(), StoreError> {
        let mut locked = self.ledger.lock_or_make()?;
        locked.say(time_of(first), LedgerEntry::Begun, session)?;
        drop(locked);
        self.sync_dir()
    }

    /// Charges shared budgets before the record is written. A crash between the two counts too
    /// much, never too little.
    fn charge(
        &self,
        session: &str,
        held: &mut Held,
        commit: &Commit<'_>,
    ) -> Result<Option<Committed>, StoreError> {
        if commit.charges.is_empty() {
            return Ok(None);
        }
        let time = commit.records.first().map_or(0, |record| time_of(record));
        let mut locked = self.ledger.lock()?;
        match locked.ledger().charge(time, session, commit.version, commit.charges)? {
            Err(over) => Ok(Some(over)),
            Ok(lines) => {
                let written = locked.append(&lines);
                written.inspect_err(|_| held.broken = true).map(|()| None)
            }
        }
    }

    fn read(&self, session: &str, held: &mut Held) -> Result<StoredStart, StoreError> {
        let (snapshot, mut distrusted) = self.snapshots.taken(session);
        if let Some((taken, reading)) = snapshot {
            if held.ends_at(&reading) {
                let records = held.read(session, reading)?;
                let snapshot = Some(taken);
                return Ok(StoredStart { head: held.head, snapshot, distrusted, records });
            }
            distrusted = true;
        }
        let records = held.read(session, FilePosition::default())?;
        Ok(StoredStart { head: held.head, snapshot: None, distrusted, records })
    }

    fn append(
        &self,
        session: &str,
        held: &mut Held,
        commit: &Commit<'_>,
        head: Head,
    ) -> Result<(), StoreError> {
        let mut lines =
            Vec::with_capacity(commit.records.iter().map(|record| record.len() + 1).sum());
        for record in commit.records {
            lines.extend_from_slice(record.as_bytes());
            lines.push(b'\n');
        }
        held.append(&lines, head, self.durability != Durability::Off)?;
        if let Some(bytes) = commit.snapshot {
            self.snapshots.keep(session, held, bytes);
        }
        Ok(())
    }
}

/// Returns the sessions with records in a folder, in any order.
fn session_ids(dir: &Path) -> Result<impl Iterator<Item = Result<String, StoreError>>, StoreError> {
    let fail = |error| StoreError::io(dir, &error);
    let id = move |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_suffix(".jsonl"));
        let id = id.filter(|id| check_id(id).is_ok()).map(str::to_owned);
        let has_records = || entry.metadata().is_ok_and(|meta| meta.is_file() && meta.len() > 0);
        Ok(id.filter(|_| has_records()))
    };
    Ok(fs::read_dir(dir).map_err(fail)?.filter_map(move |entry| id(entry).transpose()))
}

impl Store for FolderStore {
    fn begin(&self, session: &str) -> Result<StoredStart, StoreError> {
        // After a failure, nothing of the session stays open or locked.
        self.resume(session).inspect_err(|_| self.release(session))
    }

    fn commit(&self, session: &str, commit: &Commit<'_>) -> Result<Committed, StoreError> {
        check_id(session)?;
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
        if let Some(over) = self.charge(session, &mut held, commit)? {
            return Ok(over);
        }
        let begins = held.head.version == 0;
        self.append(session, &mut held, commit, head)?;
        if let Some(first) = commit.records.first().filter(|_| begins) {
            self.register(session, first).inspect_err(|_| held.broken = true)?;
        }
        self.marks.write(session, &head).inspect_err(|_| held.broken = true)?;
        self.seen.keep(session, head);
        Ok(Committed::Yes(head))
    }

    fn release(&self, session: &str) {
        let Some(held) = lock(&self.held).remove(session) else { return };
        let held = lock(&held);
        if self.durability != Durability::Full && !held.broken && held.head.version > 0 {
            // If this mark cannot be written, an earlier mark stays.
            let _ = self.marks.write_now(session, &held.head);
        }
    }

    fn sessions(&self) -> Result<Vec<String>, StoreError> {
        let mut found = session_ids(&self.dir)?.collect::<Result<Vec<String>, StoreError>>()?;
        found.sort();
        Ok(found)
    }

    fn head(&self, session: &str) -> Result<Option<Head>, StoreError> {
        let path = self.path(session)?;
        // No other process writes to a file that this process has locked.
        let ours = lock(&self.held).get(session).cloned();
        if let Some(held) = ours {
            let held = lock(&held);
            if !held.broken {
                return Ok((held.head.version > 0).then_some(held.head));
            }
        }
        file::head(&path)
    }

    fn records(&self, session: &str, from: u64) -> Result<RecordLines<'_>, StoreError> {
        let lines = file::lines(&self.path(session)?)?;
        let before = move |line: &Result<String, StoreError>| match line {
            Ok(line) => LineFields::read(line.as_bytes()).is_ok_and(|line| line.seq < from),
            Err(_) => false,
        };
        Ok(Box::new(lines.skip_while(before)))
    }

    fn snapshot(&self, session: &str) -> Result<(Option<SessionSnapshot>, bool), StoreError> {
        if session == LEDGER {
            return Ok((None, false));
        }
        check_id(session)?;
        let (taken, distrusted) = self.snapshots.taken(session);
        Ok((taken.map(|(taken, _)| taken), distrusted))
    }

    fn spent(&self, key: &str) -> Result<i64, StoreError> {
        Ok(self.ledger.lock()?.ledger().spent(key))
    }

    fn known(&self) -> Result<Option<Vec<String>>, StoreError> {
        let locked = self.ledger.lock()?;
        Ok(locked.exists().then(|| locked.ledger().sessions()))
    }

    fn audit(&self) -> Result<Vec<String>, StoreError> {
        // A folder of exported traces is not a store: it has neither a key nor a ledger.
        let is_store = self.snapshots.is_keyed() || self.ledger.path().exists();
        if is_store {
            let mut found = audit(self)?;
            let ids = self.sessions()?;
            let ids = ids.iter().map(String::as_str);
            let record = |id: &str, seq| self.records(id, seq)?.next().transpose();
            found.extend(self.marks.audit(
                ids,
                |id| match self.head(id) {
                    // Problems of the records are reported for the session itself.
                    Err(StoreError::Damaged { .. }) => Ok(None),
                    head => head,
                },
                record,
            )?);
            Ok(found)
        } else {
            Ok(Vec::new())
        }
    }

    fn backup(&self, to: &Path) -> Result<(), StoreError> {
        let fail = |error| StoreError::io(to, &error);
        fs::create_dir(to).map_err(fail)?;
        // While the ledger is locked, no session begins and nothing is charged. So the copy cannot
        // contain a call with costs that are missing in its ledger.
        let locked = self.ledger.lock()?;
        if locked.exists() {
            file::copy(self.ledger.path(), &to.join(format!("{LEDGER}.jsonl")))?;
        }
        for id in self.sessions()? {
            if locked.ledger().knows(&id) == KnownSession::Begun {
                file::copy(&self.path(&id)?, &to.join(format!("{id}.jsonl")))?;
            }
        }
        drop(locked);
        File::open(to).and_then(|dir| dir.sync_all()).map_err(fail)
    }

    fn settle_ledger(&self) -> Result<Vec<String>, StoreError> {
        let there = self.sessions()?;
        let mut locked = self.ledger.lock_or_make()?;
        let new = locked.ledger().head.is_empty();
        let mut said = Vec::new();
        for id in &there {
            if locked.ledger().knows(id) != KnownSession::Begun {
                locked.say(0, LedgerEntry::Begun, id)?;
                said.push(format!("session `{id}` is now listed in the ledger"));
            }
            // The mark of a damaged session is not changed.
            if let Ok(head) = file::head(&self.path(id)?) {
                let record = |id: &str, seq| self.records(id, seq)?.next().transpose();
                said.extend(self.marks.settle(id, &head.unwrap_or_default(), record)?);
            }
        }
        for id in locked.ledger().sessions() {
            if !there.contains(&id) {
                locked.say(0, LedgerEntry::Removed, &id)?;
                self.marks.remove(&id);
                said.push(format!("session `{id}` is gone"));
            }
        }
        if new {
            for (key, amount) in ledger::former_amounts(&self.dir)? {
                let charge = SharedCharge { key: &key, amount, limit: i64::MAX };
                if let Ok(lines) = locked.ledger().charge(0, "", 0, &[charge])? {
                    locked.append(&lines)?;
                    let amount = guard_plan::decimal::format(amount);
                    said.push(format!("{amount} of `{key}` is spent"));
                }
            }
        }
        said.extend(locked.settle_mark()?);
        Ok(said)
    }

    fn size(&self) -> Result<u64, StoreError> {
        let fail = |error| StoreError::io(&self.dir, &error);
        let mut sum = 0;
        for entry in fs::read_dir(&self.dir).map_err(fail)? {
            // A file may have been removed in the meantime.
            sum += entry.map_err(fail)?.metadata().map_or(0, |meta| meta.len());
        }
        Ok(sum)
    }

    fn forget(&self, session: &str, before: u64) -> Result<(), StoreError> {
        let path = self.path(session)?;
        if !path.exists() {
            return Err(no_snapshot(before));
        }
        let held = self.hold(session)?;
        let mut held = lock(&held);
        let records = held.read(session, FilePosition::default())?;
        let place = before.checked_sub(held.head.first).and_then(|at| usize::try_from(at).ok());
        let place = place.filter(|at| *at < records.len()).ok_or_else(|| no_snapshot(before))?;
        check_snapshot(&records[place], before)?;
        let fail = |error| StoreError::io(&path, &error);
        // The file position in the snapshot is no longer valid. The snapshot record replaces it.
        self.snapshots.remove(session);
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
        new.read(session, FilePosition::default())?;
        *held = new;
        Ok(())
    }

    fn remove(&self, session: &str) -> Result<bool, StoreError> {
        check_id(session)?;
        let path = self.path(session)?;
        if !path.exists() {
            return Ok(false);
        }
        let held = self.hold(session)?;
        let some = lock(&held).len > 0 || fs::metadata(&path).is_ok_and(|meta| meta.len() > 0);
        let mut locked = self.ledger.lock()?;
        if locked.ledger().knows(session) == KnownSession::Begun {
            let time = file::last(&path).ok().flatten().unwrap_or_default();
            let time = time_of(&String::from_utf8_lossy(&time));
            locked.say(time, LedgerEntry::Removed, session)?;
        }
        drop(locked);
        self.snapshots.remove(session);
        self.marks.remove(session);
        fs::remove_file(&path).map_err(|error| StoreError::io(&path, &error))?;
        self.seen.forget(session);
        lock(&self.held).remove(session);
        self.sync_dir()?;
        Ok(some)
    }
}

/// Returns true unless the error only means that the system cannot synchronise folders.
fn is_of_disk(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    !matches!(
        error.kind(),
        ErrorKind::InvalidInput | ErrorKind::Unsupported | ErrorKind::PermissionDenied
    )
}
