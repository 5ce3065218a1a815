//! The evaluator of prepared expressions.
//!
//! The evaluator is total: for every plan, an expression yields a value or a fault within a bounded
//! number of steps. It reads the session and never writes it.

pub(crate) mod arith;
mod builtins;
pub(crate) mod collections;
pub(crate) mod context;
mod history;
mod probe;

use crate::compiled::expr::{CompiledExpr, CompiledOp, Scalar, ScalarKind, ScalarLeaf};
use crate::val::{Val, confused};
use arith::arith;
use context::{Asking, Bindings, Context, Evaluated};
use guard_plan::json::Json;
use guard_plan::origin::Origin;
use guard_plan::plan::{ClockPart, CompareOp, Node, NodeId, UrlPart, VarId};
use guard_plan::time::{Civil, weekday};
use guard_plan::value::{Fault, Value};
use std::collections::{BTreeMap, BTreeSet};

impl<'a> Context<'a> {
    /// Evaluates an expression.
    pub fn eval(&self, expr: &'a CompiledExpr) -> Evaluated<'a> {
        self.node(expr, expr.root(), None)
    }

    /// Evaluates an expression that is usually a leaf.
    #[inline]
    pub fn eval_leaf(&self, expr: &'a CompiledExpr) -> Evaluated<'a> {
        self.operand(expr, expr.root(), None)
    }

    /// Evaluates an expression with some slots bound.
    pub fn eval_in(&self, expr: &'a CompiledExpr, scope: &Bindings<'_, 'a>) -> Evaluated<'a> {
        self.node(expr, expr.root(), Some(scope))
    }

    /// Evaluates an expression to an owned value, which does not borrow from the data it reads.
    pub fn eval_shown(&self, expr: &CompiledExpr) -> Result<Value, Fault> {
        // The expression may live shorter than `'a`: a context is covariant, so it is shortened
        // instead.
        fn eval(cx: Context<'_>, expr: &CompiledExpr) -> Result<Value, Fault> {
            shorter(cx, expr).map(Val::into_value)
        }
        fn shorter<'s>(cx: Context<'s>, expr: &'s CompiledExpr) -> Evaluated<'s> {
            cx.eval(expr)
        }
        eval(*self, expr)
    }

    /// Returns true if a condition holds.
    #[inline]
    pub fn holds(&self, expr: &'a CompiledExpr) -> Result<bool, Fault> {
        // Most conditions are one comparison, which does not need the frame that `truth` sets up to
        // recurse.
        if let CompiledOp::Scalars(_, op, a, b) = expr.op(expr.root())
            && let Some(holds) = self.compare_scalars(*op, *a, *b)
        {
            return Ok(holds);
        }
        self.truth(expr, expr.root(), None)
    }

    /// Returns true if a condition holds; an absent condition holds.
    pub fn holds_if_any(&self, expr: &'a Option<CompiledExpr>) -> Result<bool, Fault> {
        expr.as_ref().map_or(Ok(true), |expr| self.holds(expr))
    }

    /// Returns true if a node is true; the connectives are evaluated without building a value.
    fn truth(
        &self,
        expr: &'a CompiledExpr,
        id: NodeId,
        scope: Option<&Bindings<'_, 'a>>,
    ) -> Result<bool, Fault> {
        let truth = |id: &NodeId| self.truth(expr, *id, scope);
        let node = match expr.op(id) {
            CompiledOp::Scalars(node, op, a, b) => match self.compare_scalars(*op, *a, *b) {
                // The comparison counts as a step, because a quantifier repeats it.
                Some(holds) => return self.spend().map(|()| holds),
                None => node,
            },
            CompiledOp::Node(node) => node,
            _ => return self.node(expr, id, scope)?.truth(),
        };
        match node {
            Node::Compare(op, a, b) => {
                self.spend()?;
                let a = self.operand(expr, *a, scope)?;
                compare(*op, &a, &self.operand(expr, *b, scope)?)
            }
            Node::And(a, b) => self.spend().and_then(|()| Ok(truth(a)? && truth(b)?)),
            Node::Or(a, b) => self.spend().and_then(|()| Ok(truth(a)? || truth(b)?)),
            Node::Implies(a, b) => self.spend().and_then(|()| Ok(!truth(a)? || truth(b)?)),
            Node::Not(a) => self.spend().and_then(|()| Ok(!truth(a)?)),
            _ => self.node(expr, id, scope)?.truth(),
        }
    }

    /// Returns the scalar of a leaf; `None` if its current value is of another kind.
    #[inline(always)]
    fn scalar(&self, leaf: ScalarLeaf) -> Option<Scalar> {
        match leaf {
            ScalarLeaf::Scalar(scalar) => Some(scalar),
            ScalarLeaf::State(var) => match self.variable(var) {
                Value::Int(number) => Some(Scalar(ScalarKind::Int, *number)),
                Value::Decimal(units) => Some(Scalar(ScalarKind::Decimal, *units)),
                Value::Enum(index) => Some(Scalar(ScalarKind::Enum, i64::from(*index))),
                _ => None,
            },
            ScalarLeaf::Param(index) => match self.args.get(index as usize)? {
                Val::Int(number) => Some(Scalar(ScalarKind::Int, *number)),
                Val::Decimal(units) => Some(Scalar(ScalarKind::Decimal, *units)),
                Val::Enum(index) => Some(Scalar(ScalarKind::Enum, i64::from(*index))),
                _ => None,
            },
        }
    }

    /// Compares two leaves without building values; `None` if they are not scalars of the same
    /// kind.
    #[inline(always)]
    fn compare_scalars(&self, op: CompareOp, a: ScalarLeaf, b: ScalarLeaf) -> Option<bool> {
        let (Scalar(kind, a), Scalar(other, b)) = (self.scalar(a)?, self.scalar(b)?);
        (kind == other).then(|| op.holds(a.cmp(&b)))
    }

    /// Evaluates a node that is usually a leaf.
    #[inline(always)]
    fn operand(
        &self,
        expr: &'a CompiledExpr,
        id: NodeId,
        scope: Option<&Bindings<'_, 'a>>,
    ) -> Evaluated<'a> {
        match expr.op(id) {
            CompiledOp::Node(Node::Int(number)) => Ok(Val::Int(*number)),
            CompiledOp::Node(Node::Enum(index)) => Ok(Val::Enum(*index)),
            CompiledOp::Node(Node::Decimal(units)) => Ok(Val::Decimal(*units)),
            CompiledOp::Node(Node::State(var)) => Ok(self.state(*var)),
            CompiledOp::Node(Node::Param(index)) => self.param(*index),
            _ => self.node(expr, id, scope),
        }
    }

    /// Spends one step of the budget.
    #[inline(always)]
    fn spend(&self) -> Result<(), Fault> {
        let fuel = self.decision.fuel.get();
        if fuel == 0 {
            return Err(Fault::Decode("the decision takes too many steps".into()));
        }
        self.decision.fuel.set(fuel - 1);
        Ok(())
    }

    fn node(
        &self,
        expr: &'a CompiledExpr,
        id: NodeId,
        scope: Option<&Bindings<'_, 'a>>,
    ) -> Evaluated<'a> {
        self.spend()?;
        let node = match expr.op(id) {
            CompiledOp::Const(value) => return Ok(Val::from_value(value)),
            CompiledOp::Node(node) | CompiledOp::Scalars(node, ..) => node,
            CompiledOp::Place(node) => match self.place(expr, id) {
                Some(value) => return Ok(Val::from_value(value)),
                None => node,
            },
        };
        let eval = |id: &NodeId| self.node(expr, *id, scope);
        match node {
            Node::Bool(value) => Ok(Val::Bool(*value)),
            Node::Int(number) => Ok(Val::Int(*number)),
            Node::Decimal(units) => Ok(Val::Decimal(*units)),
            Node::Enum(index) => Ok(Val::Enum(*index)),
            Node::String(text) => Ok(Val::Str(text)),
            Node::Param(index) => self.param(*index),
            Node::State(var) => Ok(self.state(*var)),
            Node::Arith(op, a, b) => arith(*op, &eval(a)?, &eval(b)?),
            Node::Compare(..) | Node::Not(_) | Node::And(..) | Node::Or(..) | Node::Implies(..) => {
                self.truth(expr, id, scope).map(Val::Bool)
            }
            Node::If(condition, then, other) => {
                let branch = if self.truth(expr, *condition, scope)? { then } else { other };
                eval(branch)
            }
            Node::Else(a, b) => match eval(a)? {
                Val::None => eval(b),
                value => Ok(value),
            },
            Node::IsSome(a) => Ok(Val::Bool(!eval(a)?.is_none())),
            Node::Unwrap(a) => match eval(a)? {
                Val::None => Err(Fault::Missing(self.describe(expr, *a))),
                value => Ok(value),
            },
            Node::Field(a, index) => field(eval(a)?, *index as usize),
            Node::Index(a, key) => collections::index(eval(a)?, &eval(key)?),
            Node::In(a, b) => self.is_in(expr, *a, *b, scope).map(Val::Bool),
            Node::Local(slot) => local(*slot, scope),
            _ => self.rare(expr, node, scope),
        }
    }

    /// Evaluates the less frequent kinds of nodes.
    fn rare(
        &self,
        expr: &'a CompiledExpr,
        node: &'a Node,
        scope: Option<&Bindings<'_, 'a>>,
    ) -> Evaluated<'a> {
        let eval = |id: &NodeId| self.node(expr, *id, scope);
        match node {
            Node::None => Ok(Val::None),
            Node::Path(id) => match self.session.paths.get(*id as usize) {
                Some(path) => Ok(Val::Path(path)),
                None => Err(confused("an unknown path")),
            },
            Node::Duration(millis) => Ok(Val::Duration(*millis)),
            Node::Time(at) => Ok(Val::Time(*at)),
            Node::Neg(a) => arith::negate(&eval(a)?),
            Node::List(ids) => Ok(Val::Own(Value::List(self.all(expr, ids, scope)?))),
            Node::Set(ids) => {
                let items = BTreeSet::from_iter(self.all(expr, ids, scope)?);
                Ok(Val::Own(Value::Set(items)))
            }
            Node::Record(ids) => Ok(Val::Own(Value::Record(self.all(expr, ids, scope)?))),
            Node::Map(entries) => {
                let mut map = BTreeMap::new();
                for (key, id) in entries {
                    map.insert(key.as_str().into(), eval(id)?.into_value());
                }
                Ok(Val::Own(Value::Map(map)))
            }
            Node::Member(a, name) => Ok(member(eval(a)?, name)),
            Node::UrlPart(a, part) => url_part(eval(a)?, *part),
            Node::Within(a, b) => within(&eval(a)?, &eval(b)?).map(Val::Bool),
            Node::Matches(a, id) => match eval(a)? {
                Val::None => Ok(Val::Bool(false)),
                value => {
                    let text = value.text().or(value.path());
                    let text = text.ok_or_else(|| confused("a pattern over a non-text"))?;
                    Ok(Val::Bool(self.compiled.matches(*id, text)))
                }
            },
            Node::Call(builtin, ids) => {
                if let Some(value) = self.viewed(expr, *builtin, ids, scope)? {
                    return Ok(value);
                }
                let values = self.all(expr, ids, scope)?;
                let arguments: Vec<&Value> = values.iter().collect();
                builtin.eval(&arguments).map(Val::own)
            }
            Node::Quantified { op, over, binders, body } => {
                self.quantified(expr, *op, over, binders, *body, scope)
            }
            Node::Exists(a) => match eval(a)? {
                Val::None => Ok(Val::Bool(false)),
                value => {
                    let path = value.path();
                    let path = path.ok_or_else(|| confused("the existence of a non-path"))?;
                    self.answers.exists(path).map(Val::Bool)
                }
            },
            Node::ToKey(a, ty) => match eval(a)? {
                Val::None => Ok(Val::None),
                value => {
                    let types = &self.compiled.plan().types;
                    let text = guard_plan::map_key::text(types, *ty, &value.into_value());
                    let text = text.ok_or_else(|| confused("a key of another type"))?;
                    Ok(Val::Own(Value::String(text)))
                }
            },
            Node::FromKey(a, ty) => {
                let value = eval(a)?;
                if value.is_none() {
                    return Ok(Val::None);
                }
                let text = value.text().ok_or_else(|| confused("a key that is not a text"))?;
                let key = guard_plan::map_key::value(&self.compiled.plan().types, *ty, text);
                key.map(Val::own).ok_or_else(|| confused("a key of another type"))
            }
            Node::Probe(id) => self.probe(*id),
            Node::Seen(a) => {
                let value = eval(a)?.into_value();
                let text = guard_plan::origin::lookup(&value);
                let all = text.into_iter().flat_map(|text| {
                    self.session.origins.all(&text).map(|origin| Value::Enum(origin as u32))
                });
                Ok(Val::Own(Value::Set(all.collect())))
            }
            Node::MayRead(who, text) => {
                let who = eval(who)?.into_value();
                self.may_read(&who, &eval(text)?.into_value()).map(Val::Bool)
            }
            Node::Origin(a) => {
                let value = eval(a)?.into_value();
                let text = guard_plan::origin::lookup(&value);
                let origin =
                    text.map_or(Origin::Unknown, |text| self.session.origins.origin(&text));
                Ok(Val::Enum(origin as u32))
            }
            _ => self.asked(expr, node, scope),
        }
    }

