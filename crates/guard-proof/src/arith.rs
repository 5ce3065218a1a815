//! Arithmetic in symbols: sums are exact, products and quotients of constants too; of others only signs are known.

use crate::encoder::Encoder;
use crate::formula::Formula;
use crate::linear::Linear;
use crate::terms::Op;
use crate::value::{Outcome, Sort, Value};
use guard_plan::builtin::Builtin;
use guard_plan::plan::ArithOp;

/// One as a decimal.
const ONE: i128 = guard_plan::value::DECIMAL_ONE as i128;

impl Encoder<'_> {
    /// One operation on two values (semantics §1).
    pub fn arith(&mut self, op: ArithOp, a: Value, b: Value) -> Outcome {
        let ((has_a, a), (has_b, b)) = (self.split(a), self.split(b));
        let there = has_a.and(has_b);
        if let (Value::Number(left, x), Value::Number(right, y)) = (&a, &b)
            && let Some(sort) = sort_of(op, *left, *right)
        {
            let decimals = *left == Sort::Decimal;
            let outcome = match op {
                ArithOp::Add => x.plus(1, y).map(|sum| self.exact(sort, sum)),
                ArithOp::Sub => x.minus(y).map(|sum| self.exact(sort, sum)),
                ArithOp::Mul => Some(self.product(sort, x, y, if decimals { ONE } else { 1 })),
                ArithOp::Div => self.quotient(sort, x, y, decimals),
                ArithOp::Rem => self.remainder(sort, x, y),
            };
            if let Some(outcome) = outcome {
                return Outcome { sound: there.and(outcome.sound), ..outcome };
            }
        }
        let args = vec![self.term(&a), self.term(&b)];
        let mut outcome = self.opaque(format!("{op:?}"), args);
        if let (Value::Number(left, _), Value::Number(right, _)) = (&a, &b)
            && let Some(sort) = sort_of(op, *left, *right)
        {
            let term = self.term(&outcome.value);
            let range = self.any();
            outcome.value = self.number(sort, term, range);
        }
        outcome
    }

    /// A number that must fit the integers.
    pub fn exact(&mut self, sort: Sort, linear: Linear) -> Outcome {
        let sound = self.fits_width(&linear);
        Outcome { value: Value::Number(sort, linear), sound }
    }

    /// The number with the other sign.
    pub fn negate(&mut self, value: Value) -> Outcome {
        let (there, value) = self.split(value);
        if let Value::Number(sort, linear) = &value
            && sort.is_number()
            && let Some(negated) = linear.times(-1)
        {
            let outcome = self.exact(*sort, negated);
            return Outcome { sound: there.and(outcome.sound), ..outcome };
        }
        let term = self.term(&value);
        self.opaque("-", vec![term])
    }

    /// `x · y / unit`, rounded half to even where the unit is not 1.
    fn product(&mut self, sort: Sort, x: &Linear, y: &Linear, unit: i128) -> Outcome {
        let by_constant = match (x.as_constant(), y.as_constant()) {
            (_, Some(factor)) => x.times(factor),
            (Some(factor), _) => y.times(factor),
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
        let mut args = [x, y].map(|side| self.terms.intern(Op::Linear(side.clone()), Vec::new()));
        args.sort_unstable();
        let term = self.terms.intern(Op::Product, args.to_vec());
        let known = self.vars.len();
        let product = Linear::var(self.var(term, None, None));
        if self.vars.len() > known {
            self.know_signs(x, y, &product);
        }
        self.exact(sort, product)
    }

    /// What the signs of two factors say of that of their product, rounded or not.
    fn know_signs(&mut self, x: &Linear, y: &Linear, product: &Linear) {
        let zero = Linear::default();
        for (flip_x, flip_y) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
            let at_least_zero = |linear: &Linear, sign| Formula::le(&zero, &linear.times(sign)?);
            let fact = (|| {
                let given = at_least_zero(x, flip_x)?.and(at_least_zero(y, flip_y)?);
                given.implies(at_least_zero(product, flip_x * flip_y)?)
            })();
            self.know(fact);
        }
    }

    /// The nearest number to `linear / unit`, halves to even.
    pub fn rounded(&mut self, sort: Sort, linear: &Linear, unit: i128) -> Outcome {
        let args = [linear.clone(), Linear::constant(unit)];
        let args = args.map(|side| self.terms.intern(Op::Linear(side), Vec::new())).to_vec();
        let term = self.terms.intern(Op::Quotient, args);
        let known = self.vars.len();
        let result = Linear::var(self.var(term, None, None));
        if self.vars.len() > known {
            // |2 · unit · result - 2 · linear| ≤ unit
            let distance = (|| result.times(2 * unit)?.minus(&linear.times(2)?))();
            self.know(distance.and_then(|distance| Formula::between(&distance, -unit, unit)));
        }
        self.exact(sort, result)
    }

    /// The quotient by a constant.
    fn quotient(&mut self, sort: Sort, x: &Linear, y: &Linear, decimals: bool) -> Option<Outcome> {
        let divisor = y.as_constant().filter(|divisor| *divisor != 0)?;
        let x = if divisor < 0 { x.times(-1)? } else { x.clone() };
        let divisor = divisor.abs();
        if decimals {
            return Some(self.rounded(sort, &x.times(ONE)?, divisor));
        }
        let quotient = self.truncated(&x, divisor)?;
        Some(self.exact(sort, quotient))
    }

    /// `x / divisor` toward zero, of a positive divisor.
    fn truncated(&mut self, x: &Linear, divisor: i128) -> Option<Linear> {
        if divisor == 1 {
            return Some(x.clone());
        }
        let args = [x.clone(), Linear::constant(divisor)];
        let mut args = args.map(|side| self.terms.intern(Op::Linear(side), Vec::new())).to_vec();
        args.push(self.terms.intern(Op::Text("toward zero".into()), Vec::new()));
        let term = self.terms.intern(Op::Quotient, args);
        let known = self.vars.len();
        let quotient = Linear::var(self.var(term, None, None));
        if self.vars.len() > known {
            let zero = Linear::default();
            let rest = x.minus(&quotient.times(divisor)?)?;
            let up = Formula::le(&zero, x)?.and(Formula::between(&rest, 0, divisor - 1)?);
            let down = Formula::lt(x, &zero)?.and(Formula::between(&rest, 1 - divisor, 0)?);
            self.know(Some(up.or(down)));
        }
        Some(quotient)
    }

    /// The remainder by a constant, with the sign of the dividend.
    fn remainder(&mut self, sort: Sort, x: &Linear, y: &Linear) -> Option<Outcome> {
        let divisor = y.as_constant().filter(|divisor| *divisor != 0)?.abs();
        let quotient = self.truncated(x, divisor)?;
        Some(self.exact(sort, x.minus(&quotient.times(divisor)?)?))
    }

    /// The builtins over numbers; none where it is none of them or its arguments are not what it takes.
    pub fn numeric(&mut self, builtin: Builtin, args: &[Value]) -> Option<Outcome> {
        let number = |at: usize| match args.get(at) {
            Some(Value::Number(sort, linear)) => Some((*sort, linear.clone())),
            _ => None,
        };
        let (sort, x) = number(0)?;
        Some(match builtin {
            Builtin::Min | Builtin::Max if sort.is_number() => {
                let (_, y) = number(1).filter(|(other, _)| *other == sort)?;
                let first = Formula::le(&x, &y)?;
                let (a, b) = if builtin == Builtin::Min { (x, y) } else { (y, x) };
                Outcome::sound(Value::Number(sort, self.choose_number(&first, a, b)))
            }
            Builtin::Abs if sort.is_number() && sort != Sort::Time => {
                let positive = Formula::le(&Linear::default(), &x)?;
                let negated = x.times(-1)?;
                let size = self.choose_number(&positive, x, negated);
                self.exact(sort, size)
            }
            Builtin::Decimal if sort == Sort::Int => self.exact(Sort::Decimal, x.times(ONE)?),
            Builtin::Round if sort == Sort::Decimal => self.rounded(Sort::Int, &x, ONE),
            Builtin::Floor if sort == Sort::Decimal => {
                let term = self.terms.intern(Op::Linear(x.clone()), Vec::new());
                let term = self.terms.intern(Op::Other("floor".into()), vec![term]);
                let floor = Linear::var(self.var(term, None, None));
                let rest = x.minus(&floor.times(ONE)?)?;
                self.know(Formula::between(&rest, 0, ONE - 1));
                self.exact(Sort::Int, floor)
            }
            _ => return None,
        })
    }
}

/// What an operation on two sorts gives; none where it is none.
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
