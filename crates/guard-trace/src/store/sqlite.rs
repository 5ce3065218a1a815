//! A database of traces: SQLite, shared by several processes.
//!
//! Each commit is one transaction; with `batch`, a separate thread writes one transaction for the
//! commits of all sessions of this process. The schema is in `schema.rs`, the statements are in
//! `rows.rs`.

mod batch;
mod handle;
mod ledger;
mod place;
mod rows;
mod schema;

pub use schema::{APPLICATION_ID, SCHEMA_VERSION};

use super::ledger::{LEDGER, LedgerSums};
use super::mark::{self, ChainMarks};
use super::seen::Seen;
use super::{
    Commit, Committed, Durability, RecordLines, SessionSnapshot, Store, StoreError, StoredStart,
    audit, check_id, lock,
};
use crate::keys::Keys;
use crate::line::Head;
use batch::Batch;
use handle::Handle;
use rows::OpenTransaction;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The number of records read at once.
const PAGE: usize = 256;

/// A database of traces.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    keys: Option<Keys>,
    handle: Mutex<Handle>,
    batch: Option<Batch>,
    seen: Seen,
    marks: ChainMarks,
    durability: Durability,
    /// The sessions with a failed write.
    broken: Mutex<HashSet<String>>,
}

impl SqliteStore {
    /// Opens a database, or creates it. Without a key no snapshot is written or trusted.
    ///
    /// # Errors
    ///
    /// Returns an error if the file is not a Guard database, has another version, or cannot be
    /// used.
    pub fn open(
        path: &Path,
        durability: Durability,
        keys: Option<Keys>,
    ) -> Result<SqliteStore, StoreError> {
        SqliteStore::make(path, durability, keys, true)
    }

    /// Opens an existing database.
    ///
    /// # Errors
    ///
    /// See [`SqliteStore::open`]; also if the file does not exist.
    pub fn open_existing(
        path: &Path,
        durability: Durability,
        keys: Option<Keys>,
    ) -> Result<SqliteStore, StoreError> {
        SqliteStore::make(path, durability, keys, false)
    }

    fn make(
        path: &Path,
        durability: Durability,
        keys: Option<Keys>,
        create: bool,
    ) -> Result<SqliteStore, StoreError> {
        let handle = Handle::open(path, durability, create)?;
        let batch = match durability {
            Durability::Batch(window) => {
                // The writing thread has a connection of its own, so that readers do not wait for a
                // group.
                let writer = Handle::open(path, durability, false)?;
                Some(Batch::start(writer, path.to_owned(), keys.clone(), window)?)
            }
            Durability::Full | Durability::Off => None,
        };
        Ok(SqliteStore {
            path: path.to_owned(),
            keys,
            handle: Mutex::new(handle),
            batch,
            seen: Seen::default(),
            marks: ChainMarks::beside(path, durability),
            durability,
            broken: Mutex::default(),
        })
    }

