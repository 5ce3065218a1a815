//! A session with a simulated clock and world, for tests and interactive use.

mod simulated;

pub use simulated::Simulated;

use crate::failure::Failure;
use guard_contract::{Checker, Input};
use guard_plan::advice::Advice;
use guard_plan::decode::is_secret;
use guard_plan::json::Json;
use guard_plan::plan::{Expr, TypeId};
use guard_plan::record::{Delivered, ItemChange, StopDecision};
use guard_plan::report::Report;
use guard_plan::value::{Fault, Value};
use guard_plan::verdict::Verdict;
use guard_plan::{LoadedPlan, decimal, render, time};
use guard_runtime::{
    Approve, Ending, Kernel, Learned, Move, Prompt, Proposal, Proposed, Resume, Session, Settled,
    Settlement, StepError, Stop, Stopped, Usage, Verify,
};
use guard_schema::JsonSchemas;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::rc::Rc;

/// The start of every simulated session: a Monday morning.
pub const START: &str = "2026-01-05T09:00:00Z";

/// The workspace of every simulated session.
pub const WORKSPACE: &str = "/workspace";

/// The maximum length of a call's arguments in the trace, in characters.
const MAX_ARGS: usize = 2000;

/// Builds a kernel for a plan.
pub fn kernel(plan: &LoadedPlan) -> Result<Rc<Kernel>, Failure> {
    let cannot = |why| Failure::new(format!("the plan cannot be run: {why}"));
    Kernel::with_schemas(plan.clone(), &JsonSchemas).map(Rc::new).map_err(cannot)
}

/// A simulated session.
pub struct Play {
    kernel: Rc<Kernel>,
    session: Session,
    /// The world that answers the session's questions.
    pub world: Simulated,
    now: i64,
    start: i64,
    calls: u64,
    trace: String,
    /// The feedback of the last event.
    feedback: Vec<Delivered>,
}

impl Play {
    /// Returns a new session.
    pub fn new(kernel: Rc<Kernel>) -> Result<Play, Failure> {
        let start = time::parse_rfc3339(START).unwrap_or_default();
        let cannot =
            |why: StepError| Failure::new(format!("the guard cannot begin a session: {why}"));
        let session = kernel.open("play", start, WORKSPACE).map_err(cannot)?;
        let world = Simulated::default();
        let (trace, feedback) = (String::new(), Vec::new());
        Ok(Play { kernel, session, world, now: start, start, calls: 0, trace, feedback })
    }

    /// Begins again, with opening data from the host.
    pub fn open(&mut self, data: &Json) -> Result<(), String> {
        let opened = self.kernel.open_with("play", self.start, WORKSPACE, Some(data));
        self.session = opened.map_err(|e| e.to_string())?;
        let mut text = String::new();
        data.write(&mut text);
        self.note(&format!("opened with {text}"));
        Ok(())
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
        let proposal = Proposal { call: &call, tool, args: args.into(), now: self.now };
        let proposed = self.kernel.propose(&mut self.session, &proposal, &mut self.world);
        let proposed = proposed.map_err(|e| e.to_string())?;
        let text = self.arguments(tool, args);
        let word = crate::commands::test::decision(proposed.verdict.decision);
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
        let plan = self.kernel.plan();
        let declared = plan.tools.iter().find(|one| one.wire_name == tool || one.name == tool);
        let shown = match (declared, args) {
            (Some(declared), Json::Object(members)) => {
                let secret = |name: &str| {
                    let param = declared.params.iter().find(|param| *param.name == *name);
                    param.is_some_and(|param| is_secret(&plan.types, param))
                };
                let member = |(name, json): &(Box<str>, Json)| {
                    let json =
                        if secret(name) { Json::string(render::SECRET) } else { json.clone() };
                    (name.clone(), json)
                };
                Json::Object(members.iter().map(member).collect())
            }
            _ => args.clone(),
        };
        render::cut(&shown.to_string(), MAX_ARGS)
    }

    /// Processes a user message.
    pub fn prompt(&mut self, text: &str) -> Result<Learned, String> {
        let prompt = Prompt { text, now: self.now };
        let learned = self.kernel.prompt(&mut self.session, &prompt, &mut self.world);
        let learned = learned.map_err(|e| e.to_string())?;
        self.note(&format!("prompt {text:?}: {} learned", learned.learned));
        Ok(learned)
    }

    /// Decides a stop of the agent.
    pub fn stop(&mut self) -> Result<Stopped, String> {
        let stop = Stop { reason: None, now: self.now };
        let stopped = self.kernel.stop(&mut self.session, &stop, &mut self.world);
        let stopped = stopped.map_err(|e| e.to_string())?;
        self.note(match stopped.decision {
            StopDecision::Allow => "stop: allow",
            StopDecision::Block => "stop: block",
        });
        Ok(stopped)
    }

    /// Judges the criteria of an item.
    pub fn verify(&mut self, item: &str) -> Result<ItemChange, String> {
        let verify = Verify { item, now: self.now };
        let moved = self.kernel.verify(&mut self.session, &verify, &mut self.world);
        let change = moved.map_err(|e| e.to_string())?.change;
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
        let by = Move { item, transition, by, reason, now: self.now };
        let moved = self.kernel.move_item(&mut self.session, &by);
        let change = moved.map_err(|e| e.to_string())?.change;
        self.note(&changed(&change));
        Ok(change)
    }

