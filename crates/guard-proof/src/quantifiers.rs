//! Symbolic quantifiers over collections (semantics §1): the effect of a change on them, and their
//! implications for single elements.
//!
//! A quantifier over a collection that is known only by its term is a separate variable, identified
//! by the collection and the text of its body. A bound name stands for a new element each time its
//! body is evaluated.

mod sums;

use crate::bodies::sum_sort;
use crate::encoder::{Closure, Encoder, SymbolicElement, Universal};
use crate::formula::Formula;
use crate::linear::{Linear, VarRange};
use crate::rules::ProofRule;
use crate::terms::{Op, TermId};
use crate::value::{
    Collection, CollectionKind, Encoded, Sort, SymbolicOutcome, SymbolicValue, TooMuch,
};
use guard_plan::plan::{QuantifierOp, TypeId};
use std::rc::Rc;

/// The properties of a body that hold for any element of a type.
struct Generic {
    /// True if the body never faults.
    sound: bool,
    /// The range of the body's number, or of 0 and 1 if the quantifier counts.
    range: VarRange,
}

impl<'p> Encoder<'p> {
    /// Encodes a quantifier over a collection (semantics §1).
    pub fn quantified(
        &mut self,
        collection: &Rc<Collection>,
        closure: &Closure<'p>,
    ) -> Encoded<SymbolicOutcome> {
        let (value, sound) = match sum_sort(closure.op) {
            None => {
                let (truth, sound) = self.all(collection, closure)?;
                let any = closure.op == QuantifierOp::Any && !mutant!("any is all");
                (SymbolicValue::Bool(if any { self.not(&truth)? } else { truth }), sound)
            }
            Some(sort) => {
                let (sum, sound) = self.sum(collection, closure)?;
                let outcome = self.exact(sort, sum)?;
                (outcome.value, sound.and(outcome.sound))
            }
        };
        Ok(SymbolicOutcome { value, sound })
    }

    /// Encodes two formulas. The first: the body is without fault and true of every element (for `any`: false). The
    /// second: the evaluation of the elements that are visited is without fault.
    fn all(
        &mut self,
        collection: &Rc<Collection>,
        closure: &Closure<'p>,
    ) -> Encoded<(Formula, Formula)> {
        self.step()?;
        Ok(match &**collection {
            Collection::Base { term, .. } => {
                let truth = self.base_all(collection, *term, closure)?;
                let generic = self.generic(collection, closure)?;
                let is_sound = generic.is_some_and(|generic| generic.sound);
                let sound = if is_sound || mutant!("bodies never fault") {
                    Formula::True
                } else {
                    self.walked(collection, closure, &truth, &Formula::False)?
                };
                (truth, sound)
            }
            Collection::Literal(kind, items) => {
                let mut truth = Formula::True;
                let mut sound = Formula::True;
                for (index, item) in items.iter().enumerate() {
                    let index = SymbolicValue::Number(Sort::Int, Linear::constant(index as i128));
                    let key = (*kind == CollectionKind::List).then_some(index);
                    self.and_then((&mut truth, &mut sound), closure, key, item.clone())?;
                }
                // Elements of a set are iterated in another order.
                let walked = *kind == CollectionKind::List || sound == Formula::True;
                (truth, if walked { sound } else { self.sound_flag(collection, closure) })
            }
            Collection::Entries(entries) => {
                let mut truth = Formula::True;
                let mut sound = Formula::True;
                for (key, value) in entries {
                    let key = Some(key.clone());
                    self.and_then((&mut truth, &mut sound), closure, key, value.clone())?;
                }
                let is_sound = sound == Formula::True;
                (truth, if is_sound { sound } else { self.sound_flag(collection, closure) })
            }
            Collection::Append(inner, _) if mutant!("a quantifier forgets the last element") => {
                self.all(inner, closure)?
            }
            Collection::Append(inner, item) => {
                let (mut truth, mut sound) = self.all(inner, closure)?;
                let index = SymbolicValue::Number(Sort::Int, self.len(inner)?);
                self.and_then((&mut truth, &mut sound), closure, Some(index), item.clone())?;
                (truth, sound)
            }
            Collection::Insert(inner, item) => {
                let (before, sound) = self.all(inner, closure)?;
                let Some((new, new_sound)) = self.one(closure, None, item.clone())? else {
                    // The index of an element of a set depends on the other elements.
                    let truth = self.all_flag(collection, closure);
                    return Ok((truth, self.sound_flag(collection, closure)));
                };
                let truth = if mutant!("a new element is like the old ones") {
                    before.and(Formula::True)
                } else {
                    before.and(new.and(new_sound.clone()))
                };
                let sound = self.walked(collection, closure, &truth, &sound.and(new_sound))?;
                (truth, sound)
            }
            Collection::Put(inner, key, value) | Collection::Replace(inner, key, value) => {
                self.all_after_write(collection, closure, inner, (key, value))?
            }
            Collection::Remove(inner, _) | Collection::Drop(inner, _) => {
                // Later elements move, so statements about their indexes may change.
                let moves = inner.kind() != CollectionKind::Map && closure.binders.len() > 1;
                let (before, sound) = self.all(inner, closure)?;
                let after = self.all_flag(collection, closure);
                if !moves || mutant!("elements never move") {
                    let fact = before.implies(after.clone()).ok_or(TooMuch)?;
                    self.know(ProofRule::AllAfterRemoval, fact)?;
                }
                if mutant!("what goes never failed") {
                    let fact = after.implies(before).ok_or(TooMuch)?;
                    self.know(ProofRule::AllAfterRemoval, fact)?;
                }
                let sound = self.walked(collection, closure, &after, &sound)?;
                (after, sound)
            }
        })
    }

