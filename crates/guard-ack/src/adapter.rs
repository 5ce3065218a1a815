//! The two sides of a case: an adapter, and the world that is played around it.

use crate::protocol::{
    Approval, ApprovalRequest, Call, Declared, Done, End, Hello, Message, Replay, Replayed,
    Restore, Run, Turn,
};
use serde_json::Value;
use std::fmt;

/// An adapter under test, in this process or behind a line protocol.
pub trait Adapter {
    /// Introduces itself.
    fn hello(&mut self, hello: &Hello) -> Result<Declared, Trouble>;
    /// Runs the agent's loop to its end.
    fn run(&mut self, run: &Run, world: &mut dyn World) -> Result<End, Trouble>;
    /// What is needed to restore a session.
    fn snapshot(&mut self, session: &str) -> Result<Value, Trouble>;
    /// Makes a session what it was.
    fn restore(&mut self, restore: &Restore) -> Result<(), Trouble>;
    /// Forgets a session.
    fn reset(&mut self, session: &str) -> Result<(), Trouble>;
    /// Plays a trace again.
    fn replay(&mut self, replay: &Replay) -> Result<Replayed, Trouble>;
    /// What it wrote for people, the end of it.
    fn said(&mut self) -> String {
        String::new()
    }
}

/// Who can be started as an adapter, as often as there are cases.
pub trait Contestant: Sync {
    /// A fresh one.
    fn start(&self) -> Result<Box<dyn Adapter + '_>, Trouble>;
}

/// Everything outside of the adapter.
pub trait World {
    /// Asks the model.
    fn model(&mut self, messages: &[Message]) -> Result<Turn, Refused>;
    /// A tool begins to run.
    fn begin(&mut self, call: &Call);
    /// The next call that has ended, with its id. `idle`: the adapter has nothing else to begin.
    fn ended(&mut self, idle: bool) -> Option<(String, Done)>;
    /// The time, RFC 3339.
    fn now(&mut self) -> String;
    /// Asks somebody to approve a call.
    fn approval(&mut self, request: &ApprovalRequest) -> Approval;
    /// Asks the host for a probe.
    fn probe(&mut self, name: &str) -> Option<Value>;
}

/// The model is not there any more: the script has ended. The adapter ends its loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused;

/// Why an adapter could not be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What kind of.
    pub kind: Kind,
    /// In words.
    pub message: String,
}

/// What kind of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It could not be started.
    Start,
    /// It did not answer in time.
    Hang,
    /// It ended.
    Crash,
    /// What it said is no message, or not one that may come now.
    Message,
    /// It said too much.
    Flood,
    /// It answered with an error.
    Error,
}

impl Kind {
    const ALL: [Kind; 6] =
        [Kind::Start, Kind::Hang, Kind::Crash, Kind::Message, Kind::Flood, Kind::Error];

    /// The kind of which this is the word.
    pub fn of(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Start => "start",
            Kind::Hang => "hang",
            Kind::Crash => "crash",
            Kind::Message => "message",
            Kind::Flood => "flood",
            Kind::Error => "error",
        }
    }
}

impl Trouble {
    /// Of a kind, in words.
    pub fn new(kind: Kind, message: impl Into<String>) -> Trouble {
        Trouble { kind, message: message.into() }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.word(), self.message)
    }
}
