//! Collections in symbols: what a change does to size, membership, entries and quantifiers. A collection that is
//! only known by its term answers with variables, of which the laws of collections are known.

use crate::encoder::{Closure, Encoder};
use crate::formula::Formula;
use crate::linear::Linear;
use crate::terms::{Op, TermId};
use crate::value::{Collection, Kind, Outcome, Sort, Value};
use guard_plan::plan::{QuantifierOp, TypeId};
use std::rc::Rc;

impl<'p> Encoder<'p> {
    /// How many elements there are.
    pub fn len(&mut self, of: &Rc<Collection>) -> Linear {
        if !self.step() {
            return self.unknown_len(of);
        }
        let changed = |len: Linear, by: i128| len.offset(by);
        let counted = match &**of {
            Collection::Base { term, max, .. } => {
                let len = self.terms.intern(Op::Len, vec![*term]);
                let max = max.map_or(i128::from(i64::MAX), i128::from);
                return Linear::var(self.var(len, Some(0), Some(max)));
            }
            Collection::Literal(Kind::Set, items) if items.len() > 1 => None,
            Collection::Literal(_, items) => return Linear::constant(items.len() as i128),
            Collection::Entries(entries) => return Linear::constant(entries.len() as i128),
            Collection::Append(inner, _) if mutant!("a longer list is as long") => {
                return self.len(inner);
            }
            Collection::Append(inner, _) => changed(self.len(inner), 1),
            Collection::Replace(inner, ..) => return self.len(inner),
            Collection::Insert(inner, item) | Collection::Put(inner, item, _) => {
                let (len, there) = (self.len(inner), self.has(inner, item));
                if mutant!("what is put in is never new") {
                    return len;
                }
                changed(len.clone(), 1).map(|more| self.choose_number(&there, len, more))
            }
            Collection::Remove(inner, item) | Collection::Drop(inner, item) => {
                let (len, there) = (self.len(inner), self.has(inner, item));
                if mutant!("what is taken out was there") {
                    return changed(len.clone(), -1).unwrap_or(len);
                }
                changed(len.clone(), -1).map(|less| self.choose_number(&there, less, len))
            }
        };
        counted.unwrap_or_else(|| self.unknown_len(of))
    }

    fn unknown_len(&mut self, of: &Rc<Collection>) -> Linear {
        let term = self.term(&Value::Collection(of.clone()));
        let len = self.terms.intern(Op::Len, vec![term]);
        Linear::var(self.var(len, Some(0), Some(i64::MAX.into())))
    }

    /// Whether an element is in a list or set, or a map has a key. The element is one that is there.
    pub fn has(&mut self, of: &Rc<Collection>, element: &Value) -> Formula {
        if !self.step() {
            return self.unknown_has(of, element);
        }
        match &**of {
            Collection::Base { .. } => self.base_has(of, element),
            Collection::Literal(_, items) => {
                let same: Vec<Formula> =
                    items.iter().map(|item| self.same(element, item)).collect();
                Formula::any(same)
            }
            Collection::Entries(entries) => {
                let same: Vec<Formula> =
                    entries.iter().map(|(key, _)| self.same(element, key)).collect();
                Formula::any(same)
            }
            Collection::Append(inner, item)
            | Collection::Insert(inner, item)
            | Collection::Put(inner, item, _) => {
                let before = self.has(inner, element);
                let same = self.same(element, item);
                if mutant!("what is put in is not there") { before } else { same.or(before) }
            }
            Collection::Drop(inner, item) => self.has_other(inner, element, item),
            Collection::Remove(inner, item)
                if inner.kind() == Kind::Set || mutant!("a list loses all equal elements") =>
            {
                self.has_other(inner, element, item)
            }
            Collection::Remove(inner, item) => {
                // Of a list only the first equal element goes: another one may be left.
                let (before, other) =
                    (self.has(inner, element), self.has_other(inner, element, item));
                let after = self.unknown_has(of, element);
                self.know(after.implies(before));
                self.know(other.implies(after.clone()));
                after
            }
            Collection::Replace(..) => self.unknown_has(of, element),
        }
    }

