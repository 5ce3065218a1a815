//! Group commit: one thread writes the commits of all sessions of this process in one transaction.
//!
//! Each caller waits until the transaction with its commit is on disk. The thread waits for further
//! commits at most as long as the window, and not at all once every open session is waiting.

use super::super::ledger::LedgerSums;
use super::super::{Commit, Committed, SharedCharge, StoreError};
use super::handle::Handle;
use super::{lock, rows};
use crate::keys::Keys;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The maximum number of commits in a transaction; more would wait for each other longer than the
/// window.
const MOST: usize = 4096;

/// The writing thread.
#[derive(Debug)]
pub struct Batch {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Mutex<WaitingBatch>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct WaitingBatch {
    jobs: Vec<BatchJob>,
    open: HashSet<String>,
    closed: bool,
}

/// A waiting commit, with its data.
#[derive(Debug)]
struct BatchJob {
    session: String,
    version: u64,
    records: Vec<String>,
    snapshot: Option<Vec<u8>>,
    charges: Vec<(String, i64, i64)>,
    answer: SyncSender<Result<Committed, StoreError>>,
}

impl Batch {
    /// Starts the thread.
    pub fn start(
        handle: Handle,
        path: PathBuf,
        keys: Option<Keys>,
        window: Duration,
    ) -> Result<Batch, StoreError> {
        let queue = Arc::new(Queue::default());
        let ours = queue.clone();
        let writer = BatchWriter { handle, path: path.clone(), keys };
        let thread = std::thread::Builder::new()
            .name("guard-store".into())
            .spawn(move || writer.run(&ours, window))
            .map_err(|error| StoreError::io(&path, &error))?;
        Ok(Batch { queue, thread: Some(thread) })
    }

    /// Registers an open session, which may commit.
    pub fn enter(&self, session: &str) {
        lock(&self.queue.waiting).open.insert(session.to_owned());
    }

    /// Removes a session that is no longer open.
    pub fn leave(&self, session: &str) {
        lock(&self.queue.waiting).open.remove(session);
        self.queue.changed.notify_all();
    }

    /// Commits together with other sessions.
    pub fn commit(&self, session: &str, commit: &Commit<'_>) -> Result<Committed, StoreError> {
        let (answer, answered) = sync_channel(1);
        let charge =
            |charge: &SharedCharge<'_>| (charge.key.to_owned(), charge.amount, charge.limit);
        let job = BatchJob {
            session: session.to_owned(),
            version: commit.version,
            records: commit.records.iter().map(|record| (*record).to_owned()).collect(),
            snapshot: commit.snapshot.map(<[u8]>::to_vec),
            charges: commit.charges.iter().map(charge).collect(),
            answer,
        };
        let mut waiting = lock(&self.queue.waiting);
        waiting.jobs.push(job);
        // The thread is woken only by the first commit, to begin waiting, and by the last, to begin
        // writing.
        let wakes = waiting.jobs.len() == 1 || waiting.is_full();
        drop(waiting);
        if wakes {
            self.queue.changed.notify_all();
        }
        // If the thread is gone, nobody knows whether the commit was stored.
        answered.recv().unwrap_or_else(|_| Err(StoreError::Refused(session.to_owned())))
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        lock(&self.queue.waiting).closed = true;
        self.queue.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Queue {
    /// Returns the next group of commits; `None` after all senders are gone.
    fn next(&self, window: Duration) -> Option<Vec<BatchJob>> {
        let mut waiting = lock(&self.waiting);
        while waiting.jobs.is_empty() {
            if waiting.closed {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        let until = Instant::now() + window;
        while !waiting.is_full() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let woken = self.changed.wait_timeout(waiting, left);
            waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        let most = waiting.jobs.len().min(MOST);
        Some(waiting.jobs.drain(..most).collect())
    }
}

impl WaitingBatch {
    /// Returns true if every open session is waiting.
    fn is_full(&self) -> bool {
        self.closed || self.jobs.len() >= self.open.len().min(MOST)
    }
}

struct BatchWriter {
    handle: Handle,
    path: PathBuf,
    keys: Option<Keys>,
}

impl BatchWriter {
    fn run(mut self, queue: &Queue, window: Duration) {
        while let Some(jobs) = queue.next(window) {
            let done = self.write(&jobs);
            for (job, done) in jobs.into_iter().zip(done) {
                // The receiver may be gone.
                let _ = job.answer.send(done);
            }
        }
    }

    /// Runs one transaction. Commits that do not fit are omitted. If writing fails, all commits
    /// fail.
    fn write(&mut self, jobs: &[BatchJob]) -> Vec<Result<Committed, StoreError>> {
        let keys = self.keys.as_ref();
        let sessions: Vec<&str> = jobs.iter().map(|job| job.session.as_str()).collect();
        let written = self.handle.writing(&sessions, |rows, ledger| {
            let mut write = |job: &BatchJob| match job.commit(rows, keys, ledger) {
                // A disk error spoils the whole transaction, while a commit that does not fit is
                // only left out.
                Err(error) if error.is_of_writing() => Err(error),
                done => Ok(done),
            };
            jobs.iter().map(&mut write).collect::<Result<Vec<_>, _>>()
        });
        match written {
            Ok(done) => done,
            Err(error) => jobs.iter().map(|_| Err(again(&error, &self.path))).collect(),
        }
    }
}

/// Returns the same error for another session.
fn again(error: &StoreError, path: &Path) -> StoreError {
    match error {
        StoreError::Locked(path) => StoreError::Locked(path.clone()),
        StoreError::Full(path) => StoreError::Full(path.clone()),
        StoreError::Damaged { path, session, record, why } => StoreError::Damaged {
            path: path.clone(),
            session: session.clone(),
            record: *record,
            why: why.clone(),
        },
        StoreError::Io(path, why) => StoreError::Io(path.clone(), why.clone()),
        StoreError::Lost { path, why } => StoreError::lost(path, why),
        other => StoreError::Io(path.to_owned(), other.to_string()),
    }
}

impl BatchJob {
    fn commit(
        &self,
        rows: &rows::OpenTransaction<'_>,
        keys: Option<&Keys>,
        ledger: &mut LedgerSums,
    ) -> Result<Committed, StoreError> {
        let records: Vec<&str> = self.records.iter().map(String::as_str).collect();
        let charges: Vec<SharedCharge<'_>> = self
            .charges
            .iter()
            .map(|(key, amount, limit)| SharedCharge { key, amount: *amount, limit: *limit })
            .collect();
        let commit = Commit {
            version: self.version,
            records: &records,
            snapshot: self.snapshot.as_deref(),
            charges: &charges,
        };
        rows.commit(&self.session, &commit, keys, ledger)
    }
}
