//! Steps of a session in its store: beginning, resuming, and writing records and snapshots.

use super::{MAX_ATTEMPTS, SNAPSHOT_EVERY, Storage};
use crate::error::SessionError;
use crate::recorded::Recorded;
use crate::session::Session;
use guard_plan::encode::Hash;
use guard_plan::plan::UnitId;
use guard_plan::verdict::Decision;
use guard_runtime::{Event, Outcome, World};
use guard_trace::store::{Commit, Committed, StoredStart};
use guard_trace::{Resumed, last_upgrade, recall, remember, resume, resume_from, snapshot};

impl<W: World> Session<W> {
    /// Begins the session in its store, or resumes it where its records end.
    pub(crate) fn begin(&mut self, id: &str, actor: Option<&str>) -> Result<(), SessionError> {
        let begun = match &self.persistence.storage {
            Some(storage) => storage.store.begin(id)?,
            None => StoredStart::default(),
        };
        if begun.head.version > 0 {
            return self.resume_stored(&begun);
        }
        self.persistence.storage.as_ref().map_or(Ok(()), Storage::expect_room)?;
        let open = self.recorder.open(self.guard.kernel(), &self.state, actor);
        let open = String::from_utf8_lossy(open).into_owned();
        if self.keep(&open, &[])? {
            Ok(())
        } else {
            // Another process began the session at the same moment: its session is used.
            self.reload()
        }
    }

    /// Resumes the session from the current records of its store.
    pub(crate) fn reload(&mut self) -> Result<(), SessionError> {
        let Some(storage) = &self.persistence.storage else { return Ok(()) };
        let begun = storage.store.begin(self.state.id())?;
        self.resume_stored(&begun)
    }

    fn resume_stored(&mut self, begun: &StoredStart) -> Result<(), SessionError> {
        if let Some(storage) = self.persistence.storage.clone().filter(|_| self.persistence.replays)
        {
            let records = storage.store.records(self.state.id(), 0)?;
            let records = records.collect::<Result<Vec<_>, _>>()?;
            let kernel = self.guard.kernel();
            let secrets = &self.persistence.secrets;
            let resumed = resume(kernel, secrets, records.iter().map(String::as_str))?;
            self.adopt(resumed);
            return Ok(());
        }
        let kernel = self.guard.kernel();
        let secrets = &self.persistence.secrets;
        let resumed = match (&begun.snapshot, last_upgrade(&begun.records)) {
            // A snapshot from before an upgrade belongs to another plan. The store has checked the
            // chain.
            (_, Some(at)) => {
                let records = begun.records[at..].iter();
                resume_from(kernel, secrets, records.map(String::as_str))?
            }
            (Some(snapshot), None) => {
                let mut resumed =
                    recall(kernel, secrets, snapshot.version, snapshot.hash, &snapshot.bytes)?;
                let mut records = begun.records.iter();
                records.try_for_each(|line| resumed.again(kernel, secrets, line))?;
                resumed
            }
            (None, None) => resume(kernel, secrets, begun.records.iter().map(String::as_str))?,
        };
        self.adopt(resumed);
        let snapshot = begun.snapshot.as_ref().map_or(0, |snapshot| snapshot.version);
        self.persistence.snapshot_at = snapshot + SNAPSHOT_EVERY;
        Ok(())
    }

    /// Resumes the session from a trace outside of a store.
    pub(crate) fn resume_trace(&mut self, lines: &[String]) -> Result<(), SessionError> {
        let kernel = self.guard.kernel();
        let secrets = &self.persistence.secrets;
        let resumed = resume(kernel, secrets, lines.iter().map(String::as_str))?;
        self.adopt(resumed);
        lines.iter().for_each(|line| self.persistence.retain(line));
        Ok(())
    }

