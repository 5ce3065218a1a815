//! The duties of an adapter, each once: put a call to the guard, settle it, ask for approval, put a stop to the guard,
//! show what must be shown. The shapes differ in when and how they do them.

use crate::engine::{Engine, instant, json};
use crate::fault::Fault;
use guard_ack::protocol::{
    ApprovalRequest, Call, Done, End, Ended, HostEvent, Message, Role, Run, ToolOutcome, Turn,
};
use guard_ack::{Kind, Trouble, World};
use guard_plan::decimal;
use guard_plan::record::{StopDecision, rendered};
use guard_plan::verdict::{Code, Decision, Reason, Verdict};
use guard_runtime::{
    Approve, Ending, Event, Move, Outcome, Prompt, Proposal, Proposed, Resume, Settlement,
    StepError, Stop, Stopped, Usage, Verify,
};
use serde_json::Value;

/// One run of a loop, whatever its shape.
pub struct Work<'w> {
    pub engine: &'w mut Engine,
    pub world: &'w mut dyn World,
    pub run: &'w Run,
    pub fault: Fault,
    /// What the model sees.
    pub messages: Vec<Message>,
}

/// What becomes of a call.
pub enum Gate {
    /// It runs.
    Run,
    /// The guard served it: this is its result and what goes with it.
    Served(String),
    /// It waits for another; this is why.
    Wait(String),
    /// It does not run: this is why.
    Refused(String),
}

fn trouble(what: impl ToString) -> Trouble {
    Trouble::new(Kind::Error, what.to_string())
}

