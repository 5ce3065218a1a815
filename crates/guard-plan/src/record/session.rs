//! The parts of a record that concern a whole session: commands, feedback, items, prompts, stops.

use super::{Asked, Note, is_false, is_zero};
use crate::plan::{Actor, Severity};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The maximum stored length of a command's output, in characters (semantics §12).
pub const OUTPUT_CHARS: usize = 1000;
/// The maximum length of a command's standard output as a probe's answer, in bytes (semantics §9).
pub const STDOUT_BYTES: usize = 64 << 10;

/// The maximum size of a file that a contract judges, in bytes (semantics §12).
pub const TEXT_BYTES: usize = 1 << 20;

/// The content of a file that a contract judges (semantics §12).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// There is no regular file at the path.
    Missing,
    /// The content is longer than [`TEXT_BYTES`].
    TooLarge,
    /// The content is not UTF-8.
    NotText,
    /// The content as text.
    Text(Box<str>),
}

impl Content {
    /// Returns the content of bytes. More than [`TEXT_BYTES`] bytes are too large.
    pub fn new(bytes: Vec<u8>) -> Content {
        match String::from_utf8(bytes) {
            Ok(text) => Content::Text(text.into()).bounded(),
            Err(error) if error.as_bytes().len() > TEXT_BYTES => Content::TooLarge,
            Err(_) => Content::NotText,
        }
    }

    /// Replaces content that exceeds the size limit of a record.
    pub fn bounded(self) -> Content {
        match self {
            Content::Text(text) if text.len() > TEXT_BYTES => Content::TooLarge,
            other => other,
        }
    }
}

/// The result of a command that was run (semantics §12).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ran {
    /// The way in which the command ended.
    pub ended: RunEnd,
    /// The last [`OUTPUT_CHARS`] characters of standard output followed by standard error; lossy
    /// UTF-8.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// The first [`STDOUT_BYTES`] of standard output, and one more byte if there is more. Kept only
    /// if a probe of another type than `bool` runs the command.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
}

/// The way in which a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// The command exited with this status.
    Exited(i32),
    /// The command exceeded its time limit and was killed.
    TimedOut,
    /// The command was ended by this signal of another process.
    Signalled(i32),
    /// The command could not be started. Contains the reason.
    NotStarted(String),
}

impl Ran {
    /// Truncates output that exceeds the size limit of a record. Drops `stdout` if no probe reads
    /// it.
    pub fn bounded(mut self, keeps_stdout: bool) -> Ran {
        let chars = self.output.chars().count();
        if let Some((at, _)) = self.output.char_indices().nth(chars.saturating_sub(OUTPUT_CHARS)) {
            self.output.drain(..at);
        }
        if !keeps_stdout {
            self.stdout.clear();
        } else if self.stdout.len() > STDOUT_BYTES {
            let mut end = STDOUT_BYTES + 1;
            while !self.stdout.is_char_boundary(end) {
                end += 1;
            }
            self.stdout.truncate(end);
        }
        self
    }
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
    #[serde(default, skip_serializing_if = "super::is_empty")]
    pub notes: Cow<'a, [Note]>,
    /// The questions to the world, with the answers.
    #[serde(default, skip_serializing_if = "super::is_empty")]
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
    #[serde(default, skip_serializing_if = "super::is_empty")]
    pub missing: Cow<'a, [Missing]>,
    /// The message to the agent.
    #[serde(default, skip_serializing_if = "super::is_nothing")]
    pub message: Cow<'a, str>,
    /// The notes of the kernel.
    #[serde(default, skip_serializing_if = "super::is_empty")]
    pub notes: Cow<'a, [Note]>,
    /// The questions to the world, with the answers.
    #[serde(default, skip_serializing_if = "super::is_empty")]
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
    #[serde(default, skip_serializing_if = "super::is_empty")]
    pub asked: Cow<'a, [Asked]>,
    /// The clear text of the hashed secrets in this record, encrypted with the session's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}
