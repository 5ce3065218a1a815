//! The symbolic semantics of expressions (semantics §1): every node of a plan as a value over all
//! states and arguments, with the condition that its evaluation is without fault.

use crate::bodies::written;
use crate::encoder::{Closure, Encoder, EncoderEnv};
use crate::formula::Formula;
use crate::linear::Linear;
use crate::terms::Op;
use crate::value::{
    Collection, CollectionKind, Encoded, Sort, SymbolicOutcome, SymbolicValue, TooMuch,
};
use guard_plan::plan::{CompareOp, Expr, Node, NodeId};
use std::rc::Rc;

impl<'p> Encoder<'p> {
    /// Encodes an expression.
    pub fn eval(&mut self, expr: &'p Expr, env: &EncoderEnv<'p>) -> Encoded<SymbolicOutcome> {
        self.node(expr, (expr.0.len() - 1) as NodeId, env)
    }

    /// Encodes two formulas: the condition is true, and its evaluation is without fault.
    pub fn condition(
        &mut self,
        expr: &'p Expr,
        env: &EncoderEnv<'p>,
    ) -> Encoded<(Formula, Formula)> {
        let outcome = self.eval(expr, env)?;
        Ok(self.truth(outcome))
    }

    /// Returns an outcome as a condition.
    pub fn truth(&mut self, outcome: SymbolicOutcome) -> (Formula, Formula) {
        let (there, value) = self.split(outcome.value);
        let sound = outcome.sound.and(there);
        match value {
            SymbolicValue::Bool(truth) => (truth, sound),
            value => {
                let term = self.term(&value);
                let truth = self.flag(Op::IsTrue, vec![term]);
                let known = self.flag(Op::Sound, vec![term]);
                (truth, sound.and(known))
            }
        }
    }

    /// Encodes the body of a quantifier for one element; `None` if the body reads a key that is not
    /// known.
    pub fn apply(
        &mut self,
        closure: &Closure<'p>,
        key: Option<SymbolicValue>,
        value: SymbolicValue,
    ) -> Encoded<Option<SymbolicOutcome>> {
        let mut env = closure.env.clone();
        let locals = Rc::make_mut(&mut env.locals);
        match (closure.binders, key) {
            ([slot], Some(key)) if closure.by_key => locals.push((*slot, key)),
            ([slot], _) if !closure.by_key => locals.push((*slot, value)),
            ([first, second], Some(key)) => {
                let pair = if mutant!("key and value are swapped") {
                    [(*first, value), (*second, key)]
                } else {
                    [(*first, key), (*second, value)]
                };
                locals.extend(pair);
            }
            _ => return Ok(None),
        }
        self.node(closure.expr, closure.body, &env).map(Some)
    }