    /// Resumes the session from the output of [`Session::snapshot`].
    pub(crate) fn resume_snapshot(&mut self, snapshot: &[u8]) -> Result<(), SessionError> {
        let short = || SessionError::Snapshot("it is too short".into());
        let (seq, rest) = snapshot.split_first_chunk::<8>().ok_or_else(short)?;
        let (hash, memory) = rest.split_first_chunk::<32>().ok_or_else(short)?;
        let kernel = self.guard.kernel();
        let secrets = &self.persistence.secrets;
        let hash: Hash = *hash;
        let resumed = recall(kernel, secrets, u64::from_le_bytes(*seq), hash, memory)
            .map_err(|error| SessionError::Snapshot(error.to_string()))?;
        self.adopt(resumed);
        Ok(())
    }

    fn adopt(&mut self, resumed: Resumed) {
        let Resumed { session, recorder, answers } = resumed;
        (self.state, self.recorder) = (session, recorder);
        self.world.answers = answers.into_iter().map(|(name, json)| (name.into(), json)).collect();
        self.resumed = true;
    }

    /// Refuses the records of another session or workspace.
    pub(crate) fn expect_identity(&self, id: &str, root: Option<&str>) -> Result<(), SessionError> {
        if self.state.id() != id {
            let other = format!("session, `{}`", self.state.id());
            return Err(SessionError::Mismatch(other));
        }
        // With another root, files, commands and git would be read in another place than the paths
        // of the session name.
        match root {
            Some(root) if self.state.workspace() != root => {
                let other = format!("workspace, `{}`", self.state.workspace());
                Err(SessionError::Mismatch(other))
            }
            _ => Ok(()),
        }
    }

    /// Takes an event: the kernel decides, the store keeps the record, and the caller gets the
    /// result. If another process has written first, the session is reloaded and the event is
    /// decided again.
    pub(crate) fn commit_event(
        &mut self,
        event: &Event<'_>,
    ) -> Result<(Outcome, String), SessionError> {
        crate::clock::expect_recorded(event)?;
        for _ in 0..MAX_ATTEMPTS {
            self.expect_sound()?;
            if matches!(event, Event::Propose(_) | Event::Prompt(_)) {
                self.expect_room()?;
            }
            // A shared budget can refuse a call that the kernel has allowed; only that must be
            // undone.
            let before = (!self.persistence.shared.is_empty())
                .then(|| (self.state.clone(), self.recorder.clone()));
            let kernel = self.guard.kernel();
            let outcome = kernel.step(&mut self.state, event, &mut self.world)?;
            let record = self.recorder.event(kernel, &self.state, event, &outcome);
            let record = String::from_utf8_lossy(record).into_owned();
            let charged = match &outcome {
                Outcome::Proposed(proposed) if proposed.verdict.decision == Decision::Allow => {
                    self.state.charged().to_vec()
                }
                _ => Vec::new(),
            };
            match self.keep(&record, &charged) {
                Ok(true) => return Ok((outcome, record)),
                Ok(false) => self.reload_or_break()?,
                Err(error) => {
                    if let (SessionError::OverBudget(..), Some(before)) = (&error, before) {
                        (self.state, self.recorder) = before;
                        self.persistence.failed = false;
                    }
                    return Err(error);
                }
            }
        }
        Err(SessionError::Contended)
    }

    /// Records an entry that is not an event of the kernel.
    pub(crate) fn commit_record(
        &mut self,
        write: impl Fn(&mut Session<W>) -> Vec<u8>,
    ) -> Result<String, SessionError> {
        for _ in 0..MAX_ATTEMPTS {
            self.expect_sound()?;
            let record = String::from_utf8_lossy(&write(self)).into_owned();
            if self.keep(&record, &[])? {
                return Ok(record);
            }
            self.reload_or_break()?;
        }
        Err(SessionError::Contended)
    }

    /// Loads what another process has written. If that fails, the event of the caller is in the
    /// session's state and not in the store, so the session refuses everything from then on.
    fn reload_or_break(&mut self) -> Result<(), SessionError> {
        let reloaded = self.reload();
        self.persistence.failed = reloaded.is_err();
        reloaded
    }

    /// Returns an error if the store is full, or the state of the session is larger than its limit.
    pub(crate) fn expect_room(&mut self) -> Result<(), SessionError> {
        self.persistence.storage.as_ref().map_or(Ok(()), Storage::expect_room)?;
        let state = &self.state;
        self.persistence.memory.expect_room(|| state.memory().len())
    }

