//! A `deny` whose every refusal another one of the same tools gives already.

use super::Lint;
use crate::analysis::diff::implied::{ImpliedRule, covers};
use crate::errors;
use crate::hir::canon::Canon;
use crate::hir::{Clause, ClauseKind, Expr, ExprKind, Part, Program, Tool};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Most clauses of a tool that are held against one another: each against each.
const MOST_CLAUSES: usize = 64;
/// Largest condition that is looked at, in nodes.
const MOST_NODES: usize = 100;

pub(super) fn check(lint: &Lint, found: &mut Vec<Diagnostic>) {
    let program = lint.program;
    // By rule: the rule that covers it in all of its tools so far; none where one does not.
    let mut covered: BTreeMap<Span, Option<Span>> = BTreeMap::new();
    for tool in &program.tools {
        if tool.clauses.len() > MOST_CLAUSES {
            // Nothing is said of these rules, here or where else they stand.
            covered.extend(tool.clauses.iter().map(|clause| (clause.rule.span, None)));
            continue;
        }
        for (at, clause) in tool.clauses.iter().enumerate() {
            if !refuses(clause) || establishes(program, tool, at) {
                continue;
            }
            let by = covering(lint, tool, at);
            covered
                .entry(clause.rule.span)
                .and_modify(|known| *known = known.filter(|known| Some(*known) == by))
                .or_insert(by);
        }
    }
    for (span, by) in &covered {
        if let Some(by) = by {
            found.push(errors::shadowed_rule(*span, *by));
        }
    }
}

/// Returns true if a clause refuses calls by a condition of few nodes, and is not in shadow.
fn refuses(clause: &Clause) -> bool {
    let ClauseKind::Deny { condition, .. } = &clause.kind else { return false };
    let mut nodes = 0;
    condition.walk(&mut |_| nodes += 1);
    nodes <= MOST_NODES && !clause.rule.shadow
}

/// Returns true if another clause takes for there what this rule asks to be there: without the rule it would not compile.
fn establishes(program: &Program, tool: &Tool, at: usize) -> bool {
    let canon = |e: &Expr| Canon(program).expr(Some(tool), e);
    let ClauseKind::Deny { condition, .. } = &tool.clauses[at].kind else { return false };
    let mut asked = BTreeSet::new();
    condition.walk(&mut |e| {
        match &e.kind {
            ExprKind::IsSome(operand) => asked.insert(canon(operand)),
            ExprKind::Known(fact, key) => {
                let row = ExprKind::Row(*fact, key.clone());
                asked.insert(canon(&Expr { kind: row, ..e.clone() }))
            }
            _ => false,
        };
    });
    let mut others = tool.clauses.iter().enumerate().filter(|(nth, _)| *nth != at);
    !asked.is_empty()
        && others.any(|(_, clause)| {
            let ClauseKind::Deny { condition, .. } = &clause.kind else { return false };
            condition.any(&mut |e| {
                let ExprKind::Unwrap(operand, _) = &e.kind else { return false };
                // A field is there where its record is.
                let mut whole = std::iter::successors(Some(&**operand), |base| match &base.kind {
                    ExprKind::Field(whole, _) => Some(&**whole),
                    _ => None,
                });
                whole.any(|whole| asked.contains(&canon(whole)))
            })
        })
}

/// Returns true if a rule gives another reason than the other one does.
fn says_more(rule: &Clause, other: &Clause) -> bool {
    let reason = |clause: &Clause| match &clause.kind {
        ClauseKind::Deny { because: Some(message), .. } => {
            let text = |part: &Part| match part {
                Part::Text(text) | Part::Value(text, _) => text.clone(),
            };
            Some(message.parts.iter().map(text).collect::<Vec<_>>())
        }
        _ => None,
    };
    let replaces =
        |clause: &Clause| matches!(&clause.kind, ClauseKind::Deny { replacement: Some(_), .. });
    replaces(rule) || reason(rule).is_some_and(|own| reason(other).as_ref() != Some(&own))
}

/// Another rule of the tool that refuses all that this one does. Of two that say the same it is the earlier.
fn covering<'l>(lint: &'l Lint, tool: &'l Tool, at: usize) -> Option<Span> {
    let program = lint.program;
    let mine = ImpliedRule { program, tool, clause: &tool.clauses[at] };
    for clause in &tool.clauses {
        let other = ImpliedRule { program, tool, clause };
        let span = clause.rule.span;
        let own = mine.clause.rule.span;
        let wider = refuses(clause) && span != own && covers(other, mine);
        // A rule that says of fewer calls why, in words of its own, says more than the wider one.
        let is_same = covers(mine, other);
        let is_superfluous = if is_same { span < own } else { !says_more(mine.clause, clause) };
        if wider && is_superfluous {
            return Some(span);
        }
    }
    None
}
