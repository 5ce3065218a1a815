//! Proofs that let a decision omit checks: the obligations of a plan, and the checker of the certificates that come
//! with it (semantics §15).
//!
//! A plan's proofs are as untrusted as the rest of it, so a kernel calls [`check`] before it relies
//! on any of them. The compiler searches for proofs. This crate contains only the part that must be
//! correct. It decides no calls.

#[macro_use]
pub mod mutant;

mod arith;
mod bodies;
pub mod bounds;
mod certificate;
mod charges;
mod choices;
mod claims;
mod collections;
mod effects;
mod encoder;
mod eval;
pub mod formula;
pub mod frame;
mod history;
pub mod linear;
mod problem;
mod quantifiers;
mod questions;
pub mod rules;
mod system;
mod terms;
mod value;

pub use certificate::{BranchContext, proves};
pub use claims::{ClaimedRule, Claims};
pub use problem::{ProofProblem, Variable};
pub use rules::ProofRule;
pub use system::{Given, ProofGoal, System, parts};
pub use terms::{Op, Term, TermId, TermTable};
pub use value::{Sort, Width};

use guard_plan::plan::{Claim, InvariantId, Plan, Proof, ToolId};

/// The maximum number of steps of all certificates of a plan.
const MOST_STEPS: usize = 1 << 20;

/// Returns, for each invariant, true if it holds in every committed state of every session: it is
/// enforced, depends only on state, and no observation can break it, unless the observations are
/// proved to preserve it.
pub fn assumable(plan: &Plan, proofs: &[Proof]) -> Vec<bool> {
    let enforced = |id: InvariantId| {
        let invariant = &plan.invariants[id as usize];
        let reported = invariant.monitor && !mutant!("a monitor is assumed");
        let in_shadow = invariant.rule.shadow && !mutant!("an invariant in shadow is assumed");
        // It must hold initially in every session, not only in the one that was checked.
        let condition = &invariant.condition;
        let is_pure = frame::is_pure(condition) && frame::begins_alike(plan, condition);
        !reported && !in_shadow && is_pure
    };
    let mut assumable: Vec<bool> =
        (0..plan.invariants.len() as InvariantId).map(enforced).collect();
    for (tool, declared) in (0..).zip(&plan.tools) {
        for invariant in frame::observations(plan, declared) {
            let claim = Claim::Observed { tool, invariant };
            if mutant!("what is observed is assumed") {
                continue;
            }
            assumable[invariant as usize] &= proofs.iter().any(|proof| proof.claim == claim);
        }
    }
    assumable
}

/// Checks every proof of a plan.
///
/// # Errors
///
/// The first proof that does not hold, with the reason as text.
pub fn check(plan: &Plan) -> Result<(), String> {
    if plan.proofs.is_empty() {
        return Ok(());
    }
    if plan.shadow {
        return Err("a guard in shadow proves nothing: it allows what it would refuse".into());
    }
    let steps: usize = plan.proofs.iter().map(|proof| proof.certificate.steps.len()).sum();
    if steps > MOST_STEPS {
        return Err(format!("its proofs have more than {MOST_STEPS} steps"));
    }
    if !plan.proofs.is_sorted_by(|a, b| a.claim < b.claim) {
        return Err("its proofs are not in order".into());
    }
    let is_of_tool = |proof: &Proof| (proof.claim.tool() as usize) < plan.tools.len();
    if let Some(stray) = plan.proofs.iter().find(|proof| !is_of_tool(proof)) {
        return Err(format!("the proof of {} is of no tool", describe(plan, &stray.claim)));
    }
    plan.tools.iter().try_for_each(|tool| frame::holds(plan, tool))?;
    let assumable = assumable(plan, &plan.proofs);
    let bounds = bounds::founded(plan, &plan.proofs)?;
    for id in 0..plan.tools.len() as ToolId {
        let of_tool = plan.proofs.iter().filter(|proof| proof.claim.tool() == id);
        let (observed, others): (Vec<&Proof>, Vec<&Proof>) =
            of_tool.partition(|proof| matches!(proof.claim, Claim::Observed { .. }));
        if !observed.is_empty() {
            let system = System::of_observations(plan, id, &assumable, Width::REAL);
            observed.into_iter().try_for_each(|proof| stands(plan, &system, proof))?;
        }
        if !others.is_empty() {
            let system = System::with_bounds(plan, id, &assumable, &bounds, Width::REAL);
            others.into_iter().try_for_each(|proof| stands(plan, &system, proof))?;
        }
    }
    Ok(())
}

fn stands(plan: &Plan, system: &System, proof: &Proof) -> Result<(), String> {
    let goal = system.goals.iter().find(|goal| goal.claim == proof.claim);
    let problem = goal.and_then(|goal| system.problem(goal));
    match problem {
        Some(problem) if proves(&problem, &proof.certificate) => Ok(()),
        _ => Err(format!("the proof of {} does not stand", describe(plan, &proof.claim))),
    }
}

/// Describes a claim.
fn describe(plan: &Plan, claim: &Claim) -> String {
    let tool = |id: ToolId| plan.tools.get(id as usize).map_or("?", |tool| &tool.name);
    let invariant = |id: InvariantId| {
        plan.invariants.get(id as usize).map_or("?", |invariant| &invariant.rule.owner)
    };
    match claim {
        Claim::Observed { tool: id, invariant: owner } => {
            format!("what `{}` observes keeping `{}`", tool(*id), invariant(*owner))
        }
        Claim::Preserved { tool: id, invariant: owner, part } => {
            format!("`{}` keeping part {part} of `{}`", tool(*id), invariant(*owner))
        }
        Claim::Refined { tool: id, var } => {
            let var = plan.state.get(*var as usize).map_or("?", |var| &var.name);
            format!("`{}` leaving `{var}` in its type", tool(*id))
        }
        Claim::Bounded { tool: id, .. } => format!("`{}` keeping a bound", tool(*id)),
    }
}
