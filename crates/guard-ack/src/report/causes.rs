//! The causes of findings: the broken promises, and the cases that each of them explains.

use crate::clause;
use crate::run::{AckReport, CaseOutcome, CaseVerdict};
use std::collections::{BTreeMap, BTreeSet};

/// A broken promise, or a reason why the adapter could not be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootCause {
    /// The clause, or the kind of problem.
    pub name: String,
    /// The promise; empty for a problem.
    pub promise: &'static str,
    /// The cases with this finding, in the order of the report.
    pub cases: Vec<String>,
    /// The number of these cases with no other finding.
    pub alone: usize,
}

/// Returns the causes of a report's findings. The first explains the most cases by itself.
pub fn causes(report: &AckReport) -> Vec<RootCause> {
    let mut by_name: BTreeMap<&str, Vec<(&CaseOutcome, bool)>> = BTreeMap::new();
    for outcome in &report.outcomes {
        let names = names(outcome);
        let is_alone = names.len() == 1;
        for name in names {
            by_name.entry(name).or_default().push((outcome, is_alone));
        }
    }
    let cause = |(name, outcomes): (&str, Vec<(&CaseOutcome, bool)>)| RootCause {
        name: name.to_owned(),
        promise: clause::find(name).map_or("", |clause| clause.promise),
        cases: outcomes.iter().map(|(outcome, _)| outcome.name.clone()).collect(),
        alone: outcomes.iter().filter(|(_, is_alone)| *is_alone).count(),
    };
    let mut causes: Vec<RootCause> = by_name.into_iter().map(cause).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse((cause.alone, cause.cases.len())));
    causes
}

fn names(outcome: &CaseOutcome) -> BTreeSet<&str> {
    match &outcome.verdict {
        CaseVerdict::Failed(broken) => {
            broken.iter().map(|promise| promise.clause.as_str()).collect()
        }
        CaseVerdict::Errored(trouble) => BTreeSet::from([trouble.kind.word()]),
        CaseVerdict::Passed | CaseVerdict::Skipped(_) => BTreeSet::new(),
    }
}
