//! The treatment of a result that does not decode: the variables that it would have written are
//! unknown.

use super::after::{note, write};
use super::observe::{BrokenInvariant, broken};
use super::stain;
use crate::compiled::CompiledPlan;
use crate::eval::context::{Context, DecisionResources};
use crate::outcome::Settled;
use crate::session::SessionState;
use crate::stage::DecidedCall;
use crate::target::{self, PathKey};
use crate::val::Val;
use crate::world::WorldQuestions;
use guard_plan::plan::{EffectOp, Observe, TypeDef, Undecoded, VarId};
use guard_plan::record::NoteKind;
use guard_plan::trust::Level;
use guard_plan::value::{Fault, Value};

/// Applies the tool's `undecoded` to the variables that its observations would have written
/// (semantics §4).
pub(super) fn forget(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    call: DecidedCall<'_>,
    args: &[Value],
    answers: &dyn WorldQuestions,
    settled: &mut Settled,
) {
    match call.tool.undecoded {
        Undecoded::Keep => {}
        Undecoded::Halt => {
            let message = format!("the result of `{}` could not be read", call.tool.name);
            note(session, settled, NoteKind::Halt, &call.tool.name, message);
        }
        Undecoded::Clear => {
            clear(compiled, session, call, args, answers, settled);
            stain(session, &call.ready.readings.observes);
            // A party that can make the result invalid can also cause the variables to be cleared.
            if !call.tool.trust.vouches_for(&[]) {
                let observed = call.tool.observes.iter().filter(|rule| !rule.rule.shadow);
                observed.for_each(|rule| {
                    session.stains[rule.target.var as usize] = Some(Level::Untrusted)
                });
            }
        }
    }
}

fn clear(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    call: DecidedCall<'_>,
    args: &[Value],
    answers: &dyn WorldQuestions,
    settled: &mut Settled,
) {
    let (cleared, left) = emptied(compiled, session, call, args, answers);
    for rule in left {
        let kind = if rule.warn { NoteKind::Warning } else { NoteKind::Halt };
        let name = &compiled.plan().state[rule.target.var as usize].name;
        let message = format!("`{name}` is unknown: the result could not be read");
        note(session, settled, kind, &rule.rule.owner, message);
    }
    if cleared.is_empty() {
        return;
    }
    let changes = session.changes.clone();
    let mut before = Vec::new();
    for (var, value) in cleared {
        before.push((var, session.state[var as usize].clone()));
        write(session, var, value);
    }
    let decision = DecisionResources::default();
    let context = Context::new(compiled, session, &decision, answers);
    // The proofs about observations do not cover clearing.
    let frame = call.tool.observe_frame.iter();
    let found: Vec<BrokenInvariant> = frame.filter_map(|id| broken(&context, call, *id)).collect();
    // Clearing that breaks an enforced invariant is undone as a whole (semantics §4).
    if found.iter().any(|(kind, ..)| *kind != NoteKind::Shadow) {
        for (var, value) in before {
            session.state[var as usize] = value;
        }
        session.changes = changes;
    }
    for (kind, rule, message) in found {
        note(session, settled, kind, &rule, message);
    }
}

/// Returns the changed variables with their values without the observed parts, and the observations
/// that cannot be cleared.
fn emptied<'c>(
    compiled: &CompiledPlan,
    session: &SessionState,
    call: DecidedCall<'c>,
    args: &[Value],
    answers: &dyn WorldQuestions,
) -> (Vec<(VarId, Value)>, Vec<&'c Observe>) {
    let plan = compiled.plan();
    let decision = DecisionResources::default();
    let args: Vec<Val<'_>> = args.iter().map(Val::from_value).collect();
    let context = Context { args: &args, ..Context::new(compiled, session, &decision, answers) };
    let matches = |id, text: &str| compiled.matches(id, text);
    let decoder = compiled.decoder(&session.workspace, true, &matches);
    let mut cleared = Vec::<(VarId, Value)>::new();
    let mut left = Vec::new();
    let rules = call.tool.observes.iter().zip(&call.ready.observes);
    for (rule, (ready, _)) in rules.filter(|(rule, _)| !rule.rule.shadow) {
        let var = rule.target.var;
        let place = cleared.iter().position(|(changed, _)| *changed == var);
        let mut whole = match place {
            Some(place) => cleared[place].1.clone(),
            None => session.state[var as usize].clone(),
        };
        let is_option = matches!(plan.types.get(rule.ty as usize), Some(TypeDef::Option { .. }));
        let way = target::resolve(&rule.target, ready, |key| context.eval_shown(key));
        let gone = way.is_ok_and(|way| empty(&mut whole, &way, is_option));
        if !gone || decoder.conform(plan.state[var as usize].ty, &whole).is_err() {
            left.push(rule);
        } else if let Some(place) = place {
            cleared[place].1 = whole;
        } else {
            cleared.push((var, whole));
        }
    }
    cleared.retain(|(var, value)| session.state[*var as usize] != *value);
    (cleared, left)
}

/// Removes the innermost map entry on the path to a part, or sets an option to none. Returns false
/// if there is neither on the path.
fn empty(whole: &mut Value, way: &[PathKey], is_option: bool) -> bool {
    let is_entry = |step: &PathKey| matches!(step, PathKey::Index(Value::String(_)));
    let entry = way.iter().rposition(is_entry).map(|at| at + 1);
    // A place that does not exist holds no outdated value, so a fault of the path counts as
    // cleared.
    let _already_gone: Result<(), Fault> = match entry {
        Some(end) if end == way.len() || !is_option => {
            target::apply(whole, &way[..end], EffectOp::Delete, None)
        }
        _ if is_option => target::apply(whole, way, EffectOp::Set, Some(Val::None)),
        _ => return false,
    };
    true
}
