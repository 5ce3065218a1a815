//! The nearness of a simulated state to the boundaries of invariants and variable types.

use super::Supposition;
use super::expression::part;
use super::fixed::{self, HALF, ONE};
use guard_plan::plan::{CompareOp, Expr, InvariantId, Node, NodeId, Risk, Tool, TypeDef, VarId};
use guard_plan::value::Value;

/// The maximum length of invariants that are tested for nearness. For longer ones, only truth is
/// tested.
const MAX_NODES: usize = 500;

/// Returns the danger of an action, from its declared danger and its nearness to a boundary.
pub(super) fn risk(declared: Risk, tool: &Tool, nearness: i64) -> i64 {
    let declared = match declared {
        Risk::Low => 0,
        Risk::Medium => 250_000,
        Risk::High => 500_000,
        Risk::Critical => 750_000,
    };
    let irreversible = if tool.irreversible { 250_000 } else { 0 };
    fixed::either(declared + irreversible, nearness)
}

/// Returns how near the writes of a call bring the state to the nearest boundary: 0 is far, 1 is on
/// it or beyond. A boundary that the call does not approach does not count. A boundary that depends
/// on unknown values counts half.
pub(super) fn nearness<'s, 'h>(
    cx: &Supposition<'s, 'h>,
    tool: &Tool,
    writes: &'s [(VarId, Value)],
    unknown: &[VarId],
) -> i64 {
    let plan = cx.scene.plan;
    let after = cx.after(writes);
    let frame = tool.frame.iter().map(|id| {
        let invariant = &plan.invariants[*id as usize];
        if invariant.reads.iter().any(|var| unknown.contains(var)) {
            return HALF;
        }
        approached(of_invariant(cx, *id), of_invariant(&after, *id))
    });
    let typed = writes.iter().map(|(var, value)| {
        let Some(before) = cx.scene.session.value(*var) else { return 0 };
        match plan.types.get(plan.state[*var as usize].ty as usize) {
            Some(def) => of_type(def, before, value),
            None => 0,
        }
    });
    frame.chain(typed).max().unwrap_or(0)
}

fn approached(before: i64, after: i64) -> i64 {
    if after > before { after } else { 0 }
}

/// Measures the two ends of a range separately.
fn of_type(def: &TypeDef, before: &Value, after: &Value) -> i64 {
    let (TypeDef::Int { min, max }
    | TypeDef::Decimal { min, max }
    | TypeDef::Duration { min, max }) = def
    else {
        return 0;
    };
    let (Some(before), Some(after)) = (number(before), number(after)) else { return 0 };
    let width = min.zip(*max).map(|(min, max)| i128::from(max) - i128::from(min));
    let end = |bound: &Option<i64>, sign: i128| {
        let Some(bound) = bound.map(i128::from) else { return 0 };
        let near = |at: i128| {
            close((bound - at) * sign, width.unwrap_or_else(|| scale(Some(bound), at, bound)))
        };
        approached(near(before), near(after))
    };
    end(min, -1).max(end(max, 1))
}

fn number(value: &Value) -> Option<i128> {
    match value {
        Value::Int(number) | Value::Decimal(number) | Value::Duration(number) => {
            // The difference of two bounds of 64 bits needs more of them.
            Some((*number).into())
        }
        _ => None,
    }
}

/// Returns the scale of a margin: the bound, or the larger of the two sides if there is none or it
/// is zero.
fn scale(bound: Option<i128>, a: i128, b: i128) -> i128 {
    match bound {
        Some(bound) if bound != 0 => bound.abs(),
        _ => a.abs().max(b.abs()),
    }
}

/// Returns the nearness for a margin on a scale: 1 if there is no margin.
fn close(margin: i128, scale: i128) -> i64 {
    if margin <= 0 {
        return ONE;
    }
    if margin >= scale {
        return 0;
    }
    ONE - fixed::quotient(margin, scale)
}

fn of_invariant(cx: &Supposition<'_, '_>, id: InvariantId) -> i64 {
    let expr = &cx.scene.plan.invariants[id as usize].condition;
    let root = (expr.0.len() - 1) as NodeId;
    // Testing each part costs quadratic time.
    if expr.0.len() > MAX_NODES {
        return truth(cx, expr, root, true);
    }
    of_node(cx, expr, root, true)
}

