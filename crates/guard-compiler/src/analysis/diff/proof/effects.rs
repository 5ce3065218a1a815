//! Comparison of effects: what a tool writes, and the invariants that are checked of it.

use super::{PossibleChange, Sides, variable, variables};
use crate::analysis::diff::implied::{Placed, implies};
use crate::hir::canon::Canon;
use crate::hir::{ClauseKind, Expr, Program, Tool};
use guard_proof::mutant;
use std::collections::{BTreeMap, BTreeSet};

impl Sides<'_> {
    /// Compares what the tool writes, and the checks of it before the call.
    pub(super) fn effects(&self, a: &Tool, b: &Tool, change: &mut PossibleChange) {
        let texts = |program: &Program, tool: &Tool| {
            let own = Canon(program).clauses(tool).into_iter();
            let effects = own.filter(|(c, _)| matches!(c.kind, ClauseKind::Effect { .. }));
            effects.map(|(_, text)| text).collect::<BTreeSet<_>>()
        };
        let before = texts(self.old, a);
        let after = texts(self.new, b);
        if before != after && !self.effects_beside(a, b, change) {
            change.other("its effects".into());
            return;
        }
        let written = |program: &Program, tool: &Tool| -> BTreeSet<String> {
            let var = |c: &crate::hir::Clause| match &c.kind {
                ClauseKind::Effect { target, .. } => Some(program.state[target.var].name.clone()),
                _ => None,
            };
            tool.clauses.iter().filter_map(var).collect()
        };
        let vars: BTreeSet<String> =
            written(self.old, a).union(&written(self.new, b)).cloned().collect();
        // What observations may only warn of is not held against other calls.
        if tolerated(self.old) != tolerated(self.new) && !mutant!("a warning is a refusal") {
            change.other("whether a broken invariant is held against calls".into());
        }
        let old = invariants(self.old, &vars);
        let new = invariants(self.new, &vars);
        let keeps = |known: &[Placed], all: &[Placed]| {
            all.iter().all(|i| known.iter().any(|known| implies(*known, *i)))
        };
        if !keeps(&old, &new) {
            change.tighter.push("an invariant is new".into());
        }
        if !keeps(&new, &old) {
            change.looser.push("an invariant is removed".into());
        }
        for name in &vars {
            if let (Some(p), Some(q)) = (variable(self.old, name), variable(self.new, name)) {
                self.narrowed(&format!("the type of `{name}`"), &p.ty, &q.ty, change);
            }
        }
    }

    /// Effects that only one of them has, on variables of which no common invariant speaks: they can only refuse.
    fn effects_beside(&self, a: &Tool, b: &Tool, change: &mut PossibleChange) -> bool {
        let effects = |program: &Program, tool: &Tool| {
            let mut texts: BTreeMap<String, String> = BTreeMap::new();
            for (clause, text) in Canon(program).clauses(tool) {
                if let ClauseKind::Effect { target, .. } = &clause.kind {
                    texts.insert(text, program.state[target.var].name.clone());
                }
            }
            texts
        };
        let old = effects(self.old, a);
        let new = effects(self.new, b);
        let spoken: BTreeSet<String> = [self.old, self.new]
            .into_iter()
            .flat_map(|p| p.invariants.iter().map(move |i| variables(p, &i.condition)))
            .flatten()
            .collect();
        let own = |texts: &BTreeMap<String, String>, other: &BTreeMap<String, String>| {
            let beside = texts.iter().filter(|(text, _)| !other.contains_key(*text));
            beside.map(|(_, var)| var.clone()).collect::<BTreeSet<String>>()
        };
        let gone = own(&old, &new);
        let added = own(&new, &old);
        let touched = |var: &String| {
            spoken.contains(var) || old.iter().any(|(t, v)| v == var && new.contains_key(t))
        };
        let beside = mutant!("no invariant speaks of an effect");
        // A variable on both sides is written otherwise, which is neither more nor less.
        if (gone.iter().chain(&added).any(touched) || !gone.is_disjoint(&added)) && !beside {
            return false;
        }
        change.looser.extend(gone.iter().map(|var| format!("the effect on `{var}`")));
        change.tighter.extend(added.iter().map(|var| format!("the effect on `{var}`")));
        true
    }
}

/// The enforced invariants that some observations may break, and of which all of those only warn.
fn tolerated(program: &Program) -> BTreeSet<String> {
    let clauses = || program.tools.iter().flat_map(|tool| &tool.clauses);
    let enforced = program.invariants.iter().filter(|i| !i.monitor && !i.rule.shadow);
    let is_tolerated = |condition: &Expr| {
        let vars = variables(program, condition);
        let mut warns = clauses().filter(|clause| !clause.rule.shadow).filter_map(|clause| {
            let ClauseKind::Observe { target, warn, .. } = &clause.kind else { return None };
            vars.contains(&program.state[target.var].name).then_some(*warn)
        });
        warns.next().is_some_and(|first| first && warns.all(|warns| warns))
    };
    enforced
        .filter(|invariant| is_tolerated(&invariant.condition))
        .map(|invariant| Canon(program).expr(None, &invariant.condition))
        .collect()
}

/// The enforced invariants that speak of these variables.
fn invariants<'p>(program: &'p Program, vars: &BTreeSet<String>) -> Vec<Placed<'p>> {
    let enforced = program.invariants.iter().filter(|i| !i.monitor && !i.rule.shadow);
    let spoken = enforced.filter(|i| !variables(program, &i.condition).is_disjoint(vars));
    spoken.map(|i| Placed { program, tool: None, e: &i.condition }).collect()
}
