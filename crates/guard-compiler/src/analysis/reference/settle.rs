//! Settlement of a call that ran (semantics §4).

use super::effects::reads;
use super::eval::Env;
use super::feedback::FeedbackEvent;
use super::parts::Endorsements;
use super::{
    AllowedCall, Answerer, EventEffects, Flight, Misuse, PastSettlement, ReferenceSession,
};
use crate::hir::{Clause, ClauseKind, Expr, Step, Target, Tool, Type};
use guard_plan::disclosure::unreadable_texts;
use guard_plan::json::Json;
use guard_plan::plan::{EffectOp, TakenForms, Trust, Undecoded};
use guard_plan::record::NoteKind;
use guard_plan::value::{Fault, Value};
use std::rc::Rc;

impl ReferenceSession<'_> {
    /// Settles a call that has run, with this outcome and result.
    ///
    /// # Errors
    ///
    /// [`Misuse`] if no call with this id is in flight.
    pub fn settle(
        &mut self,
        id: &str,
        success: bool,
        result: Option<&Json>,
        now: i64,
        world: Answerer,
    ) -> Result<EventEffects, Misuse> {
        let at = self
            .flights
            .iter()
            .position(|f| f.id == id)
            .ok_or_else(|| Misuse(format!("no call `{id}`")))?;
        self.advance(now);
        self.finish(at, success, Ok(result), world);
        self.keep_answers();
        Ok(std::mem::take(&mut self.outcome))
    }

    /// Settles a call that has succeeded, but whose result cannot be parsed as JSON.
    ///
    /// # Errors
    ///
    /// The errors of [`ReferenceSession::settle`].
    pub fn settle_unreadable(
        &mut self,
        id: &str,
        text: &str,
        now: i64,
        world: Answerer,
    ) -> Result<EventEffects, Misuse> {
        let at = self.flights.iter().position(|f| f.id == id);
        let at = at.ok_or_else(|| Misuse(format!("no call `{id}`")))?;
        self.advance(now);
        self.finish(at, true, Err(text), world);
        self.keep_answers();
        Ok(std::mem::take(&mut self.outcome))
    }

    /// Settles a call in flight, and judges the settlement for feedback. The result is an error if
    /// it cannot be parsed.
    pub(super) fn finish(
        &mut self,
        at: usize,
        ran: bool,
        result: Result<Option<&Json>, &str>,
        world: Answerer,
    ) {
        self.settlements += 1;
        // The call is in flight until its success or failure is in the history.
        let flight = self.flights[at].clone();
        let forms = flight.tool.map(|at| self.program.tools[at].forms);
        let opened =
            forms.zip(result.ok().flatten()).and_then(|(forms, result)| forms.opened(result));
        let result = opened.as_ref().map_or(result, |opened| Ok(Some(opened)));
        if !ran {
            let AllowedCall { limits, .. } = Rc::make_mut(&mut self.allowed[flight.call as usize]);
            limits.retain(|(limit, _)| !self.program.limits[*limit].success);
            for (unit, amount) in &flight.returned {
                self.spent[*unit] = self.spent[*unit].saturating_sub(*amount);
            }
        }
        // A result that cannot be parsed is not a success, also for an undeclared tool.
        let mut endorsed = Endorsements::default();
        let mut kept = (ran && result.is_ok()).then(|| Value::Json(Box::new(Json::Null)));
        if let (true, Some(tool)) = (ran, flight.tool) {
            for (var, value) in &flight.writes {
                Rc::make_mut(&mut self.state)[*var] = value.clone();
            }
            self.trust.wrote(tool, false);
            kept = self.after(&self.program.tools[tool], &flight, result, world, &mut endorsed);
            let shown = self.outcome.shown.take();
            self.outcome.shown = shown.map(|shown| TakenForms::closed(opened.is_some(), shown));
        }
        if let Some(call) = self.calls.iter_mut().rev().find(|call| call.id == flight.id) {
            Rc::make_mut(call).success = Some(kept.is_some());
        }
        if let (true, Ok(Some(result))) = (ran, result) {
            let tool = flight.tool.map(|at| &self.program.tools[at]);
            let nobody = Trust { whole: false, parts: Vec::new() };
            if tool.is_none_or(|tool| !tool.is_served()) {
                self.see_result(result, tool.map_or(&nobody, |tool| &tool.trust), &endorsed);
            }
        }
        self.flights.remove(at);
        self.moments += 1;
        if let Some(tool) = flight.tool {
            let Flight { args, begun, .. } = flight;
            let time = self.now;
            let number = self.moments;
            let success = kept.is_some();
            let failed = !ran;
            let result = kept.unwrap_or(Value::None);
            let nth = self.settlements;
            let settled =
                PastSettlement { tool, args, result, success, failed, time, number, nth, begun };
            self.settled.push(Rc::new(settled));
        }
        self.states.push(self.state.clone());
        self.judge(FeedbackEvent::Settled, world);
    }

    /// Applies a success. Returns the decoded result, or `None` if it does not decode, and adds the
    /// endorsed parts of it.
    fn after(
        &mut self,
        tool: &Tool,
        flight: &Flight,
        result: Result<Option<&Json>, &str>,
        world: Answerer,
        endorsed: &mut Endorsements,
    ) -> Option<Value> {
        let returned = result.map(|result| result.cloned().unwrap_or(Json::Null));
        let decoded = match (&returned, &tool.returns) {
            (Err(_), _) => None,
            (Ok(json), Some(ty)) => self.decode_as(ty, &tool.forms, json, true).ok(),
            (Ok(json), None) => Some(Value::Json(Box::new(json.clone()))),
        };
        let Some(result) = decoded else {
            self.outcome.note(NoteKind::Undecoded, &tool.name);
            self.withhold(tool);
            self.forget(tool, &flight.args, world);
            if let (Some(at), Undecoded::Clear) = (flight.tool, tool.undecoded) {
                self.trust.forgot(at);
            }
            if !self.has_private(tool) {
                return None;
            }
            let mut texts = Vec::new();
            match &returned {
                Ok(json) => super::private::collect(json, &[], &mut texts),
                Err(text) => {
                    let whole = unreadable_texts(text, &mut |text| texts.push(text));
                    if !whole || self.may_hold_secrets(tool) {
                        self.close_private();
                        return None;
                    }
                }
            }
            self.disclose_unread(tool, texts);
            return None;
        };
        self.observe(tool, &flight.args, &result, world);
        if let Some(at) = flight.tool {
            self.trust.wrote(at, true);
        }
        self.learn_from(tool, &flight.args, &result, &flight.id, world);
        self.reconcile(tool, &flight.args, &result, world);
        self.transform(tool, &flight.args, &result, world);
        if let Ok(raw) = &returned {
            self.disclose(tool, &flight.args, (raw, &result), world);
            *endorsed = self.endorsed(tool, &flight.args, (raw, &result), world);
        }
        Some(result)
    }

    /// Clears the variables that a result would have written, if it does not decode.
    fn forget(&mut self, tool: &Tool, args: &[Value], world: Answerer) {
        match tool.undecoded {
            Undecoded::Keep => return,
            Undecoded::Halt => {
                self.halted = true;
                return self.outcome.note(NoteKind::Halt, &tool.name);
            }
            Undecoded::Clear => {}
        }
        let env = Env { args, result: None, locals: &[], state: &self.state, world };
        let mut cleared = self.state.to_vec();
        let mut notes: Vec<(NoteKind, String)> = Vec::new();
        for clause in tool.clauses.iter().filter(|clause| !clause.rule.shadow) {
            let ClauseKind::Observe { target, ty, warn, .. } = &clause.kind else { continue };
            let before = cleared[target.var].clone();
            let gone = self.clear(target, ty, env, &mut cleared).is_ok_and(|gone| gone)
                && self.fits(&self.program.state[target.var].ty, &cleared[target.var]);
            if !gone {
                cleared[target.var] = before;
                let kind = if *warn { NoteKind::Warning } else { NoteKind::Halt };
                notes.push((kind, clause.rule.owner.clone()));
            }
        }
        if cleared != *self.state {
            let broken = self.broken(tool, Env { state: &cleared, args: &[], ..env });
            if broken.iter().all(|(kind, _)| *kind == NoteKind::Shadow) {
                self.state = cleared.into();
            }
            notes.extend(broken);
        }
        for (kind, rule) in notes {
            self.halted |= kind == NoteKind::Halt;
            self.outcome.note(kind, &rule);
        }
    }

    /// Clears what an observation writes: the map entry, or the option. Returns false if it is
    /// neither.
    fn clear(
        &self,
        target: &Target,
        ty: &Type,
        env: Env,
        state: &mut [Rc<Value>],
    ) -> Result<bool, Fault> {
        let mut entry = None;
        for (at, step) in target.path.iter().enumerate() {
            if let Step::Index(key) = step
                && let Value::String(_) = self.eval(key, env)?
            {
                entry = Some(at + 1);
            }
        }
        let last = target.path.len();
        let (end, op) = match entry {
            Some(end) if end == last || !ty.is_option() => (end, EffectOp::Delete),
            _ if ty.is_option() => (last, EffectOp::Set),
            _ => return Ok(false),
        };
        let place = Target { path: target.path[..end].to_vec(), ..target.clone() };
        // What does not exist is already unknown.
        let _ = self.apply((&place, op, None), env, state);
        Ok(true)
    }

    fn observe(&mut self, tool: &Tool, args: &[Value], result: &Value, world: Answerer) {
        let mut observed = self.state.to_vec();
        let mut notes: Vec<(NoteKind, String)> = Vec::new();
        let env = Env { args, result: Some(result), locals: &[], state: &self.state, world };
        for clause in &tool.clauses {
            let ClauseKind::Observe { target, value, ty, warn } = &clause.kind else {
                continue;
            };
            let before = observed[target.var].clone();
            let kept = self
                .typed(value, ty, env)
                .and_then(|value| self.store(target, value, env, &mut observed))
                .is_ok_and(|()| {
                    self.fits(&self.program.state[target.var].ty, &observed[target.var])
                });
            if !kept || clause.rule.shadow {
                observed[target.var] = before;
            }
            if !kept {
                let kind = match (clause.rule.shadow, *warn) {
                    (true, _) => NoteKind::Shadow,
                    (false, true) => NoteKind::Warning,
                    (false, false) => NoteKind::Halt,
                };
                notes.push((kind, clause.rule.owner.clone()));
            }
        }
        let env = Env { state: &observed, args: &[], result: None, ..env };
        notes.extend(self.broken(tool, env));
        self.state = observed.into();
        for (kind, rule) in notes {
            self.halted |= kind == NoteKind::Halt;
            self.outcome.note(kind, &rule);
        }
    }

    /// Returns the invariants that the observations of the tool have violated, each with its
    /// severity.
    fn broken(&self, tool: &Tool, env: Env) -> Vec<(NoteKind, String)> {
        let mut notes = Vec::new();
        for invariant in &self.program.invariants {
            let warns = |clause: &Clause| match &clause.kind {
                ClauseKind::Observe { target, warn, .. } => {
                    let warns = *warn || clause.rule.shadow;
                    reads(&invariant.condition, target.var).then_some(warns)
                }
                _ => None,
            };
            let warns: Vec<bool> = tool.clauses.iter().filter_map(warns).collect();
            if warns.is_empty() || self.holds(&invariant.condition, env) == Ok(true) {
                continue;
            }
            let kind = if invariant.monitor || invariant.rule.shadow {
                NoteKind::Shadow
            } else if !warns.contains(&false) {
                NoteKind::Warning
            } else {
                NoteKind::Halt
            };
            notes.push((kind, invariant.rule.owner.clone()));
        }
        notes
    }

    fn store(
        &self,
        target: &crate::hir::Target,
        value: Value,
        env: Env,
        state: &mut [Rc<Value>],
    ) -> Result<(), Fault> {
        // The value is already computed: it is written as a bound variable.
        let locals = [value];
        let bound = Expr {
            name: None,
            kind: crate::hir::ExprKind::Local(0),
            ty: Type::Error,
            span: Default::default(),
        };
        let env = Env { locals: &locals, ..env };
        self.apply((target, EffectOp::Set, Some(&bound)), env, state).map(drop)
    }

    /// Returns a value for a place of a type; `json` is decoded to the type.
    fn typed(&self, e: &Expr, ty: &Type, env: Env) -> Result<Value, Fault> {
        self.as_typed(self.eval(e, env)?, ty)
    }

    fn reconcile(&mut self, tool: &Tool, args: &[Value], result: &Value, world: Answerer) {
        let env = Env { args, result: Some(result), locals: &[], state: &self.state, world };
        let broken = |clause: &&Clause| match &clause.kind {
            ClauseKind::Reconcile { condition, .. } => self.holds(condition, env) != Ok(true),
            _ => false,
        };
        let broken: Vec<&Clause> = tool.clauses.iter().filter(broken).collect();
        for clause in broken {
            let kind = if clause.rule.shadow { NoteKind::Shadow } else { NoteKind::Halt };
            self.halted |= kind == NoteKind::Halt;
            self.outcome.note(kind, &clause.rule.owner);
        }
    }
}
