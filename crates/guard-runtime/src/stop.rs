//! Whether the agent may stop: what the guard's completion asks for is there (semantics §12).

mod checks;

pub(crate) use checks::Checks;

use crate::error::StepError;
use crate::eval::Decision;
use crate::kernel::Kernel;
use crate::session::Session;
use crate::world::{Answers, World};
use guard_plan::plan::Millis;
use guard_plan::record::{Asked, Missing, Note, StopDecision};

/// The agent wants to stop.
#[derive(Debug, Clone, Copy)]
pub struct Stop<'s> {
    /// Why, as the host says; for the record.
    pub reason: Option<&'s str>,
    /// When.
    pub now: Millis,
}

/// Whether it may.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// Whether it may.
    pub decision: StopDecision,
    /// Why nothing was checked: `halted`, `deadline` or an exhausted unit.
    pub bypassed: Option<String>,
    /// It may although something is missing.
    pub incomplete: bool,
    /// What is missing.
    pub missing: Vec<Missing>,
    /// What the agent should read; empty where nothing is missing.
    pub message: String,
    /// What the world was asked, in order.
    pub asked: Vec<Asked>,
    /// What was noticed.
    pub notes: Vec<Note>,
}

impl Stopped {
    fn allowed(bypassed: Option<String>) -> Stopped {
        Stopped {
            decision: StopDecision::Allow,
            bypassed,
            incomplete: false,
            missing: Vec::new(),
            message: String::new(),
            asked: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl Kernel {
    /// Decides whether the agent may stop.
    pub fn stop(
        &self,
        session: &mut Session,
        stop: &Stop<'_>,
        world: &mut dyn World,
    ) -> Result<Stopped, StepError> {
        if let Some(full) = self.instead(session) {
            return full.stop(session, stop, world);
        }
        session.advance(stop.now);
        if let Some(why) = self.bypass(session) {
            return Ok(Stopped::allowed(Some(why)));
        }
        let Some(completion) = &self.plan().completion else {
            return Ok(Stopped::allowed(None));
        };
        let answers = Answers::new(world);
        let decision = Decision::default();
        let missing = self.checks.missing(&self.context(session, &decision, &answers));
        let mut stopped = Stopped::allowed(None);
        stopped.asked = answers.commit(session);
        if missing.is_empty() {
            return Ok(stopped);
        }
        if session.blocked >= completion.at_most || self.plan().shadow {
            stopped.incomplete = true;
        } else {
            session.blocked += 1;
            stopped.decision = StopDecision::Block;
        }
        stopped.message = message(&missing, stopped.incomplete);
        stopped.missing = missing;
        Ok(stopped)
    }

    /// Why nothing is checked: there is no going on.
    fn bypass(&self, session: &Session) -> Option<String> {
        if session.halted.is_some() {
            return Some("halted".into());
        }
        let plan = self.plan();
        let ended = |deadline| session.now >= session.start.saturating_add(deadline);
        if plan.deadline.is_some_and(ended) {
            return Some("deadline".into());
        }
        let mut units = plan.units.iter().zip(&session.spent);
        let exhausted =
            units.find(|(unit, spent)| unit.budget.is_some_and(|budget| **spent >= budget));
        exhausted.map(|(unit, _)| unit.name.clone())
    }
}

/// What the agent should read.
fn message(missing: &[Missing], incomplete: bool) -> String {
    let lead = if incomplete { "Stopped with work missing:" } else { "The work is not complete:" };
    let mut out = String::from(lead);
    for one in missing {
        out.push_str("\n- ");
        out.push_str(&one.message);
    }
    if !incomplete {
        out.push_str("\nDo what is missing, then stop again.");
    }
    out
}
