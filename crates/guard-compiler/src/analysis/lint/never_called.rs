//! A tool that can never be called, and why.

use super::Lint;
use super::truth::truth;
use crate::errors;
use crate::hir::{ClauseKind, Expr, ExprKind, Tool, ToolId};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;
use std::collections::BTreeSet;

/// Most passes over all tools.
const MOST_PASSES: usize = 64;

pub(super) fn check(lint: &mut Lint, found: &mut Vec<Diagnostic>) {
    let all: BTreeSet<ToolId> = (0..lint.program.tools.len()).collect();
    // What can be called only after what can be called: from nothing, until nothing more is added. Of a chain that is
    // longer than this nothing is said.
    let mut callable: BTreeSet<ToolId> = BTreeSet::new();
    let mut settled = false;
    for _ in 0..MOST_PASSES {
        let before = callable.len();
        for tool in &all {
            if !callable.contains(tool) && obstacle(lint, *tool, &callable).is_none() {
                callable.insert(*tool);
            }
        }
        settled = callable.len() == before;
        if settled {
            break;
        }
    }
    if !settled {
        callable = all.clone();
    }
    lint.impossible = all.difference(&callable).copied().collect();
    for tool in &lint.impossible {
        let tool_def = &lint.program.tools[*tool];
        if is_meant(tool_def) {
            continue;
        }
        if let Some((span, why)) = obstacle(lint, *tool, &callable) {
            found.push(errors::never_called(tool_def.span, &tool_def.name, span, &why));
        }
    }
    let Some(explored) = lint.exhausted() else { return };
    for (tool, session) in explored.tools.iter().enumerate() {
        let tool_def = &lint.program.tools[tool];
        if session.is_none() && !lint.impossible.contains(&tool) {
            let why = "the search was exhaustive, and every such call is refused";
            found.push(errors::never_called(tool_def.span, &tool_def.name, tool_def.span, why));
        }
    }
}

/// Returns true if the guard states explicitly that the tool is never to be called: `deny when true`.
fn is_meant(tool: &Tool) -> bool {
    let plain = |clause: &crate::hir::Clause| match &clause.kind {
        ClauseKind::Deny { condition, .. } => matches!(condition.kind, ExprKind::Bool(true)),
        _ => false,
    };
    tool.clauses.iter().any(plain)
}

/// Returns the clause that prevents every call of a tool if only the `callable` tools can be called, with the reason.
fn obstacle(lint: &Lint, tool: ToolId, callable: &BTreeSet<ToolId>) -> Option<(Span, String)> {
    let tool_def = &lint.program.tools[tool];
    for clause in tool_def.clauses.iter().filter(|clause| !clause.rule.shadow) {
        let why = match &clause.kind {
            ClauseKind::Requires { any_of, when: None } => {
                let met = any_of.iter().any(|r| callable.contains(&r.tool));
                let names: Vec<String> = any_of
                    .iter()
                    .map(|r| format!("`{}`", lint.program.tools[r.tool].name))
                    .collect();
                (!met).then(|| {
                    format!("it requires {}, which cannot be called before", names.join(" or "))
                })
            }
            ClauseKind::Deny { condition, .. }
                if truth(condition, &BTreeSet::new()) == Some(true) =>
            {
                Some("this condition is always true".to_string())
            }
            ClauseKind::Costs { unit, amount, .. } => {
                let budget = lint.program.units[*unit].budget;
                let dear = constant(amount).zip(budget).is_some_and(|(cost, budget)| cost > budget);
                dear.then(|| {
                    let name = &lint.program.units[*unit].name;
                    format!("one call costs more than the whole budget of {name}")
                })
            }
            _ => None,
        };
        if let Some(why) = why {
            return Some((clause.rule.span, why));
        }
    }
    together(lint, tool_def)
}

/// Conditions that exclude one another, if somebody can prove it.
fn together(lint: &Lint, tool: &Tool) -> Option<(Span, String)> {
    let passes = |clause: &crate::hir::Clause| match &clause.kind {
        ClauseKind::Deny { condition, .. } if !clause.rule.shadow => Some(Expr {
            name: None,
            kind: ExprKind::Not(Box::new(condition.clone())),
            ty: crate::hir::Type::Bool,
            span: condition.span,
        }),
        _ => None,
    };
    let passes: Vec<Expr> = tool.clauses.iter().filter_map(passes).collect();
    let all: Vec<&Expr> = passes.iter().collect();
    let impossible =
        lint.prover.is_impossible(tool) || (!all.is_empty() && lint.prover.never(tool, &all));
    impossible.then(|| (tool.span, "its conditions cannot hold at the same time".to_string()))
}

fn constant(e: &Expr) -> Option<i64> {
    match &e.kind {
        ExprKind::Decimal(v) => Some(*v),
        ExprKind::Int(v) => v.checked_mul(guard_plan::value::DECIMAL_ONE),
        _ => None,
    }
}
