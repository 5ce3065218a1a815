//! Symbolic collections: the effect of a change on size, membership and entries. A collection that
//! is known only by its term is described by variables, which satisfy the laws of collections.

use crate::encoder::{Encoder, SymbolicElement};
use crate::formula::Formula;
use crate::linear::Linear;
use crate::rules::ProofRule;
use crate::terms::{Op, TermId};
use crate::value::{Collection, CollectionKind, Encoded, Sort, SymbolicValue, TooMuch};
use std::rc::Rc;

impl Encoder<'_> {
    /// Encodes the number of elements of a collection.
    pub fn len(&mut self, collection: &Rc<Collection>) -> Encoded<Linear> {
        self.step()?;
        let changed = |len: &Linear, by: i128| len.offset(by).ok_or(TooMuch);
        Ok(match &**collection {
            Collection::Base { term, max, .. } => {
                let max = max.map_or(i128::from(i64::MAX), i128::from);
                let max = max - i128::from(mutant!("a collection of a type is never full"));
                let least = i128::from(mutant!("no collection is empty"));
                self.size(*term, (Some(least), Some(max)))
            }
            Collection::Literal(CollectionKind::Set, items)
                if items.len() > 1 && !mutant!("elements as written differ") =>
            {
                let term = self.term(&SymbolicValue::Collection(collection.clone()));
                self.size(term, (Some(1), Some(items.len() as i128)))
            }
            Collection::Literal(_, items) => Linear::constant(items.len() as i128),
            Collection::Entries(entries) => Linear::constant(entries.len() as i128),
            Collection::Append(inner, _) if mutant!("a longer list is as long") => {
                self.len(inner)?
            }
            Collection::Append(inner, _) => changed(&self.len(inner)?, 1)?,
            Collection::Replace(inner, ..) => self.len(inner)?,
            Collection::Insert(inner, item) | Collection::Put(inner, item, _) => {
                let len = self.len(inner)?;
                let there = self.has(inner, item)?;
                if mutant!("what is put in is never new") {
                    return Ok(len);
                }
                let more = changed(&len, 1)?;
                self.choose_number(&there, len, more)?
            }
            Collection::Remove(inner, item) | Collection::Drop(inner, item) => {
                let len = self.len(inner)?;
                let there = self.has(inner, item)?;
                let less = changed(&len, -1)?;
                if mutant!("what is taken out was there") {
                    less
                } else {
                    self.choose_number(&there, less, len)?
                }
            }
        })
    }

    fn size(&mut self, term: TermId, range: (Option<i128>, Option<i128>)) -> Linear {
        let len = self.terms.intern(Op::Len, vec![term]);
        Linear::var(self.var(len, range))
    }

    /// Encodes that a list or set contains an element, or that a map has a key. The caller ensures that `element` is
    /// not a missing value.
    pub fn has(
        &mut self,
        collection: &Rc<Collection>,
        element: &SymbolicValue,
    ) -> Encoded<Formula> {
        self.step()?;
        match &**collection {
            Collection::Base { .. } => self.base_has(collection, element),
            Collection::Literal(_, items) => {
                let most =
                    if mutant!("the last element as written is lost") { 1 } else { items.len() };
                let same = items.iter().take(most).map(|item| self.same(element, item));
                Ok(Formula::any(same.collect::<Encoded<Vec<_>>>()?))
            }
            Collection::Entries(entries) => {
                let same = entries.iter().map(|(key, _)| self.same(element, key));
                Ok(Formula::any(same.collect::<Encoded<Vec<_>>>()?))
            }
            Collection::Append(inner, item)
            | Collection::Insert(inner, item)
            | Collection::Put(inner, item, _) => {
                let before = self.has(inner, element)?;
                let same = self.same(element, item)?;
                let is_lost = mutant!("what is put in is not there");
                Ok(if is_lost {
                    before
                } else if mutant!("what is put in is alone") {
                    same
                } else {
                    same.or(before)
                })
            }
            Collection::Drop(inner, item) => self.has_other(inner, element, item),
            Collection::Remove(inner, item)
                if inner.kind() == CollectionKind::Set
                    || mutant!("a list loses all equal elements") =>
            {
                self.has_other(inner, element, item)
            }
            Collection::Remove(inner, item) => {
                // Only the first equal element of a list is removed; another one may be left.
                let before = self.has(inner, element)?;
                let other = self.has_other(inner, element, item)?;
                let after = self.unknown_has(collection, element);
                self.know(ProofRule::RemovedFromList, after.implies(before).ok_or(TooMuch)?)?;
                self.know(
                    ProofRule::RemovedFromList,
                    other.implies(after.clone()).ok_or(TooMuch)?,
                )?;
                Ok(after)
            }
            Collection::Replace(inner, ..) if mutant!("a replaced element is still there") => {
                self.has(inner, element)
            }
            Collection::Replace(..) => Ok(self.unknown_has(collection, element)),
        }
    }

    /// Encodes that a collection contains `element`, and that `element` differs from `item`.
    fn has_other(
        &mut self,
        collection: &Rc<Collection>,
        element: &SymbolicValue,
        item: &SymbolicValue,
    ) -> Encoded<Formula> {
        if mutant!("what is taken out stays") {
            return self.has(collection, element);
        }
        let same = self.same(element, item)?;
        let other = self.not(&same)?;
        Ok(self.has(collection, element)?.and(other))
    }

    fn unknown_has(&mut self, collection: &Rc<Collection>, element: &SymbolicValue) -> Formula {
        let args =
            vec![self.term(&SymbolicValue::Collection(collection.clone())), self.term(element)];
        self.flag(Op::Has, args)
    }

    fn base_has(
        &mut self,
        collection: &Rc<Collection>,
        element: &SymbolicValue,
    ) -> Encoded<Formula> {
        let Collection::Base { term, kind, of: ty, .. } = **collection else {
            return Ok(self.unknown_has(collection, element));
        };
        let at = self.term(element);
        let args =
            if mutant!("membership forgets the element") { vec![term] } else { vec![term, at] };
        let there = self.flag(Op::Has, args);
        let (key, value) = match kind {
            CollectionKind::Map => {
                let value = self.terms.intern(Op::At, vec![term, at]);
                (Some(element.clone()), SymbolicValue::Typed(ty, value))
            }
            _ => (None, element.clone()),
        };
        self.meet(collection, term, at, SymbolicElement { there: there.clone(), key, value })?;
        Ok(there)
    }

    /// Relates a new element of a base to the other elements, and to the statements about all
    /// elements. Elements that only occur in a body over any element are omitted, because they
    /// would displace elements that are needed.
    fn meet(
        &mut self,
        collection: &Rc<Collection>,
        base: TermId,
        at: TermId,
        element: SymbolicElement,
    ) -> Encoded<()> {
        if self.generic > 0 {
            return Ok(());
        }
        let by_key = element.key.is_some();
        let asked = self.asked.entry(base).or_default();
        if asked.met.contains(&(at, by_key)) || !Encoder::is_few(asked.elements.len()) {
            return Ok(());
        }
        let others = asked.elements.clone();
        let universal = asked.universal.clone();
        asked.met.push((at, by_key));
        asked.elements.push(element.clone());
        let len = self.len(collection)?;
        let least = 1 + i128::from(mutant!("a member has company"));
        let some = Formula::le(&Linear::constant(least), &len).ok_or(TooMuch)?;
        self.know(ProofRule::MemberCounts, element.there.implies(some).ok_or(TooMuch)?)?;
        for other in others {
            self.compare_elements(&element, &other)?;
        }
        for universal in universal {
            self.instantiate(&universal, &element)?;
        }
        Ok(())
    }

    /// States that equal elements are both present or both missing, and that entries with equal
    /// keys have equal values.
    fn compare_elements(&mut self, a: &SymbolicElement, b: &SymbolicElement) -> Encoded<()> {
        let same = match (&a.key, &b.key) {
            (Some(mine), Some(theirs)) => self.same(mine, theirs)?,
            (None, None) => self.same(&a.value, &b.value)?,
            _ => return Ok(()),
        };
        let given = if mutant!("all elements are equal") { Formula::True } else { same.clone() };
        let alike = a.there.iff(&b.there).ok_or(TooMuch)?;
        self.know(ProofRule::EqualMembers, given.implies(alike).ok_or(TooMuch)?)?;
        if a.key.is_some() {
            let equal = self.same(&a.value, &b.value)?;
            let same = if mutant!("all entries are equal") { a.there.clone() } else { same };
            self.know(ProofRule::EqualEntries, same.implies(equal).ok_or(TooMuch)?)?;
        }
        Ok(())
    }

    /// Encodes the value at a key of a map or at an index of a list: its presence, and the value.
    pub fn at(
        &mut self,
        collection: &Rc<Collection>,
        key: &SymbolicValue,
    ) -> Encoded<(Formula, SymbolicValue)> {
        self.step()?;
        Ok(match (&**collection, key) {
            (Collection::Base { term, kind: CollectionKind::Map, of: ty, .. }, _) => {
                let there = self.base_has(collection, key)?;
                let at = self.term(key);
                let args =
                    if mutant!("all entries are one") { vec![*term] } else { vec![*term, at] };
                let value = self.terms.intern(Op::At, args);
                (there, SymbolicValue::Typed(*ty, value))
            }
            (
                Collection::Base { term, kind: CollectionKind::List, of: ty, .. },
                SymbolicValue::Number(Sort::Int, index),
            ) => {
                let there = self.in_list(collection, index)?;
                let at = self.term(key);
                let value = SymbolicValue::Typed(*ty, self.terms.intern(Op::At, vec![*term, at]));
                let key = Some(key.clone());
                let element = SymbolicElement { there: there.clone(), key, value: value.clone() };
                self.meet(collection, *term, at, element)?;
                (there, value)
            }
            (
                Collection::Literal(CollectionKind::List, items),
                SymbolicValue::Number(Sort::Int, index),
            ) => {
                let there = self.in_list(collection, index)?;
                let known = index.as_constant().and_then(|at| items.get(usize::try_from(at).ok()?));
                match known {
                    Some(item) => (there, item.clone()),
                    None => (there, self.unknown_at(collection, key)),
                }
            }
            (Collection::Append(inner, item), SymbolicValue::Number(Sort::Int, index)) => {
                let len = self.len(inner)?;
                let len = if mutant!("the last index is the size") {
                    len.offset(1).ok_or(TooMuch)?
                } else {
                    len
                };
                let last = Formula::eq(index, &len).ok_or(TooMuch)?;
                let (there, value) = self.at(inner, key)?;
                (last.clone().or(there), self.choose(&last, item.clone(), value)?)
            }
            (Collection::Entries(entries), _) => {
                let mut found = (Formula::False, self.unknown_at(collection, key));
                for (known, value) in entries {
                    let same = self.same(key, known)?;
                    found.1 = self.choose(&same, value.clone(), found.1)?;
                    found.0 = same.or(found.0);
                }
                found
            }
            (Collection::Put(inner, known, value), _) => {
                let same = self.same(key, known)?;
                let (there, before) = self.at(inner, key)?;
                let value = if mutant!("an entry keeps its value") { &before } else { value };
                let value = self.choose(&same, value.clone(), before.clone())?;
                (same.or(there), value)
            }
            (Collection::Replace(inner, known, value), _) => {
                let same = self.same(key, known)?;
                let (there, before) = self.at(inner, key)?;
                let value = if mutant!("an element keeps its value") { &before } else { value };
                (there, self.choose(&same, value.clone(), before.clone())?)
            }
            (Collection::Drop(inner, known), _) => {
                let same = self.same(key, known)?;
                let (there, value) = self.at(inner, key)?;
                let there = if mutant!("a dropped entry is still there") {
                    there
                } else {
                    self.not(&same)?.and(there)
                };
                (there, value)
            }
            _ => {
                let args =
                    vec![self.term(&SymbolicValue::Collection(collection.clone())), self.term(key)];
                let op = if mutant!("an index is an element") { Op::Has } else { Op::HasIndex };
                (self.flag(op, args), self.unknown_at(collection, key))
            }
        })
    }

    fn in_list(&mut self, collection: &Rc<Collection>, index: &Linear) -> Encoded<Formula> {
        let len = self.len(collection)?;
        let lower = Formula::le(&Linear::default(), index).ok_or(TooMuch)?;
        let upper = if mutant!("the size is an index") {
            Formula::le(index, &len)
        } else {
            Formula::lt(index, &len)
        };
        if mutant!("an index may be negative") {
            return upper.ok_or(TooMuch);
        }
        Ok(lower.and(upper.ok_or(TooMuch)?))
    }

    fn unknown_at(&mut self, collection: &Rc<Collection>, key: &SymbolicValue) -> SymbolicValue {
        let args = vec![self.term(&SymbolicValue::Collection(collection.clone())), self.term(key)];
        SymbolicValue::Opaque(self.terms.intern(Op::At, args))
    }
}
