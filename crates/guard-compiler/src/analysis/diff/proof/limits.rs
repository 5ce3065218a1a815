//! Comparison of limits and budgets: what of a tool is counted and spent.

use super::history::{HistoryView, Influence, counter};
use super::{PossibleChange, Sides};
use crate::hir::{ClauseKind, Program, Tool};
use guard_proof::mutant;
use std::collections::{BTreeMap, BTreeSet};

/// A limit on a counter: from which count on it holds, and the role that it asks, if it does not refuse.
type CounterLimit<'p> = (u32, Option<&'p str>);

/// Returns the limits that a tool is held to, by counter.
fn counters<'p>(view: &HistoryView<'p>, tool: &'p Tool) -> BTreeMap<String, Vec<CounterLimit<'p>>> {
    let mut counters: BTreeMap<String, Vec<CounterLimit>> = BTreeMap::new();
    for clause in tool.clauses.iter().filter(|clause| !clause.rule.shadow) {
        let ClauseKind::Limit { limit, .. } = &clause.kind else { continue };
        let text = counter(view, tool, *limit, clause);
        let limit = &view.program.limits[*limit];
        let role = limit.ask.as_deref().filter(|_| !mutant!("a limit that asks refuses"));
        counters.entry(text).or_default().push((limit.count, role));
    }
    counters
}

/// Returns the roles that are asked where so many calls are counted; none where the call is refused.
fn refusal<'p>(limits: &[CounterLimit<'p>], counted: u32) -> Option<BTreeSet<&'p str>> {
    let reached = limits.iter().filter(|(count, _)| *count <= counted);
    reached.map(|(_, role)| *role).collect()
}

/// Returns true if the first refuses or asks wherever the second does.
fn refuses_as_much(mine: &Option<BTreeSet<&str>>, other: &Option<BTreeSet<&str>>) -> bool {
    match (mine, other) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(mine), Some(other)) => other.is_subset(mine),
    }
}

impl<'p> Sides<'p> {
    /// Counters: the same one with a lower count refuses more, and one that refuses refuses more than one that asks.
    pub(super) fn limits(&self, a: &'p Tool, b: &'p Tool, change: &mut PossibleChange) {
        let old = counters(self.told.0.view(), a);
        let new = counters(self.told.1.view(), b);
        let all: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let none = Vec::new();
        for text in all {
            let old = old.get(text).unwrap_or(&none);
            let new = new.get(text).unwrap_or(&none);
            if old.iter().chain(new).all(|(_, role)| role.is_none()) {
                let least = |limits: &[CounterLimit]| limits.iter().map(|(count, _)| *count).min();
                change.bound("a limit", least(old), least(new));
                continue;
            }
            // Between two of these counts nothing changes.
            for (counted, _) in old.iter().chain(new) {
                let before = refusal(old, *counted);
                let after = refusal(new, *counted);
                if !refuses_as_much(&before, &after) {
                    change.tighter.push("a limit refuses or asks more".into());
                }
                if !refuses_as_much(&after, &before) {
                    change.looser.push("a limit refuses or asks less".into());
                }
            }
        }
    }

    /// Units that the tool charges.
    pub(super) fn budgets(&self, a: &Tool, b: &Tool, change: &mut PossibleChange) {
        let charged = |program: &Program, tool: &Tool| {
            // Every call spends a `calls`, the first unit, and what the host charges may be spent
            // at any time.
            let mut units: BTreeSet<String> = [program.units[0].name.clone()].into();
            units.extend(program.units.iter().filter(|u| u.host_charged).map(|u| u.name.clone()));
            for clause in &tool.clauses {
                if let ClauseKind::Costs { unit, .. } = &clause.kind {
                    units.insert(program.units[*unit].name.clone());
                }
            }
            units
        };
        let units: BTreeSet<String> =
            charged(self.old, a).union(&charged(self.new, b)).cloned().collect();
        for unit in units {
            let budget = |program: &Program| {
                program.units.iter().find(|u| u.name == unit).and_then(|u| u.budget)
            };
            change.bound(&format!("the budget `{unit}`"), budget(self.old), budget(self.new));
            let hosted = |p: &Program| p.units.iter().any(|u| u.name == unit && u.host_charged);
            let spending = Influence::Spending(unit.clone());
            let differs = self.differs(&spending) && !mutant!("a budget is spent alike");
            if differs || hosted(self.old) != hosted(self.new) {
                change.other(format!("what costs `{unit}`"));
            }
        }
    }
}
