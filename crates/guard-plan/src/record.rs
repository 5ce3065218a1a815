//! The trace: the events of a session, one JSON object per line. Each line contains the hash of the
//! previous one.
//!
//! The hash of a record is the SHA-256 of its line up to `,"hash":`. Changing, removing, inserting
//! or reordering a line breaks the chain at that line. Only the removal of the last lines needs a
//! checkpoint to be detected. Secrets appear only as salted hashes.

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
    /// An approval is revoked.
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
    /// The host reports answers to its probes, valid from then on.
    Answers,
    /// A text was judged by a contract.
    Contract,
    /// The whole state of the session, in place of the records before.
    Snapshot,
    /// The session continues under another plan.
    Upgrade,
    /// An entry of a store's own chain: a session, or a charge to a shared budget.
    Ledger,
}

impl Kind {
    /// Returns the name of the kind in a record.
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
    /// The number of the record, from 0.
    pub seq: u64,
    /// The time by the session's clock, in RFC 3339.
    pub time: String,
    /// The id of the call, if the record is about one.
    pub call: Option<String>,
    /// The event.
    pub payload: Payload,
    /// The hash of the previous record; zeros if there is none.
    pub prev: String,
    /// The hash of this record.
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

/// The start of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Open<'a> {
    /// The content hash of the plan, `sha256:…`.
    pub plan: Cow<'a, str>,
    /// The guard's name.
    pub guard: Cow<'a, str>,
    /// The session's id.
    pub session: Cow<'a, str>,
    /// The folder that relative paths start from.
    pub workspace: Cow<'a, str>,
    /// The version of Guard that makes the decisions.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub version: Cow<'a, str>,
    /// The person or system for whom the agent acts, as reported by the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<Cow<'a, str>>,
    /// The opening data from the host (semantics §8).
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub data: Option<Cow<'a, Json>>,
    /// The number of rows that the opening data taught.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub learned: u64,
    /// The number of rows that were removed to make room for others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten: u64,
    /// The notes of the kernel.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub notes: Cow<'a, [Note]>,
    /// The rate at which proved invariants are checked again: at one of this many calls. Only for a
    /// plan with proofs; omitted if nothing is checked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recheck: Option<NonZeroU32>,
    /// The clear text of the hashed secrets in this record, encrypted with the session's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}

/// The proposal of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Propose<'a> {
    /// The name under which the tool was called.
    pub tool: Cow<'a, str>,
    /// The arguments. If they could not be parsed, their text.
    pub args: Cow<'a, Json>,
    /// The error of the parser, if the arguments could not be parsed as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<Cow<'a, str>>,
    /// The verdict of the kernel.
    pub verdict: Cow<'a, Verdict>,
    /// The questions to the world, with the answers.
    pub asked: Cow<'a, [Asked]>,
    /// The result, if the kernel served the call, which is then settled.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub served: Option<Cow<'a, Json>>,
    /// Of a served call: the state variables that changed.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub changes: Cow<'a, [Change]>,
    /// Of a served call: the number of rows that were taught.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub learned: u64,
    /// Of a served call: the number of rows that were removed to make room for others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten: u64,
    /// True if the session is now halted. Only for a served call, or for a call that showed a proof
    /// to be wrong.
    #[serde(default, skip_serializing_if = "is_false")]
    pub halted: bool,
    /// Of an allowed call: its charges.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub charged: Cow<'a, [Charge]>,
    /// The items that changed.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub items: Cow<'a, [ItemChange]>,
    /// The notes of the kernel.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub notes: Cow<'a, [Note]>,
    /// The feedback that the call triggered.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub feedback: Cow<'a, [Delivered]>,
    /// The number of proved invariants and types that were checked again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rechecked: u64,
    /// The proof that was found to be wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken_proof: Option<Box<BrokenProof>>,
    /// The clear text of the hashed secrets in this record, encrypted with the session's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}

impl<'a> Propose<'a> {
    /// Returns a proposal without changes, charges, notes or questions.
    pub fn plain(
        tool: Cow<'a, str>,
        args: Cow<'a, Json>,
        verdict: Cow<'a, Verdict>,
    ) -> Propose<'a> {
        Propose {
            tool,
            args,
            unreadable: None,
            verdict,
            asked: Cow::Borrowed(&[]),
            served: None,
            changes: Cow::Borrowed(&[]),
            learned: 0,
            forgotten: 0,
            halted: false,
            charged: Cow::Borrowed(&[]),
            items: Cow::Borrowed(&[]),
            notes: Cow::Borrowed(&[]),
            feedback: Cow::Borrowed(&[]),
            rechecked: 0,
            broken_proof: None,
            sealed: None,
        }
    }
}

