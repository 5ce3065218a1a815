//! The elements of the part of a result that a clause names. The clause decides how each part is
//! used.

use crate::compiled::expr::CompiledExpr;
use crate::eval::collections::Items;
use crate::eval::context::{Bindings, Context};
use crate::val::Val;
use guard_plan::json::Json;
use guard_plan::plan::{Range, ResultPart};
use guard_plan::trust::ELEMENT;
use guard_plan::value::Fault;

/// One element that the ranges of a part bind, or the whole result.
pub(crate) struct PartElement<'c, 's, 'p, 'j> {
    pub scope: &'c Bindings<'c, 's>,
    /// The JSON of the element, unchanged.
    pub json: &'j Json,
    /// The path from the element to the part.
    pub rest: &'p [String],
}

/// Calls `visit` with each element of a part.
///
/// # Errors
///
/// Returns an error if a range cannot be evaluated or is not a list.
pub(crate) fn each<'s, 'p, 'j>(
    cx: &Context<'s>,
    part: &'p ResultPart,
    ranges: &'s [CompiledExpr],
    raw: &'j Json,
    visit: &mut dyn FnMut(&PartElement<'_, 's, 'p, 'j>),
) -> Result<(), Fault> {
    let outside = Bindings { slots: &[], values: &[], outer: None };
    let all: Vec<(&Range, &CompiledExpr)> = part.ranges.iter().zip(ranges).collect();
    within(cx, &all, &PartElement { scope: &outside, json: raw, rest: &part.path }, visit)
}

/// Calls `visit` with each element of the remaining ranges.
fn within<'s, 'p, 'j>(
    cx: &Context<'s>,
    ranges: &[(&Range, &'s CompiledExpr)],
    outer: &PartElement<'_, 's, 'p, 'j>,
    visit: &mut dyn FnMut(&PartElement<'_, 's, 'p, 'j>),
) -> Result<(), Fault> {
    let [(range, over), inner @ ..] = ranges else {
        visit(outer);
        return Ok(());
    };
    let items = match cx.eval_in(over, outer.scope)? {
        Val::None => return Ok(()),
        over => Items::new(over)?,
    };
    let at = outer.rest.iter().position(|step| step == ELEMENT).unwrap_or_default();
    let (list, rest) = outer.rest.split_at(at);
    let list = list.iter().try_fold(outer.json, |json, step| json.get(step));
    // The decoded list and the original list have the same elements.
    let raw = match list {
        Some(Json::Array(raw)) if items.is_list() && raw.len() == Items::count(&items) => raw,
        _ => return Err(Fault::Decode("iteration over a value that is not a list".into())),
    };
    for (json, (key, element)) in raw.iter().zip(items) {
        let both = [key, element];
        let values = if range.binders.len() == 1 { &both[1..] } else { &both };
        let json = if guard_proof::mutant!("every element is the first") { &raw[0] } else { json };
        let scope = Bindings { slots: &range.binders, values, outer: Some(outer.scope) };
        within(cx, inner, &PartElement { scope: &scope, json, rest: &rest[1..] }, visit)?;
    }
    Ok(())
}
