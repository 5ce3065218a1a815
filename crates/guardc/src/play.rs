//! A session with a simulated clock and world, for tests and interactive use.

mod simulated;

pub use simulated::Simulated;

use crate::failure::Failure;
use guard_plan::advice::Advice;
use guard_plan::json::Json;
use guard_plan::plan::{Expr, TypeId};
use guard_plan::record::{Delivered, ItemChange, StopDecision};
use guard_plan::report::Report;
use guard_plan::value::{Fault, Value};
use guard_plan::verdict::Verdict;
use guard_plan::{decimal, render, secrecy, time};
use guard_runtime::Learned;
use guard_sdk::{Guard, Proposed, Session, SessionError, Settled, Stopped, TextOptions};
use std::fmt::Write as _;

/// The start of every simulated session: a Monday morning.
pub const START: &str = "2026-01-05T09:00:00Z";

/// The workspace of every simulated session.
pub const WORKSPACE: &str = "/workspace";

/// The maximum length of a call's arguments in the trace, in characters.
const MAX_ARGS: usize = 2000;

/// A simulated session.
pub struct Play {
    session: Session<Simulated>,
    now: i64,
    start: i64,
    calls: u64,
    trace: String,
    /// The opening data of the session.
    data: Option<Json>,
    /// True until the first event after the opening.
    is_fresh: bool,
    /// The feedback of the last event.
    feedback: Vec<Delivered>,
}

fn open(
    guard: &Guard,
    world: Simulated,
    start: i64,
    data: Option<&Json>,
) -> Result<Session<Simulated>, SessionError> {
    let options = guard.session_in("play", world).root(WORKSPACE).at(start);
    match data {
        Some(data) => options.data(data).open_in_world(),
        None => options.open_in_world(),
    }
}

impl Play {
    /// Creates a session that has just begun.
    pub fn new(guard: &Guard) -> Result<Play, Failure> {
        let start = time::parse_rfc3339(START).unwrap_or_default();
        let cannot = |why| Failure::new(format!("the guard cannot begin a session: {why}"));
        let session = open(guard, Simulated::default(), start, None).map_err(cannot)?;
        let trace = String::new();
        let feedback = Vec::new();
        Ok(Play {
            session,
            now: start,
            start,
            calls: 0,
            trace,
            data: None,
            is_fresh: true,
            feedback,
        })
    }

    /// Restarts the session in the same world.
    fn reopen(&mut self, start: i64, data: Option<&Json>) -> Result<(), String> {
        let world = std::mem::take(self.session.world_mut());
        let guard = self.session.guard().clone();
        match open(&guard, world.clone(), start, data) {
            Ok(session) => {
                self.session = session;
                Ok(())
            }
            Err(error) => {
                *self.session.world_mut() = world;
                Err(error.to_string())
            }
        }
    }

    /// Restarts the session, with opening data from the host.
    pub fn open(&mut self, data: &Json) -> Result<(), String> {
        self.reopen(self.start, Some(data))?;
        self.data = Some(data.clone());
        self.note_opening();
        Ok(())
    }

    fn note_opening(&mut self) {
        if let Some(data) = &self.data {
            let mut text = String::new();
            data.write(&mut text);
            self.note(&format!("opened with {text}"));
        }
        self.is_fresh = true;
    }

    /// Returns the world that answers the session's questions.
    pub fn world(&mut self) -> &mut Simulated {
        self.session.world_mut()
    }

    /// Returns the session for the next event, which happens at the simulated time.
    fn now(&mut self) -> &mut Session<Simulated> {
        self.session.at(self.now)
    }

    /// Proposes a call, with a new id if none is given.
    pub fn propose(
        &mut self,
        name: Option<&str>,
        tool: &str,
        args: &Json,
    ) -> Result<(String, Proposed), String> {
        self.calls += 1;
        let call = name.map_or_else(|| format!("call-{}", self.calls), str::to_owned);
        let proposed = self.now().propose(&call, tool, args).map_err(|e| e.to_string())?;
        let proposed = proposed.into_outcome();
        let text = self.arguments(tool, args);
        let word = proposed.verdict.decision.as_str();
        self.note(&format!("{call} {tool} {text}: {word}"));
        for change in &proposed.items {
            self.note(&changed(change));
        }
        self.deliver(&proposed.feedback);
        Ok((call, proposed))
    }