    /// Encodes what [`Encoder::all`] does, of a collection in which the entry at `key` has a new value.
    fn all_after_write(
        &mut self,
        collection: &Rc<Collection>,
        closure: &Closure<'p>,
        inner: &Rc<Collection>,
        (key, value): (&SymbolicValue, &SymbolicValue),
    ) -> Encoded<(Formula, Formula)> {
        let (before, sound) = self.all(inner, closure)?;
        let after = self.all_flag(collection, closure);
        let Some((new, new_sound)) = self.one(closure, Some(key.clone()), value.clone())? else {
            return Ok((after, self.sound_flag(collection, closure)));
        };
        let new = if mutant!("a new entry is like the old ones") {
            Formula::True
        } else {
            new.and(new_sound.clone())
        };
        let given = if mutant!("old entries count for nothing") {
            new.clone()
        } else {
            before.and(new.clone())
        };
        self.know(ProofRule::AllAfterWrite, given.implies(after.clone()).ok_or(TooMuch)?)?;
        if collection.kind() == CollectionKind::Map {
            self.know(ProofRule::PutIsThere, after.implies(new).ok_or(TooMuch)?)?;
        }
        let sound = self.walked(collection, closure, &after, &sound.and(new_sound))?;
        Ok((after, sound))
    }

    /// Encodes that the evaluation over a changed collection is without fault. If `never` is `True`, the body faults at
    /// no element, and the result is `True`. Otherwise the result is a flag that `all` implies; `all` says that the
    /// body is true of every element without a fault.
    fn walked(
        &mut self,
        collection: &Rc<Collection>,
        closure: &Closure<'p>,
        all: &Formula,
        never: &Formula,
    ) -> Encoded<Formula> {
        if *never == Formula::True || mutant!("what changes never faults") {
            return Ok(Formula::True);
        }
        let sound = self.sound_flag(collection, closure);
        self.know(ProofRule::SoundWalk, all.implies(sound.clone()).ok_or(TooMuch)?)?;
        Ok(sound)
    }

    /// Encodes a quantifier over a base. Its implications for single elements are those of
    /// `Instance` and `Witness`.
    fn base_all(
        &mut self,
        collection: &Rc<Collection>,
        base: TermId,
        closure: &Closure<'p>,
    ) -> Encoded<Formula> {
        let holds = self.all_flag(collection, closure);
        if self.generic > 0 {
            return Ok(holds);
        }
        let asked = self.asked.entry(base).or_default();
        if asked.universal.iter().any(|known| known.holds == holds)
            || !Encoder::is_few(asked.universal.len())
        {
            return Ok(holds);
        }
        let elements = asked.elements.clone();
        let others = asked.universal.clone();
        let universal = Universal { holds: holds.clone(), closure: closure.clone() };
        asked.universal.push(universal.clone());
        for element in &elements {
            self.instantiate(&universal, element)?;
        }
        let witness = self.witness(collection, base, &universal)?;
        for other in &others {
            if let Some(witness) = &witness {
                self.instantiate(other, witness)?;
            }
            if let Some(theirs) = self.witness(collection, base, other)? {
                self.instantiate(&universal, &theirs)?;
            }
        }
        Ok(holds)
    }

