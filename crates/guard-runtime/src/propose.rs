//! The order of the stages, and what an allowed call changes.

use crate::error::StepError;
use crate::eval::{Context, Decision};
use crate::feedback::Judged;
use crate::kernel::Kernel;
use crate::reason::Findings;
use crate::session::Session;
use crate::session::flight::{Draft, Flight};
use crate::stage::arguments::{self, Arguments};
use crate::stage::{
    Call, approvals, budgets, conflicts, effects, lifecycle, limits, ready, requirements, rules,
};
use crate::val::Val;
use crate::world::{Answers, Questions, World};
use guard_plan::json::Json;
use guard_plan::near;
use guard_plan::plan::{LifecycleId, LimitScope, Millis, ToolId};
use guard_plan::record::{Asked, Delivered, ItemChange, Note};
use guard_plan::render;
use guard_plan::value::Value;
use guard_plan::verdict::{self, Code, Reason, Verdict};

/// A call that somebody wants to make.
#[derive(Debug, Clone, Copy)]
pub struct Proposal<'p> {
    /// Its id, unique among the calls in flight.
    pub call: &'p str,
    /// The tool's wire name.
    pub tool: &'p str,
    /// The arguments, an object.
    pub args: &'p Json,
    /// When.
    pub now: Millis,
}

/// What the kernel says of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposed {
    /// The verdict.
    pub verdict: Verdict,
    /// What the world was asked, in order.
    pub asked: Vec<Asked>,
    /// The result of a tool that the kernel serves: the call is settled already (semantics §11).
    pub served: Option<Json>,
    /// Of a served call: how many rows facts were taught.
    pub learned: u64,
    /// Of a served call: how many rows went for others.
    pub forgotten: u64,
    /// Of a served call: the session is halted now.
    pub halted: bool,
    /// The items it changed.
    pub items: Vec<ItemChange>,
    /// The feedback that the refusal, or the settlement of a served call, calls for.
    pub feedback: Vec<Delivered>,
    /// What was noticed.
    pub notes: Vec<Note>,
}

/// Buffers that one check leaves to the next.
#[derive(Debug, Clone, Default)]
pub struct Scratch(Flight);

