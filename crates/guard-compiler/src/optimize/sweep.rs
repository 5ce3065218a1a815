//! `sweep`: removes patterns that passes added and no expression uses.
//!
//! The patterns of the plan as lowered keep their indexes, used or not, because expressions outside
//! the plan (expectations of tests, queries of tools on a session) refer to them.

use super::{PassWork, visit};
use guard_plan::plan::{Node, RegexId};
use std::collections::BTreeMap;

/// Keeps the used ones of the patterns that passes have added, sorted.
pub(super) fn sweep(work: &mut PassWork<'_>) {
    let first = work.lowered.regexes.len() as RegexId;
    let plan = &mut *work.plan;
    let mut asked = Vec::new();
    visit::deciding(plan, &mut |_, expr| {
        asked.extend(expr.0.iter().filter_map(|node| match node {
            Node::Matches(_, id) if *id >= first => Some(*id),
            _ => None,
        }));
    });
    let pattern = |id: &RegexId| plan.regexes.get(*id as usize).cloned().map(|text| (text, *id));
    let kept: BTreeMap<String, RegexId> = asked.iter().filter_map(pattern).collect();
    let numbers: BTreeMap<RegexId, RegexId> = kept.values().copied().zip(first..).collect();
    visit::deciding(plan, &mut |_, expr| {
        for node in &mut expr.0 {
            if let Node::Matches(_, id) = node
                && let Some(number) = numbers.get(id)
            {
                *id = *number;
            }
        }
    });
    plan.regexes.truncate(first as usize);
    plan.regexes.extend(kept.into_keys());
}
