//! Parts of one, as decimals of six places. Products and quotients are rounded half to even.

use guard_plan::decimal;
use guard_plan::value::DECIMAL_ONE;

/// One.
pub(super) const ONE: i64 = DECIMAL_ONE;
/// One half.
pub(super) const HALF: i64 = ONE / 2;

/// The product of two parts of one.
pub(super) fn times(a: i64, b: i64) -> i64 {
    decimal::multiply(a, b).unwrap_or(ONE)
}

/// Which part of a whole an amount is: 0 to 1. All of it where there is nothing to be a part of.
pub(super) fn part(amount: i64, whole: i64) -> i64 {
    if amount <= 0 {
        0
    } else if amount >= whole {
        ONE
    } else {
        decimal::divide(amount, whole).unwrap_or(ONE)
    }
}

/// `1 − (1 − a)(1 − b)`: of two independent dangers, that one of them comes true.
pub(super) fn either(a: i64, b: i64) -> i64 {
    ONE - times(ONE - a, ONE - b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        assert_eq!([part(0, 0), part(-1, 5), part(1, 0), part(3, 2)], [0, 0, ONE, ONE]);
        assert_eq!([part(1, 3), part(2, 3), part(1, i64::MAX)], [333_333, 666_667, 0]);
        assert_eq!([either(0, 0), either(HALF, HALF), either(ONE, 0)], [0, 750_000, ONE]);
    }
}
