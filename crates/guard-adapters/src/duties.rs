//! The duties of an adapter, one method each: propose a call to the guard, settle it, ask for
//! approval, report a stop, show messages to the model, keep sessions. The shapes differ in the
//! order in which they perform them.
//!
//! Each default method performs its duty. A faulty adapter overrides the duty that it gets wrong.

use crate::engine::{Engine, WorkspaceFiles, compiled, instant, json, trouble};
use crate::harness::{AdapterResult, Gate, Harness, joined, shown_text, text_of};
use guard_ack::protocol::{
    ApprovalAnswer, ApprovalRequest, Done, FailureKind, HostEvent, LoopEnd, LoopEndKind, ModelCall,
    ModelMessage, ModelTurn, ReplayAnswer, ReplayRequest, Restore, Role, Run, ToolRun,
};
use guard_plan::decimal;
use guard_plan::record::{StopDecision, rendered};
use guard_plan::verdict::{Code, Decision, Verdict};
use guard_runtime::{
    CallApproval, Ending, HaltEnd, Move, Proposal, Revocation, Settlement, StepError, StopAttempt,
    UsageReport, UserPrompt, Verify,
};
use guard_sdk::{Event, GuardCache, Outcome, Proposed, SessionError, Stopped};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// The sessions of an adapter, and its compiled guards.
pub struct OpenSessions<'g> {
    pub guards: &'g GuardCache,
    pub open: HashMap<String, Engine>,
}

/// An adapter that performs every duty correctly.
pub struct Faithful;

impl Duties for Faithful {}

/// The duties, in the order in which a loop performs them.
pub trait Duties {
    /// Begins the conversation.
    fn begin(&mut self, harness: &mut Harness) -> AdapterResult<()> {
        // The guard would otherwise judge without the effects of calls of an earlier run.
        self.settle_overdue(harness)?;
        let text = &harness.run.prompt;
        self.prompt(harness, text)
    }

    /// Reports the user's message, and shows it to the model.
    fn prompt(&mut self, harness: &mut Harness, text: &str) -> AdapterResult<()> {
        let now = self.now(harness);
        self.report(harness, &Event::Prompt(UserPrompt { text, now })).map_err(trouble)?;
        harness.say(Role::User, text);
        Ok(())
    }

    /// Returns the time to report to the guard.
    fn now(&mut self, harness: &mut Harness) -> i64 {
        instant(&harness.world.now())
    }

    /// Reports an event to the guard.
    fn report(&mut self, harness: &mut Harness, event: &Event) -> Result<Outcome, SessionError> {
        if harness.is_guard_down(event) {
            return Err(SessionError::Contended);
        }
        harness.engine.apply(event, harness.world)
    }

    /// Returns the messages for the model.
    fn conversation(&mut self, harness: &Harness) -> Vec<ModelMessage> {
        harness.messages.clone()
    }

    /// Asks the model, and reports to the guard the events that happened meanwhile. Returns `None`
    /// if the model is gone.
    fn ask_model(&mut self, harness: &mut Harness) -> AdapterResult<Option<ModelTurn>> {
        if harness.is_cancelled {
            return Ok(None);
        }
        let messages = self.conversation(harness);
        let Ok(turn) = harness.world.model(&messages) else { return Ok(None) };
        let turn = self.assemble(turn);
        for event in &turn.host {
            self.host_event(harness, event)?;
        }
        self.usage(harness, &turn.usage)?;
        harness.said(&turn);
        Ok(Some(self.tell_apart(harness, turn)))
    }

    /// Joins the pieces of a streamed turn.
    fn assemble(&mut self, mut turn: ModelTurn) -> ModelTurn {
        let said: String = turn.pieces.iter().filter_map(|piece| piece.say.as_deref()).collect();
        turn.say = turn.say.or(Some(said).filter(|said| !said.is_empty()));
        let mut parts: BTreeMap<usize, (String, String, String)> = BTreeMap::new();
        for piece in turn.pieces.drain(..) {
            let Some(at) = piece.at else { continue };
            let (call, tool, args) = parts.entry(at).or_default();
            call.push_str(&piece.call.unwrap_or_default());
            tool.push_str(&piece.tool.unwrap_or_default());
            args.push_str(&piece.args.unwrap_or_default());
        }
        turn.calls.extend(parts.into_values().map(|(call, tool, args)| {
            // Arguments that are not JSON stay a text, which the guard denies as no object.
            let args = serde_json::from_str(&args).unwrap_or(Value::String(args));
            ModelCall { call, tool, args }
        }));
        turn
    }

