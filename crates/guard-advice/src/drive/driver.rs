//! The steps of a round.

mod calls;

use super::choice::Choice;
use super::io::{DriveIo, DriveSession, Reply, Situation};
use super::progress::RoundCounts;
use super::{DriveLimits, report};
use guard_plan::advice::{Action, Advice, Decimal, Status};
use guard_plan::drive::{DriveReport, End, Round, RoundOutcome, Spent};
use guard_plan::json::Json;
use guard_plan::plan::Millis;
use guard_plan::record::{self, Delivered, StopDecision};
use guard_plan::time;
use guard_plan::verdict::{Code, Reason};
use guard_runtime::{Event, Outcome, ProbeTurn, StopAttempt, Stopped};

/// A running drive.
pub(super) struct Driver<'d, 'o> {
    session: &'d mut dyn DriveSession,
    io: &'d mut DriveIo<'o>,
    limits: &'d DriveLimits,
    progress: RoundCounts,
    rounds: Vec<Round>,
    /// The outcome of the last round, as text.
    last: Option<String>,
    /// The feedback of the last round.
    feedback: Vec<Delivered>,
    /// True if it stopped although checks failed.
    incomplete: bool,
    /// True if the goals are reached but the stop was blocked. The stop is requested again after a
    /// change.
    held: bool,
}

/// A proposed call.
struct DriverCall {
    tool: String,
    args: Json,
    fallback: bool,
    value: Option<Decimal>,
}

/// The result of a step, or the reason why the drive ends in the middle of a round.
type DriveEnd<T> = Result<T, End>;

