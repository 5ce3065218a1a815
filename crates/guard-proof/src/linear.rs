//! Sums of integer multiples of variables. Exact: what does not fit is none, and nothing is rounded.

/// A variable of a problem, by number.
pub type Var = u32;

/// The least and the greatest value of a variable, where there are such.
pub type VarRange = (Option<i128>, Option<i128>);

/// Coefficients stay below this, so that sums of a few products cannot overflow unnoticed.
const LARGEST: i128 = 1 << 100;

/// `Σ coefficient · variable + constant`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Linear {
    /// By variable, ascending; no coefficient is 0.
    pub terms: Vec<(Var, i128)>,
    /// The constant summand.
    pub constant: i128,
}

impl Linear {
    /// A constant.
    pub fn constant(constant: i128) -> Linear {
        Linear { terms: Vec::new(), constant }
    }

    /// A variable.
    pub fn var(var: Var) -> Linear {
        Linear { terms: vec![(var, 1)], constant: 0 }
    }

    /// The constant it is, if it is one.
    pub fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// `self + factor · other`.
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

    /// `factor · self`.
    pub fn times(&self, factor: i128) -> Option<Linear> {
        Linear::default().plus(factor, self)
    }

    /// `self - other`.
    pub fn minus(&self, other: &Linear) -> Option<Linear> {
        self.plus(-1, other)
    }

    /// `self + constant`.
    pub fn offset(&self, constant: i128) -> Option<Linear> {
        self.plus(1, &Linear::constant(constant))
    }

    /// Its least value where each variable is in its range; none where that is unbounded, or too large to say.
    pub fn least(&self, range: impl Fn(Var) -> VarRange) -> Option<i128> {
        self.terms.iter().try_fold(self.constant, |sum, (var, factor)| {
            let (least, greatest) = range(*var);
            let end = if *factor > 0 { least } else { greatest };
            sum.checked_add(end?.checked_mul(*factor)?)
        })
    }

    /// Its greatest value, likewise.
    pub fn greatest(&self, range: impl Fn(Var) -> VarRange) -> Option<i128> {
        self.times(-1)?.least(range)?.checked_neg()
    }

    /// The tightest `… ≤ 0` with the same integer solutions: divided by what divides all coefficients, the
    /// constant rounded up.
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
    // The least number has no absolute value of its own type.
    (number.unsigned_abs() < LARGEST.unsigned_abs()).then_some(number)
}

/// The greatest common divisor of two numbers that are not negative.
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
