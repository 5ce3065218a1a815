//! Budgets that the sessions of a folder share: one file of amounts, replaced as a whole, under a
//! lock.

use super::super::StoreError;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The amounts, locked against changes by other processes.
pub struct Budgets {
    _lock: File,
    path: PathBuf,
    sums: BTreeMap<String, i64>,
}

impl Budgets {
    /// Waits for the lock, and reads the amounts.
    pub fn lock(dir: &Path) -> Result<Budgets, StoreError> {
        let path = dir.join(".budgets");
        let fail = |error: std::io::Error| StoreError::io(&path, &error);
        let mut options = OpenOptions::new();
        let lock = options.append(true).create(true).open(dir.join(".budgets.lock"));
        let lock = lock.map_err(fail)?;
        lock.lock().map_err(fail)?;
        let sums = match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| StoreError::Damaged {
                path: path.clone(),
                session: None,
                record: None,
                why: error.to_string(),
            })?,
            Err(error) if error.kind() == ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(fail(error)),
        };
        Ok(Budgets { _lock: lock, path, sums })
    }

    /// Returns the amount spent of one budget.
    pub fn spent(&self, key: &str) -> i64 {
        self.sums.get(key).copied().unwrap_or_default()
    }

    /// Stores new amounts; they are on disk on return.
    pub fn keep(mut self, sums: Vec<(&str, i64)>) -> Result<(), StoreError> {
        self.sums.extend(sums.into_iter().map(|(key, sum)| (key.to_owned(), sum)));
        let draft = self.path.with_extension("draft");
        let fail = |error: std::io::Error| StoreError::io(&self.path, &error);
        let text = serde_json::to_vec(&self.sums).map_err(|error| fail(error.into()))?;
        let written = File::create(&draft).and_then(|mut file| {
            file.write_all(&text)?;
            file.sync_all()
        });
        written.and_then(|()| fs::rename(&draft, &self.path)).map_err(fail)
    }
}
