//! Effects of a call on the state, and the checks of their results (semantics §3.8).

use super::ReferenceSession;
use super::eval::{Env, EvaluatedExpr, rows_of};
use super::findings::{Consequences, Findings};
use super::values::arithmetic;
use crate::hir::{ClauseKind, Expr, Range, RuleMeta, Step, Target, Tool, VarId};
use guard_plan::plan::{ArithOp, EffectOp};
use guard_plan::value::{Fault, Value};
use guard_plan::verdict::{Code, Decision};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;

impl ReferenceSession<'_> {
    pub(super) fn effects(
        &self,
        tool: &Tool,
        env: Env,
        findings: &mut Findings,
        after: &mut Consequences,
    ) {
        if !tool.clauses.iter().any(|c| matches!(c.kind, ClauseKind::Effect { .. })) {
            return;
        }
        let enforced = self.simulate(tool, env, false, findings);
        if tool.clauses.iter().any(|c| c.rule.shadow && matches!(c.kind, ClauseKind::Effect { .. }))
        {
            let mut would = Findings::default();
            self.simulate(tool, env, true, &mut would);
            findings.would_be(would);
        }
        let Some(simulated) = enforced else { return };
        let touched: Vec<VarId> = (0..simulated.len()).filter(|var| writes(tool, *var)).collect();
        after.writes = touched.into_iter().map(|var| (var, simulated[var].clone())).collect();
    }

    /// Computes the state after the effects, with or without those in shadow mode, if none of them
    /// faults. Checks what the tool writes.
    fn simulate(
        &self,
        tool: &Tool,
        env: Env,
        with_shadow: bool,
        findings: &mut Findings,
    ) -> Option<Vec<Rc<Value>>> {
        let mut simulated = self.state.to_vec();
        let mut faulted = false;
        let mut written_vars = BTreeSet::new();
        let mut touched = BTreeSet::new();
        let mut places: Vec<(&RuleMeta, VarId, Vec<WrittenKey>)> = Vec::new();
        for clause in &tool.clauses {
            let ClauseKind::Effect { ranges, when, target, op, value } = &clause.kind else {
                continue;
            };
            touched.insert(target.var);
            if clause.rule.shadow && !with_shadow {
                continue;
            }
            written_vars.insert(target.var);
            let effect = (target, *op, value.as_ref());
            let written = if ranges.is_empty() {
                self.apply(effect, env, &mut simulated).map(|(keys, _)| {
                    places.push((&clause.rule, target.var, keys));
                })
            } else {
                self.apply_to_each(ranges, when.as_ref(), effect, env, &mut simulated)
            };
            faulted |= findings.ok(&clause.rule, written).is_none();
        }
        for (at, (rule, var, keys)) in places.iter().enumerate() {
            let meets = |(other, (_, other_var, theirs)): (usize, &(_, VarId, Vec<WrittenKey>))| {
                other != at && other_var == var && keys.iter().zip(theirs).all(|(a, b)| a == b)
            };
            if places.iter().enumerate().any(meets) {
                faulted = true;
                findings.fault(rule, &Fault::Decode("two effects write one place".into()));
            }
        }
        if faulted {
            return None;
        }
        for var in &written_vars {
            if !self.fits(&self.program.state[*var].ty, &simulated[*var]) {
                findings.named(&self.program.state[*var].name, Code::Invariant, Decision::Deny);
            }
        }
        let env = Env { state: &simulated, args: &[], ..env };
        self.count_steps(self.program.invariants.len() * touched.len());
        for invariant in &self.program.invariants {
            if !touched.iter().any(|var| reads(&invariant.condition, *var)) {
                continue;
            }
            // A monitor never denies a call.
            let mut rule = invariant.rule.clone();
            rule.shadow |= invariant.monitor;
            let holds = self.holds(&invariant.condition, env);
            // Otherwise an invariant that an observation broke under `warn` would refuse every
            // later call.
            let before = Env { state: &self.state, ..env };
            rule.shadow |= self.is_tolerated(&invariant.condition)
                && self.holds(&invariant.condition, before) != Ok(true);
            match holds {
                Ok(true) => {}
                Ok(false) => findings.add(&rule, Code::Invariant, Decision::Deny),
                Err(fault) => findings.fault(&rule, &fault),
            }
        }
        Some(simulated)
    }

    /// Returns true if observations may violate an invariant, and all of them only warn.
    fn is_tolerated(&self, condition: &Expr) -> bool {
        let clauses = self.program.tools.iter().flat_map(|tool| &tool.clauses);
        let observes = clauses.filter(|clause| !clause.rule.shadow).filter_map(|clause| {
            let ClauseKind::Observe { target, warn, .. } = &clause.kind else { return None };
            reads(condition, target.var).then_some(*warn)
        });
        let mut observes = observes.peekable();
        observes.peek().is_some() && observes.all(|warns| warns)
    }

    /// Writes an effect into `state` once for each element of its ranges for which the condition holds.
    fn apply_to_each(
        &self,
        ranges: &[Range],
        when: Option<&Expr>,
        effect: Operation,
        env: Env,
        state: &mut [Rc<Value>],
    ) -> Result<(), Fault> {
        let mut assigned: Vec<AppliedEffect> = Vec::new();
        let mut weight: usize = 0;
        for locals in self.combinations(ranges, env)? {
            let env = Env { locals: &locals, ..env };
            if !when.map_or(Ok(true), |when| self.holds(when, env))? {
                continue;
            }
            let (keys, value) = self.apply(effect, env, state)?;
            for key in &keys {
                if let WrittenKey::Entry(key) = key {
                    key.add_weight(&mut weight)?;
                }
            }
            if effect.1 != EffectOp::Delete {
                value.add_weight(&mut weight)?;
            }
            if effect.1 == EffectOp::Set {
                if assigned.iter().any(|(known, other)| *known == keys && *other != value) {
                    return Err(Fault::Decode("an effect writes two values to one place".into()));
                }
                assigned.push((keys, value));
            }
        }
        Ok(())
    }

    /// Returns the bound values, one element for each combination of the elements of the ranges.
    fn combinations(&self, ranges: &[Range], env: Env) -> Result<Vec<Vec<Value>>, Fault> {
        let mut bound: Vec<Vec<Value>> = vec![env.locals.to_vec()];
        for range in ranges {
            let mut inner = Vec::new();
            for outer in bound {
                let source = self.eval(&range.over, Env { locals: &outer, ..env })?;
                inner.extend(rows_of(&[Cow::Owned(source)], &range.binders, &outer)?);
            }
            bound = inner;
        }
        Ok(bound)
    }

    /// Writes one effect into `state`. Everything that the effect reads is read in `env`. Returns
    /// the place and the operand.
    pub(super) fn apply(
        &self,
        (target, op, value): Operation,
        env: Env,
        state: &mut [Rc<Value>],
    ) -> Result<AppliedEffect, Fault> {
        let value = value.map_or(Ok(Value::None), |v| self.eval(v, env))?;
        let mut keys = Vec::new();
        for step in &target.path {
            keys.push(match step {
                Step::Field(at) => WrittenKey::Field(*at as usize),
                Step::Index(e) => WrittenKey::Entry(self.eval(e, env)?),
            });
        }
        self.count_value(&state[target.var]);
        write(Rc::make_mut(&mut state[target.var]), &keys, op, value.clone())?;
        Ok((keys, value))
    }
}

