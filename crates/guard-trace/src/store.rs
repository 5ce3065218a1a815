//! Stores: where the records of sessions are kept, and what a caller may rely on.
//!
//! A store takes a commit whole or not at all, after what it has and nothing else, and says so only when it is as
//! durable as was asked for. It follows the chain and reads nothing else of a record. What a record means, and what
//! a session remembers, is for the runtime.

mod error;
mod folder;
mod memory;
mod sqlite;

pub use error::StoreError;
pub use folder::FolderStore;
pub use memory::MemoryStore;
pub use sqlite::{APPLICATION_ID, SCHEMA_VERSION, SqliteStore};

use crate::keys::Keys;
use crate::line::{Break, Head};
use guard_plan::encode::Hash;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest id of a session, in bytes.
pub const MAX_ID: usize = 128;

/// How durable a commit is when a store acknowledges it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// On disk, each by itself.
    #[default]
    Full,
    /// On disk, together with what others commit meanwhile; it waits for them at most this long.
    Batch(Duration),
    /// With the operating system: it survives the end of the process, and not that of the machine.
    Off,
}

/// A session as a store has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Begun {
    /// Where its chain stands; all zeros where the store knows nothing of it.
    pub head: Head,
    /// The last snapshot that the host left, where it is what the host left.
    pub snapshot: Option<Taken>,
    /// Something stood in the place of a snapshot and was not used: it was changed, or made with another key.
    pub distrusted: bool,
    /// The records after the snapshot, all where there is none; without their ends.
    pub records: Vec<String>,
}

/// A snapshot: what a session remembered after a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// How many records there had been.
    pub version: u64,
    /// The hash of the last one.
    pub hash: Hash,
    /// What the host gave.
    pub bytes: Vec<u8>,
}

/// What is to be kept, whole or not at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Commit<'c> {
    /// How many records the caller knows of.
    pub version: u64,
    /// The next ones, without their ends.
    pub records: &'c [&'c str],
    /// What the session remembers after them, in a form of the host's.
    pub snapshot: Option<&'c [u8]>,
    /// What is charged to budgets that sessions share.
    pub charges: &'c [Charge<'c>],
}

/// A charge to a budget that the sessions of one store share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charge<'c> {
    /// The budget, as hosts name it.
    pub key: &'c str,
    /// How much, in 10⁻⁶ units; never negative.
    pub amount: i64,
    /// What may be spent in all, in 10⁻⁶ units.
    pub limit: i64,
}

/// What became of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Committed {
    /// It is kept.
    Yes(Head),
    /// Others have committed to the session since; nothing is kept. The caller begins again.
    Conflict {
        /// How many records there are.
        version: u64,
    },
    /// A charge passes its limit; nothing is kept.
    OverBudget {
        /// The budget.
        key: String,
        /// What is spent of it, in 10⁻⁶ units.
        spent: i64,
    },
}

/// Records in their order, each without its end.
pub type Records<'s> = Box<dyn Iterator<Item = Result<String, StoreError>> + Send + 's>;

/// Where traces are kept. Every method may be called from any thread.
pub trait Store: Send + Sync {
    /// Takes a session up, or begins it. Where a store lets one process have a session at a time, it is ours until
    /// [`Store::release`]. After a failed commit, this is what makes the session usable again.
    ///
    /// # Errors
    ///
    /// Where the session is damaged, in use, or cannot be read.
    fn begin(&self, session: &str) -> Result<Begun, StoreError>;

    /// Keeps records. When this returns, they are as durable as the store was asked for.
    ///
    /// # Errors
    ///
    /// Where they do not follow what is there ([`StoreError::Misfit`]), or cannot be written. After an error in
    /// writing the session stays readable, and every further commit to it is refused until it is begun again.
    fn commit(&self, session: &str, commit: &Commit<'_>) -> Result<Committed, StoreError>;

    /// Gives a session up; others may have it.
    fn release(&self, session: &str);

    /// All sessions with a record, sorted.
    ///
    /// # Errors
    ///
    /// Where the store cannot be read.
    fn sessions(&self) -> Result<Vec<String>, StoreError>;

    /// Where the chain of a session stands; none where the store knows nothing of it.
    ///
    /// # Errors
    ///
    /// Where the store cannot be read, or the last record is none.
    fn head(&self, session: &str) -> Result<Option<Head>, StoreError>;

    /// The records of a session from a number on, read as they are asked for. They are not checked.
    ///
    /// # Errors
    ///
    /// Where the store cannot be read.
    fn records(&self, session: &str, from: u64) -> Result<Records<'_>, StoreError>;

    /// The last snapshot that the host left; whether something else stood in its place.
    ///
    /// # Errors
    ///
    /// Where the store cannot be read.
    fn snapshot(&self, session: &str) -> Result<(Option<Taken>, bool), StoreError>;

    /// What is spent of a budget that sessions share, in 10⁻⁶ units.
    ///
    /// # Errors
    ///
    /// Where the store cannot be read.
    fn spent(&self, key: &str) -> Result<i64, StoreError>;

    /// Drops the records of a session before the one with this number, which must be a snapshot record.
    ///
    /// # Errors
    ///
    /// Where it is none, or the store cannot be written.
    fn forget(&self, session: &str, before: u64) -> Result<(), StoreError>;

    /// Drops a session whole; whether there was one.
    ///
    /// # Errors
    ///
    /// Where it is in use, or the store cannot be written.
    fn remove(&self, session: &str) -> Result<bool, StoreError>;
}

/// Whether an id can be that of a session in a store: ids become file names, and move from store to store.
///
/// # Errors
///
/// [`StoreError::BadSession`].
pub fn check_id(session: &str) -> Result<(), StoreError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let fits = !session.is_empty() && session.len() <= MAX_ID && !session.starts_with('.');
    match fits && session.chars().all(plain) {
        true => Ok(()),
        false => Err(StoreError::BadSession(session.to_owned())),
    }
}

