//! Evaluation of typed expressions, as defined in `docs/reference/semantics.md` §1, §2 and §6.
//!
//! It walks the tree and scans the history again each time. This is simple on purpose. Arithmetic
//! is done in 128 bits and then narrowed, but the kernel checks 64-bit operations.

use super::values::{
    and, arithmetic, compare, index, is_below, is_in, negate, number, opened, or, rows, url_part,
};
use super::{Answerer, Ask, Begun, PastSettlement, ReferenceSession};
use crate::hir::{Expr, ExprKind, Requirement, ToolId, Type};
use guard_plan::json::Json;
use guard_plan::plan::{ClockPart, QuantifierOp, TakenForms, TemporalOp, WindowSize};
use guard_plan::value::{Fault, Value};
use std::borrow::Cow;
use std::rc::Rc;

/// A value, or the reason why there is none.
pub(super) type EvaluatedExpr = Result<Value, Fault>;

/// A call that a condition asks about: its tool, its arguments by position, the tool whose calls it
/// must come after, and its age.
pub(super) struct AskedCall<'a> {
    pub tool: ToolId,
    pub key: &'a [(usize, Value)],
    pub since: Option<ToolId>,
    pub within: Option<i64>,
    /// The last settled call must be the success.
    pub latest: bool,
}

impl Requirement {
    /// Returns the requirement with the values of its key.
    pub(super) fn with<'a>(&self, key: &'a [(usize, Value)]) -> AskedCall<'a> {
        AskedCall {
            latest: self.latest,
            tool: self.tool,
            key,
            since: self.since,
            within: self.within,
        }
    }
}

impl AskedCall<'_> {
    fn is_of(&self, tool: ToolId, args: &[Value]) -> bool {
        self.tool == tool && self.key.iter().all(|(param, value)| args[*param] == *value)
    }
}

/// The environment of an expression, in addition to the session.
#[derive(Clone, Copy)]
pub(super) struct Env<'e> {
    pub args: &'e [Value],
    pub result: Option<&'e Value>,
    pub locals: &'e [Value],
    /// The state that is read: the committed state, the simulated state, or an earlier state.
    pub state: &'e [Rc<Value>],
    pub world: Answerer<'e>,
}

impl<'e> Env<'e> {
    /// Returns the environment of a rule that belongs to no call.
    pub fn new(state: &'e [Rc<Value>], world: Answerer<'e>) -> Self {
        Env { args: &[], result: None, locals: &[], state, world }
    }
}

