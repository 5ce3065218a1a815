//! The trace: the events of a session, one JSON object per line, each with the hash of the previous
//! one.
//!
//! The hash of a record is the SHA-256 of its line up to `,"hash":`. Changing, removing, inserting
//! or reordering a line breaks the chain there; only a removed tail needs a checkpoint to be
//! detected. Secrets appear only as salted hashes.

mod broken;
mod chain;
mod host;
mod ledger;
mod session;
mod write;

pub use broken::BrokenProof;
pub use chain::{Chain, ChainError, Verified, verify_chain};
pub use host::{Answers, Clear, ContractJudgement, Forced, Snapshot, Upgrade};
pub use ledger::{Ledger, LedgerEntry};
pub use session::{
    Content, Delivered, Item, ItemChange, Missing, OUTPUT_CHARS, Prompt, Ran, RunEnd, STDOUT_BYTES,
    Stop, StopDecision, TEXT_BYTES, rendered,
};
pub use write::WritePayload;

use crate::json::Json;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::num::NonZeroU32;

/// The kind of event that a record holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The session begins.
    Open,
    /// A call is proposed.
    Propose,
    /// A call has ended.
    Settle,
    /// A call is approved.
    Approve,
    /// An approval is taken back.
    Revoke,
    /// The host reports usage.
    Usage,
    /// A halt ends.
    Resume,
    /// The user has said something.
    Prompt,
    /// The agent wants to stop.
    Stop,
    /// The harness verifies or moves an item.
    Item,
    /// The host says what its probes answer from now on.
    Answers,
    /// A contract has judged a text.
    Contract,
    /// All that the session remembers, in place of the records before.
    Snapshot,
    /// The session goes on under another plan.
    Upgrade,
    /// A store's own: a session, or a charge to a shared budget.
    Ledger,
}

impl Kind {
    /// Returns its name in a record.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Open => "open",
            Kind::Propose => "propose",
            Kind::Settle => "settle",
            Kind::Approve => "approve",
            Kind::Revoke => "revoke",
            Kind::Usage => "usage",
            Kind::Resume => "resume",
            Kind::Prompt => "prompt",
            Kind::Stop => "stop",
            Kind::Item => "item",
            Kind::Answers => "answers",
            Kind::Contract => "contract",
            Kind::Snapshot => "snapshot",
            Kind::Upgrade => "upgrade",
            Kind::Ledger => "ledger",
        }
    }
}

/// One line of the trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its number, from 0.
    pub seq: u64,
    /// The session's clock, RFC 3339.
    pub time: String,
    /// The call it is about, if it is about one.
    pub call: Option<String>,
    /// What happened.
    pub payload: Payload,
    /// The hash of the record before, zeros where there is none.
    pub prev: String,
    /// Its own hash.
    pub hash: String,
}