    pub fn node(
        &mut self,
        expr: &'p Expr,
        id: NodeId,
        env: &EncoderEnv<'p>,
    ) -> Encoded<SymbolicOutcome> {
        self.step()?;
        if self.is_exhausted() && mutant!("too much is a value") {
            return Ok(self.applied(Op::Node("too much".into()), Vec::new()));
        }
        Ok(match &expr.0[id as usize] {
            Node::None => SymbolicOutcome::sound(self.none()),
            Node::Bool(truth) => {
                SymbolicOutcome::sound(SymbolicValue::Bool(Formula::constant(*truth)))
            }
            Node::Int(number) => constant(Sort::Int, *number),
            Node::Decimal(units) => constant(Sort::Decimal, *units),
            Node::Duration(millis) => constant(Sort::Duration, *millis),
            Node::Time(at) => constant(Sort::Time, *at),
            Node::Enum(index) => constant(Sort::Enum, i64::from(*index)),
            Node::String(text) => SymbolicOutcome::sound(self.text(text)),
            node @ (Node::Path(_) | Node::Workspace) => {
                self.named(Sort::Path, written(node), vec![])
            }
            node @ Node::Url(_) => self.named(Sort::Url, written(node), vec![]),
            Node::Param(at) => match env.params.get(*at as usize) {
                Some(param) => {
                    let at = if mutant!("all arguments are the first") { 0 } else { *at };
                    let term = self.terms.intern(Op::Param(at), Vec::new());
                    SymbolicOutcome::sound(self.open(SymbolicValue::Typed(param.ty, term)))
                }
                None => self.unknown(),
            },
            Node::State(var) => SymbolicOutcome::sound(self.state(*var, env)),
            Node::Local(slot) => match env.locals.iter().rev().find(|(bound, _)| bound == slot) {
                Some((_, value)) => SymbolicOutcome::sound(value.clone()),
                None => self.unknown(),
            },
            Node::Result => match env.returns {
                Some(ty) => {
                    let term = self.terms.intern(Op::Result, Vec::new());
                    SymbolicOutcome::sound(self.open(SymbolicValue::Typed(ty, term)))
                }
                None => self.unknown(),
            },
            Node::Not(a) => {
                let (truth, sound) = self.bool(expr, *a, env)?;
                SymbolicOutcome { value: SymbolicValue::Bool(self.not(&truth)?), sound }
            }
            Node::And(a, b) => self.connective(expr, (*a, true), *b, true, env)?,
            Node::Or(a, b) => self.connective(expr, (*a, true), *b, false, env)?,
            Node::Implies(a, b) if mutant!("`implies` is `or`") => {
                self.connective(expr, (*a, true), *b, false, env)?
            }
            Node::Implies(a, b) => self.connective(expr, (*a, false), *b, false, env)?,
            Node::Compare(op, a, b) => {
                let a = self.node(expr, *a, env)?;
                let b = self.node(expr, *b, env)?;
                let compared = self.compare(*op, a.value, b.value)?;
                SymbolicOutcome { sound: a.sound.and(b.sound).and(compared.sound), ..compared }
            }
            Node::Arith(op, a, b) => {
                let a = self.node(expr, *a, env)?;
                let b = self.node(expr, *b, env)?;
                let (left, right) = if mutant!("operands are swapped") {
                    (b.value, a.value)
                } else {
                    (a.value, b.value)
                };
                let result = self.arith(*op, left, right)?;
                let right_sound =
                    if mutant!("the right operand never faults") { Formula::True } else { b.sound };
                SymbolicOutcome { sound: a.sound.and(right_sound).and(result.sound), ..result }
            }
            Node::Neg(a) => {
                let a = self.node(expr, *a, env)?;
                let result = self.negate(a.value)?;
                SymbolicOutcome { sound: a.sound.and(result.sound), ..result }
            }
            Node::If(condition, then, other) => {
                let (condition, sound) = self.bool(expr, *condition, env)?;
                let then = self.node(expr, *then, env)?;
                let other = self.node(expr, *other, env)?;
                let opposite = self.not(&condition)?;
                let branches = if mutant!("only the first branch faults") {
                    opposite.or(then.sound)
                } else {
                    opposite.or(then.sound).and(condition.clone().or(other.sound))
                };
                let other_value = if mutant!("an `if` has one branch") {
                    then.value.clone()
                } else {
                    other.value
                };
                let value = self.choose(&condition, then.value, other_value)?;
                SymbolicOutcome { value, sound: sound.and(branches) }
            }
            Node::Else(a, b) => {
                let a = self.node(expr, *a, env)?;
                let b = self.node(expr, *b, env)?;
                let (there, value) = self.split(a.value);
                let sound = a.sound.and(there.clone().or(b.sound));
                let there = if mutant!("`else` is never needed") { Formula::True } else { there };
                SymbolicOutcome { value: self.choose(&there, value, b.value)?, sound }
            }
            Node::IsSome(a) => {
                let a = self.node(expr, *a, env)?;
                let (there, _) = self.split(a.value);
                let there = if mutant!("some is none") { self.not(&there)? } else { there };
                SymbolicOutcome { value: SymbolicValue::Bool(there), sound: a.sound }
            }
            Node::Unwrap(a) => {
                let a = self.node(expr, *a, env)?;
                let (there, value) = self.split(a.value);
                SymbolicOutcome { value, sound: a.sound.and(there) }
            }
            Node::Field(a, at) => {
                let a = self.node(expr, *a, env)?;
                let (there, record) = self.split(a.value);
                match record {
                    SymbolicValue::Record(fields) if (*at as usize) < fields.len() => {
                        let at = if mutant!("all fields are the first") { 0 } else { *at as usize };
                        SymbolicOutcome {
                            value: self.optional(there, fields[at].clone()),
                            sound: a.sound,
                        }
                    }
                    _ => self.unknown(),
                }
            }
            Node::Index(a, key) => self.index(expr, *a, *key, env)?,
            Node::In(a, b) => self.membership(expr, *a, *b, env)?,
            Node::Quantified { op, over, binders, body } => {
                self.quantifier(expr, (*op, over, binders, *body), env)?
            }
            Node::List(ids) => self.literal(CollectionKind::List, expr, ids, env)?,
            Node::Set(ids) => self.literal(CollectionKind::Set, expr, ids, env)?,
            Node::Record(ids) => {
                let (fields, sound) = self.all_of(expr, ids, env)?;
                SymbolicOutcome { value: SymbolicValue::Record(fields), sound }
            }
            Node::Map(entries) => {
                let ids: Vec<NodeId> = entries.iter().map(|(_, id)| *id).collect();
                let (values, sound) = self.all_of(expr, &ids, env)?;
                let mut known: Vec<&String> = entries.iter().map(|(key, _)| key).collect();
                known.sort();
                if known.windows(2).any(|pair| pair[0] == pair[1]) {
                    return Ok(self.unknown());
                }
                let keys: Vec<SymbolicValue> =
                    entries.iter().map(|(key, _)| self.text(key)).collect();
                let entries = keys.into_iter().zip(values).collect();
                SymbolicOutcome {
                    value: SymbolicValue::Collection(Rc::new(Collection::Entries(entries))),
                    sound,
                }
            }
            Node::Call(builtin, ids) => self.call(*builtin, expr, ids, env)?,
            node => self.asked(expr, node, env)?,
        })
    }