    pub(crate) fn expect_sound(&self) -> Result<(), SessionError> {
        if self.persistence.failed { Err(SessionError::Broken) } else { Ok(()) }
    }

    /// Loads the records that other processes have written to the session since.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// # let storage = guard_sdk::Storage::open(&folder.path().join("sessions.db"))?;
    /// let mut here = guard.session("s1").storage(&storage).open()?;
    /// let mut there = guard.session("s1").storage(&storage).open()?;
    /// there.propose("1", "ping", "{}")?;
    /// here.refresh()?;
    /// assert_eq!(here.in_flight(), ["1"]);
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::Broken`] after a record that could not be written. Otherwise an error if the
    /// store cannot be read, or its records do not belong to this session.
    pub fn refresh(&mut self) -> Result<(), SessionError> {
        let Some(storage) = &self.persistence.storage else { return Ok(()) };
        if self.persistence.failed {
            return Err(SessionError::Broken);
        }
        let head = storage.store.head(self.state.id())?;
        if head.is_some_and(|head| head.version != self.recorder.seq()) {
            self.reload()
        } else {
            Ok(())
        }
    }

    /// Keeps a record, and a snapshot of the state after it.
    pub(crate) fn keep_with_snapshot(&mut self, record: &str) -> Result<bool, SessionError> {
        self.persistence.snapshot_at = 0;
        self.keep(record, &[])
    }

    /// Keeps the record that the recorder has just written. Returns false if another process has
    /// written first.
    fn keep(&mut self, record: &str, charged: &[(UnitId, i64)]) -> Result<bool, SessionError> {
        self.persistence.memory.added(record.len());
        let Some(storage) = self.persistence.storage.clone() else {
            self.persistence.retain(record);
            return Ok(true);
        };
        let seq = self.recorder.seq();
        let due = seq >= self.persistence.snapshot_at;
        let snapshot = due.then(|| self.memory(seq)).flatten();
        let charges = self.persistence.charges(charged);
        let commit = Commit {
            version: seq - 1,
            records: &[record],
            snapshot: snapshot.as_deref(),
            charges: &charges,
        };
        let committed = storage.store.commit(self.state.id(), &commit);
        self.persistence.failed =
            !matches!(committed, Ok(Committed::Yes(_) | Committed::Conflict { .. }));
        match committed? {
            Committed::Yes(_) => {
                storage.limit.iter().for_each(|limit| limit.added(record.len()));
                if snapshot.is_some() {
                    self.persistence.snapshot_at = seq + SNAPSHOT_EVERY;
                }
                Ok(true)
            }
            Committed::Conflict { .. } => Ok(false),
            Committed::OverBudget { key, spent } => Err(SessionError::OverBudget(key, spent)),
        }
    }

    /// Returns the state that the session needs to continue, without its records.
    fn memory(&self, seq: u64) -> Option<Vec<u8>> {
        let answers = self.world.answer_list();
        remember(self.guard.kernel(), &self.state, &answers, &*self.persistence.secrets, seq)
    }

    /// Returns the whole state of the session as bytes, for hosts that store it themselves.
    /// [`SessionOptions::snapshot`] resumes from it. Secrets in it are sealed with the session's
    /// key.
    ///
    /// ```
    /// let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping() { limit 1 per session }")?;
    /// let mut session = guard.session("s1").open()?;
    /// session.propose("1", "ping", "{}")?;
    /// let bytes = session.snapshot()?;
    /// let mut session = guard.session("s1").snapshot(&bytes).open()?;
    /// assert!(!session.propose("2", "ping", "{}")?.verdict.is_allowed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// [`SessionOptions::snapshot`]: crate::SessionOptions::snapshot
    ///
    /// # Errors
    ///
    /// [`SessionError::NoKey`] if the guard has secrets and the session has no key;
    /// [`SessionError::Broken`].
    pub fn snapshot(&self) -> Result<Vec<u8>, SessionError> {
        self.expect_sound()?;
        let seq = self.recorder.seq();
        let memory = self.memory(seq).ok_or(SessionError::NoKey)?;
        let mut bytes = seq.to_le_bytes().to_vec();
        bytes.extend(self.recorder.hash());
        bytes.extend(memory);
        Ok(bytes)
    }

