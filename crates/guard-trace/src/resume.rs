//! Resumption of a session from its trace alone (semantics §17).
//!
//! Every recorded event is decided again with the recorded answers of the world, and every record
//! must be reproduced byte for byte: the resumed session equals the original. A snapshot replaces
//! the records before it.

use crate::line::{Head, LineFields};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use guard_plan::encode::Hash;
use guard_plan::json::Json;
use guard_plan::record::{Answers, Clear, Forced, Open, Payload, Record, Snapshot, Upgrade};
use guard_plan::{hex, time};
use guard_runtime::{
    Forgotten, Kernel, RecallError, Recorder, Secrets, SessionState, StepError, Upgraded, replay,
};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A session that continues where its trace ends.
#[derive(Debug)]
pub struct Resumed {
    /// The session.
    pub session: SessionState,
    /// The recorder of its next record.
    pub recorder: Recorder,
    /// The host's answers for its probes, by probe.
    pub answers: Vec<(Box<str>, Json)>,
}

/// The reason why a session cannot be resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResumeError {
    /// The trace has no records.
    Empty,
    /// The trace belongs to another plan. Contains the difference: `plan, sha256:…`.
    Mismatch(String),
    /// A record is broken. Contains its number and the problem.
    Broken(u64, String),
    /// A record differs from this plan's decision. Contains its number.
    Diverged(u64),
    /// A record has an event that the session does not accept. Contains its number and the reason.
    Refused(u64, String),
    /// A record contains hashes of secrets without seals. Contains its number.
    Secrets(u64),
    /// The seals of a record cannot be opened with this key. Contains its number.
    Key(u64),
    /// A snapshot cannot be used. Contains its number and the reason.
    Snapshot(u64, RecallError),
}

impl fmt::Display for ResumeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResumeError::Empty => f.write_str("the trace is empty"),
            ResumeError::Mismatch(what) => write!(f, "the trace belongs to another {what}"),
            ResumeError::Broken(at, why) => write!(f, "record {at}: {why}"),
            ResumeError::Diverged(at) => {
                write!(f, "record {at} differs from the decision of this plan")
            }
            ResumeError::Refused(at, why) => {
                write!(f, "record {at} holds an event that the session cannot accept: {why}")
            }
            ResumeError::Secrets(at) => write!(
                f,
                "record {at} holds only hashes of secrets: a session with secrets can continue only if it was recorded with a key"
            ),
            ResumeError::Key(at) => {
                write!(
                    f,
                    "the sealed part of record {at} cannot be opened: it was sealed with another key"
                )
            }
            ResumeError::Snapshot(at, why) => write!(f, "the snapshot in record {at}: {why}"),
        }
    }
}

impl std::error::Error for ResumeError {}

impl ResumeError {
    /// Returns the number of the record that the error is about; if there is none, that of the
    /// first record.
    pub fn record(&self) -> u64 {
        match self {
            ResumeError::Empty | ResumeError::Mismatch(_) => 0,
            ResumeError::Broken(at, _)
            | ResumeError::Diverged(at)
            | ResumeError::Refused(at, _)
            | ResumeError::Secrets(at)
            | ResumeError::Key(at)
            | ResumeError::Snapshot(at, _) => *at,
        }
    }
}

/// Resumes a session from the lines of its trace: all of them, or those from a snapshot on.
/// Decisions before the last upgrade are not repeated, because their plan may not be available.
/// Their hash chain is checked.
///
/// # Errors
///
/// Returns an error if a line is broken, differs from the plan's decision, belongs to another plan,
/// or contains secrets that the keys do not open.
pub fn resume<'l>(
    kernel: &Kernel,
    secrets: &Arc<dyn Secrets>,
    lines: impl IntoIterator<Item = &'l str>,
) -> Result<Resumed, ResumeError> {
    let lines: Vec<&str> = lines.into_iter().collect();
    match last_upgrade(&lines) {
        Some(at) => {
            follow(&lines[..=at])?;
            resume_from(kernel, secrets, lines[at..].iter().copied())
        }
        None => resume_from(kernel, secrets, lines),
    }
}

/// Resumes a session from its first record, or from a record that contains its whole state.
///
/// # Errors
///
/// See [`resume`].
pub fn resume_from<'l>(
    kernel: &Kernel,
    secrets: &Arc<dyn Secrets>,
    lines: impl IntoIterator<Item = &'l str>,
) -> Result<Resumed, ResumeError> {
    let mut lines = lines.into_iter();
    let first = lines.next().ok_or(ResumeError::Empty)?;
    let mut resumed = begin(kernel, secrets, first)?;
    for line in lines {
        resumed.again(kernel, secrets, line)?;
    }
    Ok(resumed)
}