/// Returns true if the tool's effects write the variable.
pub(super) fn writes(tool: &Tool, var: VarId) -> bool {
    tool.clauses
        .iter()
        .filter(|c| !c.rule.shadow)
        .any(|c| matches!(&c.kind, ClauseKind::Effect { target, .. } if target.var == var))
}

/// Returns true if a condition reads the variable.
pub(super) fn reads(e: &Expr, var: VarId) -> bool {
    e.any(&mut |part| matches!(part.kind, crate::hir::ExprKind::State(v) if v == var))
}

/// The target, the operation and the operand of an effect.
type Operation<'e> = (&'e Target, EffectOp, Option<&'e Expr>);

/// The place that an effect has written, and the operand.
type AppliedEffect = (Vec<WrittenKey>, Value);

/// An evaluated step into a value.
#[derive(PartialEq)]
pub(super) enum WrittenKey {
    Field(usize),
    Entry(Value),
}

fn missing() -> Fault {
    Fault::Missing("what is written".into())
}

/// Changes the place at the end of the path.
fn write(place: &mut Value, keys: &[WrittenKey], op: EffectOp, value: Value) -> Result<(), Fault> {
    match keys {
        [] => change(place, op, value),
        [WrittenKey::Field(at), rest @ ..] => match place {
            Value::Record(fields) => {
                write(fields.get_mut(*at).ok_or_else(missing)?, rest, op, value)
            }
            _ => Err(missing()),
        },
        [WrittenKey::Entry(Value::String(key)), rest @ ..] => match place {
            Value::Map(entries) => match (rest.is_empty(), op) {
                (true, EffectOp::Set) => {
                    entries.insert(key.clone(), value);
                    Ok(())
                }
                (true, EffectOp::Delete) => {
                    entries.remove(key);
                    Ok(())
                }
                _ => write(entries.get_mut(key).ok_or_else(missing)?, rest, op, value),
            },
            _ => Err(missing()),
        },
        [WrittenKey::Entry(Value::Int(at)), rest @ ..] => match (place, usize::try_from(*at)) {
            (Value::List(items), Ok(at)) => {
                write(items.get_mut(at).ok_or_else(missing)?, rest, op, value)
            }
            _ => Err(missing()),
        },
        [WrittenKey::Entry(_), ..] => Err(missing()),
    }
}

fn change(place: &mut Value, op: EffectOp, value: Value) -> Result<(), Fault> {
    let computed = |op: ArithOp, place: &Value, value: Value| -> EvaluatedExpr {
        arithmetic(op, place.clone(), value)
    };
    match op {
        EffectOp::Set => *place = value,
        EffectOp::Add => *place = computed(ArithOp::Add, place, value)?,
        EffectOp::Subtract => *place = computed(ArithOp::Sub, place, value)?,
        EffectOp::Multiply => *place = computed(ArithOp::Mul, place, value)?,
        EffectOp::Delete => *place = Value::None,
        EffectOp::Append => match place {
            Value::List(items) => items.push(value),
            _ => return Err(missing()),
        },
        EffectOp::Insert => match place {
            Value::Set(items) => {
                items.insert(value);
            }
            _ => return Err(missing()),
        },
        EffectOp::Remove => match (place, value) {
            (Value::Set(items), value) => {
                items.remove(&value);
            }
            (Value::List(items), value) => {
                if let Some(at) = items.iter().position(|v| *v == value) {
                    items.remove(at);
                }
            }
            (Value::Map(entries), Value::String(key)) => {
                entries.remove(&key);
            }
            _ => return Err(missing()),
        },
    }
    Ok(())
}
