//! Judgement of a proposed call (semantics §3).

use super::eval::Env;
use super::feedback::FeedbackEvent;
use super::items::ItemAction;
use super::{
    AllowedCall, Answerer, Begun, EventEffects, EvidenceCall, Flight, Judgement, Misuse, Outline,
    ReferenceSession, is_missing,
};
use crate::hir::{
    Clause, ClauseKind, LimitId, Replacement, Requirement, RuleMeta, Tool, ToolId, VarId,
};
use crate::lower::waits_for;
use guard_plan::json::Json;
use guard_plan::plan::LimitScope;
use guard_plan::value::{DECIMAL_ONE, Fault, Value};
use guard_plan::verdict::{Code, Decision};
use guard_syntax::span::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The reasons in the order in which they are found. Faults of missing values are kept separately.
#[derive(Default)]
pub(super) struct Findings {
    reasons: Vec<Outline>,
    shadowed: Vec<Outline>,
    missing: Vec<(Outline, Span)>,
    /// The clauses behind the reasons, enforced or in shadow mode.
    fired: Vec<(Code, Span)>,
    /// The denies that ask a probe, by their index among the clauses. They are judged last.
    last: Vec<usize>,
    /// The values that transforms ask for, by parameter.
    replacements: Vec<(u32, Json)>,
}

impl Findings {
    pub(super) fn add(&mut self, rule: &RuleMeta, code: Code, decision: Decision) {
        self.needing(rule, code, decision, Vec::new());
    }

    pub(super) fn needing(
        &mut self,
        rule: &RuleMeta,
        code: Code,
        decision: Decision,
        needs: Vec<String>,
    ) {
        let list = if rule.shadow { &mut self.shadowed } else { &mut self.reasons };
        list.push((code, rule.owner.clone(), decision, needs));
        self.fired.push((code, rule.span));
    }

    /// Adds the findings that there would be if rules in shadow mode were enforced.
    pub(super) fn would_be(&mut self, would: Findings) {
        let enforced = would.reasons.into_iter().filter(|reason| !self.reasons.contains(reason));
        self.shadowed.extend(enforced.chain(would.shadowed));
        self.fired.extend(would.fired);
    }

    pub(super) fn named(&mut self, rule: &str, code: Code, decision: Decision) {
        self.reasons.push((code, rule.to_string(), decision, Vec::new()));
    }

    pub(super) fn fault(&mut self, rule: &RuleMeta, fault: &Fault) {
        let reason = (Code::EvaluationError, rule.owner.clone(), Decision::Deny, Vec::new());
        match (rule.shadow, is_missing(fault)) {
            (true, _) => self.shadowed.push(reason),
            (false, true) => return self.missing.push((reason, rule.span)),
            (false, false) => self.reasons.push(reason),
        }
        self.fired.push((Code::EvaluationError, rule.span));
    }

    /// Returns the value; if there is none, adds a finding and returns `None`.
    pub(super) fn ok<T>(&mut self, rule: &RuleMeta, value: Result<T, Fault>) -> Option<T> {
        value.map_err(|fault| self.fault(rule, &fault)).ok()
    }

    /// Returns the judgement. A guard in shadow mode refuses nothing.
    fn judgement(mut self, shadow: bool) -> Judgement {
        // Approvals can be given, so they do not count against any rule.
        let given = |r: &&Outline| matches!(r.0, Code::Approval | Code::Gated);
        let unmet = self.reasons.iter().filter(|r| !given(r)).count() + self.missing.len();
        let stops = |r: &Outline| matches!(r.2, Decision::Deny | Decision::Wait);
        if !self.reasons.iter().any(stops) {
            for (reason, span) in self.missing {
                self.reasons.push(reason);
                self.fired.push((Code::EvaluationError, span));
            }
        }
        if shadow {
            self.shadowed.append(&mut self.reasons);
        }
        for list in [&mut self.reasons, &mut self.shadowed] {
            list.sort();
            list.dedup();
        }
        let decision = self.reasons.iter().map(|r| r.2).max().unwrap_or(Decision::Allow);
        let reasons = self.reasons;
        let shadowed = self.shadowed;
        let fired = self.fired;
        Judgement { decision, reasons, shadowed, fired, unmet, outcome: EventEffects::default() }
    }
}

