//! The state of one run of an agent's loop, in any shape.

use crate::engine::Engine;
use guard_ack::Trouble;
use guard_ack::World;
use guard_ack::protocol::{Call, Message, Role, Run, Turn};
use serde_json::Value;

/// One run: the guarded session, the world with model and tools, and the conversation.
pub struct Harness<'w> {
    pub engine: &'w mut Engine,
    pub world: &'w mut dyn World,
    pub run: &'w Run,
    /// The messages so far.
    pub messages: Vec<Message>,
}

/// The outcome of a tool call before the tool has ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Gate {
    /// The call runs.
    Run,
    /// The guard served the call: its result and feedback.
    Served(String),
    /// The call waits for another: the reason.
    Wait(String),
    /// The call does not run: the reason.
    Refused(String),
}

/// The result of a duty.
pub type AdapterResult<T> = Result<T, Trouble>;

impl Harness<'_> {
    /// Adds a message.
    pub fn say(&mut self, role: Role, text: &str) {
        self.messages.push(Message { role, text: text.into(), call: None, calls: Vec::new() });
    }

    /// Adds the answer to a call.
    pub fn answer(&mut self, call: &Call, text: &str) {
        let (role, call) = (Role::Tool, Some(call.call.clone()));
        self.messages.push(Message { role, text: text.into(), call, calls: Vec::new() });
    }

    /// Adds what the model said.
    pub fn said(&mut self, turn: &Turn) {
        let text = turn.say.clone().or(turn.output.clone()).unwrap_or_default();
        let (role, calls) = (Role::Assistant, turn.calls.clone());
        self.messages.push(Message { role, text, call: None, calls });
    }

    /// True if a tool is the framework's own.
    pub fn is_native(&self, name: &str) -> bool {
        self.run.tools.iter().any(|tool| tool.native && tool.name == name)
    }
}

/// Returns a result as the model reads it.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Joins two texts with an empty line between them where both say something.
pub fn joined(first: &str, second: &str) -> String {
    match (first.is_empty(), second.is_empty()) {
        (_, true) => first.into(),
        (true, false) => second.into(),
        (false, false) => format!("{first}\n\n{second}"),
    }
}
