//! Effects and invariants: the call is simulated on a copy of the state.

mod elements;
mod parts;

use super::DecidedCall;
use crate::compiled::CompiledPlan;
use crate::compiled::expr::CompiledExpr;
use crate::compiled::prepare::PreparedEffect;
use crate::compiled::proven::Proven;
use crate::eval::context::Context;
use crate::reason::FoundReasons;
use crate::session::flight::PendingWrites;
use crate::target::{self, PathKey};
use crate::val::Val;
use guard_plan::plan::{Effect, InvariantId, VarId};
use guard_plan::value::{Fault, Value};
use guard_plan::verdict::{Code, Reason};

/// Checks a call that has passed through all earlier stages, like [`check`] but faster: if no stage
/// has refused the call, proved invariants are skipped and, if that suffices, only the written
/// parts of variables are read. A call with a problem takes the slow path, which reports it.
pub(crate) fn check_parts<'a>(
    cx: &Context<'a>,
    call: DecidedCall<'a>,
    draft: &mut PendingWrites,
    findings: &mut FoundReasons,
) {
    if cx.session.distrusts {
        return check(cx, call, draft, findings);
    }
    let proven = &call.ready.proven;
    let effects = || call.tool.effects.iter().zip(&call.ready.effects);
    if effects().any(|(_, ready)| ready.part) {
        if parts::draft(cx, call, draft).is_some() {
            let found = findings.count();
            refinements(cx, &draft.writes, Some(proven), findings);
            frame(cx, call, &draft.writes, Some(proven), findings);
            if findings.count() == found {
                return;
            }
            // A reason may show a variable of which only a part was drafted.
            findings.truncate(found);
        }
        draft.writes.clear();
        draft.parts.clear();
    }
    check_all_but(cx, call, proven, draft, findings);
}

/// Simulates the effects of a call, drafts them, and checks all invariants that they may violate.
pub(crate) fn check<'a>(
    cx: &Context<'a>,
    call: DecidedCall<'a>,
    draft: &mut PendingWrites,
    findings: &mut FoundReasons,
) {
    check_all_but(cx, call, &Proven::default(), draft, findings);
}

fn check_all_but<'a>(
    cx: &Context<'a>,
    call: DecidedCall<'a>,
    proven: &Proven,
    draft: &mut PendingWrites,
    findings: &mut FoundReasons,
) {
    simulate(cx, call, Some(proven), &mut draft.writes, findings);
    if call.ready.shadow_effects {
        let mut writes = Vec::new();
        let mut would = FoundReasons::default();
        simulate(cx, call, None, &mut writes, &mut would);
        // The values that a reason shows may differ.
        let same =
            |a: &Reason, b: &Reason| (a.code, a.decision, &a.rule) == (b.code, b.decision, &b.rule);
        let new = |reason: &Reason| !findings.reasons.iter().any(|known| same(known, reason));
        let reasons: Vec<Reason> = would.reasons.into_iter().filter(new).collect();
        findings.shadowed.extend(reasons);
        findings.shadowed.extend(would.shadowed);
    }
}

/// Simulates the effects. If no proofs are given, effects in shadow mode are simulated too, because
/// proofs cover only the others.
fn simulate<'a>(
    cx: &Context<'a>,
    call: DecidedCall<'a>,
    proven: Option<&Proven>,
    writes: &mut Vec<(VarId, Value)>,
    findings: &mut FoundReasons,
) {
    let mut sound = true;
    let mut places: Vec<WrittenPlace<'_>> = Vec::new();
    for (effect, ready) in call.tool.effects.iter().zip(&call.ready.effects) {
        if effect.rule.shadow && proven.is_some() {
            continue;
        }
        match simulate_one(cx, effect, ready, writes) {
            Ok(way) if ready.shared => places.push((effect, way)),
            Ok(_) => {}
            Err(fault) => {
                sound = false;
                findings.fault(cx, &effect.rule, &fault);
            }
        }
    }
    for (effect, _) in places.iter().filter(|place| meets_another(place, &places)) {
        sound = false;
        let fault = Fault::Decode("two effects write one place".into());
        findings.fault(cx, &effect.rule, &fault);
    }
    if sound {
        if proven.is_some_and(|proven| proven.all) && findings.refuse_nothing() {
            return;
        }
        refinements(cx, writes, proven, findings);
        frame(cx, call, writes, proven, findings);
    } else {
        // A guard in shadow allows the call anyway, and half of the effects must not be committed.
        writes.clear();
    }
}

/// An effect with the path to the place that it writes.
type WrittenPlace<'e> = (&'e Effect, Vec<PathKey>);

/// Returns true if another effect writes the same place, or a part of it.
fn meets_another((effect, way): &WrittenPlace<'_>, places: &[WrittenPlace<'_>]) -> bool {
    places.iter().any(|(other, theirs)| {
        !guard_proof::mutant!("two effects never meet")
            && !std::ptr::eq(*effect, *other)
            && effect.target.var == other.target.var
            && way.iter().zip(theirs).all(|(step, other)| step == other)
    })
}

