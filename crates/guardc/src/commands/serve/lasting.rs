//! Persistence of a session: each record is stored before the caller receives the answer, and a
//! session is resumed from its store.
//!
//! `guard-trace` implements the storage besides the records, and the resumption.

use super::live::{Live, Opening, step};
use super::rpc::Error;
use guard_plan::json::Json;
use guard_plan::plan::UnitId;
use guard_plan::verdict::Decision;
use guard_runtime::{Event, Outcome, Recorder, Salt, Secrets};
use guard_trace::store::{self, Begun, Charge, Commit, Committed, Durability, Store, StoreError};
use guard_trace::{Keys, ResumeError, Resumed, recall, remember, resume};
use std::path::Path;
use std::sync::Arc;

/// The number of records between stored snapshots.
const SNAPSHOT_EVERY: u64 = 500;

/// The maximum number of attempts to decide an event while other processes write to the session.
const TRIES: usize = 100;

/// A store, and the key to the secrets of its sessions.
#[derive(Clone)]
pub struct Stored {
    pub(super) store: Arc<dyn Store>,
    keys: Keys,
}

impl Stored {
    /// Opens a folder or a database, or creates it.
    pub fn open(path: &Path, durability: Durability, key: Option<&Path>) -> Result<Stored, Error> {
        let (store, keys) = store::open(path, durability, key).map_err(|e| failed(&e))?;
        Ok(Stored { store: store.into(), keys })
    }

    /// Returns whether it contains a session.
    pub fn has(&self, id: &str) -> Result<bool, Error> {
        self.store.head(id).map(|head| head.is_some()).map_err(|e| failed(&e))
    }
}

/// A unit whose budget several sessions share.
pub struct Shared {
    /// The unit.
    pub unit: UnitId,
    /// The budget in the store.
    pub key: String,
    /// The total limit, in units of 10⁻⁶.
    pub limit: i64,
}

/// The storage of a session.
pub struct Keeping {
    stored: Option<Stored>,
    secrets: Arc<dyn Secrets>,
    shared: Vec<Shared>,
    /// The records, if there is no store.
    records: Vec<String>,
    snapshot_at: u64,
    /// True if the store and the session may differ: no event is accepted until it is opened again.
    broken: bool,
}

impl Keeping {
    /// Returns the storage of a session with this id, in a store if there is one.
    pub fn new(stored: Option<Stored>, id: &str, shared: Vec<Shared>) -> Keeping {
        let secrets: Arc<dyn Secrets> = match &stored {
            Some(stored) => Arc::new(stored.keys.session(id)),
            None => Arc::new(Salt::new(&salt())),
        };
        let (records, snapshot_at) = (Vec::new(), SNAPSHOT_EVERY);
        Keeping { stored, secrets, shared, records, snapshot_at, broken: false }
    }

    /// A recorder for a new session.
    pub fn recorder(&self) -> Recorder {
        Recorder::new(Arc::clone(&self.secrets))
    }
}

impl Live {
    /// Begins the session in its store, or resumes it at the end of its trace.
    pub(super) fn begin(&mut self, opening: &Opening) -> Result<(), Error> {
        let begun = match &self.keeping.stored {
            Some(stored) => stored.store.begin(opening.id).map_err(|e| failed(&e))?,
            None => Begun::default(),
        };
        if begun.head.version > 0 {
            self.take_up(&begun)?;
            self.restored = true;
            return self.is_the_same(opening);
        }
        let first = self.recorder.open(&self.kernel, &self.session, opening.actor).to_vec();
        self.keep(&first, &[])?.then_some(()).ok_or_else(in_use)
    }

