//! Verification: what can be proved of a guard, so that its plan need not check it (semantics §15).
//!
//! Reads the plan, as the kernel's own checker of certificates does, so that what is proved is what will run. `prover`
//! looks for certificates, `residue` says in words what is left; here is what is asked, and what the answers mean.

mod bounds;
mod prover;
mod residue;
pub mod smt;

use guard_plan::plan::{
    Certificate, Claim, InvariantId, Plan, Proof, Requirement, Requires, SessionBound, ToolId,
    VarId,
};
use guard_plan::time::describe_duration;
use guard_plan::words;
pub use guard_proof::Width;
use guard_proof::{ClaimedRule, Claims, Given, ProofGoal, System, assumable, frame};
use prover::{Allowance, Effort, ProverAnswer, prove};
use std::collections::HashMap;

/// The results of a plan's verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// One for each tool and each invariant its effects can break; of all other pairs the invariant is untouched.
    pub pairs: Vec<Pair>,
    /// One for each tool and each variable it writes.
    pub refinements: Vec<RefinementCheck>,
    /// One for each tool and each invariant its observations can break.
    pub observations: Vec<Pair>,
    /// Tools of which no call can pass its own conditions.
    pub impossible: Vec<Impossible>,
    /// What the plan may leave out, with certificates, in the plan's order.
    pub proofs: Vec<Proof>,
    /// The bounds of every session that the proofs rely on, each proved by induction.
    pub bounds: Vec<SessionBound>,
    /// The claims that are proved only since the bounds hold.
    pub bounded: Vec<Claim>,
    /// How many tools and invariants there are, by the plan.
    pub size: (usize, usize),
}

/// A tool and an invariant that its effects, or its observations, can break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The tool.
    pub tool: ToolId,
    /// The invariant.
    pub invariant: InvariantId,
    /// What became of it.
    pub status: ObligationStatus,
}

/// The status of an obligation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObligationStatus {
    /// It holds after every call that is allowed; by what.
    Proved(Vec<Basis>),
    /// Of some parts it is proved; these are left to check, in words, each with a condition that would do.
    Simplified(Vec<Basis>, Vec<Residue>),
    /// It is checked at every call.
    Checked(Vec<Residue>),
    /// No call passes the tool's own conditions: nothing is proved by that.
    Vacuous,
}

impl ObligationStatus {
    /// Returns true if nothing is left to check.
    pub fn is_proved(&self) -> bool {
        matches!(self, ObligationStatus::Proved(_))
    }
}

/// The part of an obligation that is not proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Residue {
    /// What is checked, as in the invariant.
    pub text: String,
    /// A condition over the state before and the arguments that would prove it, where it can be said.
    pub needs: Option<String>,
    /// Why it is not proved.
    pub why: UnprovedReason,
}

/// The reason why something is not proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnprovedReason {
    /// Nothing that is given excludes the opposite.
    Open,
    /// The prover's effort was used up.
    Exhausted,
    /// It cannot be said in the prover's terms.
    Inexpressible,
    /// The invariant is only reported: it is no fact of the states to come.
    Monitored,
}

/// A premise of a proof.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// A `deny` of the tool, as text.
    Deny(String),
    /// An invariant, by name.
    Invariant(String),
    /// What the call costs is within the budget.
    Costs,
    /// No effect overflows.
    NoFault,
    /// The type of a variable, by name.
    Refinement(String),
    /// Another rule of the tool, as text.
    Rule(String),
    /// Other counters.
    Limits,
    /// A bound of every session, as text.
    Bound(String),
    /// The tools that write a variable, by its name.
    Writers(String),
    /// It holds at first, and every call keeps it.
    Induction,
}

/// A tool and a variable that it writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefinementCheck {
    /// The tool.
    pub tool: ToolId,
    /// The variable.
    pub var: VarId,
    /// What became of it.
    pub status: ObligationStatus,
}

/// A tool that cannot be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Impossible {
    /// The tool.
    pub tool: ToolId,
    /// What excludes one another.
    pub basis: Vec<Basis>,
}

