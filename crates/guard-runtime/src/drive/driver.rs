//! The order of a round.

use super::choice::Choice;
use super::doors::{Approved, Doors, Reply, Situation, ToolOutcome, Wanted};
use super::progress::Progress;
use super::{Limits, report};
use crate::error::StepError;
use crate::host::{Approve, Event, Outcome};
use crate::kernel::Kernel;
use crate::propose::{Proposal, Proposed};
use crate::session::{Session, Turn};
use crate::settle::{Ending, Settlement};
use crate::stop::{Stop, Stopped};
use guard_plan::advice::{Action, Advice, Decimal, Status};
use guard_plan::drive::{DriveReport, End, Put, Round, RoundOutcome, Spent};
use guard_plan::json::Json;
use guard_plan::plan::Millis;
use guard_plan::record::{self, Delivered, StopDecision};
use guard_plan::time;
use guard_plan::verdict::{Code, Decision, Reason, Verdict};

/// A drive under way.
pub(super) struct Driver<'d, 'o> {
    kernel: &'d Kernel,
    session: &'d mut Session,
    doors: &'d mut Doors<'o>,
    limits: &'d Limits,
    progress: Progress,
    rounds: Vec<Round>,
    /// What became of the last round, in words.
    last: Option<String>,
    /// The feedback of the last round.
    feedback: Vec<Delivered>,
    /// It stopped although something was missing.
    incomplete: bool,
    /// The goals are reached and the drive was not let go; asked again when something has changed.
    held: bool,
}

/// A call that somebody wants.
struct Call {
    tool: String,
    args: Json,
    fallback: bool,
    value: Option<Decimal>,
}

/// Why a drive ends in the middle of a round.
type Ended<T> = Result<T, End>;

impl<'d, 'o> Driver<'d, 'o> {
    pub fn new(
        kernel: &'d Kernel,
        session: &'d mut Session,
        doors: &'d mut Doors<'o>,
        limits: &'d Limits,
    ) -> Self {
        Driver {
            kernel,
            session,
            doors,
            limits,
            progress: Progress::default(),
            rounds: Vec::new(),
            last: None,
            feedback: Vec::new(),
            incomplete: false,
            held: false,
        }
    }

    pub fn run(mut self) -> DriveReport {
        let end = loop {
            let advice = self.advise();
            match self.end(&advice).and_then(|()| self.round(&advice)) {
                Ok(()) => {}
                Err(end) => break end,
            }
        };
        let plan = self.kernel.plan();
        let spent = plan.units.iter().zip(&self.session.spent);
        let spent = spent
            .map(|(unit, amount)| Spent { unit: unit.name.clone(), amount: Decimal(*amount) })
            .collect();
        let progress = self.advise().progress;
        DriveReport { rounds: self.rounds, end, incomplete: self.incomplete, progress, spent }
    }

    fn now(&mut self) -> Millis {
        self.doors.clock.now()
    }

    fn advise(&mut self) -> Advice {
        let now = self.now();
        self.kernel.advise(self.session, now, self.doors.world)
    }

    /// Whether there is a further round; the error says why not.
    fn end(&mut self, advice: &Advice) -> Ended<()> {
        if advice.reached() && !self.held {
            if self.stop("every goal is reached")? {
                return Err(End::GoalReached);
            }
            self.held = true;
        }
        let short = |action: &Action| action.needs.iter().any(|need| need.code == Code::Budget);
        let end = if advice.halted.is_some() && !self.kernel.plan().shadow {
            Some(End::Halted)
        } else if advice.deadline.is_some_and(|deadline| deadline.remaining == 0) {
            Some(End::Deadline)
        } else if !advice.actions.is_empty() && advice.actions.iter().all(short) {
            Some(End::BudgetExhausted)
        } else {
            self.progress.end(self.limits, self.rounds.len() as u64)
        };
        end.map_or(Ok(()), Err)
    }