/// Returns the index of the last record with which the session continued under another plan.
pub fn last_upgrade(lines: &[impl AsRef<str>]) -> Option<usize> {
    let is_upgrade =
        |line: &str| LineFields::read(line.as_bytes()).is_ok_and(|line| line.kind == "upgrade");
    lines.iter().rposition(|line| is_upgrade(line.as_ref()))
}

/// Checks the hash chain of a trace that begins with its first record or with a snapshot.
fn follow(lines: &[&str]) -> Result<(), ResumeError> {
    let mut head = Head::default();
    for line in lines {
        let broken = |why: String| ResumeError::Broken(head.version, why);
        head = head.follow(line.as_bytes()).map_err(|why| broken(why.to_string()))?;
    }
    Ok(())
}

/// Serializes the session's state without its trace, for stores and snapshots. The bytes are sealed
/// if the guard has secrets; `None` if they cannot be sealed. The number is that of the next
/// record.
pub fn remember(
    kernel: &Kernel,
    session: &SessionState,
    answers: &[(Box<str>, Json)],
    secrets: &dyn Secrets,
    seq: u64,
) -> Option<Vec<u8>> {
    let bytes = memory_of(kernel, session, answers);
    if kernel.has_secrets() {
        secrets.seal(seq, &bytes).map(String::into_bytes)
    } else {
        Some(bytes)
    }
}

fn memory_of(kernel: &Kernel, session: &SessionState, answers: &[(Box<str>, Json)]) -> Vec<u8> {
    let answers = Json::Object(answers.to_vec()).to_string();
    // The hash of the plan comes first, since another plan would read the same bytes as other
    // variables.
    let mut bytes = kernel.loaded().hash().to_vec();
    bytes.extend((answers.len() as u64).to_le_bytes());
    bytes.extend(answers.into_bytes());
    bytes.extend(session.memory());
    bytes
}

/// Restores the session from a store's memory. The number is that of its next record, and the hash
/// that of its last record.
///
/// # Errors
///
/// Returns an error if the bytes were not written by [`remember`] for a session of this plan, with
/// these secrets.
pub fn recall(
    kernel: &Kernel,
    secrets: &Arc<dyn Secrets>,
    seq: u64,
    head: Hash,
    bytes: &[u8],
) -> Result<Resumed, ResumeError> {
    recall_as(kernel, secrets, (seq, head), bytes, kernel.has_secrets())
}

fn recall_as(
    kernel: &Kernel,
    secrets: &Arc<dyn Secrets>,
    (seq, head): (u64, Hash),
    bytes: &[u8],
    sealed: bool,
) -> Result<Resumed, ResumeError> {
    let at = seq;
    let broken =
        || ResumeError::Broken(at, "its snapshot does not contain the memory of a session".into());
    let clear = if sealed {
        let sealed = std::str::from_utf8(bytes).map_err(|_| broken())?;
        Cow::Owned(secrets.unseal(seq, sealed).ok_or(ResumeError::Key(at))?)
    } else {
        Cow::Borrowed(bytes)
    };
    let (plan, rest) = clear.split_at_checked(32).ok_or_else(broken)?;
    if plan != kernel.loaded().hash() {
        return Err(ResumeError::Mismatch(format!("plan, sha256:{}", hex::encode(plan))));
    }
    let (len, rest) = rest.split_at_checked(8).ok_or_else(broken)?;
    let len = len.try_into().ok().map(u64::from_le_bytes);
    let len = len.and_then(|len| usize::try_from(len).ok()).ok_or_else(broken)?;
    let (answers, memory) = rest.split_at_checked(len).ok_or_else(broken)?;
    let answers = std::str::from_utf8(answers).ok().and_then(|text| Json::parse(text).ok());
    let Some(Json::Object(answers)) = answers else { return Err(broken()) };
    let session = kernel.recall(memory).map_err(|why| ResumeError::Snapshot(at, why))?;
    let recorder = Recorder::after(seq, head, Arc::clone(secrets));
    Ok(Resumed { session, recorder, answers })
}

