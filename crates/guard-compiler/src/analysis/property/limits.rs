//! Counters that follow from other counters.

use crate::analysis::diff::implied::is_total;
use crate::hir::canon::Canon;
use crate::hir::{Clause, ClauseKind, Limit, LimitId, Program, ToolId};
use guard_plan::plan::LimitScope;
use std::collections::{BTreeMap, BTreeSet};

/// Returns true if no call that the other limits allow is over this one.
pub(super) fn follows(program: &Program, clause: &Clause) -> bool {
    let ClauseKind::Limit { limit, by } = &clause.kind else { return false };
    // If the key cannot be computed, the limit refuses the call.
    if !by.as_ref().is_none_or(is_total) {
        return false;
    }
    let claimed = &program.limits[*limit];
    let held = holders(program, *limit);
    let enforced = |at: &LimitId| {
        let rule = &program.limits[*at].rule;
        !rule.shadow && rule.property.is_none() && stricter(&program.limits[*at], claimed)
    };
    let others: Vec<(LimitId, BTreeMap<ToolId, Option<String>>)> =
        (0..program.limits.len()).filter(enforced).map(|at| (at, holders(program, at))).collect();
    // A counter for all keys together also counts the calls of one key.
    let counts = |keys: &BTreeMap<ToolId, Option<String>>, tool: &ToolId| match (keys.get(tool), by)
    {
        (None, _) => false,
        (Some(None), _) => true,
        (Some(key), Some(_)) => held.get(tool) == Some(key),
        (Some(Some(_)), None) => false,
    };
    if claimed.scope == LimitScope::Identical {
        // Each tool is counted separately.
        return held.keys().all(|tool| {
            others
                .iter()
                .any(|(at, keys)| program.limits[*at].count <= claimed.count && counts(keys, tool))
        });
    }
    let covered = others.iter().any(|(at, keys)| {
        (program.limits[*at].count <= claimed.count || guard_proof::mutant!("any count is enough"))
            && held.keys().all(|tool| counts(keys, tool))
    });
    covered || {
        let mut used: BTreeSet<LimitId> = BTreeSet::new();
        for tool in held.keys() {
            // If there are several counters, one that asks may be far beyond its count.
            let bounds = |(at, keys): &&(LimitId, _)| {
                counts(keys, tool) && program.limits[*at].ask.is_none()
            };
            let own = others.iter().filter(bounds);
            // A counter that is already used has no further cost.
            let best = own.min_by_key(|(at, _)| (!used.contains(at), program.limits[*at].count));
            let Some((at, _)) = best else { return false };
            used.insert(*at);
        }
        let sum: u64 = used.iter().map(|at| u64::from(program.limits[*at].count)).sum();
        sum <= u64::from(claimed.count)
    }
}

/// Returns the tools that a counter counts, with their keys as text.
fn holders(program: &Program, limit: LimitId) -> BTreeMap<ToolId, Option<String>> {
    let mut holders = BTreeMap::new();
    for (id, tool) in program.tools.iter().enumerate() {
        for clause in &tool.clauses {
            if let ClauseKind::Limit { limit: at, by } = &clause.kind
                && *at == limit
            {
                let by = by.as_ref().map(|by| Canon(program).expr(Some(tool), by));
                holders.insert(id, by);
            }
        }
    }
    holders
}

/// Returns true if the first counter counts every call that the second one does.
fn stricter(limit: &Limit, claimed: &Limit) -> bool {
    use LimitScope::{Identical, InFlight, Session, Window};
    let spans = match (limit.scope, claimed.scope) {
        (Session, _) | (InFlight, InFlight) | (Identical, Identical) => true,
        (Window(_), Window(_)) if guard_proof::mutant!("a window is any") => true,
        (Window(a), Window(b)) => a >= b,
        _ => false,
    };
    // A call in flight has not failed.
    let failed = guard_proof::mutant!("failures are not counted either way");
    // A limit that asks a role bounds nothing, because approved calls go over it. But it also asks
    // for what another limit that asks the same role requires.
    let refuses = limit.ask.is_none() || limit.ask == claimed.ask;
    let refuses = refuses || guard_proof::mutant!("nobody approves a call over a limit");
    spans && refuses && (failed || !limit.success || claimed.success || claimed.scope == InFlight)
}
