//! The duties of an adapter, each implemented once: propose a call to the guard, settle it, ask for
//! approval, report a stop, show messages to the model. The shapes differ in when and how they
//! perform them.

use crate::engine::{Engine, instant, json};
use crate::fault::Fault;
use crate::lapse::{self, Lapses};
use guard_ack::protocol::{
    ApprovalRequest, Call, Done, End, Ended, HostEvent, Message, Role, Run, ToolOutcome, Turn,
};
use guard_ack::{Kind, Trouble, World};
use guard_plan::decimal;
use guard_plan::record::{StopDecision, rendered};
use guard_plan::verdict::{Code, Decision, Verdict};
use guard_runtime::{
    Approve, Ending, Event, Move, Outcome, Prompt, Proposal, Proposed, Resume, Settlement,
    StepError, Stop, Stopped, Usage, Verify,
};
use serde_json::Value;

/// One run of a loop, in any shape.
pub struct Work<'w> {
    pub engine: &'w mut Engine,
    pub world: &'w mut dyn World,
    pub run: &'w Run,
    pub fault: Fault,
    pub lapses: &'w mut Lapses,
    /// The messages that the model sees.
    pub messages: Vec<Message>,
    /// The calls of the turn.
    pub turn: Vec<Call>,
    /// The ids of the calls that were told to wait in this turn.
    pub waited: Vec<String>,
    /// The calls of the previous turn that are not settled yet.
    pub late: Vec<(Call, Done)>,
}

/// The outcome of proposing a call.
pub enum Gate {
    /// The call runs.
    Run,
    /// The guard served the call: its result and feedback.
    Served(String),
    /// The call waits for another: the reason.
    Wait(String),
    /// The call does not run: the reason.
    Refused(String),
}

fn trouble(what: impl ToString) -> Trouble {
    Trouble::new(Kind::Error, what.to_string())
}

