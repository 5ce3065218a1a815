//! Fractions as decimals with six places. Products and quotients are rounded half to even.

use guard_plan::decimal;
use guard_plan::value::DECIMAL_ONE;

/// The fraction one.
pub(super) const ONE: i64 = DECIMAL_ONE;
/// The fraction one half.
pub(super) const HALF: i64 = ONE / 2;

/// Multiplies two fractions.
pub(super) fn times(a: i64, b: i64) -> i64 {
    decimal::multiply(a, b).unwrap_or(ONE)
}

/// Divides with twelve decimal places, for intermediate results.
pub(super) fn twelve(a: i64, b: i64) -> i128 {
    const TWELVE: i128 = 1_000_000_000_000;
    i128::from(a) * TWELVE / i128::from(b.max(1))
}

/// Returns the quotient of two numbers of one scale, between 0 and 1; 0 if the divisor is 0.
pub(super) fn quotient(a: i128, b: i128) -> i64 {
    if a <= 0 || b <= 0 {
        return 0;
    }
    let twice = 2 * a * i128::from(ONE);
    let whole = twice / (2 * b);
    let rest = twice % (2 * b);
    let up = rest > b || (rest == b && whole % 2 == 1);
    i64::try_from(whole + i128::from(up)).unwrap_or(ONE).min(ONE)
}

/// Returns an amount as a fraction of a whole, between 0 and 1; 1 if the whole is 0.
pub(super) fn part(amount: i64, whole: i64) -> i64 {
    if amount <= 0 {
        0
    } else if amount >= whole {
        ONE
    } else {
        decimal::divide(amount, whole).unwrap_or(ONE)
    }
}

/// Returns `1 − (1 − a)(1 − b)`: the probability of at least one of two independent events.
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
        assert_eq!([quotient(1, 0), quotient(-1, 2), quotient(3, 2)], [0, 0, ONE]);
        let third = twelve(1, 3);
        assert_eq!([quotient(third, 2 * third), quotient(1, 2_000_000)], [HALF, 0]);
        assert_eq!(quotient(3, 2_000_000), 2);
        assert_eq!([either(0, 0), either(HALF, HALF), either(ONE, 0)], [0, 750_000, ONE]);
    }
}