/// Simulates one effect. Returns the path to the part that it writes; an empty path for the whole
/// variable.
#[inline]
fn simulate_one<'a>(
    cx: &Context<'a>,
    effect: &Effect,
    ready: &'a PreparedEffect,
    writes: &mut Vec<(VarId, Value)>,
) -> Result<Vec<PathKey>, Fault> {
    if !ready.ranges.is_empty() {
        return elements::simulate(cx, effect, ready, writes).map(|()| Vec::new());
    }
    let operand = match &ready.value {
        Some(value) => Some(cx.eval_leaf(value)?),
        None => None,
    };
    if ready.target.is_empty() {
        let var = effect.target.var;
        let first = writes.iter().all(|(written, _)| *written != var);
        if let (true, Value::Int(number), Some(Val::Int(by))) =
            (first, &cx.session.state[var as usize], &operand)
            && let Some(number) = target::counted(effect.op, *number, *by)
        {
            writes.push((var, Value::Int(number)));
            return Ok(Vec::new());
        }
        return target::change(simulated(cx, writes, var), effect.op, operand).map(|()| Vec::new());
    }
    let way = target::resolve(&effect.target, &ready.target, |key| cx.eval_shown(key))?;
    target::apply(simulated(cx, writes, effect.target.var), &way, effect.op, operand)?;
    Ok(way)
}

/// Checks the invariants that the call may violate.
fn frame(
    cx: &Context<'_>,
    call: DecidedCall<'_>,
    writes: &[(VarId, Value)],
    proven: Option<&Proven>,
    findings: &mut FoundReasons,
) {
    let after = Context { writes, ..*cx };
    // A proof assumes that all earlier checks passed: once something has refused the call, its
    // reasons are complete only if everything is checked.
    let proven = proven.filter(|_| findings.refuse_nothing());
    for id in &call.tool.frame {
        match proven.and_then(|proven| proven.left(*id)) {
            Some(left) if holds_in_part(&after, left) => {}
            _ => invariant(cx, &after, *id, findings),
        }
    }
}

/// Returns the simulated value of a variable, initially a copy of the committed one.
pub(super) fn simulated<'w>(
    cx: &Context<'_>,
    writes: &'w mut Vec<(VarId, Value)>,
    var: VarId,
) -> &'w mut Value {
    let at = writes.iter().position(|(written, _)| *written == var).unwrap_or_else(|| {
        writes.push((var, cx.session.state[var as usize].clone()));
        writes.len() - 1
    });
    &mut writes[at].1
}

fn refinements(
    cx: &Context<'_>,
    writes: &[(VarId, Value)],
    proven: Option<&Proven>,
    findings: &mut FoundReasons,
) {
    let proven = proven.filter(|_| findings.refuse_nothing());
    let proven = proven.map_or(&[][..], |proven| &proven.refined);
    let compiled: &CompiledPlan = cx.compiled;
    let matches = |id, text: &str| compiled.matches(id, text);
    let decoder = compiled.decoder(&cx.session.workspace, false, &matches);
    for (var, value) in writes.iter().filter(|(var, _)| proven.binary_search(var).is_err()) {
        let var = &compiled.plan().state[*var as usize];
        if let Err(problem) = decoder.conform(var.ty, value) {
            let message = format!("`{}` would not fit its type: {problem}", var.name);
            findings.reasons.push(cx.reason_at(Code::Invariant, &var.name, None, message));
        }
    }
}

/// Returns true if the unproved parts hold.
fn holds_in_part(after: &Context<'_>, parts: &[CompiledExpr]) -> bool {
    parts.iter().all(|part| after.holds(part) == Ok(true))
}

/// Checks one invariant on the simulated state.
fn invariant(
    before: &Context<'_>,
    after: &Context<'_>,
    id: InvariantId,
    findings: &mut FoundReasons,
) {
    let declared = &after.compiled.plan().invariants[id as usize];
    let condition = &after.compiled.invariants[id as usize];
    let truth = |cx: &Context<'_>| cx.holds(condition);
    let holds = truth(after);
    // An invariant that an observation broke with only a warning is not held against other calls.
    let broken_before = || after.compiled.tolerated[id as usize] && truth(before) != Ok(true);
    let without_effect =
        holds != Ok(true) && (declared.monitor || declared.rule.shadow || broken_before());
    match holds {
        Ok(true) => {}
        Ok(false) => findings.push(without_effect, broken(before, after, id)),
        Err(fault) if without_effect => {
            let message = format!("a rule cannot be evaluated: {fault}");
            findings.push(true, after.reason(Code::EvaluationError, &declared.rule, message));
        }
        Err(fault) => findings.fault(after, &declared.rule, &fault),
    }
}

fn broken(before: &Context<'_>, after: &Context<'_>, id: InvariantId) -> Reason {
    let declared = &after.compiled.plan().invariants[id as usize];
    let condition = format!("`{}` would be false", declared.text);
    let (message, help) = match &declared.because {
        Some(because) => (after.message(because), condition),
        None => (condition, String::new()),
    };
    let mut reason = after.reason(Code::Invariant, &declared.rule, message);
    reason.help = help;
    reason.values = declared
        .shows
        .iter()
        .map(|show| {
            let was = before.show(show);
            let is = after.show(show);
            let shown = if was == is { is } else { format!("{was} → {is}") };
            (show.label.clone(), shown)
        })
        .collect();
    reason
}
