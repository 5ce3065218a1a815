//! Symbolic sums and counts over collections (semantics §1): each step of a change adds or removes one summand.

use crate::encoder::{Closure, Encoder};
use crate::formula::Formula;
use crate::linear::Linear;
use crate::rules::ProofRule;
use crate::value::{Collection, CollectionKind, Encoded, Sort, SymbolicValue, TooMuch};
use guard_plan::plan::QuantifierOp;
use std::rc::Rc;

/// The summand of one element, and the condition under which its evaluation is without fault.
#[derive(Clone)]
struct Summand {
    number: Linear,
    sound: Formula,
}

impl<'p> Encoder<'p> {
    /// Encodes the exact sum of the bodies, or the number of elements for which the body is true,
    /// and the condition that no body faults.
    pub(super) fn sum(
        &mut self,
        collection: &Rc<Collection>,
        closure: &Closure<'p>,
    ) -> Encoded<(Linear, Formula)> {
        self.step()?;
        let by_index = closure.binders.len() > 1;
        let absent = Summand { number: Linear::default(), sound: Formula::True };
        let changed = match &**collection {
            Collection::Literal(CollectionKind::List, items) => {
                let index =
                    |at: usize| SymbolicValue::Number(Sort::Int, Linear::constant(at as i128));
                let elements = items.iter().enumerate();
                let elements = elements.map(|(at, item)| (index(at), item.clone())).collect();
                return self.written_sum(collection, closure, elements);
            }
            Collection::Entries(entries) => {
                return self.written_sum(collection, closure, entries.clone());
            }
            Collection::Append(inner, item) => {
                let index = SymbolicValue::Number(Sort::Int, self.len(inner)?);
                let new = self.summand(closure, Some(index), item.clone())?;
                new.map(|new| (inner, Formula::False, absent, new))
            }
            Collection::Insert(inner, item) if !by_index => {
                let there = self.has(inner, item)?;
                let there = if mutant!("a sum counts twice") { Formula::False } else { there };
                // If the element is already present, it is removed and added again.
                let new = self.summand(closure, None, item.clone())?;
                new.map(|new| (inner, there, new.clone(), new))
            }
            Collection::Remove(inner, item) if !by_index => {
                let there = self.has(inner, item)?;
                let old = self.summand(closure, None, item.clone())?;
                old.map(|old| (inner, there, old, absent))
            }
            Collection::Drop(inner, key) => {
                let (there, old) = self.at(inner, key)?;
                let old = self.summand(closure, Some(key.clone()), old)?;
                old.map(|old| (inner, there, old, absent))
            }
            Collection::Put(inner, key, value) | Collection::Replace(inner, key, value) => {
                let (there, old) = self.at(inner, key)?;
                let there =
                    if mutant!("a sum keeps what is replaced") { Formula::False } else { there };
                let old = self.summand(closure, Some(key.clone()), old)?;
                let new = self.summand(closure, Some(key.clone()), value.clone())?;
                old.zip(new).map(|(old, new)| (inner, there, old, new))
            }
            _ => None,
        };
        let Some((inner, was_there, old, new)) = changed else {
            return self.unknown_sum(collection, closure);
        };
        let (sum, sound) = self.sum(inner, closure)?;
        let less = sum.minus(&old.number).ok_or(TooMuch)?;
        let rest = self.choose_number(&was_there, less, sum)?;
        let times = i128::from(!mutant!("a sum forgets the last element"));
        let sum = rest.plus(times, &new.number).ok_or(TooMuch)?;
        // Every body is evaluated, because nothing ends a sum early. It is unknown whether a
        // removed element was the one that faulted.
        let never = sound.and(new.sound);
        let sound = match &**collection {
            Collection::Append(..) | Collection::Insert(..) => never,
            _ => self.walked(collection, closure, &never, &never)?,
        };
        Ok((sum, sound))
    }

    /// Encodes the sum over a literal collection.
    fn written_sum(
        &mut self,
        collection: &Rc<Collection>,
        closure: &Closure<'p>,
        elements: Vec<(SymbolicValue, SymbolicValue)>,
    ) -> Encoded<(Linear, Formula)> {
        let mut sum = Linear::default();
        let mut sound = Formula::True;
        for (key, value) in elements {
            let Some(summand) = self.summand(closure, Some(key), value)? else {
                return self.unknown_sum(collection, closure);
            };
            sum = sum.plus(1, &summand.number).ok_or(TooMuch)?;
            sound = sound.and(summand.sound);
        }
        Ok((sum, sound))
    }

    /// Returns the summand of one element; `None` if it is not a number, or if the body names a key that is not known.
    fn summand(
        &mut self,
        closure: &Closure<'p>,
        key: Option<SymbolicValue>,
        value: SymbolicValue,
    ) -> Encoded<Option<Summand>> {
        let Some(outcome) = self.apply(closure, key, value)? else { return Ok(None) };
        let number = match (closure.op, self.open(outcome.value)) {
            (QuantifierOp::Count, SymbolicValue::Bool(truth)) => {
                self.choose_number(&truth, Linear::constant(1), Linear::default())?
            }
            (
                QuantifierOp::SumInt | QuantifierOp::SumDecimal | QuantifierOp::SumDuration,
                SymbolicValue::Number(sort, number),
            ) if sort.is_number() => number,
            _ => return Ok(None),
        };
        Ok(Some(Summand { number, sound: outcome.sound }))
    }

    /// Encodes a sum of which the range is known, if the elements have a type. There are as many
    /// summands as elements.
    fn unknown_sum(
        &mut self,
        collection: &Rc<Collection>,
        closure: &Closure<'p>,
    ) -> Encoded<(Linear, Formula)> {
        let term = self.named_quantifier(collection, closure);
        let (sum, is_new) = self.new_var(term, (None, None));
        let is_base = matches!(**collection, Collection::Base { .. });
        let generic = if is_base { self.generic(collection, closure)? } else { None };
        let Some(generic) = generic else { return Ok((sum, self.sound_flag(collection, closure))) };
        if is_new {
            let len = self.len(collection)?;
            let (least, greatest) = generic.range;
            let greatest = if mutant!("a sum has one summand less") {
                greatest.map(|greatest| greatest - 1)
            } else {
                greatest
            };
            // least · len ≤ sum ≤ greatest · len, because every summand is in the range.
            if let Some(lower) = least.and_then(|least| Formula::le(&len.times(least)?, &sum)) {
                self.know(ProofRule::SumRange, lower)?;
            }
            if let Some(upper) = greatest.and_then(|most| Formula::le(&sum, &len.times(most)?)) {
                self.know(ProofRule::SumRange, upper)?;
            }
        }
        let never = generic.sound;
        Ok((sum, if never { Formula::True } else { self.sound_flag(collection, closure) }))
    }
}
