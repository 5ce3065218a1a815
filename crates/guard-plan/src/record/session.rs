//! The parts of a record that concern a whole session: runs of commands, feedback, items, prompts,
//! stops.

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
    /// There is no regular file.
    Missing,
    /// It is longer than [`TEXT_BYTES`].
    TooLarge,
    /// It is not UTF-8.
    NotText,
    /// This text.
    Text(Box<str>),
}

impl Content {
    /// Returns the content of bytes; more than [`TEXT_BYTES`] are too large.
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
    /// How it ended.
    pub ended: RunEnd,
    /// The last [`OUTPUT_CHARS`] characters of standard output and then standard error; lossy UTF-8.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// The first [`STDOUT_BYTES`] of standard output, and one more where there is more; kept only where a probe
    /// that is no `bool` asks the command.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
}

/// The way in which a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// By itself, with this status.
    Exited(i32),
    /// It took too long, and was killed.
    TimedOut,
    /// By this signal of somebody else.
    Signalled(i32),
    /// It could not be started; says why.
    NotStarted(String),
}

impl Ran {
    /// Truncates output that exceeds the size limit of a record; drops `stdout` if no probe reads
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
    /// Who speaks.
    pub provider: String,
    /// How grave it is.
    pub severity: Severity,
    /// The whole `<feedback>` block.
    pub text: String,
    /// The number of the judged event.
    pub judged: u64,
}

/// Returns the text of a round of feedback: its blocks, separated by an empty line.
pub fn rendered(delivered: &[Delivered]) -> String {
    delivered.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n\n")
}

/// A change of an item, or an attempt that left it as it was (semantics §11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ItemChange {
    /// The item's id.
    pub item: String,
    /// Its lifecycle.
    pub lifecycle: String,
    /// Who changed it.
    pub actor: Actor,
    /// The call of an agent; of the harness who did it, or `verify`.
    pub by: String,
    /// The transition, `create` for a new item; none where nothing moved.
    pub transition: Option<String>,
    /// Its state before; none for a new item.
    pub before: Option<String>,
    /// Its state now.
    pub after: String,
    /// Why it was rejected, or what its criteria lack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// The criteria nobody could judge; nothing moved then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<String>,
    /// How often it has been rejected.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rejections: u64,
}

/// Something that a stop lacks (semantics §12).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Missing {
    /// The check as text.
    pub text: String,
    /// What is missing, in words.
    pub message: String,
    /// `file:line:column` of the check, where it is known.
    pub span: Option<String>,
}

/// The decision on a stop of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StopDecision {
    /// It may.
    Allow,
    /// It has to go on.
    Block,
}

/// The user has said something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Prompt<'a> {
    /// What.
    pub text: Cow<'a, str>,
    /// How many rows facts were taught.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub learned: u64,
    /// How many rows went for others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten: u64,
    /// What was noticed.
    #[serde(default, skip_serializing_if = "super::is_empty")]
    pub notes: Cow<'a, [Note]>,
    /// What the world was asked.
    #[serde(default, skip_serializing_if = "super::is_empty")]
    pub asked: Cow<'a, [Asked]>,
    /// What stands as hashes here, for whoever has the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}

/// The agent wants to stop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stop<'a> {
    /// Why, as the host says.
    pub reason: Option<Cow<'a, str>>,
    /// Whether it may.
    pub decision: StopDecision,
    /// Why nothing was checked: `halted`, `deadline` or an exhausted unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypassed: Option<Cow<'a, str>>,
    /// It may stop although something is missing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub incomplete: bool,
    /// What is missing.
    #[serde(default, skip_serializing_if = "super::is_empty")]
    pub missing: Cow<'a, [Missing]>,
    /// What the agent is told.
    #[serde(default, skip_serializing_if = "super::is_nothing")]
    pub message: Cow<'a, str>,
    /// What was noticed.
    #[serde(default, skip_serializing_if = "super::is_empty")]
    pub notes: Cow<'a, [Note]>,
    /// What the world was asked.
    #[serde(default, skip_serializing_if = "super::is_empty")]
    pub asked: Cow<'a, [Asked]>,
    /// What stands as hashes here, for whoever has the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}

/// The harness verifies or moves an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Item<'a> {
    /// Its id.
    pub item: Cow<'a, str>,
    /// The transition by hand; none where its criteria were verified.
    pub transition: Option<Cow<'a, str>>,
    /// Who moved it by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Cow<'a, str>>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'a, str>>,
    /// What it came to.
    pub change: Cow<'a, ItemChange>,
    /// What the world was asked.
    #[serde(default, skip_serializing_if = "super::is_empty")]
    pub asked: Cow<'a, [Asked]>,
    /// What stands as hashes here, for whoever has the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
}