impl<'d, 'o> Driver<'d, 'o> {
    pub fn new(
        session: &'d mut dyn DriveSession,
        io: &'d mut DriveIo<'o>,
        limits: &'d DriveLimits,
    ) -> Self {
        Driver {
            session,
            io,
            limits,
            progress: RoundCounts::default(),
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
        let plan = self.session.kernel().plan();
        let spent = (0..).zip(&plan.units);
        let spent = spent
            .map(|(id, unit)| {
                let amount = self.session.state().spent(id).unwrap_or_default();
                Spent { unit: unit.name.clone(), amount: Decimal(amount) }
            })
            .collect();
        let progress = self.advise().progress;
        DriveReport { rounds: self.rounds, end, incomplete: self.incomplete, progress, spent }
    }

    fn now(&mut self) -> Millis {
        self.io.clock.now()
    }

    fn advise(&mut self) -> Advice {
        let now = self.now();
        self.session.advise(now)
    }

    /// Checks whether there is a further round; the error is the reason for the end.
    fn end(&mut self, advice: &Advice) -> DriveEnd<()> {
        if advice.reached() && !self.held {
            if self.stop("every goal is reached")? {
                return Err(End::GoalReached);
            }
            self.held = true;
        }
        let short = |action: &Action| action.needs.iter().any(|need| need.code == Code::Budget);
        // In shadow, a halt refuses nothing, so the drive can go on.
        let end = if advice.halted.is_some() && !self.session.kernel().plan().shadow {
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

    /// Asks the kernel whether the drive may stop, and keeps the failed checks for the reasoner.
    fn stop(&mut self, reason: &str) -> DriveEnd<bool> {
        let now = self.now();
        match self.step(&Event::Stop(StopAttempt { reason: Some(reason), now }))? {
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

    /// Keeps a text for the reasoner's next situation.
    fn say(&mut self, words: String) {
        self.last = Some(report::cut(&words));
    }

    /// Performs one choice.
    fn round(&mut self, advice: &Advice) -> DriveEnd<()> {
        let now = self.now();
        let mut round = Round {
            number: self.rounds.len() as u64 + 1,
            time: time::format_rfc3339(self.session.state().now().max(now)),
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

    fn choose(&mut self, advice: &Advice, round: &mut Round) -> DriveEnd<()> {
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

    /// Asks the reasoner for a choice.
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
        match self.io.reasoner.choose(&situation) {
            Reply::Text(text) => Choice::read(&text),
            Reply::TimedOut => Err("the reasoner took too long".into()),
            Reply::Failed(why) => Err(why),
        }
    }

    fn stop_chosen(&mut self, reasoning: &str, round: &mut Round) -> DriveEnd<()> {
        if self.stop(reasoning)? {
            round.outcome = RoundOutcome::Stopped;
            return Err(End::Stopped);
        }
        self.progress.idled();
        round.outcome = RoundOutcome::StopBlocked(self.last.clone().unwrap_or_default());
        Ok(())
    }

    /// Returns the call that a reasoner named. An action is looked up first by its name in the
    /// advice, then as the kernel does. Omitted arguments are taken from the advice.
    fn named(&self, advice: &Advice, action: &str, args: Option<Json>) -> DriverCall {
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
        let value =
            // The value was computed for other arguments if the reasoner chose its own.
            advised.filter(|action| action.args.as_ref().is_none_or(|judged| *judged == args));
        DriverCall { tool, args, fallback: false, value: value.map(|action| action.value) }
    }

    /// Replaces an invalid choice by the best action that is ready, or by one that only has to
    /// become ready.
    fn instead(&mut self, advice: &Advice, why: &str, round: &mut Round) -> DriveEnd<()> {
        self.say(format!("your choice was not accepted: {why}"));
        round.invalid = Some(report::cut(why));
        let unready = |action: &&Action| {
            let only = action.needs.iter().all(|need| need.code == Code::NotReady);
            action.status == Status::Blocked && action.args.is_some() && only
        };
        let action = advice.best().or_else(|| advice.actions.iter().find(unready));
        let Some((action, args)) = action.and_then(|action| Some((action, action.args.clone()?)))
        else {
            self.progress.idled();
            // Without a proposal the round has no other outcome.
            if round.proposed.is_some() {
                round.outcome = RoundOutcome::Refused;
            }
            return Ok(());
        };
        let tool = action.wire_name.clone();
        let value = Some(action.value);
        let call = DriverCall { tool, args, fallback: true, value };
        match self.perform(&call, round)? {
            Ok(()) => {}
            Err(why) if only_unready(round) => self.wait(&why, round),
            // The world has changed since the action was judged.
            Err(_) => {
                self.progress.idled();
                round.outcome = RoundOutcome::Refused;
            }
        }
        Ok(())
    }

    /// Waits for a probe that is not ready: until its next attempt if the guard defines one,
    /// otherwise longer each time. The drive does not wait for a probe that has given up.
    fn wait(&mut self, why: &str, round: &mut Round) {
        let reasons = round.proposed.iter().flat_map(|put| &put.reasons);
        let probes: Vec<&String> = reasons.flat_map(|reason| &reason.needs).collect();
        let turn =
            |probe: &&String| self.session.state().next_attempt(self.session.kernel(), probe);
        let turns: Vec<ProbeTurn> = probes.iter().filter_map(turn).collect();
        if turns.contains(&ProbeTurn::Never) {
            self.progress.idled();
            round.outcome = RoundOutcome::Refused;
            return;
        }
        let next = turns.iter().filter_map(|turn| match turn {
            ProbeTurn::At(at) => Some(*at),
            ProbeTurn::Now | ProbeTurn::Never => None,
        });
        let next = next.max();
        let until = match next {
            Some(next) => next,
            None => self.now().saturating_add(self.progress.wait(self.limits)),
        };
        round.outcome = RoundOutcome::Waited(until);
        self.io.clock.wait_until(until);
        self.say(format!("waited, because {why}"));
    }

    /// Gives the session an event, and keeps its feedback for the reasoner.
    fn step(&mut self, event: &Event<'_>) -> DriveEnd<Outcome> {
        let outcome = self.session.step(event).map_err(End::Error)?;
        match &outcome {
            Outcome::Proposed(proposed) => self.feedback.extend_from_slice(&proposed.feedback),
            Outcome::Settled(settled) => self.feedback.extend_from_slice(&settled.feedback),
            _ => {}
        }
        Ok(outcome)
    }
}

/// Returns true if the proposed call only has to become ready.
fn only_unready(round: &Round) -> bool {
    let unready = |reason: &Reason| reason.code == Code::NotReady;
    round.proposed.as_ref().is_some_and(|put| put.reasons.iter().all(unready))
}

/// Returns the end for an outcome that belongs to another event.
fn strange() -> End {
    End::Error("the kernel answered a different event".into())
}
