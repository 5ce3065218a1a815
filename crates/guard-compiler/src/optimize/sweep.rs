//! `sweep`: patterns that nothing asks for any more are not kept, so that no kernel compiles them.

use super::{Work, visit};
use guard_plan::plan::{Node, RegexId, TypeDef};
use std::collections::BTreeMap;

/// Keeps the patterns that are asked for, sorted.
pub(super) fn sweep(work: &mut Work<'_>) {
    let plan = &mut *work.plan;
    let mut asked = Vec::new();
    for def in &plan.types {
        if let TypeDef::String { patterns, .. } = def {
            asked.extend(patterns.iter().copied());
        }
    }
    visit::all(plan, &mut |expr| {
        asked.extend(expr.0.iter().filter_map(|node| match node {
            Node::Matches(_, id) => Some(*id),
            _ => None,
        }));
    });
    let pattern = |id: &RegexId| plan.regexes.get(*id as usize).cloned().map(|text| (text, *id));
    let kept: BTreeMap<String, RegexId> = asked.iter().filter_map(pattern).collect();
    let numbers: BTreeMap<RegexId, RegexId> = kept.values().copied().zip(0..).collect();
    let renumber = |id: &mut RegexId| *id = numbers.get(id).copied().unwrap_or_default();
    for def in &mut plan.types {
        if let TypeDef::String { patterns, .. } = def {
            patterns.iter_mut().for_each(renumber);
        }
    }
    visit::all(plan, &mut |expr| {
        for node in &mut expr.0 {
            if let Node::Matches(_, id) = node {
                renumber(id);
            }
        }
    });
    work.plan.regexes = kept.into_keys().collect();
}