    fn all(
        &self,
        expr: &'a CompiledExpr,
        ids: &[NodeId],
        scope: Option<&Bindings<'_, 'a>>,
    ) -> Result<Vec<Value>, Fault> {
        ids.iter().map(|id| self.node(expr, *id, scope).map(Val::into_value)).collect()
    }

    fn param(&self, index: u32) -> Evaluated<'a> {
        let args: &'a [Val<'a>] = self.args;
        args.get(index as usize).map(Val::view).ok_or_else(|| confused("a missing argument"))
    }

    /// Returns the simulated value of a variable, or else the committed one.
    #[inline]
    fn variable(&self, var: VarId) -> &'a Value {
        let simulated = self.writes.iter().find(|(written, _)| *written == var);
        simulated.map_or(&self.session.state[var as usize], |(_, value)| value)
    }

    #[inline]
    fn state(&self, var: VarId) -> Val<'a> {
        Val::from_value(self.variable(var))
    }

    /// Returns a part of a variable if the whole path to it exists; otherwise the general
    /// evaluation decides the result.
    fn place(&self, expr: &'a CompiledExpr, id: NodeId) -> Option<&'a Value> {
        match expr.op(id).node()? {
            Node::State(var) => Some(self.variable(*var)),
            Node::Field(a, field) => match self.place(expr, *a)? {
                Value::Record(fields) => fields.get(*field as usize),
                _ => None,
            },
            Node::Unwrap(a) => self.place(expr, *a).filter(|value| **value != Value::None),
            Node::Index(a, key) => {
                let Value::Map(entries) = self.place(expr, *a)? else { return None };
                match expr.op(*key).node()? {
                    Node::Param(param) => entries.get(self.args.get(*param as usize)?.text()?),
                    Node::String(key) => entries.get(key.as_str()),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the answer of a probe, decoded to its declared type.
    pub fn probe(&self, id: u32) -> Evaluated<'a> {
        let attempts = match self.decision.asking.get() {
            Asking::Now => self.attempts(id),
            Asking::Never => self
                .known_attempts(id)
                .ok_or_else(|| Fault::NoAnswer("the probe was not asked".into()))?,
            Asking::Later | Asking::Postponed => {
                self.decision.asking.set(Asking::Postponed);
                return Err(Fault::NoAnswer("the probe is asked later".into()));
            }
        };
        let answer = attempts.answer().ok_or_else(|| confused("a probe that was never asked"))?;
        answer.clone().map(Val::own)
    }

    fn clock(&self, part: ClockPart) -> Val<'a> {
        let at = Civil::from_millis(self.now);
        match part {
            ClockPart::Hour => Val::Int(at.hour),
            ClockPart::Minute => Val::Int(at.minute),
            ClockPart::Weekday => Val::Enum(weekday(self.now)),
            ClockPart::Day => Val::Int(at.day),
            ClockPart::Month => Val::Int(at.month),
            ClockPart::Year => Val::Int(at.year),
        }
    }

    /// Describes the subject of an expression roughly, by the names on its path.
    fn describe(&self, expr: &'a CompiledExpr, id: NodeId) -> String {
        let Some(node) = expr.op(id).node() else {
            return "a value".into();
        };
        let plan = self.compiled.plan();
        match node {
            Node::State(var) => format!("`{}`", plan.state[*var as usize].name),
            Node::Index(a, _) => format!("an entry of {}", self.describe(expr, *a)),
            Node::Member(a, name) => format!("`{name}` of {}", self.describe(expr, *a)),
            Node::Field(a, _) => format!("a field of {}", self.describe(expr, *a)),
            Node::Row(fact, _) => format!("a row of `{}`", plan.facts[*fact as usize].name),
            Node::LastArg(tool, _) | Node::LastResult(tool) => {
                format!("the last call of `{}`", plan.tools[*tool as usize].name)
            }
            Node::Result => "the result".into(),
            _ => "a value".into(),
        }
    }
}

pub(crate) fn local<'a>(slot: u32, mut scope: Option<&Bindings<'_, 'a>>) -> Evaluated<'a> {
    while let Some(inner) = scope {
        if let Some(at) = inner.slots.iter().position(|bound| *bound == slot) {
            return inner.values.get(at).cloned().ok_or_else(|| confused("a name without value"));
        }
        scope = inner.outer;
    }
    Err(confused("a name that is not bound"))
}

/// Compares two values. If an option is missing, every comparison except `!=` is false.
pub(crate) fn compare(op: CompareOp, a: &Val<'_>, b: &Val<'_>) -> Result<bool, Fault> {
    if a.is_none() || b.is_none() {
        return Ok(op == CompareOp::Ne);
    }
    Ok(match op {
        CompareOp::Eq => a.same(b),
        CompareOp::Ne => !a.same(b),
        _ => op.holds(a.order(b)?),
    })
}

fn field(value: Val<'_>, index: usize) -> Evaluated<'_> {
    let missing = || confused("a field of a value without fields");
    match value {
        Val::None => Ok(Val::None),
        Val::Ref(Value::Record(fields)) => {
            fields.get(index).map(Val::from_value).ok_or_else(missing)
        }
        Val::Own(Value::Record(mut fields)) if index < fields.len() => {
            // The owned record is dropped here, so the order of its other fields does not matter.
            Ok(Val::own(fields.swap_remove(index)))
        }
        _ => Err(missing()),
    }
}

fn member<'a>(value: Val<'a>, name: &str) -> Val<'a> {
    let find = |members: &'a [(Box<str>, Json)]| {
        members
            .iter()
            .find(|(key, _)| **key == *name)
            .map_or(Val::None, |(_, json)| Val::Json(json))
    };
    match value {
        Val::Json(Json::Object(members)) => find(members),
        Val::Own(Value::Json(json)) => match *json {
            Json::Object(members) => members
                .into_iter()
                .find(|(key, _)| **key == *name)
                .map_or(Val::None, |(_, json)| Val::Own(Value::Json(Box::new(json)))),
            _ => Val::None,
        },
        _ => Val::None,
    }
}

