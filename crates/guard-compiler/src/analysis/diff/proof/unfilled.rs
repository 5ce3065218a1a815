//! Tools that no session can call: a rule of theirs needs a value that nothing fills.
//!
//! A variable is unfilled if it begins as `none` or as an empty map and only tools write it that cannot be called. A fact
//! is unfilled if only such tools teach it. Sound and small: a condition counts only where it reads such a value whatever
//! else it finds.

use crate::analysis::diff::implied::{Placed, filled_lists, is_false_without, writes_part};
use crate::hir::{ClauseKind, Expr, ExprKind as K, FactId, Program, Tool, Type, VarId};
use std::collections::BTreeSet;

/// The wire names of the tools that a guard never allows and for which it never asks.
pub(super) fn never_called(program: &Program) -> BTreeSet<String> {
    let mut never = BTreeSet::new();
    // A guard in shadow refuses no call.
    if program.shadow {
        return never;
    }
    loop {
        let unfilled = Unfilled::new(program, &never);
        // A tool that is never called fills nothing, which may leave another one without what it
        // needs.
        let found = program.tools.iter().filter(|tool| unfilled.refuses_all(tool));
        let count = never.len();
        never.extend(found.map(|tool| tool.wire_name.clone()));
        if never.len() == count {
            return never;
        }
    }
}

struct Unfilled<'p> {
    program: &'p Program,
    vars: BTreeSet<VarId>,
    facts: BTreeSet<FactId>,
}

impl<'p> Unfilled<'p> {
    fn new(program: &'p Program, never: &BTreeSet<String>) -> Self {
        let empty = |e: &Expr| match &e.kind {
            K::None => true,
            K::Map(entries) => entries.is_empty(),
            _ => false,
        };
        let mut vars: BTreeSet<VarId> =
            (0..program.state.len()).filter(|var| empty(&program.state[*var].init)).collect();
        let mut facts: BTreeSet<FactId> = (0..program.facts.len()).collect();
        let callable = program.tools.iter().filter(|tool| !never.contains(&tool.wire_name));
        for clause in callable.flat_map(|tool| &tool.clauses) {
            match &clause.kind {
                // A field of an entry that is missing cannot be written, so such an effect fills no
                // empty map.
                ClauseKind::Effect { target, .. } if writes_part(target) => {}
                ClauseKind::Observe { .. } if guard_proof::mutant!("observing fills nothing") => {}
                ClauseKind::Effect { target, .. } | ClauseKind::Observe { target, .. } => {
                    vars.remove(&target.var);
                }
                ClauseKind::Learn(learn) => _ = facts.remove(&learn.fact),
                _ => {}
            }
        }
        for (_, learn) in program.sources.iter().flat_map(|source| &source.learns) {
            facts.remove(&learn.fact);
        }
        Unfilled { program, vars, facts }
    }

    /// Returns true if a rule of the tool refuses every call.
    fn refuses_all(&self, tool: &'p Tool) -> bool {
        let conditions = || {
            let enforced = tool.clauses.iter().filter(|clause| !clause.rule.shadow);
            enforced.filter_map(|clause| match &clause.kind {
                ClauseKind::Deny { condition, .. } => match &condition.kind {
                    K::Not(unless) => Some(unless.as_ref()),
                    _ => None,
                },
                _ => None,
            })
        };
        let filled = filled_lists(self.program, tool);
        conditions().any(|e| {
            let placed = Placed { program: self.program, tool: Some(tool), e };
            is_false_without(placed, &|expr| self.is_unfilled(expr), &filled)
        })
    }

    /// Returns true if the expression is none in every session: an unfilled variable, or an entry of an unfilled map or fact.
    fn is_unfilled(&self, e: &Expr) -> bool {
        match &e.kind {
            K::State(var) => self.vars.contains(var) && matches!(e.ty, Type::Option(_)),
            K::Index(map, _) => matches!(map.kind, K::State(var) if self.vars.contains(&var)),
            K::Row(fact, _) => self.facts.contains(fact),
            _ => false,
        }
    }
}
