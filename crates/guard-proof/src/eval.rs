//! The meaning of expressions (semantics §1), in symbols: every node of a plan as a value over all states and
//! arguments, and as the condition under which computing it is without fault.

use crate::encoder::{Closure, Encoder, Env};
use crate::formula::Formula;
use crate::linear::Linear;
use crate::terms::{Op, TermId};
use crate::value::{Collection, Encoded, Kind, Outcome, Sort, TooMuch, Value};
use guard_plan::builtin::Builtin;
use guard_plan::plan::{ClockPart, CompareOp, Expr, Node, NodeId, QuantifierOp, UrlPart};
use std::rc::Rc;

impl<'p> Encoder<'p> {
    /// The meaning of an expression.
    pub fn eval(&mut self, expr: &'p Expr, env: &Env<'p>) -> Encoded<Outcome> {
        self.node(expr, (expr.0.len() - 1) as NodeId, env)
    }

    /// Whether a condition is true, and whether deciding it is without fault.
    pub fn condition(&mut self, expr: &'p Expr, env: &Env<'p>) -> Encoded<(Formula, Formula)> {
        let outcome = self.eval(expr, env)?;
        Ok(self.truth(outcome))
    }

    /// An outcome as a condition.
    pub fn truth(&mut self, outcome: Outcome) -> (Formula, Formula) {
        let (there, value) = self.split(outcome.value);
        let sound = outcome.sound.and(there);
        match value {
            Value::Bool(truth) => (truth, sound),
            value => {
                let term = self.term(&value);
                let truth = self.flag(Op::IsTrue, vec![term]);
                let known = self.flag(Op::Sound, vec![term]);
                (truth, sound.and(known))
            }
        }
    }

    /// The body of a quantifier over one element; none where the body names a key that is not known.
    pub fn apply(
        &mut self,
        closure: &Closure<'p>,
        key: Option<Value>,
        value: Value,
    ) -> Encoded<Option<Outcome>> {
        let mut env = closure.env.clone();
        let locals = Rc::make_mut(&mut env.locals);
        match (closure.binders, key) {
            ([slot], Some(key)) if closure.by_key => locals.push((*slot, key)),
            ([slot], _) if !closure.by_key => locals.push((*slot, value)),
            ([first, second], Some(key)) => {
                let pair = match mutant!("key and value are swapped") {
                    true => [(*first, value), (*second, key)],
                    false => [(*first, key), (*second, value)],
                };
                locals.extend(pair);
            }
            _ => return Ok(None),
        }
        self.node(closure.expr, closure.body, &env).map(Some)
    }