    fn reading<T>(
        &self,
        read: impl FnOnce(&OpenTransaction<'_>, &mut LedgerSums) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        lock(&self.handle).reading(read)
    }

    fn writing<T>(
        &self,
        session: &str,
        write: impl FnOnce(&OpenTransaction<'_>, &mut LedgerSums) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        lock(&self.handle).writing(&[session], write)
    }

    /// Returns the heads of all sessions, and of the ledger.
    fn heads(&self) -> Result<Vec<(String, Head)>, StoreError> {
        self.reading(|rows, _| {
            let mut ids = rows.sessions()?;
            ids.push(LEDGER.to_owned());
            let head =
                |id: String| Ok((id.clone(), rows.session(&id)?.map(|session| session.head)));
            let heads: Vec<(String, Option<Head>)> =
                ids.into_iter().map(head).collect::<Result<_, StoreError>>()?;
            Ok(heads.into_iter().filter_map(|(id, head)| Some((id, head?))).collect())
        })
    }

    fn commit_now(&self, session: &str, commit: &Commit<'_>) -> Result<Committed, StoreError> {
        self.writing(session, |rows, ledger| {
            rows.commit(session, commit, self.keys.as_ref(), ledger)
        })
    }
}

impl Store for SqliteStore {
    fn begin(&self, session: &str) -> Result<StoredStart, StoreError> {
        check_id(session)?;
        // The marks are read before the session, since another process may add to both in between.
        let marks = (self.marks.read(LEDGER)?, self.marks.read(session)?);
        let begun = self.reading(|rows, ledger| {
            // A ledger that was replaced by a longer one is only noticed at the marked record.
            marks.0.into_iter().for_each(|mark| ledger.expect(mark));
            let begun = begin(rows, ledger, session, self.keys.as_ref())?;
            mark::check_ledger(&self.path, marks.0, ledger)?;
            Ok(begun)
        })?;
        self.seen.check(&self.path, session, &begun)?;
        mark::check(&self.path, session, marks.1, &begun)?;
        lock(&self.broken).remove(session);
        if let Some(batch) = &self.batch {
            batch.enter(session);
        }
        Ok(begun)
    }

    fn commit(&self, session: &str, commit: &Commit<'_>) -> Result<Committed, StoreError> {
        check_id(session)?;
        if lock(&self.broken).contains(session) {
            return Err(StoreError::Refused(session.to_owned()));
        }
        let done = match &self.batch {
            Some(batch) => batch.commit(session, commit),
            None => self.commit_now(session, commit),
        };
        let done = match done {
            Ok(Committed::Yes(head)) => {
                self.seen.keep(session, head);
                self.marks.write(session, &head).map(|()| Committed::Yes(head))
            }
            other => other,
        };
        match &done {
            Err(error) if error.is_of_writing() => {
                lock(&self.broken).insert(session.to_owned());
            }
            _ => {}
        }
        done
    }

    fn release(&self, session: &str) {
        let broken = lock(&self.broken).remove(session);
        if let Some(batch) = &self.batch {
            batch.leave(session);
        }
        if let Some(head) = self.seen.head(session).filter(|_| !broken)
            // With full durability every record was marked already.
            && self.durability != Durability::Full
        {
            // If this mark cannot be written, an earlier mark stays.
            let _ = self.marks.write_now(session, &head);
        }
    }

    fn sessions(&self) -> Result<Vec<String>, StoreError> {
        self.reading(|rows, _| rows.sessions())
    }

    fn head(&self, session: &str) -> Result<Option<Head>, StoreError> {
        Ok(self.reading(|rows, _| rows.session(session))?.map(|found| found.head))
    }

    fn records(&self, session: &str, from: u64) -> Result<RecordLines<'_>, StoreError> {
        let id = session.to_owned();
        let Some(head) = self.head(session)? else { return Ok(Box::new(std::iter::empty())) };
        let mut next = Some(from.max(head.first));
        let mut page = Vec::new().into_iter();
        Ok(Box::new(std::iter::from_fn(move || {
            if let Some((seq, line)) = page.next() {
                next = Some(seq + 1);
                return Some(Ok(line));
            }
            // The number is put back only by a record, so that an error or the end stops the
            // iteration.
            let from = next.take()?;
            match self.reading(|rows, _| rows.page(&id, from, PAGE)) {
                Ok(read) => page = read.into_iter(),
                Err(error) => return Some(Err(error)),
            }
            let (seq, line) = page.next()?;
            next = Some(seq + 1);
            Some(Ok(line))
        })))
    }

    fn snapshot(&self, session: &str) -> Result<(Option<SessionSnapshot>, bool), StoreError> {
        self.reading(|rows, _| match rows.session(session)? {
            Some(found) => snapshot(rows, &found, session, self.keys.as_ref()),
            None => Ok((None, false)),
        })
    }

    fn spent(&self, key: &str) -> Result<i64, StoreError> {
        self.reading(|rows, ledger| {
            rows.catch_up(ledger, false)?;
            Ok(ledger.spent(key))
        })
    }

    fn known(&self) -> Result<Option<Vec<String>>, StoreError> {
        self.reading(|rows, ledger| {
            rows.catch_up(ledger, false)?;
            Ok((ledger.head.version > 0).then(|| ledger.sessions()))
        })
    }

    fn audit(&self) -> Result<Vec<String>, StoreError> {
        let mut found = audit(self)?;
        found.extend(self.reading(|rows, _| rows.orphans())?);
        let ids = self.heads()?;
        let head =
            |id: &str| self.reading(|rows, _| Ok(rows.session(id)?.map(|session| session.head)));
        let record = |id: &str, seq| self.records(id, seq)?.next().transpose();
        found.extend(self.marks.audit(ids.iter().map(|(id, _)| &**id), head, record)?);
        Ok(found)
    }

    fn backup(&self, to: &Path) -> Result<(), StoreError> {
        if to.exists() {
            return Err(StoreError::io(to, &std::io::ErrorKind::AlreadyExists.into()));
        }
        lock(&self.handle).copy(to)?;
        let fail = |error| StoreError::io(to, &error);
        std::fs::File::open(to).and_then(|file| file.sync_all()).map_err(fail)
    }

    fn settle_ledger(&self) -> Result<Vec<String>, StoreError> {
        let before = self.known().ok().flatten().unwrap_or_default();
        let settled = lock(&self.handle).writing(&[], |rows, ledger| {
            let said = rows.settle_ledger(ledger);
            ledger.accept();
            said
        });
        let mut said = settled?;
        let heads = self.heads()?;
        let is_gone = |id: &&String| heads.iter().all(|(there, _)| there != *id);
        before.iter().filter(is_gone).for_each(|id| self.marks.remove(id));
        for (id, head) in &heads {
            let record = |id: &str, seq| self.records(id, seq)?.next().transpose();
            said.extend(self.marks.settle(id, head, record)?);
        }
        Ok(said)
    }

    fn size(&self) -> Result<u64, StoreError> {
        self.reading(|rows, _| rows.size())
    }

    fn forget(&self, session: &str, before: u64) -> Result<(), StoreError> {
        self.writing(session, |rows, _| rows.forget(session, before))
    }

    fn remove(&self, session: &str) -> Result<bool, StoreError> {
        check_id(session)?;
        self.seen.forget(session);
        let removed = self.writing(session, |rows, ledger| rows.remove(session, ledger))?;
        self.marks.remove(session);
        Ok(removed)
    }
}

/// Reads a session with the verified records after its snapshot.
fn begin(
    rows: &OpenTransaction<'_>,
    ledger: &mut LedgerSums,
    session: &str,
    keys: Option<&Keys>,
) -> Result<StoredStart, StoreError> {
    let Some(found) = rows.session(session)? else {
        rows.expect_new(session, ledger)?;
        return Ok(StoredStart::default());
    };
    rows.expect_known(session, ledger)?;
    let (snapshot, distrusted) = snapshot(rows, &found, session, keys)?;
    let mut head = match &snapshot {
        Some(taken) => Head { first: 0, version: taken.version, hash: taken.hash },
        None => Head::default(),
    };
    let from = head.version.max(found.head.first);
    let records = rows.lines(&found, from, usize::MAX)?;
    for line in &records {
        head = head
            .follow(line.as_bytes())
            .map_err(|broken| rows.damaged(session, Some(head.version), broken.to_string()))?;
    }
    head.first = found.head.first;
    if head != found.head {
        return Err(rows.damaged(
            session,
            None,
            "its last record is not the one that it names".into(),
        ));
    }
    Ok(StoredStart { head, snapshot, distrusted, records })
}

/// Returns the snapshot of a session if its tag is valid, and whether one was rejected.
fn snapshot(
    rows: &OpenTransaction<'_>,
    found: &rows::SessionRow,
    session: &str,
    keys: Option<&Keys>,
) -> Result<(Option<SessionSnapshot>, bool), StoreError> {
    let Some(kept) = rows.snapshot(found)? else { return Ok((None, false)) };
    let taken = kept.trusted(session, keys);
    // Without a key no snapshot can be checked, and so none counts as rejected.
    let distrusted = taken.is_none() && keys.is_some();
    Ok((taken, distrusted))
}