fn begin(kernel: &Kernel, secrets: &Arc<dyn Secrets>, line: &str) -> Result<Resumed, ResumeError> {
    let record = Record::parse(line).map_err(|why| ResumeError::Broken(0, why))?;
    let at = record.seq;
    match &record.payload {
        Payload::Open(_) => {
            let record = revealed(record, &**secrets, at)?;
            let Payload::Open(open) = &record.payload else {
                return Err(ResumeError::Diverged(at));
            };
            let session = opened(kernel, open, &record.time)?;
            let mut recorder = Recorder::new(Arc::clone(secrets));
            let again = recorder.open(kernel, &session, open.actor.as_deref());
            same(again, line, at)?;
            Ok(Resumed { session, recorder, answers: Vec::new() })
        }
        Payload::Snapshot(snapshot) => {
            let mut resumed = recalled(kernel, secrets, &record, snapshot)?;
            same(resumed.recorder.snapshot(&resumed.session, snapshot), line, at)?;
            Ok(resumed)
        }
        Payload::Upgrade(upgrade) => {
            let mut resumed = recalled(kernel, secrets, &record, &upgrade.snapshot)?;
            same(resumed.recorder.upgraded(&resumed.session, upgrade), line, at)?;
            Ok(resumed)
        }
        _ => Err(ResumeError::Broken(at, "a trace begins with `open` or `snapshot`".into())),
    }
}

fn opened(kernel: &Kernel, open: &Open<'_>, time: &str) -> Result<SessionState, ResumeError> {
    of_this_plan(kernel, &open.plan)?;
    let start = time::parse_rfc3339(time)
        .ok_or_else(|| ResumeError::Broken(0, "its time cannot be read".into()))?;
    let session = kernel.open_with(&open.session, start, &open.workspace, open.data.as_deref());
    let mut session = session.map_err(|error| ResumeError::Broken(0, error.to_string()))?;
    kernel.set_recheck(&mut session, open.recheck);
    Ok(session)
}

fn of_this_plan(kernel: &Kernel, plan: &str) -> Result<(), ResumeError> {
    if plan == kernel.loaded().hash_text() {
        return Ok(());
    }
    Err(ResumeError::Mismatch(format!("plan, {plan}")))
}

/// Returns the session of a snapshot, before its record is written again.
fn recalled(
    kernel: &Kernel,
    secrets: &Arc<dyn Secrets>,
    record: &Record,
    snapshot: &Snapshot<'_>,
) -> Result<Resumed, ResumeError> {
    of_this_plan(kernel, &snapshot.plan)?;
    let broken = |why: &str| ResumeError::Broken(record.seq, why.into());
    if snapshot.form != Kernel::MEMORY_FORM {
        let form = snapshot.form;
        let ours = Kernel::MEMORY_FORM;
        return Err(broken(&format!("its snapshot has form {form}; this Guard reads form {ours}")));
    }
    let bytes = if snapshot.sealed {
        snapshot.memory.as_bytes().to_vec()
    } else {
        STANDARD_NO_PAD
            .decode(snapshot.memory.as_bytes())
            .map_err(|_| broken("its snapshot is not base64"))?
    };
    let prev = hex::decode(&record.prev).ok_or_else(|| broken("`prev` is not a hash"))?;
    recall_as(kernel, secrets, (record.seq, prev), &bytes, snapshot.sealed)
}

impl Resumed {
    /// Replays the next record of the trace.
    ///
    /// # Errors
    ///
    /// See [`resume`]; the session is unusable after an error.
    pub fn again(
        &mut self,
        kernel: &Kernel,
        secrets: &Arc<dyn Secrets>,
        line: &str,
    ) -> Result<(), ResumeError> {
        let at = self.recorder.seq();
        let record = Record::parse(line).map_err(|why| ResumeError::Broken(at, why))?;
        let record = revealed(record, &**secrets, at)?;
        if let Payload::Answers(Answers { answers, .. }) = &record.payload {
            keep(&mut self.answers, answers);
        }
        let session = &self.session;
        let recorder = &mut self.recorder;
        if let Some(again) = rewritten(kernel, secrets, session, recorder, &record)? {
            return same(again, line, at);
        }
        let event = replay::event(&record).ok_or(ResumeError::Diverged(at))?;
        let mut world = replay::world(&record);
        let outcome = kernel.step(&mut self.session, &event, &mut world);
        let outcome = outcome.map_err(|error| refused(&record, &error))?;
        same(self.recorder.event(kernel, &self.session, &event, &outcome), line, at)
    }
}

/// Returns the error for a record whose event the session does not accept. Resumption and replay
/// give the same error.
pub(crate) fn refused(record: &Record, error: &StepError) -> ResumeError {
    ResumeError::Refused(record.seq, error.to_string())
}