/// The consequences of an allowed call.
#[derive(Default)]
pub(super) struct Consequences {
    charges: BTreeMap<usize, i64>,
    /// The amounts that a failure returns.
    returned: Vec<(usize, i64)>,
    limits: Vec<(LimitId, Option<Value>)>,
    pub writes: Vec<(VarId, Rc<Value>)>,
    /// The roles whose approval is used, with the maximum age of the approval; `None` for any role.
    pub roles: BTreeMap<Option<String>, Option<i64>>,
}

impl ReferenceSession<'_> {
    /// Judges a proposal. An allowed call is in flight under `id`, or it is served.
    ///
    /// # Errors
    ///
    /// [`Misuse`] if a call with this id is in flight.
    pub fn propose(
        &mut self,
        id: &str,
        tool: &str,
        args: &Json,
        now: i64,
        world: Answerer,
    ) -> Result<Judgement, Misuse> {
        if self.flights.iter().any(|f| f.id == id) {
            return Err(Misuse(format!("the call `{id}` is in flight")));
        }
        self.advance(now);
        let mut judgement = self.decide(id, tool, args, world);
        let tool = self.tool(tool);
        let unread = |(code, ..): &Outline| *code == Code::InvalidArguments;
        match judgement.decision {
            Decision::Allow => {
                if let Some(tool) = tool.filter(|at| self.program.tools[*at].is_served()) {
                    self.serve(tool, id, world);
                }
            }
            Decision::Deny if !judgement.reasons.iter().any(unread) => {
                self.judge(FeedbackEvent::Denied(tool), world);
            }
            _ => {}
        }
        self.keep_answers();
        judgement.outcome = std::mem::take(&mut self.outcome);
        Ok(judgement)
    }

    /// Performs the action of a served tool, and settles the call. If the action is not possible or
    /// the call was not parsed, the call has failed; a guard in shadow mode let it pass.
    fn serve(&mut self, tool: ToolId, id: &str, world: Answerer) {
        let Some(at) = self.flights.iter().position(|f| f.id == id) else { return };
        let deed = self.flights[at].deed.clone();
        let served = self.program.tools[tool].served;
        let stated = self.program.tools[tool].states && self.flights[at].tool.is_some();
        match (deed, served) {
            _ if stated => {
                let result = Json::Object(vec![("stated".into(), Json::Bool(true))]);
                self.finish(at, true, Ok(Some(&result)), world);
                self.outcome.served = Some(result);
            }
            (Some(deed), Some(served)) => {
                let result = self.perform(served.lifecycle, deed, id);
                self.finish(at, true, Ok(Some(&result)), world);
                self.outcome.served = Some(result);
            }
            _ => {
                self.finish(at, false, Ok(None), world);
                self.outcome.served = Some(Json::Null);
            }
        }
    }

    fn decide(&mut self, id: &str, tool: &str, json: &Json, world: Answerer) -> Judgement {
        let mut findings = Findings::default();
        if self.halted {
            findings.named("session", Code::Halted, Decision::Deny);
            return self.unread(id, findings);
        }
        let Some(at) = self.tool(tool) else {
            return self.undeclared(id, tool);
        };
        let declared = &self.program.tools[at];
        let args = match self.arguments(declared, json) {
            Ok(args) => args,
            Err(_) => {
                findings.named(&declared.name, Code::InvalidArguments, Decision::Deny);
                return self.unread(id, findings);
            }
        };
        let (mut findings, after, deed) = self.evaluate_call(at, &args, world);
        let replacements = std::mem::take(&mut findings.replacements);
        let judgement = findings.judgement(self.program.shadow);
        if let (false, Json::Object(members)) = (replacements.is_empty(), json) {
            let mut members = members.clone();
            for (param, value) in replacements {
                let name = &declared.params[param as usize].wire;
                members.retain(|(key, _)| **key != **name);
                if value != Json::Null {
                    members.push((name.as_str().into(), value));
                }
            }
            self.outcome.instead = Some(Json::Object(members));
        }
        if judgement.decision == Decision::Allow {
            self.consume(at, &args, &after);
            self.take_off(id, Some(at), args, after);
            self.flights.last_mut().expect("it has just begun").deed = deed;
        }
        judgement
    }

    /// Judges a call that is not made, of a tool by its index in the program. Nothing changes, and
    /// no probe remembers that it was asked. The arguments must be within their types.
    pub fn consider(&self, at: ToolId, args: &[Value], world: Answerer) -> Judgement {
        let mut findings = Findings::default();
        if self.halted {
            findings.named("session", Code::Halted, Decision::Deny);
            return findings.judgement(self.program.shadow);
        }
        let (findings, ..) = self.evaluate_call(at, args, world);
        self.forget_answers();
        findings.judgement(self.program.shadow)
    }

    /// Returns the findings of all stages after the arguments, the consequences of the call and its
    /// served action.
    fn evaluate_call(
        &self,
        at: ToolId,
        args: &[Value],
        world: Answerer,
    ) -> (Findings, Consequences, Option<ItemAction>) {
        let declared = &self.program.tools[at];
        self.count_steps(declared.clauses.len());
        let mut findings = Findings::default();
        let env = Env { args, result: None, locals: &[], state: &self.state, world };
        let mut after = Consequences::default();
        self.requirements(declared, env, &mut findings);
        self.denies(declared, env, &mut findings);
        self.limits(at, declared, env, &mut findings, &mut after);
        self.budgets(declared, env, &mut findings, &mut after);
        self.effects(declared, env, &mut findings, &mut after);
        self.approvals(at, declared, env, &mut findings, &mut after);
        let deed = self.deed(declared, env, &mut findings);
        for flight in &self.flights {
            let other = flight.tool.filter(|other| waits_for(self.program, at, *other));
            if let Some(other) = other {
                let needs = vec![self.program.tools[other].name.clone()];
                let rule = declared.name.clone();
                findings.reasons.push((Code::Conflict, rule, Decision::Wait, needs));
            }
        }
        self.questions(declared, env, &mut findings);
        (findings, after, deed)
    }

    /// Judges the rules that ask probes. No probe is asked for a call that is already denied.
    fn questions(&self, declared: &Tool, env: Env, findings: &mut Findings) {
        let denies = |reason: &Outline| reason.2 == Decision::Deny;
        let denied = !findings.missing.is_empty() || findings.reasons.iter().any(denies);
        self.refused.set(denied || !findings.reasons.is_empty());
        if denied {
            return;
        }
        for place in std::mem::take(&mut findings.last) {
            let clause = &declared.clauses[place];
            if let ClauseKind::Deny { condition, .. } = &clause.kind
                && findings.ok(&clause.rule, self.holds(condition, env)) == Some(true)
            {
                self.refuse(clause, env, findings);
            }
        }
        self.ready(declared, env, findings);
    }

    /// Handles a call that was not parsed: it is refused, or a guard in shadow mode lets it pass
    /// without a mark.
    fn unread(&mut self, id: &str, findings: Findings) -> Judgement {
        let judgement = findings.judgement(self.program.shadow);
        if judgement.decision == Decision::Allow {
            self.take_off(id, None, Vec::new(), Consequences::default());
        }
        judgement
    }

    fn undeclared(&mut self, id: &str, tool: &str) -> Judgement {
        let mut findings = Findings::default();
        if !self.program.default_allow {
            findings.named(tool, Code::UnknownTool, Decision::Deny);
            return self.unread(id, findings);
        }
        let after =
            Consequences { charges: BTreeMap::from([(0, DECIMAL_ONE)]), ..Default::default() };
        if self.exceeds(0, DECIMAL_ONE) {
            findings.named(&self.program.units[0].name, Code::Budget, Decision::Deny);
        }
        self.deadline(&mut findings);
        let judgement = findings.judgement(self.program.shadow);
        if judgement.decision == Decision::Allow {
            self.take_off(id, None, Vec::new(), after);
        }
        judgement
    }

    fn take_off(&mut self, id: &str, tool: Option<ToolId>, args: Vec<Value>, after: Consequences) {
        for (unit, amount) in &after.charges {
            self.spent[*unit] = self.spent[*unit].saturating_add(*amount);
        }
        let call = self.allowed.len() as u64;
        let mark = tool.unwrap_or(usize::MAX);
        let args = Rc::new(args);
        let time = self.now;
        let limits = after.limits;
        self.allowed.push(Rc::new(AllowedCall {
            call,
            time,
            tool: mark,
            args: args.clone(),
            limits,
        }));
        let served = tool.is_some_and(|at| self.program.tools[at].is_served());
        self.calls.push(Rc::new(EvidenceCall { id: id.to_string(), served, success: None }));
        self.moments += 1;
        self.flights.push(Flight {
            id: id.to_string(),
            deed: None,
            call,
            begun: Begun { moment: self.moments, time },
            tool,
            args,
            writes: after.writes,
            returned: after.returned,
        });
    }

    fn requirements(&self, tool: &Tool, env: Env, findings: &mut Findings) {
        for clause in &tool.clauses {
            let ClauseKind::Requires { any_of, when } = &clause.kind else {
                continue;
            };
            let applies = when.as_ref().map_or(Ok(true), |w| self.holds(w, env));
            if findings.ok(&clause.rule, applies) != Some(true) {
                continue;
            }
            match self.unmet(any_of, env) {
                Ok(None) => {}
                Ok(Some(decision)) => {
                    let names = any_of.iter().map(|r| self.program.tools[r.tool].name.clone());
                    let needs: BTreeSet<String> = names.collect();
                    let needs = needs.into_iter().collect();
                    findings.needing(&clause.rule, Code::Requires, decision, needs);
                }
                Err(fault) => findings.fault(&clause.rule, &fault),
            }
        }
    }

    /// Returns the decision of an unmet requirement; `None` if one alternative holds.
    fn unmet(&self, any_of: &[Requirement], env: Env) -> Result<Option<Decision>, Fault> {
        let mut fault = None;
        let mut waits = false;
        for alternative in any_of {
            let key: Result<Vec<(usize, Value)>, Fault> = alternative
                .key
                .iter()
                .map(|(p, e)| Ok((*p as usize, self.eval(e, env)?)))
                .collect();
            match key {
                Ok(key) if self.called(&alternative.with(&key)) => return Ok(None),
                Ok(key) => waits |= self.may_be_met(&alternative.with(&key)),
                Err(found) => fault = Some(found),
            }
        }
        match fault {
            Some(fault) => Err(fault),
            None => Ok(Some(if waits { Decision::Wait } else { Decision::Deny })),
        }
    }

    fn denies(&self, tool: &Tool, env: Env, findings: &mut Findings) {
        for (place, clause) in tool.clauses.iter().enumerate() {
            let ClauseKind::Deny { condition, .. } = &clause.kind else { continue };
            self.mute.set(true);
            let holds = self.holds(condition, env);
            self.mute.set(false);
            if self.tried.take() {
                findings.last.push(place);
            } else if findings.ok(&clause.rule, holds) == Some(true) {
                self.refuse(clause, env, findings);
            }
        }
    }

    /// Refuses a call by a `deny`, or by a `transform` with the value that it asks for.
    fn refuse(&self, clause: &Clause, env: Env, findings: &mut Findings) {
        let ClauseKind::Deny { replacement: Some(Replacement { param, value, .. }), .. } =
            &clause.kind
        else {
            return findings.add(&clause.rule, Code::Denied, Decision::Deny);
        };
        findings.add(&clause.rule, Code::Transform, Decision::Deny);
        if !clause.rule.shadow && !self.program.shadow {
            let json = self.eval(value, env).map(|found| self.json(value, &found));
            findings.replacements.extend(json.ok().map(|json| (*param, json)));
        }
    }

    fn limits(
        &self,
        at: ToolId,
        tool: &Tool,
        env: Env,
        findings: &mut Findings,
        after: &mut Consequences,
    ) {
        for clause in &tool.clauses {
            let ClauseKind::Limit { limit: id, by } = &clause.kind else {
                continue;
            };
            let key = by.as_ref().map(|by| self.eval(by, env)).transpose();
            let Some(key) = findings.ok(&clause.rule, key) else {
                continue;
            };
            let limit = &self.program.limits[*id];
            self.count_walk(self.allowed.len());
            let normal: Vec<Value> = env.args.iter().map(Value::normalised).collect();
            let counted = |a: &&Rc<AllowedCall>| {
                let same = a.limits.iter().any(|(l, k)| l == id && *k == key);
                same && match limit.scope {
                    LimitScope::Window(window) => self.now - a.time < window,
                    LimitScope::Session => true,
                    LimitScope::InFlight => self.flights.iter().any(|f| f.call == a.call),
                    LimitScope::Identical => {
                        a.tool == at
                            && a.args.iter().map(Value::normalised).eq(normal.iter().cloned())
                    }
                }
            };
            if self.allowed.iter().filter(counted).count() >= limit.count as usize {
                match &limit.ask {
                    Some(role) => self.over((at, role), &clause.rule, env, findings, after),
                    None if limit.scope == LimitScope::InFlight => {
                        findings.add(&clause.rule, Code::Limit, Decision::Wait);
                    }
                    None => findings.add(&clause.rule, Code::Limit, Decision::Deny),
                }
            }
            after.limits.push((*id, key));
        }
    }

    fn budgets(&self, tool: &Tool, env: Env, findings: &mut Findings, after: &mut Consequences) {
        let mut costs: BTreeMap<usize, i64> = BTreeMap::new();
        let mut in_shadow: BTreeMap<usize, i64> = BTreeMap::new();
        for clause in &tool.clauses {
            let ClauseKind::Costs { unit, amount, returned } = &clause.kind else { continue };
            let amount = match self.eval(amount, env) {
                Ok(Value::Decimal(amount)) if amount < 0 => Err(Fault::NegativeCost(String::new())),
                Ok(Value::Decimal(amount)) => Ok(amount),
                Ok(_) => Err(Fault::Decode("a cost is a decimal".into())),
                Err(fault) => Err(fault),
            };
            let Some(amount) = findings.ok(&clause.rule, amount) else { continue };
            let costs = if clause.rule.shadow { &mut in_shadow } else { &mut costs };
            let sum = costs.entry(*unit).or_default();
            *sum = sum.saturating_add(amount);
            if *returned && !clause.rule.shadow {
                after.returned.push((*unit, amount));
            }
        }
        let is_said =
            |c: &Clause| matches!(c.kind, ClauseKind::Costs { unit: 0, .. }) && !c.rule.shadow;
        self.spending(costs, tool.clauses.iter().any(is_said), findings, after);
        for (unit, amount) in in_shadow {
            let plain = after.charges.get(&unit).copied().unwrap_or(0);
            let name = &self.program.units[unit].name;
            if !self.exceeds(unit, plain) && self.exceeds(unit, plain.saturating_add(amount)) {
                findings.shadowed.push((Code::Budget, name.clone(), Decision::Deny, Vec::new()));
            }
        }
    }

    fn exceeds(&self, unit: usize, amount: i64) -> bool {
        let total = i128::from(self.spent[unit]) + i128::from(amount);
        self.program.units[unit].budget.is_some_and(|budget| total > i128::from(budget))
    }

    /// Judges budgets and the deadline. A call costs one of `calls`, the first unit, unless a
    /// clause gives its cost.
    fn spending(
        &self,
        mut costs: BTreeMap<usize, i64>,
        said: bool,
        findings: &mut Findings,
        after: &mut Consequences,
    ) {
        if !said {
            let calls = costs.entry(0).or_default();
            *calls = calls.saturating_add(DECIMAL_ONE);
        }
        for (at, unit) in self.program.units.iter().enumerate() {
            let exhausted =
                unit.host_charged && unit.budget.is_some_and(|budget| self.spent[at] >= budget);
            let exceeded = costs.get(&at).is_some_and(|cost| self.exceeds(at, *cost));
            if exhausted || exceeded {
                findings.named(&unit.name, Code::Budget, Decision::Deny);
            }
        }
        self.deadline(findings);
        after.charges = costs;
    }

    fn deadline(&self, findings: &mut Findings) {
        if self.program.deadline.is_some_and(|d| self.now >= self.start.saturating_add(d)) {
            findings.named("deadline", Code::Deadline, Decision::Deny);
        }
    }

    fn ready(&self, tool: &Tool, env: Env, findings: &mut Findings) {
        for clause in &tool.clauses {
            let ClauseKind::Ready(id) = &clause.kind else {
                continue;
            };
            let answer = self.probe(*id, env);
            match findings.ok(&clause.rule, answer) {
                Some(Value::Bool(true)) | None => {}
                Some(_) => findings.add(&clause.rule, Code::NotReady, Decision::Deny),
            }
        }
    }
}