    /// Gives each call of the turn its own id: assigns one to calls without an id, and refuses
    /// calls that share one.
    fn tell_apart(&mut self, harness: &mut Harness, mut turn: ModelTurn) -> ModelTurn {
        let mut calls: Vec<ModelCall> = Vec::new();
        for mut call in turn.calls {
            if call.call.is_empty() {
                // The number of messages differs in every turn, so that no such id is used twice.
                call.call = format!("nameless-{}-{}", harness.messages.len(), calls.len());
            }
            // The verdict on one of them would also be taken for the other.
            if calls.iter().any(|earlier| earlier.call == call.call) {
                let why =
                    format!("two calls have the id `{}`, and this one did not run", call.call);
                harness.answer(&call, &why);
            } else {
                calls.push(call);
            }
        }
        turn.calls = calls;
        turn
    }

    /// Reports an event of the host.
    fn host_event(&mut self, harness: &mut Harness, event: &HostEvent) -> AdapterResult<()> {
        let now = self.now(harness);
        let event = match event {
            HostEvent::Approve { tool, args, role, by } => {
                let args = &json(args)?;
                let approve = CallApproval { tool, args, role, by, expires: None, now };
                return self.report(harness, &Event::Approve(approve)).map(drop).map_err(trouble);
            }
            HostEvent::Revoke { tool, args, role, by } => {
                let args = &json(args)?;
                let revoke = Revocation { tool, args, role, by, now };
                return self.report(harness, &Event::Revoke(revoke)).map(drop).map_err(trouble);
            }
            HostEvent::Prompt { text } => return self.prompt(harness, text),
            HostEvent::Verify { item } => Event::Verify(Verify { item, now }),
            HostEvent::Move { item, transition, by, reason } => {
                Event::Move(Move { item, transition, by, reason: reason.as_deref(), now })
            }
            HostEvent::Resume { role, by } => Event::Resume(HaltEnd { role, by, now }),
        };
        self.report(harness, &event).map(drop).map_err(trouble)
    }

    /// Reports the usage of the model, by unit.
    fn usage(
        &mut self,
        harness: &mut Harness,
        used: &BTreeMap<String, String>,
    ) -> AdapterResult<()> {
        for (unit, amount) in used {
            let now = self.now(harness);
            let amount = decimal::parse(amount).ok_or_else(|| trouble("usage is not an amount"))?;
            match self.report(harness, &Event::Usage(UsageReport { unit, amount, now })) {
                // Models report their usage whether or not a guard charges for it.
                Err(SessionError::Step(StepError::NotHostCharged(_))) | Ok(_) => {}
                Err(error) => return Err(trouble(error)),
            }
        }
        Ok(())
    }

    /// Runs a call if the guard allows it. The tool has started, but not ended, when this returns [`Gate::Run`].
    fn call(&mut self, harness: &mut Harness, call: &ModelCall) -> AdapterResult<Gate> {
        if harness.is_cancelled {
            return Ok(Gate::Refused("the run was cancelled".into()));
        }
        let gate = self.gate(harness, call)?;
        if gate != Gate::Run {
            return Ok(gate);
        }
        // The guard is asked before this: a rule may count or deny calls of absent tools.
        if !harness.has_tool(&call.tool) {
            return self.no_such_tool(harness, call).map(Gate::Refused);
        }
        self.start(harness, call);
        Ok(gate)
    }