impl Proposed {
    fn new(verdict: Verdict) -> Proposed {
        Proposed {
            verdict,
            asked: Vec::new(),
            served: None,
            learned: 0,
            forgotten: 0,
            halted: false,
            items: Vec::new(),
            feedback: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl Kernel {
    /// Decides a call. An allowed one is in flight from here on; anything else changed nothing but the
    /// clock.
    pub fn propose(
        &self,
        session: &mut Session,
        proposal: &Proposal<'_>,
        world: &mut dyn World,
    ) -> Result<Proposed, StepError> {
        if let Some(full) = self.instead(session) {
            return full.propose(session, proposal, world);
        }
        if session.flights.iter().any(|flight| flight.call == proposal.call) {
            return Err(StepError::CallInFlight(proposal.call.into()));
        }
        session.advance(proposal.now);
        let mut flight = session.spare.pop().unwrap_or_default();
        let answers = Answers::new(world);
        let verdict = self.decide_watched(session, proposal, &answers, &mut flight);
        let mut proposed = Proposed::new(verdict);
        if proposed.verdict.decision == verdict::Decision::Allow {
            flight.call.push_str(proposal.call);
            match self.served(&flight, proposal.tool) {
                Some(id) => self.serve(session, flight, id, &answers, &mut proposed),
                None => {
                    self.depart(session, &mut flight);
                    session.flights.push(flight);
                }
            }
        } else {
            session.retire(flight);
            if self.feedback.any() && is_judged(&proposed.verdict) {
                let event = Judged::Denied(self.tool(proposal.tool));
                let round = self.judge(session, event, &answers);
                (proposed.feedback, proposed.notes) = (round.delivered, round.notes);
            }
        }
        proposed.asked = answers.commit(session);
        Ok(proposed)
    }

    /// The lifecycle whose tool is called. A tool that was not read is one in a guard in shadow.
    fn served(&self, flight: &Flight, name: &str) -> Option<LifecycleId> {
        if self.plan().lifecycles.is_empty() {
            return None;
        }
        let tool = flight.tool.or_else(|| self.tool(name))?;
        self.plan().tools[tool as usize].served.as_ref().map(|served| served.lifecycle)
    }

    /// What the kernel would say of a call, without any effect.
    pub fn check(
        &self,
        session: &Session,
        proposal: &Proposal<'_>,
        world: &mut dyn World,
    ) -> Proposed {
        self.check_with(session, proposal, world, &mut Scratch::default())
    }

    /// The same, with buffers of a check before: where it allows the call, nothing is allocated.
    pub fn check_with(
        &self,
        session: &Session,
        proposal: &Proposal<'_>,
        world: &mut dyn World,
        scratch: &mut Scratch,
    ) -> Proposed {
        if let Some(full) = self.instead(session) {
            return full.check_with(session, proposal, world, scratch);
        }
        let answers = Answers::new(world);
        scratch.0.clear();
        let verdict = self.decide(session, proposal, &answers, &mut scratch.0);
        let mut proposed = Proposed::new(verdict);
        proposed.asked = answers.into_asked();
        proposed
    }

    pub(crate) fn decide(
        &self,
        session: &Session,
        proposal: &Proposal<'_>,
        answers: &dyn Questions,
        flight: &mut Flight,
    ) -> Verdict {
        let shadow = self.plan().shadow;
        let mut findings = Findings::default();
        let decision = Decision::default();
        let context = self.context(session, &decision, answers);
        let context = Context { now: session.now.max(proposal.now), ..context };
        if let Some(halt) = &session.halted {
            let message = format!("the session is halted: {}", halt.message);
            let reason = context.reason_at(Code::Halted, &halt.rule, None, message);
            findings.reasons.push(reason);
            return findings.verdict(shadow);
        }
        match self.tool(proposal.tool) {
            Some(id) => self.decide_tool(&context, id, proposal.args, flight, &mut findings),
            None => undeclared(&context, proposal.tool, &mut flight.draft, &mut findings),
        }
        findings.verdict(shadow)
    }

    /// All stages of a declared tool; each runs even when one before has refused.
    fn decide_tool(
        &self,
        cx: &Context<'_>,
        id: ToolId,
        json: &Json,
        flight: &mut Flight,
        findings: &mut Findings,
    ) {
        let call =
            Call { id, tool: &self.plan().tools[id as usize], ready: &self.tools[id as usize] };
        let mut args = Arguments::none();
        if let Err(problems) =
            arguments::decode(self, cx.session, &call.tool.params, json, &mut args)
        {
            for problem in problems {
                let (name, span) = (&call.tool.name, Some(call.tool.span));
                let mut reason =
                    cx.reason_at(Code::InvalidArguments, name, span, problem.to_string());
                reason.help = signature(self, id);
                findings.reasons.push(reason);
            }
            return;
        }
        flight.tool = Some(id);
        let cx = &Context { args: args.values(), ..*cx };
        if let Some(served) = &call.tool.served {
            flight.action = Some(Box::new(lifecycle::check(cx, call, served, findings)));
        }
        let draft = &mut flight.draft;
        requirements::check(cx, call, draft, findings);
        rules::check(cx, call, findings);
        limits::check(cx, call, draft, findings);
        budgets::check(cx, call, draft, findings);
        budgets::check_deadline(cx, findings);
        effects::check_parts(cx, call, draft, findings);
        approvals::check(cx, call, draft, findings);
        ready::check(cx, call, findings);
        conflicts::check(cx, call, findings);
        if findings.reasons.is_empty() || self.plan().shadow {
            keep(cx, call, &args, flight);
        }
    }

    /// Does what allowing a call does.
    pub(crate) fn depart(&self, session: &mut Session, flight: &mut Flight) {
        session.calls += 1;
        flight.number = session.calls;
        let draft = &mut flight.draft;
        session.charged.clone_from(&draft.charges);
        for (unit, amount) in &draft.charges {
            let spent = &mut session.spent[*unit as usize];
            *spent = spent.saturating_add(*amount);
        }
        for (limit, span) in &draft.counted {
            let key = span.map(|span| draft.key(span));
            session.counters[*limit as usize].add(key, session.now);
        }
        draft.approvals.sort_unstable();
        draft.approvals.dedup();
        for place in draft.approvals.drain(..).rev() {
            session.approvals.remove(place);
        }
    }

    /// A call is no longer in flight: what was counted only while it was, no longer is.
    pub(crate) fn land(&self, session: &mut Session, flight: &Flight) {
        for (limit, span) in &flight.draft.counted {
            if self.plan().limits[*limit as usize].scope == LimitScope::InFlight {
                let key = span.map(|span| flight.draft.key(span));
                session.counters[*limit as usize].remove(key);
            }
        }
    }
}

/// Whether a verdict is a denial that feedback is judged on (semantics §10).
fn is_judged(verdict: &Verdict) -> bool {
    let unread = |reason: &Reason| reason.code == Code::InvalidArguments;
    verdict.decision == verdict::Decision::Deny && !verdict.reasons.iter().any(unread)
}

/// Keeps of the arguments what will be asked when the call has settled.
fn keep(cx: &Context<'_>, call: Call<'_>, args: &Arguments<'_>, flight: &mut Flight) {
    let draft = &mut flight.draft;
    for index in &call.tool.indexes {
        let start = draft.bytes.len();
        for param in &cx.kernel.plan().indexes[*index as usize].params {
            args.values()[*param as usize].write_key(&mut draft.bytes);
        }
        let span = draft.span_from(start);
        draft.keys.push(span);
    }
    let retained = call.ready.retains.iter().zip(args.values());
    let value = |(read, arg): (&bool, &Val<'_>)| {
        if *read { arg.clone().into_value() } else { Value::None }
    };
    flight.args.extend(retained.map(value));
}

fn undeclared(cx: &Context<'_>, name: &str, draft: &mut Draft, findings: &mut Findings) {
    let plan = cx.kernel.plan();
    if plan.default_allow {
        budgets::check_calls(cx, draft, findings);
        budgets::check_deadline(cx, findings);
        return;
    }
    let shown = render::cut(name, 100);
    let message = format!("the guard declares no tool `{shown}`");
    let mut reason = cx.reason_at(Code::UnknownTool, &shown, None, message);
    let names = plan.tools.iter().flat_map(|tool| [&*tool.wire_name, &*tool.name]);
    if let Some(near) = near::nearest(name, names) {
        reason.help = format!("did you mean `{near}`?");
    }
    findings.reasons.push(reason);
}

/// How a tool is called: `deploy(env: one of dev, prod, count: int)`.
fn signature(kernel: &Kernel, id: ToolId) -> String {
    let plan = kernel.plan();
    let tool = &plan.tools[id as usize];
    let params = tool.params.iter().take(20);
    let params =
        params.map(|param| format!("{}: {}", param.name, render::type_name(&plan.types, param.ty)));
    format!("`{}` takes ({})", tool.name, params.collect::<Vec<_>>().join(", "))
}