    /// Returns the value of a variable at the position of the expression.
    pub fn state(&mut self, var: u32, env: &EncoderEnv<'p>) -> SymbolicValue {
        if let Some((_, value)) = env.written.iter().rev().find(|(written, _)| *written == var) {
            return value.clone();
        }
        let term = self.terms.intern(Op::State(var), Vec::new());
        match self.plan.state.get(var as usize) {
            Some(declared) => self.open(SymbolicValue::Typed(declared.ty, term)),
            None => SymbolicValue::Opaque(term),
        }
    }

    fn bool(
        &mut self,
        expr: &'p Expr,
        id: NodeId,
        env: &EncoderEnv<'p>,
    ) -> Encoded<(Formula, Formula)> {
        let outcome = self.node(expr, id, env)?;
        Ok(self.truth(outcome))
    }

    /// Encodes `a and b`, `a or b` and `a implies b`. The right operand counts only if it is
    /// needed.
    fn connective(
        &mut self,
        expr: &'p Expr,
        (a, as_is): (NodeId, bool),
        b: NodeId,
        and: bool,
        env: &EncoderEnv<'p>,
    ) -> Encoded<SymbolicOutcome> {
        let (a, sound_a) = self.bool(expr, a, env)?;
        let a = if as_is { a } else { self.not(&a)? };
        let (b, sound_b) = self.bool(expr, b, env)?;
        let skipped =
            if and != mutant!("the other side is skipped") { self.not(&a)? } else { a.clone() };
        let value = if and { a.and(b) } else { a.or(b) };
        if mutant!("the right side never faults") {
            return Ok(SymbolicOutcome { value: SymbolicValue::Bool(value), sound: sound_a });
        }
        Ok(SymbolicOutcome {
            value: SymbolicValue::Bool(value),
            sound: sound_a.and(skipped.or(sound_b)),
        })
    }

    pub(crate) fn all_of(
        &mut self,
        expr: &'p Expr,
        ids: &[NodeId],
        env: &EncoderEnv<'p>,
    ) -> Encoded<(Vec<SymbolicValue>, Formula)> {
        let mut sound = Formula::True;
        let mut values = Vec::with_capacity(ids.len());
        for id in ids {
            let outcome = self.node(expr, *id, env)?;
            values.push(outcome.value);
            sound = sound.and(outcome.sound);
        }
        Ok((values, sound))
    }

