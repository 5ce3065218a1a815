//! Requirements of a call that no call has met yet.

use super::Supposition;
use guard_plan::plan::{Requirement, ToolId};
use guard_plan::value::Value;
use guard_runtime::HypotheticalCall;
use std::collections::BTreeSet;

/// An unmet requirement: one of these alternatives must succeed. The order is that of the guard.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unmet(pub Vec<Alternative>);

/// A call that would meet the requirement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Alternative {
    pub tool: ToolId,
    /// The required values of these parameters.
    pub key: Vec<(u32, Value)>,
}

impl Unmet {
    /// Returns the unmet requirements of a call, in order; requirements that the same calls meet
    /// are merged.
    pub fn all(supposed: &Supposition<'_, '_>, call: &HypotheticalCall<'_>) -> Vec<Unmet> {
        let applies = call.tool().requires.iter().filter(|requires| {
            !requires.rule.shadow && requires.when.as_ref().is_none_or(|when| supposed.holds(when))
        });
        let unmet = applies.filter_map(|requires| {
            let mut alternatives = Vec::new();
            for requirement in &requires.any_of {
                match alternative(supposed, requirement) {
                    AlternativeState::Met => return None,
                    AlternativeState::Missing(alternative) => alternatives.push(alternative),
                    AlternativeState::Faulty => {}
                }
            }
            alternatives.sort();
            alternatives.dedup();
            Some(Unmet(alternatives))
        });
        let unmet: BTreeSet<Unmet> = unmet.collect();
        unmet.into_iter().collect()
    }
}

enum AlternativeState {
    Met,
    Missing(Alternative),
    /// The key has no value, so no call can meet it.
    Faulty,
}

fn alternative(supposed: &Supposition<'_, '_>, requirement: &Requirement) -> AlternativeState {
    let values = requirement.key.iter().flat_map(|key| &key.values);
    let values: Result<Vec<Value>, _> = values.map(|value| supposed.evaluate(value)).collect();
    let Ok(values) = values else { return AlternativeState::Faulty };
    if supposed.hypothesis.meets(requirement, &values) {
        return AlternativeState::Met;
    }
    let key = match &requirement.key {
        Some(key) => {
            let params = &supposed.scene.plan.indexes[key.index as usize].params;
            params.iter().copied().zip(values).collect()
        }
        None => Vec::new(),
    };
    AlternativeState::Missing(Alternative { tool: requirement.tool, key })
}
