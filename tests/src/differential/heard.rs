//! The replies of both evaluators to an event and of a session, in a form that can be compared.

use guard_compiler::reference::Outline;
use guard_plan::json::Json;
use guard_plan::record::{Delivered, ItemChange, NoteKind};
use guard_plan::value::Value;
use guard_plan::verdict::Decision;

/// Monday, 2026-01-05, nine o'clock UTC.
pub(super) const START: i64 = 1_767_603_600_000;
/// A result that nobody can read as JSON.
pub(super) const UNREADABLE: &str = "{\"u\":1,\"u\":\"4711\"}";

/// The reply to an event, without sentences.
#[derive(Debug, Default, Clone)]
pub(super) struct EventReply {
    pub decision: Option<Decision>,
    pub reasons: Vec<Outline>,
    pub shadowed: Vec<Outline>,
    pub served: Option<Json>,
    pub heard: Heard,
    pub stop: Option<ObservedStop>,
    /// Somebody must approve a move of an item; for the count, not compared.
    pub escalated: bool,
    /// Everything the kernel said, to the letter; compared with what it says with the plan as lowered.
    pub exact: String,
}

/// The effects of an event besides its decision.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Heard {
    pub learned: u64,
    pub forgotten: u64,
    pub notes: Vec<(NoteKind, String)>,
    pub feedback: Vec<Delivered>,
    pub items: Vec<ItemChange>,
    pub denied: bool,
    /// The arguments that a refused call should have.
    pub instead: Option<Json>,
    /// The result as the agent may read it.
    pub shown: Option<Json>,
}

/// The reply to a stop. For each missing check: its text, its place and the files that it names, sorted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ObservedStop {
    pub allowed: bool,
    pub bypassed: Option<String>,
    pub incomplete: bool,
    pub missing: Vec<(String, String, Vec<String>)>,
}

/// The rows of a fact: number, who taught it, itself.
pub(super) type TaughtRows = Vec<(u64, String, Json)>;

/// All of a session that can be seen from outside.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ObservedSession {
    pub state: Vec<(String, Option<Value>)>,
    pub spent: Vec<(String, Option<i64>)>,
    pub facts: Vec<(String, TaughtRows)>,
    pub items: Vec<(String, Json)>,
    pub total: usize,
    pub halted: bool,
    pub judged: u64,
    pub blocked: u64,
}

impl ObservedStop {
    /// Names the files that are only counted: of many, three are named.
    pub fn complete(&mut self, known: &ObservedStop) {
        for ((_, _, ours), (_, _, theirs)) in self.missing.iter_mut().zip(&known.missing) {
            if theirs.len() > 3 && ours.len() >= 3 && ours.iter().all(|file| theirs.contains(file))
            {
                ours.clone_from(theirs);
            }
        }
    }
}

impl EventReply {
    pub fn new(heard: Heard) -> EventReply {
        EventReply { heard, ..EventReply::default() }
    }

    pub fn same(&self, other: &EventReply) -> bool {
        self.decision == other.decision
            && self.reasons == other.reasons
            && self.shadowed == other.shadowed
            && self.served == other.served
            && self.heard == other.heard
            && self.stop == other.stop
    }
}
