//! What only the host may say: approvals, usage, the end of a halt. And the one door for all events.

use crate::error::StepError;
use crate::item::{Move, Moved, Verify};
use crate::kernel::Kernel;
use crate::prompt::{Learned, Prompt};
use crate::propose::{Proposal, Proposed};
use crate::session::{Grant, Session};
use crate::settle::{Settled, Settlement};
use crate::stage::arguments::{self, Arguments};
use crate::stop::{Stop, Stopped};
use crate::world::World;
use guard_plan::json::Json;
use guard_plan::key;
use guard_plan::plan::Millis;

/// How long an approval holds that says nothing of it.
const DEFAULT_APPROVAL: Millis = 3_600_000;

/// The approval of exactly one call.
#[derive(Debug, Clone, Copy)]
pub struct Approve<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The arguments.
    pub args: &'a Json,
    /// In which role it is given.
    pub role: &'a str,
    /// By whom.
    pub by: &'a str,
    /// From when on it is gone; one hour after it is given where that is not said.
    pub expires: Option<Millis>,
    /// When it is given.
    pub now: Millis,
}

/// A report of something the host charges.
#[derive(Debug, Clone, Copy)]
pub struct Usage<'a> {
    /// The unit.
    pub unit: &'a str,
    /// How much, in units of 10⁻⁶.
    pub amount: i64,
    /// When.
    pub now: Millis,
}

/// The end of a halt.
#[derive(Debug, Clone, Copy)]
pub struct Resume<'a> {
    /// In which role.
    pub role: &'a str,
    /// By whom.
    pub by: &'a str,
    /// When.
    pub now: Millis,
}

/// Anything that happens in a session.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "each is documented itself")]
pub enum Event<'a> {
    Propose(Proposal<'a>),
    Settle(Settlement<'a>),
    Approve(Approve<'a>),
    Usage(Usage<'a>),
    Resume(Resume<'a>),
    Prompt(Prompt<'a>),
    Stop(Stop<'a>),
    Verify(Verify<'a>),
    Move(Move<'a>),
}

/// What an event came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Of a proposal.
    Proposed(Proposed),
    /// Of a settlement.
    Settled(Settled),
    /// Of a prompt.
    Prompted(Learned),
    /// Of a stop.
    Stopped(Stopped),
    /// Of an item verified or moved.
    Item(Moved),
    /// It was taken.
    Taken,
}

impl Kernel {
    /// Takes any event.
    pub fn step(
        &self,
        session: &mut Session,
        event: &Event<'_>,
        world: &mut dyn World,
    ) -> Result<Outcome, StepError> {
        match event {
            Event::Propose(proposal) => {
                self.propose(session, proposal, world).map(Outcome::Proposed)
            }
            Event::Settle(settlement) => {
                self.settle(session, settlement, world).map(Outcome::Settled)
            }
            Event::Approve(approve) => self.approve(session, approve).map(|()| Outcome::Taken),
            Event::Usage(usage) => self.usage(session, usage).map(|()| Outcome::Taken),
            Event::Resume(resume) => self.resume(session, resume).map(|()| Outcome::Taken),
            Event::Prompt(prompt) => self.prompt(session, prompt, world).map(Outcome::Prompted),
            Event::Stop(stop) => self.stop(session, stop, world).map(Outcome::Stopped),
            Event::Verify(verify) => self.verify(session, verify, world).map(Outcome::Item),
            Event::Move(by) => self.move_item(session, by).map(Outcome::Item),
        }
    }

    /// Records the approval of exactly one call.
    pub fn approve(&self, session: &mut Session, approve: &Approve<'_>) -> Result<(), StepError> {
        let unknown = || StepError::UnknownTool(approve.tool.into());
        let tool = self.tool(approve.tool).ok_or_else(unknown)?;
        let params = &self.plan().tools[tool as usize].params;
        let mut args = Arguments::none();
        arguments::decode(self, session, params, approve.args, &mut args)
            .map_err(StepError::InvalidArguments)?;
        let mut bytes = Vec::new();
        args.values().iter().for_each(|arg| arg.write_key(&mut bytes));
        key::shorten(0, &mut bytes);
        session.advance(approve.now);
        let given = session.now;
        session.approvals.retain(|grant| grant.expires > given);
        session.approvals.push(Grant {
            tool,
            key: bytes.into_boxed_slice(),
            role: approve.role.into(),
            by: approve.by.into(),
            given,
            expires: approve.expires.unwrap_or(given.saturating_add(DEFAULT_APPROVAL)),
        });
        Ok(())
    }

    /// Adds to what was spent of a unit that the host charges.
    pub fn usage(&self, session: &mut Session, usage: &Usage<'_>) -> Result<(), StepError> {
        if usage.amount < 0 {
            return Err(StepError::NegativeAmount(usage.amount));
        }
        let charged = |unit: &guard_plan::plan::Unit| unit.name == usage.unit && unit.host_charged;
        let unit = self.plan().units.iter().position(charged);
        let unit = unit.ok_or_else(|| StepError::NotHostCharged(usage.unit.into()))?;
        session.advance(usage.now);
        session.spent[unit] = session.spent[unit].saturating_add(usage.amount);
        Ok(())
    }

    /// Ends a halt.
    pub fn resume(&self, session: &mut Session, resume: &Resume<'_>) -> Result<(), StepError> {
        if session.halted.is_none() {
            return Err(StepError::NotHalted);
        }
        session.advance(resume.now);
        session.halted = None;
        Ok(())
    }
}
