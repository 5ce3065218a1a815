//! Trust in a plan: the untrusted data that its expressions read.
//!
//! The compiler lets only trusted input teach facts. A kernel also tracks trust at run time
//! (semantics §8), so that neither a plan from elsewhere nor an error of the compiler can launder
//! untrusted data. This module determines what a clause reads. The session tracks what variables
//! contain.

mod paths;
mod places;
mod reads;

pub use paths::ELEMENT;

use crate::plan::{Effect, Endorsement, Expr, Learn, Node, Observe, Plan, Tool, VarId};
use places::endorsed;
use reads::{Reads, last};
use serde::{Deserialize, Serialize};

/// A level of distrust, in ascending order. Trusted content has no level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Level {
    /// The agent chose the content. A result that is read together with it vouches for it.
    Chosen,
    /// Nothing vouches for the content.
    Untrusted,
}

/// The least trusted content that a variable has held so far, in its values or its keys; `None` if
/// all of it was trusted.
pub type Stain = Option<Level>;

/// The reads of an expression or a clause, as far as they matter for trust.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// The least trusted content that is read, apart from variables.
    worst: Option<Level>,
    /// True if it reads a trusted part of the call's own result.
    vouched: bool,
    /// True if it reads nothing that has a trust level.
    quiet: bool,
    /// The variables that are read. The presence of an entry depends on the party that chose the
    /// keys.
    vars: Vec<VarId>,
    /// For each read that only endorsements vouch for: those endorsements. A row is taught if one
    /// of them holds.
    pub needs: Vec<Vec<EndorsementNeed>>,
}

/// An endorsement that a lesson may depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndorsementNeed {
    /// The position of the endorsement in its tool.
    pub endorsement: usize,
    /// The slots of the endorsement, each with the slot of the lesson that binds the same element.
    pub slots: Vec<(u32, u32)>,
}

impl Reading {
    /// Returns the level of distrust of the value, given the stains of the variables; `None` if the value is trusted.
    pub fn level(&self, stains: &[Stain]) -> Option<Level> {
        let of_var = |var: &VarId| stains.get(*var as usize).copied().flatten();
        self.vars.iter().map(of_var).fold(self.worst, Option::max)
    }

    /// Returns true if the `learn` clause may teach its facts. Nothing that it reads may be
    /// untrusted, and content that the agent chose needs a trusted part of the result beside it.
    pub fn may_teach(&self, tool: &Tool, stains: &[Stain]) -> bool {
        match self.level(stains) {
            Some(Level::Untrusted) => false,
            Some(Level::Chosen) => self.vouched,
            None => tool.trust.whole || !self.quiet,
        }
    }
}

/// Returns the reads of an effect: its value, the keys of its target, and its ranges and condition.
/// A value that depends on the earlier state counts as the agent's choice, because the agent
/// chooses how often and when the effect is applied.
pub fn of_effect(plan: &Plan, tool: &Tool, effect: &Effect) -> Reading {
    let mut reads = Reads::new(plan, tool);
    reads.bind(&effect.ranges);
    effect.exprs().for_each(|expr| reads.root(expr));
    let over = effect.ranges.iter().map(|range| &range.over);
    let mut decides = over.chain(&effect.when).chain(&effect.value);
    if effect.op.accumulates() || decides.any(reads_state) {
        reads.mark(Level::Chosen);
    }
    reads.done()
}

/// Returns the reads of an observation, as [`of_effect`] does.
pub fn of_observation(plan: &Plan, tool: &Tool, observe: &Observe) -> Reading {
    let mut reads = Reads::new(plan, tool);
    observe.target.keys().chain([&observe.value]).for_each(|expr| reads.root(expr));
    if reads_state(&observe.value) {
        reads.mark(Level::Chosen);
    }
    reads.done()
}

/// Returns true if an expression reads the state. A temporal operator reads earlier states.
fn reads_state(expr: &Expr) -> bool {
    expr.0.iter().any(|node| matches!(node, Node::State(_) | Node::Temporal(_)))
}

/// Returns the reads of a `learn` clause.
pub fn of_learn(plan: &Plan, tool: &Tool, learn: &Learn) -> Reading {
    let mut reads = Reads::new(plan, tool);
    let places = reads.bind(&learn.ranges);
    reads.endorsed = endorsed(tool, learn, &places);
    learn.when.iter().chain(&learn.row).for_each(|expr| reads.root(expr));
    for (range, place) in learn.ranges.iter().zip(&places) {
        match place {
            Some(_) => reads.keys(&range.over, last(&range.over)),
            None => reads.root(&range.over),
        }
    }
    // The number of elements matters, whatever is read of them.
    let places = places.iter().enumerate();
    places.for_each(|(nth, place)| place.iter().for_each(|place| reads.range(nth, place)));
    reads.done()
}

/// Returns the reads of the condition of an endorsement. The condition decides about parts, so none
/// of the parts that it reads may be untrusted.
pub fn of_endorsement(plan: &Plan, tool: &Tool, endorsement: &Endorsement) -> Reading {
    let mut reads = Reads::new(plan, tool);
    reads.bind(&endorsement.part.ranges);
    endorsement.when.iter().for_each(|expr| reads.root(expr));
    reads.done()
}