    fn take_up(&mut self, begun: &Begun) -> Result<(), Error> {
        let (kernel, secrets) = (&self.kernel, &self.keeping.secrets);
        let resumed = match &begun.snapshot {
            Some(snapshot) => {
                let hash = match begun.records.first() {
                    Some(next) => prev_of(next)?,
                    None => begun.head.hash,
                };
                recall(kernel, secrets, snapshot.version, hash, &snapshot.bytes).and_then(
                    |mut resumed| {
                        let mut records = begun.records.iter();
                        records.try_for_each(|line| resumed.again(kernel, secrets, line))?;
                        Ok(resumed)
                    },
                )
            }
            None => resume(kernel, secrets, begun.records.iter().map(String::as_str)),
        };
        let Resumed { session, recorder, answers } = resumed.map_err(|e| lost(&e))?;
        (self.session, self.recorder) = (session, recorder);
        self.world.probes = answers.into_iter().map(|(name, json)| (name.into(), json)).collect();
        Ok(())
    }

    /// Checks that the resumed session is the requested one.
    fn is_the_same(&self, opening: &Opening) -> Result<(), Error> {
        let mismatch = |what: String| {
            Err(Error::failed("journal_mismatch", format!("the trace is of another {what}")))
        };
        if self.session.id() != opening.id {
            return mismatch(format!("session, `{}`", self.session.id()));
        }
        // In another workspace, files, commands and git would not match the session's paths.
        if opening.workspace.is_some() && self.session.workspace() != self.root {
            return mismatch(format!("workspace, `{}`", self.session.workspace()));
        }
        Ok(())
    }

    /// Processes an event: first the kernel, then the store, then the answer. If another process
    /// has written first, the session is resumed again and the event decided again.
    pub(super) fn take(&mut self, event: &Event) -> Result<Outcome, Error> {
        self.whole()?;
        for _ in 0..TRIES {
            // Only a shared budget can refuse an event that the kernel has accepted.
            let before = (!self.keeping.shared.is_empty())
                .then(|| (self.session.clone(), self.recorder.clone()));
            let outcome =
                self.kernel.step(&mut self.session, event, &mut self.world).map_err(step)?;
            let record = self.recorder.event(&self.kernel, &self.session, event, &outcome).to_vec();
            let charged = match &outcome {
                Outcome::Proposed(proposed) if proposed.verdict.decision == Decision::Allow => {
                    self.session.charged()
                }
                _ => &[],
            };
            let charged = charged.to_vec();
            match self.keep(&record, &charged) {
                Ok(true) => return Ok(outcome),
                Ok(false) => self.again()?,
                Err(error) => {
                    if let Some(before) = before.filter(|_| error.code == "over_budget") {
                        (self.session, self.recorder) = before;
                        self.keeping.broken = false;
                    }
                    return Err(error);
                }
            }
        }
        Err(in_use())
    }

    /// Records data that is not a kernel event.
    pub(super) fn note(&mut self, record: impl Fn(&mut Live) -> Vec<u8>) -> Result<(), Error> {
        self.whole()?;
        for _ in 0..TRIES {
            let line = record(self);
            if self.keep(&line, &[])? {
                return Ok(());
            }
            self.again()?;
        }
        Err(in_use())
    }

    /// Refuses to continue after a failure: the session's memory and its store may differ.
    fn whole(&self) -> Result<(), Error> {
        match self.keeping.broken {
            false => Ok(()),
            true => Err(Error::failed(
                "journal_failed",
                "the trace could not be written: open the session again",
            )),
        }
    }

    /// Reads the records that other processes have written meanwhile.
    pub(super) fn catch_up(&mut self) -> Result<(), Error> {
        let Some(stored) = &self.keeping.stored else { return Ok(()) };
        let head = stored.store.head(self.session.id()).map_err(|e| failed(&e))?;
        match head.is_some_and(|head| head.version != self.recorder.seq()) {
            true if !self.keeping.broken => self.again(),
            _ => Ok(()),
        }
    }

    /// Resumes the session from the store's current records.
    fn again(&mut self) -> Result<(), Error> {
        let Some(stored) = &self.keeping.stored else { return Ok(()) };
        let begun = stored.store.begin(self.session.id()).map_err(|e| failed(&e))?;
        self.take_up(&begun)
    }

