//! The parts of a record that concern a whole session: its opening, feedback, items, prompts, stops.

use super::members::{is_empty, is_false, is_nothing, is_zero, present};
use super::{Asked, Note};
use crate::json::Json;
use crate::plan::{Actor, Severity};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::num::NonZeroU32;

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

/// Feedback that was delivered (semantics §10).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Delivered {
    /// The name of the provider.
    pub provider: String,
    /// The severity.
    pub severity: Severity,
    /// The whole `<feedback>` block.
    pub text: String,
    /// The number of the judged event.
    pub judged: u64,
}

/// Returns the text of a round of feedback: its blocks, separated by empty lines.
pub fn rendered(delivered: &[Delivered]) -> String {
    delivered.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n\n")
}

/// A change of an item, or an attempt that left it unchanged (semantics §11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ItemChange {
    /// The item's id.
    pub item: String,
    /// The name of the lifecycle.
    pub lifecycle: String,
    /// The party that changed the item.
    pub actor: Actor,
    /// The id of the agent's call; for the harness, the name of the person, or `verify`.
    pub by: String,
    /// The transition, or `create` for a new item; none if nothing moved.
    pub transition: Option<String>,
    /// The state before; none for a new item.
    pub before: Option<String>,
    /// The state now.
    pub after: String,
    /// The reasons why the item was rejected, or what its criteria lack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// The criteria that could not be judged. Nothing is moved in that case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<String>,
    /// The number of times that the item has been rejected.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rejections: u64,
}

/// A condition that a stop lacks (semantics §12).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Missing {
    /// The check as text.
    pub text: String,
    /// The missing condition, as a message.
    pub message: String,
    /// `file:line:column` of the check, if it is known.
    pub span: Option<String>,
}

/// The decision on a stop of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StopDecision {
    /// The agent may stop.
    Allow,
    /// The agent must continue.
    Block,
}

/// A message of the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Prompt<'a> {
    /// The text of the message.
    pub text: Cow<'a, str>,
    /// The number of rows that were taught.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub learned: u64,
    /// The number of rows that were removed to make room for others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten: u64,
    /// The notes of the kernel.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub notes: Cow<'a, [Note]>,
    /// The questions to the world, with the answers.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub asked: Cow<'a, [Asked]>,
    /// The clear text of the hashed secrets in this record, encrypted with the session's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}

/// A request of the agent to stop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stop<'a> {
    /// The reason for the stop, as reported by the host.
    pub reason: Option<Cow<'a, str>>,
    /// The decision on the stop.
    pub decision: StopDecision,
    /// The reason why nothing was checked: `halted`, `deadline` or an exhausted unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypassed: Option<Cow<'a, str>>,
    /// True if the agent may stop although something is missing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub incomplete: bool,
    /// The missing conditions.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub missing: Cow<'a, [Missing]>,
    /// The message to the agent.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub message: Cow<'a, str>,
    /// The notes of the kernel.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub notes: Cow<'a, [Note]>,
    /// The questions to the world, with the answers.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub asked: Cow<'a, [Asked]>,
    /// The clear text of the hashed secrets in this record, encrypted with the session's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}

/// A verification or a move of an item by the harness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Item<'a> {
    /// The id of the item.
    pub item: Cow<'a, str>,
    /// The transition of a move by hand; none if the criteria were verified.
    pub transition: Option<Cow<'a, str>>,
    /// The person who moved the item by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Cow<'a, str>>,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'a, str>>,
    /// The change of the item.
    pub change: Cow<'a, ItemChange>,
    /// The questions to the world, with the answers.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub asked: Cow<'a, [Asked]>,
    /// The clear text of the hashed secrets in this record, encrypted with the session's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}
