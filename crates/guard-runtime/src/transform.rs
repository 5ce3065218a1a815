//! Transforms: the required arguments of a call, and a result in the form that the agent may read
//! (reference, tools). This module allows no call: a call with other arguments is refused, and
//! judged again when it is proposed with the required ones.

use crate::compiled::CompiledPlan;
use crate::compiled::expr::CompiledExpr;
use crate::eval::context::Context;
use crate::outcome::Settled;
use crate::reason::FoundReasons;
use crate::session::SessionState;
use crate::settle::after::AfterCall;
use crate::val::Val;
use guard_plan::json::Json;
use guard_plan::plan::{Deny, Node, Replacement, Tool};
use guard_plan::record::NoteKind;
use guard_plan::render;
use guard_plan::value::{Fault, Value};
use guard_plan::verdict::{Code, Reason};
use guard_plan::words::WITHHELD;

/// Records the value that a transform requires.
pub(crate) fn ask_for(cx: &Context<'_>, replacement: &Replacement, findings: &mut FoundReasons) {
    let show = &replacement.value;
    // The condition has evaluated the same expression without a fault.
    if let Ok(value) = cx.eval_shown(&CompiledExpr::new(&show.expr)) {
        let json = render::to_json(&cx.compiled.plan().types, show.ty, &value);
        findings.replacements.push((replacement.param, json));
    }
}

/// Returns the reason of a transform that refuses a call.
pub(crate) fn reason(cx: &Context<'_>, deny: &Deny, replacement: &Replacement) -> Reason {
    let show = &replacement.value;
    let value = cx.show(show);
    let (wanted, remedy) = match show.expr.0.as_slice() {
        [Node::None] => ("be left out".to_owned(), format!("without `{}`", show.label)),
        _ => (format!("be {value}"), format!("with `{}: {value}`", show.label)),
    };
    let message = match &deny.because {
        Some(because) => cx.message(because),
        None => format!("`{}` must {wanted}", show.label),
    };
    let mut reason = cx.reason(Code::Transform, &deny.rule, message);
    if !show.secret {
        reason.help = format!("make the call {remedy}");
    }
    reason.values = cx.values(&deny.shows);
    reason
}

/// Returns the arguments with these values in place of the proposed ones.
pub(crate) fn rewritten(tool: &Tool, args: &Json, values: &[(u32, Json)]) -> Option<Json> {
    let Json::Object(members) = args else { return None };
    let mut members = members.clone();
    for (param, value) in values {
        let name = &*tool.params.get(*param as usize)?.name;
        members.retain(|(key, _)| &**key != name);
        if *value != Json::Null {
            members.push((name.into(), value.clone()));
        }
    }
    Some(Json::Object(members))
}

/// Computes the result in the form that the agent may read.
pub(crate) fn show(
    compiled: &CompiledPlan,
    session: &SessionState,
    after: &AfterCall<'_>,
    settled: &mut Settled,
) {
    let tool = after.call.tool;
    let types = &compiled.plan().types;
    if tool.transforms.is_empty() || compiled.plan().shadow {
        return;
    }
    let mut changes = Vec::new();
    let mut withheld = false;
    for (rule, (when, value)) in tool.transforms.iter().zip(&after.call.ready.transforms) {
        let path = format!("`result{}`", dotted(&rule.path));
        let owner = &rule.rule.owner;
        let replacing: Result<Option<Json>, Fault> = after.read(compiled, session, |cx| {
            let applies = match when {
                Some(when) => Val::own(cx.eval_shown(when)?).truth()?,
                None => true,
            };
            if applies {
                Ok(Some(render::to_json(types, rule.ty, &cx.eval_shown(value)?)))
            } else {
                Ok(None)
            }
        });
        let shadow = rule.rule.shadow;
        match replacing {
            Ok(None) => {}
            Ok(Some(_)) if shadow => {
                settled.note(NoteKind::Shadow, owner, format!("{path} would be changed"));
            }
            Ok(Some(value)) => {
                settled.note(NoteKind::Transform, owner, format!("{path} is changed"));
                changes.push((&rule.path, value));
            }
            Err(fault) => {
                let kind = if shadow { NoteKind::Shadow } else { NoteKind::Transform };
                settled.note(kind, owner, format!("{path} cannot be changed: {fault}"));
                withheld |= !shadow;
            }
        }
    }
    // A transform that faults may protect the agent from any part, so nothing of the result is
    // shown.
    if withheld {
        settled.shown = Some(Json::string(WITHHELD));
    } else if !changes.is_empty() {
        let mut shown = match (tool.returns, &after.result) {
            (Some(ty), value) => render::to_json(types, ty, value),
            (None, Value::Json(json)) => Json::clone(json),
            (None, _) => Json::Null,
        };
        changes.iter().for_each(|(path, value)| replace(&mut shown, path, value));
        settled.shown = Some(shown);
    }
}

/// Withholds a result that could not be parsed if a part of it would have to be changed.
pub(crate) fn withhold(compiled: &CompiledPlan, tool: &Tool, settled: &mut Settled) {
    let changes = tool.transforms.iter().any(|transform| !transform.rule.shadow);
    let shows = guard_proof::mutant!("a result that is not read is shown");
    if changes && !compiled.plan().shadow && !shows {
        settled.shown = Some(Json::string(WITHHELD));
    }
}

fn dotted(path: &[String]) -> String {
    path.iter().map(|name| format!(".{name}")).collect()
}

/// Replaces every part at this path by a value.
fn replace(at: &mut Json, path: &[String], value: &Json) {
    let Some((first, rest)) = path.split_first() else {
        *at = value.clone();
        return;
    };
    match at {
        // A path consists of members only, so it continues in every element of a list.
        Json::Array(items) => {
            let only_first = guard_proof::mutant!("a part is changed in the first element");
            let count = if only_first { 1 } else { items.len() };
            items.iter_mut().take(count).for_each(|item| replace(item, path, value));
        }
        Json::Object(members) => {
            let parts = members.iter_mut().filter(|(key, _)| **key == **first);
            parts.for_each(|(_, part)| replace(part, rest, value));
        }
        _ => {}
    }
}