    /// Whether an element is there that is not this item.
    fn has_other(&mut self, of: &Rc<Collection>, element: &Value, item: &Value) -> Formula {
        if mutant!("what is taken out stays") {
            return self.has(of, element);
        }
        let same = self.same(element, item);
        let other = self.not(&same);
        self.has(of, element).and(other)
    }

    fn unknown_has(&mut self, of: &Rc<Collection>, element: &Value) -> Formula {
        let args = vec![self.term(&Value::Collection(of.clone())), self.term(element)];
        self.flag(Op::Has, args)
    }

    fn base_has(&mut self, of: &Rc<Collection>, element: &Value) -> Formula {
        let Collection::Base { term, kind, of: ty, .. } = **of else {
            return self.unknown_has(of, element);
        };
        let at = self.term(element);
        let known = self.vars.len();
        let there = self.flag(Op::Has, vec![term, at]);
        if self.vars.len() == known {
            return there;
        }
        let len = self.len(of);
        let some = Formula::le(&Linear::constant(1), &len);
        self.know(some.and_then(|some| there.implies(some)));
        let (key, value) = match kind {
            Kind::Map => {
                let value = self.terms.intern(Op::At, vec![term, at]);
                (Some(element.clone()), Value::Typed(ty, value))
            }
            _ => (None, element.clone()),
        };
        self.meet(term, at, there.clone(), key, value);
        there
    }

    /// Brings a new element of a base together with the others and with what is true of all.
    fn meet(&mut self, base: TermId, at: TermId, there: Formula, key: Option<Value>, value: Value) {
        if self.terms.is_bound(at) {
            return;
        }
        let asked = self.asked.entry(base).or_default();
        if !Encoder::is_few(asked.elements.len()) {
            return;
        }
        let (others, universal) = (asked.elements.clone(), asked.universal.clone());
        asked.elements.push((there.clone(), key.clone(), value.clone()));
        for (other_there, other_key, other_value) in others {
            // What is equal is there alike, and has an equal value there.
            let (mine, theirs) = (key.as_ref(), other_key.as_ref());
            let same = match (mine, theirs) {
                (Some(mine), Some(theirs)) => self.same(mine, theirs),
                (None, None) => self.same(&value, &other_value),
                _ => continue,
            };
            let alike = there.iff(&other_there);
            self.know(alike.and_then(|alike| same.implies(alike)));
            if mine.is_some() {
                let equal = self.same(&value, &other_value);
                self.know(same.implies(equal));
            }
        }
        for (all, closure) in universal {
            self.instantiate(&all, &closure, (&there, &key, &value));
        }
    }

    /// What is true of all elements is true of this one, if it is there.
    fn instantiate(
        &mut self,
        all: &Formula,
        closure: &Closure<'p>,
        (there, key, value): (&Formula, &Option<Value>, &Value),
    ) {
        if !self.step() {
            return;
        }
        let one = self.one(closure, key.clone(), value.clone());
        self.know(all.clone().and(there.clone()).implies(one));
    }

