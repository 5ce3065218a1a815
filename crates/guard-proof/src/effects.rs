//! Symbolic effects and observations: the changes of the state (semantics §3.8 and §4).

use crate::encoder::{Encoder, EncoderEnv};
use crate::formula::Formula;
use crate::linear::Linear;
use crate::rules::ProofRule;
use crate::terms::Op;
use crate::value::{
    Collection, CollectionKind, Encoded, Sort, SymbolicOutcome, SymbolicValue, TooMuch,
};
use guard_plan::plan::{ArithOp, EffectOp, Step, Target, Tool, TypeDef, TypeId};
use std::rc::Rc;

/// The maximum number of states after observations that are distinguished.
const MOST_STATES: usize = 8;

/// A state after some of a call's observations.
#[derive(Clone)]
pub struct ObservedState<'p> {
    /// The condition that exactly these observations are written, among those that are
    /// distinguished.
    pub when: Formula,
    /// The state.
    pub after: EncoderEnv<'p>,
}

impl<'p> Encoder<'p> {
    /// Returns the state after the effects of a call, and the condition that computing them is
    /// without fault. Operands and keys read the state before.
    pub fn simulate(
        &mut self,
        tool: &'p Tool,
        before: &EncoderEnv<'p>,
    ) -> Encoded<(EncoderEnv<'p>, Formula)> {
        let mut after = before.clone();
        let mut sound = Formula::True;
        let effects = tool.effects.iter().filter(|effect| !effect.rule.shadow);
        let most = if mutant!("only the first effect counts") { 1 } else { usize::MAX };
        for effect in effects.take(most) {
            if !effect.ranges.is_empty() && !mutant!("an effect on elements is on one") {
                // Nothing is known about a variable that was written once for each element.
                let written = self.unknown();
                sound = sound.and(written.sound);
                set(&mut after, effect.target.var, written.value);
                continue;
            }
            let read = if mutant!("effects read what others wrote") {
                after.clone()
            } else {
                before.clone()
            };
            let operand = effect.value.as_ref().map(|value| self.eval(value, &read)).transpose()?;
            let (operand, operand_sound) = match operand {
                Some(operand) => (Some(operand.value), operand.sound),
                None => (None, Formula::True),
            };
            let whole = self.state(effect.target.var, &after);
            let (way, way_sound) = self.way(&effect.target, before)?;
            let written = self.write(whole, &way, effect.op, operand)?;
            sound = Formula::all([sound, operand_sound, way_sound, written.sound]);
            set(&mut after, effect.target.var, written.value);
        }
        Ok((after, sound))
    }

