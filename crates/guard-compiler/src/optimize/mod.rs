//! Optimization: from the plan as lowered to an equivalent plan with less work per decision.
//!
//! Every pass preserves the behaviour: in every session, verdicts, reasons and their order, and the
//! state are the same as before, including faults. Each pass has one file and a verb as its name.
//! [`PASSES`] lists all passes. The kernel contains the machine-dependent optimizations (compiled
//! expressions, dispatch, bit sets).

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

use facts::TypeFacts;
pub(crate) use facts::never_faults;
use guard_plan::plan::{Plan, Rewrite, ToolId};

/// A pass, identified by its verb.
struct OptimizerPass {
    verb: &'static str,
    run: fn(&mut PassWork<'_>),
}

/// The passes, in order.
const PASSES: [OptimizerPass; 7] = [
    OptimizerPass { verb: "simplify", run: simplify::simplify },
    OptimizerPass { verb: "fold", run: fold::fold },
    OptimizerPass { verb: "drop", run: drop::drop_rules },
    OptimizerPass { verb: "order", run: order::order },
    OptimizerPass { verb: "merge", run: merge::merge },
    OptimizerPass { verb: "sweep", run: sweep::sweep },
    OptimizerPass { verb: "count", run: |work| crate::lower::count_steps(work.plan) },
];

/// The maximum length of an expression in an explanation, in characters.
const SHOWN: usize = 300;

/// The input and output of the passes.
struct PassWork<'p> {
    plan: &'p mut Plan,
    facts: TypeFacts,
    /// The plan as lowered.
    lowered: &'p Plan,
    verb: &'static str,
    notes: notes::Notes,
}

/// Returns the optimized plan, and the rewrites.
pub(crate) fn optimize(lowered: &Plan) -> (Plan, Vec<Rewrite>) {
    let mut plan = lowered.clone();
    let facts = TypeFacts::new(lowered);
    let notes = notes::Notes::default();
    let mut work = PassWork { plan: &mut plan, facts, lowered, verb: "", notes };
    for pass in &PASSES {
        work.verb = pass.verb;
        (pass.run)(&mut work);
    }
    let rewrites = work.notes.said(lowered);
    (plan, rewrites)
}

impl PassWork<'_> {
    /// Rewrites every expression that is evaluated for a decision, and records the changes.
    fn rewrite(
        &mut self,
        rewrite: impl Fn(&TypeFacts, Option<ToolId>, tree::ExprTree) -> tree::ExprTree,
    ) {
        let facts = &self.facts;
        let notes = &mut self.notes;
        let verb = self.verb;
        visit::deciding(self.plan, &mut |tool, expr| {
            // A leaf cannot be simplified.
            if expr.0.len() < 2 {
                return;
            }
            let after = rewrite(facts, tool, tree::ExprTree::from_expr(expr)).flat();
            if after != *expr {
                let before = std::mem::replace(expr, after);
                notes.rewritten(verb, tool, before, expr);
            }
        });
    }
}
