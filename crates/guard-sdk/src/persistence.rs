//! Persistence of a session: each record is in the store before the caller gets the result, and a
//! session resumes from these records.

mod durable;

use crate::approvals::ApprovalLog;
use crate::error::{ApprovalError, SessionError};
use crate::guard::Guard;
use crate::limits::{MemoryLimit, StoreLimit};
use guard_plan::plan::UnitId;
use guard_runtime::{Recorder, Salt, Secrets};
use guard_trace::Keys;
use guard_trace::store::{self, Durability, SharedCharge, Store, StoreError};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The number of records after which a snapshot is written to the store.
const SNAPSHOT_EVERY: u64 = 500;

/// The maximum number of attempts to decide an event. An attempt fails when another process has written to the session.
const MAX_ATTEMPTS: usize = 100;

/// The maximum number of records that a session without a store keeps in memory. The last ones are kept.
const MAX_RETAINED: usize = 10_000;

/// The maximum size of the records that a session without a store keeps in memory, in bytes. The
/// last record is not counted.
const MAX_RETAINED_BYTES: usize = 8 << 20;

/// A store of sessions, with the key for their secrets. Cloning it is cheap, and threads share it.
#[derive(Clone)]
pub struct Storage {
    store: Arc<dyn Store>,
    keys: Keys,
    /// The path of the store, if it is on disk.
    path: Option<PathBuf>,
    limit: Option<Arc<StoreLimit>>,
}

impl Storage {
    /// Opens or creates a store: an SQLite database if the path ends in `.db`, `.sqlite` or
    /// `.sqlite3`, otherwise a folder of JSON Lines. Each record is on disk when it is
    /// acknowledged.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// use guard_sdk::Storage;
    /// let storage = Storage::open(&folder.path().join("sessions.db"))?;
    /// guard.session("s1").storage(&storage).open()?;
    /// assert!(storage.contains("s1")?);
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the path is something else, or cannot be used.
    pub fn open(path: &Path) -> Result<Storage, StoreError> {
        Storage::open_with(path, Durability::Full, None)
    }

    /// Opens a store as [`Storage::open`] does, with a durability level and a key file. Without a
    /// key file, the key is stored beside the records.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// use guard_sdk::{Durability, Storage};
    /// // The agent may read the folder of the records, and not that of the key.
    /// let key = folder.path().join("store.key");
    /// let storage = Storage::open_with(&folder.path().join("sessions"), Durability::Off, Some(&key))?;
    /// assert!(guard.session("s1").storage(&storage).open()?.is_keyed());
    /// assert!(key.exists());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Storage::open`].
    pub fn open_with(
        path: &Path,
        durability: Durability,
        key: Option<&Path>,
    ) -> Result<Storage, StoreError> {
        let (store, keys) = store::open(path, durability, key)?;
        Ok(Storage { store: store.into(), keys, path: Some(path.to_owned()), limit: None })
    }

    /// Uses a store that is already open, or an implementation of the caller.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// use guard_sdk::{Keys, Storage};
    /// use guard_trace::store::MemoryStore;
    /// let storage = Storage::of_store(std::sync::Arc::new(MemoryStore::new()), Keys::new([7; 32]));
    /// let session = guard.session("s1").storage(&storage).open()?;
    /// assert_eq!(session.stored_records(), 1);
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn of_store(store: Arc<dyn Store>, keys: Keys) -> Storage {
        Storage { store, keys, path: None, limit: None }
    }

    /// Limits the size of the store, in bytes. When the store is full, no session begins and no
    /// call is decided ([`SessionError::StoreFull`]), but calls in flight can be settled. The size
    /// is measured once a second.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// let storage = guard_sdk::Storage::open(&folder.path().join("sessions"))?.limited_to(100);
    /// guard.session("s1").storage(&storage).open()?;
    /// let error = guard.session("s2").storage(&storage).open().err().expect("the store is full");
    /// assert_eq!(error.code(), "store_full");
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    #[must_use]
    pub fn limited_to(mut self, bytes: u64) -> Storage {
        self.limit = Some(StoreLimit::new(bytes, self.path.clone()));
        self
    }

    fn expect_room(&self) -> Result<(), SessionError> {
        self.limit.as_ref().map_or(Ok(()), |limit| limit.expect_room(&*self.store))
    }

    /// Returns the underlying store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns the requests for approval of its sessions, with their answers.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// let storage = guard_sdk::Storage::open(&folder.path().join("sessions"))?;
    /// assert!(storage.approvals()?.requests(None)?.is_empty());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ApprovalError::NoFolder`] if the store is not on disk.
    pub fn approvals(&self) -> Result<ApprovalLog, ApprovalError> {
        let path = self.path.as_deref().ok_or(ApprovalError::NoFolder)?;
        Ok(ApprovalLog::beside(path, self.keys.clone()))
    }

    /// Returns true if the store contains the session.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// let storage = guard_sdk::Storage::open(&folder.path().join("sessions"))?;
    /// assert!(!storage.contains("s1")?);
    /// guard.session("s1").storage(&storage).open()?;
    /// assert!(storage.contains("s1")?);
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    pub fn contains(&self, session: &str) -> Result<bool, StoreError> {
        self.store.head(session).map(|head| head.is_some())
    }
}