    /// Returns the states after the observations of a call, for any subset of them that is written.
    /// A collection is unchanged in some of these states and written in others, because one state
    /// cannot contain a choice between two collections.
    pub fn observe(
        &mut self,
        tool: &'p Tool,
        before: &EncoderEnv<'p>,
    ) -> Encoded<Vec<ObservedState<'p>>> {
        let mut states = vec![ObservedState { when: Formula::True, after: before.clone() }];
        for observe in tool.observes.iter().filter(|observe| !observe.rule.shadow) {
            let value = self.eval(&observe.value, before)?;
            let (way, _) = self.way(&observe.target, before)?;
            let value = self.decoded(value.value, observe.ty);
            let var = observe.target.var;
            let is_written = self.fresh_flag();
            for mut state in std::mem::take(&mut states) {
                let whole = self.state(var, &state.after);
                let written =
                    self.write(whole.clone(), &way, EffectOp::Set, Some(value.clone()))?;
                // A value that does not fit is not written, so the variable has its type afterwards
                // in either case.
                let ty = self.plan.state.get(var as usize).map(|var| var.ty);
                let fits = match ty {
                    Some(ty) => self.fits(ty, &written.value)?,
                    None => Formula::False,
                };
                let happens = state.when.clone().and(is_written.clone());
                let fact = happens.implies(fits.and(written.sound)).ok_or(TooMuch)?;
                self.know(ProofRule::Observed, fact)?;
                let splits = matches!(written.value, SymbolicValue::Collection(_))
                    && states.len() < MOST_STATES;
                if splits && !mutant!("nothing is observed") {
                    let mut other = state.clone();
                    other.when = other.when.and(self.not(&is_written)?);
                    if !mutant!("all observations are written") {
                        states.push(other);
                    }
                    state.when = happens;
                    set(&mut state.after, var, written.value);
                } else {
                    let value = if mutant!("nothing is observed") {
                        whole
                    } else {
                        self.choose(&is_written, written.value, whole)?
                    };
                    set(&mut state.after, var, value);
                }
                states.push(state);
            }
        }
        Ok(states)
    }

    /// Returns an observed value. It has another type than its own if it was decoded from `json`.
    fn decoded(&mut self, value: SymbolicValue, ty: TypeId) -> SymbolicValue {
        let (there, value) = self.split(value);
        let value = match value {
            SymbolicValue::Opaque(term) => {
                SymbolicValue::Typed(ty, self.terms.intern(Op::Decoded(ty), vec![term]))
            }
            value => value,
        };
        self.optional(there, value)
    }

    fn way(
        &mut self,
        target: &'p Target,
        before: &EncoderEnv<'p>,
    ) -> Encoded<(Vec<SymbolicStep>, Formula)> {
        let mut sound = Formula::True;
        let mut way = Vec::with_capacity(target.path.len());
        for step in &target.path {
            way.push(match step {
                Step::Field(at) => SymbolicStep::Field(*at as usize),
                Step::Index(key) => {
                    let key = self.eval(key, before)?;
                    let (there, value) = self.split(key.value);
                    sound = Formula::all([sound, key.sound, there]);
                    SymbolicStep::Index(value)
                }
            });
        }
        Ok((way, sound))
    }

    /// Returns a value after one operation on a part of it.
    fn write(
        &mut self,
        value: SymbolicValue,
        way: &[SymbolicStep],
        op: EffectOp,
        operand: Option<SymbolicValue>,
    ) -> Encoded<SymbolicOutcome> {
        let Some((step, rest)) = way.split_first() else {
            return self.change(value, op, operand);
        };
        let (there, value) = self.split(value);
        Ok(match (step, &value) {
            (SymbolicStep::Field(at), SymbolicValue::Record(fields)) if *at < fields.len() => {
                let mut fields = fields.clone();
                let written = self.write(fields[*at].clone(), rest, op, operand)?;
                fields[*at] = written.value;
                SymbolicOutcome {
                    value: SymbolicValue::Record(fields),
                    sound: there.and(written.sound),
                }
            }
            (SymbolicStep::Index(key), SymbolicValue::Collection(map))
                if map.kind() == CollectionKind::Map
                    && matches!(key, SymbolicValue::Number(Sort::Text, _)) =>
            {
                self.write_entry(map, key, rest, op, operand, there)?
            }
            (SymbolicStep::Index(index), SymbolicValue::Collection(list))
                if list.kind() == CollectionKind::List
                    && matches!(index, SymbolicValue::Number(Sort::Int, _)) =>
            {
                let (found, element) = self.at(list, index)?;
                let written = self.write(element, rest, op, operand)?;
                let changed = Collection::Replace(list.clone(), index.clone(), written.value);
                let value = SymbolicValue::Collection(Rc::new(changed));
                SymbolicOutcome { value, sound: Formula::all([there, found, written.sound]) }
            }
            _ => self.unknown(),
        })
    }

    fn write_entry(
        &mut self,
        map: &Rc<Collection>,
        key: &SymbolicValue,
        rest: &[SymbolicStep],
        op: EffectOp,
        operand: Option<SymbolicValue>,
        there: Formula,
    ) -> Encoded<SymbolicOutcome> {
        let changed = |change| SymbolicValue::Collection(Rc::new(change));
        Ok(match (rest, op, operand) {
            ([], EffectOp::Delete, _) => {
                let value = changed(Collection::Drop(map.clone(), key.clone()));
                SymbolicOutcome { value, sound: there }
            }
            ([], EffectOp::Set, Some(operand)) => {
                let value = changed(Collection::Put(map.clone(), key.clone(), operand));
                SymbolicOutcome { value, sound: there }
            }
            (rest, op, operand) => {
                let (found, entry) = self.at(map, key)?;
                let written = self.write(entry, rest, op, operand)?;
                let value = changed(Collection::Put(map.clone(), key.clone(), written.value));
                let found =
                    if mutant!("a missing entry can be changed") { Formula::True } else { found };
                SymbolicOutcome { value, sound: Formula::all([there, found, written.sound]) }
            }
        })
    }

    fn change(
        &mut self,
        value: SymbolicValue,
        op: EffectOp,
        operand: Option<SymbolicValue>,
    ) -> Encoded<SymbolicOutcome> {
        let Some(operand) = operand else {
            return Ok(match op {
                EffectOp::Delete => SymbolicOutcome::sound(self.none()),
                _ => self.unknown(),
            });
        };
        let calculated = match op {
            EffectOp::Set => return Ok(SymbolicOutcome::sound(operand)),
            EffectOp::Subtract if mutant!("`-=` adds") => Some(ArithOp::Add),
            EffectOp::Multiply if mutant!("`*=` adds") => Some(ArithOp::Add),
            EffectOp::Add if mutant!("`+=` subtracts") => Some(ArithOp::Sub),
            EffectOp::Add => Some(ArithOp::Add),
            EffectOp::Subtract => Some(ArithOp::Sub),
            EffectOp::Multiply => Some(ArithOp::Mul),
            _ => None,
        };
        let (there, value) = self.split(value);
        if let Some(op) = calculated {
            let (value, operand) = if mutant!("a change takes its operands the other way round") {
                (operand, value)
            } else {
                (value, operand)
            };
            let result = self.arith(op, value, operand)?;
            return Ok(SymbolicOutcome { sound: there.and(result.sound), ..result });
        }
        let (has_operand, operand) = self.split(operand);
        let SymbolicValue::Collection(of) = &value else { return Ok(self.unknown()) };
        let collection = of.clone();
        let changed = match (op, collection.kind()) {
            _ if has_operand != Formula::True => return Ok(self.unknown()),
            (EffectOp::Append, CollectionKind::List) => Collection::Append(collection, operand),
            (EffectOp::Insert, CollectionKind::Set) => Collection::Insert(collection, operand),
            (EffectOp::Remove, CollectionKind::Set | CollectionKind::List) => {
                Collection::Remove(collection, operand)
            }
            (EffectOp::Remove, CollectionKind::Map)
                if matches!(operand, SymbolicValue::Number(Sort::Text, _)) =>
            {
                Collection::Drop(collection, operand)
            }
            _ => return Ok(self.unknown()),
        };
        Ok(SymbolicOutcome { value: SymbolicValue::Collection(Rc::new(changed)), sound: there })
    }

    /// Encodes that a value satisfies the refinements of a type.
    pub fn fits(&mut self, ty: TypeId, value: &SymbolicValue) -> Encoded<Formula> {
        self.step()?;
        if let SymbolicValue::Typed(of, _) = value
            && *of == ty
        {
            return Ok(Formula::True);
        }
        let value = self.open(value.clone());
        let plan = self.plan;
        let fits = match (plan.types.get(ty as usize), &value) {
            (Some(TypeDef::Option { of }), SymbolicValue::Option(there, inner)) => {
                Some(self.not(there)?.or(self.fits(*of, inner)?))
            }
            (Some(TypeDef::Option { .. }), _) if mutant!("an option fits anything") => {
                Some(Formula::True)
            }
            (Some(TypeDef::Option { of }), value) => Some(self.fits(*of, value)?),
            (_, SymbolicValue::Option(there, inner)) => {
                Some(there.clone().and(self.fits(ty, inner)?))
            }
            (Some(TypeDef::Bool), SymbolicValue::Bool(_)) => Some(Formula::True),
            (Some(TypeDef::Record { fields, .. }), SymbolicValue::Record(values))
                if fields.len() == values.len() =>
            {
                let most =
                    if mutant!("a record fits by its first field") { 1 } else { fields.len() };
                let fits = fields.iter().zip(values).take(most);
                let fits = fits.map(|(field, value)| self.fits(field.ty, value));
                Some(Formula::all(fits.collect::<Encoded<Vec<_>>>()?))
            }
            (Some(def), SymbolicValue::Number(sort, linear)) => {
                self.number_fits(def, ty, *sort, linear)?
            }
            (Some(def), SymbolicValue::Collection(collection)) => {
                self.collection_fits(def, collection)?
            }
            _ => None,
        };
        let term = self.term(&value);
        Ok(fits.unwrap_or_else(|| self.flag(Op::Fits(ty), vec![term])))
    }

    /// Encodes that a number satisfies the refinements of a type; `None` if that is not known.
    fn number_fits(
        &mut self,
        def: &TypeDef,
        ty: TypeId,
        sort: Sort,
        linear: &Linear,
    ) -> Encoded<Option<Formula>> {
        let Some((wanted, least, greatest)) = crate::value::number_of(def, self.width) else {
            return Ok(None);
        };
        if wanted != sort {
            return Ok(None);
        }
        if let (Some(least), Some(greatest)) = (least, greatest) {
            return Ok(Some(match self.range(linear) {
                (Some(low), Some(high)) if least <= low && high <= greatest => Formula::True,
                _ if mutant!("a type has no lower end") => {
                    Formula::le(linear, &Linear::constant(greatest)).ok_or(TooMuch)?
                }
                _ => Formula::between(linear, least, greatest).ok_or(TooMuch)?,
            }));
        }
        let same_type = match (&linear.terms[..], linear.constant) {
            ([(var, 1)], 0) => self.text_types.get(var) == Some(&ty),
            _ => false,
        };
        let TypeDef::String { max_chars, max_bytes, patterns } = def else {
            return Ok(Some(Formula::True));
        };
        let unrefined = max_chars.is_none() && max_bytes.is_none() && patterns.is_empty();
        let known = linear.as_constant().and_then(|text| self.text_of(text)).is_some_and(|text| {
            patterns.is_empty()
                && max_chars.is_none_or(|max| text.chars().count() as u64 <= max)
                && max_bytes.is_none_or(|max| text.len() as u64 <= max)
        });
        let fits = same_type || unrefined || known || mutant!("all texts fit");
        Ok(fits.then_some(Formula::True))
    }

    /// Encodes that a collection satisfies the refinements of a type; `None` if that is not known.
    fn collection_fits(
        &mut self,
        def: &TypeDef,
        value: &Rc<Collection>,
    ) -> Encoded<Option<Formula>> {
        let (kind, ty, most) = match def {
            TypeDef::List { of, max } => (CollectionKind::List, *of, max),
            TypeDef::Set { of, max } => (CollectionKind::Set, *of, max),
            TypeDef::Map { of, max, .. } => (CollectionKind::Map, *of, max),
            _ => return Ok(None),
        };
        if value.kind() != kind {
            return Ok(None);
        }
        let Some(elements) = self.elements_fit(ty, value)? else { return Ok(None) };
        let Some(most) = most.filter(|_| !mutant!("a collection is never full")) else {
            return Ok(Some(elements));
        };
        let len = self.len(value)?;
        if let (CollectionKind::Set, Some(variants)) = (kind, self.variants(ty)) {
            let variants = Linear::constant(variants);
            let few = Formula::le(&len, &variants).ok_or(TooMuch)?;
            let few = elements.implies(few).ok_or(TooMuch)?;
            self.know(ProofRule::FewVariants, few)?;
        }
        let most = Linear::constant(most.into());
        Ok(Some(elements.and(Formula::le(&len, &most).ok_or(TooMuch)?)))
    }

    /// Returns the number of values of a type; `None` if they cannot be counted.
    fn variants(&self, ty: TypeId) -> Option<i128> {
        let variants = match self.plan.types.get(ty as usize)? {
            TypeDef::Bool => 2,
            TypeDef::Enum { variants, .. } => variants.len() as i128,
            _ => return None,
        };
        Some(variants - i128::from(mutant!("an enum has one variant less")))
    }

    /// Encodes that all elements satisfy a type; `None` if that is not known. A replaced or removed
    /// element must be known to satisfy it: the given that a call's values satisfy their types does
    /// not cover an element that was removed.
    fn elements_fit(&mut self, ty: TypeId, value: &Rc<Collection>) -> Encoded<Option<Formula>> {
        let mut parts = Vec::new();
        let (inner, new) = match &**value {
            // Nothing is known about elements of another type.
            Collection::Base { of, .. } => return Ok((*of == ty).then_some(Formula::True)),
            Collection::Literal(_, items) => (None, items.iter().collect()),
            Collection::Entries(entries) => {
                (None, entries.iter().map(|(_, value)| value).collect::<Vec<_>>())
            }
            Collection::Append(inner, item)
            | Collection::Insert(inner, item)
            | Collection::Put(inner, _, item)
            | Collection::Replace(inner, _, item) => (Some(inner), vec![item]),
            Collection::Remove(inner, _) | Collection::Drop(inner, _) => (Some(inner), Vec::new()),
        };
        if let Some(inner) = inner {
            let Some(fits) = self.elements_fit(ty, inner)? else { return Ok(None) };
            let grows = matches!(**value, Collection::Append(..) | Collection::Insert(..));
            if fits != Formula::True && !grows {
                return Ok(None);
            }
            parts.push(fits);
        }
        for item in new {
            let fits =
                if mutant!("new elements fit") { Formula::True } else { self.fits(ty, item)? };
            parts.push(fits);
        }
        Ok(Some(Formula::all(parts)))
    }
}

/// One step of the path into a value, with its key evaluated.
enum SymbolicStep {
    Field(usize),
    Index(SymbolicValue),
}

fn set(env: &mut EncoderEnv<'_>, var: u32, value: SymbolicValue) {
    let written = Rc::make_mut(&mut env.written);
    written.retain(|(known, _)| *known != var);
    written.push((var, value));
}
