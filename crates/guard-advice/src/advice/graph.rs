//! The graph of requirements: the unmet requirements of a call, and the values of the calls that
//! lead to it.

use super::candidates::Candidate;
use super::unmet::{Alternative, Unmet};
use super::{belief, fixed};
use guard_plan::advice::Belief;
use guard_plan::plan::ToolId;
use guard_plan::verdict::{Code, Decision};
use std::collections::BTreeMap;

/// All candidates and their values.
pub(super) struct CandidateGraph {
    candidates: Vec<Candidate>,
    by_tool: BTreeMap<ToolId, Vec<usize>>,
    worth: Vec<i64>,
}

impl CandidateGraph {
    /// Computes the value of each candidate: its gain, or its share of the candidates that it leads
    /// to.
    pub fn new(candidates: Vec<Candidate>, beliefs: &BTreeMap<ToolId, Belief>) -> CandidateGraph {
        let mut by_tool: BTreeMap<ToolId, Vec<usize>> = BTreeMap::new();
        for (at, candidate) in candidates.iter().enumerate() {
            by_tool.entry(candidate.tool).or_default().push(at);
        }
        let worth = candidates.iter().map(|candidate| candidate.gain).collect();
        let mut graph = CandidateGraph { candidates, by_tool, worth };
        graph.share(beliefs);
        graph
    }

    /// Propagates values to the required calls until nothing changes. A share is at most half of
    /// its source, so the propagation also ends in a cycle.
    fn share(&mut self, beliefs: &BTreeMap<ToolId, Belief>) {
        let edges: Vec<(usize, Vec<usize>)> = self.edges();
        // A chain without a cycle has at most one step per tool, and rounding could keep a cycle
        // alive.
        for _ in 0..=self.by_tool.len() {
            let mut changed = false;
            for (from, to) in &edges {
                let candidate = &self.candidates[*from];
                let expected = beliefs.get(&candidate.tool);
                let expected =
                    expected.map_or(0, |belief| belief::expected(belief, self.worth[*from]));
                let sharers = candidate.unmet.len() as i128 + 1;
                let share = fixed::quotient(expected.into(), sharers * i128::from(fixed::ONE));
                for at in to {
                    changed |= share > self.worth[*at];
                    self.worth[*at] = self.worth[*at].max(share);
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Returns the edges from each candidate that calls can unblock to the candidates that unblock
    /// it.
    fn edges(&self) -> Vec<(usize, Vec<usize>)> {
        let blocked = self.candidates.iter().enumerate();
        let blocked =
            blocked.filter(|(_, candidate)| !candidate.unmet.is_empty() && !is_hopeless(candidate));
        let to = |candidate: &Candidate| {
            let alternatives = candidate.unmet.iter().flat_map(|unmet| &unmet.0);
            alternatives.flat_map(|alternative| self.admitted(alternative)).collect()
        };
        blocked.map(|(at, candidate)| (at, to(candidate))).collect()
    }

    /// Returns the candidates that match an alternative.
    fn admitted(&self, alternative: &Alternative) -> Vec<usize> {
        let all = self.by_tool.get(&alternative.tool).into_iter().flatten().copied();
        all.filter(|at| admits(alternative, &self.candidates[*at])).collect()
    }

    pub fn candidate(&self, at: usize) -> &Candidate {
        &self.candidates[at]
    }

    pub fn worth(&self, at: usize) -> i64 {
        self.worth[at]
    }

    /// Returns the best of a tool's candidates by score; among equal ones, the first.
    pub fn of_tool(
        &self,
        id: ToolId,
        score: impl Fn(usize) -> super::Scored,
    ) -> Option<super::Scored> {
        let scored = self.by_tool.get(&id)?.iter().map(|at| score(*at));
        scored.min_by_key(super::Scored::rank)
    }

    /// Returns the unmet requirements of an alternative: those of the matching call with the
    /// fewest.
    pub fn unmet(&self, alternative: &Alternative) -> &[Unmet] {
        let admitted = self.admitted(alternative).into_iter();
        let unmet = admitted.map(|at| self.candidates[at].unmet.as_slice());
        unmet.min_by_key(|unmet| unmet.len()).unwrap_or_default()
    }
}

/// Returns true if a candidate is the call that an alternative requires, or could become it.
fn admits(alternative: &Alternative, candidate: &Candidate) -> bool {
    let mut key = alternative.key.iter();
    candidate.tool == alternative.tool
        && candidate.values.as_ref().is_none_or(|values| {
            key.all(|(param, value)| values.get(*param as usize) == Some(value))
        })
}

/// Returns true if a candidate has an obstacle that no other call removes.
fn is_hopeless(candidate: &Candidate) -> bool {
    let hopeless = |code| {
        matches!(
            code,
            Code::UnknownTool
                | Code::InvalidArguments
                | Code::Limit
                | Code::Budget
                | Code::Deadline
                | Code::UnknownReference
                | Code::Halted
        )
    };
    let reasons = &candidate.reasons;
    candidate.never
        || reasons.iter().any(|reason| reason.decision == Decision::Deny && hopeless(reason.code))
}
