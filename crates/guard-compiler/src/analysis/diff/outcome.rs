//! Implication between outcomes: where some conditions are true or false, another one is.
//!
//! The outcome of a condition is its value where its evaluation does not fault. Equal parts have equal values, and comparisons of
//! equal parts with constants are sets of values. An implication that needs a proof is not found here.

use super::implied::{Placed, constant, is_total};
use crate::hir::canon::Canon;
use crate::hir::{Expr, ExprKind as K, Type};
use guard_plan::plan::{CompareOp, QuantifierOp as Op};
use guard_proof::mutant;
use std::cell::Cell;
use std::collections::BTreeSet;

/// Most pairs of conditions that are compared for one implication.
const MOST_COMPARED: u32 = 500;

/// A condition with its value.
#[derive(Clone, Copy)]
pub(super) struct ConditionOutcome<'p> {
    pub condition: Placed<'p>,
    pub value: bool,
}

/// Returns true if it is shown that the goal's condition has its value, without a fault, wherever all the given ones have theirs.
pub(super) fn follows(given: &[ConditionOutcome], goal: ConditionOutcome) -> bool {
    OutcomeComparison { left: Cell::new(MOST_COMPARED) }.goal(given, goal)
}

struct OutcomeComparison {
    /// The number of pairs that may still be compared.
    left: Cell<u32>,
}

