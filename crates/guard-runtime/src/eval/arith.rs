//! Exact arithmetic: a result out of range is a fault.

use crate::val::{Val, confused};
use guard_plan::decimal;
use guard_plan::plan::ArithOp;
use guard_plan::value::Fault;

/// The name of an operation, for the fault of its overflow.
fn name(op: ArithOp) -> &'static str {
    match op {
        ArithOp::Add => "addition",
        ArithOp::Sub => "subtraction",
        ArithOp::Mul => "multiplication",
        ArithOp::Div => "division",
        ArithOp::Rem => "remainder",
    }
}

/// Applies one operation to two values of matching types.
pub(crate) fn arith<'r>(op: ArithOp, a: &Val<'_>, b: &Val<'_>) -> Result<Val<'r>, Fault> {
    use ArithOp::{Add, Div, Mul, Rem, Sub};
    let overflow = || Fault::Overflow(name(op));
    let number = match (a, b) {
        (Val::Int(a), Val::Int(b)) => int(op, *a, *b)?.map(Val::Int),
        (Val::Decimal(a), Val::Decimal(b)) => match op {
            Mul => decimal::multiply(*a, *b).map(Val::Decimal),
            Div if *b == 0 => return Err(Fault::DivisionByZero),
            Div => decimal::divide(*a, *b).map(Val::Decimal),
            // All decimals have the same scale, so they are added like integers.
            Add | Sub | Rem => int(op, *a, *b)?.map(Val::Decimal),
        },
        (Val::Duration(a), Val::Duration(b)) => match op {
            Add | Sub | Rem => int(op, *a, *b)?.map(Val::Duration),
            Div => int(op, *a, *b)?.map(Val::Int),
            Mul => return Err(confused("a product of durations")),
        },
        (Val::Duration(a), Val::Int(b)) if matches!(op, Mul | Div) => {
            int(op, *a, *b)?.map(Val::Duration)
        }
        (Val::Int(a), Val::Duration(b)) if op == Mul => int(op, *a, *b)?.map(Val::Duration),
        (Val::Time(a), Val::Time(b)) if op == Sub => int(op, *a, *b)?.map(Val::Duration),
        (Val::Time(a), Val::Duration(b)) if matches!(op, Add | Sub) => {
            int(op, *a, *b)?.map(Val::Time)
        }
        (Val::Duration(a), Val::Time(b)) if op == Add => int(op, *a, *b)?.map(Val::Time),
        _ => return Err(confused("arithmetic on a value that is not a number")),
    };
    number.ok_or_else(overflow)
}

/// Returns `None` if the result is out of range.
fn int(op: ArithOp, a: i64, b: i64) -> Result<Option<i64>, Fault> {
    Ok(match op {
        ArithOp::Add => a.checked_add(b),
        ArithOp::Sub => a.checked_sub(b),
        ArithOp::Mul => a.checked_mul(b),
        ArithOp::Div | ArithOp::Rem if b == 0 => return Err(Fault::DivisionByZero),
        ArithOp::Div => a.checked_div(b),
        // `i64::MIN % -1`: the quotient overflows, but the remainder is 0.
        ArithOp::Rem => Some(a.wrapping_rem(b)),
    })
}

/// Negates a number.
pub(super) fn negate<'r>(value: &Val<'_>) -> Result<Val<'r>, Fault> {
    let negated = match value {
        Val::Int(number) => number.checked_neg().map(Val::Int),
        Val::Decimal(units) => units.checked_neg().map(Val::Decimal),
        Val::Duration(millis) => millis.checked_neg().map(Val::Duration),
        _ => return Err(confused("negation of a value that is not a number")),
    };
    negated.ok_or(Fault::Overflow("negation"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations() {
        use ArithOp::{Add, Div, Mul, Rem, Sub};
        let check = |op, a: Val, b: Val, expected: &str| {
            let actual = match arith(op, &a, &b) {
                Ok(value) => format!("{value:?}"),
                Err(fault) => fault.to_string(),
            };
            assert_eq!(actual, expected);
        };
        check(Add, Val::Int(1), Val::Int(2), "Int(3)");
        check(Add, Val::Int(i64::MAX), Val::Int(1), "addition overflows 64 bits");
        check(Div, Val::Int(-7), Val::Int(2), "Int(-3)");
        check(Div, Val::Int(i64::MIN), Val::Int(-1), "division overflows 64 bits");
        check(Rem, Val::Int(i64::MIN), Val::Int(-1), "Int(0)");
        check(Rem, Val::Decimal(-7), Val::Decimal(2), "Decimal(-1)");
        check(Rem, Val::Int(1), Val::Int(0), "division by zero");
        check(Mul, Val::Decimal(1_500_000), Val::Decimal(2_000_000), "Decimal(3000000)");
        check(Div, Val::Decimal(1), Val::Decimal(0), "division by zero");
        check(Sub, Val::Time(5), Val::Time(7), "Duration(-2)");
        check(Add, Val::Time(5), Val::Duration(7), "Time(12)");
        check(Mul, Val::Duration(5), Val::Int(2), "Duration(10)");
        check(Div, Val::Duration(5), Val::Duration(2), "Int(2)");
        check(
            Add,
            Val::Int(1),
            Val::Decimal(1),
            "the plan confuses types: arithmetic on a value that is not a number",
        );
    }
}