    /// Stores the record that the recorder has just written; returns false if another process has
    /// written first.
    fn keep(&mut self, record: &[u8], charged: &[(UnitId, i64)]) -> Result<bool, Error> {
        let record = String::from_utf8_lossy(record);
        let Some(stored) = self.keeping.stored.clone() else {
            self.keeping.records.push(record.into_owned());
            return Ok(true);
        };
        let seq = self.recorder.seq();
        let snapshot = (seq >= self.keeping.snapshot_at).then(|| self.memory(seq)).flatten();
        let charges: Vec<Charge> = self
            .keeping
            .shared
            .iter()
            .flat_map(|shared| {
                let of_unit = charged.iter().filter(|(unit, _)| *unit == shared.unit);
                let charge = |amount: i64| Charge { key: &shared.key, amount, limit: shared.limit };
                of_unit.map(move |(_, amount)| charge(*amount))
            })
            .collect();
        let commit = Commit {
            version: seq - 1,
            records: &[&record],
            snapshot: snapshot.as_deref(),
            charges: &charges,
        };
        let committed = stored.store.commit(self.session.id(), &commit);
        self.keeping.broken =
            !matches!(committed, Ok(Committed::Yes(_) | Committed::Conflict { .. }));
        match committed.map_err(|e| failed(&e))? {
            Committed::Yes(_) => {
                if snapshot.is_some() {
                    self.keeping.snapshot_at = seq + SNAPSHOT_EVERY;
                }
                Ok(true)
            }
            Committed::Conflict { .. } => Ok(false),
            Committed::OverBudget { key, spent } => {
                let spent = guard_plan::decimal::format(spent);
                let message =
                    format!("the shared budget `{key}` does not allow it: {spent} is spent");
                Err(Error::failed("over_budget", message))
            }
        }
    }

    /// Returns the memory that the store keeps, so that the session need not be replayed from its
    /// beginning.
    fn memory(&self, seq: u64) -> Option<Vec<u8>> {
        let answers: Vec<(Box<str>, Json)> = self
            .world
            .probes
            .iter()
            .map(|(name, json)| (name.as_str().into(), json.clone()))
            .collect();
        remember(&self.kernel, &self.session, &answers, &*self.keeping.secrets, seq)
    }

    /// Returns the records of the session, from its store or from memory.
    pub(super) fn records(&self) -> Result<Vec<String>, Error> {
        let Some(stored) = &self.keeping.stored else { return Ok(self.keeping.records.clone()) };
        let records = stored.store.records(self.session.id(), 0).map_err(|e| failed(&e))?;
        records.collect::<Result<_, _>>().map_err(|e| failed(&e))
    }

    /// Releases the session.
    pub(super) fn release(&self) {
        if let Some(stored) = &self.keeping.stored {
            stored.store.release(self.session.id());
        }
    }
}

fn prev_of(line: &str) -> Result<guard_plan::encode::Hash, Error> {
    let line = guard_trace::line::Line::read(line.as_bytes());
    let damaged = |_| Error::failed("journal_damaged", "a record of the trace cannot be read");
    line.map(|line| line.prev).map_err(damaged)
}

fn in_use() -> Error {
    Error::failed("journal_locked", "others write to the session all the time; try again")
}

fn lost(error: &ResumeError) -> Error {
    let code = match error {
        ResumeError::Mismatch(_) => "journal_mismatch",
        ResumeError::Secrets(_) | ResumeError::Key(_) => "journal_secrets",
        _ => "journal_damaged",
    };
    Error::failed(code, error.to_string())
}

fn failed(error: &StoreError) -> Error {
    let code = match error {
        StoreError::BadSession(_) => "bad_session_id",
        StoreError::Locked(_) => "journal_locked",
        StoreError::Damaged { .. } | StoreError::Misfit(_) => "journal_damaged",
        _ => "journal_failed",
    };
    Error::failed(code, error.to_string())
}

/// Returns an unpredictable salt for the hashes of secrets: the keys of the standard library's hash
/// maps are random.
fn salt() -> Vec<u8> {
    use std::hash::{BuildHasher, RandomState};
    (0..4).flat_map(|n: u64| RandomState::new().hash_one(n).to_le_bytes()).collect()
}
