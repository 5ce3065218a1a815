//! The kernel: a compiled plan behind one door for every event.
//!
//! Its methods choose the plan that decides a session, and call the operations. It keeps nothing of any session, so
//! that one kernel behind an `Arc` serves all.

use crate::compiled::CompiledPlan;
use crate::contract::{self, SessionKnown};
use crate::error::{KernelError, RecallError, StepError};
use crate::event::{
    Approve, Event, Move, Prompt, Proposal, Resume, Settlement, Stop, Usage, Verify,
};
use crate::hypothesis::Hypothesis;
use crate::outcome::{Learned, Moved, Outcome, Proposed, Settled, Stopped};
use crate::propose::Scratch;
use crate::session::Session;
use crate::shadow::Shadow;
use crate::world::World;
use crate::{evaluate, host, item, open, prompt, propose, recall, settle, stop};
use guard_contract::{NoSchemas, Schemas};
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_plan::plan::{Expr, Millis, Plan, ToolId};
use guard_plan::value::{Fault, Value};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// A plan ready to decide.
#[derive(Debug)]
pub struct Kernel {
    pub(crate) compiled: CompiledPlan,
    /// The full plan, where it decides beside the optimized one.
    shadow: Option<Box<Shadow>>,
}

impl Kernel {
    /// The form of [`Session::memory`]; another is not read.
    pub const MEMORY_FORM: u32 = 1;

    /// Makes a plan ready: compiles its regular expressions, builds its constants, checks its initial state. It has
    /// nobody to carry out JSON Schemas, so a check by a contract with one is never met.
    ///
    /// # Errors
    ///
    /// Where a regular expression does not compile, a proof does not stand, or the initial state has no value or
    /// breaks what is proved.
    pub fn new(loaded: LoadedPlan) -> Result<Kernel, KernelError> {
        Kernel::with_schemas(loaded, &NoSchemas)
    }

    /// The same, with someone who carries out JSON Schemas.
    ///
    /// # Errors
    ///
    /// As [`Kernel::new`].
    pub fn with_schemas(loaded: LoadedPlan, schemas: &dyn Schemas) -> Result<Kernel, KernelError> {
        let compiled = CompiledPlan::new(loaded, schemas)?;
        let session = open::open(&compiled, "", 0, "/", None);
        let session = session.map_err(|error| KernelError::State(error.to_string()))?;
        open::begins_sound(&compiled, &session)?;
        Ok(Kernel { compiled, shadow: None })
    }

    /// A kernel of an optimized plan that has the full plan decide beside it on every `every`th decision. Both are
    /// plans of one guard.
    ///
    /// # Errors
    ///
    /// Where the two are not plans of one guard.
    pub fn with_shadow(
        full: Kernel,
        optimized: Kernel,
        every: NonZeroU32,
    ) -> Result<Kernel, KernelError> {
        let compiled = optimized.compiled;
        let shadow = Shadow::new(full.compiled, &compiled, every)?;
        Ok(Kernel { compiled, shadow: Some(Box::new(shadow)) })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        self.compiled.plan()
    }

    /// The plan as it was loaded, with hash and sources.
    pub fn loaded(&self) -> &LoadedPlan {
        self.compiled.loaded()
    }

    /// The plan that decides a session: the full one, where the session stays on it (semantics §16).
    pub fn plan_of(&self, session: &Session) -> &Plan {
        self.deciding(session).plan()
    }

    /// Whether a value that crosses the kernel may be secret: an argument, or a field of a record.
    pub fn has_secrets(&self) -> bool {
        self.compiled.has_secrets()
    }

    /// The tool with a wire name, or else with this name in the guard.
    pub fn tool(&self, name: &str) -> Option<ToolId> {
        self.compiled.tool(name)
    }

    /// The plan that decides a session.
    fn deciding(&self, session: &Session) -> &CompiledPlan {
        match &self.shadow {
            Some(shadow) if session.full => &shadow.full,
            _ => &self.compiled,
        }
    }

    /// The full plan that watches a session. One that stays on the full plan needs no watching.
    fn watching(&self, session: &Session) -> Option<&Shadow> {
        self.shadow.as_deref().filter(|_| !session.full)
    }

    /// Begins a session that is given nothing.
    ///
    /// # Errors
    ///
    /// Where the workspace is no path, or a variable has no initial value in it.
    pub fn open(&self, id: &str, start: Millis, workspace: &str) -> Result<Session, StepError> {
        self.open_with(id, start, workspace, None)
    }

    /// Begins a session, which learns from the data the host gives (semantics §8).
    ///
    /// # Errors
    ///
    /// As [`Kernel::open`].
    pub fn open_with(
        &self,
        id: &str,
        start: Millis,
        workspace: &str,
        data: Option<&Json>,
    ) -> Result<Session, StepError> {
        open::open(&self.compiled, id, start, workspace, data)
    }

    /// The session that remembers this. It was one of a kernel of the same plan.
    ///
    /// # Errors
    ///
    /// Where the bytes are no memory, do not fit the plan, or hold a state in which something that was proved does
    /// not hold.
    pub fn recall(&self, memory: &[u8]) -> Result<Session, RecallError> {
        recall::recall(&self.compiled, memory)
    }