/// Returns a result as the model reads it.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
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
    /// Returns the time to report to the guard.
    fn now(&mut self) -> i64 {
        match self.fault {
            Fault::FrozenClock => instant(&self.run.now),
            _ => instant(&self.world.now()),
        }
    }

    fn take(&mut self, event: &Event) -> Result<Outcome, StepError> {
        let forgotten = match event {
            Event::Prompt(_) => self.fault == Fault::IgnoresPrompt,
            Event::Usage(_) => self.fault == Fault::ForgetsUsage,
            Event::Resume(_) => self.fault == Fault::NobodyResumes,
            Event::Verify(_) | Event::Move(_) => self.fault == Fault::NobodyVerifies,
            _ => false,
        };
        if forgotten {
            return Ok(Outcome::Taken);
        }
        self.engine.take(event, self.world)
    }

    /// Begins the conversation.
    pub fn begin(&mut self) -> Result<(), Trouble> {
        if self.fault == Fault::RestoreRunsAgain {
            for call in std::mem::take(&mut self.lapses.again) {
                self.world.begin(&call);
                let _ = self.world.ended(true);
            }
        }
        let text = self.run.prompt.clone();
        self.prompt(&text)?;
        if self.fault == Fault::KeepsFeedback {
            let kept = std::mem::take(&mut self.lapses.feedback);
            kept.iter().for_each(|text| self.say(Role::User, text));
        }
        Ok(())
    }

    fn prompt(&mut self, text: &str) -> Result<(), Trouble> {
        let now = self.now();
        self.take(&Event::Prompt(Prompt { text, now })).map_err(trouble)?;
        self.say(Role::User, text);
        Ok(())
    }

    /// Adds a message.
    pub fn say(&mut self, role: Role, text: &str) {
        self.messages.push(Message { role, text: text.into(), call: None, calls: Vec::new() });
    }

    /// Adds the answer to a call.
    pub fn answer(&mut self, call: &Call, text: &str) {
        let call = Some(call.call.clone());
        self.messages.push(Message {
            role: Role::Tool,
            text: text.into(),
            call,
            calls: Vec::new(),
        });
    }

    /// Asks the model, and reports to the guard the events that happened meanwhile. `None` if the
    /// model is gone.
    pub fn ask_model(&mut self) -> Result<Option<Turn>, Trouble> {
        let late = std::mem::take(&mut self.lapses.unsettled);
        if self.fault == Fault::ShadowShown {
            let shown = std::mem::take(&mut self.lapses.feedback);
            shown.iter().for_each(|text| self.say(Role::User, text));
        }
        if self.fault == Fault::RepeatsMissing {
            let missing = self.lapses.repeated.clone();
            missing.iter().for_each(|text| self.say(Role::User, text));
        }
        self.settle_late()?;
        if std::mem::take(&mut self.lapses.ends) {
            return Ok(None);
        }
        let Ok(turn) = self.world.model(&self.messages) else { return Ok(None) };
        self.late = late;
        self.lapses.denied_here = false;
        self.waited.clear();
        self.turn.clone_from(&turn.calls);
        if self.fault == Fault::FreshTurns {
            self.engine.begin_again();
        }
        if self.lapses.output.is_none() {
            self.lapses.output.clone_from(&turn.output);
        }
        for event in &turn.host {
            self.happened(event)?;
        }
        let mut used: Vec<_> = turn.usage.clone().into_iter().collect();
        if self.fault == Fault::UsageLate {
            std::mem::swap(&mut used, &mut self.lapses.usage);
        }
        for (unit, amount) in &used {
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
        match self.take(&event) {
            // After an earlier fault there may be nothing to do.
            Err(_) if self.fault != Fault::None => Ok(()),
            taken => taken.map(|_| ()).map_err(trouble),
        }
    }

    /// Proposes a call to the guard, and asks for the approvals it needs.
    pub fn gate(&mut self, call: &Call) -> Result<Gate, Trouble> {
        if let Some(gate) = lapse::before(self, call) {
            return Ok(gate);
        }
        let told = lapse::told(self, call);
        let (id, args) = (self.lapses.id(self.fault, &call.call), json(&told.args)?);
        let mut asked = false;
        loop {
            let now = self.now();
            if self.fault == Fault::AsksTwice {
                let first = format!("{id}-0");
                let first = Proposal { call: &first, tool: &told.tool, args: (&args).into(), now };
                let _ = self.take(&Event::Propose(first));
            }
            let proposal = Proposal { call: &id, tool: &told.tool, args: (&args).into(), now };
            let outcome = self.take(&Event::Propose(proposal)).map_err(trouble)?;
            let Outcome::Proposed(proposed) = outcome else { return Err(trouble("no verdict")) };
            if let Some(gate) = lapse::judged(self, call, &proposed) {
                return Ok(gate);
            }
            match proposed.verdict.decision {
                Decision::Ask if !asked && self.fault != Fault::AskIsDeny => {
                    asked = true;
                    if !self.approved(call, &proposed.verdict)? {
                        return Ok(match self.fault {
                            Fault::RefusedRuns => Gate::Run,
                            _ => Gate::Refused(proposed.verdict.message()),
                        });
                    }
                    self.lapses.approved.push(call.clone());
                }
                _ => return self.gated(call, &proposed),
            }
        }
    }

    fn gated(&mut self, call: &Call, proposed: &Proposed) -> Result<Gate, Trouble> {
        let feedback = self.feedback(&rendered(&proposed.feedback));
        let why = proposed.verdict.message();
        Ok(match (proposed.verdict.decision, &proposed.served) {
            (Decision::Allow, Some(served)) => {
                if self.fault == Fault::AgentVerifies {
                    self.verify_all(proposed);
                }
                let served = serde_json::from_str(&served.to_string()).unwrap_or(Value::Null);
                Gate::Served(joined(&text_of(&served), &feedback))
            }
            (Decision::Allow, None) => {
                if self.fault == Fault::SettlesFirst {
                    let done = Done { outcome: ToolOutcome::Success, result: Value::Null };
                    self.settle(call, &done)?;
                    self.lapses.settled.insert(call.call.clone());
                }
                Gate::Run
            }
            (Decision::Wait, _) if self.fault != Fault::WaitIsDeny => {
                if self.fault == Fault::WaitIsShown {
                    self.answer(call, &why);
                }
                self.waited.push(call.call.clone());
                Gate::Wait(why)
            }
            _ => {
                let shown = match self.fault {
                    Fault::FirstReason => why.lines().next().unwrap_or_default(),
                    Fault::GenericDenial => "denied by policy",
                    Fault::HidesDenials => "",
                    _ => &why,
                };
                let plain = proposed.verdict.reasons.iter().map(|reason| reason.message.as_str());
                let plain = plain.collect::<Vec<_>>().join("\n");
                let shown = if self.fault == Fault::NoHelp { &plain } else { shown };
                match self.fault {
                    Fault::NoFeedbackOfDenials => Gate::Refused(shown.to_owned()),
                    _ => Gate::Refused(joined(shown, &feedback)),
                }
            }
        })
    }

    fn verify_all(&mut self, proposed: &Proposed) {
        for change in &proposed.items {
            let now = self.now();
            // Not every state has a verification.
            let _ = self.take(&Event::Verify(Verify { item: &change.item, now }));
        }
    }

    fn feedback(&mut self, text: &str) -> String {
        match self.fault {
            Fault::NoFeedback => String::new(),
            Fault::KeepsFeedback => {
                self.lapses.feedback.extend((!text.is_empty()).then(|| text.to_owned()));
                String::new()
            }
            _ => text.to_owned(),
        }
    }

    /// Asks each role that a verdict names, and records the approvals; returns whether all
    /// approved.
    fn approved(&mut self, call: &Call, verdict: &Verdict) -> Result<bool, Trouble> {
        let needed = verdict.reasons.iter().filter(|reason| reason.code == Code::Approval);
        let mut roles: Vec<&String> = needed.flat_map(|reason| &reason.needs).collect();
        roles.dedup();
        let args = json(&call.args)?;
        for (at, role) in roles.into_iter().enumerate() {
            if at > 0 && self.fault == Fault::FirstRole {
                let (now, tool) = (self.now(), &call.tool);
                let approve = Approve { tool, args: &args, role, by: "kim", expires: None, now };
                self.take(&Event::Approve(approve)).map_err(trouble)?;
                continue;
            }
            let request = ApprovalRequest {
                call: call.call.clone(),
                tool: call.tool.clone(),
                args: call.args.clone(),
                role: role.clone(),
            };
            let approval = self.world.approval(&request);
            if !approval.granted {
                if self.fault == Fault::RefusalIsKept {
                    self.lapses.denied.push((call.clone(), "refused, as before".into()));
                }
                return Ok(false);
            }
            let now = self.now();
            let expires = match self.fault {
                Fault::NeverExpires => Some(i64::MAX),
                _ => approval.expires.as_deref().map(instant),
            };
            let (tool, by) = (&call.tool, &approval.by);
            let approve = Approve { tool, args: &args, role, by, expires, now };
            self.take(&Event::Approve(approve)).map_err(trouble)?;
        }
        Ok(true)
    }

    /// Settles a call that has run; returns the text for the model, and the feedback.
    pub fn settle(&mut self, call: &Call, done: &Done) -> Result<(String, String), Trouble> {
        let text = match done.outcome {
            ToolOutcome::Success => text_of(&done.result),
            ToolOutcome::Failure => format!("error: {}", text_of(&done.result)),
        };
        let failed = done.outcome == ToolOutcome::Failure;
        let native = self.run.tools.iter().any(|tool| tool.native && tool.name == call.tool);
        match self.fault {
            Fault::SettlesLate => {
                self.lapses.unsettled.push((call.clone(), done.clone()));
                return Ok((text, String::new()));
            }
            Fault::FailureEndsLoop if failed => self.lapses.ends = true,
            Fault::KeepsResults => self.lapses.ran.push((call.clone(), text.clone())),
            _ => {}
        }
        let forgotten = match self.fault {
            Fault::NeverSettles => true,
            Fault::SuccessesOnly => failed,
            Fault::NativeUnsettled => native,
            Fault::SettlesFirst => self.lapses.settled.contains(&call.call),
            _ => false,
        };
        if forgotten {
            return Ok((text, String::new()));
        }
        let feedback = self.settle_now(call, done)?;
        match self.fault {
            Fault::FeedbackHidesResult if !feedback.is_empty() => Ok((String::new(), feedback)),
            _ => Ok((text, feedback)),
        }
    }

    /// Settles the calls of the previous turn, once those of this turn are judged.
    fn settle_late(&mut self) -> Result<(), Trouble> {
        for (call, done) in std::mem::take(&mut self.late) {
            let feedback = self.settle_now(&call, &done)?;
            if !feedback.is_empty() {
                self.say(Role::User, &feedback);
            }
        }
        Ok(())
    }

    fn settle_now(&mut self, call: &Call, done: &Done) -> Result<String, Trouble> {
        let result = match self.fault {
            Fault::NoResults => json(&Value::Null)?,
            _ => json(&done.result)?,
        };
        let success = done.outcome == ToolOutcome::Success || self.fault == Fault::FailureIsSuccess;
        let ending = if success { Ending::Success(Some(&result)) } else { Ending::Failure };
        let now = self.now();
        let id = self.lapses.id(self.fault, &call.call);
        let event = Event::Settle(Settlement { call: &id, ending, now });
        let feedback = match self.take(&event) {
            Ok(Outcome::Settled(settled)) => rendered(&settled.feedback),
            // A faulty adapter may settle a call that was never allowed.
            _ => String::new(),
        };
        Ok(self.feedback(&feedback))
    }

    /// Reports a stop to the guard.
    pub fn stop(&mut self, turn: &Turn) -> Result<Stopped, Trouble> {
        let now = self.now();
        let reason = Some(turn.finish_reason.as_str());
        match self.take(&Event::Stop(Stop { reason, now })).map_err(trouble)? {
            Outcome::Stopped(stopped) => Ok(lapse::stopped(self, stopped)),
            _ => Err(trouble("no answer to a stop")),
        }
    }

    /// Returns whether the loop may end; shows the failed checks to the model.
    pub fn may_stop(&mut self, stopped: &Stopped) -> bool {
        if stopped.decision == StopDecision::Allow {
            return true;
        }
        if self.fault != Fault::HidesMissing {
            self.say(Role::User, &stopped.message);
        }
        false
    }

    /// Returns the result of the run.
    pub fn end(&mut self, turn: &Turn, stopped: &Stopped) -> Result<End, Trouble> {
        let ended = match stopped.bypassed.as_deref() {
            Some("deadline") => Ended::Deadline,
            Some("halted") => Ended::Halted,
            Some(_) => Ended::Budget,
            None if stopped.incomplete => Ended::Incomplete,
            None => Ended::Stopped,
        };
        let report = match (&self.run.contract, &turn.output) {
            (Some(contract), Some(text)) => {
                let reason = Some(turn.finish_reason.as_str());
                let reason = reason.filter(|_| self.fault != Fault::FinishReasonDropped);
                if self.fault == Fault::JudgesAfresh {
                    self.engine.begin_again();
                }
                Some(self.engine.report(contract, text, reason)?)
            }
            _ => None,
        };
        let trace = Some(self.engine.lines.clone());
        let end = End { ended, output: turn.output.clone(), report, trace, why: None };
        Ok(lapse::ended(self, end))
    }

    /// Returns the result if the model is gone.
    pub fn abandoned(&self) -> End {
        let why = Some("the model is not there any more".to_owned());
        End { ended: Ended::Error, output: None, report: None, trace: None, why }
    }
}

/// Joins the text and feedback of a settled call.
pub fn with_feedback((text, feedback): &(String, String)) -> String {
    joined(text, feedback)
}