    /// Asks the kernel whether the drive may stop, and keeps what is missing for the reasoner to hear.
    fn stop(&mut self, reason: &str) -> Ended<bool> {
        let now = self.now();
        match self.step(&Event::Stop(Stop { reason: Some(reason), now }))? {
            Outcome::Stopped(Stopped { decision: StopDecision::Allow, incomplete, .. }) => {
                self.incomplete = incomplete;
                Ok(true)
            }
            Outcome::Stopped(Stopped { message, .. }) => {
                self.say(format!("you may not stop yet: {message}"));
                Ok(false)
            }
            _ => Err(strange()),
        }
    }

    /// Keeps what the reasoner is to hear at its next situation.
    fn say(&mut self, words: String) {
        self.last = Some(report::cut(&words));
    }

    /// One choice and what becomes of it.
    fn round(&mut self, advice: &Advice) -> Ended<()> {
        let now = self.now();
        let mut round = Round {
            number: self.rounds.len() as u64 + 1,
            time: time::format_rfc3339(self.session.now.max(now)),
            choice: None,
            reasoning: String::new(),
            invalid: None,
            proposed: None,
            outcome: RoundOutcome::Nothing,
            progress: advice.progress,
        };
        let done = self.choose(advice, &mut round);
        self.rounds.push(round);
        done
    }

    fn choose(&mut self, advice: &Advice, round: &mut Round) -> Ended<()> {
        match self.ask(advice) {
            Ok(Choice::Stop { reasoning }) => {
                round.reasoning = report::cut(&reasoning);
                self.progress.chose(true);
                self.stop_chosen(&reasoning, round)
            }
            Ok(Choice::Act { action, args, reasoning }) => {
                round.choice = Some(report::cut(&action));
                round.reasoning = report::cut(&reasoning);
                let call = self.named(advice, &action, args);
                match self.perform(&call, round)? {
                    Ok(()) => self.progress.chose(true),
                    Err(why) if advice.best().is_none() && only_unready(round) => {
                        self.progress.chose(true);
                        self.wait(&why, round);
                    }
                    Err(why) => {
                        self.progress.chose(false);
                        return self.instead(advice, &why, round);
                    }
                }
                Ok(())
            }
            Err(why) => {
                self.progress.chose(false);
                self.instead(advice, &why, round)
            }
        }
    }

    /// What the reasoner says to the advice.
    fn ask(&mut self, advice: &Advice) -> Result<Choice, String> {
        let last = self.last.take();
        let feedback = record::rendered(&std::mem::take(&mut self.feedback));
        let mut text = String::new();
        if let Some(last) = &last {
            text.push_str(&format!("LAST ROUND: {last}\n"));
        }
        if !feedback.is_empty() {
            text.push_str(&format!("{feedback}\n\n"));
        }
        text.push_str(&advice.text());
        let situation =
            Situation { advice, text: &text, last: last.as_deref(), feedback: &feedback };
        match self.doors.reasoner.choose(&situation) {
            Reply::Text(text) => Choice::read(&text),
            Reply::TimedOut => Err("the reasoner took too long".into()),
            Reply::Failed(why) => Err(why),
        }
    }

    fn stop_chosen(&mut self, reasoning: &str, round: &mut Round) -> Ended<()> {
        if self.stop(reasoning)? {
            round.outcome = RoundOutcome::Stopped;
            return Err(End::Stopped);
        }
        self.progress.idled();
        round.outcome = RoundOutcome::StopBlocked(self.last.clone().unwrap_or_default());
        Ok(())
    }

    /// The call that a reasoner named. An action is heard by the name that the advice gives it, then as the
    /// kernel hears it; arguments that are left out are those that the advice judged.
    fn named(&self, advice: &Advice, action: &str, args: Option<Json>) -> Call {
        let advised = advice.actions.iter().find(|advised| advised.tool == action);
        let advised =
            advised.or_else(|| advice.actions.iter().find(|advised| advised.wire_name == action));
        let judged = advised.and_then(|advised| advised.args.clone());
        let tool = match advised {
            Some(advised) => advised.wire_name.clone(),
            // A tool that the kernel serves has no advice, only a name.
            None => action.into(),
        };
        let args = args.or(judged).unwrap_or_else(|| Json::Object(Vec::new()));
        let value = advised.filter(|one| one.args.as_ref().is_none_or(|judged| *judged == args));
        Call { tool, args, fallback: false, value: value.map(|one| one.value) }
    }

