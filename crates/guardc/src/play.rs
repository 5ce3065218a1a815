//! A session with a clock and a world of its own, for tests and for playing by hand.

use crate::failure::Failure;
use guard_plan::json::Json;
use guard_plan::plan::{Expr, TypeId};
use guard_plan::value::{Fault, Value};
use guard_plan::verdict::Verdict;
use guard_plan::{LoadedPlan, decimal, path, render, time};
use guard_runtime::{
    Approve, Ending, Kernel, Proposal, Resume, Session, Settled, Settlement, Usage, World,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::rc::Rc;

/// When every simulated session begins: a Monday morning.
pub const START: &str = "2026-01-05T09:00:00Z";

/// Where every simulated session works.
pub const WORKSPACE: &str = "/workspace";

/// Files and probes as somebody said they are.
#[derive(Debug, Clone, Default)]
pub struct Simulated {
    /// The files there are, by normalised path; nothing else exists.
    files: BTreeSet<String>,
    /// What probes answer; no other answers.
    pub probes: BTreeMap<String, Json>,
}

impl Simulated {
    /// Puts a file there, or takes it away. Gives back its whole path.
    pub fn file(&mut self, name: &str, content: Option<String>) -> String {
        let whole =
            path::normalise(WORKSPACE, name).map_or_else(|_| name.to_owned(), |p| p.into_owned());
        match content {
            Some(_) => self.files.insert(whole.clone()),
            None => self.files.remove(&whole),
        };
        whole
    }
}

impl World for Simulated {
    fn exists(&mut self, path: &str) -> Option<bool> {
        Some(self.files.contains(path))
    }

    fn probe(&mut self, name: &str) -> Option<Json> {
        self.probes.get(name).cloned()
    }
}

/// A plan ready to decide.
pub fn kernel(plan: &LoadedPlan) -> Result<Rc<Kernel>, Failure> {
    let cannot = |why| Failure::new(format!("the plan cannot be run: {why}"));
    Kernel::new(plan.clone()).map(Rc::new).map_err(cannot)
}

/// A simulated session.
pub struct Play {
    kernel: Rc<Kernel>,
    session: Session,
    /// What the session's questions are answered by.
    pub world: Simulated,
    now: i64,
    start: i64,
    calls: u64,
    trace: String,
}

impl Play {
    /// A session that has just begun.
    pub fn new(kernel: Rc<Kernel>) -> Result<Play, Failure> {
        let start = time::parse_rfc3339(START).unwrap_or_default();
        let cannot = |why: guard_runtime::StepError| {
            Failure::new(format!("the guard cannot begin a session: {why}"))
        };
        let session = kernel.open("play", start, WORKSPACE).map_err(cannot)?;
        let world = Simulated::default();
        Ok(Play { kernel, session, world, now: start, start, calls: 0, trace: String::new() })
    }

    /// Proposes a call under a new id.
    pub fn propose(&mut self, tool: &str, args: &Json) -> Result<(String, Verdict), String> {
        self.calls += 1;
        let call = format!("call-{}", self.calls);
        let proposal = Proposal { call: &call, tool, args, now: self.now };
        let proposed = self.kernel.propose(&mut self.session, &proposal, &mut self.world);
        let verdict = proposed.map_err(|e| e.to_string())?.verdict;
        let mut text = String::new();
        args.write(&mut text);
        let word = crate::commands::test::decision(verdict.decision);
        self.note(&format!("{call} {tool} {text}: {word}"));
        Ok((call, verdict))
    }

    /// What would be said of a call; nothing changes.
    pub fn would(&mut self, tool: &str, args: &Json) -> Verdict {
        let proposal = Proposal { call: "would", tool, args, now: self.now };
        self.kernel.check(&self.session, &proposal, &mut self.world).verdict
    }

    /// The value of an expression now, or why it has none; nothing changes.
    pub fn evaluate(&mut self, expr: &Expr) -> Result<Value, Fault> {
        self.kernel.evaluate(&self.session, expr, self.now, &mut self.world)
    }

    /// The value of an expression as a person reads it.
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

    /// The host reports use.
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

    /// The clock advances.
    pub fn advance(&mut self, millis: i64) -> Result<(), String> {
        self.now = self.now.checked_add(millis).ok_or("the clock does not reach so far")?;
        Ok(())
    }

    /// The clock is set. Before anything has happened, that is when the session begins; afterwards the clock
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

    /// The clock, as it is written.
    pub fn time(&self) -> String {
        time::format_rfc3339(self.now)
    }

    /// Milliseconds since the session began.
    pub fn elapsed(&self) -> i64 {
        self.now - self.start
    }

    /// Why the session is halted, if it is.
    pub fn halted(&self) -> Option<String> {
        self.session.halted().map(|halt| format!("{} ({})", halt.message, halt.rule))
    }

    /// The state variables, rendered.
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

    /// Budgets: `usd`, `12.00 of 50 spent`.
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

    /// Everything that has happened, a line each.
    pub fn trace(&self) -> String {
        if self.trace.is_empty() { "nothing has happened yet\n".into() } else { self.trace.clone() }
    }

    fn note(&mut self, what: &str) {
        let time = self.time();
        let _ = writeln!(self.trace, "  {time}  {what}");
    }
}
