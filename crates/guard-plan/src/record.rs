//! The trace: the events of a session, one JSON object per line. Each line contains the hash of the
//! previous one.
//!
//! The hash of a record is the SHA-256 of its line up to `,"hash":`. Changing, removing, inserting
//! or reordering a line breaks the chain at that line. Only the removal of the last lines needs a
//! checkpoint to be detected. Secrets appear only as salted hashes. This file has the frame of a
//! record; the payloads are in its modules, by what they are about.

mod asked;
mod broken;
mod call;
mod chain;
mod host;
mod ledger;
mod members;
mod note;
mod session;
mod write;

pub use asked::{Asked, Content, OUTPUT_CHARS, Ran, RunEnd, STDOUT_BYTES, TEXT_BYTES};
pub use broken::BrokenProof;
pub use call::{Change, Charge, Propose, Settle};
pub use chain::{Chain, ChainError, Verified, verify_chain};
pub use host::{
    Answers, Approve, Clear, ContractJudgement, Forced, Resume, Revoke, Snapshot, Upgrade, Usage,
};
pub use ledger::{Ledger, LedgerEntry};
pub use note::{Note, NoteKind};
pub use session::{
    Delivered, Item, ItemChange, Missing, Open, Prompt, Stop, StopDecision, rendered,
};
pub use write::WritePayload;

use serde::{Deserialize, Serialize};

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
