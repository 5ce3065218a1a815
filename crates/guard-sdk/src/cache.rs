//! A cache of compiled guards, keyed by the content of their sources. Opening a session then does
//! not compile the guard again.

use crate::error::GuardError;
use crate::guard::Guard;
use crate::sources;
use guard_plan::encode::Hash;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A cache of compiled guards, keyed by the content of their files. Threads share it.
///
/// A guard is compiled again if its text, or a file that it uses, has changed. When the cache is
/// full, the oldest guard is removed. Sessions that use that guard keep it.
///
/// ```
/// let cache = guard_sdk::GuardCache::new(64);
/// let first = cache.compile("demo.guard", "guard demo\ntool ping()")?;
/// let again = cache.compile("demo.guard", "guard demo\ntool ping()")?;
/// assert_eq!(first.plan_hash(), again.plan_hash());
/// assert_eq!(cache.len(), 1);
/// # Ok::<(), guard_sdk::GuardError>(())
/// ```
pub struct GuardCache {
    capacity: usize,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    guards: HashMap<CachedSource, CachedGuard>,
    uses: u64,
}

/// The path of a guard, which its `use` paths are relative to, and the hash of its text.
type CachedSource = (PathBuf, Hash);

struct CachedGuard {
    guard: Guard,
    /// The files that the guard uses, with the hashes of their texts.
    used: Vec<(PathBuf, Hash)>,
    last_use: u64,
}

fn hash(text: &[u8]) -> Hash {
    Sha256::digest(text).into()
}

impl GuardCache {
    /// Creates an empty cache for at most `capacity` guards.
    pub fn new(capacity: usize) -> GuardCache {
        GuardCache { capacity: capacity.max(1), entries: Mutex::default() }
    }

    /// Returns the number of guards in the cache.
    pub fn len(&self) -> usize {
        self.entries().guards.len()
    }

    /// Returns true if the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Loads a guard like [`Guard::from_file`], and keeps it in the cache.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("demo.guard");
    /// std::fs::write(&path, "guard demo\ntool ping()").unwrap();
    /// let cache = guard_sdk::GuardCache::new(64);
    /// assert_eq!(cache.load(&path)?.name(), "demo");
    /// std::fs::write(&path, "guard other\ntool ping()").unwrap();
    /// assert_eq!(cache.load(&path)?.name(), "other");
    /// # Ok::<(), guard_sdk::GuardError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Guard::from_file`].
    pub fn load(&self, path: impl AsRef<Path>) -> Result<Guard, GuardError> {
        let path = path.as_ref();
        let unreadable = |why| GuardError::Unreadable(sources::display(path), why);
        let bytes = sources::read_bytes(path).map_err(unreadable)?;
        if !sources::is_plan(&bytes) {
            return self.compile(path, sources::utf8(bytes).map_err(unreadable)?);
        }
        let key = (PathBuf::new(), hash(&bytes));
        match self.find(&key) {
            Some(guard) => Ok(guard),
            None => Ok(self.keep(key, Guard::from_plan_bytes(&bytes)?, Vec::new())),
        }
    }

    /// Compiles a guard like [`Guard::compile`], and keeps it in the cache.
    ///
    /// ```
    /// let cache = guard_sdk::GuardCache::new(1);
    /// cache.compile("a.guard", "guard a\ntool ping()")?;
    /// cache.compile("b.guard", "guard b\ntool ping()")?;
    /// assert_eq!(cache.len(), 1);
    /// # Ok::<(), guard_sdk::GuardError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Guard::compile`].
    pub fn compile(
        &self,
        path: impl AsRef<Path>,
        text: impl Into<String>,
    ) -> Result<Guard, GuardError> {
        let path = path.as_ref();
        let text = text.into();
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let key = (absolute, hash(text.as_bytes()));
        if let Some(guard) = self.find(&key) {
            return Ok(guard);
        }
        // The lock is not held, so that other threads continue while this one compiles.
        let source = sources::compile(path, text, None);
        let used = source.used.iter();
        let used = used.map(|(path, text)| (path.clone(), hash(text.as_bytes()))).collect();
        Ok(self.keep(key, Guard::from_compiled(source)?, used))
    }

    /// Returns the guard under a key, if the files that it uses have not changed.
    fn find(&self, key: &CachedSource) -> Option<Guard> {
        let mut entries = self.entries();
        entries.uses += 1;
        let now = entries.uses;
        let entry = entries.guards.get_mut(key)?;
        let unchanged = |(path, was): &(PathBuf, Hash)| {
            sources::read_bytes(path).is_ok_and(|bytes| hash(&bytes) == *was)
        };
        if !entry.used.iter().all(unchanged) {
            entries.guards.remove(key);
            return None;
        }
        entry.last_use = now;
        Some(entry.guard.clone())
    }

    fn keep(&self, key: CachedSource, guard: Guard, used: Vec<(PathBuf, Hash)>) -> Guard {
        let mut entries = self.entries();
        if entries.guards.len() >= self.capacity {
            let oldest = entries.guards.iter().min_by_key(|(_, entry)| entry.last_use);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                entries.guards.remove(&oldest);
            }
        }
        let last_use = entries.uses;
        entries.guards.insert(key, CachedGuard { guard: guard.clone(), used, last_use });
        guard
    }

    /// A panic of another thread leaves the entries consistent: each change is one insertion or
    /// removal.
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
