//! Effects on elements: an effect with `for` is applied once for each element of its collections.
//!
//! The effect reads only the state before the call. Its writes accumulate.

use super::simulated;
use crate::compiled::expr::CompiledExpr;
use crate::compiled::prepare::PreparedEffect;
use crate::eval::collections::{Items, bound};
use crate::eval::context::{Bindings, Context};
use crate::target::{self, PathKey};
use crate::val::Val;
use guard_plan::plan::{Effect, EffectOp, VarId};
use guard_plan::value::{Fault, Value};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The values that an effect has written.
#[derive(Default)]
struct WrittenElements {
    /// The values written by `=`, by place.
    assigned: BTreeMap<Vec<PathKey>, Value>,
    /// The total weight of the written values.
    weight: usize,
}

/// Simulates an effect on elements.
///
/// # Errors
///
/// The first fault, in the order of the elements. The writes are then unspecified.
pub(super) fn simulate<'a>(
    cx: &Context<'a>,
    effect: &'a Effect,
    ready: &'a PreparedEffect,
    writes: &mut Vec<(VarId, Value)>,
) -> Result<(), Fault> {
    // The effect counts as a write of the variable even if there are no elements.
    simulated(cx, writes, effect.target.var);
    let outside = Bindings { slots: &[], values: &[], outer: None };
    range(cx, (effect, ready), 0, &outside, writes, &mut WrittenElements::default())
}

/// Simulates the effect for the elements of the ranges from `depth` on.
fn range<'a>(
    cx: &Context<'a>,
    (effect, ready): (&'a Effect, &'a PreparedEffect),
    depth: usize,
    scope: &Bindings<'_, 'a>,
    writes: &mut Vec<(VarId, Value)>,
    written: &mut WrittenElements,
) -> Result<(), Fault> {
    let (Some(over), Some(range)) = (ready.ranges.get(depth), effect.ranges.get(depth)) else {
        return element(cx, (effect, ready), scope, writes, written);
    };
    let items = Items::new(cx.eval_in(over, scope)?)?;
    let by_key = items.by_key();
    for (key, element) in items {
        let both = [key, element];
        let values = bound(&both, range.binders.len(), by_key);
        let inner = Bindings { slots: &range.binders, values, outer: Some(scope) };
        self::range(cx, (effect, ready), depth + 1, &inner, writes, written)?;
    }
    Ok(())
}

/// Simulates the effect for one element.
fn element<'a>(
    cx: &Context<'a>,
    (effect, ready): (&'a Effect, &'a PreparedEffect),
    scope: &Bindings<'_, 'a>,
    writes: &mut Vec<(VarId, Value)>,
    written: &mut WrittenElements,
) -> Result<(), Fault> {
    if let Some(when) = &ready.when
        && !cx.eval_in(when, scope)?.truth()?
    {
        return Ok(());
    }
    let operand = ready.value.as_ref().map(|value| cx.eval_in(value, scope)).transpose()?;
    let key = |key: &'a CompiledExpr| cx.eval_in(key, scope).map(Val::into_value);
    let way = target::resolve(&effect.target, &ready.target, key)?;
    let place = simulated(cx, writes, effect.target.var);
    // Keys may come from the arguments, so long keys count toward the bound as well.
    for step in &way {
        if let PathKey::Index(key) = step {
            key.add_weight(&mut written.weight)?;
        }
    }
    let Some(operand) = operand else { return target::apply(place, &way, effect.op, None) };
    let value = operand.into_value();
    value.add_weight(&mut written.weight)?;
    if effect.op == EffectOp::Set {
        written.assign(way.clone(), &value)?;
    }
    target::apply(place, &way, effect.op, Some(Val::own(value)))
}

impl WrittenElements {
    /// Records an assigned value.
    ///
    /// # Errors
    ///
    /// Returns a fault if another value was assigned to the same place before.
    fn assign(&mut self, way: Vec<PathKey>, value: &Value) -> Result<(), Fault> {
        match self.assigned.entry(way) {
            Entry::Vacant(new) => _ = new.insert(value.clone()),
            Entry::Occupied(before) if before.get() == value => {}
            Entry::Occupied(_) => {
                return Err(Fault::Decode("an effect writes two values to one place".into()));
            }
        }
        Ok(())
    }
}
