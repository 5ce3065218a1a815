//! A limit that a budget keeps anybody from reaching.

use super::Lint;
use crate::analysis::explore::limit_text;
use crate::errors;
use crate::hir::{Clause, ClauseKind, ExprKind, Tool};
use guard_plan::plan::LimitScope;
use guard_plan::value::DECIMAL_ONE;
use guard_syntax::diagnostic::Diagnostic;
use std::collections::BTreeMap;

pub(super) fn check(lint: &Lint, found: &mut Vec<Diagnostic>) {
    let program = lint.program;
    let costs: Vec<BTreeMap<usize, i64>> = program.tools.iter().map(costs).collect();
    let mut holders: Vec<Vec<usize>> = vec![Vec::new(); program.limits.len()];
    for (tool, tool_def) in program.tools.iter().enumerate() {
        for clause in &tool_def.clauses {
            if let ClauseKind::Limit { limit, .. } = &clause.kind {
                holders[*limit].push(tool);
            }
        }
    }
    for (at, limit) in program.limits.iter().enumerate() {
        // In flight nothing adds up.
        if limit.scope == LimitScope::InFlight {
            continue;
        }
        let count = i128::from(limit.count);
        let held = holders[at].iter().map(|tool| &costs[*tool]);
        let Some(first) = held.clone().next() else { continue };
        let moot = first.keys().find(|unit| {
            let least = held.clone().map(|costs| costs.get(*unit).copied().unwrap_or(0)).min();
            let budget = program.units[**unit].budget.map(i128::from);
            // The limit refuses the call after the last that it counts: the budget has refused one before.
            let least = i128::from(least.unwrap_or(0));
            budget.is_some_and(|budget| least > 0 && count * least > budget)
        });
        if let Some(unit) = moot {
            let unit = &program.units[*unit];
            let text = limit_text(program, at);
            found.push(errors::moot_limit(limit.rule.span, &text, &unit.name, unit.span));
        }
    }
}

/// Returns the minimum cost of one call of a tool, however it ends, by unit, in units of 10⁻⁶.
fn costs(tool: &Tool) -> BTreeMap<usize, i64> {
    let said = |c: &Clause| matches!(c.kind, ClauseKind::Costs { unit: 0, .. }) && !c.rule.shadow;
    let calls = if tool.clauses.iter().any(said) { 0 } else { DECIMAL_ONE };
    let mut costs = BTreeMap::from([(0, calls)]);
    for clause in tool.clauses.iter().filter(|clause| !clause.rule.shadow) {
        if let ClauseKind::Costs { unit, amount, returned: false } = &clause.kind
            && let ExprKind::Decimal(v) = amount.kind
        {
            let sum: &mut i64 = costs.entry(*unit).or_default();
            *sum = sum.saturating_add(v);
        }
    }
    costs
}
