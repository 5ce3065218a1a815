//! Limits on the size of a session's state and on the size of a store. Beyond them no call is
//! decided and no session begins. Calls that were allowed before can still be settled, and people
//! can still approve, refuse and resume.

use crate::error::SessionError;
use guard_trace::store::Store;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time for which a measured size is used. Bytes that are written in that time are added to it.
const FRESH: Duration = Duration::from_secs(1);

/// The maximum growth of the state by one record, as a multiple of the record's size, unless rows
/// are derived from each other.
const GROWTH: u64 = 8;

/// The number of records after which the state of a session is measured, whatever their size.
const MEASURE_EVERY: u64 = 64;

/// The limit on the size of a store.
#[derive(Debug)]
pub(crate) struct StoreLimit {
    bytes: u64,
    path: Option<PathBuf>,
    measured: Mutex<Option<(Instant, u64)>>,
}

impl StoreLimit {
    pub fn new(bytes: u64, path: Option<PathBuf>) -> Arc<StoreLimit> {
        Arc::new(StoreLimit { bytes, path, measured: Mutex::default() })
    }

    fn measured(&self) -> std::sync::MutexGuard<'_, Option<(Instant, u64)>> {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns an error if the store is full.
    pub fn expect_room(&self, store: &dyn Store) -> Result<(), SessionError> {
        let mut measured = self.measured();
        let bytes = match *measured {
            Some((at, bytes)) if at.elapsed() < FRESH => bytes,
            _ => {
                let bytes = store.size()?;
                *measured = Some((Instant::now(), bytes));
                bytes
            }
        };
        if bytes < self.bytes {
            Ok(())
        } else {
            let path = self.path.clone();
            let limit = self.bytes;
            Err(SessionError::StoreFull { path, limit, bytes })
        }
    }

    /// Adds the size of written records.
    pub fn added(&self, bytes: usize) {
        if let Some((_, sum)) = &mut *self.measured() {
            *sum = sum.saturating_add(bytes as u64);
        }
    }
}

/// The limit on the size of a session's state.
#[derive(Debug, Default)]
pub(crate) struct MemoryLimit {
    /// The limit in bytes; `None` if there is no limit.
    pub bytes: Option<u64>,
    measured: u64,
    /// The maximum growth since the last measurement, in bytes, and the number of records since
    /// then.
    grown: (u64, u64),
}

impl MemoryLimit {
    /// Counts a record of the session.
    pub fn added(&mut self, record: usize) {
        let (bytes, records) = self.grown;
        self.grown = (bytes.saturating_add(GROWTH.saturating_mul(record as u64)), records + 1);
    }

    /// Returns an error if the state of the session is larger than the limit.
    pub fn expect_room(&mut self, measure: impl FnOnce() -> usize) -> Result<(), SessionError> {
        let Some(limit) = self.bytes else { return Ok(()) };
        let (grown, records) = self.grown;
        if records >= MEASURE_EVERY || self.measured.saturating_add(grown) >= limit {
            self.measured = measure() as u64;
            self.grown = (0, 0);
        }
        if self.measured < limit {
            Ok(())
        } else {
            Err(SessionError::TooLarge { limit, bytes: self.measured })
        }
    }
}