/// The settlement of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settle<'a> {
    /// True if the call succeeded.
    pub success: bool,
    /// The result; `null` if there is none.
    pub result: Cow<'a, Json>,
    /// The reason why the result could not be parsed. `result` is then its text, truncated, or
    /// `null` if the text may contain secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<Cow<'a, str>>,
    /// The state variables that changed.
    pub changes: Cow<'a, [Change]>,
    /// The number of rows that were taught.
    pub learned: u64,
    /// The notes of the kernel.
    pub notes: Cow<'a, [Note]>,
    /// True if the session is now halted.
    pub halted: bool,
    /// The questions to the world, with the answers.
    pub asked: Cow<'a, [Asked]>,
    /// The number of rows that were removed to make room for others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten: u64,
    /// Of a failed call: the charges that are given back.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub returned: Cow<'a, [Charge]>,
    /// The feedback that the settlement triggered.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub feedback: Cow<'a, [Delivered]>,
    /// The number of proved invariants and types that were checked again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rechecked: u64,
    /// The proof that was found to be wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken_proof: Option<Box<BrokenProof>>,
    /// The clear text of the hashed secrets in this record, encrypted with the session's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}

impl<'a> Settle<'a> {
    /// Returns a settlement without changes, notes or questions.
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

/// Deserializes a member that is present as `Some`, even if it is `null`.
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

/// An approval of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Approve<'a> {
    /// The tool.
    pub tool: Cow<'a, str>,
    /// The arguments.
    pub args: Cow<'a, Json>,
    /// The role of the person.
    pub role: Cow<'a, str>,
    /// The person who approves.
    pub by: Cow<'a, str>,
    /// The time at which the approval expires, in RFC 3339.
    pub expires: Option<String>,
    /// The clear text of the hashed secrets in this record, encrypted with the session's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}

/// The revocation of an approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Revoke<'a> {
    /// The tool.
    pub tool: Cow<'a, str>,
    /// The arguments.
    pub args: Cow<'a, Json>,
    /// The role whose approvals are revoked.
    pub role: Cow<'a, str>,
    /// The person who revokes.
    pub by: Cow<'a, str>,
    /// The clear text of the hashed secrets in this record, encrypted with the session's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}

/// The amount that a call was charged in one unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Charge {
    /// The unit.
    pub unit: Box<str>,
    /// The amount, a decimal.
    pub amount: Box<str>,
}

/// A report of usage by the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage<'a> {
    /// The unit.
    pub unit: Cow<'a, str>,
    /// The amount, a decimal.
    pub amount: Cow<'a, str>,
}

/// The end of a halt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resume<'a> {
    /// The role of the person.
    pub role: Cow<'a, str>,
    /// The person who ends the halt.
    pub by: Cow<'a, str>,
}

/// A question to the world, and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// A question whether a file exists.
    Exists {
        /// The normalised path of the file.
        path: Box<str>,
        /// The answer; none if the world could not answer.
        answer: Option<bool>,
    },
    /// A question for the answer of a probe.
    Probe {
        /// The name of the probe.
        name: Box<str>,
        /// True if there was an answer.
        answered: bool,
        /// The answer.
        answer: Json,
    },
    /// A question whether a regular file exists.
    File {
        /// The normalised path of the file.
        path: Box<str>,
        /// The answer; none if the world could not answer.
        answer: Option<bool>,
    },
    /// A question whether a file contains a text.
    Contains {
        /// The normalised path of the file.
        path: Box<str>,
        /// The text.
        text: Box<str>,
        /// The answer; none if the world could not answer.
        answer: Option<bool>,
    },
    /// A question for the content of a file.
    Text {
        /// The normalised path of the file.
        path: Box<str>,
        /// The answer; none if the world could not answer.
        answer: Option<Content>,
    },
    /// A question for the hash of a file's content.
    Sha256 {
        /// The normalised path of the file.
        path: Box<str>,
        /// True if there was an answer.
        answered: bool,
        /// The SHA-256 in lower-case hexadecimal; none if there is no regular file.
        answer: Option<String>,
    },
    /// A question for the outcome of a command.
    Run {
        /// The words of the command.
        command: Vec<String>,
        /// The outcome; none if the command could not be run.
        answer: Option<Ran>,
    },
    /// A question whether there are no uncommitted changes.
    Committed {
        /// The answer; none if the world could not answer.
        answer: Option<bool>,
    },
}

/// A state variable that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// The name of the variable.
    pub name: Box<str>,
    /// The value before.
    pub before: Json,
    /// The value after.
    pub after: Json,
}

/// A note of the kernel about a rule, a tool or a variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Note {
    /// The kind of the note.
    pub kind: NoteKind,
    /// The rule, tool or variable.
    pub rule: String,
    /// The message.
    pub message: String,
}

/// The start of a note on a row that a result does not teach, before the name of the fact.
const UNLEARNED: &str = "a row of ";

impl Note {
    /// Returns the message for a row that was not taught, with the reason.
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
    /// A rule in shadow mode, or a monitor, would have given a reason.
    Shadow,
    /// A problem that is only reported.
    Warning,
    /// The result does not decode. Nothing was learned from it.
    Undecoded,
    /// A part of the result is shown to the agent with another value, or could not be replaced.
    Transform,
    /// A feedback provider could not be evaluated.
    Feedback,
    /// The problem halted the session.
    Halt,
    /// The optimized plan settled the call differently from the full plan. The outcome of the full
    /// plan is used.
    Mismatch,
}

/// A line as it is parsed. The payload is parsed after its kind is known.
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

    /// Returns the kind of the record's event.
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
