//! The outcomes of events. This module has only data: operations produce it, and hosts and the
//! recorder read it.

use guard_plan::json::Json;
use guard_plan::plan::{InvariantId, ToolId, UnitId, VarId};
use guard_plan::record::{Asked, Delivered, ItemChange, Missing, Note, NoteKind, StopDecision};
use guard_plan::value::Value;
use guard_plan::verdict::{Decision, Reason, Verdict};

/// The outcome of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposed {
    /// The verdict.
    pub verdict: Verdict,
    /// For a call that a `transform` refuses: the arguments that it requires, with the other
    /// arguments unchanged. They are not judged. A host that may run another call than the agent's
    /// proposes them (reference, tools).
    pub instead: Option<Json>,
    /// The questions to the world, in order.
    pub asked: Vec<Asked>,
    /// The result of a tool that the kernel serves: the call is already settled (semantics §11).
    pub served: Option<Json>,
    /// For a served call: the number of rows taught to facts.
    pub learned: u64,
    /// For a served call: the number of rows evicted from full tables.
    pub forgotten: u64,
    /// True if the session is now halted. Only for a served call, and for a call that showed a
    /// proof to be wrong.
    pub halted: bool,
    /// The changed items.
    pub items: Vec<ItemChange>,
    /// The feedback on the refusal, or on the settlement of a served call.
    pub feedback: Vec<Delivered>,
    /// The notes on the event.
    pub notes: Vec<Note>,
    /// The number of proved invariants and types that were checked again (semantics §15).
    pub rechecked: u64,
    /// The proof that was found to be wrong, if any.
    pub broken_proof: Option<Box<ProofViolation>>,
}

impl Proposed {
    /// Returns the denial of a call by its host, for one reason. The guard has not seen the call.
    pub fn denied(reason: Reason) -> Proposed {
        let decision = Decision::Deny;
        let reasons = vec![reason];
        let shadowed = Vec::new();
        Proposed::new(Verdict { decision, reasons, shadowed })
    }

    pub(crate) fn new(verdict: Verdict) -> Proposed {
        Proposed {
            verdict,
            instead: None,
            asked: Vec::new(),
            served: None,
            learned: 0,
            forgotten: 0,
            halted: false,
            items: Vec::new(),
            feedback: Vec::new(),
            notes: Vec::new(),
            rechecked: 0,
            broken_proof: None,
        }
    }
}

/// A proved invariant, or a proved type of a variable, that did not hold when it was checked again:
/// a defect of Guard. It contains secrets in clear text; the record of the event hides them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofViolation {
    /// The tool of the call; `None` if a settlement was checked.
    pub tool: Option<ToolId>,
    /// The invariant; `None` if the type of the only variable in `state` was proved.
    pub invariant: Option<InvariantId>,
    /// True if the invariant was false before the call.
    pub already: bool,
    /// The error of the evaluation or of the type, if there is one.
    pub fault: Option<String>,
    /// The variables concerned, with their committed values and those after the call.
    pub state: Vec<(VarId, Value, Value)>,
}

/// The outcome of a settlement. The changed variables are in
/// [`SessionState::changes`](crate::SessionState::changes).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settled {
    /// The tool of the call, if the guard declares the tool.
    pub tool: Option<ToolId>,
    /// The result that the agent may read, if a `transform` changed it or could not be applied.
    pub shown: Option<Json>,
    /// The notes on the event.
    pub notes: Vec<Note>,
    /// The number of rows taught to facts.
    pub learned: u64,
    /// The number of rows evicted from full tables.
    pub forgotten: u64,
    /// The charges that a failure gave back, by unit, in units of 10⁻⁶.
    pub returned: Vec<(UnitId, i64)>,
    /// True if the session is now halted.
    pub halted: bool,
    /// The feedback on the settlement, in order.
    pub feedback: Vec<Delivered>,
    /// The questions to the world, in order.
    pub asked: Vec<Asked>,
    /// The number of proved invariants that were checked again (semantics §15).
    pub rechecked: u64,
    /// The proof that was found to be wrong, if any.
    pub broken_proof: Option<Box<ProofViolation>>,
}

impl Settled {
    pub(crate) fn note(&mut self, kind: NoteKind, rule: &str, message: String) {
        self.notes.push(Note { kind, rule: rule.into(), message });
    }
}

/// The outcome of a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Learned {
    /// The number of rows taught to facts.
    pub learned: u64,
    /// The number of rows evicted from full tables.
    pub forgotten: u64,
    /// The notes on the event.
    pub notes: Vec<Note>,
    /// The questions to the world, in order.
    pub asked: Vec<Asked>,
}

impl Learned {
    /// Adds a warning unless there is one with its message.
    pub(crate) fn note(&mut self, rule: &str, message: String) {
        self.note_as(NoteKind::Warning, rule, message);
    }

    /// Adds a note unless there is one with its message.
    pub(crate) fn note_as(&mut self, kind: NoteKind, rule: &str, message: String) {
        if self.notes.iter().all(|note| note.message != message) {
            self.notes.push(Note { kind, rule: rule.into(), message });
        }
    }
}

/// The outcome of a stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// The decision whether the agent may stop.
    pub decision: StopDecision,
    /// The reason why nothing was checked: `halted`, `deadline` or an exhausted unit.
    pub bypassed: Option<String>,
    /// True if the agent may stop although something is missing.
    pub incomplete: bool,
    /// The failed checks.
    pub missing: Vec<Missing>,
    /// The message to the agent; empty if nothing is missing.
    pub message: String,
    /// The questions to the world, in order.
    pub asked: Vec<Asked>,
    /// The notes on the event.
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
    /// The change.
    pub change: ItemChange,
    /// The questions to the world, in order.
    pub asked: Vec<Asked>,
}

/// The outcome of any event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The outcome of a proposal.
    Proposed(Proposed),
    /// The outcome of a settlement.
    Settled(Settled),
    /// The outcome of a prompt.
    Prompted(Learned),
    /// The outcome of a stop.
    Stopped(Stopped),
    /// The outcome of a verified or moved item.
    Item(Moved),
    /// The event was accepted: an approval, a usage report or the end of a halt.
    Taken,
}