/// Verifies a plan. Whatever it says it says again of the same plan, everywhere.
pub fn verify(plan: &Plan) -> Verification {
    let alone = verify_at(plan, Width::REAL);
    let assumed = assumable(plan, &alone.proofs);
    let bounds = bounds::find(plan, &assumed, &alone);
    if bounds.is_empty() {
        return alone;
    }
    let known = alone.proofs.iter().map(|proof| (proof.claim.clone(), &proof.certificate));
    let known: HashMap<Claim, &Certificate> = known.collect();
    let mut verification = Verification {
        size: alone.size,
        observations: alone.observations.clone(),
        impossible: alone.impossible.clone(),
        bounds,
        ..Verification::default()
    };
    let observed = |proof: &&Proof| matches!(proof.claim, Claim::Observed { .. });
    verification.proofs.extend(alone.proofs.iter().filter(observed).cloned());
    let pass = VerifySettings {
        assumed: &assumed,
        width: Width::REAL,
        known,
        allowance: &Allowance::for_a_guard(),
    };
    for tool in 0..plan.tools.len() as ToolId {
        effects(plan, tool, &pass, &mut verification);
    }
    verification.proofs.sort_by(|a, b| a.claim.cmp(&b.claim));
    let new = |claim: &&Claim| !pass.known.contains_key(*claim);
    let claims = verification.proofs.iter().map(|proof| &proof.claim);
    verification.bounded = claims.filter(new).cloned().collect();
    if bounds::are_kept(plan, &verification) { verification } else { alone }
}

/// The same from one step alone, without bounds of sessions, for integers of so many bits: at few, what it says can be
/// tried out in full.
pub fn verify_at(plan: &Plan, width: Width) -> Verification {
    let mut verification =
        Verification { size: (plan.tools.len(), plan.invariants.len()), ..Verification::default() };
    if plan.shadow {
        return verification;
    }
    let allowance = Allowance::for_a_guard();
    let assumed = observations(plan, width, &allowance, &mut verification);
    let pass =
        VerifySettings { assumed: &assumed, width, known: HashMap::new(), allowance: &allowance };
    for tool in 0..plan.tools.len() as ToolId {
        effects(plan, tool, &pass, &mut verification);
    }
    verification.proofs.sort_by(|a, b| a.claim.cmp(&b.claim));
    verification
}

/// Settings that all goals of a verification share.
struct VerifySettings<'p> {
    /// By invariant, whether it holds in every committed state.
    assumed: &'p [bool],
    width: Width,
    /// Certificates of an earlier pass.
    known: HashMap<Claim, &'p Certificate>,
    allowance: &'p Allowance,
}

/// Settles which invariants hold in every committed state: at first all are taken for such, and those that some
/// observation is not proved to keep go, until none does.
fn observations(
    plan: &Plan,
    width: Width,
    allowance: &Allowance,
    verification: &mut Verification,
) -> Vec<bool> {
    let observing: Vec<ToolId> = (0..)
        .zip(&plan.tools)
        .filter(|(_, tool)| !frame::observations(plan, tool).is_empty())
        .map(|(id, _)| id)
        .collect();
    let mut assumed = assumable(plan, &every_claim(plan, &observing));
    loop {
        let mut round = Verification::default();
        for tool in &observing {
            let system = System::of_observations(plan, *tool, &assumed, width);
            for goal in &system.goals {
                let pass =
                    VerifySettings { assumed: &assumed, width, known: HashMap::new(), allowance };
                decide(plan, *tool, &system, goal, &pass, &mut round);
            }
        }
        let kept = assumable(plan, &round.proofs);
        if kept == assumed {
            let useful = |proof: &Proof| match proof.claim {
                Claim::Observed { invariant, .. } => kept[invariant as usize],
                _ => true,
            };
            verification.proofs.extend(round.proofs.into_iter().filter(useful));
            verification.observations = round.observations;
            return assumed;
        }
        assumed = kept;
    }
}

/// Returns the claims that would prove that all invariants hold in every committed state, without certificates.
fn every_claim(plan: &Plan, observing: &[ToolId]) -> Vec<Proof> {
    let claims = observing.iter().flat_map(|tool| {
        let framed = frame::observations(plan, &plan.tools[*tool as usize]);
        framed.into_iter().map(|invariant| Claim::Observed { tool: *tool, invariant })
    });
    claims.map(|claim| Proof { claim, certificate: Default::default() }).collect()
}