    /// The value at a key of a map or at an index of a list: whether it is there, and which.
    pub fn at(&mut self, of: &Rc<Collection>, key: &Value) -> (Formula, Value) {
        if !self.step() {
            return self.unknown_at(of, key);
        }
        match (&**of, key) {
            (Collection::Base { term, kind: Kind::Map, of: ty, .. }, _) => {
                let there = self.base_has(of, key);
                let at = self.term(key);
                let value = self.terms.intern(Op::At, vec![*term, at]);
                (there, Value::Typed(*ty, value))
            }
            (
                Collection::Base { term, kind: Kind::List, of: ty, .. },
                Value::Number(Sort::Int, index),
            ) => {
                let there = self.in_list(of, index);
                let at = self.term(key);
                let value = Value::Typed(*ty, self.terms.intern(Op::At, vec![*term, at]));
                self.meet(*term, at, there.clone(), Some(key.clone()), value.clone());
                (there, value)
            }
            (Collection::Literal(Kind::List, items), Value::Number(Sort::Int, index)) => {
                let there = self.in_list(of, index);
                let known = index.as_constant().and_then(|at| items.get(usize::try_from(at).ok()?));
                match known {
                    Some(item) => (there, item.clone()),
                    None => (there, self.unknown_at(of, key).1),
                }
            }
            (Collection::Append(inner, item), Value::Number(Sort::Int, index)) => {
                let len = self.len(inner);
                let term = self.term(key);
                let last = Formula::eq(index, &len);
                let last = self.said(last, "last", vec![term]);
                let (there, value) = self.at(inner, key);
                (last.clone().or(there), self.choose(&last, item.clone(), value))
            }
            (Collection::Entries(entries), _) => {
                let mut found = self.unknown_at(of, key);
                found.0 = Formula::False;
                for (known, value) in entries {
                    let same = self.same(key, known);
                    found.1 = self.choose(&same, value.clone(), found.1);
                    found.0 = same.or(found.0);
                }
                found
            }
            (Collection::Put(inner, known, value), _) => {
                let same = self.same(key, known);
                let (there, before) = self.at(inner, key);
                let value = if mutant!("an entry keeps its value") {
                    before.clone()
                } else {
                    value.clone()
                };
                (same.clone().or(there), self.choose(&same, value, before))
            }
            (Collection::Replace(inner, known, value), _) => {
                let same = self.same(key, known);
                let (there, before) = self.at(inner, key);
                (there, self.choose(&same, value.clone(), before))
            }
            (Collection::Drop(inner, known), _) => {
                let same = self.same(key, known);
                let (there, value) = self.at(inner, key);
                (self.not(&same).and(there), value)
            }
            _ => self.unknown_at(of, key),
        }
    }

    fn in_list(&mut self, of: &Rc<Collection>, index: &Linear) -> Formula {
        let len = self.len(of);
        let within = (|| {
            let lower = Formula::le(&Linear::default(), index)?;
            Some(lower.and(Formula::lt(index, &len)?))
        })();
        let args = vec![self.term(&Value::Collection(of.clone()))];
        self.said(within, "index", args)
    }

    fn unknown_at(&mut self, of: &Rc<Collection>, key: &Value) -> (Formula, Value) {
        let args = vec![self.term(&Value::Collection(of.clone())), self.term(key)];
        let value = self.terms.intern(Op::At, args.clone());
        (self.flag(Op::Has, args), Value::Opaque(value))
    }

    /// A quantifier over a collection (semantics §1).
    pub fn quantified(&mut self, of: &Rc<Collection>, closure: &Closure<'p>) -> Outcome {
        match closure.op {
            QuantifierOp::All | QuantifierOp::Any => {
                let (truth, sound) = self.all(of, closure);
                let any = closure.op == QuantifierOp::Any;
                let truth = if any { self.not(&truth) } else { truth };
                Outcome { value: Value::Bool(truth), sound }
            }
            op => {
                let (sum, sound) = self.sum(of, closure);
                let sort = match op {
                    QuantifierOp::SumDecimal => Sort::Decimal,
                    QuantifierOp::SumDuration => Sort::Duration,
                    _ => Sort::Int,
                };
                let outcome = self.exact(sort, sum);
                Outcome { sound: sound.and(outcome.sound), ..outcome }
            }
        }
    }