    pub fn node(&mut self, expr: &'p Expr, id: NodeId, env: &Env<'p>) -> Encoded<Outcome> {
        self.step()?;
        if self.is_exhausted() && mutant!("too much is a value") {
            return Ok(self.applied(Op::Node("too much".into()), Vec::new()));
        }
        Ok(match &expr.0[id as usize] {
            Node::None => Outcome::sound(self.none()),
            Node::Bool(truth) => Outcome::sound(Value::Bool(Formula::of(*truth))),
            Node::Int(number) => constant(Sort::Int, *number),
            Node::Decimal(units) => constant(Sort::Decimal, *units),
            Node::Duration(millis) => constant(Sort::Duration, *millis),
            Node::Time(at) => constant(Sort::Time, *at),
            Node::Enum(index) => constant(Sort::Enum, i64::from(*index)),
            Node::String(text) => Outcome::sound(self.text(text)),
            node @ (Node::Path(_) | Node::Workspace) => {
                self.named(Sort::Path, written(node), vec![])
            }
            node @ Node::Url(_) => self.named(Sort::Url, written(node), vec![]),
            Node::Param(at) => match env.params.get(*at as usize) {
                Some(param) => {
                    let at = if mutant!("all arguments are the first") { 0 } else { *at };
                    let term = self.terms.intern(Op::Param(at), Vec::new());
                    Outcome::sound(self.open(Value::Typed(param.ty, term)))
                }
                None => self.unknown(),
            },
            Node::State(var) => Outcome::sound(self.state(*var, env)),
            Node::Local(slot) => match env.locals.iter().rev().find(|(bound, _)| bound == slot) {
                Some((_, value)) => Outcome::sound(value.clone()),
                None => self.unknown(),
            },
            Node::Result => match env.returns {
                Some(ty) => {
                    let term = self.terms.intern(Op::Result, Vec::new());
                    Outcome::sound(self.open(Value::Typed(ty, term)))
                }
                None => self.unknown(),
            },
            Node::Not(a) => {
                let (truth, sound) = self.bool(expr, *a, env)?;
                Outcome { value: Value::Bool(self.not(&truth)?), sound }
            }
            Node::And(a, b) => self.connective(expr, (*a, true), *b, true, env)?,
            Node::Or(a, b) => self.connective(expr, (*a, true), *b, false, env)?,
            Node::Implies(a, b) if mutant!("`implies` is `or`") => {
                self.connective(expr, (*a, true), *b, false, env)?
            }
            Node::Implies(a, b) => self.connective(expr, (*a, false), *b, false, env)?,
            Node::Compare(op, a, b) => {
                let (a, b) = (self.node(expr, *a, env)?, self.node(expr, *b, env)?);
                let compared = self.compare(*op, a.value, b.value)?;
                Outcome { sound: a.sound.and(b.sound).and(compared.sound), ..compared }
            }
            Node::Arith(op, a, b) => {
                let (a, b) = (self.node(expr, *a, env)?, self.node(expr, *b, env)?);
                let (left, right) = match mutant!("operands are swapped") {
                    true => (b.value, a.value),
                    false => (a.value, b.value),
                };
                let result = self.arith(*op, left, right)?;
                let right_sound = match mutant!("the right operand never faults") {
                    true => Formula::True,
                    false => b.sound,
                };
                Outcome { sound: a.sound.and(right_sound).and(result.sound), ..result }
            }
            Node::Neg(a) => {
                let a = self.node(expr, *a, env)?;
                let result = self.negate(a.value)?;
                Outcome { sound: a.sound.and(result.sound), ..result }
            }
            Node::If(condition, then, other) => {
                let (condition, sound) = self.bool(expr, *condition, env)?;
                let (then, other) = (self.node(expr, *then, env)?, self.node(expr, *other, env)?);
                let opposite = self.not(&condition)?;
                let branches = match mutant!("only the first branch faults") {
                    true => opposite.or(then.sound),
                    false => opposite.or(then.sound).and(condition.clone().or(other.sound)),
                };
                let other_value = match mutant!("an `if` has one branch") {
                    true => then.value.clone(),
                    false => other.value,
                };
                let value = self.choose(&condition, then.value, other_value)?;
                Outcome { value, sound: sound.and(branches) }
            }
            Node::Else(a, b) => {
                let (a, b) = (self.node(expr, *a, env)?, self.node(expr, *b, env)?);
                let (there, value) = self.split(a.value);
                let sound = a.sound.and(there.clone().or(b.sound));
                let there = if mutant!("`else` is never needed") { Formula::True } else { there };
                Outcome { value: self.choose(&there, value, b.value)?, sound }
            }
            Node::IsSome(a) => {
                let a = self.node(expr, *a, env)?;
                let (there, _) = self.split(a.value);
                let there = if mutant!("some is none") { self.not(&there)? } else { there };
                Outcome { value: Value::Bool(there), sound: a.sound }
            }
            Node::Unwrap(a) => {
                let a = self.node(expr, *a, env)?;
                let (there, value) = self.split(a.value);
                Outcome { value, sound: a.sound.and(there) }
            }
            Node::Field(a, at) => {
                let a = self.node(expr, *a, env)?;
                let (there, record) = self.split(a.value);
                match record {
                    Value::Record(fields) if (*at as usize) < fields.len() => {
                        let at = if mutant!("all fields are the first") { 0 } else { *at as usize };
                        Outcome { value: self.optional(there, fields[at].clone()), sound: a.sound }
                    }
                    _ => self.unknown(),
                }
            }
            Node::Index(a, key) => self.index(expr, *a, *key, env)?,
            Node::In(a, b) => self.membership(expr, *a, *b, env)?,
            Node::Quantified { op, over, binders, body } => {
                self.quantifier(expr, (*op, over, binders, *body), env)?
            }
            Node::List(ids) => self.literal(Kind::List, expr, ids, env)?,
            Node::Set(ids) => self.literal(Kind::Set, expr, ids, env)?,
            Node::Record(ids) => {
                let (fields, sound) = self.all_of(expr, ids, env)?;
                Outcome { value: Value::Record(fields), sound }
            }
            Node::Map(entries) => {
                let ids: Vec<NodeId> = entries.iter().map(|(_, id)| *id).collect();
                let (values, sound) = self.all_of(expr, &ids, env)?;
                let mut known: Vec<&String> = entries.iter().map(|(key, _)| key).collect();
                known.sort();
                if known.windows(2).any(|pair| pair[0] == pair[1]) {
                    return Ok(self.unknown());
                }
                let keys: Vec<Value> = entries.iter().map(|(key, _)| self.text(key)).collect();
                let entries = keys.into_iter().zip(values).collect();
                Outcome { value: Value::Collection(Rc::new(Collection::Entries(entries))), sound }
            }
            Node::Call(builtin, ids) => self.call(*builtin, expr, ids, env)?,
            node => self.asked(expr, node, env)?,
        })
    }

