//! Stores: the storage of session records, and its guarantees.
//!
//! A store accepts a commit as a whole or not at all, only directly after its last record, and
//! acknowledges it only after it has the requested durability. It checks the hash chain and reads
//! no other part of a record. The runtime interprets the records and the session's memory.

mod error;
mod folder;
mod ledger;
mod mark;
mod memory;
mod place;
mod seen;
mod sqlite;

pub use error::StoreError;
pub use folder::FolderStore;
pub use ledger::LEDGER;
pub use memory::MemoryStore;
pub use sqlite::{APPLICATION_ID, SCHEMA_VERSION, SqliteStore};

use crate::keys::Keys;
use crate::line::{Break, Head};
use crate::reading::LINE_BYTES;
use guard_plan::encode::Hash;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The maximum length of a session id, in bytes.
pub const MAX_ID: usize = 128;

/// The durability of an acknowledged commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Each commit is synchronised to disk separately.
    #[default]
    Full,
    /// Commits are synchronised to disk in groups; the store waits at most this long for further
    /// ones.
    Batch(Duration),
    /// The commit is passed to the operating system: it survives the end of the process, but not a
    /// crash of the machine.
    Off,
}

/// A session as stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredStart {
    /// The head of its chain; all zeros if the store does not know the session.
    pub head: Head,
    /// The last snapshot of the host, if it is authentic.
    pub snapshot: Option<SessionSnapshot>,
    /// True if a snapshot was rejected: it was changed, or made with another key.
    pub distrusted: bool,
    /// The records after the snapshot, or all records; without line breaks.
    pub records: Vec<String>,
}

/// A snapshot: the session's memory after a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSnapshot {
    /// The number of records before it.
    pub version: u64,
    /// The hash of the last record.
    pub hash: Hash,
    /// The bytes from the host.
    pub bytes: Vec<u8>,
}

/// A commit, stored as a whole or not at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Commit<'c> {
    /// The number of records that the caller knows.
    pub version: u64,
    /// The next records, without line breaks.
    pub records: &'c [&'c str],
    /// The session's memory after them, in the host's format.
    pub snapshot: Option<&'c [u8]>,
    /// The charges to budgets that sessions share.
    pub charges: &'c [SharedCharge<'c>],
}

/// A charge to a budget that the sessions of one store share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedCharge<'c> {
    /// The budget's name, chosen by the host.
    pub key: &'c str,
    /// The amount, in units of 10⁻⁶; never negative.
    pub amount: i64,
    /// The total limit, in units of 10⁻⁶.
    pub limit: i64,
}

/// The result of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Committed {
    /// The commit is stored.
    Yes(Head),
    /// Another process has committed to the session since, so nothing is stored. The caller begins
    /// the session again.
    Conflict {
        /// The number of records.
        version: u64,
    },
    /// A charge exceeds its limit, so nothing is stored.
    OverBudget {
        /// The budget.
        key: String,
        /// The amount spent, in units of 10⁻⁶.
        spent: i64,
    },
}

/// Records in order, each without its line break.
pub type RecordLines<'s> = Box<dyn Iterator<Item = Result<String, StoreError>> + Send + 's>;

/// A store of traces. Every method may be called from any thread.
pub trait Store: Send + Sync {
    /// Resumes or begins a session. If a store lets only one process use a session at a time, the
    /// session belongs to this process until [`Store::release`]. After a failed commit, this call
    /// makes the session usable again.
    ///
    /// # Errors
    ///
    /// Returns an error if the session is damaged, in use, or cannot be read.
    fn begin(&self, session: &str) -> Result<StoredStart, StoreError>;

    /// Stores records. On return they have the store's durability.
    ///
    /// # Errors
    ///
    /// Returns an error if the records do not follow the stored ones ([`StoreError::Misfit`]) or
    /// cannot be written. After a write error the session stays readable, and every further commit
    /// to it is refused until it is begun again.
    fn commit(&self, session: &str, commit: &Commit<'_>) -> Result<Committed, StoreError>;

    /// Releases a session for other processes.
    fn release(&self, session: &str);

    /// Returns all sessions with a record, sorted.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn sessions(&self) -> Result<Vec<String>, StoreError>;

    /// Returns the head of a session's chain; `None` if the store does not know the session.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read, or the last line is not a record.
    fn head(&self, session: &str) -> Result<Option<Head>, StoreError>;

    /// Returns the records of a session from a number on, read lazily. They are not verified.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn records(&self, session: &str, from: u64) -> Result<RecordLines<'_>, StoreError>;

    /// Returns the last snapshot of the host, and whether another one was rejected.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn snapshot(&self, session: &str) -> Result<(Option<SessionSnapshot>, bool), StoreError>;

    /// Returns the amount spent of a budget that sessions share, in units of 10⁻⁶.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn spent(&self, key: &str) -> Result<i64, StoreError>;

    /// Returns the sessions in the store's ledger, sorted. All of them must exist. `None` if the
    /// store has no ledger yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the ledger is damaged, or missing although there are sessions.
    fn known(&self) -> Result<Option<Vec<String>>, StoreError>;

    /// Returns the problems of the store as a whole, one sentence each: sessions that are missing,
    /// sessions that the ledger does not know, and data that belongs to no session.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn audit(&self) -> Result<Vec<String>, StoreError> {
        audit(self)
    }

