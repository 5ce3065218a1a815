//! The kernel: a compiled plan with one entry point for every event.
//!
//! Its methods select the plan that decides a session, and call the operations. The kernel holds no
//! session state, so one kernel behind an `Arc` serves all sessions.

use crate::compiled::CompiledPlan;
use crate::contract::{self, SessionKnown};
use crate::error::{KernelError, RecallError, StepError, UpgradeError};
use crate::event::{
    CallApproval, Event, HaltEnd, Move, Proposal, Revocation, Settlement, StopAttempt, UsageReport,
    UserPrompt, Verify,
};
use crate::hypothesis::Hypothesis;
use crate::outcome::{Learned, Moved, Outcome, Proposed, Settled, Stopped};
use crate::propose::Scratch;
use crate::session::SessionState;
use crate::shadow::Shadow;
use crate::upgrade::{self, Upgraded};
use crate::world::World;
use crate::{evaluate, host, item, open, prompt, propose, recall, settle, stop};
use guard_contract::{NoSchemas, Schemas};
use guard_plan::LoadedPlan;
use guard_plan::json::Json;
use guard_plan::plan::{Expr, Millis, Plan, ToolId};
use guard_plan::value::{Fault, Value};
use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// A compiled plan, ready to decide.
#[derive(Debug)]
pub struct Kernel {
    pub(crate) compiled: CompiledPlan,
    /// The full plan, if it also decides, beside the optimized one.
    shadow: Option<Box<Shadow>>,
}

impl Kernel {
    /// The format version of [`SessionState::memory`]; other versions are not read.
    pub const MEMORY_FORM: u32 = 4;

    /// Builds a kernel: compiles the plan's regular expressions, builds its constants and checks
    /// its initial state. The kernel has no JSON Schema validator, so a check by a contract that
    /// uses a JSON Schema always fails.
    ///
    /// # Errors
    ///
    /// Returns an error if a regular expression does not compile, a proof does not hold, or the
    /// initial state has no value or violates a proved invariant.
    pub fn new(loaded: LoadedPlan) -> Result<Kernel, KernelError> {
        Kernel::with_schemas(loaded, &NoSchemas)
    }

    /// Builds a kernel with a JSON Schema validator.
    ///
    /// # Errors
    ///
    /// See [`Kernel::new`].
    pub fn with_schemas(loaded: LoadedPlan, schemas: &dyn Schemas) -> Result<Kernel, KernelError> {
        Kernel::of_compiled(CompiledPlan::new(loaded, schemas)?)
    }

    /// Builds a kernel whose proofs were checked.
    pub(crate) fn of_compiled(compiled: CompiledPlan) -> Result<Kernel, KernelError> {
        let session = open::open(&compiled, "", 0, "/", None);
        let session = session.map_err(|error| KernelError::State(error.to_string()))?;
        open::begins_sound(&compiled, &session)?;
        Ok(Kernel { compiled, shadow: None })
    }

    /// Builds a kernel of an optimized plan that also evaluates the full plan on every `every`th
    /// decision. Both are plans of the same guard.
    ///
    /// # Errors
    ///
    /// Returns an error if the plans belong to different guards.
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

    /// Returns the plan that decides a session: the full one if the session stays on it (semantics
    /// §16).
    pub fn plan_of(&self, session: &SessionState) -> &Plan {
        self.deciding(session).plan()
    }

    /// Returns true if a value that crosses the kernel (an argument or a record field) may be
    /// secret.
    pub fn has_secrets(&self) -> bool {
        self.compiled.has_secrets()
    }

    /// Returns the tool with this wire name, or else the tool with this name in the guard.
    pub fn tool(&self, name: &str) -> Option<ToolId> {
        self.compiled.tool(name)
    }

    /// The plan that decides a session.
    fn deciding(&self, session: &SessionState) -> &CompiledPlan {
        match &self.shadow {
            Some(shadow) if session.full => &shadow.full,
            _ => &self.compiled,
        }
    }

    /// Returns the full plan that watches a session. A session that stays on the full plan is not
    /// watched.
    fn watching(&self, session: &SessionState) -> Option<&Shadow> {
        self.shadow.as_deref().filter(|_| !session.full)
    }

    /// Opens a session without data.
    ///
    /// # Errors
    ///
    /// Returns an error if the workspace is not a valid path or a variable has no initial value in
    /// it.
    pub fn open(
        &self,
        id: &str,
        start: Millis,
        workspace: &str,
    ) -> Result<SessionState, StepError> {
        self.open_with(id, start, workspace, None)
    }