    /// The value of a variable where the expression stands.
    pub fn state(&mut self, var: u32, env: &Env<'p>) -> Value {
        if let Some((_, value)) = env.written.iter().rev().find(|(written, _)| *written == var) {
            return value.clone();
        }
        let term = self.terms.intern(Op::State(var), Vec::new());
        match self.plan.state.get(var as usize) {
            Some(declared) => self.open(Value::Typed(declared.ty, term)),
            None => Value::Opaque(term),
        }
    }

    fn bool(&mut self, expr: &'p Expr, id: NodeId, env: &Env<'p>) -> Encoded<(Formula, Formula)> {
        let outcome = self.node(expr, id, env)?;
        Ok(self.truth(outcome))
    }

    /// `a and b`, `a or b`, `a implies b`: the right one only if needed.
    fn connective(
        &mut self,
        expr: &'p Expr,
        (a, as_is): (NodeId, bool),
        b: NodeId,
        and: bool,
        env: &Env<'p>,
    ) -> Encoded<Outcome> {
        let (a, sound_a) = self.bool(expr, a, env)?;
        let a = if as_is { a } else { self.not(&a)? };
        let (b, sound_b) = self.bool(expr, b, env)?;
        let skipped =
            if and != mutant!("the other side is skipped") { self.not(&a)? } else { a.clone() };
        let value = if and { a.and(b) } else { a.or(b) };
        if mutant!("the right side never faults") {
            return Ok(Outcome { value: Value::Bool(value), sound: sound_a });
        }
        Ok(Outcome { value: Value::Bool(value), sound: sound_a.and(skipped.or(sound_b)) })
    }

    fn all_of(
        &mut self,
        expr: &'p Expr,
        ids: &[NodeId],
        env: &Env<'p>,
    ) -> Encoded<(Vec<Value>, Formula)> {
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
        kind: Kind,
        expr: &'p Expr,
        ids: &[NodeId],
        env: &Env<'p>,
    ) -> Encoded<Outcome> {
        let (values, sound) = self.all_of(expr, ids, env)?;
        let mut there = Formula::True;
        let mut items = Vec::with_capacity(values.len());
        for value in values {
            let (some, item) = self.split(value);
            there = there.and(some);
            items.push(item);
        }
        // What holds something that may be missing is not looked into.
        if there != Formula::True {
            return Ok(self.unknown());
        }
        Ok(Outcome { value: Value::Collection(Rc::new(Collection::Literal(kind, items))), sound })
    }

    /// A comparison: with a missing option it is false, `!=` true.
    pub fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Encoded<Outcome> {
        let ((has_a, a), (has_b, b)) = (self.split(a), self.split(b));
        let there = match mutant!("only the left side is missing") {
            true => has_a,
            false => has_a.and(has_b),
        };
        if there == Formula::False {
            let missing = op == CompareOp::Ne || mutant!("what is missing compares");
            return Ok(Outcome::sound(Value::Bool(Formula::of(missing))));
        }
        let (relation, sound) = match op {
            CompareOp::Eq | CompareOp::Ne => (self.same(&a, &b)?, Formula::True),
            op => self.order(op, &a, &b)?,
        };
        let absent = self.not(&there)?;
        if op == CompareOp::Ne && mutant!("what is missing differs from nothing") {
            let differs = self.not(&relation)?;
            return Ok(Outcome { value: Value::Bool(there.and(differs)), sound: absent.or(sound) });
        }
        let holds = there.and(relation);
        let holds = if op == CompareOp::Ne { self.not(&holds)? } else { holds };
        Ok(Outcome { value: Value::Bool(holds), sound: absent.or(sound) })
    }

