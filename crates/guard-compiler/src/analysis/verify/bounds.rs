//! The search for bounds of a session that prove what one step alone does not (semantics §15).
//!
//! Candidates are made from the guard's own constants, limits and budgets; what the prover shows to be kept by every
//! settlement stays, and of that only what an open obligation needs. Nothing here is trusted: `guard_proof::check` proves
//! every bound that a plan claims again.

mod candidates;

use super::prover::{Allowance, Effort, ProverAnswer, first_proof, prove};
use super::{ObligationStatus, Verification};
use candidates::Candidates;
use guard_plan::plan::{Claim, Plan, SessionBound, ToolId, VarId};
use guard_proof::bounds::{is_founded, is_owed_by, variables};
use guard_proof::{Given, ProofProblem, System, Width, frame};
use std::collections::BTreeSet;

/// Most bounds that are given at once to an open obligation.
const MOST_GIVEN: usize = 12;
/// Most candidates that are tried together.
const MOST_TOGETHER: usize = 8;

/// Finds the bounds that prove something which is open without them; none where there are none.
pub(super) fn find(plan: &Plan, assumed: &[bool], alone: &Verification) -> Vec<SessionBound> {
    if plan.shadow {
        return Vec::new();
    }
    let search = BoundSearch { plan, assumed, allowance: Allowance::for_guesses() };
    let mut open = open_claims(plan, alone);
    open.retain(|claim| search.may_follow(claim));
    if open.is_empty() {
        return Vec::new();
    }
    let wanted = wanted_variables(plan, &open);
    let found = search.inductive(&Candidates::collect(&search, &wanted));
    if found.is_empty() {
        return Vec::new();
    }
    let mut needed = BTreeSet::new();
    for claim in &open {
        let near = nearest(plan, claim, &found);
        if let Some(used) = search.proves(claim, &near) {
            needed.extend(used);
        }
    }
    search.closed(needed, &found)
}

/// Returns true if every settlement that could break one of a verification's bounds is proved to keep it.
pub(super) fn are_kept(plan: &Plan, verification: &Verification) -> bool {
    verification.bounds.iter().all(|bound| {
        let movers = (0..plan.tools.len() as ToolId).filter(|id| is_owed_by(plan, *id, bound));
        movers.into_iter().all(|tool| {
            let claim = Claim::Bounded { tool, bound: bound.clone() };
            verification.proofs.iter().any(|proof| proof.claim == claim)
        })
    })
}

/// Claims that would be used and are not proved.
fn open_claims(plan: &Plan, alone: &Verification) -> Vec<Claim> {
    let mut open = Vec::new();
    let is_open = |status: &ObligationStatus| {
        matches!(status, ObligationStatus::Checked(_) | ObligationStatus::Simplified(..))
    };
    for pair in alone.pairs.iter().filter(|pair| is_open(&pair.status)) {
        let tool = pair.tool;
        let invariant = pair.invariant;
        let declared = &plan.invariants[invariant as usize];
        if declared.monitor || declared.rule.shadow {
            continue;
        }
        let parts = 0..guard_proof::parts(&declared.condition).len() as u32;
        let claims = parts.map(|part| Claim::Preserved { tool, invariant, part });
        open.extend(claims.filter(|claim| alone.proofs.iter().all(|proof| proof.claim != *claim)));
    }
    let refined = alone.refinements.iter().filter(|refined| is_open(&refined.status));
    open.extend(refined.map(|refined| Claim::Refined { tool: refined.tool, var: refined.var }));
    open
}

/// The variables that open obligations speak of, and those that their tools read.
fn wanted_variables(plan: &Plan, open: &[Claim]) -> BTreeSet<VarId> {
    let mut wanted = BTreeSet::new();
    for claim in open {
        match claim {
            Claim::Preserved { invariant, .. } => {
                wanted.extend(frame::variables(&plan.invariants[*invariant as usize].condition));
            }
            Claim::Refined { var, .. } => _ = wanted.insert(*var),
            _ => {}
        }
        wanted.extend(frame::reads(&plan.tools[claim.tool() as usize]));
    }
    wanted
}

/// The bounds that have most to do with a claim, in their order.
fn nearest(plan: &Plan, claim: &Claim, found: &[SessionBound]) -> Vec<SessionBound> {
    let wanted: BTreeSet<VarId> = wanted_variables(plan, std::slice::from_ref(claim));
    let shared = |bound: &&SessionBound| variables(bound).any(|var| wanted.contains(&var));
    found.iter().filter(shared).take(MOST_GIVEN).cloned().collect()
}

