//! Conditions of which the truth is known without a session: constants, and the ranges of types.

use crate::hir::{Expr, ExprKind as K, ToolId, Type};
use guard_plan::builtin::Builtin;
use guard_plan::plan::CompareOp;
use std::collections::BTreeSet;

/// The truth of a condition, if it is the same in every session. Tools in `impossible` are never called.
pub(super) fn truth(e: &Expr, impossible: &BTreeSet<ToolId>) -> Option<bool> {
    let value = |e: &Expr| truth(e, impossible);
    match &e.kind {
        K::Bool(value) => Some(*value),
        K::Not(a) => value(a).map(|value| !value),
        K::And(a, b) => match (value(a), value(b)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        K::Or(a, b) => match (value(a), value(b)) {
            (Some(true), _) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        K::Implies(a, b) => match (value(a), value(b)) {
            (Some(false), _) => Some(true),
            (Some(true), b) => b,
            _ => None,
        },
        K::Compare(op, a, b) => compared(*op, a, b),
        K::Called { tool, .. } if impossible.contains(tool) => Some(false),
        _ => None,
    }
}

/// Returns true if the expression contains a comparison with a constant result. That comparison has a finding of its
/// own.
pub(super) fn holds_a_constant(e: &Expr) -> bool {
    e.any(&mut |part| match &part.kind {
        K::Compare(op, a, b) => compared(*op, a, b).is_some(),
        _ => false,
    })
}

fn compared(op: CompareOp, a: &Expr, b: &Expr) -> Option<bool> {
    let ((low, high), (least, most)) = (range(a)?, range(b)?);
    let below = high.zip(least).is_some_and(|(high, least)| high < least);
    let above = low.zip(most).is_some_and(|(low, most)| low > most);
    let not_above = high.zip(least).is_some_and(|(high, least)| high <= least);
    let not_below = low.zip(most).is_some_and(|(low, most)| low >= most);
    let decided = |yes: bool, no: bool| if yes { Some(true) } else { no.then_some(false) };
    match op {
        CompareOp::Lt => decided(below, not_below),
        CompareOp::Le => decided(not_above, above),
        CompareOp::Gt => decided(above, not_above),
        CompareOp::Ge => decided(not_below, below),
        CompareOp::Eq => decided(false, below || above),
        CompareOp::Ne => decided(below || above, false),
    }
}

/// Between which bounds a number is, if it is one and never missing.
fn range(e: &Expr) -> Option<(Option<i64>, Option<i64>)> {
    match (&e.kind, &e.ty) {
        (K::Int(v) | K::Decimal(v) | K::Duration(v), _) => Some((Some(*v), Some(*v))),
        (K::Param(_) | K::State(_), Type::Int(lo, hi))
        | (K::Param(_) | K::State(_), Type::Decimal(lo, hi))
        | (K::Param(_) | K::State(_), Type::Duration(lo, hi))
        | (K::Calls { .. }, Type::Int(lo, hi)) => Some((*lo, *hi)),
        (K::Call(Builtin::Len, _), _) => Some((Some(0), None)),
        _ => None,
    }
}
