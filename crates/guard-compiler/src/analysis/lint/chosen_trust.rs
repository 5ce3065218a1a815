//! A condition of trust that the agent decides: it compares what a result says with what the agent chose, or is an argument.

use super::Lint;
use crate::errors;
use crate::hir::{Clause, ClauseKind, Expr, ExprKind as K, Program, VarId};
use guard_syntax::diagnostic::Diagnostic;
use std::collections::BTreeSet;

pub(super) fn check(lint: &Lint, found: &mut Vec<Diagnostic>) {
    let written = written_by_the_agent(lint.program);
    for clause in lint.program.tools.iter().flat_map(|tool| &tool.clauses) {
        let ClauseKind::Endorse { when: Some(when), .. } = &clause.kind else { continue };
        let mut conjuncts = Vec::new();
        split(when, &mut conjuncts);
        for conjunct in &conjuncts {
            let chosen = choices(conjunct, &written);
            let held = |other: &&&Expr| !reads_result(other) && !is_argument(other);
            let held = conjuncts.iter().filter(held).map(|other| choices(other, &written));
            let left: BTreeSet<ChosenValue> = held.fold(chosen, |left, held| &left - &held);
            if left.is_empty() {
                continue;
            }
            conjunct.walk(&mut |part| {
                if is_argument(part) || compares(part, &left, &written) {
                    found.push(errors::chosen_trust(part.span));
                }
            });
        }
    }
}

/// Something that the agent chose.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
enum ChosenValue {
    Argument(u32),
    Variable(VarId),
}

/// Returns the variables into which a call writes its arguments that nobody is asked about.
fn written_by_the_agent(program: &Program) -> BTreeSet<VarId> {
    let is_approval = |clause: &Clause| matches!(clause.kind, ClauseKind::Approval { .. });
    let unasked = program.tools.iter().filter(|tool| !tool.clauses.iter().any(is_approval));
    let clauses = unasked.flat_map(|tool| &tool.clauses);
    let written = clauses.filter_map(|clause| match &clause.kind {
        ClauseKind::Effect { target, value: Some(value), ranges, .. } => {
            let mut read = ranges.iter().map(|range| &range.over).chain([value]);
            read.any(|e| !choices(e, &BTreeSet::new()).is_empty()).then_some(target.var)
        }
        _ => None,
    });
    written.collect()
}

/// Returns what the agent chose of what an expression reads.
fn choices(e: &Expr, written: &BTreeSet<VarId>) -> BTreeSet<ChosenValue> {
    let mut found = BTreeSet::new();
    e.walk(&mut |part| match part.kind {
        K::Param(at) => _ = found.insert(ChosenValue::Argument(at)),
        K::State(var) if written.contains(&var) => _ = found.insert(ChosenValue::Variable(var)),
        _ => {}
    });
    found
}

fn reads_result(e: &Expr) -> bool {
    e.any(&mut |part| matches!(part.kind, K::Local(_) | K::Result))
}

/// Returns the operands of `and`.
fn split<'e>(e: &'e Expr, out: &mut Vec<&'e Expr>) {
    match &e.kind {
        K::And(a, b) => {
            split(a, out);
            split(b, out);
        }
        _ => out.push(e),
    }
}

/// Returns true for an argument that is the condition itself.
fn is_argument(e: &Expr) -> bool {
    match &e.kind {
        K::Param(_) => e.ty == crate::hir::Type::Bool,
        K::Not(inner) => is_argument(inner),
        _ => false,
    }
}

/// Returns true if one side is of the result, and the other one of these choices.
fn compares(e: &Expr, left: &BTreeSet<ChosenValue>, written: &BTreeSet<VarId>) -> bool {
    let sides: Vec<&Expr> = match &e.kind {
        K::Compare(_, a, b) | K::In(a, b) | K::Within(a, b) => vec![a, b],
        K::Call(_, args) => args.iter().collect(),
        _ => return false,
    };
    let chosen = |side: &Expr| !choices(side, written).is_disjoint(left);
    sides.iter().any(|side| reads_result(side))
        && sides.iter().any(|side| chosen(side) && !reads_result(side))
}