    /// Whether the body is true of every element; for `any`, false of every one.
    fn all(&mut self, of: &Rc<Collection>, closure: &Closure<'p>) -> (Formula, Formula) {
        let Some((generic, generic_sound)) = self.generic(of, closure) else {
            return self.unknown_all(of, closure, &Formula::False);
        };
        let sound = |encoder: &mut Self| encoder.sound_of(of, closure, &generic_sound);
        match &**of {
            _ if !self.step() || generic == Formula::True => {
                let truth = match generic {
                    Formula::True => Formula::True,
                    _ => self.unknown_all(of, closure, &generic).0,
                };
                (truth, sound(self))
            }
            Collection::Base { term, .. } => {
                let known = self.vars.len();
                let (truth, _) = self.unknown_all(of, closure, &generic);
                if self.vars.len() > known {
                    let asked = self.asked.entry(*term).or_default();
                    asked.universal.push((truth.clone(), closure.clone()));
                    for (there, key, value) in asked.elements.clone() {
                        self.instantiate(&truth, closure, (&there, &key, &value));
                    }
                }
                (truth, sound(self))
            }
            Collection::Literal(Kind::List, items) => {
                let (mut truth, mut sound) = (Formula::True, Formula::True);
                for (index, item) in items.iter().enumerate() {
                    let index = Value::Number(Sort::Int, Linear::constant(index as i128));
                    self.and_then((&mut truth, &mut sound), closure, Some(index), item.clone());
                }
                (truth, sound)
            }
            Collection::Literal(_, items) => {
                let mut truth = Formula::True;
                for item in items {
                    let mut ignored = Formula::True;
                    self.and_then((&mut truth, &mut ignored), closure, None, item.clone());
                }
                (truth, sound(self))
            }
            Collection::Entries(entries) => {
                let mut truth = Formula::True;
                for (key, value) in entries {
                    let mut ignored = Formula::True;
                    let key = Some(key.clone());
                    self.and_then((&mut truth, &mut ignored), closure, key, value.clone());
                }
                (truth, sound(self))
            }
            Collection::Append(inner, item) => {
                let (mut truth, mut sound) = self.all(inner, closure);
                let index = Value::Number(Sort::Int, self.len(inner));
                self.and_then((&mut truth, &mut sound), closure, Some(index), item.clone());
                (truth, sound)
            }
            Collection::Insert(inner, item) => {
                let (mut truth, _) = self.all(inner, closure);
                let mut ignored = Formula::True;
                self.and_then((&mut truth, &mut ignored), closure, None, item.clone());
                (truth, sound(self))
            }
            Collection::Put(inner, key, value) | Collection::Replace(inner, key, value) => {
                let (before, _) = self.all(inner, closure);
                let new = match mutant!("a new entry is like the old ones") {
                    true => Formula::True,
                    false => self.one(closure, Some(key.clone()), value.clone()),
                };
                let (after, _) = self.unknown_all(of, closure, &generic);
                self.know(before.and(new.clone()).implies(after.clone()));
                if of.kind() == Kind::Map {
                    self.know(after.implies(new));
                }
                (after, sound(self))
            }
            Collection::Remove(inner, _) | Collection::Drop(inner, _) => {
                // A list's later elements move up: what is said of them by index may change.
                let by_index = inner.kind() == Kind::List && closure.binders.len() > 1;
                let (before, _) = self.all(inner, closure);
                let (after, _) = self.unknown_all(of, closure, &generic);
                if !by_index {
                    self.know(before.implies(after.clone()));
                }
                (after, sound(self))
            }
        }
    }

    /// Whether the body is without fault and true of this element; for `any`, false.
    fn one(&mut self, closure: &Closure<'p>, key: Option<Value>, value: Value) -> Formula {
        let (mut truth, mut sound) = (Formula::True, Formula::True);
        self.and_then((&mut truth, &mut sound), closure, key, value);
        truth.and(sound)
    }

    /// Adds one more element to what is true of all so far, as it is walked: what comes after one of which it is
    /// not true is not looked at.
    fn and_then(
        &mut self,
        (truth, sound): (&mut Formula, &mut Formula),
        closure: &Closure<'p>,
        key: Option<Value>,
        value: Value,
    ) {
        let (this, this_sound) = match self.apply(closure, key, value) {
            Some(outcome) => self.truth(outcome),
            None => {
                let unknown = self.opaque("element", Vec::new());
                self.truth(unknown)
            }
        };
        let this = if closure.op == QuantifierOp::Any { self.not(&this) } else { this };
        let skipped = self.not(truth);
        *sound = std::mem::replace(sound, Formula::True).and(skipped.or(this_sound));
        *truth = std::mem::replace(truth, Formula::True).and(this);
    }

    /// The body over any element: its truth (for `any`, the opposite), and whether it is without fault.
    fn generic(
        &mut self,
        of: &Rc<Collection>,
        closure: &Closure<'p>,
    ) -> Option<(Formula, Formula)> {
        let (key, value) = self.bound(of, closure)?;
        let outcome = self.apply(closure, key, value)?;
        let (truth, sound) = self.truth(outcome);
        let truth = if closure.op == QuantifierOp::Any { self.not(&truth) } else { truth };
        Some((truth, sound))
    }