/// The search in one plan.
pub(super) struct BoundSearch<'p> {
    plan: &'p Plan,
    assumed: &'p [bool],
    allowance: Allowance,
}

impl BoundSearch<'_> {
    /// Returns false if a guess's effort shows a claim not even from the beginning of a session. All bounds hold there, so
    /// they say less than it does.
    fn may_follow(&self, claim: &Claim) -> bool {
        let wanted = wanted_variables(self.plan, std::slice::from_ref(claim));
        let beginning = candidates::beginning(self.plan, &wanted);
        self.is_proved(claim, &beginning)
    }

    /// Returns the bounds that every settlement keeps: those that are kept by themselves, and those that are kept beside
    /// these and one another.
    fn inductive(&self, candidates: &[SessionBound]) -> Vec<SessionBound> {
        let (mut kept, left): (Vec<_>, Vec<_>) = candidates
            .iter()
            .filter(|bound| is_founded(self.plan, bound))
            .cloned()
            .partition(|bound| self.is_kept(bound, std::slice::from_ref(bound)));
        kept.sort();
        // What is kept by itself needs no second proof.
        let beside: Vec<SessionBound> = kept.iter().take(MOST_GIVEN).cloned().collect();
        let mut together: Vec<SessionBound> = left.into_iter().take(MOST_TOGETHER).collect();
        loop {
            let mut all = [&beside[..], &together[..]].concat();
            all.sort();
            let before = together.len();
            together.retain(|bound| self.is_kept(bound, &all));
            if together.len() == before {
                break;
            }
        }
        kept.extend(together);
        kept.sort();
        kept.dedup();
        kept
    }

    /// Returns true if every settlement keeps a bound where these hold.
    pub(super) fn is_kept(&self, bound: &SessionBound, beside: &[SessionBound]) -> bool {
        let movers = 0..self.plan.tools.len() as ToolId;
        movers
            .filter(|tool| is_owed_by(self.plan, *tool, bound))
            .all(|tool| self.is_kept_by(tool, bound, beside))
    }

    /// Returns true if the settlement of a call of the tool keeps a bound where these hold.
    pub(super) fn is_kept_by(
        &self,
        tool: ToolId,
        bound: &SessionBound,
        beside: &[SessionBound],
    ) -> bool {
        self.is_proved(&Claim::Bounded { tool, bound: bound.clone() }, beside)
    }

    fn is_proved(&self, claim: &Claim, bounds: &[SessionBound]) -> bool {
        let problem = self.problem(claim, bounds).map(|(problem, _)| problem);
        let answer = problem.map(|problem| first_proof(&problem, Effort::GUESS, &self.allowance));
        matches!(answer, Some(ProverAnswer::Proved(_)))
    }

    fn problem(&self, claim: &Claim, bounds: &[SessionBound]) -> Option<(ProofProblem, System)> {
        let system =
            System::with_bounds(self.plan, claim.tool(), self.assumed, bounds, Width::REAL);
        let goal = system.goals.iter().find(|goal| goal.claim == *claim)?;
        Some((system.problem(goal)?, system))
    }

    /// Returns the bounds that a proof of the claim uses; `None` if there is no proof.
    fn proves(&self, claim: &Claim, bounds: &[SessionBound]) -> Option<Vec<SessionBound>> {
        let (problem, system) = self.problem(claim, bounds)?;
        let ProverAnswer::Proved(certificate) = prove(&problem, Effort::GUESS, &self.allowance)
        else {
            return None;
        };
        let used = certificate.uses.iter().filter_map(|at| match system.given[*at as usize] {
            Given::Bound(at) => bounds.get(at as usize).cloned(),
            _ => None,
        });
        Some(used.collect())
    }

    /// The bounds that are needed, with those that their own proofs need.
    fn closed(&self, needed: BTreeSet<SessionBound>, found: &[SessionBound]) -> Vec<SessionBound> {
        let mut closed = needed.clone();
        let mut open: Vec<SessionBound> = needed.into_iter().collect();
        while let Some(bound) = open.pop() {
            if self.is_kept(&bound, std::slice::from_ref(&bound)) {
                continue;
            }
            for tool in 0..self.plan.tools.len() as ToolId {
                if !is_owed_by(self.plan, tool, &bound) {
                    continue;
                }
                let claim = Claim::Bounded { tool, bound: bound.clone() };
                let used = self.proves(&claim, found).unwrap_or_default();
                open.extend(used.into_iter().filter(|claim| closed.insert(claim.clone())));
            }
        }
        closed.into_iter().collect()
    }
}
