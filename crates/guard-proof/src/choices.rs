//! Choices under a condition: one of two values, conditions or numbers.

use crate::encoder::Encoder;
use crate::formula::Formula;
use crate::linear::Linear;
use crate::rules::ProofRule;
use crate::terms::Op;
use crate::value::{Encoded, Sort, SymbolicValue, TooMuch};

impl Encoder<'_> {
    /// Returns the first value if the condition holds, otherwise the second.
    pub fn choose(
        &mut self,
        condition: &Formula,
        a: SymbolicValue,
        b: SymbolicValue,
    ) -> Encoded<SymbolicValue> {
        match condition {
            Formula::True => return Ok(a),
            Formula::False => return Ok(b),
            _ => {}
        }
        let a = self.open(a);
        let b = self.open(b);
        Ok(match (a, b) {
            (SymbolicValue::Number(sort, a), SymbolicValue::Number(other, b)) if sort == other => {
                SymbolicValue::Number(sort, self.choose_number(condition, a, b)?)
            }
            (SymbolicValue::Bool(a), SymbolicValue::Bool(b)) => {
                SymbolicValue::Bool(self.either(condition, a, b)?)
            }
            (SymbolicValue::Record(a), SymbolicValue::Record(b)) if a.len() == b.len() => {
                let fields = a.into_iter().zip(b);
                let fields = fields.map(|(a, b)| self.choose(condition, a, b));
                SymbolicValue::Record(fields.collect::<Encoded<_>>()?)
            }
            (a @ SymbolicValue::Option(..), b) | (a, b @ SymbolicValue::Option(..)) => {
                let ((has_a, a), (has_b, b)) = (self.split(a), self.split(b));
                let some = self.either(condition, has_a.clone(), has_b.clone())?;
                // If one of the two is never present, the other is the value.
                let value = match (has_a, has_b) {
                    (Formula::False, _) => b,
                    (_, Formula::False) => a,
                    _ => self.choose(condition, a, b)?,
                };
                self.optional(some, value)
            }
            (a, b) => {
                let args = vec![self.term_of(condition), self.term(&a), self.term(&b)];
                SymbolicValue::Opaque(self.terms.intern(Op::Choice, args))
            }
        })
    }

    /// Returns `(c and a) or (not c and b)`.
    fn either(&mut self, condition: &Formula, a: Formula, b: Formula) -> Encoded<Formula> {
        if mutant!("a choice between conditions has one side") {
            return Ok(condition.clone().and(a));
        }
        Ok(condition.clone().and(a).or(self.not(condition)?.and(b)))
    }

    /// Returns the choice between two numbers, with the facts that define it.
    pub fn choose_number(&mut self, condition: &Formula, a: Linear, b: Linear) -> Encoded<Linear> {
        match condition {
            Formula::True => return Ok(a),
            Formula::False => return Ok(b),
            _ if a == b => return Ok(a),
            _ => {}
        }
        let mut args = vec![
            self.term_of(condition),
            self.term_of_number(Sort::Int, &a),
            self.term_of_number(Sort::Int, &b),
        ];
        if mutant!("choices share a variable whatever decides") {
            args.remove(0);
        }
        if mutant!("choices share a variable whatever else there is") {
            args.truncate(2);
        }
        let term = self.terms.intern(Op::Choice, args);
        let range_a = self.range(&a);
        let range_b = self.range(&b);
        let least = range_a.0.zip(range_b.0).map(|(a, b)| a.min(b));
        let greatest = range_a
            .1
            .zip(range_b.1)
            .map(|(a, b)| if mutant!("a choice is the lesser") { a.min(b) } else { a.max(b) });
        let (chosen, is_new) = self.new_var(term, (least, greatest));
        if is_new {
            let (a, b) = if mutant!("a choice takes the other") { (b, a) } else { (a, b) };
            let otherwise = self.not(condition)?;
            let first = condition.clone().and(Formula::eq(&chosen, &a).ok_or(TooMuch)?);
            let second = otherwise.and(Formula::eq(&chosen, &b).ok_or(TooMuch)?);
            self.know(ProofRule::Choice, first.or(second))?;
        }
        Ok(chosen)
    }
}