    fn literal(
        &mut self,
        kind: CollectionKind,
        expr: &'p Expr,
        ids: &[NodeId],
        env: &EncoderEnv<'p>,
    ) -> Encoded<SymbolicOutcome> {
        let (values, sound) = self.all_of(expr, ids, env)?;
        let mut there = Formula::True;
        let mut items = Vec::with_capacity(values.len());
        for value in values {
            let (some, item) = self.split(value);
            there = there.and(some);
            items.push(item);
        }
        // A collection of values that may be missing is not interpreted.
        if there != Formula::True {
            return Ok(self.unknown());
        }
        Ok(SymbolicOutcome {
            value: SymbolicValue::Collection(Rc::new(Collection::Literal(kind, items))),
            sound,
        })
    }

    /// Encodes a comparison. If an option is missing, it is false, except `!=`, which is true.
    pub fn compare(
        &mut self,
        op: CompareOp,
        a: SymbolicValue,
        b: SymbolicValue,
    ) -> Encoded<SymbolicOutcome> {
        let ((has_a, a), (has_b, b)) = (self.split(a), self.split(b));
        let there = if mutant!("only the left side is missing") { has_a } else { has_a.and(has_b) };
        if there == Formula::False {
            let missing = op == CompareOp::Ne || mutant!("what is missing compares");
            return Ok(SymbolicOutcome::sound(SymbolicValue::Bool(Formula::constant(missing))));
        }
        let (relation, sound) = match op {
            CompareOp::Eq | CompareOp::Ne => (self.same(&a, &b)?, Formula::True),
            op => self.order(op, &a, &b)?,
        };
        let absent = self.not(&there)?;
        if op == CompareOp::Ne && mutant!("what is missing differs from nothing") {
            let differs = self.not(&relation)?;
            return Ok(SymbolicOutcome {
                value: SymbolicValue::Bool(there.and(differs)),
                sound: absent.or(sound),
            });
        }
        let holds = there.and(relation);
        let holds = if op == CompareOp::Ne { self.not(&holds)? } else { holds };
        Ok(SymbolicOutcome { value: SymbolicValue::Bool(holds), sound: absent.or(sound) })
    }

    fn order(
        &mut self,
        op: CompareOp,
        a: &SymbolicValue,
        b: &SymbolicValue,
    ) -> Encoded<(Formula, Formula)> {
        let args = vec![self.term(a), self.term(b)];
        if let (SymbolicValue::Number(left, x), SymbolicValue::Number(right, y)) = (a, b)
            && left == right
        {
            let op = match op {
                CompareOp::Gt if mutant!("greater is at least") => CompareOp::Ge,
                CompareOp::Ge if mutant!("at least is at most") => CompareOp::Le,
                op => op,
            };
            let relation = match op {
                CompareOp::Lt => Formula::lt(x, y),
                CompareOp::Le => Formula::le(x, y),
                CompareOp::Gt => Formula::lt(y, x),
                _ => Formula::le(y, x),
            };
            if left.is_ordered() || mutant!("texts are ordered as numbers") {
                return Ok((relation.ok_or(TooMuch)?, Formula::True));
            }
            if *left == Sort::Text {
                return Ok((self.flag(Op::Node(format!("{op:?}")), args), Formula::True));
            }
        }
        let unknown = self.unknown();
        Ok(self.truth(unknown))
    }