/// A result as the model reads it.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// All reasons with what helps, a line each.
fn told(verdict: &Verdict) -> String {
    let line = |reason: &Reason| match reason.help.as_str() {
        "" => reason.message.clone(),
        help => format!("{} ({help})", reason.message),
    };
    verdict.reasons.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Two texts, an empty line between them where both say something.
fn joined(first: &str, second: &str) -> String {
    match (first.is_empty(), second.is_empty()) {
        (_, true) => first.into(),
        (true, false) => second.into(),
        (false, false) => format!("{first}\n\n{second}"),
    }
}

impl Work<'_> {
    /// The time, as the guard must know it.
    fn now(&mut self) -> i64 {
        match self.fault {
            Fault::FrozenClock => instant(&self.run.now),
            _ => instant(&self.world.now()),
        }
    }

    fn take(&mut self, event: &Event) -> Result<Outcome, StepError> {
        self.engine.take(event, self.world)
    }

    /// The conversation begins.
    pub fn begin(&mut self) -> Result<(), Trouble> {
        let text = self.run.prompt.clone();
        self.prompt(&text)
    }

    fn prompt(&mut self, text: &str) -> Result<(), Trouble> {
        let now = self.now();
        self.take(&Event::Prompt(Prompt { text, now })).map_err(trouble)?;
        self.say(Role::User, text);
        Ok(())
    }

    /// Somebody says something.
    pub fn say(&mut self, role: Role, text: &str) {
        self.messages.push(Message { role, text: text.into(), call: None, calls: Vec::new() });
    }

    /// A call is answered.
    pub fn answer(&mut self, call: &Call, text: &str) {
        let call = Some(call.call.clone());
        self.messages.push(Message {
            role: Role::Tool,
            text: text.into(),
            call,
            calls: Vec::new(),
        });
    }

    /// Asks the model, and tells the guard what happened meanwhile. None: it is not there any more.
    pub fn ask_model(&mut self) -> Result<Option<Turn>, Trouble> {
        let Ok(turn) = self.world.model(&self.messages) else { return Ok(None) };
        for event in &turn.host {
            self.happened(event)?;
        }
        for (unit, amount) in &turn.usage {
            let now = self.now();
            let amount = decimal::parse(amount).ok_or_else(|| trouble("usage is no amount"))?;
            self.take(&Event::Usage(Usage { unit, amount, now })).map_err(trouble)?;
        }
        let text = turn.say.clone().or(turn.output.clone()).unwrap_or_default();
        let (role, calls) = (Role::Assistant, turn.calls.clone());
        self.messages.push(Message { role, text, call: None, calls });
        Ok(Some(turn))
    }

    fn happened(&mut self, event: &HostEvent) -> Result<(), Trouble> {
        let now = self.now();
        let event = match event {
            HostEvent::Prompt { text } => return self.prompt(text),
            HostEvent::Verify { item } => Event::Verify(Verify { item, now }),
            HostEvent::Move { item, transition, by, reason } => {
                Event::Move(Move { item, transition, by, reason: reason.as_deref(), now })
            }
            HostEvent::Resume { role, by } => Event::Resume(Resume { role, by, now }),
        };
        self.take(&event).map(|_| ()).map_err(trouble)
    }

    /// Puts a call to the guard, and asks for the approvals it needs.
    pub fn gate(&mut self, call: &Call) -> Result<Gate, Trouble> {
        let native = self.run.tools.iter().any(|tool| tool.native && tool.name == call.tool);
        if native && self.fault == Fault::NativeAround {
            return Ok(Gate::Run);
        }
        let args = json(&call.args)?;
        let mut asked = false;
        loop {
            let now = self.now();
            let proposal = Proposal { call: &call.call, tool: &call.tool, args: &args, now };
            let outcome = self.take(&Event::Propose(proposal)).map_err(trouble)?;
            let Outcome::Proposed(proposed) = outcome else { return Err(trouble("no verdict")) };
            match proposed.verdict.decision {
                Decision::Ask if self.fault == Fault::AskIsAllow => return Ok(Gate::Run),
                Decision::Ask if !asked => {
                    asked = true;
                    if !self.approved(call, &proposed.verdict)? {
                        return Ok(Gate::Refused(told(&proposed.verdict)));
                    }
                }
                _ => return Ok(self.gated(&proposed)),
            }
        }
    }

    fn gated(&self, proposed: &Proposed) -> Gate {
        let feedback = self.feedback(&rendered(&proposed.feedback));
        let reasons = told(&proposed.verdict);
        match (proposed.verdict.decision, &proposed.served) {
            (Decision::Allow, Some(served)) => {
                let served = serde_json::from_str(&served.to_string()).unwrap_or(Value::Null);
                Gate::Served(joined(&text_of(&served), &feedback))
            }
            (Decision::Allow, None) => Gate::Run,
            (Decision::Wait, _) if self.fault != Fault::WaitIsDeny => Gate::Wait(reasons),
            _ => {
                let shown = match self.fault {
                    Fault::FirstReason => reasons.lines().next().unwrap_or_default(),
                    _ => &reasons,
                };
                Gate::Refused(joined(shown, &feedback))
            }
        }
    }

    fn feedback(&self, text: &str) -> String {
        if self.fault == Fault::NoFeedback { String::new() } else { text.to_owned() }
    }

    /// Asks each role that a verdict names, and records what is granted; whether all did.
    fn approved(&mut self, call: &Call, verdict: &Verdict) -> Result<bool, Trouble> {
        let needed = verdict.reasons.iter().filter(|reason| reason.code == Code::Approval);
        let mut roles: Vec<&String> = needed.flat_map(|reason| &reason.needs).collect();
        roles.dedup();
        let args = json(&call.args)?;
        for role in roles {
            let request = ApprovalRequest {
                call: call.call.clone(),
                tool: call.tool.clone(),
                args: call.args.clone(),
                role: role.clone(),
            };
            let approval = self.world.approval(&request);
            if !approval.granted {
                return Ok(false);
            }
            let now = self.now();
            let expires = approval.expires.as_deref().map(instant);
            let (tool, by) = (&call.tool, &approval.by);
            let approve = Approve { tool, args: &args, role, by, expires, now };
            self.take(&Event::Approve(approve)).map_err(trouble)?;
        }
        Ok(true)
    }

    /// Settles a call that has run: what the model reads of it, and the feedback that goes with it.
    pub fn settle(&mut self, call: &Call, done: &Done) -> Result<(String, String), Trouble> {
        let result = json(&done.result)?;
        let success = done.outcome == ToolOutcome::Success || self.fault == Fault::FailureIsSuccess;
        let ending = if success { Ending::Success(Some(&result)) } else { Ending::Failure };
        let now = self.now();
        let event = Event::Settle(Settlement { call: &call.call, ending, now });
        let feedback = match self.take(&event) {
            Ok(Outcome::Settled(settled)) => rendered(&settled.feedback),
            // A faulty adapter settles what was never allowed.
            _ => String::new(),
        };
        let text = match done.outcome {
            ToolOutcome::Success => text_of(&done.result),
            ToolOutcome::Failure => format!("error: {}", text_of(&done.result)),
        };
        Ok((text, self.feedback(&feedback)))
    }

    /// Puts a stop to the guard.
    pub fn stop(&mut self, turn: &Turn) -> Result<Stopped, Trouble> {
        let now = self.now();
        let reason = Some(turn.finish_reason.as_str());
        match self.take(&Event::Stop(Stop { reason, now })).map_err(trouble)? {
            Outcome::Stopped(stopped) => Ok(stopped),
            _ => Err(trouble("no answer to a stop")),
        }
    }

    /// Whether the loop may end; what is missing is shown.
    pub fn may_stop(&mut self, stopped: &Stopped) -> bool {
        if stopped.decision == StopDecision::Allow || self.fault == Fault::StopsBlocked {
            return true;
        }
        self.say(Role::User, &stopped.message);
        false
    }

    /// What is handed over at the end.
    pub fn end(&self, turn: &Turn, stopped: &Stopped) -> Result<End, Trouble> {
        let ended = match stopped.bypassed.as_deref() {
            Some("deadline") => Ended::Deadline,
            Some("halted") => Ended::Halted,
            Some(_) => Ended::Budget,
            None if stopped.incomplete => Ended::Incomplete,
            None => Ended::Stopped,
        };
        let report = match (&self.run.contract, &turn.output) {
            (Some(contract), Some(text)) => {
                Some(self.engine.report(contract, text, Some(&turn.finish_reason))?)
            }
            _ => None,
        };
        let trace = (self.fault != Fault::NoTrace).then(|| self.engine.lines.clone());
        Ok(End { ended, output: turn.output.clone(), report, trace, why: None })
    }

    /// The model is not there any more.
    pub fn abandoned(&self) -> End {
        let why = Some("the model is not there any more".to_owned());
        End { ended: Ended::Error, output: None, report: None, trace: None, why }
    }
}

/// Text and feedback of a settled call as one text.
pub fn with_feedback((text, feedback): &(String, String)) -> String {
    joined(text, feedback)
}