    /// The number of records that a session without a store has dropped from memory. It keeps the
    /// last 10,000 records, and at most 8 MiB of them.
    pub fn dropped_records(&self) -> u64 {
        match &self.persistence.storage {
            Some(_) => 0,
            None => self.recorder.seq().saturating_sub(self.persistence.retained.len() as u64),
        }
    }

    /// Returns the session's records, oldest first. A session without a store keeps the last 10,000
    /// of them, and at most 8 MiB.
    ///
    /// ```
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// # let mut session = guard.session("s1").open()?;
    /// session.propose("1", "ping", "{}")?;
    /// let records = session.records()?;
    /// assert_eq!(records.len(), 2);
    /// assert!(records[1].contains(r#""kind":"propose""#));
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read.
    pub fn records(&self) -> Result<Vec<String>, SessionError> {
        let Some(storage) = &self.persistence.storage else {
            return Ok(self.persistence.retained.iter().cloned().collect());
        };
        let records = storage.store.records(self.state.id(), 0)?;
        Ok(records.collect::<Result<_, _>>()?)
    }

    /// The number of the session's records in the store.
    pub fn stored_records(&self) -> u64 {
        let Some(storage) = &self.persistence.storage else { return 0 };
        let head = storage.store.head(self.state.id()).ok().flatten();
        head.map_or(0, |head| head.version.saturating_sub(head.first))
    }

    /// Writes a record of the whole state of the session, and drops the records before it from the
    /// store. The outcome is the number of dropped records, or `None` without a store.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// # let storage = guard_sdk::Storage::open(&folder.path().join("sessions"))?;
    /// let mut session = guard.session("s1").storage(&storage).open()?;
    /// session.propose("1", "ping", "{}")?;
    /// let dropped = session.compact()?.expect("it has a store");
    /// assert_eq!(*dropped, 2);
    /// assert!(dropped.record().contains(r#""kind":"snapshot""#));
    /// assert_eq!(session.records()?.len(), 1);
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SessionError::NoKey`]; the store's errors.
    pub fn compact(&mut self) -> Result<Option<Recorded<u64>>, SessionError> {
        let Some(storage) = self.persistence.storage.clone() else { return Ok(None) };
        let record = self.commit_record(|session| {
            let resumed = Resumed {
                session: session.state.clone(),
                recorder: session.recorder.clone(),
                answers: session.world.answer_list(),
            };
            let secrets = &*session.persistence.secrets;
            let written = snapshot(session.guard.kernel(), &resumed, secrets)
                .map(|snapshot| session.recorder.snapshot(&session.state, &snapshot).to_vec());
            // Stores do not accept an empty record.
            written.unwrap_or_default()
        })?;
        // The count is taken now, because another process may have written in the meantime.
        let before = self.stored_records().saturating_sub(1);
        storage.store.forget(self.state.id(), self.recorder.seq().saturating_sub(1))?;
        Ok(Some(Recorded::new(before, record)))
    }

    /// Returns true if the session's secrets are sealed with a key. Without a key they are only hashed.
    pub fn is_keyed(&self) -> bool {
        self.persistence.keyed
    }

    /// Closes the session, so that another process may open it. Dropping the session does the same.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let guard = guard_sdk::Guard::compile("demo.guard", "guard demo\ntool ping()")?;
    /// # let storage = guard_sdk::Storage::open(&folder.path().join("sessions"))?;
    /// let session = guard.session("s1").storage(&storage).open()?;
    /// session.close();
    /// assert!(guard.session("s1").storage(&storage).open()?.is_resumed());
    /// # Ok::<(), guard_sdk::SessionError>(())
    /// ```
    pub fn close(self) {}
}

impl<W> Drop for Session<W> {
    fn drop(&mut self) {
        if let Some(storage) = &self.persistence.storage {
            storage.store.release(self.state.id());
        }
    }
}
