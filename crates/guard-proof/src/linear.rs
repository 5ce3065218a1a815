//! Exact sums of integer multiples of variables. A sum that does not fit is `None`, and nothing is
//! rounded.

/// The number of a variable in a problem.
pub type Var = u32;

/// The minimum and the maximum of a variable, if they exist.
pub type VarRange = (Option<i128>, Option<i128>);

/// The bound on coefficients, so that sums of a few products cannot overflow.
const LARGEST: i128 = 1 << 100;

/// `Σ coefficient · variable + constant`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Linear {
    /// The coefficients by variable, ascending. No coefficient is 0.
    pub terms: Vec<(Var, i128)>,
    /// The constant summand.
    pub constant: i128,
}

impl Linear {
    /// Returns a constant.
    pub fn constant(constant: i128) -> Linear {
        Linear { terms: Vec::new(), constant }
    }

    /// Returns a variable.
    pub fn var(var: Var) -> Linear {
        Linear { terms: vec![(var, 1)], constant: 0 }
    }

    /// Returns the constant, if the sum is one.
    pub fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Returns `self + factor · other`.
    pub fn plus(&self, factor: i128, other: &Linear) -> Option<Linear> {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let mut left = self.terms.iter().peekable();
        let mut right = other.terms.iter().peekable();
        loop {
            let (var, coefficient) = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some((var, a)), other) if other.is_none_or(|(with, _)| var < with) => {
                    left.next();
                    (*var, *a)
                }
                (mine, Some((var, b))) => {
                    let a = mine.filter(|(with, _)| with == var).map_or(0, |(_, a)| *a);
                    if a != 0 {
                        left.next();
                    }
                    right.next();
                    (*var, a.checked_add(b.checked_mul(factor)?)?)
                }
                (Some(_), None) => break,
            };
            if coefficient != 0 {
                terms.push((var, small(coefficient)?));
            }
        }
        let constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        Some(Linear { terms, constant: small(constant)? })
    }

    /// Returns `factor · self`.
    pub fn times(&self, factor: i128) -> Option<Linear> {
        Linear::default().plus(factor, self)
    }

    /// Returns `self - other`.
    pub fn minus(&self, other: &Linear) -> Option<Linear> {
        self.plus(-1, other)
    }

    /// Returns `self + constant`.
    pub fn offset(&self, constant: i128) -> Option<Linear> {
        self.plus(1, &Linear::constant(constant))
    }

    /// Returns the minimum for variables in their ranges; `None` if it is unbounded or too large.
    pub fn least(&self, range: impl Fn(Var) -> VarRange) -> Option<i128> {
        self.terms.iter().try_fold(self.constant, |sum, (var, factor)| {
            let (least, greatest) = range(*var);
            let end = if *factor > 0 { least } else { greatest };
            sum.checked_add(end?.checked_mul(*factor)?)
        })
    }

    /// Returns the maximum for variables in their ranges; `None` if it is unbounded or too large.
    pub fn greatest(&self, range: impl Fn(Var) -> VarRange) -> Option<i128> {
        self.times(-1)?.least(range)?.checked_neg()
    }

    /// Returns the tightest `… ≤ 0` with the same integer solutions: divided by the greatest common
    /// divisor of the coefficients, with the constant rounded up.
    pub fn tightened(self) -> Linear {
        let divisor = self.terms.iter().fold(0, |divisor, (_, a)| gcd(divisor, a.abs()));
        if divisor <= 1 {
            return self;
        }
        let terms = self.terms.into_iter().map(|(var, a)| (var, a / divisor)).collect();
        let constant = if mutant!("cuts round the wrong way") {
            self.constant.div_euclid(divisor)
        } else {
            -(-self.constant).div_euclid(divisor)
        };
        Linear { terms, constant }
    }
}

fn small(number: i128) -> Option<i128> {
    // The minimum integer has no absolute value in its own type.
    (number.unsigned_abs() < LARGEST.unsigned_abs()).then_some(number)
}

/// Returns the greatest common divisor of two non-negative numbers.
pub fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(terms: &[(Var, i128)], constant: i128) -> Linear {
        Linear { terms: terms.to_vec(), constant }
    }

    #[test]
    fn sums() {
        let a = linear(&[(0, 1), (2, 3)], 5);
        assert_eq!(
            a.plus(2, &linear(&[(1, 1), (2, 1)], -1)),
            Some(linear(&[(0, 1), (1, 2), (2, 5)], 3))
        );
        assert_eq!(a.minus(&a), Some(linear(&[], 0)));
        assert_eq!(linear(&[], 1).plus(1, &a), Some(linear(&[(0, 1), (2, 3)], 6)));
        assert_eq!(a.times(i128::MAX), None);
        assert_eq!(a.times(1 << 99), None);
    }

    #[test]
    fn tightening() {
        // 2x + 1 ≤ 0 is x ≤ -1/2, so x ≤ -1.
        assert_eq!(linear(&[(0, 2)], 1).tightened(), linear(&[(0, 1)], 1));
        assert_eq!(linear(&[(0, 2)], -1).tightened(), linear(&[(0, 1)], 0));
        assert_eq!(linear(&[(0, -3), (1, 6)], -4).tightened(), linear(&[(0, -1), (1, 2)], -1));
    }

    #[test]
    fn numbers_at_the_end_of_their_type_are_too_large_and_do_not_panic() {
        for number in [i128::MIN, i128::MIN + 1, i128::MAX] {
            assert!(Linear::default().offset(number).is_none());
            assert!(Linear { terms: Vec::new(), constant: number }.times(-1).is_none());
        }
    }
}
