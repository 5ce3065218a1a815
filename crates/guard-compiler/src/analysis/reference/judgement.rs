//! The answers of the reference evaluator: judgements of proposals, and the other effects of events.

use guard_plan::json::Json;
use guard_plan::record::{Delivered, ItemChange, NoteKind};
use guard_plan::verdict::{Code, Decision};
use guard_syntax::span::Span;

/// A reason: its code, its rule and its decision. For unmet requirements, missing approvals and
/// conflicts, also the sorted names that it needs.
pub type Outline = (Code, String, Decision, Vec<String>);

/// The judgement of a proposal: the decision, and the decision, code and rule of every reason, in
/// order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The join of the reasons.
    pub decision: Decision,
    /// The enforced reasons.
    pub reasons: Vec<Outline>,
    /// The reasons of rules in shadow mode.
    pub shadowed: Vec<Outline>,
    /// The clauses and invariants behind the reasons of both kinds, by position. Reasons without a
    /// position are not included.
    pub fired: Vec<(Code, Span)>,
    /// The number of enforced rules that refuse it, each counted separately. Missing approvals are
    /// not counted.
    pub unmet: usize,
    /// The other effects: a denial is judged for feedback, and a served call is settled
    /// immediately.
    pub outcome: EventEffects,
}

impl Judgement {
    /// Returns the reasons of both kinds, the enforced ones first.
    pub(crate) fn all_reasons(&self) -> Vec<Outline> {
        [&self.reasons[..], &self.shadowed].concat()
    }
}

/// The effects of an event besides its decision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventEffects {
    /// The number of rows that facts were taught.
    pub learned: u64,
    /// The number of rows that were evicted.
    pub forgotten: u64,
    /// The notes: the severity of each, and its rule.
    pub notes: Vec<(NoteKind, String)>,
    /// The feedback that it caused, in order.
    pub feedback: Vec<Delivered>,
    /// The items that it changed. A reason that the kernel writes as a sentence is a question mark
    /// here.
    pub items: Vec<ItemChange>,
    /// The result of a served call; null if the call is not possible.
    pub served: Option<Json>,
    /// The arguments that the transforms of a refused call ask for.
    pub instead: Option<Json>,
    /// The result that the agent may read, if it differs from the original; a text if the agent may
    /// read none of it.
    pub shown: Option<Json>,
}

impl EventEffects {
    pub(super) fn note(&mut self, kind: NoteKind, rule: &str) {
        self.notes.push((kind, rule.to_string()));
        self.notes.sort();
        self.notes.dedup();
    }
}
