//! The two sides of a case: an adapter, and the world around it.

use crate::protocol::{
    ApprovalAnswer, ApprovalRequest, Declared, Done, Hello, LoopEnd, ModelCall, ModelMessage,
    ModelTurn, Outage, ReplayAnswer, ReplayRequest, Restore, Run,
};
use serde::Deserialize;
use serde_json::Value;
use std::fmt;

/// An adapter under test, in this process or behind a line protocol.
pub trait Adapter {
    /// Sends `hello`, and returns the adapter's declaration.
    ///
    /// # Errors
    ///
    /// Returns an error if the adapter cannot be judged.
    fn hello(&mut self, hello: &Hello) -> Result<Declared, AdapterTrouble>;
    /// Runs the agent's loop to its end.
    ///
    /// # Errors
    ///
    /// Returns an error if the adapter cannot be judged.
    fn run(&mut self, run: &Run, world: &mut dyn AdapterWorld) -> Result<LoopEnd, AdapterTrouble>;
    /// Returns the data needed to restore a session.
    ///
    /// # Errors
    ///
    /// Returns an error if the adapter cannot be judged.
    fn snapshot(&mut self, session: &str) -> Result<Value, AdapterTrouble>;
    /// Restores a session from a snapshot.
    ///
    /// # Errors
    ///
    /// Returns an error if the adapter cannot be judged.
    fn restore(&mut self, restore: &Restore) -> Result<(), AdapterTrouble>;
    /// Deletes a session, or all of them.
    ///
    /// # Errors
    ///
    /// Returns an error if the adapter cannot be judged.
    fn reset(&mut self, session: Option<&str>) -> Result<(), AdapterTrouble>;
    /// Replays a trace.
    ///
    /// # Errors
    ///
    /// Returns an error if the adapter cannot be judged.
    fn replay(&mut self, replay: &ReplayRequest) -> Result<ReplayAnswer, AdapterTrouble>;
    /// Ends a case. After a clean case, the adapter may be kept for another one.
    ///
    /// # Errors
    ///
    /// Returns an error if the adapter does not reset itself after a clean case, although it
    /// declares that it does.
    fn finish(&mut self, clean: bool) -> Result<(), AdapterTrouble> {
        let _ = clean;
        Ok(())
    }
    /// Ends the adapter by closing its input.
    ///
    /// # Errors
    ///
    /// Returns the way in which it ended, if it did not exit by itself with status 0, or left a
    /// process running.
    fn end(&mut self) -> Result<(), String> {
        Ok(())
    }
    /// Ends the outage of the guard, if there is one: the guard answers again.
    fn end_outage(&mut self) {}
    /// Shortens the time limit of each step, because the adapter was silent in this case before.
    fn shorten_patience(&mut self) {}
    /// Returns true if all processes of the adapter sleep: a busy machine is then not the reason
    /// for its silence.
    fn is_asleep(&mut self) -> bool {
        false
    }
    /// Returns true if earlier cases were played in this process.
    fn is_used(&self) -> bool {
        false
    }
    /// Returns the end of the adapter's diagnostic output.
    fn said(&mut self) -> String {
        String::new()
    }
}

/// A source of adapters, one for each case.
pub trait Contestant: Sync {
    /// Starts a new adapter.
    ///
    /// # Errors
    ///
    /// Returns an error if the adapter cannot be started.
    fn start(&self) -> Result<Box<dyn Adapter + '_>, AdapterTrouble>;
    /// Starts a new adapter whose guard fails in this way, and that has played no case before.
    ///
    /// # Errors
    ///
    /// Returns an error if the adapter cannot be started.
    fn start_fresh(
        &self,
        outage: Option<&Outage>,
    ) -> Result<Box<dyn Adapter + '_>, AdapterTrouble> {
        let _ = outage;
        self.start()
    }
}

/// The world outside of the adapter.
pub trait AdapterWorld {
    /// Asks the model.
    ///
    /// # Errors
    ///
    /// Returns [`Refused`] if the model gives no turn.
    fn model(&mut self, messages: &[ModelMessage]) -> Result<ModelTurn, Refused>;
    /// Records that a tool begins to run.
    fn begin(&mut self, call: &ModelCall);
    /// Returns the next call that has ended, with its id. `idle` is true if the adapter has nothing
    /// else to begin.
    fn ended(&mut self, idle: bool) -> Option<(String, Done)>;
    /// Returns true if calls are held until other calls run at the same time.
    fn is_expecting_company(&self) -> bool {
        true
    }
    /// Returns the time, RFC 3339.
    fn now(&mut self) -> String;
    /// Returns true if a call in flight ends at this question for the time. The question is
    /// answered only when the adapter has nothing else to do.
    fn is_racing(&mut self) -> bool {
        false
    }
    /// Asks for the approval of a call.
    fn approval(&mut self, request: &ApprovalRequest) -> ApprovalAnswer;
    /// Asks the host for the answer of a probe.
    fn probe(&mut self, name: &str) -> Option<Value>;
    /// Returns the run of another session that begins now, parallel to the current run. It is
    /// returned once.
    fn beside(&mut self) -> Option<Run> {
        None
    }
    /// Selects the session of the following questions, if several runs are in progress.
    fn select(&mut self, session: &str) {
        let _ = session;
    }
    /// Receives the end of the parallel run.
    fn beside_ended(&mut self, end: Result<LoopEnd, AdapterTrouble>) {
        let _ = end;
    }
}

/// The error that the model is gone, because the script has ended. The adapter must end its loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused;

/// The reason why an adapter could not be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdapterTrouble {
    /// The kind of problem.
    pub kind: TroubleKind,
    /// The description.
    pub message: String,
}

/// The kinds of problems with an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TroubleKind {
    /// It could not be started.
    Start,
    /// It did not answer in time.
    Hang,
    /// It ended unexpectedly.
    Crash,
    /// The output is not a message, or not a message that is allowed now.
    Message,
    /// It sent too much output.
    Flood,
    /// It answered with an error.
    Error,
}

impl TroubleKind {
    /// Returns the name of the kind.
    pub fn word(self) -> &'static str {
        match self {
            TroubleKind::Start => "start",
            TroubleKind::Hang => "hang",
            TroubleKind::Crash => "crash",
            TroubleKind::Message => "message",
            TroubleKind::Flood => "flood",
            TroubleKind::Error => "error",
        }
    }
}

impl AdapterTrouble {
    /// Returns a problem with a description.
    pub fn new(kind: TroubleKind, message: impl Into<String>) -> AdapterTrouble {
        AdapterTrouble { kind, message: message.into() }
    }
}

impl fmt::Display for AdapterTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.word(), self.message)
    }
}