/// The parts of a connective, each with its value.
enum ConnectiveParts<'p> {
    /// Both have these values.
    Both([ConditionOutcome<'p>; 2]),
    /// The first has its value, or the second has. The second is evaluated only where the first has the other value.
    Either([ConditionOutcome<'p>; 2]),
    /// It is no connective.
    Atom,
}

impl<'p> ConditionOutcome<'p> {
    fn part(self, e: &'p Expr, value: bool) -> Self {
        ConditionOutcome { condition: Placed { e, ..self.condition }, value }
    }

    fn other(self) -> Self {
        ConditionOutcome { value: !self.value, ..self }
    }

    /// The same without negations.
    fn positive(self) -> Self {
        match &self.condition.e.kind {
            K::Not(operand) => self.part(operand, !self.value).positive(),
            _ => self,
        }
    }

    fn parts(self) -> ConnectiveParts<'p> {
        let (a, b, is_both, values) = match &self.condition.e.kind {
            K::And(a, b) => (a, b, self.value, [self.value; 2]),
            K::Or(a, b) => (a, b, !self.value, [self.value; 2]),
            K::Implies(a, b) => (a, b, !self.value, [!self.value, self.value]),
            _ => return ConnectiveParts::Atom,
        };
        let parts = [self.part(a, values[0]), self.part(b, values[1])];
        if is_both { ConnectiveParts::Both(parts) } else { ConnectiveParts::Either(parts) }
    }
}

impl OutcomeComparison {
    fn goal(&self, given: &[ConditionOutcome], goal: ConditionOutcome) -> bool {
        let goal = goal.positive();
        if let ConnectiveParts::Both([a, b]) = goal.parts() {
            return self.goal(given, a) && self.goal(given, b);
        }
        given.iter().any(|condition| self.pair(*condition, goal))
    }

    /// Returns true if the goal follows from one condition.
    fn pair(&self, given: ConditionOutcome, goal: ConditionOutcome) -> bool {
        // Each connective on either side multiplies the pairs, so their number has a bound.
        let Some(left) = self.left.get().checked_sub(1) else { return false };
        self.left.set(left);
        let (given, goal) = (given.positive(), goal.positive());
        if given.value == goal.value && given.condition.text() == goal.condition.text() {
            return true;
        }
        let goal_parts = goal.parts();
        if let ConnectiveParts::Both([a, b]) = goal_parts {
            return self.pair(given, a) && self.pair(given, b);
        }
        match given.parts() {
            ConnectiveParts::Both([a, b]) if self.pair(a, goal) || self.pair(b, goal) => {
                return true;
            }
            // Where the second part has its value, the first one has been evaluated and has the other.
            ConnectiveParts::Either([a, b])
                if self.pair(a, goal) && (self.pair(b, goal) || self.pair(a.other(), goal)) =>
            {
                return true;
            }
            _ => {}
        }
        if let ConnectiveParts::Either([a, b]) = goal_parts {
            // The second part counts only if the first does not fault.
            let is_evaluated = || {
                is_total(a.condition.e)
                    || self.pair(given, a.other())
                    || mutant!("a part that faults is passed over")
            };
            return self.pair(given, a) || self.pair(given, b) && is_evaluated();
        }
        self.quantified(given, goal) || within(given, goal)
    }

    /// Quantifiers over the same lists: what follows for each element follows for all.
    fn quantified(&self, given: ConditionOutcome, goal: ConditionOutcome) -> bool {
        let (
            K::Quantified { op, over, binders, body },
            K::Quantified { op: other, over: same, binders: slots, body: other_body },
        ) = (&given.condition.e.kind, &goal.condition.e.kind)
        else {
            return false;
        };
        // Every element has the value, not one of them.
        let of_every = matches!((op, given.value), (Op::All, true) | (Op::Any, false));
        let texts = |outcome: ConditionOutcome, over: &[Expr]| -> Vec<String> {
            let text = |list| Placed { e: list, ..outcome.condition }.text();
            over.iter().map(text).collect()
        };
        op == other
            && given.value == goal.value
            && binders == slots
            && texts(given, over) == texts(goal, same)
            && (of_every || is_total(other_body))
            && self.pair(given.part(body, given.value), goal.part(other_body, goal.value))
    }
}

/// The values of an expression for which a comparison with constants has an outcome.
enum Values {
    /// Numbers, as ranges in ascending order.
    Numbers(Vec<(i64, i64)>),
    /// Texts or variants: these, or all others.
    Texts(BTreeSet<String>, bool),
}

struct ValueSet {
    /// The expression as text.
    subject: String,
    values: Values,
    /// True if the outcome is the same where there is no value.
    missing: bool,
    /// True if there may be no value.
    optional: bool,
}

/// Returns true if two comparisons are of one expression with constants, and the values of the first are among those of the second.
fn within(given: ConditionOutcome, goal: ConditionOutcome) -> bool {
    let (Some(given), Some(goal)) = (value_set(given), value_set(goal)) else { return false };
    let among = match (&given.values, &goal.values) {
        (Values::Numbers(a), Values::Numbers(b)) => {
            a.iter().all(|(from, to)| b.iter().any(|(low, high)| low <= from && to <= high))
        }
        (Values::Texts(a, false), Values::Texts(b, false)) => a.is_subset(b),
        (Values::Texts(a, false), Values::Texts(b, true)) => a.is_disjoint(b),
        (Values::Texts(a, true), Values::Texts(b, true)) => b.is_subset(a),
        _ => false,
    };
    let keeps_missing = !given.optional || !given.missing || goal.missing;
    among && given.subject == goal.subject && keeps_missing
}

fn value_set(outcome: ConditionOutcome) -> Option<ValueSet> {
    let Placed { e, .. } = outcome.condition;
    let (operand, op, constants) = match &e.kind {
        K::Compare(op, a, b) => (a, *op, std::slice::from_ref(&**b)),
        K::In(a, list) => match &list.kind {
            K::List(constants) | K::Set(constants) => (a, CompareOp::Eq, &constants[..]),
            _ => return None,
        },
        _ => return None,
    };
    // A part of a document may have a value of another type.
    if *operand.ty.required() == Type::Json {
        return None;
    }
    // Two paths or urls may be one, written in two ways.
    let is_text = |e: &Expr| matches!(e.kind, K::String(_) | K::Enum(_));
    let is_negative = (op == CompareOp::Ne) == outcome.value;
    let values = if constants.iter().all(is_text) && matches!(op, CompareOp::Eq | CompareOp::Ne) {
        let text = |e| Placed { e, ..outcome.condition }.text();
        Values::Texts(constants.iter().map(text).collect(), is_negative)
    } else {
        let numbers: Option<Vec<i64>> = constants.iter().map(constant).collect();
        let mut numbers = numbers?;
        numbers.sort_unstable();
        let ranges = numbers.into_iter().flat_map(|n| range(op, n));
        let op_ranges: Vec<(i64, i64)> = ranges.collect();
        Values::Numbers(if outcome.value { op_ranges } else { complement(&op_ranges) })
    };
    // Variants are compared as texts, so both enums have to be one.
    let ty = Canon(outcome.condition.program).ty(&crate::lower::plain(operand.ty.required()));
    Some(ValueSet {
        subject: format!("{} {}", Placed { e: operand, ..outcome.condition }.text(), ty),
        values,
        // A comparison without a value is false, but for `!=`.
        missing: is_negative,
        optional: operand.ty.is_option(),
    })
}

/// Returns the numbers for which a comparison with a constant holds.
fn range(op: CompareOp, n: i64) -> Vec<(i64, i64)> {
    let below = || n.checked_sub(1).map(|high| (i64::MIN, high));
    let more = i64::from(!mutant!("more is as much"));
    let above = || n.checked_add(more).map(|low| (low, i64::MAX));
    match op {
        CompareOp::Eq => vec![(n, n)],
        CompareOp::Ne => below().into_iter().chain(above()).collect(),
        CompareOp::Lt => below().into_iter().collect(),
        CompareOp::Le => vec![(i64::MIN, n)],
        CompareOp::Gt => above().into_iter().collect(),
        CompareOp::Ge => vec![(n, i64::MAX)],
    }
}

/// Returns the numbers outside of some ranges in ascending order.
fn complement(ranges: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let mut others = Vec::new();
    let mut from = Some(i64::MIN);
    for (low, high) in ranges {
        if let Some(first) = from
            && first < *low
        {
            others.push((first, low - 1));
        }
        from = high.checked_add(1);
    }
    others.extend(from.map(|first| (first, i64::MAX)));
    others
}