/// A unit of a guard that is charged to a budget in the store. Other sessions charge the same
/// budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedBudget {
    /// The unit of the guard.
    pub unit: String,
    /// The budget's key in the store.
    pub key: String,
    /// The limit on the total amount spent, in 10⁻⁶ units, at least 0.
    pub limit: i64,
}

/// The destination of a session's records: its store, or memory.
pub(crate) struct Persistence {
    storage: Option<Storage>,
    secrets: Arc<dyn Secrets>,
    /// True if `secrets` can seal.
    keyed: bool,
    shared: Vec<(UnitId, SharedBudget)>,
    /// The last records of a session without a store.
    retained: VecDeque<String>,
    retained_bytes: usize,
    snapshot_at: u64,
    pub(crate) memory: MemoryLimit,
    /// True if records are decided again when the session resumes, even if its store has a
    /// snapshot.
    pub(crate) replays: bool,
    /// True if the store and the session may differ. No event is accepted until the session is
    /// opened again.
    failed: bool,
}

impl Persistence {
    pub(crate) fn new(
        storage: Option<&Storage>,
        keys: Option<&Keys>,
        id: &str,
        shared: Vec<SharedBudget>,
        guard: &Guard,
    ) -> Result<Persistence, SessionError> {
        let keys = storage.map(|storage| &storage.keys).or(keys);
        let secrets: Arc<dyn Secrets> = match keys {
            Some(keys) => Arc::new(keys.session(id)),
            None => Arc::new(Salt::new(&random_bytes::<32>()?)),
        };
        if !shared.is_empty() && storage.is_none() {
            let why = "a shared budget is kept in a store, and the session has none";
            return Err(SessionError::SharedBudget(why.into()));
        }
        let shared = shared.into_iter().map(|budget| unit_of(guard, budget));
        Ok(Persistence {
            storage: storage.cloned(),
            secrets,
            keyed: keys.is_some(),
            shared: shared.collect::<Result<_, _>>()?,
            retained: VecDeque::new(),
            retained_bytes: 0,
            snapshot_at: SNAPSHOT_EVERY,
            memory: MemoryLimit::default(),
            replays: false,
            failed: false,
        })
    }

    pub(crate) fn recorder(&self) -> Recorder {
        Recorder::new(Arc::clone(&self.secrets))
    }

    pub(crate) fn secrets(&self) -> Arc<dyn Secrets> {
        Arc::clone(&self.secrets)
    }

    /// Returns the budgets that the session shares.
    pub(crate) fn shared_budgets(&self) -> Vec<SharedBudget> {
        self.shared.iter().map(|(_, budget)| budget.clone()).collect()
    }

    /// Charges these budgets from now on, and returns the previous ones.
    pub(crate) fn share(
        &mut self,
        shared: Vec<(UnitId, SharedBudget)>,
    ) -> Vec<(UnitId, SharedBudget)> {
        std::mem::replace(&mut self.shared, shared)
    }

    fn retain(&mut self, record: &str) {
        self.retained_bytes += record.len();
        self.retained.push_back(record.to_owned());
        while self.retained.len() > 1
            && (self.retained.len() > MAX_RETAINED || self.retained_bytes > MAX_RETAINED_BYTES)
        {
            let gone = self.retained.pop_front();
            self.retained_bytes -= gone.map_or(0, |record| record.len());
        }
    }

    /// Returns the charges of an allowed call to shared budgets.
    fn charges(&self, charged: &[(UnitId, i64)]) -> Vec<SharedCharge<'_>> {
        let shared = self.shared.iter().flat_map(|(unit, budget)| {
            let amounts = charged.iter().filter(move |(charged, _)| charged == unit);
            amounts.map(move |(_, amount)| SharedCharge {
                key: &budget.key,
                amount: *amount,
                limit: budget.limit,
            })
        });
        shared.collect()
    }
}

/// Returns the id in a guard of the unit of a shared budget.
pub(crate) fn unit_of(
    guard: &Guard,
    budget: SharedBudget,
) -> Result<(UnitId, SharedBudget), SessionError> {
    if budget.limit < 0 {
        let why = format!("the limit of the shared budget `{}` is negative", budget.key);
        return Err(SessionError::SharedBudget(why));
    }
    let units = || guard.plan().units.iter().map(|unit| unit.name.as_str());
    match units().position(|unit| unit == budget.unit) {
        Some(unit) => Ok((unit as UnitId, budget)),
        None => {
            let near = guard_plan::near::nearest(&budget.unit, units());
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let why = format!("the guard has no unit `{}`{near}", budget.unit);
            Err(SessionError::SharedBudget(why))
        }
    }
}

/// Returns unpredictable random bytes from the system.
///
/// ```
/// let (one, other) = (guard_sdk::random_bytes::<32>()?, guard_sdk::random_bytes::<32>()?);
/// assert_ne!(one, other);
/// let keys = guard_sdk::Keys::new(one);
/// # let _ = keys;
/// # Ok::<(), guard_sdk::SessionError>(())
/// ```
///
/// # Errors
///
/// [`SessionError::Random`] if the system provides none.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], SessionError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| SessionError::Random(error.to_string()))?;
    Ok(bytes)
}