    /// Returns the ranked next actions; nothing changes.
    pub fn advise(&mut self) -> Advice {
        guard_advice::advise(&self.kernel, &self.session, self.now, &mut self.world)
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

    /// Returns the session for reading.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns a contract's report on a text, by the session's knowledge; nothing changes.
    pub fn report(&self, contract: &str, text: &str) -> Result<Report, String> {
        let plan = self.kernel.plan();
        let at = plan.contracts.iter().position(|known| known.name == contract);
        let at = at.ok_or_else(|| format!("the guard has no contract `{contract}`"))?;
        let checker = Checker::with_schemas(plan, at, &JsonSchemas).map_err(|e| e.to_string())?;
        let nothing = BTreeMap::new();
        let known = self.kernel.known(&self.session, at, &nothing);
        let known = known.ok_or("the plan does not have it")?;
        let input = Input { finish_reason: None, known: &known, workspace: WORKSPACE };
        Ok(checker.check(text.as_bytes(), &input))
    }

    /// Returns the verdict on a hypothetical call; nothing changes.
    pub fn would(&mut self, tool: &str, args: &Json) -> Verdict {
        let proposal = Proposal { call: "would", tool, args: args.into(), now: self.now };
        self.kernel.check(&self.session, &proposal, &mut self.world).verdict
    }

    /// Evaluates an expression now; nothing changes.
    pub fn evaluate(&mut self, expr: &Expr) -> Result<Value, Fault> {
        self.kernel.evaluate(&self.session, expr, self.now, &mut self.world)
    }

    /// Formats the value of an expression.
    pub fn show(&mut self, expr: &Expr, ty: TypeId) -> String {
        match self.evaluate(expr) {
            Ok(value) => render::value(&self.kernel.plan().types, ty, &value),
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
        let ending = if success { Ending::Success(result) } else { Ending::Failure };
        let settlement = Settlement { call, ending, now: self.now };
        let settled = self.kernel.settle(&mut self.session, &settlement, &mut self.world);
        let settled = settled.map_err(|e| e.to_string())?;
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
        let approve = Approve { tool, args, role, by, expires, now: self.now };
        self.kernel.approve(&mut self.session, &approve).map_err(|e| e.to_string())?;
        self.note(&format!("{tool} approved by {role}"));
        Ok(())
    }

    /// Records usage that the host reports.
    pub fn usage(&mut self, unit: &str, amount: i64) -> Result<(), String> {
        let usage = Usage { unit, amount, now: self.now };
        self.kernel.usage(&mut self.session, &usage).map_err(|e| e.to_string())?;
        self.note(&format!("used {} {unit}", decimal::format(amount)));
        Ok(())
    }

    /// Ends a halt.
    pub fn resume(&mut self, role: &str, by: &str) -> Result<(), String> {
        let resume = Resume { role, by, now: self.now };
        self.kernel.resume(&mut self.session, &resume).map_err(|e| e.to_string())?;
        self.note(&format!("resumed by {role}"));
        Ok(())
    }

    /// Advances the clock.
    pub fn advance(&mut self, millis: i64) -> Result<(), String> {
        self.now = self.now.checked_add(millis).ok_or("the clock does not reach so far")?;
        Ok(())
    }

    /// Sets the clock. Before the first event this sets the session's start; afterwards the clock
    /// never runs backwards.
    pub fn set_clock(&mut self, time: i64) -> Result<(), String> {
        if self.trace.is_empty() {
            self.session = self.kernel.open("play", time, WORKSPACE).map_err(|e| e.to_string())?;
            (self.start, self.now) = (time, time);
        } else if time < self.now {
            return Err(format!("the clock stands at {} and never runs backwards", self.time()));
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
        self.session.halted().map(|halt| format!("{} ({})", halt.message, halt.rule))
    }

    /// Returns the formatted state variables.
    pub fn state(&self) -> Vec<(String, String)> {
        let plan = self.kernel.plan();
        let vars = (0..).zip(&plan.state);
        vars.map(|(id, var)| {
            let value =
                self.session.value(id).map(|value| render::value(&plan.types, var.ty, value));
            (var.name.clone(), value.unwrap_or_default())
        })
        .collect()
    }

    /// Returns the budgets: `usd`, `12.00 of 50 spent`.
    pub fn budgets(&self) -> Vec<(String, String)> {
        let units = (0..).zip(&self.kernel.plan().units);
        units
            .filter_map(|(id, unit)| {
                let spent = decimal::format(self.session.spent(id)?);
                let of = unit.budget.map(|budget| format!(" of {}", decimal::format(budget)));
                Some((unit.name.clone(), format!("{spent}{} spent", of.unwrap_or_default())))
            })
            .collect()
    }

    /// Returns the trace, one line per event.
    pub fn trace(&self) -> String {
        if self.trace.is_empty() { "nothing has happened yet\n".into() } else { self.trace.clone() }
    }

    fn note(&mut self, what: &str) {
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
