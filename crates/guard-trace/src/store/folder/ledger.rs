//! The ledger of a folder: a file of records that all processes append to, under a lock.

use super::super::ledger::{LEDGER, LedgerSums, missing};
use super::super::mark::{self, ChainMarks};
use super::super::place::{CUT, GONE, OVERWRITTEN, REPLACED, is_absent, is_same, refuse_link};
use super::super::{Durability, StoreError, lock};
use guard_plan::plan::Millis;
use guard_plan::record::LedgerEntry;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The file of amounts of earlier versions, which had no ledger.
const BUDGETS: &str = ".budgets";

/// The ledger of a folder, as far as this process has read it.
#[derive(Debug)]
pub struct FolderLedger {
    path: PathBuf,
    sync: bool,
    marks: ChainMarks,
    read: Mutex<LedgerPrefix>,
}

/// The part of the file that was read.
#[derive(Debug, Default)]
struct LedgerPrefix {
    ledger: LedgerSums,
    bytes: u64,
    /// The metadata of the file, if it exists.
    file: Option<Metadata>,
}

/// The ledger while it is locked, so that no other process can change it.
pub struct Locked<'l> {
    store: &'l FolderLedger,
    read: std::sync::MutexGuard<'l, LedgerPrefix>,
    file: Option<File>,
}

impl FolderLedger {
    /// Returns the ledger of a folder; nothing is read or written yet.
    pub fn new(dir: &Path, durability: Durability) -> FolderLedger {
        let path = dir.join(format!("{LEDGER}.jsonl"));
        let marks = ChainMarks::among(dir, Durability::Full);
        FolderLedger { path, sync: durability != Durability::Off, marks, read: Mutex::default() }
    }

    /// Returns the path of the ledger's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads new entries, and holds the lock on the ledger until the result is dropped. A folder
    /// with sessions must have a ledger.
    pub fn lock(&self) -> Result<Locked<'_>, StoreError> {
        let locked = self.locked(false)?;
        if locked.exists() {
            // A process that writes to the ledger holds the lock, and writes the mark before it
            // releases the lock.
            let mark = self.marks.read(LEDGER)?;
            mark::check_ledger(&self.path, mark, locked.ledger())?;
        }
        Ok(locked)
    }

    /// Locks the ledger, as [`FolderLedger::lock`] does. A folder without a ledger gets one,
    /// whatever it contains.
    pub fn lock_or_make(&self) -> Result<Locked<'_>, StoreError> {
        self.locked(true)
    }

    fn locked(&self, make: bool) -> Result<Locked<'_>, StoreError> {
        let read = lock(&self.read);
        let fail = |error: std::io::Error| StoreError::io(&self.path, &error);
        refuse_link(&self.path)?;
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(make);
        let file = match options.open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound && !make => {
                let new = self.expect_new(read.file.is_some());
                // Another process may have created the ledger and the first session at this moment.
                match (options.open(&self.path), new) {
                    (Ok(file), _) => file,
                    (Err(_), Ok(())) => return Ok(Locked { store: self, read, file: None }),
                    (Err(_), Err(error)) => return Err(error),
                }
            }
            other => other.map_err(fail)?,
        };
        file.lock().map_err(fail)?;
        let mut locked = Locked { store: self, read, file: Some(file) };
        // A ledger that was replaced by a longer one is only noticed at the marked record.
        if locked.read.bytes == 0
            && let Some(mark) = self.marks.read(LEDGER)?
        {
            locked.read.ledger.expect(mark);
        }
        locked.catch_up()?;
        Ok(locked)
    }

    /// Refuses a folder without a ledger that is not new.
    fn expect_new(&self, known: bool) -> Result<(), StoreError> {
        if known {
            return Err(StoreError::lost(&self.path, GONE));
        }
        let Some(dir) = self.path.parent() else { return Ok(()) };
        if dir.join(BUDGETS).exists() || super::session_ids(dir)?.next().transpose()?.is_some() {
            Err(missing(dir))
        } else {
            Ok(())
        }
    }

    fn lost<T>(&self, why: &str) -> Result<T, StoreError> {
        Err(StoreError::lost(&self.path, why))
    }
}