/// Returns how near a condition is to no longer being `wanted`.
fn of_node(cx: &Supposition<'_, '_>, expr: &Expr, id: NodeId, wanted: bool) -> i64 {
    let nearness = |id: &NodeId, wanted| of_node(cx, expr, *id, wanted);
    match (&expr.0[id as usize], wanted) {
        (Node::Not(a), _) => nearness(a, !wanted),
        (Node::And(a, b), true) => nearness(a, true).max(nearness(b, true)),
        (Node::And(a, b), false) => nearness(a, false).min(nearness(b, false)),
        (Node::Or(a, b), true) => nearness(a, true).min(nearness(b, true)),
        (Node::Or(a, b), false) => nearness(a, false).max(nearness(b, false)),
        (Node::Implies(a, b), true) => nearness(a, false).min(nearness(b, true)),
        (Node::Implies(a, b), false) => nearness(a, true).max(nearness(b, false)),
        (Node::Compare(op, a, b), _) => match ordered(*op, wanted) {
            Some(op) => margin(cx, expr, op, *a, *b),
            None => truth(cx, expr, id, wanted),
        },
        _ => truth(cx, expr, id, wanted),
    }
}

/// Returns the comparison that holds exactly if the given one is `wanted`; `None` for equality.
fn ordered(op: CompareOp, wanted: bool) -> Option<CompareOp> {
    use CompareOp::{Eq, Ge, Gt, Le, Lt, Ne};
    Some(match (op, wanted) {
        (Lt, true) | (Ge, false) => Lt,
        (Le, true) | (Gt, false) => Le,
        (Gt, true) | (Le, false) => Gt,
        (Ge, true) | (Lt, false) => Ge,
        (Eq | Ne, _) => return None,
    })
}

/// Evaluates a part of an expression.
fn value(cx: &Supposition<'_, '_>, expr: &Expr, id: NodeId) -> Option<Value> {
    cx.evaluate(&part(expr, id)).ok()
}

fn truth(cx: &Supposition<'_, '_>, expr: &Expr, id: NodeId, wanted: bool) -> i64 {
    if value(cx, expr, id) == Some(Value::Bool(wanted)) { 0 } else { ONE }
}

fn margin(cx: &Supposition<'_, '_>, expr: &Expr, op: CompareOp, a: NodeId, b: NodeId) -> i64 {
    let side = |id: NodeId| value(cx, expr, id).as_ref().and_then(number);
    let (Some(left), Some(right)) = (side(a), side(b)) else {
        // The values are not numbers, so there is no distance: the comparison holds or does not.
        return match (value(cx, expr, a), value(cx, expr, b)) {
            (Some(left), Some(right)) if holds(op, &left, &right) => 0,
            _ => ONE,
        };
    };
    let margin = match op {
        // A strict bound is one unit nearer, since all these numbers are whole units.
        CompareOp::Lt => right - left - 1,
        CompareOp::Gt => left - right - 1,
        CompareOp::Le => right - left,
        _ => left - right,
    };
    let constant = |id: NodeId| {
        matches!(expr.0[id as usize], Node::Int(_) | Node::Decimal(_) | Node::Duration(_))
    };
    let bound = if constant(b) {
        Some(right)
    } else if constant(a) {
        Some(left)
    } else {
        None
    };
    // A margin of −1 is a violated condition, 0 a state on the boundary: both have the maximum
    // nearness.
    close(margin, scale(bound, left, right))
}

/// Returns true if a comparison holds between values that are not numbers; a missing value is not
/// ordered.
fn holds(op: CompareOp, left: &Value, right: &Value) -> bool {
    let order = match (left, right) {
        (Value::Time(left), Value::Time(right)) => left.cmp(right),
        (Value::Enum(left), Value::Enum(right)) => left.cmp(right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        _ => return false,
    };
    op.holds(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearness_of_margins() {
        assert_eq!([close(-1, 10), close(0, 10), close(10, 10), close(12, 10)], [ONE, ONE, 0, 0]);
        assert_eq!([close(2, 10), close(1, 3)], [800_000, 666_667]);
        assert_eq!(
            [scale(Some(10), 8, 10), scale(Some(0), 38, 0), scale(None, -7, 3)],
            [10, 38, 7]
        );
    }

    #[test]
    fn ends_of_ranges() {
        let int = |min, max| TypeDef::Int { min, max };
        let check = |def: &TypeDef, before, after, expected| {
            assert_eq!(of_type(def, &Value::Int(before), &Value::Int(after)), expected);
        };
        check(&int(Some(0), Some(100)), 0, 5, 50_000);
        check(&int(Some(0), Some(100)), 50, 0, ONE);
        check(&int(Some(0), None), 50, 10, 0);
        check(&int(Some(0), None), 50, 0, ONE);
        check(&int(None, Some(10)), 7, 8, 800_000);
        check(&int(None, Some(10)), 8, 8, 0);
        check(&int(None, None), 8, 9, 0);
    }
}