    /// Copies the store to a new path, while others use it. The copy contains one state of the
    /// ledger, and of every session a state that is at least as new. The key is not copied.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read, or the path cannot be written.
    fn backup(&self, to: &Path) -> Result<(), StoreError>;

    /// Updates the ledger to the content of the store: it adds unknown sessions, and marks missing
    /// ones as removed. Returns the entries that were written, one sentence each.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read or written, or the ledger is damaged.
    fn settle_ledger(&self) -> Result<Vec<String>, StoreError>;

    /// Returns the number of bytes that the store uses on disk; for a database, the bytes in use in
    /// it.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    fn size(&self) -> Result<u64, StoreError>;

    /// Drops the records of a session before the one with this number, which must be a snapshot
    /// record.
    ///
    /// # Errors
    ///
    /// Returns an error if that record is not a snapshot, or the store cannot be written.
    fn forget(&self, session: &str, before: u64) -> Result<(), StoreError>;

    /// Removes a whole session. Returns true if it existed.
    ///
    /// # Errors
    ///
    /// Returns an error if the session is in use, or the store cannot be written.
    fn remove(&self, session: &str) -> Result<bool, StoreError>;
}

/// Compares the sessions of a store with its ledger.
pub(crate) fn audit<S: Store + ?Sized>(store: &S) -> Result<Vec<String>, StoreError> {
    let there = store.sessions()?;
    let known = match store.known() {
        Ok(None) => return Ok(Vec::new()),
        Ok(Some(known)) => known,
        Err(error @ (StoreError::Lost { .. } | StoreError::Damaged { .. })) => {
            return Ok(vec![error.to_string()]);
        }
        Err(error) => return Err(error),
    };
    let gone = known.iter().filter(|id| there.binary_search(id).is_err());
    let gone = gone.map(|id| format!("session `{id}` is missing, but the ledger lists it"));
    let strange = there.iter().filter(|id| known.binary_search(id).is_err());
    let strange = strange.map(|id| format!("session `{id}` is not in the ledger"));
    Ok(gone.chain(strange).collect())
}

/// Checks that an id is valid for a session in a store: ids become file names, and move from store
/// to store.
///
/// # Errors
///
/// Returns [`StoreError::BadSession`] if the id is invalid.
pub fn check_id(session: &str) -> Result<(), StoreError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    // A leading dot is kept for the files of the store itself, such as its key and its ledger.
    let fits = !session.is_empty() && session.len() <= MAX_ID && !session.starts_with('.');
    if fits && session.chars().all(plain) {
        Ok(())
    } else {
        Err(StoreError::BadSession(session.to_owned()))
    }
}

/// Returns the default path of a store's key: beside a database, inside a folder.
pub fn key_path(store: &Path) -> PathBuf {
    if store.is_dir() {
        return store.join(".key");
    }
    let mut name = store.as_os_str().to_owned();
    name.push(".key");
    name.into()
}

/// Opens a store: a folder of JSON Lines, or a database. A path that does not exist becomes a
/// database if its extension is `db`, `sqlite` or `sqlite3`, otherwise a folder. The default key is
/// the file at [`key_path`], which is created if it is missing; it is returned, since it also
/// encrypts the secrets of sessions.
///
/// # Errors
///
/// Returns an error if the path is not a store or cannot be used.
pub fn open(
    path: &Path,
    durability: Durability,
    key: Option<&Path>,
) -> Result<(Box<dyn Store>, Keys), StoreError> {
    // The metadata is read only once, because another process may create the path at this moment.
    let folder = match std::fs::metadata(path) {
        Ok(meta) => meta.is_dir(),
        Err(_) => !is_database_name(path),
    };
    if path.as_os_str().is_empty() {
        return Err(StoreError::NoStore(path.to_owned()));
    }
    let holder = if folder { Some(path) } else { path.parent() };
    if let Some(holder) = holder.filter(|holder| !holder.as_os_str().is_empty()) {
        std::fs::create_dir_all(holder).map_err(|error| StoreError::io(path, &error))?;
    }
    let beside = key_path(path);
    if !folder && key.is_none() {
        made_before_its_key(path, &beside, durability)?;
    }
    let keys = Keys::read_or_make(key.unwrap_or(&beside)).map_err(StoreError::Key)?;
    let ours = Some(keys.clone());
    let store: Box<dyn Store> = if folder {
        Box::new(FolderStore::open(path, durability, ours)?)
    } else {
        Box::new(SqliteStore::open(path, durability, ours)?)
    };
    Ok((store, keys))
}