    /// An invalid choice: the best action that is ready takes its place, or one that only has to become so.
    fn instead(&mut self, advice: &Advice, why: &str, round: &mut Round) -> Ended<()> {
        self.say(format!("your choice was not taken: {why}"));
        round.invalid = Some(report::cut(why));
        let unready = |action: &&Action| {
            let only = action.needs.iter().all(|need| need.code == Code::NotReady);
            action.status == Status::Blocked && action.args.is_some() && only
        };
        let action = advice.best().or_else(|| advice.actions.iter().find(unready));
        let Some((action, args)) = action.and_then(|one| Some((one, one.args.clone()?))) else {
            self.progress.idled();
            // Without a proposal nothing else has become of the round.
            if round.proposed.is_some() {
                round.outcome = RoundOutcome::Refused;
            }
            return Ok(());
        };
        let (tool, value) = (action.wire_name.clone(), Some(action.value));
        let call = Call { tool, args, fallback: true, value };
        match self.perform(&call, round)? {
            Ok(()) => {}
            Err(why) if only_unready(round) => self.wait(&why, round),
            // The world has changed since it was judged.
            Err(_) => {
                self.progress.idled();
                round.outcome = RoundOutcome::Refused;
            }
        }
        Ok(())
    }

    /// Waits for what is not ready: until its probe is asked again where the guard says when, else longer each
    /// time. What has been given up is not waited for.
    fn wait(&mut self, why: &str, round: &mut Round) {
        let reasons = round.proposed.iter().flat_map(|put| &put.reasons);
        let probes: Vec<&String> = reasons.flat_map(|reason| &reason.needs).collect();
        let turn = |probe: &&String| self.session.next_attempt(self.kernel, probe);
        let turns: Vec<Turn> = probes.iter().filter_map(turn).collect();
        if turns.contains(&Turn::Never) {
            self.progress.idled();
            round.outcome = RoundOutcome::Refused;
            return;
        }
        let next = turns.iter().filter_map(|turn| match turn {
            Turn::At(at) => Some(*at),
            Turn::Now | Turn::Never => None,
        });
        let next = next.max();
        let until = match next {
            Some(next) => next,
            None => self.now().saturating_add(self.progress.wait(self.limits)),
        };
        round.outcome = RoundOutcome::Waited(until);
        self.doors.clock.wait_until(until);
        self.say(format!("waited, because {why}"));
    }

    /// Puts a call to the kernel, and runs it if it is allowed. The inner error says why it was not.
    fn perform(&mut self, call: &Call, round: &mut Round) -> Ended<Result<(), String>> {
        let id = format!("drive-{}{}", round.number, if call.fallback { "-fallback" } else { "" });
        let mut proposed = self.propose(&id, call)?;
        // Nobody is asked to approve what nobody chose.
        let asks = proposed.verdict.decision == Decision::Ask && !call.fallback;
        if asks && self.approve(call, &proposed.verdict)? {
            proposed = self.propose(&id, call)?;
        }
        let Proposed { verdict, served, .. } = proposed;
        let decision = verdict.decision;
        let why = words(&verdict);
        round.proposed = Some(Put {
            call: id.clone(),
            tool: call.tool.clone(),
            args: report::args(self.kernel, &call.tool, &call.args),
            fallback: call.fallback,
            value: call.value,
            decision,
            reasons: verdict.reasons,
        });
        match decision {
            Decision::Allow if self.session.flights.iter().any(|flight| flight.call == id) => {
                self.run_call(&id, call, round).map(Ok)
            }
            Decision::Allow => {
                self.succeeded(call, served.as_ref(), round);
                Ok(Ok(()))
            }
            Decision::Ask => {
                self.progress.idled();
                self.say(format!("`{}` was not approved: {why}", call.tool));
                round.outcome = RoundOutcome::NotApproved;
                Ok(Ok(()))
            }
            Decision::Deny | Decision::Wait => Ok(Err(why)),
        }
    }

    fn propose(&mut self, id: &str, call: &Call) -> Ended<Proposed> {
        let now = self.now();
        let proposal = Proposal { call: id, tool: &call.tool, args: &call.args, now };
        match self.step(&Event::Propose(proposal))? {
            Outcome::Proposed(proposed) => Ok(proposed),
            _ => Err(strange()),
        }
    }

