//! A program without its properties, or with some of their clauses as rules.

use crate::hir::{Clause, ClauseKind, LimitId, Program, RuleMeta};
use std::collections::BTreeMap;

/// The role of a clause of a property in a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stance {
    /// The clause is left out.
    Absent,
    /// The clause is a rule in shadow mode.
    Watches,
    /// The clause is an enforced rule.
    Refuses,
}

/// Returns the program in which each clause of a property has the given stance. Counters that no
/// tool uses any more are removed.
pub(crate) fn with(program: &Program, stance: impl Fn(usize, &Clause) -> Stance) -> Program {
    let mut copy = program.clone();
    let mut gone = vec![false; program.limits.len()];
    for (tool, tool_def) in copy.tools.iter_mut().enumerate() {
        let clauses = std::mem::take(&mut tool_def.clauses);
        for mut clause in clauses {
            if clause.rule.property.is_some() {
                let stance = stance(tool, &clause);
                let limit = match &clause.kind {
                    ClauseKind::Limit { limit, .. } => Some(*limit),
                    _ => None,
                };
                if let Some(limit) = limit {
                    gone[limit] = stance == Stance::Absent;
                    copy.limits[limit].rule = standing(&copy.limits[limit].rule, stance);
                }
                if stance == Stance::Absent {
                    continue;
                }
                clause.rule = standing(&clause.rule, stance);
            }
            tool_def.clauses.push(clause);
        }
    }
    without_limits(&mut copy, &gone);
    copy
}

fn standing(rule: &RuleMeta, stance: Stance) -> RuleMeta {
    RuleMeta { shadow: stance != Stance::Refuses, ..rule.clone() }
}

fn without_limits(program: &mut Program, gone: &[bool]) {
    let mut kept: BTreeMap<LimitId, LimitId> = BTreeMap::new();
    for at in (0..program.limits.len()).filter(|at| !gone[*at]) {
        kept.insert(at, kept.len());
    }
    let mut at = 0;
    program.limits.retain(|_| {
        at += 1;
        !gone[at - 1]
    });
    for clause in program.tools.iter_mut().flat_map(|tool| &mut tool.clauses) {
        if let ClauseKind::Limit { limit, .. } = &mut clause.kind
            && let Some(moved) = kept.get(limit)
        {
            *limit = *moved;
        }
    }
}
