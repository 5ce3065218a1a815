//! Observations: values from a result are written to the state.

use super::after::{AfterCall, note, write};
use super::learn;
use crate::compiled::CompiledPlan;
use crate::eval::context::Context;
use crate::outcome::Settled;
use crate::session::SessionState;
use crate::stage::DecidedCall;
use crate::target::{self, PathKey};
use crate::val::Val;
use guard_plan::plan::{EffectOp, InvariantId, Observe, VarId};
use guard_plan::record::NoteKind;
use guard_plan::value::{Fault, Value};

/// The path to write, and the value.
type EvaluatedObservation = Result<(Vec<PathKey>, Value), Fault>;

/// Evaluates all observations, writes those that fit, and checks the invariants that they may
/// violate.
pub(crate) fn observe(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    after: &AfterCall<'_>,
    settled: &mut Settled,
) {
    let call = after.call;
    let rules = &call.tool.observes;
    if rules.is_empty() && call.tool.observe_frame.is_empty() {
        return;
    }
    let observed: Vec<EvaluatedObservation> = after.read(compiled, session, |cx| {
        let ready = rules.iter().zip(&call.ready.observes);
        ready
            .map(|(rule, (way, value))| {
                let value = learn::typed(cx, rule.ty, cx.eval_shown(value)?)?;
                Ok((target::resolve(&rule.target, way, |key| cx.eval_shown(key))?, value))
            })
            .collect()
    });
    for (rule, observed) in rules.iter().zip(observed) {
        let written = observed.and_then(|(way, value)| fit(compiled, session, rule, &way, value));
        let kind = match rule {
            _ if rule.rule.shadow => NoteKind::Shadow,
            _ if rule.warn => NoteKind::Warning,
            _ => NoteKind::Halt,
        };
        match written {
            Ok(_) if rule.rule.shadow => {}
            Ok(value) => write(session, rule.target.var, value),
            Err(fault) => {
                let name = &compiled.plan().state[rule.target.var as usize].name;
                let message = format!("`{name}` cannot be observed: {fault}");
                note(session, settled, kind, &rule.rule.owner, message);
            }
        }
    }
    check_observed(compiled, session, after, settled);
}

/// Returns the variable with the observed value in it, if that has the variable's type.
fn fit(
    compiled: &CompiledPlan,
    session: &SessionState,
    rule: &Observe,
    way: &[PathKey],
    value: Value,
) -> Result<Value, Fault> {
    let var = rule.target.var as usize;
    // A value for the whole variable replaces the old one, which is then not copied.
    let mut whole = if way.is_empty() { Value::None } else { session.state[var].clone() };
    target::apply(&mut whole, way, EffectOp::Set, Some(Val::own(value)))?;
    let matches = |id, text: &str| compiled.matches(id, text);
    let decoder = compiled.decoder(&session.workspace, true, &matches);
    match decoder.conform(compiled.plan().state[var].ty, &whole) {
        Ok(()) => Ok(whole),
        Err(problem) => Err(Fault::Decode(problem.to_string())),
    }
}

fn check_observed(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    after: &AfterCall<'_>,
    settled: &mut Settled,
) {
    let proven = if session.distrusts { &[][..] } else { &after.call.ready.proven.observed };
    let open = after.call.tool.observe_frame.iter().filter(|id| proven.binary_search(id).is_err());
    let found: Vec<BrokenInvariant> = after
        .read(compiled, session, |cx| open.filter_map(|id| broken(cx, after.call, *id)).collect());
    for (kind, rule, message) in found {
        note(session, settled, kind, &rule, message);
    }
}

/// A broken invariant: its severity, its name, and the reason.
pub(super) type BrokenInvariant = (NoteKind, String, String);

/// Returns an invariant that does not hold after the observations of a call.
pub(super) fn broken(
    cx: &Context<'_>,
    call: DecidedCall<'_>,
    id: InvariantId,
) -> Option<BrokenInvariant> {
    let declared = &cx.compiled.plan().invariants[id as usize];
    let condition = &cx.compiled.invariants[id as usize];
    let holds = cx.eval_shown(condition).and_then(|value| Val::own(value).truth());
    let message = match holds {
        Ok(true) => return None,
        Ok(false) => format!("`{}` is false after the observation", declared.text),
        Err(fault) => format!("`{}` cannot be evaluated: {fault}", declared.text),
    };
    let kind = if declared.monitor || declared.rule.shadow {
        NoteKind::Shadow
    } else if only_warns(&call.tool.observes, &declared.reads) {
        NoteKind::Warning
    } else {
        NoteKind::Halt
    };
    Some((kind, declared.rule.owner.clone(), message))
}

/// Returns true if every observation that writes one of the variables only warns.
fn only_warns(rules: &[Observe], reads: &[VarId]) -> bool {
    rules
        .iter()
        .filter(|rule| !rule.rule.shadow && reads.contains(&rule.target.var))
        .all(|rule| rule.warn)
}