    /// Encodes that two values are the same. Two missing options are the same here.
    pub fn same(&mut self, a: &SymbolicValue, b: &SymbolicValue) -> Encoded<Formula> {
        self.step()?;
        let a = self.open(a.clone());
        let b = self.open(b.clone());
        match (&a, &b) {
            (SymbolicValue::Number(left, x), SymbolicValue::Number(right, y)) if left == right => {
                Formula::eq(x, y).ok_or(TooMuch)
            }
            (SymbolicValue::Bool(x), SymbolicValue::Bool(y)) => x.iff(y).ok_or(TooMuch),
            (SymbolicValue::Record(x), SymbolicValue::Record(y)) if x.len() == y.len() => {
                let most = if mutant!("records are their first field") { 1 } else { x.len() };
                let same = x.iter().zip(y).take(most).map(|(x, y)| self.same(x, y));
                Ok(Formula::all(same.collect::<Encoded<Vec<_>>>()?))
            }
            (SymbolicValue::Option(..), _) | (_, SymbolicValue::Option(..)) => {
                let ((has_a, a), (has_b, b)) = (self.split(a), self.split(b));
                let neither = self.not(&has_a)?.and(self.not(&has_b)?);
                if mutant!("nothing is the same as nothing else") {
                    return Ok(has_a.and(has_b).and(self.same(&a, &b)?));
                }
                Ok(neither.or(has_a.and(has_b).and(self.same(&a, &b)?)))
            }
            _ => {
                let mut args = vec![self.term(&a), self.term(&b)];
                args.sort_unstable();
                Ok(if args[0] == args[1] { Formula::True } else { self.flag(Op::Same, args) })
            }
        }
    }

    fn index(
        &mut self,
        expr: &'p Expr,
        base: NodeId,
        key: NodeId,
        env: &EncoderEnv<'p>,
    ) -> Encoded<SymbolicOutcome> {
        let base = self.node(expr, base, env)?;
        let key = self.node(expr, key, env)?;
        let sound = base.sound.and(key.sound);
        let ((has_of, base), (has_key, key)) = (self.split(base.value), self.split(key.value));
        let there = has_of.and(has_key);
        if let SymbolicValue::Collection(collection) = &base
            && indexes(collection.kind(), &key)
        {
            let (found, value) = self.at(collection, &key)?;
            return Ok(SymbolicOutcome { value: self.optional(there.and(found), value), sound });
        }
        let args = vec![self.term(&base), self.term(&key)];
        let mut outcome = self.applied(Op::Node("Index".into()), args);
        let found = self.term(&outcome.value);
        let found = self.flag(Op::IsSome, vec![found]);
        outcome.value = self.optional(there.and(found), outcome.value);
        Ok(SymbolicOutcome { sound: sound.and(outcome.sound), ..outcome })
    }

    fn membership(
        &mut self,
        expr: &'p Expr,
        a: NodeId,
        b: NodeId,
        env: &EncoderEnv<'p>,
    ) -> Encoded<SymbolicOutcome> {
        let a = self.node(expr, a, env)?;
        let b = self.node(expr, b, env)?;
        let sound = a.sound.and(b.sound);
        let ((has_a, a), (has_b, b)) = (self.split(a.value), self.split(b.value));
        let there = has_a.and(has_b);
        let there = if mutant!("what is missing is a member") { Formula::True } else { there };
        let args = vec![self.term(&a), self.term(&b)];
        let (truth, known) = match &b {
            SymbolicValue::Collection(collection) if has_keys(collection.kind(), &a) => {
                (self.has(collection, &a)?, Formula::True)
            }
            SymbolicValue::Number(Sort::Text, _)
                if matches!(a, SymbolicValue::Number(Sort::Text, _)) =>
            {
                (self.flag(Op::Node("In".into()), args), Formula::True)
            }
            _ => {
                let unknown = self.applied(Op::Node("In".into()), args);
                self.truth(unknown)
            }
        };
        Ok(SymbolicOutcome {
            value: SymbolicValue::Bool(there.and(truth)),
            sound: sound.and(known),
        })
    }
}

pub(crate) fn constant(sort: Sort, number: i64) -> SymbolicOutcome {
    SymbolicOutcome::sound(SymbolicValue::Number(sort, Linear::constant(number.into())))
}

/// Returns true if a collection of this kind can be indexed by the value.
fn indexes(kind: CollectionKind, key: &SymbolicValue) -> bool {
    match key {
        SymbolicValue::Number(Sort::Int, _) => kind == CollectionKind::List,
        SymbolicValue::Number(Sort::Text, _) => kind == CollectionKind::Map,
        _ => false,
    }
}

/// Returns true if membership of the value in a collection of this kind is a valid question.
fn has_keys(kind: CollectionKind, element: &SymbolicValue) -> bool {
    kind != CollectionKind::Map || matches!(element, SymbolicValue::Number(Sort::Text, _))
}