/// Where the key of a store lies that has none named: beside a database, inside a folder.
pub fn key_path(store: &Path) -> PathBuf {
    if store.is_dir() {
        return store.join(".key");
    }
    let mut name = store.as_os_str().to_owned();
    name.push(".key");
    name.into()
}

/// Opens what is there: a folder of JSON Lines, or a database. A path that names nothing becomes a database where its
/// extension is `db`, `sqlite` or `sqlite3`, otherwise a folder. The key is the file at [`key_path`] where none is
/// named, and is made where it is missing; it comes back, since it keeps the secrets of sessions too.
///
/// # Errors
///
/// Where it is something else, or cannot be used.
pub fn open(
    path: &Path,
    durability: Durability,
    key: Option<&Path>,
) -> Result<(Box<dyn Store>, Keys), StoreError> {
    let folder = path.is_dir() || !(path.exists() || is_database_name(path));
    if folder {
        std::fs::create_dir_all(path).map_err(|error| StoreError::io(path, &error))?;
    }
    let key = key.map_or_else(|| key_path(path), Path::to_owned);
    let keys = Keys::read_or_make(&key).map_err(StoreError::Key)?;
    let ours = Some(keys.clone());
    let store: Box<dyn Store> = match folder {
        true => Box::new(FolderStore::open(path, durability, ours)?),
        false => Box::new(SqliteStore::open(path, durability, ours)?),
    };
    Ok((store, keys))
}

/// Opens what is there, and makes nothing. Without a key snapshots are neither trusted nor shown.
///
/// # Errors
///
/// Where nothing is there, or it is something else.
pub fn open_existing(
    path: &Path,
    durability: Durability,
    keys: Option<Keys>,
) -> Result<Box<dyn Store>, StoreError> {
    Ok(match path.is_dir() {
        true => Box::new(FolderStore::open(path, durability, keys)?),
        false => Box::new(SqliteStore::open_existing(path, durability, keys)?),
    })
}

/// Whether a path has the extension of a database.
pub fn is_database_name(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "db" || e == "sqlite" || e == "sqlite3")
}

/// What a commit comes to, before anything is written.
pub(crate) enum Fit {
    /// It can be written; the chain stands here then.
    Yes(Head),
    /// Others were first.
    Conflict(u64),
}

/// Whether a commit follows a chain.
pub(crate) fn fit(head: &Head, commit: &Commit<'_>) -> Result<Fit, StoreError> {
    if head.version != commit.version {
        return Ok(Fit::Conflict(head.version));
    }
    let mut next = *head;
    for record in commit.records {
        if record.contains('\n') {
            return Err(StoreError::Misfit("a record is more than a line".into()));
        }
        let misfit = |broken: Break| {
            StoreError::Misfit(format!("record {} does not fit: {broken}", next.version))
        };
        next = next.follow(record.as_bytes()).map_err(misfit)?;
    }
    Ok(Fit::Yes(next))
}

/// What is spent of a budget with one more charge; none where it passes the limit.
pub(crate) fn charged(spent: i64, charge: &Charge<'_>) -> Result<Option<i64>, StoreError> {
    if charge.amount < 0 {
        let why = format!("a charge to `{}` is negative", charge.key);
        return Err(StoreError::Misfit(why));
    }
    Ok(spent.checked_add(charge.amount).filter(|sum| *sum <= charge.limit))
}

/// What budgets come to.
pub(crate) type Sums<'c> = Vec<(&'c str, i64)>;

/// The charges of a commit, added to what is spent; what each key comes to, or the one that passes its limit.
pub(crate) fn charge_all<'c>(
    charges: &'c [Charge<'c>],
    mut spent: impl FnMut(&str) -> Result<i64, StoreError>,
) -> Result<Result<Sums<'c>, Committed>, StoreError> {
    let mut sums: Sums<'c> = Vec::with_capacity(charges.len());
    for charge in charges {
        let known = sums.iter().position(|(key, _)| *key == charge.key);
        let before = match known {
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
