//! The two sides of a case: an adapter, and the world around it.

use crate::protocol::{
    ApprovalAnswer, ApprovalRequest, Declared, Done, Hello, LoopEnd, ModelCall, ModelMessage,
    ModelTurn, Outage, ReplayAnswer, ReplayRequest, Restore, Run,
};
use serde_json::Value;
use std::fmt;

/// An adapter under test, in this process or behind a line protocol.
pub trait Adapter {
    /// Introduces itself.
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
    /// Ends a case. After a clean one the adapter may be kept for another case.
    ///
    /// # Errors
    ///
    /// Returns an error if the adapter does not begin anew after a clean case, although it declares that it does.
    fn finish(&mut self, clean: bool) -> Result<(), AdapterTrouble> {
        let _ = clean;
        Ok(())
    }
    /// Ends the adapter, as the end of its input does.
    ///
    /// # Errors
    ///
    /// Returns how it ended, if it did not end by itself with exit status 0, or left a process behind.
    fn end(&mut self) -> Result<(), String> {
        Ok(())
    }
    /// Ends the outage of its guard, if there is one: the guard answers again.
    fn end_outage(&mut self) {}
    /// Shortens the time limit of each step: the adapter was silent in this case before.
    fn shorten_patience(&mut self) {}
    /// True if all its processes sleep: when it is silent then, no busy machine is the reason.
    fn is_asleep(&mut self) -> bool {
        false
    }
    /// True if earlier cases were played in this process.
    fn is_used(&self) -> bool {
        false
    }
    /// Returns the end of its diagnostic output.
    fn said(&mut self) -> String {
        String::new()
    }
}

/// Starts adapters, one for each case.
pub trait Contestant: Sync {
    /// Starts a new adapter.
    ///
    /// # Errors
    ///
    /// Returns an error if the adapter cannot be started.
    fn start(&self) -> Result<Box<dyn Adapter + '_>, AdapterTrouble>;
    /// Starts a new adapter whose guard fails in this way, and that has served no case before.
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
    /// [`Refused`] where the model gives no turn.
    fn model(&mut self, messages: &[ModelMessage]) -> Result<ModelTurn, Refused>;
    /// Records that a tool begins to run.
    fn begin(&mut self, call: &ModelCall);
    /// Returns the next call that has ended, with its id. `idle` is true if the adapter has nothing
    /// else to begin.
    fn ended(&mut self, idle: bool) -> Option<(String, Done)>;
    /// Returns whether calls are held until others run beside them.
    fn is_expecting_company(&self) -> bool {
        true
    }
    /// Returns the time, RFC 3339.
    fn now(&mut self) -> String;
    /// Returns whether a call in flight ends at this question for the time, which is answered only when the adapter has
    /// nothing else to do.
    fn is_racing(&mut self) -> bool {
        false
    }
    /// Asks for the approval of a call.
    fn approval(&mut self, request: &ApprovalRequest) -> ApprovalAnswer;
    /// Asks the host for the answer of a probe.
    fn probe(&mut self, name: &str) -> Option<Value>;
    /// Returns the run of another session that begins now, beside the run that goes on. It is given out once.
    fn beside(&mut self) -> Option<Run> {
        None
    }
    /// Says whose questions follow, where several runs go on.
    fn select(&mut self, session: &str) {
        let _ = session;
    }
    /// Takes the end of the run that began beside another.
    fn beside_ended(&mut self, end: Result<LoopEnd, AdapterTrouble>) {
        let _ = end;
    }
}

/// The model is gone: the script has ended. The adapter must end its loop.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TroubleKind {
    /// It could not be started.
    Start,
    /// It did not answer in time.
    Hang,
    /// It ended unexpectedly.
    Crash,
    /// Its output is not a message, or not one that is allowed now.
    Message,
    /// It sent too much output.
    Flood,
    /// It answered with an error.
    Error,
}

impl TroubleKind {
    const ALL: [TroubleKind; 6] = [
        TroubleKind::Start,
        TroubleKind::Hang,
        TroubleKind::Crash,
        TroubleKind::Message,
        TroubleKind::Flood,
        TroubleKind::Error,
    ];

    /// Returns the kind with this name.
    pub fn from_word(word: &str) -> Option<TroubleKind> {
        TroubleKind::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Returns its name.
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
