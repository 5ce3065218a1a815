//! The state of one run of an agent's loop, in any shape.

use crate::engine::Engine;
use guard_ack::AdapterTrouble;
use guard_ack::AdapterWorld;
use guard_ack::protocol::{ModelCall, ModelMessage, ModelTurn, OutageKind, Question, Role, Run};
use guard_plan::json::Json;
use guard_sdk::Event;
use serde_json::Value;

/// One run: the guarded session, the world with model and tools, and the conversation.
pub struct Harness<'w> {
    pub engine: &'w mut Engine,
    pub world: &'w mut dyn AdapterWorld,
    pub run: &'w Run,
    /// The messages so far.
    pub messages: Vec<ModelMessage>,
    /// The number of questions so far that the outage of this run counts.
    pub asked: u64,
    /// The text that the guard shows in place of the last settled result, if it changed the result.
    pub shown: Option<String>,
    /// True once the run is cancelled.
    pub is_cancelled: bool,
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
pub type AdapterResult<T> = Result<T, AdapterTrouble>;

impl Harness<'_> {
    /// Adds a message.
    pub fn say(&mut self, role: Role, text: &str) {
        self.messages.push(ModelMessage {
            role,
            text: text.into(),
            call: None,
            calls: Vec::new(),
            failed: false,
        });
    }

    /// Adds the answer to a call.
    pub fn answer(&mut self, call: &ModelCall, text: &str) {
        let role = Role::Tool;
        let call = Some(call.call.clone());
        self.messages.push(ModelMessage {
            role,
            text: text.into(),
            call,
            calls: Vec::new(),
            failed: false,
        });
    }

    /// Adds the message of the model.
    pub fn said(&mut self, turn: &ModelTurn) {
        let text = turn.say.clone().or(turn.output.clone()).unwrap_or_default();
        let role = Role::Assistant;
        let calls = turn.calls.clone();
        self.messages.push(ModelMessage { role, text, call: None, calls, failed: false });
    }

    /// Returns true if the guard is down for an event. Counts the events that the outage counts.
    pub fn is_guard_down(&mut self, event: &Event) -> bool {
        let Some(outage) = &self.run.outage else { return false };
        let counted = match outage.on {
            Question::Propose => matches!(event, Event::Propose(_)),
            Question::Settle => matches!(event, Event::Settle(_)),
            Question::Usage => matches!(event, Event::Usage(_)),
            Question::Stop => matches!(event, Event::Stop(_)),
            Question::Prompt => matches!(event, Event::Prompt(_)),
        };
        self.asked += u64::from(counted);
        match outage.how {
            OutageKind::ErrsOnce => counted && self.asked == outage.at,
            _ => self.asked >= outage.at,
        }
    }

    /// Returns true if the agent has a tool.
    pub fn has_tool(&self, name: &str) -> bool {
        // A tool that runs elsewhere never reaches the adapter.
        self.run.tools.iter().any(|tool| tool.name == name && tool.elsewhere.is_none())
    }

    /// Returns true if a tool belongs to the framework.
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

/// Returns what the guard shows in place of a result as the model reads it.
pub fn shown_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.to_string(),
        other => other.to_string(),
    }
}

/// Joins two texts, with an empty line between them if both are not empty.
pub fn joined(first: &str, second: &str) -> String {
    match (first.is_empty(), second.is_empty()) {
        (_, true) => first.into(),
        (true, false) => second.into(),
        (false, false) => format!("{first}\n\n{second}"),
    }
}