    /// Settles a call that the guard allows, of a tool that the agent does not have. Returns the answer.
    fn no_such_tool(&mut self, harness: &mut Harness, call: &ModelCall) -> AdapterResult<String> {
        let result = Value::String(format!("there is no tool `{}`", call.tool));
        let done = Done { outcome: ToolRun::Failure, result, failure: None };
        self.settle(harness, call, &done).map(|both| with_feedback(&both))
    }

    /// Proposes a call to the guard, and asks for the approvals it needs.
    fn gate(&mut self, harness: &mut Harness, call: &ModelCall) -> AdapterResult<Gate> {
        gate(self, harness, call)
    }

    /// Proposes a call to the guard.
    fn propose(&mut self, harness: &mut Harness, call: &ModelCall) -> AdapterResult<Proposed> {
        let args = json(&call.args)?;
        let now = self.now(harness);
        let id = &call.call;
        let tool = &call.tool;
        let proposal = Proposal { call: id, tool, args: (&args).into(), now };
        match self.report(harness, &Event::Propose(proposal)).map_err(trouble)? {
            Outcome::Proposed(proposed) => Ok(proposed),
            _ => Err(trouble("no verdict")),
        }
    }

    /// Asks each role that a verdict names, and reports the approvals. Returns true if all of them
    /// approved.
    fn approvals(
        &mut self,
        harness: &mut Harness,
        call: &ModelCall,
        verdict: &Verdict,
    ) -> AdapterResult<bool> {
        let args = json(&call.args)?;
        for role in roles(verdict) {
            let ModelCall { call, tool, args: shown } = call.clone();
            let request = ApprovalRequest { call, tool, args: shown, role: role.clone() };
            let approval = self.approval(harness, &request);
            if !approval.granted {
                return Ok(false);
            }
            let tool = &request.tool;
            let by = &approval.by;
            let now = self.now(harness);
            let expires = approval.expires.as_deref().map(instant);
            let approve = CallApproval { tool, args: &args, role, by, expires, now };
            self.report(harness, &Event::Approve(approve)).map_err(trouble)?;
        }
        Ok(true)
    }

    /// Asks a person.
    fn approval(&mut self, harness: &mut Harness, request: &ApprovalRequest) -> ApprovalAnswer {
        harness.world.approval(request)
    }

    /// Acts on the guard's decision.
    fn obey(&mut self, _: &mut Harness, _: &ModelCall, proposed: &Proposed) -> AdapterResult<Gate> {
        let verdict = &proposed.verdict;
        let feedback = self.feedback(rendered(&proposed.feedback));
        Ok(match (verdict.decision, &proposed.served) {
            (Decision::Allow, Some(served)) => {
                let served = serde_json::from_str(&served.to_string()).unwrap_or(Value::Null);
                Gate::Served(joined(&text_of(&served), &feedback))
            }
            (Decision::Allow, None) => Gate::Run,
            (Decision::Wait, _) => Gate::Wait(verdict.message()),
            (Decision::Ask | Decision::Deny, _) => {
                Gate::Refused(joined(&self.denial(verdict), &feedback))
            }
        })
    }

    /// Returns the reasons of a denial for the model.
    fn denial(&mut self, verdict: &Verdict) -> String {
        verdict.message()
    }

    /// Returns the feedback for the model.
    fn feedback(&mut self, text: String) -> String {
        text
    }

    /// Starts a tool.
    fn start(&mut self, harness: &mut Harness, call: &ModelCall) {
        harness.world.begin(call);
    }

    /// Waits for a tool that has started; `None` if no tool is running.
    fn finished(&mut self, harness: &mut Harness) -> Option<(String, Done)> {
        let (call, done) = harness.world.ended(true)?;
        harness.is_cancelled |= done.failure == Some(FailureKind::Cancelled);
        Some((call, done))
    }

    /// Settles a call that has run. Returns its text for the model, and the feedback.
    fn settle(
        &mut self,
        harness: &mut Harness,
        call: &ModelCall,
        done: &Done,
    ) -> AdapterResult<(String, String)> {
        let feedback = self.settlement(harness, call, done)?;
        // If the guard shows something in place of a result, the model may read only that.
        let text = harness.shown.take().unwrap_or_else(|| text_of(&done.result));
        let text = match done.outcome {
            ToolRun::Success => text,
            ToolRun::Failure => format!("error: {text}"),
        };
        Ok((text, self.feedback(feedback)))
    }