    /// Any element of a collection, with its key.
    fn bound(
        &mut self,
        of: &Rc<Collection>,
        closure: &Closure<'p>,
    ) -> Option<(Option<Value>, Value)> {
        // The index of an element of a set depends on the others.
        if of.kind() == Kind::Set && closure.binders.len() > 1 {
            return None;
        }
        let ty = element_type(of)?;
        let depth = closure.env.depth * 2;
        let key = self.terms.intern(Op::Bound(depth), Vec::new());
        let key = match of.kind() {
            Kind::Map => Some(self.number(Sort::Text, key, (None, None))),
            _ => Some(self.number(Sort::Int, key, (Some(0), Some(i64::MAX.into())))),
        };
        let element = self.terms.intern(Op::Bound(depth + 1), Vec::new());
        Some((key, Value::Typed(ty, element)))
    }

    fn unknown_all(
        &mut self,
        of: &Rc<Collection>,
        closure: &Closure<'p>,
        generic: &Formula,
    ) -> (Formula, Formula) {
        let of_term = self.term(&Value::Collection(of.clone()));
        let body = match generic {
            // The body is not known: the condition is one of its own.
            Formula::False => self.own(closure),
            known => self.terms.intern(Op::Formula(known.clone()), Vec::new()),
        };
        let truth = self.flag(Op::Quantified("all"), vec![of_term, body]);
        let term = self.terms.intern(Op::Quantified("all"), vec![of_term, body]);
        (truth, self.flag(Op::Sound, vec![term]))
    }

    /// A term for a body that is not understood, shared with no other.
    fn own(&mut self, closure: &Closure<'p>) -> TermId {
        let place = format!("body {} of {}", closure.body, self.vars.len());
        self.terms.intern(Op::Other(place), Vec::new())
    }

    /// Whether walking is without fault: sure where no body can fault.
    fn sound_of(
        &mut self,
        of: &Rc<Collection>,
        closure: &Closure<'p>,
        generic_sound: &Formula,
    ) -> Formula {
        if *generic_sound == Formula::True {
            return Formula::True;
        }
        self.unknown_all(of, closure, generic_sound).1
    }

    /// The exact sum of the bodies, or of how many it is true; and whether no body faults.
    fn sum(&mut self, of: &Rc<Collection>, closure: &Closure<'p>) -> (Linear, Formula) {
        let understood = self.summand_range(of, closure);
        let Some((generic, generic_sound)) = understood.filter(|_| self.step()) else {
            let body = self.own(closure);
            return self.unknown_sum(of, body);
        };
        let by_index = closure.binders.len() > 1;
        let counted = match &**of {
            Collection::Literal(Kind::List, items) => {
                let mut sum = Some(Linear::default());
                for (index, item) in items.iter().enumerate() {
                    let index = Value::Number(Sort::Int, Linear::constant(index as i128));
                    let summand = self.summand(closure, Some(index), item.clone());
                    sum = sum.zip(summand).and_then(|(sum, summand)| sum.plus(1, &summand));
                }
                sum
            }
            Collection::Literal(Kind::Set, items) if items.len() <= 1 => match items.first() {
                Some(item) => self.summand(closure, None, item.clone()),
                None => Some(Linear::default()),
            },
            Collection::Entries(entries) => {
                let mut sum = Some(Linear::default());
                for (key, value) in entries {
                    let summand = self.summand(closure, Some(key.clone()), value.clone());
                    sum = sum.zip(summand).and_then(|(sum, summand)| sum.plus(1, &summand));
                }
                sum
            }
            Collection::Append(inner, item) => {
                let index = Value::Number(Sort::Int, self.len(inner));
                let (sum, _) = self.sum(inner, closure);
                let summand = self.summand(closure, Some(index), item.clone());
                let times = i128::from(!mutant!("a sum forgets the last element"));
                summand.and_then(|summand| sum.plus(times, &summand))
            }
            Collection::Insert(inner, item) => {
                let (sum, _) = self.sum(inner, closure);
                let there = self.has(inner, item);
                let summand = self.summand(closure, None, item.clone());
                let more = summand.and_then(|summand| sum.plus(1, &summand));
                more.map(|more| self.choose_number(&there, sum, more))
            }
            Collection::Remove(inner, item) if !by_index => {
                let (sum, _) = self.sum(inner, closure);
                let there = self.has(inner, item);
                let summand = self.summand(closure, None, item.clone());
                let less = summand.and_then(|summand| sum.minus(&summand));
                less.map(|less| self.choose_number(&there, less, sum))
            }
            Collection::Drop(inner, key) => {
                let (sum, _) = self.sum(inner, closure);
                let (there, old) = self.at(inner, key);
                let summand = self.summand(closure, Some(key.clone()), old);
                let less = summand.and_then(|summand| sum.minus(&summand));
                less.map(|less| self.choose_number(&there, less, sum))
            }
            Collection::Put(inner, key, value) | Collection::Replace(inner, key, value) => {
                let (sum, _) = self.sum(inner, closure);
                let (there, old) = self.at(inner, key);
                let old = self.summand(closure, Some(key.clone()), old);
                let rest = old.and_then(|old| sum.minus(&old));
                let rest = rest.map(|rest| self.choose_number(&there, rest, sum));
                let new = self.summand(closure, Some(key.clone()), value.clone());
                rest.zip(new).and_then(|(rest, new)| rest.plus(1, &new))
            }
            _ => None,
        };
        match counted {
            Some(sum) => {
                let body = self.terms.intern(Op::Linear(generic), Vec::new());
                let sound = match generic_sound {
                    Formula::True => Formula::True,
                    _ => self.unknown_sum(of, body).1,
                };
                (sum, sound)
            }
            None => self.base_sum(of, generic, generic_sound),
        }
    }

