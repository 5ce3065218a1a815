//! The meaning of expressions (semantics §1), in symbols: every node of a plan as a value over all states and
//! arguments, and as the condition under which computing it is without fault.

use crate::encoder::{Closure, Encoder, Env};
use crate::formula::Formula;
use crate::linear::Linear;
use crate::terms::{Op, TermId};
use crate::value::{Collection, Kind, Outcome, Sort, Value};
use guard_plan::builtin::Builtin;
use guard_plan::plan::{ClockPart, CompareOp, Expr, Node, NodeId, QuantifierOp, UrlPart};
use std::rc::Rc;

impl<'p> Encoder<'p> {
    /// The meaning of an expression.
    pub fn eval(&mut self, expr: &'p Expr, env: &Env<'p>) -> Outcome {
        self.node(expr, (expr.0.len() - 1) as NodeId, env)
    }

    /// Whether a condition is true, and whether deciding it is without fault.
    pub fn condition(&mut self, expr: &'p Expr, env: &Env<'p>) -> (Formula, Formula) {
        let outcome = self.eval(expr, env);
        self.truth(outcome)
    }

    /// An outcome as a condition.
    pub fn truth(&mut self, outcome: Outcome) -> (Formula, Formula) {
        let (there, value) = self.split(outcome.value);
        let sound = outcome.sound.and(there);
        match value {
            Value::Bool(truth) => (truth, sound),
            value => {
                let term = self.term(&value);
                let truth = self.flag(Op::Other("true".into()), vec![term]);
                let known = self.flag(Op::Sound, vec![term]);
                (truth, sound.and(known))
            }
        }
    }

    /// The body of a quantifier over one element.
    pub fn apply(
        &mut self,
        closure: &Closure<'p>,
        key: Option<Value>,
        value: Value,
    ) -> Option<Outcome> {
        let mut env = closure.env.clone();
        env.depth += 1;
        let locals = Rc::make_mut(&mut env.locals);
        match closure.binders {
            [slot] if closure.by_key => locals.push((*slot, key?)),
            [slot] => locals.push((*slot, value)),
            [first, second] => {
                locals.push((*first, key?));
                locals.push((*second, value));
            }
            _ => return None,
        }
        Some(self.node(closure.expr, closure.body, &env))
    }