    /// Takes any event.
    ///
    /// # Errors
    ///
    /// Where the event makes no sense in this session; it has changed nothing then. A refusal is no error.
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

    /// Decides a call. An allowed one is in flight from here on; anything else changed nothing but the
    /// clock.
    ///
    /// # Errors
    ///
    /// Where a call with this id is in flight.
    pub fn propose(
        &self,
        session: &mut Session,
        proposal: &Proposal<'_>,
        world: &mut dyn World,
    ) -> Result<Proposed, StepError> {
        let (compiled, shadow) = (self.deciding(session), self.watching(session));
        propose::propose(compiled, shadow, session, proposal, world)
    }

    /// Decides a call without any effect.
    pub fn check(
        &self,
        session: &Session,
        proposal: &Proposal<'_>,
        world: &mut dyn World,
    ) -> Proposed {
        self.check_with(session, proposal, world, &mut Scratch::default())
    }

    /// The same, with buffers of a check before: where it allows the call, nothing is allocated.
    pub fn check_with(
        &self,
        session: &Session,
        proposal: &Proposal<'_>,
        world: &mut dyn World,
        scratch: &mut Scratch,
    ) -> Proposed {
        propose::check(self.deciding(session), session, proposal, world, scratch)
    }

    /// Settles a call in flight.
    ///
    /// # Errors
    ///
    /// Where no call with this id is in flight.
    pub fn settle(
        &self,
        session: &mut Session,
        settlement: &Settlement<'_>,
        world: &mut dyn World,
    ) -> Result<Settled, StepError> {
        let (compiled, shadow) = (self.deciding(session), self.watching(session));
        settle::settle(compiled, shadow, session, settlement, world)
    }

    /// Records the approval of exactly one call.
    ///
    /// # Errors
    ///
    /// Where the guard declares no such tool, or the arguments are not those of the tool.
    pub fn approve(&self, session: &mut Session, approve: &Approve<'_>) -> Result<(), StepError> {
        host::approve(&self.compiled, session, approve)
    }

    /// Adds to what was spent of a unit that the host charges.
    ///
    /// # Errors
    ///
    /// Where the amount is negative, or the host does not charge the unit.
    pub fn usage(&self, session: &mut Session, usage: &Usage<'_>) -> Result<(), StepError> {
        host::usage(&self.compiled, session, usage)
    }

    /// Ends a halt.
    ///
    /// # Errors
    ///
    /// Where the session is not halted.
    pub fn resume(&self, session: &mut Session, resume: &Resume<'_>) -> Result<(), StepError> {
        host::resume(session, resume)
    }

    /// Learns from what the user has said.
    ///
    /// # Errors
    ///
    /// None today.
    pub fn prompt(
        &self,
        session: &mut Session,
        prompt: &Prompt<'_>,
        world: &mut dyn World,
    ) -> Result<Learned, StepError> {
        Ok(prompt::prompt(self.deciding(session), session, prompt, world))
    }

    /// Decides whether the agent may stop.
    ///
    /// # Errors
    ///
    /// None today.
    pub fn stop(
        &self,
        session: &mut Session,
        stop: &Stop<'_>,
        world: &mut dyn World,
    ) -> Result<Stopped, StepError> {
        Ok(stop::stop(self.deciding(session), session, stop, world))
    }

    /// Judges the criteria of an item, and moves it as they say.
    ///
    /// # Errors
    ///
    /// Where there is no such item, or nothing is verified in its state.
    pub fn verify(
        &self,
        session: &mut Session,
        verify: &Verify<'_>,
        world: &mut dyn World,
    ) -> Result<Moved, StepError> {
        item::verify(&self.compiled, session, verify, world)
    }

    /// Moves an item by hand.
    ///
    /// # Errors
    ///
    /// Where there is no such item, or the transition is not one that the harness can make now.
    pub fn move_item(&self, session: &mut Session, by: &Move<'_>) -> Result<Moved, StepError> {
        item::move_item(&self.compiled, session, by)
    }

    /// The value of an expression over what a session remembers, the clock and the world; nothing changes, and
    /// a halt does not matter. For those who look at a session from outside: tests, tools.
    ///
    /// The expression is one that was lowered against this plan, which alone keeps the memories it asks for. The
    /// session is one that this kernel has opened.
    ///
    /// # Errors
    ///
    /// The fault of the expression. One that refers to what the plan does not have is a fault.
    pub fn evaluate(
        &self,
        session: &Session,
        expr: &Expr,
        now: Millis,
        world: &mut dyn World,
    ) -> Result<Value, Fault> {
        evaluate::evaluate(&self.compiled, session, expr, now, world)
    }

    /// A session at a time, to ask what would be; nothing of it changes. For advice.
    pub fn suppose<'h>(
        &'h self,
        session: &'h Session,
        now: Millis,
        world: &'h mut dyn World,
    ) -> Hypothesis<'h> {
        Hypothesis::new(self.deciding(session), session, now, world)
    }

    /// The answers of a session for the contract at a place of the plan; `given` are the lists that the host hands
    /// over, by name. None where the plan has no such contract.
    pub fn known<'a>(
        &'a self,
        session: &'a Session,
        contract: usize,
        given: &'a BTreeMap<String, Vec<Json>>,
    ) -> Option<SessionKnown<'a>> {
        contract::known(&self.compiled, session, contract, given)
    }
}