    /// Formats the arguments of a call for the trace: secrets hidden, control characters escaped,
    /// truncated.
    fn arguments(&self, tool: &str, args: &Json) -> String {
        let plan = self.session.guard().plan();
        let declared = plan.called(tool);
        let hide = |_: &Json| Json::string(render::SECRET);
        let shown = secrecy::without_secrets(plan, declared, args, &hide);
        render::cut(&shown.to_string(), MAX_ARGS)
    }

    /// Processes a user message.
    pub fn prompt(&mut self, text: &str) -> Result<Learned, String> {
        let learned = self.now().prompt(text).map_err(|e| e.to_string())?.into_outcome();
        self.note(&format!("prompt {text:?}: {} learned", learned.learned));
        Ok(learned)
    }

    /// Decides a stop of the agent.
    pub fn stop(&mut self) -> Result<Stopped, String> {
        let stopped = self.now().stop(None).map_err(|e| e.to_string())?.into_outcome();
        self.note(match stopped.decision {
            StopDecision::Allow => "stop: allow",
            StopDecision::Block => "stop: block",
        });
        Ok(stopped)
    }

    /// Judges the criteria of an item.
    pub fn verify(&mut self, item: &str) -> Result<ItemChange, String> {
        let moved = self.now().verify_item(item).map_err(|e| e.to_string())?;
        let change = moved.into_outcome().change;
        self.note(&changed(&change));
        Ok(change)
    }

    /// Moves an item.
    pub fn move_item(
        &mut self,
        item: &str,
        transition: &str,
        by: &str,
        reason: Option<&str>,
    ) -> Result<ItemChange, String> {
        let moved = self.now().move_item(item, transition, by, reason);
        let change = moved.map_err(|e| e.to_string())?.into_outcome().change;
        self.note(&changed(&change));
        Ok(change)
    }

    /// Returns the ranked next actions; nothing changes.
    pub fn advise(&mut self) -> Advice {
        self.now().advise()
    }

    /// Returns the feedback of the last event.
    pub fn feedback(&self) -> &[Delivered] {
        &self.feedback
    }

    fn deliver(&mut self, feedback: &[Delivered]) {
        for delivered in feedback {
            self.note(&format!("feedback {}", delivered.provider));
        }
        self.feedback = feedback.to_vec();
    }

    /// Returns the session, for reading.
    pub fn session(&self) -> &Session<Simulated> {
        &self.session
    }

    /// Returns the report of a contract on a text, from the state of the session.
    pub fn report(&mut self, contract: &str, text: &str) -> Result<Report, String> {
        let options = TextOptions::default();
        let report = self.now().check_text(contract, text, &options);
        report.map(guard_sdk::Recorded::into_outcome).map_err(|e| e.to_string())
    }

    /// Returns the verdict that a call would get; nothing changes.
    pub fn would(&mut self, tool: &str, args: &Json) -> Verdict {
        self.now().preview(tool, args).verdict
    }

    /// Evaluates an expression now; nothing changes.
    pub fn evaluate(&mut self, expr: &Expr) -> Result<Value, Fault> {
        self.now().evaluate(expr)
    }

    /// Formats the value of an expression.
    pub fn show(&mut self, expr: &Expr, ty: TypeId) -> String {
        match self.evaluate(expr) {
            Ok(value) => render::value(&self.session.guard().plan().types, ty, &value),
            Err(fault) => format!("({fault})"),
        }
    }

    /// Settles a call.
    pub fn settle(
        &mut self,
        call: &str,
        success: bool,
        result: Option<&Json>,
    ) -> Result<Settled, String> {
        let ending = if success { Ok(result) } else { Err(()) };
        let settled = self.now().settle(call, ending).map_err(|e| e.to_string())?.into_outcome();
        self.settled(call, success, settled)
    }

    /// Settles a call with a result that cannot be parsed.
    pub fn settle_unreadable(&mut self, call: &str) -> Result<Settled, String> {
        let settled = self.now().settle_text(call, "").map_err(|e| e.to_string())?.into_outcome();
        self.settled(call, true, settled)
    }

    fn settled(&mut self, call: &str, success: bool, settled: Settled) -> Result<Settled, String> {
        self.note(&format!("{call} {}", if success { "succeeded" } else { "failed" }));
        for note in &settled.notes {
            self.note(&format!("{call} {}: {}", note.rule, note.message));
        }
        self.deliver(&settled.feedback);
        Ok(settled)
    }

