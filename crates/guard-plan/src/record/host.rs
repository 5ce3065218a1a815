//! The records that the kernel does not decide: approvals and their revocation, usage, the end of
//! halts, answers of the host, reports of contracts, snapshots, upgrades.

use super::members::{is_empty, is_false, present};
use super::{Asked, Payload, Record};
use crate::json::Json;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

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

/// A report of the host's answers to its probes, valid from then on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answers<'a> {
    /// The answers, by probe.
    pub answers: Cow<'a, Json>,
    /// The clear text of the hashed secrets in this record, encrypted with the session's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}

/// The clear text of the hashed secrets of a record: the content of `sealed`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Clear<'a> {
    /// The arguments.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub args: Option<Cow<'a, Json>>,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub result: Option<Cow<'a, Json>>,
    /// The opening data of the session.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub data: Option<Cow<'a, Json>>,
    /// The answers of the host.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub answers: Option<Cow<'a, Json>>,
    /// The questions to the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Cow<'a, [Asked]>>,
}

impl Clear<'_> {
    /// Returns true if there is nothing to seal.
    pub fn is_empty(&self) -> bool {
        *self == Clear::default()
    }

    /// Serializes the clear text for sealing.
    pub fn to_bytes(&self) -> Vec<u8> {
        // INVARIANT: writing to memory does not fail, and every key is a string.
        serde_json::to_vec(self).expect("it is plain data")
    }

    /// Parses the sealed bytes.
    ///
    /// # Errors
    ///
    /// Returns a description of the problem if the bytes are something else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Clear<'static>, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }
}

impl Record {
    /// Returns the sealed part.
    pub fn sealed(&self) -> Option<&str> {
        match &self.payload {
            Payload::Open(open) => open.sealed.as_deref(),
            Payload::Propose(propose) => propose.sealed.as_deref(),
            Payload::Settle(settle) => settle.sealed.as_deref(),
            Payload::Approve(approve) => approve.sealed.as_deref(),
            Payload::Revoke(revoke) => revoke.sealed.as_deref(),
            Payload::Prompt(prompt) => prompt.sealed.as_deref(),
            Payload::Stop(stop) => stop.sealed.as_deref(),
            Payload::Item(item) => item.sealed.as_deref(),
            Payload::Answers(answers) => answers.sealed.as_deref(),
            Payload::Usage(_) | Payload::Resume(_) => None,
            Payload::Contract(_)
            | Payload::Snapshot(_)
            | Payload::Upgrade(_)
            | Payload::Ledger(_) => None,
        }
    }

    /// Replaces the hashes by the clear text.
    pub fn reveal(&mut self, clear: Clear<'static>) {
        let Clear { args, result, data, answers, asked } = clear;
        let (shown, asks) = match &mut self.payload {
            Payload::Open(open) => return open.data = data.or(open.data.take()),
            Payload::Answers(it) => (answers.map(|clear| (&mut it.answers, clear)), None),
            Payload::Approve(approve) => (args.map(|clear| (&mut approve.args, clear)), None),
            Payload::Revoke(revoke) => (args.map(|clear| (&mut revoke.args, clear)), None),
            Payload::Propose(propose) => {
                (args.map(|clear| (&mut propose.args, clear)), Some(&mut propose.asked))
            }
            Payload::Settle(settle) => {
                (result.map(|clear| (&mut settle.result, clear)), Some(&mut settle.asked))
            }
            Payload::Prompt(prompt) => (None, Some(&mut prompt.asked)),
            Payload::Stop(stop) => (None, Some(&mut stop.asked)),
            Payload::Item(item) => (None, Some(&mut item.asked)),
            Payload::Usage(_) | Payload::Resume(_) => return,
            Payload::Contract(_)
            | Payload::Snapshot(_)
            | Payload::Upgrade(_)
            | Payload::Ledger(_) => return,
        };
        if let Some((shown, clear)) = shown {
            *shown = clear;
        }
        if let (Some(asks), Some(asked)) = (asks, asked) {
            *asks = asked;
        }
    }
}

/// The judgement of a text by a contract (contracts reference). The record does not contain the
/// text itself; the caller has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContractJudgement<'a> {
    /// The name of the contract.
    pub contract: Cow<'a, str>,
    /// The length of the text, in bytes.
    pub bytes: u64,
    /// The SHA-256 of the text, in lower-case hexadecimal.
    pub sha256: Cow<'a, str>,
    /// The reason for which the producer ended, as reported by the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<Cow<'a, str>>,
    /// The state: `valid`, `partial` or `lost`.
    pub state: Cow<'a, str>,
    /// The number of items that were kept.
    pub kept: u64,
    /// The number of units that were quarantined.
    pub quarantined: u64,
    /// True if the text was cut off.
    #[serde(default, skip_serializing_if = "is_false")]
    pub truncated: bool,
}

/// The whole state of the session, in place of the records before it (semantics §17).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Snapshot<'a> {
    /// The content hash of the plan, `sha256:…`.
    pub plan: Cow<'a, str>,
    /// The guard's name.
    pub guard: Cow<'a, str>,
    /// The session's id.
    pub session: Cow<'a, str>,
    /// The time at which the session began, in RFC 3339.
    pub start: Cow<'a, str>,
    /// The folder that relative paths start from.
    pub workspace: Cow<'a, str>,
    /// The version of the form of `memory`. Other versions are not read.
    pub form: u32,
    /// The state of the session, in base64; sealed if the guard has secrets.
    pub memory: Cow<'a, str>,
    /// True if `memory` is sealed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub sealed: bool,
}

/// The continuation of the session under another plan (semantics §17).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Upgrade<'a> {
    /// The content hash of the previous plan, `sha256:…`.
    pub from: Cow<'a, str>,
    /// The version of Guard that makes the decisions from now on.
    pub version: Cow<'a, str>,
    /// The person who forced the upgrade to a plan that was not shown to allow nothing more.
    /// Omitted if that was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced: Option<Forced<'a>>,
    /// The state that is new under the new plan, one sentence each.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub anew: Cow<'a, [String]>,
    /// The state of the session that the new plan does not use, one sentence each.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub dropped: Cow<'a, [String]>,
    /// The whole state of the session under the new plan.
    pub snapshot: Snapshot<'a>,
}

/// The person who forced an upgrade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Forced<'a> {
    /// The name of the person.
    pub by: Cow<'a, str>,
    /// The reason, as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'a, str>>,
}