fn effects(plan: &Plan, tool: ToolId, pass: &VerifySettings<'_>, verification: &mut Verification) {
    let declared = &plan.tools[tool as usize];
    let moved = |bound: &SessionBound| guard_proof::bounds::is_owed_by(plan, tool, bound);
    let is_moved = verification.bounds.iter().any(moved);
    if declared.effects.is_empty() && declared.denies.is_empty() && !is_moved {
        return;
    }
    let bounds = std::mem::take(&mut verification.bounds);
    let system = System::with_bounds(plan, tool, pass.assumed, &bounds, pass.width);
    verification.bounds = bounds;
    // A second pass adds nothing to what is impossible: that rests on the rules of the tool alone.
    let impossible = if verification.bounds.is_empty() {
        prove(&system.vacuity(), Effort::USUAL, pass.allowance)
    } else {
        ProverAnswer::Open
    };
    if let ProverAnswer::Proved(certificate) = impossible {
        let basis = basis(plan, tool, &system, &certificate.uses, &[]);
        verification.impossible.push(Impossible { tool, basis });
    }
    let is_impossible = verification.impossible.iter().any(|impossible| impossible.tool == tool);
    for goal in &system.goals {
        let is_bound = matches!(goal.claim, Claim::Bounded { .. });
        if is_impossible && !is_bound {
            record(verification, goal, ObligationStatus::Vacuous)
        } else {
            decide(plan, tool, &system, goal, pass, verification)
        }
    }
}

/// Finds out what becomes of one goal, and keeps the proof that the plan may carry.
fn decide(
    plan: &Plan,
    tool: ToolId,
    system: &System,
    goal: &ProofGoal,
    pass: &VerifySettings<'_>,
    verification: &mut Verification,
) {
    let enforced = match &goal.claim {
        Claim::Preserved { invariant, .. } | Claim::Observed { invariant, .. } => {
            let invariant = &plan.invariants[*invariant as usize];
            !invariant.monitor && !invariant.rule.shadow
        }
        Claim::Refined { .. } | Claim::Bounded { .. } => true,
    };
    let answer = match pass.known.get(&goal.claim) {
        Some(certificate) => Some(ProverAnswer::Proved((*certificate).clone())),
        None => system.problem(goal).map(|problem| prove(&problem, Effort::USUAL, pass.allowance)),
    };
    let why = match answer {
        Some(ProverAnswer::Proved(certificate)) if enforced => {
            let basis = basis(plan, tool, system, &certificate.uses, &verification.bounds);
            verification.proofs.push(Proof { claim: goal.claim.clone(), certificate });
            return record(verification, goal, ObligationStatus::Proved(basis));
        }
        Some(ProverAnswer::Proved(_)) => UnprovedReason::Monitored,
        Some(ProverAnswer::Open) => UnprovedReason::Open,
        Some(ProverAnswer::Exhausted) => UnprovedReason::Exhausted,
        None => UnprovedReason::Inexpressible,
    };
    let text = residue::part_text(plan, &goal.claim);
    let formula = goal.formula.as_ref();
    let needs = formula.and_then(|formula| residue::needs(plan, system, &goal.claim, formula));
    record(verification, goal, ObligationStatus::Checked(vec![Residue { text, needs, why }]));
}

/// Files what became of a goal; of an invariant's parts as one.
fn record(verification: &mut Verification, goal: &ProofGoal, status: ObligationStatus) {
    match goal.claim {
        Claim::Bounded { .. } => {}
        Claim::Refined { tool, var } => {
            verification.refinements.push(RefinementCheck { tool, var, status });
        }
        Claim::Observed { tool, invariant } => {
            verification.observations.push(Pair { tool, invariant, status });
        }
        Claim::Preserved { tool, invariant, part } => {
            if part == 0 {
                verification.pairs.push(Pair { tool, invariant, status });
            } else if let Some(pair) = verification.pairs.last_mut() {
                pair.status =
                    joined(std::mem::replace(&mut pair.status, ObligationStatus::Vacuous), status);
            }
        }
    }
}

