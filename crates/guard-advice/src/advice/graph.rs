//! The graph of requirements: what a call still needs, and what the calls that lead to it are worth.

use super::candidates::Candidate;
use super::unmet::{Alternative, Unmet};
use super::{belief, fixed};
use guard_plan::advice::Belief;
use guard_plan::plan::ToolId;
use guard_plan::verdict::{Code, Decision};
use std::collections::BTreeMap;

/// All candidates, and what each is worth.
pub(super) struct Graph {
    candidates: Vec<Candidate>,
    by_tool: BTreeMap<ToolId, Vec<usize>>,
    worth: Vec<i64>,
}

impl Graph {
    /// Judges what each candidate is worth: what it gains, or its share of what it leads to.
    pub fn new(candidates: Vec<Candidate>, beliefs: &BTreeMap<ToolId, Belief>) -> Graph {
        let mut by_tool: BTreeMap<ToolId, Vec<usize>> = BTreeMap::new();
        for (at, candidate) in candidates.iter().enumerate() {
            by_tool.entry(candidate.tool).or_default().push(at);
        }
        let worth = candidates.iter().map(|candidate| candidate.gain).collect();
        let mut graph = Graph { candidates, by_tool, worth };
        graph.share(beliefs);
        graph
    }

    /// Hands worth down to what is still required, until nothing changes. A share is at most half of what it is
    /// a share of, so that even a circle comes to rest.
    fn share(&mut self, beliefs: &BTreeMap<ToolId, Belief>) {
        let edges: Vec<(usize, Vec<usize>)> = self.edges();
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

    /// From each candidate that calls can unblock to the candidates that would do it.
    fn edges(&self) -> Vec<(usize, Vec<usize>)> {
        let blocked = self.candidates.iter().enumerate();
        let blocked = blocked.filter(|(_, one)| !one.unmet.is_empty() && !is_hopeless(one));
        let to = |one: &Candidate| {
            let alternatives = one.unmet.iter().flat_map(|unmet| &unmet.0);
            alternatives.flat_map(|alternative| self.admitted(alternative)).collect()
        };
        blocked.map(|(at, one)| (at, to(one))).collect()
    }

    /// The candidates that an alternative admits.
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

    /// The best of a tool's candidates, as they are scored; the first of equals.
    pub fn of_tool(
        &self,
        id: ToolId,
        score: impl Fn(usize) -> super::Scored,
    ) -> Option<super::Scored> {
        let scored = self.by_tool.get(&id)?.iter().map(|at| score(*at));
        scored.min_by_key(super::Scored::rank)
    }

    /// What an alternative itself still needs: of the calls that would do, the one that needs least.
    pub fn unmet(&self, alternative: &Alternative) -> &[Unmet] {
        let admitted = self.admitted(alternative).into_iter();
        let unmet = admitted.map(|at| self.candidates[at].unmet.as_slice());
        unmet.min_by_key(|unmet| unmet.len()).unwrap_or_default()
    }
}

/// Whether a candidate is the call that an alternative needs, or could be made it.
fn admits(alternative: &Alternative, candidate: &Candidate) -> bool {
    let mut key = alternative.key.iter();
    candidate.tool == alternative.tool
        && candidate.values.as_ref().is_none_or(|values| {
            key.all(|(param, value)| values.get(*param as usize) == Some(value))
        })
}

/// Whether something stands in the way that no other call removes.
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