    /// Opens a session that learns from the data that the host provides (semantics §8).
    ///
    /// # Errors
    ///
    /// See [`Kernel::open`].
    pub fn open_with(
        &self,
        id: &str,
        start: Millis,
        workspace: &str,
        data: Option<&Json>,
    ) -> Result<SessionState, StepError> {
        open::open(&self.compiled, id, start, workspace, data)
    }

    /// Sets the rate at which proved invariants are checked again: at one of `every` calls, or
    /// never. The default is one of 256. Call it directly after [`Kernel::open`]. It has no effect
    /// if the plan proves nothing.
    pub fn set_recheck(&self, session: &mut SessionState, every: Option<NonZeroU32>) {
        if !self.compiled.rechecks.is_empty() {
            session.recheck = every.map_or(0, NonZeroU32::get);
        }
    }

    /// Restores a session from its memory, which was written by a kernel of the same plan.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not a session memory, do not fit the plan, or hold a state
    /// that violates a proved invariant.
    pub fn recall(&self, memory: &[u8]) -> Result<SessionState, RecallError> {
        recall::recall(&self.compiled, memory)
    }

    /// Moves a session of this kernel to the plan of another kernel, at a given time (semantics
    /// §17). The caller must know whether the other plan allows more.
    ///
    /// # Errors
    ///
    /// Returns an error if the session's state cannot be transferred. The session is then
    /// unchanged.
    pub fn upgrade(
        &self,
        session: &SessionState,
        to: &Kernel,
        now: Millis,
    ) -> Result<Upgraded, UpgradeError> {
        upgrade::upgrade(self.deciding(session), &to.compiled, session, now)
    }