fn joined(first: ObligationStatus, other: ObligationStatus) -> ObligationStatus {
    use ObligationStatus::{Checked, Proved, Simplified, Vacuous};
    // What is proved of it, if anything, and what is left.
    let split = |status| match status {
        Proved(by) => (Some(by), Vec::new()),
        Simplified(by, left) => (Some(by), left),
        Checked(left) => (None, left),
        Vacuous => (None, Vec::new()),
    };
    if first == Vacuous || other == Vacuous {
        return Vacuous;
    }
    let ((by, left), (more_by, more)) = (split(first), split(other));
    let left = [left, more].concat();
    if by.is_none() && more_by.is_none() {
        return Checked(left);
    }
    let mut by: Vec<Basis> = by.into_iter().chain(more_by).flatten().collect();
    by.sort();
    by.dedup();
    if left.is_empty() { Proved(by) } else { Simplified(by, left) }
}

/// Returns the hypotheses that a proof uses, in the words of the guard.
fn basis(
    plan: &Plan,
    tool: ToolId,
    system: &System,
    uses: &[u32],
    bounds: &[SessionBound],
) -> Vec<Basis> {
    let mut basis: Vec<Basis> = uses
        .iter()
        .filter_map(|index| match *system.given.get(*index as usize)? {
            Given::Deny(at) => {
                Some(Basis::Deny(plan.tools[tool as usize].denies.get(at)?.text.clone()))
            }
            Given::Costs => Some(Basis::Costs),
            Given::Invariant(id) => {
                Some(Basis::Invariant(plan.invariants[id as usize].rule.owner.clone()))
            }
            Given::Effects => Some(Basis::NoFault),
            Given::Refined(var) => Some(Basis::Refinement(plan.state[var as usize].name.clone())),
            Given::Requires(at) => {
                Some(Basis::Rule(requires_text(plan, plan.tools[tool as usize].requires.get(at)?)))
            }
            Given::Limit(_) => Some(Basis::Limits),
            Given::Unwritten(var) => Some(Basis::Writers(plan.state[var as usize].name.clone())),
            Given::Bound(at) => Some(Basis::Bound(words::bound(plan, bounds.get(at as usize)?))),
            Given::Meaning(_) | Given::Growth | Given::Success(_) => None,
        })
        .collect();
    basis.sort();
    basis.dedup();
    basis
}

fn requires_text(plan: &Plan, requires: &Requires) -> String {
    let name = |tool: ToolId| plan.tools[tool as usize].name.as_str();
    let alternative = |r: &Requirement| {
        let latest = if r.latest { "latest " } else { "" };
        let key = if r.key.is_some() { "(…)" } else { "" };
        let since = r.since.map_or(String::new(), |tool| format!(" since {}", name(tool)));
        let within = r.within.map(|age| format!(" within {}", describe_duration(age)));
        format!("{latest}{}{key}{since}{}", name(r.tool), within.unwrap_or_default())
    };
    let all: Vec<String> = requires.any_of.iter().map(alternative).collect();
    format!("requires {}", all.join(" or "))
}

/// The rules in shadow of a plan, by owner, that never refuse what the other rules let pass, with what shows it.
pub(crate) fn claims(plan: &Plan) -> Vec<(String, Vec<Basis>)> {
    let allowance = Allowance::for_a_guard();
    let assumed = observations(plan, Width::REAL, &allowance, &mut Verification::default());
    let mut proved = Vec::new();
    for tool in 0..plan.tools.len() as ToolId {
        let tool_def = &plan.tools[tool as usize];
        let claims = Claims::new(plan, tool, &assumed, Width::REAL);
        for (rule, formula) in &claims.rules {
            let problem = formula.as_ref().and_then(|formula| claims.problem(formula));
            let Some(ProverAnswer::Proved(certificate)) =
                problem.map(|problem| prove(&problem, Effort::USUAL, &allowance))
            else {
                continue;
            };
            let owner = match rule {
                ClaimedRule::Deny(at) => &tool_def.denies[*at].rule.owner,
                ClaimedRule::Requires(at) => &tool_def.requires[*at].rule.owner,
            };
            proved.push((owner.clone(), basis(plan, tool, &claims.system, &certificate.uses, &[])));
        }
    }
    proved
}