/// The payload of a record: one event.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "each is documented itself")]
pub enum Payload {
    Open(Open<'static>),
    Propose(Propose<'static>),
    Settle(Settle<'static>),
    Approve(Approve<'static>),
    Revoke(Revoke<'static>),
    Usage(Usage<'static>),
    Resume(Resume<'static>),
    Prompt(Prompt<'static>),
    Stop(Stop<'static>),
    Item(Item<'static>),
    Answers(Answers<'static>),
    Contract(ContractJudgement<'static>),
    Snapshot(Snapshot<'static>),
    Upgrade(Box<Upgrade<'static>>),
    Ledger(Ledger<'static>),
}

/// The session begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Open<'a> {
    /// The content hash of the plan, `sha256:…`.
    pub plan: Cow<'a, str>,
    /// The guard's name.
    pub guard: Cow<'a, str>,
    /// The session's id.
    pub session: Cow<'a, str>,
    /// Where relative paths start.
    pub workspace: Cow<'a, str>,
    /// The version of Guard that decides.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub version: Cow<'a, str>,
    /// On whose behalf the agent acts, as the host says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<Cow<'a, str>>,
    /// What the host gave (semantics §8).
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub data: Option<Cow<'a, Json>>,
    /// How many rows facts were taught by it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub learned: u64,
    /// How many rows went for others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten: u64,
    /// What was noticed.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub notes: Cow<'a, [Note]>,
    /// Of a plan with proofs: one of so many calls has its proved invariants checked again. Left out where none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recheck: Option<NonZeroU32>,
    /// What stands as hashes here, for whoever has the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}

/// A call is proposed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Propose<'a> {
    /// The tool, by the name it was called.
    pub tool: Cow<'a, str>,
    /// The arguments; of arguments that could not be read, their text.
    pub args: Cow<'a, Json>,
    /// The error of the reader, where the arguments could not be read as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<Cow<'a, str>>,
    /// The verdict of the kernel.
    pub verdict: Cow<'a, Verdict>,
    /// What the world was asked.
    pub asked: Cow<'a, [Asked]>,
    /// The result, where the kernel served the call; it is settled then.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub served: Option<Cow<'a, Json>>,
    /// Of a served call: the state variables that changed.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub changes: Cow<'a, [Change]>,
    /// Of a served call: how many rows facts were taught.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub learned: u64,
    /// Of a served call: how many rows went for others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten: u64,
    /// Of a served call, or of one that showed a proof to be wrong: the session is halted now.
    #[serde(default, skip_serializing_if = "is_false")]
    pub halted: bool,
    /// Of an allowed call: what it was charged.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub charged: Cow<'a, [Charge]>,
    /// The items it changed.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub items: Cow<'a, [ItemChange]>,
    /// What was noticed.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub notes: Cow<'a, [Note]>,
    /// The feedback it called for.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub feedback: Cow<'a, [Delivered]>,
    /// How many proved invariants and types were checked again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rechecked: u64,
    /// The proof that was found wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken_proof: Option<Box<BrokenProof>>,
    /// What stands as hashes here, for whoever has the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}

/// A call has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settle<'a> {
    /// It did what it should.
    pub success: bool,
    /// Its result, `null` where there is none.
    pub result: Cow<'a, Json>,
    /// Why the result could not be read; `result` is then its text, cut, or `null` where that may be secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<Cow<'a, str>>,
    /// The state variables that changed.
    pub changes: Cow<'a, [Change]>,
    /// How many rows facts were taught.
    pub learned: u64,
    /// What was noticed.
    pub notes: Cow<'a, [Note]>,
    /// The session is halted now.
    pub halted: bool,
    /// What the world was asked.
    pub asked: Cow<'a, [Asked]>,
    /// How many rows went for others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten: u64,
    /// Of a call that failed: what it gives back of its charges.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub returned: Cow<'a, [Charge]>,
    /// The feedback it called for.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub feedback: Cow<'a, [Delivered]>,
    /// How many proved invariants and types were checked again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rechecked: u64,
    /// The proof that was found wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken_proof: Option<Box<BrokenProof>>,
    /// What stands as hashes here, for whoever has the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}

impl<'a> Settle<'a> {
    /// Returns the end of a call after which nothing changed, was noticed or was asked.
    pub fn plain(success: bool, result: Cow<'a, Json>) -> Settle<'a> {
        Settle {
            success,
            result,
            unreadable: None,
            changes: Cow::Borrowed(&[]),
            learned: 0,
            notes: Cow::Borrowed(&[]),
            halted: false,
            asked: Cow::Borrowed(&[]),
            forgotten: 0,
            returned: Cow::Borrowed(&[]),
            feedback: Cow::Borrowed(&[]),
            rechecked: 0,
            broken_proof: None,
            sealed: None,
        }
    }
}

fn is_empty<T>(items: &[T]) -> bool {
    items.is_empty()
}

/// Deserializes a member that is present as `Some`, also where it is `null`.
fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Cow<'static, Json>>, D::Error> {
    Json::deserialize(deserializer).map(|json| Some(Cow::Owned(json)))
}

fn is_nothing(text: &str) -> bool {
    text.is_empty()
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// A call is approved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Approve<'a> {
    /// The tool.
    pub tool: Cow<'a, str>,
    /// The arguments.
    pub args: Cow<'a, Json>,
    /// In which role.
    pub role: Cow<'a, str>,
    /// By whom.
    pub by: Cow<'a, str>,
    /// From when on it is gone, RFC 3339.
    pub expires: Option<String>,
    /// What stands as hashes here, for whoever has the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}

/// An approval is taken back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Revoke<'a> {
    /// The tool.
    pub tool: Cow<'a, str>,
    /// The arguments.
    pub args: Cow<'a, Json>,
    /// The role whose approvals are taken back.
    pub role: Cow<'a, str>,
    /// By whom.
    pub by: Cow<'a, str>,
    /// What stands as hashes here, for whoever has the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}

/// The amount that a call was charged in one unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Charge {
    /// The unit.
    pub unit: Box<str>,
    /// How much, a decimal.
    pub amount: Box<str>,
}

/// The host reports usage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage<'a> {
    /// The unit.
    pub unit: Cow<'a, str>,
    /// How much, a decimal.
    pub amount: Cow<'a, str>,
}

/// A halt ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resume<'a> {
    /// In which role.
    pub role: Cow<'a, str>,
    /// By whom.
    pub by: Cow<'a, str>,
}

/// A question that the world was asked, and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// Whether a file exists.
    Exists {
        /// Its normalised path.
        path: Box<str>,
        /// The answer; none where nobody could say.
        answer: Option<bool>,
    },
    /// What a probe answers.
    Probe {
        /// Its name.
        name: Box<str>,
        /// There was an answer.
        answered: bool,
        /// The answer.
        answer: Json,
    },
    /// Whether a regular file is there.
    File {
        /// Its normalised path.
        path: Box<str>,
        /// The answer; none where nobody could say.
        answer: Option<bool>,
    },
    /// Whether a file contains a text.
    Contains {
        /// Its normalised path.
        path: Box<str>,
        /// The text.
        text: Box<str>,
        /// The answer; none where nobody could say.
        answer: Option<bool>,
    },
    /// What a file holds.
    Text {
        /// Its normalised path.
        path: Box<str>,
        /// The answer; none where nobody could say.
        answer: Option<Content>,
    },
    /// What a file's content is.
    Sha256 {
        /// Its normalised path.
        path: Box<str>,
        /// There was an answer.
        answered: bool,
        /// The hash, lower-case hexadecimal; none where no regular file is there.
        answer: Option<String>,
    },
    /// What a command does.
    Run {
        /// The command, word for word.
        command: Vec<String>,
        /// What became of it; none where nobody could run it.
        answer: Option<Ran>,
    },
    /// Whether nothing is uncommitted.
    Committed {
        /// The answer; none where nobody could say.
        answer: Option<bool>,
    },
}

/// A state variable that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// The variable.
    pub name: Box<str>,
    /// Its value before.
    pub before: Json,
    /// Its value now.
    pub after: Json,
}

/// A note of the kernel about a rule, a tool or a variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Note {
    /// How grave it is.
    pub kind: NoteKind,
    /// The rule, tool or variable.
    pub rule: String,
    /// What was wrong.
    pub message: String,
}

/// The beginning of a note on a row that a result does not teach, before the name of the fact.
const UNLEARNED: &str = "a row of ";

impl Note {
    /// Returns the message of a row that was not taught, and why.
    pub fn unlearned(fact: &str, why: &dyn std::fmt::Display) -> String {
        format!("{UNLEARNED}`{fact}` was not learned: {why}")
    }

    /// Returns true if the note says that a result, or a row that it teaches, does not decode.
    pub fn is_undecoded(&self) -> bool {
        let row = self.kind == NoteKind::Warning && self.message.starts_with(UNLEARNED);
        self.kind == NoteKind::Undecoded || row
    }
}

/// The kind of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// A rule in shadow, or a monitor, would have spoken.
    Shadow,
    /// Reported only.
    Warning,
    /// The result does not decode; nothing was learned from it.
    Undecoded,
    /// A part of the result is shown to the agent with another value, or could not be.
    Transform,
    /// A provider of feedback could not be evaluated.
    Feedback,
    /// It halted the session.
    Halt,
    /// The optimized plan did not settle as the full plan does; what the full plan says counts.
    Mismatch,
}

/// A line as it is read; the payload waits for its kind.
#[derive(Deserialize)]
struct RawRecord {
    seq: u64,
    time: String,
    kind: Kind,
    call: Option<String>,
    payload: Box<serde_json::value::RawValue>,
    prev: String,
    hash: String,
}

impl Record {
    /// Parses one line. [`verify_chain`] checks the hash chain.
    ///
    /// # Errors
    ///
    /// Returns a description of the problem.
    pub fn parse(line: &str) -> Result<Record, String> {
        let line: RawRecord = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let text = line.payload.get();
        let payload = match line.kind {
            Kind::Open => serde_json::from_str(text).map(Payload::Open),
            Kind::Propose => serde_json::from_str(text).map(Payload::Propose),
            Kind::Settle => serde_json::from_str(text).map(Payload::Settle),
            Kind::Approve => serde_json::from_str(text).map(Payload::Approve),
            Kind::Revoke => serde_json::from_str(text).map(Payload::Revoke),
            Kind::Usage => serde_json::from_str(text).map(Payload::Usage),
            Kind::Resume => serde_json::from_str(text).map(Payload::Resume),
            Kind::Prompt => serde_json::from_str(text).map(Payload::Prompt),
            Kind::Stop => serde_json::from_str(text).map(Payload::Stop),
            Kind::Item => serde_json::from_str(text).map(Payload::Item),
            Kind::Answers => serde_json::from_str(text).map(Payload::Answers),
            Kind::Contract => serde_json::from_str(text).map(Payload::Contract),
            Kind::Snapshot => serde_json::from_str(text).map(Payload::Snapshot),
            Kind::Upgrade => serde_json::from_str(text).map(Payload::Upgrade),
            Kind::Ledger => serde_json::from_str(text).map(Payload::Ledger),
        };
        let payload = payload.map_err(|error| error.to_string())?;
        let RawRecord { seq, time, call, prev, hash, .. } = line;
        Ok(Record { seq, time, call, payload, prev, hash })
    }

    /// Returns the kind of its event.
    pub fn kind(&self) -> Kind {
        match self.payload {
            Payload::Open(_) => Kind::Open,
            Payload::Propose(_) => Kind::Propose,
            Payload::Settle(_) => Kind::Settle,
            Payload::Approve(_) => Kind::Approve,
            Payload::Revoke(_) => Kind::Revoke,
            Payload::Usage(_) => Kind::Usage,
            Payload::Resume(_) => Kind::Resume,
            Payload::Prompt(_) => Kind::Prompt,
            Payload::Stop(_) => Kind::Stop,
            Payload::Item(_) => Kind::Item,
            Payload::Answers(_) => Kind::Answers,
            Payload::Contract(_) => Kind::Contract,
            Payload::Snapshot(_) => Kind::Snapshot,
            Payload::Upgrade(_) => Kind::Upgrade,
            Payload::Ledger(_) => Kind::Ledger,
        }
    }
}