    /// Reports the ending of a call to the guard. Returns the feedback.
    fn settlement(
        &mut self,
        harness: &mut Harness,
        call: &ModelCall,
        done: &Done,
    ) -> AdapterResult<String> {
        let result = json(&done.result)?;
        let now = self.now(harness);
        let ending = match done.outcome {
            ToolRun::Success => Ending::Success(Some(&result)),
            ToolRun::Failure => Ending::Failure,
        };
        let settlement = Settlement { call: &call.call, ending, now };
        match self.report(harness, &Event::Settle(settlement)) {
            Ok(Outcome::Settled(settled)) => {
                harness.shown = settled.shown.as_ref().map(shown_text);
                Ok(rendered(&settled.feedback))
            }
            // The session was reset while the tool ran.
            Err(SessionError::Step(StepError::NoSuchCall(_))) => Ok(String::new()),
            Ok(_) => Err(trouble("no answer to a settlement")),
            Err(error) => {
                // The tool has run: its ending must reach the guard, or the call stays in flight.
                harness.engine.unsettled.push((call.clone(), done.clone()));
                Err(trouble(error))
            }
        }
    }

    /// Settles the calls that ran in an earlier run and whose settlement could not be reported.
    fn settle_overdue(&mut self, harness: &mut Harness) -> AdapterResult<()> {
        let mut overdue = std::mem::take(&mut harness.engine.unsettled).into_iter();
        while let Some((call, done)) = overdue.next() {
            if let Err(error) = self.settlement(harness, &call, &done) {
                harness.engine.unsettled.extend(overdue);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Reports a stop to the guard.
    fn stop(&mut self, harness: &mut Harness, turn: &ModelTurn) -> AdapterResult<Stopped> {
        let reason = Some(turn.finish_reason.as_str());
        let now = self.now(harness);
        match self.report(harness, &Event::Stop(StopAttempt { reason, now })).map_err(trouble)? {
            Outcome::Stopped(stopped) => Ok(stopped),
            _ => Err(trouble("no answer to a stop")),
        }
    }

    /// Returns true if the loop may end. Shows the failed checks to the model.
    fn may_stop(&mut self, harness: &mut Harness, stopped: &Stopped) -> bool {
        let allowed = stopped.decision == StopDecision::Allow;
        if !allowed {
            harness.say(Role::User, &stopped.message);
        }
        allowed
    }

    /// Checks the output by the run's contract.
    fn judge(&mut self, harness: &mut Harness, turn: &ModelTurn) -> AdapterResult<Option<Value>> {
        let (Some(contract), Some(text)) = (&harness.run.contract, &turn.output) else {
            return Ok(None);
        };
        let reason = Some(turn.finish_reason.as_str());
        harness.engine.report(contract, text, reason).map(Some)
    }

    /// Returns the result of the run.
    fn end(
        &mut self,
        harness: &mut Harness,
        turn: &ModelTurn,
        stopped: &Stopped,
    ) -> AdapterResult<LoopEnd> {
        let ended = match stopped.bypassed.as_deref() {
            Some("deadline") => LoopEndKind::Deadline,
            Some("halted") => LoopEndKind::Halted,
            Some(_) => LoopEndKind::Budget,
            None if stopped.incomplete => LoopEndKind::Incomplete,
            None => LoopEndKind::Stopped,
        };
        let report = self.judge(harness, turn)?;
        let trace = Some(harness.engine.trace()?);
        let unguarded = self.unguarded(harness);
        Ok(LoopEnd { ended, output: turn.output.clone(), report, trace, unguarded, why: None })
    }

    /// Returns the tools of the run whose calls do not pass the adapter.
    fn unguarded(&mut self, harness: &Harness) -> Vec<String> {
        let elsewhere = harness.run.tools.iter().filter(|tool| tool.elsewhere.is_some());
        elsewhere.map(|tool| tool.name.clone()).collect()
    }

    /// Returns the result of a loop that ends without a stop: the run was cancelled, or the model is gone.
    fn abandoned(&mut self, harness: &mut Harness) -> LoopEnd {
        let (ended, why) = if harness.is_cancelled {
            (LoopEndKind::Cancelled, "the run was cancelled")
        } else {
            (LoopEndKind::Error, "the model has ended")
        };
        let trace = harness.engine.trace().ok().filter(|_| harness.is_cancelled);
        LoopEnd { trace, ..LoopEnd::without_output(ended, Some(why.to_owned())) }
    }

    /// Returns the name under which the adapter keeps a session.
    fn key(&self, session: &str) -> String {
        session.to_owned()
    }

    /// Returns the session of a run: the one that was open, or a new one.
    fn open(&mut self, sessions: &mut OpenSessions, run: &Run) -> AdapterResult<Engine> {
        match sessions.open.remove(&self.key(&run.session)) {
            Some(engine) => Ok(engine),
            None => {
                let files = self.files(run.workspace.as_deref())?;
                Engine::open(&compiled(sessions.guards, &run.source)?, run, files)
            }
        }
    }

    /// Returns the files of a workspace.
    fn files(&mut self, workspace: Option<&str>) -> AdapterResult<WorkspaceFiles> {
        WorkspaceFiles::new(workspace)
    }

    /// Returns everything needed to restore a session.
    fn snapshot(&mut self, engine: &Engine) -> AdapterResult<Value> {
        Ok(json!({ "trace": engine.trace()? }))
    }

    /// Restores a session.
    fn restore(&mut self, sessions: &mut OpenSessions, restore: &Restore) -> AdapterResult<()> {
        let guard = compiled(sessions.guards, &restore.source)?;
        let trace: Vec<String> =
            serde_json::from_value(restore.snapshot["trace"].clone()).map_err(trouble)?;
        let files = self.files(restore.workspace.as_deref())?;
        let engine = Engine::resume(&guard, &trace, files).map_err(trouble)?;
        sessions.open.insert(self.key(&restore.session), engine);
        Ok(())
    }

    /// Forgets a session.
    fn reset(&mut self, sessions: &mut OpenSessions, session: &str) {
        sessions.open.remove(&self.key(session));
    }

    /// Ends the adapter when its input has ended. The error describes another way of ending.
    fn exit(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Replays a trace, and returns true if each record is reproduced.
    fn replay(
        &mut self,
        sessions: &mut OpenSessions,
        replay: &ReplayRequest,
    ) -> AdapterResult<ReplayAnswer> {
        let guard = compiled(sessions.guards, &replay.source)?;
        Ok(match Engine::resume(&guard, &replay.trace, WorkspaceFiles::new(None)?) {
            Ok(_) => ReplayAnswer { agrees: true, at: None },
            Err(SessionError::Resume(error)) => {
                ReplayAnswer { agrees: false, at: Some(error.record()) }
            }
            Err(_) => ReplayAnswer { agrees: false, at: Some(0) },
        })
    }
}

/// Proposes a call, asks for the required approvals, and acts on the verdict.
pub fn gate(
    duties: &mut (impl Duties + ?Sized),
    harness: &mut Harness,
    call: &ModelCall,
) -> AdapterResult<Gate> {
    let mut proposed = duties.propose(harness, call)?;
    if proposed.verdict.decision == Decision::Ask
        // Approving changes the session, so the call is proposed again instead of being run.
        && duties.approvals(harness, call, &proposed.verdict)?
    {
        proposed = duties.propose(harness, call)?;
    }
    duties.obey(harness, call, &proposed)
}

/// Returns the roles that must approve a call.
pub fn roles(verdict: &Verdict) -> Vec<&String> {
    let needed = verdict.reasons.iter().filter(|reason| reason.code == Code::Approval);
    let mut roles: Vec<&String> = needed.flat_map(|reason| &reason.needs).collect();
    roles.dedup();
    roles
}

/// Joins the text and feedback of a settled call.
pub fn with_feedback((text, feedback): &(String, String)) -> String {
    joined(text, feedback)
}