    /// Returns an element at which a quantifier fails, if it fails; `None` if its index would have
    /// to be known.
    fn witness(
        &mut self,
        collection: &Rc<Collection>,
        base: TermId,
        universal: &Universal<'p>,
    ) -> Encoded<Option<SymbolicElement>> {
        let Collection::Base { kind, of: ty, .. } = **collection else { return Ok(None) };
        if kind == CollectionKind::Set && universal.closure.binders.len() > 1 {
            return Ok(None);
        }
        let named = self
            .terms
            .intern(Op::Quantified(universal.closure.op), vec![base, universal.closure.text]);
        let at = self.terms.intern(Op::Witness, vec![named]);
        let key = match kind {
            CollectionKind::Map => Some(self.number(Sort::Text, at, (None, None))),
            CollectionKind::List => {
                let at = self.terms.intern(Op::Field(0), vec![at]);
                Some(self.number(Sort::Int, at, (Some(0), Some(i64::MAX.into()))))
            }
            CollectionKind::Set => None,
        };
        let value = self.terms.intern(Op::At, vec![base, at]);
        let value = self.open(SymbolicValue::Typed(ty, value));
        let (there, is_new) = self.new_var_flag(Op::Has, vec![base, at]);
        let element =
            SymbolicElement { there: there.clone(), key: key.clone(), value: value.clone() };
        if is_new && let Some((truth, sound)) = self.one(&universal.closure, key, value)? {
            let fails = if mutant!("a witness holds") {
                truth.and(sound)
            } else {
                self.not(&truth.and(sound))?
            };
            self.know(ProofRule::Witness, universal.holds.clone().or(there.clone().and(fails)))?;
            let some = Formula::le(&Linear::constant(1), &self.len(collection)?).ok_or(TooMuch)?;
            self.know(ProofRule::MemberCounts, there.implies(some).ok_or(TooMuch)?)?;
        }
        Ok(Some(element))
    }

    fn new_var_flag(&mut self, op: Op, args: Vec<TermId>) -> (Formula, bool) {
        let known = self.vars.len();
        let flag = self.flag(op, args);
        (flag, self.vars.len() > known)
    }

    /// States that a property of all elements holds for this element, if it is present.
    pub fn instantiate(
        &mut self,
        universal: &Universal<'p>,
        element: &SymbolicElement,
    ) -> Encoded<()> {
        let outcome = self.one(&universal.closure, element.key.clone(), element.value.clone())?;
        let Some((truth, sound)) = outcome else {
            if mutant!("an element without index is any") {
                let shared = self.flag(Op::Node("element".into()), Vec::new());
                let shared = match universal.closure.op {
                    QuantifierOp::Any => self.not(&shared)?,
                    _ => shared,
                };
                let given = universal.holds.clone().and(element.there.clone());
                self.know(ProofRule::Instance, given.implies(shared).ok_or(TooMuch)?)?;
            }
            return Ok(());
        };
        let there = if mutant!("what is true of all is true of the absent") {
            Formula::True
        } else {
            element.there.clone()
        };
        let given = universal.holds.clone().and(there);
        self.know(ProofRule::Instance, given.implies(truth.and(sound)).ok_or(TooMuch)?)
    }

    /// Encodes two formulas: the body is true of this element (for `any`: false), and it is without fault. Returns
    /// `None` if the body names a key that is not known.
    fn one(
        &mut self,
        closure: &Closure<'p>,
        key: Option<SymbolicValue>,
        value: SymbolicValue,
    ) -> Encoded<Option<(Formula, Formula)>> {
        let Some(outcome) = self.apply(closure, key, value)? else { return Ok(None) };
        let (truth, sound) = self.truth(outcome);
        let fails = closure.op == QuantifierOp::Any && !mutant!("any element is every element");
        let truth = if fails { self.not(&truth)? } else { truth };
        Ok(Some((truth, sound)))
    }

