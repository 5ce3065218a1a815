//! Effects on parts of variables: an entry of a map is written without copying the map.
//!
//! While the call is in flight no other call writes the variable (conflicts, semantics §7), so the
//! parts found at its proposal still exist when it settles.

use super::{WrittenPlace, elements, meets_another, simulated};
use crate::compiled::prepare;
use crate::eval::context::Context;
use crate::session::flight::{PartStep, PendingWrites, WrittenPart};
use crate::stage::DecidedCall;
use crate::target;
use guard_plan::plan::{Effect, EffectOp, Step, TypeDef, TypeId};
use guard_plan::value::Value;

/// Drafts all effects of a call; `None` if any effect has a problem.
pub(super) fn draft<'a>(
    cx: &Context<'a>,
    call: DecidedCall<'a>,
    draft: &mut PendingWrites,
) -> Option<()> {
    let mut places: Vec<WrittenPlace<'_>> = Vec::new();
    for (effect, ready) in call.tool.effects.iter().zip(&call.ready.effects) {
        if !ready.ranges.is_empty() {
            elements::simulate(cx, effect, ready, &mut draft.writes).ok()?;
            continue;
        }
        if ready.part {
            part(cx, effect, ready, draft)?;
            continue;
        }
        let operand = ready.value.as_ref().map(|value| cx.eval(value)).transpose().ok()?;
        let way = target::resolve(&effect.target, &ready.target, |key| cx.eval_shown(key)).ok()?;
        let value = simulated(cx, &mut draft.writes, effect.target.var);
        target::apply(value, &way, effect.op, operand).ok()?;
        if ready.shared {
            places.push((effect, way));
        }
    }
    (!places.iter().any(|place| meets_another(place, &places))).then_some(())
}

fn part<'a>(
    cx: &Context<'a>,
    effect: &'a Effect,
    ready: &'a prepare::PreparedEffect,
    draft: &mut PendingWrites,
) -> Option<()> {
    let plan = cx.compiled.plan();
    let operand = ready.value.as_ref().map(|value| cx.eval(value)).transpose().ok()?;
    let var = effect.target.var;
    let mut ty = plan.state.get(var as usize)?.ty;
    let mut at = Some(&cx.session.state[var as usize]);
    let first = draft.steps.len();
    for (place, (step, key)) in effect.target.path.iter().zip(&ready.target).enumerate() {
        let last = place + 1 == effect.target.path.len();
        match (step, required(&plan.types, &mut ty)?, at?) {
            (Step::Field(field), TypeDef::Record { fields, .. }, Value::Record(values)) => {
                (ty, at) = (fields.get(*field as usize)?.ty, values.get(*field as usize));
                draft.steps.push(PartStep::Field(*field));
            }
            (Step::Index(_), TypeDef::Map { of, max, .. }, Value::Map(entries)) => {
                let key = cx.eval(key.as_ref()?).ok()?;
                let key = key.text()?;
                (ty, at) = (*of, entries.get(key));
                let new = at.is_none();
                // The map as a whole is not checked against its type, so its size is checked here.
                let full = max.is_some_and(|max| entries.len() as u64 >= max);
                // Only a whole entry can be new.
                if new && (full || !last || effect.op != EffectOp::Set) {
                    return None;
                }
                let span = draft.text(key);
                draft.steps.push(PartStep::Entry(span));
                if last && effect.op == EffectOp::Delete {
                    draft.parts.push(WrittenPart {
                        var,
                        steps: (first, draft.steps.len()),
                        value: None,
                    });
                    return Some(());
                }
            }
            (Step::Index(_), TypeDef::List { of, .. }, Value::List(items)) => {
                let index = cx.eval(key.as_ref()?).ok()?.into_value();
                let Value::Int(index) = index else { return None };
                let index = usize::try_from(index).ok()?;
                (ty, at) = (*of, Some(items.get(index)?));
                draft.steps.push(PartStep::Element(index));
            }
            _ => return None,
        }
    }
    let value = match effect.op {
        EffectOp::Set => operand?.into_value(),
        op => {
            let mut value = at?.clone();
            target::apply(&mut value, &[], op, operand).ok()?;
            value
        }
    };
    let matches = |id, text: &str| cx.compiled.matches(id, text);
    cx.compiled.decoder(&cx.session.workspace, false, &matches).conform(ty, &value).ok()?;
    draft.parts.push(WrittenPart { var, steps: (first, draft.steps.len()), value: Some(value) });
    Some(())
}

/// Returns the type; for an option, its inner type.
fn required<'t>(types: &'t [TypeDef], ty: &mut TypeId) -> Option<&'t TypeDef> {
    if let TypeDef::Option { of } = types.get(*ty as usize)? {
        *ty = *of;
    }
    types.get(*ty as usize)
}
