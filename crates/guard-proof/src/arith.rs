//! Symbolic arithmetic. Sums are exact, and so are products and quotients by constants. For other
//! products, signs and bounds are known.

use crate::encoder::Encoder;
use crate::formula::Formula;
use crate::linear::Linear;
use crate::rules::ProofRule;
use crate::terms::Op;
use crate::value::{Encoded, Sort, SymbolicOutcome, SymbolicValue, TooMuch};
use guard_plan::builtin::Builtin;
use guard_plan::plan::ArithOp;

/// The number 1 as a decimal.
const ONE: i128 = guard_plan::value::DECIMAL_ONE as i128;

impl Encoder<'_> {
    /// Encodes one operation on two values (semantics §1).
    pub fn arith(
        &mut self,
        op: ArithOp,
        a: SymbolicValue,
        b: SymbolicValue,
    ) -> Encoded<SymbolicOutcome> {
        let ((has_a, a), (has_b, b)) = (self.split(a), self.split(b));
        let there = has_a.and(has_b);
        let args = vec![self.term(&a), self.term(&b)];
        let (SymbolicValue::Number(left, x), SymbolicValue::Number(right, y)) = (&a, &b) else {
            return Ok(self.unknown());
        };
        let Some(sort) = sort_of(op, *left, *right) else { return Ok(self.unknown()) };
        let unit = if *left == Sort::Decimal { ONE } else { 1 };
        let outcome = match (op, y.as_constant().filter(|divisor| *divisor != 0)) {
            (ArithOp::Add, _) => self.exact(sort, x.plus(1, y).ok_or(TooMuch)?)?,
            (ArithOp::Sub, _) => self.exact(sort, x.minus(y).ok_or(TooMuch)?)?,
            (ArithOp::Mul, _) => self.product(sort, x, y, unit)?,
            (ArithOp::Div, Some(divisor)) => self.quotient(sort, x, divisor, unit)?,
            (ArithOp::Rem, Some(divisor)) => self.remainder(sort, x, divisor)?,
            (ArithOp::Div | ArithOp::Rem, None) => {
                let unknown = self.applied(Op::Arith(op, *left, *right), args);
                let term = self.term(&unknown.value);
                SymbolicOutcome { value: self.number(sort, term, self.any()), ..unknown }
            }
        };
        Ok(SymbolicOutcome { sound: there.and(outcome.sound), ..outcome })
    }

    /// Encodes a number that must fit the integers.
    pub fn exact(&mut self, sort: Sort, linear: Linear) -> Encoded<SymbolicOutcome> {
        let sound = self.fits_width(&linear)?;
        Ok(SymbolicOutcome { value: SymbolicValue::Number(sort, linear), sound })
    }

    /// Encodes the number with the opposite sign.
    pub fn negate(&mut self, value: SymbolicValue) -> Encoded<SymbolicOutcome> {
        let (there, value) = self.split(value);
        let SymbolicValue::Number(sort, linear) = &value else { return Ok(self.unknown()) };
        if !sort.is_number() {
            return Ok(self.unknown());
        }
        let factor = if mutant!("minus is plus") { 1 } else { -1 };
        let outcome = self.exact(*sort, linear.times(factor).ok_or(TooMuch)?)?;
        Ok(SymbolicOutcome { sound: there.and(outcome.sound), ..outcome })
    }

    /// Encodes `x · y / unit`, rounded half to even if the unit is not 1.
    fn product(
        &mut self,
        sort: Sort,
        x: &Linear,
        y: &Linear,
        unit: i128,
    ) -> Encoded<SymbolicOutcome> {
        let by_constant = match (x.as_constant(), y.as_constant()) {
            (_, Some(factor)) => Some(x.times(factor).ok_or(TooMuch)?),
            (Some(factor), _) => Some(y.times(factor).ok_or(TooMuch)?),
            _ => None,
        };
        if let Some(product) = by_constant {
            let divides = product.terms.iter().all(|(_, a)| a % unit == 0);
            if divides && product.constant % unit == 0 {
                let terms = product.terms.iter().map(|(var, a)| (*var, a / unit)).collect();
                return self.exact(sort, Linear { terms, constant: product.constant / unit });
            }
            return self.rounded(sort, &product, unit);
        }
        // The product of two durations does not exist: the factors have the sort of the product, or
        // are a duration and an int.
        let mut args = [x, y].map(|side| self.term_of_number(sort, side));
        args.sort_unstable();
        let kind = if mutant!("products of all sorts are one") { Sort::Int } else { sort };
        let args = if mutant!("products of all sorts are one") {
            [x, y].map(|side| self.term_of_number(Sort::Int, side))
        } else {
            args
        };
        let args = if mutant!("a product has one factor") { vec![args[0]] } else { args.to_vec() };
        let term = self.terms.intern(Op::Product(kind), args);
        let (product, is_new) = self.new_var(term, (None, None));
        if is_new {
            self.know_signs(x, y, &product)?;
            self.know_bounds(x, y, &product, unit)?;
        }
        self.exact(sort, product)
    }

    /// Adds what the signs of two factors imply about the sign of their product, rounded or not.
    fn know_signs(&mut self, x: &Linear, y: &Linear, product: &Linear) -> Encoded<()> {
        let zero = Linear::default();
        let at_least_zero = |linear: &Linear, sign| {
            linear.times(sign).and_then(|linear| Formula::le(&zero, &linear)).ok_or(TooMuch)
        };
        for (flip_x, flip_y) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
            let given = at_least_zero(x, flip_x)?.and(at_least_zero(y, flip_y)?);
            let sign = if mutant!("products are positive") { 1 } else { flip_x * flip_y };
            let fact = given.implies(at_least_zero(product, sign)?).ok_or(TooMuch)?;
            self.know(ProofRule::ProductSign, fact)?;
        }
        Ok(())
    }

    /// Adds what the ranges of two factors imply about their product: `±(x - a)(y - c) ≥ 0` for ends `a` and `c`.
    fn know_bounds(&mut self, x: &Linear, y: &Linear, product: &Linear, unit: i128) -> Encoded<()> {
        let range_x = self.range(x);
        let range_y = self.range(y);
        // No value is below a minimum or above a maximum: the difference has this sign.
        let ends = |(least, greatest): (Option<i128>, Option<i128>)| [(least, 1), (greatest, -1)];
        for (a, sign_x) in ends(range_x) {
            for (c, sign_y) in ends(range_y) {
                let (Some(a), Some(c)) = (a, c) else { continue };
                let sign = if mutant!("a product is bounded from the other side") {
                    -sign_x * sign_y
                } else {
                    sign_x * sign_y
                };
                // Doubled, so that half a unit is an integer: sign · 2 · (unit · p - c·x - a·y +
                // a·c) + slack ≥ 0.
                let slack = if unit == 1 || mutant!("bounds forget rounding") { 0 } else { unit };
                let sum = (|| {
                    let sum = product
                        .times(unit)?
                        .plus(c.checked_neg()?, x)?
                        .plus(a.checked_neg()?, y)?;
                    let sum = sum.offset(a.checked_mul(c)?)?.times(2 * sign)?;
                    Formula::le(&Linear::default(), &sum.offset(slack)?)
                })();
                // Bounds that are too large for the inequality give no fact.
                if let Some(fact) = sum {
                    self.know(ProofRule::ProductBound, fact)?;
                }
            }
        }
        Ok(())
    }

    /// Encodes the number that is nearest to `linear / unit`, with halves to even.
    pub fn rounded(&mut self, sort: Sort, linear: &Linear, unit: i128) -> Encoded<SymbolicOutcome> {
        let args = vec![self.term_of_number(Sort::Int, linear)];
        let by = if mutant!("all divisors round alike") { 1 } else { unit };
        let term = self.terms.intern(Op::Rounded(by), args);
        let (result, is_new) = self.new_var(term, (None, None));
        if is_new {
            // |2 · unit · result - 2 · linear| ≤ unit
            let distance = (|| result.times(unit.checked_mul(2)?)?.minus(&linear.times(2)?))();
            let unit = if mutant!("rounding is ignored") { 0 } else { unit };
            let near = distance.and_then(|distance| Formula::between(&distance, -unit, unit));
            self.know(ProofRule::Rounded, near.ok_or(TooMuch)?)?;
        }
        self.exact(sort, result)
    }

    /// Encodes the quotient by a constant.
    fn quotient(
        &mut self,
        sort: Sort,
        x: &Linear,
        divisor: i128,
        unit: i128,
    ) -> Encoded<SymbolicOutcome> {
        let flip = divisor < 0 && !mutant!("a negative divisor is positive");
        let x = if flip { x.times(-1).ok_or(TooMuch)? } else { x.clone() };
        let divisor = divisor.abs();
        if unit != 1 {
            return self.rounded(sort, &x.times(unit).ok_or(TooMuch)?, divisor);
        }
        let quotient = self.truncated(&x, divisor)?;
        self.exact(sort, quotient)
    }

    /// Encodes `x / divisor` rounded toward zero, for a positive divisor.
    fn truncated(&mut self, x: &Linear, divisor: i128) -> Encoded<Linear> {
        if divisor == 1 {
            return Ok(x.clone());
        }
        let args = vec![self.term_of_number(Sort::Int, x)];
        let by = if mutant!("all divisors are one") { 2 } else { divisor };
        let op = if mutant!("rounding and truncating are one") {
            Op::Rounded(by)
        } else {
            Op::Truncated(by)
        };
        let term = self.terms.intern(op, args);
        let (quotient, is_new) = self.new_var(term, (None, None));
        if is_new {
            let fact = (|| {
                let zero = Linear::default();
                let rest = x.minus(&quotient.times(divisor)?)?;
                let most = divisor - i128::from(!mutant!("a rest may be the divisor"));
                let up = Formula::le(&zero, x)?.and(Formula::between(&rest, 0, most)?);
                let floored = mutant!("a quotient is rounded down");
                let rests = if floored { (0, divisor - 1) } else { (1 - divisor, 0) };
                let down = Formula::lt(x, &zero)?.and(Formula::between(&rest, rests.0, rests.1)?);
                Some(up.or(down))
            })();
            self.know(ProofRule::Truncated, fact.ok_or(TooMuch)?)?;
        }
        Ok(quotient)
    }

    /// Encodes the remainder by a constant, with the sign of the dividend.
    fn remainder(&mut self, sort: Sort, x: &Linear, divisor: i128) -> Encoded<SymbolicOutcome> {
        let divisor = divisor.abs();
        let quotient = self.truncated(x, divisor)?;
        let rest = quotient.times(divisor).and_then(|whole| x.minus(&whole)).ok_or(TooMuch)?;
        if mutant!("a remainder is positive") {
            let positive = Formula::le(&Linear::default(), &rest).ok_or(TooMuch)?;
            self.know(ProofRule::Truncated, positive)?;
        }
        self.exact(sort, rest)
    }

    /// Encodes `x / divisor` rounded down, for a positive divisor.
    fn floored(&mut self, x: &Linear, divisor: i128) -> Encoded<Linear> {
        let args = vec![self.term_of_number(Sort::Int, x)];
        let term = self.terms.intern(Op::Floored(divisor), args);
        let (floor, is_new) = self.new_var(term, (None, None));
        if is_new {
            let rest = floor.times(divisor).and_then(|whole| x.minus(&whole));
            let most = if mutant!("a floor is exact") { 0 } else { divisor - 1 };
            let fact = rest.and_then(|rest| Formula::between(&rest, 0, most));
            self.know(ProofRule::Floored, fact.ok_or(TooMuch)?)?;
        }
        Ok(floor)
    }

    /// Encodes the numeric builtins. Returns `None` for other builtins, and for arguments of other
    /// kinds.
    pub fn numeric(
        &mut self,
        builtin: Builtin,
        args: &[SymbolicValue],
    ) -> Encoded<Option<SymbolicOutcome>> {
        let number = |at: usize| match args.get(at) {
            Some(SymbolicValue::Number(sort, linear)) => Some((*sort, linear.clone())),
            _ => None,
        };
        let Some((sort, x)) = number(0) else { return Ok(None) };
        let second = number(1).filter(|(other, _)| *other == sort);
        Ok(Some(match (builtin, second) {
            (Builtin::Min | Builtin::Max, Some((_, y))) if sort.is_number() => {
                let first = Formula::le(&x, &y).ok_or(TooMuch)?;
                let least = (builtin == Builtin::Min) != mutant!("the least is the greatest");
                let (a, b) = if least { (x, y) } else { (y, x) };
                SymbolicOutcome::sound(SymbolicValue::Number(
                    sort,
                    self.choose_number(&first, a, b)?,
                ))
            }
            (Builtin::Abs, _) if sort.is_number() && sort != Sort::Time => {
                let positive = Formula::le(&Linear::default(), &x).ok_or(TooMuch)?;
                let negated = x.times(-1).ok_or(TooMuch)?;
                if mutant!("a size always fits") {
                    let size = self.choose_number(&positive, x, negated)?;
                    return Ok(Some(SymbolicOutcome::sound(SymbolicValue::Number(sort, size))));
                }
                let size = self.choose_number(&positive, x, negated)?;
                self.exact(sort, size)?
            }
            (Builtin::Decimal, _) if sort == Sort::Int => {
                let unit = if mutant!("a decimal is its int") { 1 } else { ONE };
                self.exact(Sort::Decimal, x.times(unit).ok_or(TooMuch)?)?
            }
            (Builtin::Round, _) if sort == Sort::Decimal => self.rounded(Sort::Int, &x, ONE)?,
            (Builtin::Floor, _) if sort == Sort::Decimal => {
                let floor = if mutant!("a floor is toward zero") {
                    self.truncated(&x, ONE)?
                } else {
                    self.floored(&x, ONE)?
                };
                self.exact(Sort::Int, floor)?
            }
            _ => return Ok(None),
        }))
    }
}

/// Returns the sort of an operation's result; `None` if the operation is not defined for the two sorts.
fn sort_of(op: ArithOp, a: Sort, b: Sort) -> Option<Sort> {
    use ArithOp::{Add, Div, Mul, Rem, Sub};
    use Sort::{Decimal, Duration, Int, Time};
    match (a, b) {
        (Int, Int) => Some(Int),
        (Decimal, Decimal) => Some(Decimal),
        (Duration, Duration) if matches!(op, Add | Sub | Rem) => Some(Duration),
        (Duration, Duration) if op == Div => Some(Int),
        (Duration, Int) if matches!(op, Mul | Div) => Some(Duration),
        (Int, Duration) if op == Mul => Some(Duration),
        (Time, Time) if op == Sub => Some(Duration),
        (Time, Duration) if matches!(op, Add | Sub) => Some(Time),
        (Duration, Time) if op == Add => Some(Time),
        _ => None,
    }
}
