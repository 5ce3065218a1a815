//! The proved invariants that are checked again in a sample.

use guard_plan::plan::{Claim, InvariantId, Node, Plan, ToolId};

/// The invariants to check again. They are stored apart from the data that every decision reads.
#[derive(Debug, Default)]
pub(crate) struct Rechecks {
    /// The invariants that hold in every committed state because of some proof, ascending.
    pub committed: Box<[InvariantId]>,
    /// For each tool, the other invariants that its effects preserve by a proof, ascending.
    preserved: Box<[Box<[InvariantId]>]>,
}

impl Rechecks {
    /// Selects the invariants that the proofs of a plan are about and that do not ask the world.
    pub fn new(plan: &Plan, tolerated: &[bool]) -> Rechecks {
        if plan.proofs.is_empty() {
            return Rechecks::default();
        }
        let assumable = guard_proof::assumable(plan, &plan.proofs);
        let proved = |id: InvariantId| {
            plan.proofs.iter().any(|proof| match &proof.claim {
                Claim::Preserved { invariant, .. } | Claim::Observed { invariant, .. } => {
                    *invariant == id
                }
                Claim::Refined { .. } | Claim::Bounded { .. } => false,
            })
        };
        let all = 0..plan.invariants.len() as InvariantId;
        let committed = all.filter(|id| assumable[*id as usize] && proved(*id)).collect();
        let preserved = (0..plan.tools.len() as ToolId).map(|tool| {
            let mut preserved: Vec<InvariantId> = plan
                .proofs
                .iter()
                .filter_map(|proof| match proof.claim {
                    Claim::Preserved { tool: id, invariant, .. } if id == tool => Some(invariant),
                    _ => None,
                })
                .filter(|id| !assumable[*id as usize] && !tolerated[*id as usize])
                .filter(|id| is_enforced_without_world(plan, *id))
                .collect();
            preserved.dedup();
            preserved.into()
        });
        Rechecks { committed, preserved: preserved.collect() }
    }

    /// Returns the invariants that the effects of a tool alone preserve by a proof.
    pub fn preserved_by(&self, tool: ToolId) -> &[InvariantId] {
        self.preserved.get(tool as usize).map_or(&[], |preserved| preserved)
    }

    /// Returns true if the plan proves nothing that could be checked again.
    pub fn is_empty(&self) -> bool {
        self.preserved.is_empty()
    }
}

/// Returns true if an invariant refuses calls and can be evaluated without asking the world.
fn is_enforced_without_world(plan: &Plan, id: InvariantId) -> bool {
    let invariant = &plan.invariants[id as usize];
    let asks = |node: &Node| matches!(node, Node::Exists(_) | Node::Probe(_));
    !invariant.monitor && !invariant.rule.shadow && !invariant.condition.0.iter().any(asks)
}
