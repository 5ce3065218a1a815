//! A limit that a budget keeps anybody from reaching.

use super::Lint;
use crate::errors;
use crate::explore::limit_text;
use crate::hir::{ClauseKind, ExprKind, LimitId, Tool};
use guard_plan::plan::LimitScope;
use guard_plan::value::DECIMAL_ONE;
use guard_syntax::diagnostic::Diagnostic;

pub(super) fn check(lint: &Lint, found: &mut Vec<Diagnostic>) {
    for (at, limit) in lint.program.limits.iter().enumerate() {
        // In flight nothing adds up; a count for each key or call is reached with less.
        if limit.scope == LimitScope::InFlight {
            continue;
        }
        if let Some(unit) = moot(lint, at) {
            let unit = &lint.program.units[unit];
            let text = limit_text(lint.program, at);
            found.push(errors::moot_limit(limit.rule.span, &text, &unit.name, unit.span));
        }
    }
}

/// The unit of which so many calls cannot be paid, and one more not at all.
fn moot(lint: &Lint, limit: LimitId) -> Option<usize> {
    let program = lint.program;
    let holds = |tool: &&Tool| {
        let held = |c: &crate::hir::Clause| matches!(&c.kind, ClauseKind::Limit { limit: of, .. } if *of == limit);
        tool.clauses.iter().any(held)
    };
    let holders: Vec<&Tool> = program.tools.iter().filter(holds).collect();
    let count = i128::from(program.limits[limit].count);
    (0..program.units.len()).find(|unit| {
        let least = holders.iter().map(|tool| cost(tool, *unit)).min().unwrap_or(0);
        let budget = program.units[*unit].budget.map(i128::from);
        // The limit refuses the call after the last that it counts: the budget has refused that one before.
        budget.is_some_and(|budget| least > 0 && count * i128::from(least) > budget)
    })
}

/// What a call of a tool costs at least.
fn cost(tool: &Tool, unit: usize) -> i64 {
    let mut least = if unit == 0 { DECIMAL_ONE } else { 0 };
    for clause in tool.clauses.iter().filter(|clause| !clause.rule.shadow) {
        if let ClauseKind::Costs { unit: of, amount } = &clause.kind
            && *of == unit
            && let ExprKind::Decimal(v) = amount.kind
        {
            least = least.saturating_add(v);
        }
    }
    least
}