fn url_part(value: Val<'_>, part: UrlPart) -> Evaluated<'_> {
    if value.is_none() {
        return Ok(Val::None);
    }
    let text = |url: &guard_plan::url::Url| match part {
        UrlPart::Scheme => url.scheme.clone(),
        UrlPart::Host => url.host.clone(),
        UrlPart::Path => url.path.clone(),
        UrlPart::Port | UrlPart::Query => url.query.clone(),
    };
    match (value, part) {
        (Val::Ref(Value::Url(url)), UrlPart::Port) => Ok(Val::Int(url.port.into())),
        (Val::Own(Value::Url(url)), UrlPart::Port) => Ok(Val::Int(url.port.into())),
        (Val::Ref(Value::Url(url)), UrlPart::Scheme) => Ok(Val::Str(&url.scheme)),
        (Val::Ref(Value::Url(url)), UrlPart::Host) => Ok(Val::Str(&url.host)),
        (Val::Ref(Value::Url(url)), UrlPart::Path) => Ok(Val::Str(&url.path)),
        (Val::Ref(Value::Url(url)), UrlPart::Query) => Ok(Val::Str(&url.query)),
        (Val::Own(Value::Url(url)), _) => Ok(Val::Own(Value::String(text(&url)))),
        _ => Err(confused("a part of a value that is not a url")),
    }
}

fn within(a: &Val<'_>, b: &Val<'_>) -> Result<bool, Fault> {
    if a.is_none() || b.is_none() {
        return Ok(false);
    }
    match (a.path(), b.path()) {
        (Some(a), Some(b)) => Ok(guard_plan::path::within(a, b)),
        _ => Err(confused("containment of values that are not paths")),
    }
}