    /// Asks everybody whose approval is missing; whether all gave it.
    fn approve(&mut self, call: &Call, verdict: &Verdict) -> Ended<bool> {
        let Call { tool, args, .. } = call;
        let asks = verdict.reasons.iter().filter(|reason| reason.decision == Decision::Ask);
        for reason in asks {
            for role in &reason.needs {
                let wanted = Wanted { tool, args, role, message: &reason.message };
                let Some(Approved { by, expires }) = self.doors.approvals.ask(&wanted) else {
                    return Ok(false);
                };
                let now = self.now();
                let approve = Approve { tool, args, role, by: &by, expires, now };
                self.step(&Event::Approve(approve))?;
            }
        }
        Ok(true)
    }

    /// Runs an allowed call, and settles it.
    fn run_call(&mut self, id: &str, call: &Call, round: &mut Round) -> Ended<()> {
        let outcome = self.doors.tools.run(&call.tool, &call.args);
        let ending = match &outcome {
            ToolOutcome::Success(result) => Ending::Success(result.as_ref()),
            ToolOutcome::Failure(_) => Ending::Failure,
        };
        let now = self.now();
        self.step(&Event::Settle(Settlement { call: id, ending, now }))?;
        match &outcome {
            ToolOutcome::Success(result) => self.succeeded(call, result.as_ref(), round),
            ToolOutcome::Failure(why) => {
                self.held = false;
                self.progress.failed(self.changed());
                self.tell(call, &format!("failed: {why}"));
                round.outcome = RoundOutcome::Failed(report::cut(why));
            }
        }
        Ok(())
    }

    /// A call has succeeded: one that was run, or one that the kernel has served.
    fn succeeded(&mut self, call: &Call, result: Option<&Json>, round: &mut Round) {
        self.held = false;
        self.progress.succeeded(&call.tool, &call.args, self.changed());
        round.outcome = RoundOutcome::Succeeded;
        let result = result.and_then(|result| report::result(self.kernel, &call.tool, result));
        self.tell(call, &format!("succeeded{}", result.unwrap_or_default()));
    }

    /// Adds how a call ended to what the reasoner will hear.
    fn tell(&mut self, call: &Call, ended: &str) {
        let before =
            self.last.take().map(|before| format!("{before}; instead ")).unwrap_or_default();
        self.say(format!("{before}`{}` {ended}", call.tool));
    }

    /// Whether the last settlement has changed the state.
    fn changed(&self) -> bool {
        let state = &self.session.state;
        self.session.changes.iter().any(|(var, before)| state[*var as usize] != *before)
    }

    /// Gives the kernel an event, and the witness what became of it.
    fn step(&mut self, event: &Event<'_>) -> Ended<Outcome> {
        let outcome = self.kernel.step(self.session, event, self.doors.world);
        let outcome = outcome.map_err(|error: StepError| End::Error(error.to_string()))?;
        self.doors.witness.event(self.kernel, self.session, event, &outcome);
        match &outcome {
            Outcome::Proposed(proposed) => self.feedback.extend_from_slice(&proposed.feedback),
            Outcome::Settled(settled) => self.feedback.extend_from_slice(&settled.feedback),
            _ => {}
        }
        Ok(outcome)
    }
}

/// Whether what was proposed only has to become ready.
fn only_unready(round: &Round) -> bool {
    let unready = |reason: &Reason| reason.code == Code::NotReady;
    round.proposed.as_ref().is_some_and(|put| put.reasons.iter().all(unready))
}

/// An outcome of another event.
fn strange() -> End {
    End::Error("the kernel answers another event".into())
}

/// Why a call was not allowed: all reasons.
fn words(verdict: &Verdict) -> String {
    let reason = |reason: &Reason| {
        let help =
            if reason.help.is_empty() { String::new() } else { format!(" ({})", reason.help) };
        format!("{}: {}{help}", reason.code.as_str(), reason.message)
    };
    verdict.reasons.iter().map(reason).collect::<Vec<_>>().join("; ")
}
