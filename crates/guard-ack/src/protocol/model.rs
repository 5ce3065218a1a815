//! The talk with the model: what it is shown, and what it says and calls.

use super::is_false;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The role of a message's author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Whoever built the agent.
    System,
    /// The user, or the harness.
    User,
    /// The model.
    Assistant,
    /// The answer to a call.
    Tool,
}

/// One message of a conversation, as the model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelMessage {
    /// Who says it.
    pub role: Role,
    /// The text, verbatim.
    #[serde(default)]
    pub text: String,
    /// Of a tool: the call it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Of the assistant: the calls it makes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ModelCall>,
    /// Of a tool: the framework marks it as a failure, beside the text.
    #[serde(default, skip_serializing_if = "is_false")]
    pub failed: bool,
}

/// `model.next`: what the model would see now, the whole conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelRequest {
    /// In order.
    pub messages: Vec<ModelMessage>,
    /// The session of the run that asks. Every question may say it; where several runs go on, it must.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// The answer to `model.next`: calls, or a stop.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelTurn {
    /// The events outside of the loop before the model answered, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host: Vec<HostEvent>,
    /// The usage of the model, by unit, as decimal text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub usage: BTreeMap<String, String>,
    /// The text beside its calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub say: Option<String>,
    /// Its calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ModelCall>,
    /// The chunks of its text and its calls, where the model streams; then `say` and `calls` are empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<StreamChunk>,
    /// True if it would stop.
    #[serde(default, skip_serializing_if = "is_false")]
    pub stop: bool,
    /// Its output, where it stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Why the producer stopped: `stop`, `length`, `tool_calls`.
    #[serde(default)]
    pub finish_reason: String,
}

/// A piece of a turn that is streamed: of the text, or of the call number `at`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamChunk {
    /// Of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub say: Option<String>,
    /// The number of the call in its turn, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<usize>,
    /// The id of the call, in its first piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The tool, in its first piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Of the arguments as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<String>,
}

/// A call that the model makes, or that is run: then these are the parameters of `tool.execute`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelCall {
    /// Its id.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// Its arguments: an object. A text is what the model wrote where that is no JSON; other values are what it wrote
    /// instead of an object.
    pub args: Value,
}

/// Something that happened outside of the loop, which the adapter tells the guard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum HostEvent {
    /// The user says something; the model is shown it.
    Prompt {
        /// What.
        text: String,
    },
    /// The harness judges the criteria of an item.
    Verify {
        /// Its id.
        item: String,
    },
    /// The harness moves an item.
    Move {
        /// Its id.
        item: String,
        /// By which transition.
        transition: String,
        /// Who.
        by: String,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Somebody approves a call that has waited for it.
    Approve {
        /// The tool.
        tool: String,
        /// The arguments.
        args: Value,
        /// In which role.
        role: String,
        /// Who.
        by: String,
    },
    /// Somebody takes back what was approved.
    Revoke {
        /// The tool.
        tool: String,
        /// The arguments.
        args: Value,
        /// The role that had approved it.
        role: String,
        /// Who.
        by: String,
    },
    /// Somebody ends a halt.
    Resume {
        /// In which role.
        role: String,
        /// Who.
        by: String,
    },
}
