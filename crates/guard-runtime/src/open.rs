//! The beginning of a session: its initial state and the data that the host provides.

use crate::bounds;
use crate::compiled::CompiledPlan;
use crate::error::{KernelError, StepError};
use crate::eval::context::{Context, DecisionResources};
use crate::session::counter::Counter;
use crate::session::facts::FactRows;
use crate::session::flight::InFlight;
use crate::session::items::ItemTable;
use crate::session::origins::Origins;
use crate::session::private::PrivateIndex;
use crate::session::probes::Attempts;
use crate::session::sorted::Keyed;
use crate::session::{History, RecentCalls, SessionState, Truth};
use crate::settle::monitors;
use crate::world::{NoWorld, WorldAnswers};
use crate::{feedback, prompt, recheck};
use guard_plan::json::Json;
use guard_plan::plan::Millis;
use guard_plan::value::Value;
use std::collections::HashMap;

/// Opens a session that learns from the data that the host provides (semantics §8).
///
/// # Errors
///
/// Returns an error if the workspace is not a valid path or a variable has no initial value.
pub(crate) fn open(
    compiled: &CompiledPlan,
    id: &str,
    start: Millis,
    workspace: &str,
    data: Option<&Json>,
) -> Result<SessionState, StepError> {
    let mut session = empty(compiled, id, start, workspace)?;
    session.state = initial_state(compiled, &session)?;
    // The data teaches first, because a temporal operator may read facts in the initial state.
    if let Some(data) = data {
        prompt::start(compiled, &mut session, data);
    }
    monitors::begin_monitors(compiled, &mut session);
    Ok(session)
}

/// Returns a session with the shape that the plan requires, without state.
fn empty(
    compiled: &CompiledPlan,
    id: &str,
    start: Millis,
    workspace: &str,
) -> Result<SessionState, StepError> {
    let plan = compiled.plan();
    let path = |path: &str, base: &str| {
        let normal = guard_plan::path::normalise(base, path);
        normal.map(|path| path.into_owned().into_boxed_str()).map_err(StepError::Workspace)
    };
    let workspace = path(workspace, "/")?;
    let paths = plan.paths.iter().map(|literal| path(literal, &workspace));
    Ok(SessionState {
        id: id.into(),
        start,
        now: start,
        paths: paths.collect::<Result<_, _>>()?,
        workspace,
        state: Box::default(),
        stains: vec![None; plan.state.len()].into(),
        spent: vec![0; plan.units.len()].into(),
        counters: plan.limits.iter().map(Counter::new).collect(),
        tools: vec![History::default(); plan.tools.len()].into(),
        succeeded: vec![0; plan.tools.len().div_ceil(64)].into(),
        indexes: vec![Keyed::default(); plan.indexes.len()].into(),
        windows: plan.windows.iter().map(|window| RecentCalls::new(window.size)).collect(),
        facts: plan.facts.iter().map(|fact| FactRows::new(fact, &plan.types)).collect(),
        monitors: vec![Truth { value: Ok(false), operand: Ok(false) }; plan.monitors.len()].into(),
        flights: Vec::new(),
        spare: Vec::new(),
        approvals: Vec::new(),
        decisions: 0,
        full: false,
        recheck: if compiled.rechecks.is_empty() { 0 } else { recheck::DEFAULT_EVERY.get() },
        phase: recheck::phase(id),
        distrusts: false,
        settlements: 0,
        moments: 0,
        calls: 0,
        halted: None,
        probes: vec![Attempts::default(); plan.probes.len()].into(),
        origins: Origins::default(),
        said: String::new(),
        private: PrivateIndex::default(),
        feedback: feedback::memory(&compiled.feedback, start),
        items: plan.lifecycles.iter().map(ItemTable::new).collect(),
        ended: HashMap::new(),
        prompts: 0,
        blocked: 0,
        opening: None,
        changes: Vec::new(),
        charged: Vec::new(),
    })
}

fn initial_state(
    compiled: &CompiledPlan,
    session: &SessionState,
) -> Result<Box<[Value]>, StepError> {
    let mut world = NoWorld;
    let decision = DecisionResources::default();
    let answers = WorldAnswers::new(&mut world);
    let context = Context::new(compiled, session, &decision, &answers);
    let matches = |id, text: &str| compiled.matches(id, text);
    let decoder = compiled.decoder(&session.workspace, false, &matches);
    let mut state = Vec::with_capacity(compiled.state.len());
    for (var, init) in compiled.plan().state.iter().zip(&compiled.state) {
        let fail = |why: String| StepError::InitialState(var.name.clone(), why);
        let value = context.eval(init).map_err(|fault| fail(fault.to_string()))?.into_value();
        decoder.conform(var.ty, &value).map_err(|problem| fail(problem.to_string()))?;
        state.push(value);
    }
    Ok(state.into())
}

/// Checks that the proved invariants hold in the session's initial state: a proof shows only that
/// calls preserve them.
pub(crate) fn begins_sound(
    compiled: &CompiledPlan,
    session: &SessionState,
) -> Result<(), KernelError> {
    let plan = compiled.plan();
    if plan.proofs.is_empty() {
        return Ok(());
    }
    let assumed = guard_proof::assumable(plan, &plan.proofs);
    let broken = |session: &SessionState| {
        let decision = DecisionResources::default();
        let mut world = NoWorld;
        let answers = WorldAnswers::new(&mut world);
        let cx = Context::new(compiled, session, &decision, &answers);
        let ids = assumed.iter().enumerate().filter(|(_, assumed)| **assumed).map(|(id, _)| id);
        ids.into_iter().find(|id| cx.holds(&compiled.invariants[*id]) != Ok(true))
    };
    let name = |id: usize| &plan.invariants[id].rule.owner;
    if let Some(id) = broken(session) {
        return Err(KernelError::State(format!("`{}` does not hold at first", name(id))));
    }
    // Another plan may have decided the writes of a call in flight.
    for flight in &session.flights {
        let mut landed = session.clone();
        for var in bounds::written(flight) {
            let Some(value) = bounds::after(session, Some((flight, true)), var) else { continue };
            landed.state[var as usize] = value;
        }
        if let Some(id) = broken(&landed) {
            let name = name(id);
            let call = &flight.call;
            return Err(KernelError::State(format!("`{name}` does not hold after `{call}`")));
        }
    }
    // Checking each call alone does not cover both. Under one plan, one of two calls that write
    // variables of the same invariant waits for the other.
    for (id, invariant) in plan.invariants.iter().enumerate().filter(|(id, _)| assumed[*id]) {
        let writes = |flight: &&InFlight| {
            bounds::written(flight).iter().any(|var| invariant.reads.contains(var))
        };
        if session.flights.iter().map(|flight| &**flight).filter(writes).count() > 1 {
            let why = format!("several calls in flight write variables that `{}` reads", name(id));
            return Err(KernelError::State(why));
        }
    }
    if let Some(bound) = bounds::broken(plan, session) {
        let text = guard_plan::words::bound(plan, &bound);
        return Err(KernelError::State(format!(
            "`{text}`, which its proofs rely on, does not hold"
        )));
    }
    Ok(())
}
