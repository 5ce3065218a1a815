//! The records of a call: its proposal and its settlement, with the charges and the changes of
//! variables. Approvals are in `host`.

use super::members::{is_empty, is_false, is_zero, present};
use super::{Asked, BrokenProof, Delivered, ItemChange, Note};
use crate::json::Json;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

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

/// The amount that a call was charged in one unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Charge {
    /// The unit.
    pub unit: Box<str>,
    /// The amount, a decimal.
    pub amount: Box<str>,
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