    fn order(&mut self, op: CompareOp, a: &Value, b: &Value) -> Encoded<(Formula, Formula)> {
        let args = vec![self.term(a), self.term(b)];
        if let (Value::Number(left, x), Value::Number(right, y)) = (a, b)
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

    /// Whether two values are the same one; missing options are, here.
    pub fn same(&mut self, a: &Value, b: &Value) -> Encoded<Formula> {
        self.step()?;
        let (a, b) = (self.open(a.clone()), self.open(b.clone()));
        match (&a, &b) {
            (Value::Number(left, x), Value::Number(right, y)) if left == right => {
                Formula::eq(x, y).ok_or(TooMuch)
            }
            (Value::Bool(x), Value::Bool(y)) => x.iff(y).ok_or(TooMuch),
            (Value::Record(x), Value::Record(y)) if x.len() == y.len() => {
                let most = if mutant!("records are their first field") { 1 } else { x.len() };
                let same = x.iter().zip(y).take(most).map(|(x, y)| self.same(x, y));
                Ok(Formula::all(same.collect::<Encoded<Vec<_>>>()?))
            }
            (Value::Option(..), _) | (_, Value::Option(..)) => {
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
                Ok(match args[0] == args[1] {
                    true => Formula::True,
                    false => self.flag(Op::Same, args),
                })
            }
        }
    }

    fn index(
        &mut self,
        expr: &'p Expr,
        of: NodeId,
        key: NodeId,
        env: &Env<'p>,
    ) -> Encoded<Outcome> {
        let (of, key) = (self.node(expr, of, env)?, self.node(expr, key, env)?);
        let sound = of.sound.and(key.sound);
        let ((has_of, of), (has_key, key)) = (self.split(of.value), self.split(key.value));
        let there = has_of.and(has_key);
        if let Value::Collection(collection) = &of
            && indexes(collection.kind(), &key)
        {
            let (found, value) = self.at(collection, &key)?;
            return Ok(Outcome { value: self.optional(there.and(found), value), sound });
        }
        let args = vec![self.term(&of), self.term(&key)];
        let mut outcome = self.applied(Op::Node("Index".into()), args);
        let found = self.term(&outcome.value);
        let found = self.flag(Op::IsSome, vec![found]);
        outcome.value = self.optional(there.and(found), outcome.value);
        Ok(Outcome { sound: sound.and(outcome.sound), ..outcome })
    }

    fn membership(
        &mut self,
        expr: &'p Expr,
        a: NodeId,
        b: NodeId,
        env: &Env<'p>,
    ) -> Encoded<Outcome> {
        let (a, b) = (self.node(expr, a, env)?, self.node(expr, b, env)?);
        let sound = a.sound.and(b.sound);
        let ((has_a, a), (has_b, b)) = (self.split(a.value), self.split(b.value));
        let there = has_a.and(has_b);
        let there = if mutant!("what is missing is a member") { Formula::True } else { there };
        let args = vec![self.term(&a), self.term(&b)];
        let (truth, known) = match &b {
            Value::Collection(collection) if has_keys(collection.kind(), &a) => {
                (self.has(collection, &a)?, Formula::True)
            }
            Value::Number(Sort::Text, _) if matches!(a, Value::Number(Sort::Text, _)) => {
                (self.flag(Op::Node("In".into()), args), Formula::True)
            }
            _ => {
                let unknown = self.applied(Op::Node("In".into()), args);
                self.truth(unknown)
            }
        };
        Ok(Outcome { value: Value::Bool(there.and(truth)), sound: sound.and(known) })
    }

    fn quantifier(
        &mut self,
        expr: &'p Expr,
        (op, over, binders, body): (QuantifierOp, &'p [NodeId], &'p [u32], NodeId),
        env: &Env<'p>,
    ) -> Encoded<Outcome> {
        let (values, sound) = self.all_of(expr, over, env)?;
        let text = self.written_body(expr, body, binders, env)?;
        if let [value] = &values[..]
            && let Value::Collection(collection) = self.open(value.clone())
        {
            let by_key = binders.len() == 1 && collection.kind() == Kind::Map;
            let closure = Closure { op, expr, body, binders, by_key, env: env.clone(), text };
            let outcome = self.quantified(&collection, &closure)?;
            return Ok(Outcome { sound: sound.and(outcome.sound), ..outcome });
        }
        // Lists in step, `json`, or what may be missing: the same body over the same says the same.
        let mut terms: Vec<TermId> = values.iter().map(|value| self.term(value)).collect();
        terms.push(text);
        let term = self.terms.intern(Op::Quantified(op), terms);
        let value = match sum_sort(op) {
            None => Value::Bool(self.flag_of(term)),
            Some(sort) => self.number(sort, term, self.any()),
        };
        Ok(Outcome { value, sound: sound.and(self.flag(Op::Sound, vec![term])) })
    }

    /// The body of a quantifier as a term of its text: bound variables by their place, everything else that it reads by its
    /// term where it stands. Equal terms are equal functions of what is bound.
    fn written_body(
        &mut self,
        expr: &'p Expr,
        body: NodeId,
        binders: &[u32],
        env: &Env<'p>,
    ) -> Encoded<TermId> {
        let count = if mutant!("bound names do not count") { 0 } else { binders.len() };
        let mut bound: Vec<u32> = binders.to_vec();
        let body = self.written(expr, body, &mut bound, env)?;
        Ok(self.terms.intern(Op::Node(format!("body of {count}")), vec![body]))
    }

    fn written(
        &mut self,
        expr: &'p Expr,
        id: NodeId,
        bound: &mut Vec<u32>,
        env: &Env<'p>,
    ) -> Encoded<TermId> {
        self.step()?;
        let node = &expr.0[id as usize];
        let mut children = Vec::new();
        match node {
            Node::Local(slot) => {
                if let Some(place) = bound.iter().rposition(|known| known == slot) {
                    let place = if mutant!("all bound names are one") { 0 } else { place };
                    return Ok(self.terms.intern(Op::Bound(place as u32), Vec::new()));
                }
                let outer = env.locals.iter().rev().find(|(known, _)| known == slot);
                return Ok(match outer {
                    Some((_, value)) => self.term(&value.clone()),
                    None => self.terms.fresh(),
                });
            }
            Node::State(var) => {
                let env = match mutant!("a body reads the state before") {
                    true => &Env { written: Rc::default(), ..env.clone() },
                    false => env,
                };
                let value = self.state(*var, env);
                return Ok(self.term(&value));
            }
            Node::Quantified { over, binders, body, .. } => {
                for id in over {
                    children.push(self.written(expr, *id, bound, env)?);
                }
                bound.extend(binders);
                children.push(self.written(expr, *body, bound, env)?);
                bound.truncate(bound.len() - binders.len());
            }
            node => {
                let mut ids = Vec::new();
                node.for_each_child(&mut |child| ids.push(child));
                for id in ids {
                    children.push(self.written(expr, id, bound, env)?);
                }
            }
        }
        let text = if mutant!("all bodies are one") { "node".into() } else { written(node) };
        Ok(self.terms.intern(Op::Node(text), children))
    }

    fn call(
        &mut self,
        builtin: Builtin,
        expr: &'p Expr,
        ids: &[NodeId],
        env: &Env<'p>,
    ) -> Encoded<Outcome> {
        let (values, sound) = self.all_of(expr, ids, env)?;
        let values: Vec<Value> = values.into_iter().map(|value| self.open(value)).collect();
        let outcome = match self.numeric(builtin, &values)? {
            Some(outcome) => outcome,
            None => self.textual(builtin, &values)?,
        };
        Ok(Outcome { sound: sound.and(outcome.sound), ..outcome })
    }

    fn textual(&mut self, builtin: Builtin, values: &[Value]) -> Encoded<Outcome> {
        use Builtin::{
            EndsWith, Glob, Len, Lower, Mentions, StartsWith, Trim, Upper, VersionAtLeast,
        };
        let terms: Vec<TermId> = values.iter().map(|value| self.term(value)).collect();
        let texts = values.iter().all(|value| matches!(value, Value::Number(Sort::Text, _)));
        let name = match mutant!("all functions are one") {
            true => "function".to_string(),
            false => format!("{builtin:?}"),
        };
        Ok(match (builtin, values) {
            (Len, [Value::Collection(collection)]) => {
                Outcome::sound(Value::Number(Sort::Int, self.len(collection)?))
            }
            (Len, [Value::Number(Sort::Text, text)]) => {
                let known = text.as_constant().and_then(|text| self.text_of(text));
                if let Some(known) = known {
                    return Ok(constant(Sort::Int, known.chars().count() as i64));
                }
                let most = match (&text.terms[..], text.constant) {
                    ([(var, 1)], 0) => self.text_types.get(var).and_then(|ty| self.most_chars(*ty)),
                    _ => None,
                };
                let most = most.unwrap_or(i64::MAX as u64);
                let most = most - u64::from(mutant!("a text is shorter"));
                let len = self.terms.intern(Op::Len, terms);
                Outcome::sound(self.number(Sort::Int, len, (Some(0), Some(most.into()))))
            }
            (Lower | Upper | Trim, _) if texts => self.named(Sort::Text, name, terms),
            (StartsWith | EndsWith | Glob | VersionAtLeast | Mentions, _) if texts => {
                Outcome::sound(Value::Bool(self.flag(Op::Node(name), terms)))
            }
            _ => self.applied(Op::Node(name), terms),
        })
    }

    fn most_chars(&self, ty: u32) -> Option<u64> {
        match self.plan.types.get(ty as usize) {
            Some(guard_plan::plan::TypeDef::String { max_chars, .. }) => *max_chars,
            _ => None,
        }
    }

    /// A text, path or url of which only the name is known, and which is always there.
    fn named(&mut self, sort: Sort, name: String, args: Vec<TermId>) -> Outcome {
        let term = self.terms.intern(Op::Node(name), args);
        Outcome::sound(self.number(sort, term, (None, None)))
    }

    /// What asks the text of a value, history, time, budgets or the world. Its answer is one variable: the same
    /// question has the same answer within a decision.
    fn asked(&mut self, expr: &'p Expr, node: &'p Node, env: &Env<'p>) -> Encoded<Outcome> {
        let mut children = Vec::new();
        node.for_each_child(&mut |child| children.push(child));
        let (values, sound) = self.all_of(expr, &children, env)?;
        let terms: Vec<TermId> = values.iter().map(|value| self.term(value)).collect();
        let term = self.terms.intern(Op::Node(written(node)), terms);
        let any = self.any();
        let counted = (Some(0), any.1);
        let value = match node {
            Node::UrlPart(_, part) => return Ok(self.url_part(values, *part, sound)),
            Node::Matches(..) | Node::Within(..) => {
                return Ok(self.text_relation(node, values, sound));
            }
            Node::Known(..) | Node::Called { .. } | Node::Failed { .. } => {
                Value::Bool(self.flag_of(term))
            }
            Node::Temporal(_) | Node::Exists(_) => Value::Bool(self.flag_of(term)),
            Node::Said => self.number(Sort::Text, term, (None, None)),
            Node::Now => self.number(Sort::Time, term, any),
            Node::Elapsed | Node::RemainingTime => self.number(Sort::Duration, term, counted),
            Node::Remaining(_) | Node::Spent(_) => self.number(Sort::Decimal, term, any),
            Node::Calls { .. } => self.number(Sort::Int, term, counted),
            Node::Clock(ClockPart::Weekday) => self.number(Sort::Enum, term, (Some(0), Some(6))),
            Node::Clock(_) => self.number(Sort::Int, term, any),
            Node::Origin(_) => self.number(Sort::Enum, term, (Some(0), Some(3))),
            Node::Row(fact, _) => {
                let row = self.plan.facts.get(*fact as usize).map(|fact| fact.row);
                self.perhaps(term, row)
            }
            Node::LastArg(tool, at) => {
                let tool = self.plan.tools.get(*tool as usize);
                let param = tool.and_then(|tool| tool.params.get(*at as usize));
                self.perhaps(term, param.map(|param| param.ty))
            }
            Node::LastResult(tool) => {
                let returns = self.plan.tools.get(*tool as usize).and_then(|tool| tool.returns);
                self.perhaps(term, returns)
            }
            Node::Member(..) => self.perhaps(term, None),
            _ => Value::Opaque(term),
        };
        let known = self.flag(Op::Sound, vec![term]);
        Ok(Outcome { value, sound: sound.and(known) })
    }

    /// An option of which only the type is known.
    fn perhaps(&mut self, term: TermId, ty: Option<u32>) -> Value {
        let there = self.flag(Op::IsSome, vec![term]);
        let inner = self.terms.intern(Op::Inner, vec![term]);
        let inner = ty.map_or(Value::Opaque(inner), |ty| Value::Typed(ty, inner));
        self.optional(there, inner)
    }

    fn url_part(&mut self, values: Vec<Value>, part: UrlPart, sound: Formula) -> Outcome {
        let value = values.into_iter().next().unwrap_or_else(|| self.none());
        let (there, url) = self.split(value);
        let term = self.term(&url);
        let name = format!("{part:?} of a url");
        let outcome = match (&url, part) {
            (Value::Number(Sort::Url, _), UrlPart::Port) => {
                let term = self.terms.intern(Op::Node(name), vec![term]);
                Outcome::sound(self.number(Sort::Int, term, (Some(0), Some(65_535))))
            }
            (Value::Number(Sort::Url, _), _) => self.named(Sort::Text, name, vec![term]),
            _ => self.unknown(),
        };
        Outcome { value: self.optional(there, outcome.value), sound: sound.and(outcome.sound) }
    }

    /// `matches` and `within`: false of what is missing.
    fn text_relation(&mut self, node: &Node, values: Vec<Value>, sound: Formula) -> Outcome {
        let mut there = Formula::True;
        let mut terms = Vec::new();
        let mut fit = true;
        for value in values {
            let (some, value) = self.split(value);
            there = there.and(some);
            terms.push(self.term(&value));
            fit &= match (node, value) {
                (Node::Within(..), Value::Number(sort, _)) => sort == Sort::Path,
                (_, Value::Number(sort, _)) => matches!(sort, Sort::Text | Sort::Path),
                _ => false,
            };
        }
        let reflexive = matches!(node, Node::Within(..)) && terms.first() == terms.get(1);
        let outcome = match fit {
            true if reflexive => Outcome::sound(Value::Bool(Formula::True)),
            true => Outcome::sound(Value::Bool(self.flag(Op::Node(written(node)), terms))),
            false => self.unknown(),
        };
        let (truth, known) = self.truth(outcome);
        Outcome { value: Value::Bool(there.and(truth)), sound: sound.and(known) }
    }
}

fn constant(sort: Sort, number: i64) -> Outcome {
    Outcome::sound(Value::Number(sort, Linear::constant(number.into())))
}

/// Whether a collection can be indexed by this.
fn indexes(kind: Kind, key: &Value) -> bool {
    match key {
        Value::Number(Sort::Int, _) => kind == Kind::List,
        Value::Number(Sort::Text, _) => kind == Kind::Map,
        _ => false,
    }
}

/// Whether this can be asked to be in a collection.
fn has_keys(kind: Kind, element: &Value) -> bool {
    kind != Kind::Map || matches!(element, Value::Number(Sort::Text, _))
}

/// The sort of what a quantifier adds up; none where it is true or false.
pub(crate) fn sum_sort(op: QuantifierOp) -> Option<Sort> {
    match op {
        QuantifierOp::All | QuantifierOp::Any => None,
        QuantifierOp::SumDecimal => Some(Sort::Decimal),
        QuantifierOp::SumDuration => Some(Sort::Duration),
        QuantifierOp::Count | QuantifierOp::SumInt => Some(Sort::Int),
    }
}

/// A node as written, without its operands and the numbers of what it binds.
pub(crate) fn written(node: &Node) -> String {
    let mut node = node.clone();
    node.for_each_child_mut(&mut |child| *child = 0);
    if let Node::Quantified { binders, .. } = &mut node {
        binders.fill(0);
    }
    format!("{node:?}")
}