    /// Processes any event.
    ///
    /// # Errors
    ///
    /// Returns an error if the event is invalid in this session; it then has changed nothing. A
    /// refusal is not an error.
    pub fn step(
        &self,
        session: &mut SessionState,
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
            Event::Revoke(revoke) => self.revoke(session, revoke).map(|()| Outcome::Taken),
            Event::Usage(usage) => self.usage(session, usage).map(|()| Outcome::Taken),
            Event::Resume(resume) => self.resume(session, resume).map(|()| Outcome::Taken),
            Event::Prompt(prompt) => self.prompt(session, prompt, world).map(Outcome::Prompted),
            Event::Stop(stop) => self.stop(session, stop, world).map(Outcome::Stopped),
            Event::Verify(verify) => self.verify(session, verify, world).map(Outcome::Item),
            Event::Move(by) => self.move_item(session, by).map(Outcome::Item),
        }
    }

    /// Decides a call. An allowed call is in flight from then on. Any other decision changes only
    /// the clock.
    ///
    /// # Errors
    ///
    /// Returns an error if a call with this id is in flight.
    pub fn propose(
        &self,
        session: &mut SessionState,
        proposal: &Proposal<'_>,
        world: &mut dyn World,
    ) -> Result<Proposed, StepError> {
        let compiled = self.deciding(session);
        let shadow = self.watching(session);
        propose::propose(compiled, shadow, session, proposal, world)
    }

    /// Decides a call without side effects.
    pub fn check(
        &self,
        session: &SessionState,
        proposal: &Proposal<'_>,
        world: &mut dyn World,
    ) -> Proposed {
        self.check_with(session, proposal, world, &mut Scratch::default())
    }

    /// Decides a call without side effects, reusing the buffers of an earlier check: if it allows
    /// the call, it allocates nothing.
    pub fn check_with(
        &self,
        session: &SessionState,
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
    /// Returns an error if no call with this id is in flight.
    pub fn settle(
        &self,
        session: &mut SessionState,
        settlement: &Settlement<'_>,
        world: &mut dyn World,
    ) -> Result<Settled, StepError> {
        let compiled = self.deciding(session);
        let shadow = self.watching(session);
        settle::settle(compiled, shadow, session, settlement, world)
    }

    /// Returns true if a value has the declared type of a tool's results. A tool without a declared
    /// type accepts any value.
    pub fn is_result(&self, session: &SessionState, tool: &str, json: &Json) -> bool {
        let Some(tool) = self.tool(tool).map(|id| &self.plan().tools[id as usize]) else {
            return true;
        };
        let matches = |id, text: &str| self.compiled.matches(id, text);
        let decoder = self.compiled.decoder(&session.workspace, true, &matches);
        let forms = tool.forms.unwrap_or_default();
        let opened = forms.opened(json);
        let json = opened.as_ref().unwrap_or(json);
        tool.returns.is_none_or(|ty| decoder.decode_as(ty, &forms, json).is_ok())
    }

    /// Records the approval of exactly one call.
    ///
    /// # Errors
    ///
    /// Returns an error if the guard declares no such tool or the arguments do not fit the tool.
    pub fn approve(
        &self,
        session: &mut SessionState,
        approve: &CallApproval<'_>,
    ) -> Result<(), StepError> {
        host::approve(&self.compiled, session, approve)
    }

    /// Revokes a role's approvals of exactly one call that no call has used.
    ///
    /// # Errors
    ///
    /// The errors of [`Kernel::approve`]; [`StepError::NotApproved`] if there is no approval to
    /// revoke.
    pub fn revoke(
        &self,
        session: &mut SessionState,
        revoke: &Revocation<'_>,
    ) -> Result<(), StepError> {
        host::revoke(&self.compiled, session, revoke)
    }

    /// Adds to the amount spent of a unit that the host charges.
    ///
    /// # Errors
    ///
    /// Returns an error if the amount is negative or the host does not charge the unit.
    pub fn usage(
        &self,
        session: &mut SessionState,
        usage: &UsageReport<'_>,
    ) -> Result<(), StepError> {
        host::usage(&self.compiled, session, usage)
    }

    /// Ends a halt.
    ///
    /// # Errors
    ///
    /// Returns an error if the session is not halted.
    pub fn resume(
        &self,
        session: &mut SessionState,
        resume: &HaltEnd<'_>,
    ) -> Result<(), StepError> {
        host::resume(session, resume)
    }

    /// Learns facts from a user message.
    ///
    /// # Errors
    ///
    /// Currently returns no error.
    pub fn prompt(
        &self,
        session: &mut SessionState,
        prompt: &UserPrompt<'_>,
        world: &mut dyn World,
    ) -> Result<Learned, StepError> {
        Ok(prompt::prompt(self.deciding(session), session, prompt, world))
    }

    /// Decides whether the agent may stop.
    ///
    /// # Errors
    ///
    /// Currently returns no error.
    pub fn stop(
        &self,
        session: &mut SessionState,
        stop: &StopAttempt<'_>,
        world: &mut dyn World,
    ) -> Result<Stopped, StepError> {
        Ok(stop::stop(self.deciding(session), session, stop, world))
    }

    /// Judges the criteria of an item, and moves the item accordingly.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such item or its state has no verification.
    pub fn verify(
        &self,
        session: &mut SessionState,
        verify: &Verify<'_>,
        world: &mut dyn World,
    ) -> Result<Moved, StepError> {
        item::verify(&self.compiled, session, verify, world)
    }

    /// Moves an item manually.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such item or the harness cannot make the transition now.
    pub fn move_item(&self, session: &mut SessionState, by: &Move<'_>) -> Result<Moved, StepError> {
        item::move_item(&self.compiled, session, by)
    }

    /// Evaluates an expression over a session's state, the clock and the world. It changes nothing,
    /// and works in a halted session. It serves external readers of a session: tests and tools.
    ///
    /// The expression must be lowered against this plan, since only this plan keeps the memories
    /// that it reads. The session must be opened by this kernel.
    ///
    /// # Errors
    ///
    /// Returns the fault of the expression. A reference to an entity that the plan does not have is
    /// a fault.
    pub fn evaluate(
        &self,
        session: &SessionState,
        expr: &Expr,
        now: Millis,
        world: &mut dyn World,
    ) -> Result<Value, Fault> {
        evaluate::evaluate(&self.compiled, session, expr, now, world)
    }

    /// Returns a hypothesis over a session at a given time, for hypothetical questions of advice.
    /// Nothing changes.
    pub fn suppose<'h>(
        &'h self,
        session: &'h SessionState,
        now: Millis,
        world: &'h mut dyn World,
    ) -> Hypothesis<'h> {
        Hypothesis::new(self.deciding(session), session, now, world)
    }

    /// Returns a session's answers for the contract with an index in the plan; `given` are the
    /// lists that the host provides, by name. `None` if the plan has no such contract.
    pub fn known<'a>(
        &'a self,
        session: &'a SessionState,
        contract: usize,
        given: &'a BTreeMap<String, Vec<Json>>,
    ) -> Option<SessionKnown<'a>> {
        contract::known(&self.compiled, session, contract, given)
    }
}