impl ReferenceSession<'_> {
    /// Returns the truth value of a condition.
    pub(super) fn holds(&self, e: &Expr, env: Env) -> Result<bool, Fault> {
        match self.eval(e, env)? {
            Value::Bool(truth) => Ok(truth),
            other => Err(Fault::Decode(format!("a condition gave {other:?}"))),
        }
    }

    /// Returns the value of an expression.
    pub(super) fn eval(&self, e: &Expr, env: Env) -> EvaluatedExpr {
        use ExprKind as K;
        self.count_steps(1);
        let all = |xs: &[Expr]| xs.iter().map(|x| self.eval(x, env)).collect::<Result<Vec<_>, _>>();
        Ok(match &e.kind {
            K::None => Value::None,
            K::Error => return Err(Fault::Decode("an expression that was not checked".into())),
            K::Bool(b) => Value::Bool(*b),
            K::Int(v) => Value::Int(*v),
            K::Decimal(v) => Value::Decimal(*v),
            K::String(s) => Value::String(s.as_str().into()),
            K::Path(p) => self.path(p),
            K::Duration(ms) => Value::Duration(*ms),
            K::Time(ms) => Value::Time(*ms),
            K::Enum(at) => Value::Enum(*at),
            K::Url(text) => guard_plan::url::Url::parse(text)
                .map(|u| Value::Url(Box::new(u)))
                .map_err(|e| Fault::Decode(e.to_string()))?,
            K::List(xs) => Value::List(all(xs)?),
            K::Set(xs) => Value::Set(all(xs)?.into_iter().collect()),
            K::Record(xs) => Value::Record(all(xs)?),
            K::Map(entries) => {
                let values =
                    entries.iter().map(|(k, v)| Ok((k.as_str().into(), self.eval(v, env)?)));
                Value::Map(values.collect::<Result<_, Fault>>()?)
            }
            K::Param(_)
            | K::State(_)
            | K::Local(_)
            | K::Result
            | K::Text
            | K::Field(..)
            | K::Index(..)
            | K::Unwrap(..) => {
                let part = self.part(e, env)?;
                self.count_value(&part);
                part.into_owned()
            }
            K::Workspace => Value::Path((*self.read.workspace).into()),
            K::Now => Value::Time(self.now),
            K::Said => {
                self.count_walk(self.said.len());
                Value::String(self.said.as_str().into())
            }
            K::Elapsed => Value::Duration(self.now - self.start),
            K::Clock(part) => self.clock(*part),
            K::RemainingTime => {
                let deadline = self.program.deadline.ok_or(Fault::NoDeadline)?;
                Value::Duration((self.start + deadline - self.now).max(0))
            }
            K::Remaining(unit) => {
                let budget = self.program.units[*unit].budget.unwrap_or(0);
                Value::Decimal(budget.saturating_sub(self.spent[*unit]))
            }
            K::Spent(unit) => Value::Decimal(self.spent[*unit]),
            K::Member(object, name) => match &*self.part(object, env)? {
                Value::Json(json) => json.get(name).map_or(Value::None, opened),
                _ => Value::None,
            },
            K::UrlPart(url_expr, part) => match self.eval(url_expr, env)? {
                Value::Url(url) => url_part(&url, *part),
                _ => Value::None,
            },
            K::ToKey(operand, key) => match self.eval(operand, env)? {
                Value::None => Value::None,
                value => Value::String(self.key_text(*key, &value).into()),
            },
            K::FromKey(operand, key) => match self.eval(operand, env)? {
                Value::String(text) => self.key_of(*key, &text),
                other => other,
            },
            K::Row(fact, key) => {
                let key = all(key)?;
                let row = self.facts[*fact].with(&key);
                row.map_or(Value::None, |row| Value::Record(row.clone()))
            }
            K::Rows(fact) => {
                let rows = self.facts[*fact].values().map(|row| Value::Record(row.to_vec()));
                Value::List(rows.collect())
            }
            K::Known(fact, key) => {
                let key = all(key)?;
                Value::Bool(self.facts[*fact].with(&key).is_some())
            }
            K::Not(operand) => Value::Bool(!self.holds(operand, env)?),
            K::Neg(operand) => negate(self.eval(operand, env)?)?,
            K::And(a, b) => Value::Bool(self.holds(a, env)? && self.holds(b, env)?),
            K::Or(a, b) => Value::Bool(self.holds(a, env)? || self.holds(b, env)?),
            K::Implies(a, b) => Value::Bool(!self.holds(a, env)? || self.holds(b, env)?),
            K::Compare(op, a, b) => {
                Value::Bool(compare(*op, &*self.part(a, env)?, &*self.part(b, env)?))
            }
            K::Arith(op, a, b) => arithmetic(*op, self.eval(a, env)?, self.eval(b, env)?)?,
            K::In(a, b) => Value::Bool(is_in(&*self.part(a, env)?, &*self.part(b, env)?)),
            K::Within(a, b) => match (self.eval(a, env)?, self.eval(b, env)?) {
                (Value::Path(a), Value::Path(b)) => Value::Bool(is_below(&a, &b)),
                _ => Value::Bool(false),
            },
            K::Matches(operand, pattern) => match &*self.part(operand, env)? {
                Value::String(text) => {
                    Value::Bool(self.read.regexes.get(pattern).is_some_and(|r| r.is_match(text)))
                }
                _ => Value::Bool(false),
            },
            K::IsSome(operand) => Value::Bool(*self.part(operand, env)? != Value::None),
            K::Else(a, b) => match self.eval(a, env)? {
                Value::None => self.eval(b, env)?,
                value => value,
            },
            K::If(c, a, b) => {
                if self.holds(c, env)? {
                    self.eval(a, env)?
                } else {
                    self.eval(b, env)?
                }
            }
            K::Quantified { op, over, binders, body } => {
                self.quantified(*op, over, binders, body, env)?
            }
            K::Call(builtin, args) => {
                let args = all(args)?;
                args.iter().for_each(|arg| self.count_value(arg));
                builtin.eval(&args.iter().collect::<Vec<_>>())?
            }
            K::Called { tool, key, since, within } => {
                let mut wanted = Vec::new();
                for (param, value) in key {
                    wanted.push((*param as usize, self.eval(value, env)?));
                }
                let tool = *tool;
                let key = &*wanted;
                let since = *since;
                let within = *within;
                let asked = AskedCall { latest: false, tool, key, since, within };
                Value::Bool(self.called(&asked))
            }
            K::Failed { tool, since, within } => {
                let from = self.last_success(*since);
                let matching = |s: &&PastSettlement| {
                    s.failed && s.tool == *tool && s.number > from && self.recent(s.time, *within)
                };
                Value::Bool(self.settled.iter().any(|s| matching(&&**s)))
            }
            K::Calls { tool, failures, recent } => {
                let is_recent = |s: &PastSettlement| match *recent {
                    None => true,
                    Some(WindowSize::Within(age)) => self.recent(s.time, Some(age)),
                    Some(WindowSize::Last(count)) => s.nth + u64::from(count) > self.settlements,
                };
                let matching =
                    |s: &&PastSettlement| s.failed == *failures && s.tool == *tool && is_recent(s);
                Value::Int(self.settled.iter().map(|s| &**s).filter(matching).count() as i64)
            }
            K::LastArg(tool, at) => {
                self.last(*tool).map_or(Value::None, |s| s.args[*at as usize].clone())
            }
            K::LastResult(tool) => self.last(*tool).map_or(Value::None, |s| s.result.clone()),
            K::Temporal(op, operand, trigger) => {
                Value::Bool(self.temporal(*op, operand, trigger.as_deref(), env)?)
            }
            K::Exists(path) => match self.eval(path, env)? {
                Value::Path(path) => match (env.world)(&Ask::Exists(path.to_string())) {
                    Some(Json::Bool(exists)) => Value::Bool(exists),
                    _ => {
                        return Err(Fault::NoAnswer(format!(
                            "it is unknown whether `{path}` exists"
                        )));
                    }
                },
                _ => return Err(Fault::Decode("no path".into())),
            },
            K::Origin(operand) => self.origin(&self.eval(operand, env)?),
            K::Seen(operand) => self.all_origins(&self.eval(operand, env)?),
            K::MayRead(who, text) => {
                let who = self.eval(who, env)?;
                self.may_read(&who, &self.eval(text, env)?)?
            }
            K::Probe(probe) => self.probe(*probe, env)?,
        })
    }

    /// Returns the value of an expression. It is borrowed if it is a part of an existing value:
    /// maps are large, and most rules read one entry.
    pub(super) fn part<'v>(&'v self, e: &'v Expr, env: Env<'v>) -> Result<Cow<'v, Value>, Fault> {
        use ExprKind as K;
        self.count_steps(1);
        let borrowed = |part: Option<&'v Value>| Cow::Borrowed(part.unwrap_or(&Value::None));
        Ok(match &e.kind {
            K::Param(at) => borrowed(env.args.get(*at as usize)),
            K::State(var) => Cow::Borrowed(&env.state[*var]),
            K::Local(slot) => borrowed(env.locals.get(*slot as usize)),
            K::Result | K::Text => match env.result {
                Some(result) => Cow::Borrowed(result),
                None => return Err(Fault::Decode("there is no result".into())),
            },
            K::Field(record, at) => match (&record.kind, *at as usize) {
                (K::Row(fact, key), at) => {
                    let key: Result<Vec<Value>, Fault> =
                        key.iter().map(|x| self.eval(x, env)).collect();
                    borrowed(self.facts[*fact].with(&key?).and_then(|row| row.get(at)))
                }
                (_, at) => match self.part(record, env)? {
                    Cow::Borrowed(Value::Record(fields)) => borrowed(fields.get(at)),
                    Cow::Owned(Value::Record(fields)) => {
                        Cow::Owned(fields.into_iter().nth(at).unwrap_or(Value::None))
                    }
                    _ => Cow::Owned(Value::None),
                },
            },
            K::Index(whole, at) => {
                let whole = self.part(whole, env)?;
                let at = self.part(at, env)?;
                match (whole, &*at) {
                    (Cow::Borrowed(Value::Map(entries)), Value::String(key)) => {
                        borrowed(entries.get(&**key))
                    }
                    (whole, _) => Cow::Owned(index(whole.into_owned(), at.into_owned())),
                }
            }
            K::Unwrap(option, what) => match self.part(option, env)? {
                value if *value == Value::None => return Err(Fault::Missing(what.clone())),
                value => value,
            },
            _ => Cow::Owned(self.eval(e, env)?),
        })
    }

    pub(super) fn path(&self, literal: &str) -> Value {
        guard_plan::path::normalise(&self.read.workspace, literal)
            .map_or(Value::None, |p| Value::Path(p.as_ref().into()))
    }

    fn clock(&self, part: ClockPart) -> Value {
        let civil = guard_plan::time::Civil::from_millis(self.now);
        match part {
            ClockPart::Weekday => Value::Enum(guard_plan::time::weekday(self.now)),
            ClockPart::Hour => Value::Int(civil.hour),
            ClockPart::Minute => Value::Int(civil.minute),
            ClockPart::Day => Value::Int(civil.day),
            ClockPart::Month => Value::Int(civil.month),
            ClockPart::Year => Value::Int(civil.year),
        }
    }

    /// Returns the number of the last success of the tool; 0 if there is no tool or no success.
    fn last_success(&self, tool: Option<ToolId>) -> u64 {
        tool.and_then(|t| self.last(t)).map_or(0, |s| s.number)
    }

    fn last(&self, tool: ToolId) -> Option<&PastSettlement> {
        self.settled.iter().rev().find(|s| s.success && s.tool == tool).map(|s| &**s)
    }

    fn recent(&self, time: i64, within: Option<i64>) -> bool {
        within.is_none_or(|d| self.now - time <= d)
    }

    /// Returns true if such a call has succeeded.
    pub(super) fn called(&self, asked: &AskedCall) -> bool {
        self.count_walk(self.settled.len());
        let counts = |s: &Rc<PastSettlement>| s.success && self.is_undisturbed(asked, s.begun);
        let mut like_it = self.settled.iter().rev().filter(|s| asked.is_of(s.tool, &s.args));
        if asked.latest { like_it.next().is_some_and(counts) } else { like_it.any(counts) }
    }

    /// Returns true if a call is in flight that would meet the condition if it succeeded now.
    pub(super) fn may_be_met(&self, asked: &AskedCall) -> bool {
        self.flights.iter().any(|f| {
            f.tool.is_some_and(|tool| asked.is_of(tool, &f.args))
                && self.is_undisturbed(asked, f.begun)
        })
    }

    /// Returns true if a call that began at this time is recent enough, and every call of the other
    /// tool had ended before.
    fn is_undisturbed(&self, asked: &AskedCall, begun: Begun) -> bool {
        let others = self.settled.iter().filter(|s| Some(s.tool) == asked.since);
        let flies = self.flights.iter().any(|f| f.tool.is_some() && f.tool == asked.since);
        // A failed call of the other tool may have changed something, too (§6).
        let before = others.map(|s| s.number).all(|ended| ended < begun.moment);
        before && !flies && self.recent(begun.time, asked.within)
    }

    fn quantified(
        &self,
        op: QuantifierOp,
        over: &[Expr],
        binders: &[u32],
        body: &Expr,
        env: Env,
    ) -> EvaluatedExpr {
        let mut sources = Vec::new();
        for source in over {
            sources.push(self.part(source, env)?);
        }
        let mut count = 0i64;
        // The parts of a sum may leave 64 bits where the whole does not.
        let mut sum = 0i128;
        for locals in rows_of(&sources, binders, env.locals)? {
            self.count_steps(locals.len());
            let inner = Env { locals: &locals, ..env };
            match op {
                QuantifierOp::All if !self.holds(body, inner)? => return Ok(Value::Bool(false)),
                QuantifierOp::Any if self.holds(body, inner)? => return Ok(Value::Bool(true)),
                QuantifierOp::First if self.holds(body, inner)? => {
                    let last = binders.last().and_then(|slot| locals.get(*slot as usize));
                    return Ok(last.cloned().unwrap_or(Value::None));
                }
                QuantifierOp::All | QuantifierOp::Any | QuantifierOp::First => {}
                QuantifierOp::Count => count += i64::from(self.holds(body, inner)?),
                QuantifierOp::SumInt | QuantifierOp::SumDecimal | QuantifierOp::SumDuration => {
                    sum += i128::from(number(&self.eval(body, inner)?));
                }
            }
        }
        let total = || i64::try_from(sum).map_err(|_| Fault::Overflow("sum"));
        Ok(match op {
            QuantifierOp::All => Value::Bool(true),
            QuantifierOp::Any => Value::Bool(false),
            QuantifierOp::First => Value::None,
            QuantifierOp::Count => Value::Int(count),
            QuantifierOp::SumInt => Value::Int(total()?),
            QuantifierOp::SumDecimal => Value::Decimal(total()?),
            QuantifierOp::SumDuration => Value::Duration(total()?),
        })
    }

    /// Evaluates a temporal operator over all committed states so far, by its definition. The
    /// operator refers to the past, so the simulated state of an invariant is not included.
    fn temporal(
        &self,
        op: TemporalOp,
        operand: &Expr,
        trigger: Option<&Expr>,
        env: Env,
    ) -> Result<bool, Fault> {
        let at = |e: &Expr, state: &[Rc<Value>]| {
            self.holds(e, Env { state, args: &[], locals: &[], ..env })
        };
        self.count_walk(self.states.len());
        let each = self.states.iter().map(|state| at(operand, state));
        match (op, trigger) {
            (TemporalOp::Once, _) => each.reduce(or).unwrap_or(Ok(false)),
            (TemporalOp::Historically, _) => each.reduce(and).unwrap_or(Ok(true)),
            (TemporalOp::Previous, _) => match self.states.as_slice() {
                [.., before, _] => at(operand, before),
                _ => Ok(false),
            },
            (TemporalOp::Since, Some(trigger)) => {
                let mut holds = Ok(false);
                for state in &self.states {
                    holds = or(at(trigger, state), and(holds, at(operand, state)));
                }
                holds
            }
            (TemporalOp::Since, None) => Ok(false),
        }
    }

    /// Decodes JSON as a value of a type: closed for arguments, open for results.
    pub(super) fn decode(&self, ty: &Type, json: &Json, open: bool) -> Result<Value, String> {
        self.decode_as(ty, &TakenForms::OWN, json, open)
    }

    /// Decodes a value that is also accepted in other forms.
    pub(super) fn decode_as(
        &self,
        ty: &Type,
        forms: &TakenForms,
        json: &Json,
        open: bool,
    ) -> Result<Value, String> {
        let matches = |id: u32, text: &str| {
            let pattern = self.read.tables.regexes.iter().nth(id as usize);
            pattern.and_then(|p| self.read.regexes.get(p)).is_some_and(|r| r.is_match(text))
        };
        let decoder = guard_plan::decode::Decoder {
            types: &self.read.types,
            workspace: &self.read.workspace,
            open,
            coercions: if open { &self.read.coercions } else { &[] },
            matches: &matches,
        };
        decoder
            .decode_as(self.read.tables.ty(ty), forms, json)
            .map_err(|problems| problems.iter().map(|p| p.to_string() + "; ").collect())
    }
}

/// Returns the locals in each row of a quantifier.
pub(super) fn rows_of(
    sources: &[Cow<'_, Value>],
    binders: &[u32],
    locals: &[Value],
) -> Result<Vec<Vec<Value>>, Fault> {
    let bound = |row: Vec<Value>| {
        let mut locals = locals.to_vec();
        for (slot, value) in binders.iter().zip(row) {
            let slot = *slot as usize;
            if locals.len() <= slot {
                locals.resize(slot + 1, Value::None);
            }
            locals[slot] = value;
        }
        locals
    };
    Ok(rows(sources, binders.len())?.into_iter().map(bound).collect())
}
