//! Optimization: from the plan as lowered to one that decides the same with less work.
//!
//! The law every pass obeys: whatever happens in a session, verdicts, reasons with their order, and state are
//! the same as before, faults included. Each pass is a file and a verb; [`PASSES`] is the whole of it. What
//! depends on the machine (compiled expressions, dispatch, bit sets) is not here but in the kernel.

mod drop;
mod facts;
mod fold;
mod merge;
mod notes;
mod order;
mod simplify;
mod sweep;
mod tree;
mod visit;

use facts::Facts;
use guard_plan::plan::{Plan, Rewrite, ToolId};

/// A pass, by its verb.
struct Pass {
    verb: &'static str,
    run: fn(&mut Work<'_>),
}

/// The passes, in order.
const PASSES: [Pass; 7] = [
    Pass { verb: "simplify", run: simplify::simplify },
    Pass { verb: "fold", run: fold::fold },
    Pass { verb: "drop", run: drop::drop_rules },
    Pass { verb: "order", run: order::order },
    Pass { verb: "merge", run: merge::merge },
    Pass { verb: "sweep", run: sweep::sweep },
    Pass { verb: "count", run: |work| crate::lower::count_steps(work.plan) },
];

/// Characters of an expression that an explanation shows.
const SHOWN: usize = 300;

/// What the passes work on.
struct Work<'p> {
    plan: &'p mut Plan,
    facts: Facts,
    /// The plan as lowered.
    lowered: &'p Plan,
    verb: &'static str,
    notes: notes::Notes,
}

/// The optimized plan, and what was done.
pub(crate) fn optimize(lowered: &Plan) -> (Plan, Vec<Rewrite>) {
    let mut plan = lowered.clone();
    let facts = Facts::of(lowered);
    let notes = notes::Notes::default();
    let mut work = Work { plan: &mut plan, facts, lowered, verb: "", notes };
    for pass in &PASSES {
        work.verb = pass.verb;
        (pass.run)(&mut work);
    }
    let rewrites = work.notes.said(lowered);
    (plan, rewrites)
}

impl Work<'_> {
    /// Puts every expression that is evaluated to decide through a rewriting, and notes what it changed.
    fn rewrite(&mut self, rewrite: impl Fn(&Facts, Option<ToolId>, tree::Tree) -> tree::Tree) {
        let (facts, notes, verb) = (&self.facts, &mut self.notes, self.verb);
        visit::deciding(self.plan, &mut |tool, expr| {
            // A leaf is as simple as can be.
            if expr.0.len() < 2 {
                return;
            }
            let after = rewrite(facts, tool, tree::Tree::of(expr)).flat();
            if after != *expr {
                let before = std::mem::replace(expr, after);
                notes.rewritten(verb, tool, before, expr);
            }
        });
    }
}