    /// The body over any element, and whether it is without fault.
    fn summand_range(
        &mut self,
        of: &Rc<Collection>,
        closure: &Closure<'p>,
    ) -> Option<(Linear, Formula)> {
        let (key, value) = self.bound(of, closure)?;
        let outcome = self.apply(closure, key, value)?;
        let sound = outcome.sound.clone();
        match (closure.op, self.open(outcome.value)) {
            (QuantifierOp::Count, Value::Bool(truth)) => {
                Some((self.choose_number(&truth, Linear::constant(1), Linear::default()), sound))
            }
            (QuantifierOp::Count, _) => None,
            (_, Value::Number(sort, number)) if sort.is_number() => Some((number, sound)),
            _ => None,
        }
    }

    fn summand(
        &mut self,
        closure: &Closure<'p>,
        key: Option<Value>,
        value: Value,
    ) -> Option<Linear> {
        let outcome = self.apply(closure, key, value)?;
        match (closure.op, self.open(outcome.value)) {
            (QuantifierOp::Count, Value::Bool(truth)) => {
                Some(self.choose_number(&truth, Linear::constant(1), Linear::default()))
            }
            (QuantifierOp::Count, _) => None,
            (_, Value::Number(sort, number)) if sort.is_number() => Some(number),
            _ => None,
        }
    }

    /// A sum of which only the range is known: no more elements than there are, none out of its range.
    fn base_sum(
        &mut self,
        of: &Rc<Collection>,
        generic: Linear,
        generic_sound: Formula,
    ) -> (Linear, Formula) {
        let (least, greatest) = self.range(&generic);
        let body = self.terms.intern(Op::Linear(generic), Vec::new());
        let known = self.vars.len();
        let (sum, sound) = self.unknown_sum(of, body);
        let sound = if generic_sound == Formula::True { Formula::True } else { sound };
        if self.vars.len() > known {
            let len = self.len(of);
            // least · len ≤ sum ≤ greatest · len, since every summand is in the range.
            let lower = least.and_then(|least| Formula::le(&len.times(least)?, &sum));
            let upper = greatest.and_then(|greatest| Formula::le(&sum, &len.times(greatest)?));
            self.know(lower);
            self.know(upper);
        }
        (sum, sound)
    }

    fn unknown_sum(&mut self, of: &Rc<Collection>, body: TermId) -> (Linear, Formula) {
        let of = self.term(&Value::Collection(of.clone()));
        let term = self.terms.intern(Op::Quantified("sum"), vec![of, body]);
        let sum = Linear::var(self.var(term, None, None));
        (sum, self.flag(Op::Sound, vec![term]))
    }
}

/// The type of what is in a collection; none where it is only written out.
fn element_type(of: &Collection) -> Option<TypeId> {
    match of {
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
