//! Judgement of a proposed call (semantics §3).

use super::eval::Env;
use super::feedback::FeedbackEvent;
use super::findings::{Consequences, Findings};
use super::items::ItemAction;
use super::{
    AllowedCall, Answerer, Begun, EvidenceCall, Flight, Judgement, Misuse, Outline,
    ReferenceSession,
};
use crate::hir::{Clause, ClauseKind, Replacement, Requirement, Tool, ToolId};
use crate::lower::waits_for;
use guard_plan::json::Json;
use guard_plan::value::{DECIMAL_ONE, Fault, Value};
use guard_plan::verdict::{Code, Decision};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

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
                findings.conflict(&declared.name, &self.program.tools[other].name);
            }
        }
        self.questions(declared, env, &mut findings);
        (findings, after, deed)
    }

    /// Judges the rules that ask probes. No probe is asked for a call that is already denied.
    fn questions(&self, declared: &Tool, env: Env, findings: &mut Findings) {
        let denied = findings.is_denied();
        self.refused.set(denied || !findings.is_empty());
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
