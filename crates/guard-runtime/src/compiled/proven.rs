//! The proved properties of a tool, for which nothing is checked when a call is decided.

use super::expr::CompiledExpr;
use guard_plan::plan::{Claim, Expr, InvariantId, Plan, ToolId, VarId};

/// The proved properties of a tool, after the check of their certificates (semantics §15).
#[derive(Debug, Default)]
pub(crate) struct Proven {
    /// The invariants that are proved in part, ascending, each with its unproved parts.
    pub preserved: Box<[(InvariantId, Box<[CompiledExpr]>)]>,
    /// The variables whose refinements the tool's effects preserve, ascending.
    pub refined: Box<[VarId]>,
    /// The invariants that the tool's observations preserve, ascending.
    pub observed: Box<[InvariantId]>,
    /// True if no written value needs a check: all invariants and refinements are proved.
    pub all: bool,
}

impl Proven {
    /// Collects the facts that the plan proves about a tool.
    pub fn new(plan: &Plan, id: ToolId) -> Proven {
        let claims = || plan.proofs.iter().map(|proof| &proof.claim);
        let mut invariants: Vec<InvariantId> = claims()
            .filter_map(|claim| match claim {
                Claim::Preserved { tool, invariant, .. } if *tool == id => Some(*invariant),
                _ => None,
            })
            .collect();
        invariants.dedup();
        let left = |invariant: InvariantId| {
            let condition = &plan.invariants[invariant as usize].condition;
            let parts = (0..).zip(guard_proof::parts(condition)).filter(|(part, _)| {
                let claim = Claim::Preserved { tool: id, invariant, part: *part };
                !plan.claims(&claim)
            });
            // Children precede parents: the parts up to a node contain its whole subtree.
            parts
                .map(|(_, root)| CompiledExpr::new(&Expr(condition.0[..=root as usize].to_vec())))
                .collect()
        };
        let preserved: Box<[(InvariantId, Box<[CompiledExpr]>)]> =
            invariants.into_iter().map(|id| (id, left(id))).collect();
        let whole = |id: &InvariantId| {
            preserved.iter().any(|(proved, left)| proved == id && left.is_empty())
        };
        let refined = claims().filter_map(|claim| match claim {
            Claim::Refined { tool, var } if *tool == id => Some(*var),
            _ => None,
        });
        let refined: Box<[VarId]> = refined.collect();
        let tool = &plan.tools[id as usize];
        let mut written = tool.effects.iter().map(|effect| effect.target.var);
        Proven {
            all: tool.frame.iter().all(whole)
                && (written.all(|var| refined.contains(&var))
                    || guard_proof::mutant!("proved invariants prove the types")),
            refined,
            observed: claims()
                .filter_map(|claim| match claim {
                    Claim::Observed { tool, invariant } if *tool == id => Some(*invariant),
                    _ => None,
                })
                .collect(),
            preserved,
        }
    }

    /// Returns the unproved parts of an invariant; `None` if the whole invariant must be checked.
    pub fn left(&self, invariant: InvariantId) -> Option<&[CompiledExpr]> {
        let at = self.preserved.binary_search_by_key(&invariant, |(id, _)| *id).ok()?;
        Some(&self.preserved[at].1)
    }
}