/// Writes a record again that is not an event: answers, a contract's report, a snapshot. Returns
/// `None` for the record of an event.
///
/// # Errors
///
/// Returns an error if a snapshot does not contain this session's memory.
pub(crate) fn rewritten<'r>(
    kernel: &Kernel,
    secrets: &Arc<dyn Secrets>,
    session: &SessionState,
    recorder: &'r mut Recorder,
    record: &Record,
) -> Result<Option<&'r [u8]>, ResumeError> {
    Ok(Some(match &record.payload {
        Payload::Answers(Answers { answers, .. }) => recorder.answers(kernel, session, answers),
        Payload::Contract(judged) => recorder.judged(session, judged),
        Payload::Snapshot(snapshot) => {
            let told = recalled(kernel, secrets, record, snapshot)?;
            // The snapshot must hold what the records before it lead to, or dropping them would
            // change the session.
            if told.session.memory() != session.memory() {
                return Err(ResumeError::Diverged(record.seq));
            }
            recorder.snapshot(session, snapshot)
        }
        _ => return Ok(None),
    }))
}

/// Stores answers for probes. The last answer for each probe counts.
fn keep(kept: &mut Vec<(Box<str>, Json)>, answers: &Json) {
    let Json::Object(members) = answers else { return };
    for (name, json) in members {
        match kept.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => known.clone_from(json),
            None => kept.push((name.clone(), json.clone())),
        }
    }
}

/// Returns the record with its sealed parts in place of the hashes.
fn revealed(mut record: Record, secrets: &dyn Secrets, at: u64) -> Result<Record, ResumeError> {
    if let Some(sealed) = record.sealed() {
        let clear = secrets.unseal(record.seq, sealed).ok_or(ResumeError::Key(at))?;
        let clear = Clear::from_bytes(&clear).map_err(|why| ResumeError::Broken(at, why))?;
        record.reveal(clear);
    }
    Ok(record)
}

/// Checks that a record was reproduced. If hashes of secrets were read, they are reported as the
/// cause of a difference.
fn same(again: &[u8], line: &str, at: u64) -> Result<(), ResumeError> {
    if again == line.as_bytes() {
        return Ok(());
    }
    let marked = line.contains("\"secret:") && !line.contains("\"sealed\":");
    Err(if marked { ResumeError::Secrets(at) } else { ResumeError::Diverged(at) })
}

/// Writes the record of a snapshot: the session's whole memory, so that the records before it can
/// be dropped. `None` if the guard has secrets that cannot be sealed.
pub fn snapshot(
    kernel: &Kernel,
    resumed: &Resumed,
    secrets: &dyn Secrets,
) -> Option<Snapshot<'static>> {
    let Resumed { session, recorder, answers } = resumed;
    let sealed = kernel.has_secrets();
    snapshot_as(kernel, session, answers, (secrets, recorder.seq()), sealed)
}

fn snapshot_as(
    kernel: &Kernel,
    session: &SessionState,
    answers: &[(Box<str>, Json)],
    (secrets, seq): (&dyn Secrets, u64),
    sealed: bool,
) -> Option<Snapshot<'static>> {
    let bytes = memory_of(kernel, session, answers);
    let memory = if sealed { secrets.seal(seq, &bytes)? } else { STANDARD_NO_PAD.encode(bytes) };
    Some(Snapshot {
        plan: kernel.loaded().hash_text().into(),
        guard: kernel.plan().guard.clone().into(),
        session: session.id().to_owned().into(),
        start: time::format_rfc3339(session.start()).into(),
        workspace: session.workspace().to_owned().into(),
        form: Kernel::MEMORY_FORM,
        memory: memory.into(),
        sealed,
    })
}

/// Returns the payload of the record with which a session continues under another plan. It is
/// sealed if either guard has secrets; `None` if it cannot be sealed. `answers` are those that the
/// new plan's probes know.
pub fn upgrade_payload(
    (from, to): (&Kernel, &Kernel),
    upgraded: &Upgraded,
    answers: &[(Box<str>, Json)],
    forced: Option<Forced<'static>>,
    (secrets, seq): (&dyn Secrets, u64),
) -> Option<Upgrade<'static>> {
    let sealed = from.has_secrets() || to.has_secrets();
    let snapshot = snapshot_as(to, &upgraded.session, answers, (secrets, seq), sealed)?;
    let said = |all: &[Forgotten]| all.iter().map(ToString::to_string).collect::<Vec<_>>().into();
    Some(Upgrade {
        from: from.loaded().hash_text().into(),
        version: env!("CARGO_PKG_VERSION").into(),
        forced,
        anew: said(&upgraded.anew),
        dropped: said(&upgraded.dropped),
        snapshot,
    })
}

/// Returns the answers of a host that belong to probes of a plan.
pub fn answers_for(to: &Kernel, answers: &[(Box<str>, Json)]) -> Vec<(Box<str>, Json)> {
    let known = |name: &str| to.plan().probes.iter().any(|probe| probe.name == name);
    answers.iter().filter(|(name, _)| known(name)).cloned().collect()
}