    /// Adds one more element to the conjunction of the elements so far, in the order of iteration.
    /// Elements after the first false one are not evaluated.
    fn and_then(
        &mut self,
        (truth, sound): (&mut Formula, &mut Formula),
        closure: &Closure<'p>,
        key: Option<SymbolicValue>,
        value: SymbolicValue,
    ) -> Encoded<()> {
        let (this_truth, this_sound) = match self.one(closure, key, value)? {
            Some(outcome) => outcome,
            None => (self.fresh_flag(), self.fresh_flag()),
        };
        let skipped = self.not(truth)?;
        *sound = std::mem::replace(sound, Formula::True).and(skipped.or(this_sound.clone()));
        *truth = std::mem::replace(truth, Formula::True).and(this_truth).and(this_sound);
        Ok(())
    }

    /// Returns the term of a quantifier: the collection that it ranges over, and the text of its
    /// body.
    fn named_quantifier(&mut self, collection: &Rc<Collection>, closure: &Closure<'p>) -> TermId {
        let term = self.term(&SymbolicValue::Collection(collection.clone()));
        let args = match () {
            () if mutant!("quantifiers share a variable whatever they range over") => {
                vec![closure.text]
            }
            () if mutant!("quantifiers share a variable whatever they say") => vec![term],
            () => vec![term, closure.text],
        };
        let op = match closure.op {
            QuantifierOp::Any if mutant!("any and all share a variable") => QuantifierOp::All,
            op => op,
        };
        self.terms.intern(Op::Quantified(op), args)
    }

    fn all_flag(&mut self, collection: &Rc<Collection>, closure: &Closure<'p>) -> Formula {
        let term = self.named_quantifier(collection, closure);
        self.flag_of(term)
    }

    fn sound_flag(&mut self, collection: &Rc<Collection>, closure: &Closure<'p>) -> Formula {
        let term = self.named_quantifier(collection, closure);
        self.flag(Op::Sound, vec![term])
    }

    /// Encodes the body over any element of the type; `None` if it is not interpreted.
    fn generic(
        &mut self,
        collection: &Rc<Collection>,
        closure: &Closure<'p>,
    ) -> Encoded<Option<Generic>> {
        let Some(ty) = element_type(collection) else { return Ok(None) };
        let key = if mutant!("bound names of all quantifiers are one") {
            self.terms.intern(Op::Bound(1_000), Vec::new())
        } else {
            self.terms.fresh()
        };
        let key = match collection.kind() {
            CollectionKind::Map => Some(self.number(Sort::Text, key, (None, None))),
            // The index of an element of a set depends on the other elements.
            CollectionKind::Set => None,
            CollectionKind::List => {
                Some(self.number(Sort::Int, key, (Some(0), Some(i64::MAX.into()))))
            }
        };
        let element = if mutant!("bound names of all quantifiers are one") {
            self.terms.intern(Op::Bound(1_001), Vec::new())
        } else {
            self.terms.fresh()
        };
        self.generic += 1;
        let outcome = self.apply(closure, key, SymbolicValue::Typed(ty, element));
        self.generic -= 1;
        let Some(outcome) = outcome? else { return Ok(None) };
        // If the body is not a number here, for example because it is an element of a literal list,
        // no range is known.
        let range = match (closure.op, self.open(outcome.value)) {
            (_, SymbolicValue::Number(_, number)) => self.range(&number),
            (QuantifierOp::Count, _) => (Some(0), Some(1)),
            _ if mutant!("an unknown summand is 0 or 1") => (Some(0), Some(1)),
            _ => (None, None),
        };
        Ok(Some(Generic { sound: outcome.sound == Formula::True, range }))
    }
}

/// Returns the type of the elements of a collection; `None` if it is only a literal.
fn element_type(collection: &Collection) -> Option<TypeId> {
    match collection {
        Collection::Base { of, .. } => Some(*of),
        Collection::Literal(..) | Collection::Entries(_) => None,
        Collection::Append(inner, _)
        | Collection::Insert(inner, _)
        | Collection::Remove(inner, _)
        | Collection::Put(inner, ..)
        | Collection::Replace(inner, ..)
        | Collection::Drop(inner, _) => element_type(inner),
    }
}