/// Creates a database before its key. So a key without a database means that the database was lost,
/// and its sessions must not begin anew.
fn made_before_its_key(path: &Path, key: &Path, durability: Durability) -> Result<(), StoreError> {
    if !key.exists() {
        return SqliteStore::open(path, durability, None).map(drop);
    }
    let meta = std::fs::metadata(path).ok();
    if meta.as_ref().is_some_and(|meta| !meta.is_file()) {
        return Ok(());
    }
    let is_gone = meta.is_none_or(|meta| meta.len() == 0);
    match SqliteStore::open_existing(path, durability, None) {
        Err(StoreError::NoStore(_) | StoreError::Io(..)) if is_gone => {
            let key = key.display();
            let why = format!(
                "is missing or empty, but its key `{key}` exists: restore the database, or delete the key to begin a new one"
            );
            Err(StoreError::lost(path, &why))
        }
        other => other.map(drop),
    }
}

/// Opens an existing store and creates nothing. Without a key, snapshots are neither trusted nor
/// shown.
///
/// # Errors
///
/// Returns an error if the path does not exist or is not a store.
pub fn open_existing(
    path: &Path,
    durability: Durability,
    keys: Option<Keys>,
) -> Result<Box<dyn Store>, StoreError> {
    Ok(if path.is_dir() {
        Box::new(FolderStore::open(path, durability, keys)?)
    } else {
        Box::new(SqliteStore::open_existing(path, durability, keys)?)
    })
}

/// Returns true if a path has the extension of a database.
pub fn is_database_name(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "db" || e == "sqlite" || e == "sqlite3")
}

/// The result of checking a commit, before anything is written.
pub(crate) enum Fit {
    /// The commit can be written; this is the new head.
    Yes(Head),
    /// Another process has committed since.
    Conflict(u64),
}

/// Checks whether a commit follows a chain.
pub(crate) fn fit(head: &Head, commit: &Commit<'_>) -> Result<Fit, StoreError> {
    if head.version != commit.version {
        return Ok(Fit::Conflict(head.version));
    }
    let mut next = *head;
    for record in commit.records {
        if record.contains('\n') {
            return Err(StoreError::Misfit("a record is more than a line".into()));
        }
        // A longer line could be written here and never be read again.
        if record.len() >= LINE_BYTES {
            let most = LINE_BYTES >> 20;
            return Err(StoreError::Misfit(format!("a record is longer than {most} MiB")));
        }
        let misfit = |broken: Break| {
            StoreError::Misfit(format!("record {} does not fit: {broken}", next.version))
        };
        next = next.follow(record.as_bytes()).map_err(misfit)?;
    }
    Ok(Fit::Yes(next))
}

/// Returns the amount spent of a budget after one more charge; `None` if it exceeds the limit.
pub(crate) fn charged(spent: i64, charge: &SharedCharge<'_>) -> Result<Option<i64>, StoreError> {
    // A negative charge would give a shared budget back to everybody.
    if charge.amount < 0 {
        let why = format!("a charge to `{}` is negative", charge.key);
        return Err(StoreError::Misfit(why));
    }
    Ok(spent.checked_add(charge.amount).filter(|sum| *sum <= charge.limit))
}

/// The new amounts spent, by budget.
pub(crate) type Sums<'c> = Vec<(&'c str, i64)>;

/// Adds the charges of a commit to the amounts spent. Returns the new amount for each key, or the
/// key that exceeds its limit.
pub(crate) fn charge_all<'c>(
    charges: &'c [SharedCharge<'c>],
    mut spent: impl FnMut(&str) -> Result<i64, StoreError>,
) -> Result<Result<Sums<'c>, Committed>, StoreError> {
    let mut sums: Sums<'c> = Vec::with_capacity(charges.len());
    for charge in charges {
        let known = sums.iter().position(|(key, _)| *key == charge.key);
        let before = match known {
            // One commit may charge a budget twice, and the limit holds for the sum.
            Some(at) => sums[at].1,
            None => spent(charge.key)?,
        };
        let Some(sum) = charged(before, charge)? else {
            return Ok(Err(Committed::OverBudget { key: charge.key.to_owned(), spent: before }));
        };
        match known {
            Some(at) => sums[at].1 = sum,
            None => sums.push((charge.key, sum)),
        }
    }
    Ok(Ok(sums))
}

/// Locks a mutex, also after a panic of another thread. A folder marks a session broken before it is
/// changed, a database ends its transaction, and the other changes are made in one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