impl Locked<'_> {
    /// Returns the sums of the ledger.
    pub fn ledger(&self) -> &LedgerSums {
        &self.read.ledger
    }

    /// Returns true if there is a file.
    pub fn exists(&self) -> bool {
        self.file.is_some()
    }

    /// Reads the entries that other processes have written since.
    fn catch_up(&mut self) -> Result<(), StoreError> {
        let fail = |error: std::io::Error| StoreError::io(&self.store.path, &error);
        let Some(mut file) = self.file.as_ref() else { return Ok(()) };
        let now = file.metadata().map_err(fail)?;
        if self.read.file.as_ref().is_some_and(|before| !is_same(before, &now)) {
            return self.store.lost(REPLACED);
        }
        if now.len() < self.read.bytes {
            return self.store.lost(CUT);
        }
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(self.read.bytes)).map_err(fail)?;
        file.read_to_end(&mut bytes).map_err(fail)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(&line[..line.len() - 1]);
            self.read.ledger.take(&self.store.path, &line)?;
            self.read.bytes += line.len() as u64 + 1;
        }
        if whole < bytes.len() {
            // The last line was cut off by a crash and was never acknowledged.
            file.set_len(self.read.bytes).and_then(|()| file.sync_all()).map_err(fail)?;
        }
        self.read.file = Some(now);
        Ok(())
    }

    /// Appends that a session begins or is removed.
    pub fn say(
        &mut self,
        time: Millis,
        entry: LedgerEntry,
        session: &str,
    ) -> Result<(), StoreError> {
        self.append(&[self.read.ledger.say(time, entry, session)])
    }

    /// Appends records, which are on disk and in the file at the path on return.
    pub fn append(&mut self, lines: &[String]) -> Result<(), StoreError> {
        if lines.is_empty() {
            return Ok(());
        }
        let path = &self.store.path;
        let fail = |error: std::io::Error| StoreError::io(path, &error);
        if self.file.is_none() {
            let mut options = OpenOptions::new();
            let file = options.read(true).append(true).create(true).open(path).map_err(fail)?;
            file.lock().map_err(fail)?;
            self.file = Some(file);
            // Another process may have written first.
            self.catch_up()?;
            if self.read.bytes > 0 {
                return Err(StoreError::Locked(path.clone()));
            }
        }
        let Some(mut file) = self.file.as_ref() else { return Ok(()) };
        let mut text = lines.join("\n").into_bytes();
        text.push(b'\n');
        let written = file
            .write_all(&text)
            .and_then(|()| if self.store.sync { file.sync_data() } else { Ok(()) });
        if let Err(error) = written {
            let _ = file.set_len(self.read.bytes);
            return Err(fail(error));
        }
        let expected = self.read.bytes + text.len() as u64;
        let there = match std::fs::metadata(path) {
            Ok(there) => there,
            Err(error) if is_absent(&error) => return self.store.lost(GONE),
            Err(error) => return Err(fail(error)),
        };
        if !is_same(&file.metadata().map_err(fail)?, &there) {
            return self.store.lost(REPLACED);
        }
        if there.len() != expected {
            return self.store.lost(OVERWRITTEN);
        }
        for line in lines {
            self.read.ledger.take(path, line)?;
        }
        (self.read.bytes, self.read.file) = (expected, Some(there));
        self.store.marks.write_now(LEDGER, &self.read.ledger.head)
    }

    /// Accepts the current ledger as the acknowledged state. Returns what was lost, if anything.
    pub fn settle_mark(&mut self) -> Result<Option<String>, StoreError> {
        let mut said = self.store.marks.settle(LEDGER, &self.read.ledger.head, |_, _| Ok(None))?;
        if said.is_none() && self.read.ledger.differs() {
            self.store.marks.write_now(LEDGER, &self.read.ledger.head)?;
            said = Some("the ledger has other records from now on".into());
        }
        // What the mark said before is settled, also for records that come later.
        self.read.ledger.accept();
        Ok(said)
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // A child process that is being started may share the descriptor, and with it the lock.
        if let Some(file) = &self.file {
            let _ = file.unlock();
        }
    }
}

/// Returns the amounts of an earlier version.
pub fn former_amounts(dir: &Path) -> Result<std::collections::BTreeMap<String, i64>, StoreError> {
    let path = dir.join(BUDGETS);
    match std::fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| StoreError::Damaged {
            path: path.clone(),
            session: None,
            record: None,
            why: error.to_string(),
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Default::default()),
        Err(error) => Err(StoreError::io(&path, &error)),
    }
}
