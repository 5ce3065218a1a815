//! The outcome of every event. Data alone: operations fill it, hosts and the recorder read it.

use guard_plan::json::Json;
use guard_plan::plan::ToolId;
use guard_plan::record::{Asked, Delivered, ItemChange, Missing, Note, NoteKind, StopDecision};
use guard_plan::verdict::Verdict;

/// The outcome of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposed {
    /// The verdict.
    pub verdict: Verdict,
    /// What the world was asked, in order.
    pub asked: Vec<Asked>,
    /// The result of a tool that the kernel serves: the call is settled already (semantics §11).
    pub served: Option<Json>,
    /// Of a served call: how many rows facts were taught.
    pub learned: u64,
    /// Of a served call: how many rows went for others.
    pub forgotten: u64,
    /// Of a served call: the session is halted now.
    pub halted: bool,
    /// The items it changed.
    pub items: Vec<ItemChange>,
    /// The feedback that the refusal, or the settlement of a served call, calls for.
    pub feedback: Vec<Delivered>,
    /// What was noticed.
    pub notes: Vec<Note>,
}

impl Proposed {
    pub(crate) fn new(verdict: Verdict) -> Proposed {
        Proposed {
            verdict,
            asked: Vec::new(),
            served: None,
            learned: 0,
            forgotten: 0,
            halted: false,
            items: Vec::new(),
            feedback: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// The outcome of a settlement. The changed variables are in
/// [`Session::changes`](crate::Session::changes).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settled {
    /// The tool of the call, if the guard declares it.
    pub tool: Option<ToolId>,
    /// What was noticed.
    pub notes: Vec<Note>,
    /// How many rows facts were taught.
    pub learned: u64,
    /// How many rows went for others, their tables being full.
    pub forgotten: u64,
    /// The session is halted now.
    pub halted: bool,
    /// The feedback it calls for, in order.
    pub feedback: Vec<Delivered>,
    /// What the world was asked, in order.
    pub asked: Vec<Asked>,
}

impl Settled {
    pub(crate) fn note(&mut self, kind: NoteKind, rule: &str, message: String) {
        self.notes.push(Note { kind, rule: rule.into(), message });
    }
}

/// The outcome of a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Learned {
    /// How many rows facts were taught.
    pub learned: u64,
    /// How many rows went for others, their tables being full.
    pub forgotten: u64,
    /// What was noticed.
    pub notes: Vec<Note>,
    /// What the world was asked, in order.
    pub asked: Vec<Asked>,
}

impl Learned {
    /// Notes something once.
    pub(crate) fn note(&mut self, rule: &str, message: String) {
        if self.notes.iter().all(|note| note.message != message) {
            self.notes.push(Note { kind: NoteKind::Warning, rule: rule.into(), message });
        }
    }
}

/// The outcome of a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// Whether the agent may stop.
    pub decision: StopDecision,
    /// Why nothing was checked: `halted`, `deadline` or an exhausted unit.
    pub bypassed: Option<String>,
    /// It may although something is missing.
    pub incomplete: bool,
    /// What is missing.
    pub missing: Vec<Missing>,
    /// What the agent should read; empty where nothing is missing.
    pub message: String,
    /// What the world was asked, in order.
    pub asked: Vec<Asked>,
    /// What was noticed.
    pub notes: Vec<Note>,
}

impl Stopped {
    pub(crate) fn allowed(bypassed: Option<String>) -> Stopped {
        Stopped {
            decision: StopDecision::Allow,
            bypassed,
            incomplete: false,
            missing: Vec::new(),
            message: String::new(),
            asked: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// The outcome of an item that was verified or moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// What changed.
    pub change: ItemChange,
    /// What the world was asked, in order.
    pub asked: Vec<Asked>,
}

/// The outcome of any event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Of a proposal.
    Proposed(Proposed),
    /// Of a settlement.
    Settled(Settled),
    /// Of a prompt.
    Prompted(Learned),
    /// Of a stop.
    Stopped(Stopped),
    /// Of an item verified or moved.
    Item(Moved),
    /// Of an approval, a report of usage or the end of a halt.
    Taken,
}
