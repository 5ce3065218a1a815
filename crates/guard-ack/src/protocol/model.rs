//! The messages to and from the model: its conversation, its texts and its calls.

use super::is_false;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The role of a message's author.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The developer of the agent.
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
    /// The author of the message.
    pub role: Role,
    /// The text, verbatim.
    #[serde(default)]
    pub text: String,
    /// For a tool message: the id of the call that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// For an assistant message: the calls that it makes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ModelCall>,
    /// For a tool message: true if the framework marks it as a failure, in addition to the text.
    #[serde(default, skip_serializing_if = "is_false")]
    pub failed: bool,
}

/// `model.next`: the whole conversation that the model would see now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelRequest {
    /// The messages, in order.
    pub messages: Vec<ModelMessage>,
    /// The session of the run that asks. Every question may name it; if several runs are in
    /// progress, every question must.
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
    /// The text beside the calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub say: Option<String>,
    /// The calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ModelCall>,
    /// The pieces of the text and the calls, if the model streams. Then `say` and `calls` are
    /// empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<StreamChunk>,
    /// True if the model wants to stop.
    #[serde(default, skip_serializing_if = "is_false")]
    pub stop: bool,
    /// The output of the stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The reason why the producer stopped: `stop`, `length`, `tool_calls`.
    #[serde(default)]
    pub finish_reason: String,
}

/// A piece of a streamed turn: of the text, or of the call with the index `at`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamChunk {
    /// A piece of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub say: Option<String>,
    /// The index of the call in its turn, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<usize>,
    /// The id of the call; only in its first piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The tool; only in the first piece of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// A piece of the arguments as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<String>,
}

/// A call that the model makes. If it is run, these are the parameters of `tool.execute`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelCall {
    /// The id of the call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// The arguments: an object. A string is the model's text if that is not JSON; other values are
    /// what the model wrote instead of an object.
    pub args: Value,
}

/// An event outside of the loop, which the adapter reports to the guard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum HostEvent {
    /// A message of the user, which the model is also shown.
    Prompt {
        /// The text of the message.
        text: String,
    },
    /// A verification of an item's criteria by the harness.
    Verify {
        /// The id of the item.
        item: String,
    },
    /// A move of an item by the harness.
    Move {
        /// The id of the item.
        item: String,
        /// The transition.
        transition: String,
        /// The person who moves the item.
        by: String,
        /// The reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// An approval of a call that has waited for it.
    Approve {
        /// The tool.
        tool: String,
        /// The arguments.
        args: Value,
        /// The role of the person.
        role: String,
        /// The person who approves.
        by: String,
    },
    /// The revocation of an approval.
    Revoke {
        /// The tool.
        tool: String,
        /// The arguments.
        args: Value,
        /// The role that had approved it.
        role: String,
        /// The person who revokes.
        by: String,
    },
    /// The end of a halt.
    Resume {
        /// The role of the person.
        role: String,
        /// The person who ends the halt.
        by: String,
    },
}