    pub fn node(&mut self, expr: &'p Expr, id: NodeId, env: &Env<'p>) -> Outcome {
        if !self.step() {
            return self.opaque("too much", Vec::new());
        }
        match &expr.0[id as usize] {
            Node::None => Outcome::sound(self.none()),
            Node::Bool(truth) => Outcome::sound(Value::Bool(Formula::of(*truth))),
            Node::Int(number) => constant(Sort::Int, *number),
            Node::Decimal(units) => constant(Sort::Decimal, *units),
            Node::Duration(millis) => constant(Sort::Duration, *millis),
            Node::Time(at) => constant(Sort::Time, *at),
            Node::Enum(index) => constant(Sort::Enum, i64::from(*index)),
            Node::String(text) => Outcome::sound(self.text(text)),
            Node::Path(path) => self.named(Sort::Path, format!("path {path}"), Vec::new()),
            Node::Url(text) => self.named(Sort::Url, format!("url {text}"), Vec::new()),
            Node::Workspace => self.named(Sort::Path, "workspace".into(), Vec::new()),
            Node::Param(at) => match env.params.get(*at as usize) {
                Some(param) => {
                    let term = self.terms.intern(Op::Param(*at), Vec::new());
                    Outcome::sound(self.open(Value::Typed(param.ty, term)))
                }
                None => self.opaque("argument", Vec::new()),
            },
            Node::State(var) => Outcome::sound(self.state(*var, env)),
            Node::Local(slot) => match env.locals.iter().rev().find(|(bound, _)| bound == slot) {
                Some((_, value)) => Outcome::sound(value.clone()),
                None => self.opaque("local", Vec::new()),
            },
            Node::Result => match env.returns {
                Some(ty) => {
                    let term = self.terms.intern(Op::Result, Vec::new());
                    Outcome::sound(self.open(Value::Typed(ty, term)))
                }
                None => self.opaque("result", Vec::new()),
            },
            Node::Not(a) => {
                let (truth, sound) = self.bool(expr, *a, env);
                Outcome { value: Value::Bool(self.not(&truth)), sound }
            }
            Node::And(a, b) => self.connective(expr, (*a, true), *b, true, env),
            Node::Or(a, b) => self.connective(expr, (*a, true), *b, false, env),
            Node::Implies(a, b) => self.connective(expr, (*a, false), *b, false, env),
            Node::Compare(op, a, b) => {
                let (a, b) = (self.node(expr, *a, env), self.node(expr, *b, env));
                let compared = self.compare(*op, a.value, b.value);
                Outcome { sound: a.sound.and(b.sound).and(compared.sound), ..compared }
            }
            Node::Arith(op, a, b) => {
                let (a, b) = (self.node(expr, *a, env), self.node(expr, *b, env));
                let result = self.arith(*op, a.value, b.value);
                Outcome { sound: a.sound.and(b.sound).and(result.sound), ..result }
            }
            Node::Neg(a) => {
                let a = self.node(expr, *a, env);
                let result = self.negate(a.value);
                Outcome { sound: a.sound.and(result.sound), ..result }
            }
            Node::If(condition, then, other) => {
                let (condition, sound) = self.bool(expr, *condition, env);
                let (then, other) = (self.node(expr, *then, env), self.node(expr, *other, env));
                let opposite = self.not(&condition);
                let branches = opposite.or(then.sound).and(condition.clone().or(other.sound));
                let value = self.choose(&condition, then.value, other.value);
                Outcome { value, sound: sound.and(branches) }
            }
            Node::Else(a, b) => {
                let (a, b) = (self.node(expr, *a, env), self.node(expr, *b, env));
                let (there, value) = self.split(a.value);
                let sound = a.sound.and(there.clone().or(b.sound));
                Outcome { value: self.choose(&there, value, b.value), sound }
            }
            Node::IsSome(a) => {
                let a = self.node(expr, *a, env);
                let (there, _) = self.split(a.value);
                Outcome { value: Value::Bool(there), sound: a.sound }
            }
            Node::Unwrap(a) => {
                let a = self.node(expr, *a, env);
                let (there, value) = self.split(a.value);
                Outcome { value, sound: a.sound.and(there) }
            }
            Node::Field(a, at) => {
                let a = self.node(expr, *a, env);
                let (there, record) = self.split(a.value);
                match record {
                    Value::Record(fields) if (*at as usize) < fields.len() => {
                        let field = fields[*at as usize].clone();
                        Outcome { value: self.optional(there, field), sound: a.sound }
                    }
                    other => {
                        let args = vec![self.term(&other)];
                        self.opaque(format!("field {at}"), args)
                    }
                }
            }
            Node::Index(a, key) => self.index(expr, *a, *key, env),
            Node::In(a, b) => self.membership(expr, *a, *b, env),
            Node::Quantified { op, over, binders, body } => {
                self.quantifier(expr, (*op, over, binders, *body), env)
            }
            Node::List(ids) => self.literal(Kind::List, expr, ids, env),
            Node::Set(ids) => self.literal(Kind::Set, expr, ids, env),
            Node::Record(ids) => {
                let (fields, sound) = self.all_of(expr, ids, env);
                Outcome { value: Value::Record(fields), sound }
            }
            Node::Map(entries) => {
                let ids: Vec<NodeId> = entries.iter().map(|(_, id)| *id).collect();
                let (values, sound) = self.all_of(expr, &ids, env);
                let keys: Vec<Value> = entries.iter().map(|(key, _)| self.text(key)).collect();
                let entries = keys.into_iter().zip(values).collect();
                Outcome { value: Value::Collection(Rc::new(Collection::Entries(entries))), sound }
            }
            Node::Call(builtin, ids) => self.call(*builtin, expr, ids, env),
            node => self.asked(expr, node, env),
        }
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

    fn bool(&mut self, expr: &'p Expr, id: NodeId, env: &Env<'p>) -> (Formula, Formula) {
        let outcome = self.node(expr, id, env);
        self.truth(outcome)
    }

    /// `a and b`, `a or b`, `a implies b`: the right one only if needed.
    fn connective(
        &mut self,
        expr: &'p Expr,
        (a, as_is): (NodeId, bool),
        b: NodeId,
        and: bool,
        env: &Env<'p>,
    ) -> Outcome {
        let (a, sound_a) = self.bool(expr, a, env);
        let a = if as_is { a } else { self.not(&a) };
        let (b, sound_b) = self.bool(expr, b, env);
        let skipped = if and { self.not(&a) } else { a.clone() };
        let value = if and { a.and(b) } else { a.or(b) };
        Outcome { value: Value::Bool(value), sound: sound_a.and(skipped.or(sound_b)) }
    }

    fn all_of(&mut self, expr: &'p Expr, ids: &[NodeId], env: &Env<'p>) -> (Vec<Value>, Formula) {
        let mut sound = Formula::True;
        let mut values = Vec::with_capacity(ids.len());
        for id in ids {
            let outcome = self.node(expr, *id, env);
            values.push(outcome.value);
            sound = sound.and(outcome.sound);
        }
        (values, sound)
    }

    fn literal(&mut self, kind: Kind, expr: &'p Expr, ids: &[NodeId], env: &Env<'p>) -> Outcome {
        let (values, sound) = self.all_of(expr, ids, env);
        Outcome { value: Value::Collection(Rc::new(Collection::Literal(kind, values))), sound }
    }

    /// A comparison: with a missing option it is false, `!=` true.
    pub fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Outcome {
        let ((has_a, a), (has_b, b)) = (self.split(a), self.split(b));
        let there = has_a.and(has_b);
        if there == Formula::False {
            return Outcome::sound(Value::Bool(Formula::of(op == CompareOp::Ne)));
        }
        let (relation, sound) = match op {
            CompareOp::Eq | CompareOp::Ne => (self.same(&a, &b), Formula::True),
            op => self.order(op, &a, &b),
        };
        let absent = self.not(&there);
        let holds = there.and(relation);
        let holds = if op == CompareOp::Ne { self.not(&holds) } else { holds };
        Outcome { value: Value::Bool(holds), sound: absent.or(sound) }
    }

    fn order(&mut self, op: CompareOp, a: &Value, b: &Value) -> (Formula, Formula) {
        let args = vec![self.term(a), self.term(b)];
        if let (Value::Number(left, x), Value::Number(right, y)) = (a, b)
            && left == right
        {
            let relation = match op {
                CompareOp::Lt => Formula::lt(x, y),
                CompareOp::Le => Formula::le(x, y),
                CompareOp::Gt => Formula::lt(y, x),
                _ => Formula::le(y, x),
            };
            if left.is_ordered() {
                return (self.said(relation, "order", args), Formula::True);
            }
            if *left == Sort::Text {
                return (self.flag(Op::Other(format!("{op:?}")), args), Formula::True);
            }
        }
        let unknown = self.opaque(format!("{op:?}"), args);
        self.truth(unknown)
    }

    /// Whether two values are the same one; missing options are, here.
    pub fn same(&mut self, a: &Value, b: &Value) -> Formula {
        let (a, b) = (self.open(a.clone()), self.open(b.clone()));
        match (&a, &b) {
            (Value::Number(left, x), Value::Number(right, y)) if left == right => {
                let args = vec![self.term(&a), self.term(&b)];
                self.said(Formula::eq(x, y), "same", args)
            }
            (Value::Bool(x), Value::Bool(y)) => {
                let args = vec![self.term(&a), self.term(&b)];
                self.said(x.iff(y), "same", args)
            }
            (Value::Record(x), Value::Record(y)) if x.len() == y.len() && self.step() => {
                let same: Vec<Formula> = x.iter().zip(y).map(|(x, y)| self.same(x, y)).collect();
                Formula::all(same)
            }
            (Value::Option(..), _) | (_, Value::Option(..)) => {
                let ((has_a, a), (has_b, b)) = (self.split(a), self.split(b));
                let neither = self.not(&has_a).and(self.not(&has_b));
                neither.or(has_a.and(has_b).and(self.same(&a, &b)))
            }
            _ => {
                let mut args = vec![self.term(&a), self.term(&b)];
                args.sort_unstable();
                match args[0] == args[1] {
                    true => Formula::True,
                    false => self.flag(Op::Other("same".into()), args),
                }
            }
        }
    }

    fn index(&mut self, expr: &'p Expr, of: NodeId, key: NodeId, env: &Env<'p>) -> Outcome {
        let (of, key) = (self.node(expr, of, env), self.node(expr, key, env));
        let sound = of.sound.and(key.sound);
        let ((has_of, of), (has_key, key)) = (self.split(of.value), self.split(key.value));
        let there = has_of.and(has_key);
        if let Value::Collection(collection) = &of
            && indexes(collection.kind(), &key)
        {
            let (found, value) = self.at(collection, &key);
            return Outcome { value: self.optional(there.and(found), value), sound };
        }
        let args = vec![self.term(&of), self.term(&key)];
        let mut outcome = self.opaque("index", args);
        let found = self.term(&outcome.value);
        let found = self.flag(Op::IsSome, vec![found]);
        outcome.value = self.optional(there.and(found), outcome.value);
        Outcome { sound: sound.and(outcome.sound), ..outcome }
    }

    fn membership(&mut self, expr: &'p Expr, a: NodeId, b: NodeId, env: &Env<'p>) -> Outcome {
        let (a, b) = (self.node(expr, a, env), self.node(expr, b, env));
        let sound = a.sound.and(b.sound);
        let ((has_a, a), (has_b, b)) = (self.split(a.value), self.split(b.value));
        let there = has_a.and(has_b);
        let args = vec![self.term(&a), self.term(&b)];
        let (truth, known) = match &b {
            Value::Collection(collection) if has_keys(collection.kind(), &a) => {
                (self.has(collection, &a), Formula::True)
            }
            Value::Number(Sort::Text, _) if matches!(a, Value::Number(Sort::Text, _)) => {
                (self.flag(Op::Other("part of".into()), args), Formula::True)
            }
            _ => {
                let unknown = self.opaque("in", args);
                self.truth(unknown)
            }
        };
        Outcome { value: Value::Bool(there.and(truth)), sound: sound.and(known) }
    }

    fn quantifier(
        &mut self,
        expr: &'p Expr,
        (op, over, binders, body): (QuantifierOp, &'p [NodeId], &'p [u32], NodeId),
        env: &Env<'p>,
    ) -> Outcome {
        let (values, sound) = self.all_of(expr, over, env);
        let mut terms: Vec<TermId> = values.iter().map(|value| self.term(value)).collect();
        if let [value] = &values[..]
            && let Value::Collection(collection) = self.open(value.clone())
        {
            let by_key = binders.len() == 1 && collection.kind() == Kind::Map;
            let closure = Closure { op, expr, body, binders, by_key, env: env.clone() };
            let outcome = self.quantified(&collection, &closure);
            return Outcome { sound: sound.and(outcome.sound), ..outcome };
        }
        // Lists in step, or `json`: of the body only its term over any elements is known.
        let mut inner = env.clone();
        inner.depth += 1;
        for (at, slot) in (0..).zip(binders) {
            let bound = self.terms.intern(Op::Bound(1_000 + env.depth * 8 + at), Vec::new());
            Rc::make_mut(&mut inner.locals).push((*slot, Value::Opaque(bound)));
        }
        let body = self.node(expr, body, &inner);
        terms.push(self.term(&body.value));
        let name = format!("{op:?}");
        let term = self.terms.intern(Op::Other(name.clone()), terms.clone());
        let sort = match op {
            QuantifierOp::All | QuantifierOp::Any => None,
            QuantifierOp::SumDecimal => Some(Sort::Decimal),
            QuantifierOp::SumDuration => Some(Sort::Duration),
            QuantifierOp::Count | QuantifierOp::SumInt => Some(Sort::Int),
        };
        let value = match sort {
            None => Value::Bool(self.flag_of(term)),
            Some(sort) => self.number(sort, term, self.any()),
        };
        Outcome { value, sound: sound.and(self.flag(Op::Sound, vec![term])) }
    }

    fn call(&mut self, builtin: Builtin, expr: &'p Expr, ids: &[NodeId], env: &Env<'p>) -> Outcome {
        let (values, sound) = self.all_of(expr, ids, env);
        let values: Vec<Value> = values.into_iter().map(|value| self.open(value)).collect();
        let outcome = match self.numeric(builtin, &values) {
            Some(outcome) => outcome,
            None => self.textual(builtin, &values),
        };
        Outcome { sound: sound.and(outcome.sound), ..outcome }
    }

    fn textual(&mut self, builtin: Builtin, values: &[Value]) -> Outcome {
        use Builtin::{EndsWith, Glob, Len, Lower, StartsWith, Trim, Upper, VersionAtLeast};
        let terms: Vec<TermId> = values.iter().map(|value| self.term(value)).collect();
        let texts = values.iter().all(|value| matches!(value, Value::Number(Sort::Text, _)));
        let name = builtin.row().name.to_string();
        match (builtin, values) {
            (Len, [Value::Collection(collection)]) => {
                Outcome::sound(Value::Number(Sort::Int, self.len(collection)))
            }
            (Len, [Value::Number(Sort::Text, text)]) => {
                let known = text.as_constant().and_then(|text| self.text_of(text));
                if let Some(known) = known {
                    return constant(Sort::Int, known.chars().count() as i64);
                }
                let most = match (&text.terms[..], text.constant) {
                    ([(var, 1)], 0) => self.text_types.get(var).and_then(|ty| self.most_chars(*ty)),
                    _ => None,
                };
                let most = most.unwrap_or(i64::MAX as u64);
                let len = self.terms.intern(Op::Len, terms);
                Outcome::sound(self.number(Sort::Int, len, (Some(0), Some(most.into()))))
            }
            (Lower | Upper | Trim, _) if texts => self.named(Sort::Text, name, terms),
            (StartsWith | EndsWith | Glob | VersionAtLeast, _) if texts => {
                Outcome::sound(Value::Bool(self.flag(Op::Other(name), terms)))
            }
            _ => self.opaque(name, terms),
        }
    }

    fn most_chars(&self, ty: u32) -> Option<u64> {
        match self.plan.types.get(ty as usize) {
            Some(guard_plan::plan::TypeDef::String { max_chars, .. }) => *max_chars,
            _ => None,
        }
    }

    /// A text, path or url of which only the name is known, and which is always there.
    fn named(&mut self, sort: Sort, name: String, args: Vec<TermId>) -> Outcome {
        let term = self.terms.intern(Op::Other(name), args);
        Outcome::sound(self.number(sort, term, (None, None)))
    }

    /// What asks the text of a value, history, time, budgets or the world. Its answer is one variable: the same
    /// question has the same answer within a decision.
    fn asked(&mut self, expr: &'p Expr, node: &'p Node, env: &Env<'p>) -> Outcome {
        let mut children = Vec::new();
        node.for_each_child(&mut |child| children.push(child));
        let (values, sound) = self.all_of(expr, &children, env);
        let terms: Vec<TermId> = values.iter().map(|value| self.term(value)).collect();
        let name = name(node);
        let term = self.terms.intern(Op::Other(name.clone()), terms.clone());
        let any = self.any();
        let counted = (Some(0), any.1);
        let value = match node {
            Node::UrlPart(_, part) => return self.url_part(values, *part, sound),
            Node::Matches(..) | Node::Within(..) => return self.text_relation(node, values, sound),
            Node::Known(..) | Node::Called { .. } | Node::Failed { .. } => {
                Value::Bool(self.flag_of(term))
            }
            Node::Temporal(_) | Node::Exists(_) => Value::Bool(self.flag_of(term)),
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
        Outcome { value, sound: sound.and(known) }
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
        let name = format!("{part:?}");
        let outcome = match (&url, part) {
            (Value::Number(Sort::Url, _), UrlPart::Port) => {
                let term = self.terms.intern(Op::Other(name), vec![term]);
                Outcome::sound(self.number(Sort::Int, term, (Some(0), Some(65_535))))
            }
            (Value::Number(Sort::Url, _), _) => self.named(Sort::Text, name, vec![term]),
            _ => self.opaque(name, vec![term]),
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
            true => Outcome::sound(Value::Bool(self.flag(Op::Other(name(node)), terms))),
            false => self.opaque(name(node), terms),
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

/// What a node asks, apart from its operands.
fn name(node: &Node) -> String {
    match node {
        Node::Member(_, name) => format!("member {name}"),
        Node::UrlPart(_, part) => format!("{part:?}"),
        Node::Row(fact, _) => format!("row {fact}"),
        Node::Known(fact, _) => format!("known {fact}"),
        Node::Within(..) => "within".into(),
        Node::Matches(_, regex) => format!("matches {regex}"),
        Node::Called { tool, key, since, within } => {
            let index = key.as_ref().map(|(index, _)| *index);
            format!("called {tool} {index:?} {since:?} {within:?}")
        }
        Node::Exists(_) => "exists".into(),
        Node::Origin(_) => "origin".into(),
        // The others have no operands.
        leaf => format!("{leaf:?}"),
    }
}