    /// Records an approval of exactly this call.
    pub fn approve(
        &mut self,
        tool: &str,
        args: &Json,
        role: &str,
        by: &str,
        within: Option<i64>,
    ) -> Result<(), String> {
        let expires = within.map(|within| self.now.saturating_add(within));
        self.now().approve(tool, args, role, by, expires).map_err(|e| e.to_string())?;
        self.note(&format!("{tool} approved by {role}"));
        Ok(())
    }

    /// Revokes a role's approval of exactly this call.
    pub fn revoke(&mut self, tool: &str, args: &Json, role: &str, by: &str) -> Result<(), String> {
        self.now().revoke(tool, args, role, by).map_err(|e| e.to_string())?;
        self.note(&format!("{tool}: the approval by {role} is taken back"));
        Ok(())
    }

    /// Records usage that the host reports.
    pub fn usage(&mut self, unit: &str, amount: i64) -> Result<(), String> {
        self.now().usage(unit, amount).map_err(|e| e.to_string())?;
        self.note(&format!("used {} {unit}", decimal::format(amount)));
        Ok(())
    }

    /// Ends a halt.
    pub fn resume(&mut self, role: &str, by: &str) -> Result<(), String> {
        self.now().resume(role, by).map_err(|e| e.to_string())?;
        self.note(&format!("resumed by {role}"));
        Ok(())
    }

    /// Advances the clock.
    pub fn advance(&mut self, millis: i64) -> Result<(), String> {
        self.now = self.now.checked_add(millis).ok_or("the clock cannot reach that time")?;
        self.is_fresh = false;
        Ok(())
    }

    /// Sets the clock. Before the first event after the opening this sets the session's start; afterwards the clock
    /// never runs backwards.
    pub fn set_clock(&mut self, time: i64) -> Result<(), String> {
        if self.is_fresh {
            let data = self.data.clone();
            self.reopen(time, data.as_ref())?;
            (self.start, self.now) = (time, time);
            self.trace.clear();
            self.note_opening();
        } else if time < self.now {
            let now = self.time();
            return Err(format!(
                "the clock is at {now} and cannot go back; set it before any other step"
            ));
        }
        self.now = time;
        Ok(())
    }

    /// Returns the formatted time.
    pub fn time(&self) -> String {
        time::format_rfc3339(self.now)
    }

    /// Returns the milliseconds since the session's start.
    pub fn elapsed(&self) -> i64 {
        self.now - self.start
    }

    /// Returns the reason of a halt, if the session is halted.
    pub fn halted(&self) -> Option<String> {
        self.session.state().halted().map(|halt| format!("{} ({})", halt.message, halt.rule))
    }

    /// Returns the formatted state variables.
    pub fn state(&self) -> Vec<(String, String)> {
        let plan = self.session.guard().plan();
        let vars = (0..).zip(&plan.state);
        vars.map(|(id, var)| {
            let value = self
                .session
                .state()
                .value(id)
                .map(|value| render::value(&plan.types, var.ty, value));
            (var.name.clone(), value.unwrap_or_default())
        })
        .collect()
    }

    /// Returns the budgets: `usd`, `12.00 of 50 spent`.
    pub fn budgets(&self) -> Vec<(String, String)> {
        let units = (0..).zip(&self.session.guard().plan().units);
        units
            .filter_map(|(id, unit)| {
                let spent = decimal::format(self.session.state().spent(id)?);
                let budget = unit.budget.map(|budget| format!(" of {}", decimal::format(budget)));
                Some((unit.name.clone(), format!("{spent}{} spent", budget.unwrap_or_default())))
            })
            .collect()
    }

    /// Returns the trace, one line per event.
    pub fn trace(&self) -> String {
        if self.trace.is_empty() { "nothing has happened yet\n".into() } else { self.trace.clone() }
    }

    fn note(&mut self, what: &str) {
        self.is_fresh = false;
        let time = self.time();
        let _ = writeln!(self.trace, "  {time}  {what}");
    }
}

/// Describes a change of an item.
fn changed(change: &ItemChange) -> String {
    let ItemChange { item, after, by, reasons, .. } = change;
    let before = change.before.as_ref().map_or(String::new(), |before| format!("{before} -> "));
    let why = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) };
    format!("{item} {before}{after} by {by}{why}")
}
