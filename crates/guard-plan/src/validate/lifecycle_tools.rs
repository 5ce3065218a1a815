//! The tools of lifecycles, whose parameters are those of their action (semantics §11).

use super::{ValidationResult, ensure, in_range};
use crate::plan::*;

/// Returns true if a type is the required one of a parameter or field of this name. The guard may
/// add refinements.
type TypeFit = fn(&Plan, TypeId) -> bool;

/// The fields of an acceptance criterion, each an option.
const CRITERION: &[(&str, TypeFit)] = &[
    ("file", is_path),
    ("contains", is_string),
    ("command", is_words),
    ("git_commit", is_bool),
    ("probe", is_string),
];

/// The fields of a piece of evidence, each an option.
const EVIDENCE: &[(&str, TypeFit)] =
    &[("call", is_string), ("file", is_path), ("sha256", is_string)];

/// Checks a tool that the kernel serves.
pub(super) fn tool(plan: &Plan, tool: &Tool) -> ValidationResult {
    let twice = tool.states && tool.served.is_some();
    ensure(!twice, || "it is a statement and a lifecycle's".into())?;
    let Some(served) = &tool.served else { return Ok(()) };
    in_range(served.lifecycle, plan.lifecycles.len(), "lifecycle")?;
    let lifecycle = &plan.lifecycles[served.lifecycle as usize];
    let fits = match served.op {
        ServedOp::Create => creates(plan, lifecycle, &tool.params),
        ServedOp::List => lists(plan, lifecycle, &tool.params),
        ServedOp::Move(at) => {
            in_range(at, lifecycle.transitions.len(), "transition")?;
            let transition = &lifecycle.transitions[at as usize];
            let agent = transition.actor == Actor::Agent;
            ensure(agent, || "it makes a transition of the harness".into())?;
            moves(plan, transition, &tool.params)
        }
    };
    ensure(fits, || "its parameters are not those of what it does".into())
}

fn creates(plan: &Plan, lifecycle: &Lifecycle, params: &[Field]) -> bool {
    let Some((fields, rest)) = params.split_at_checked(lifecycle.fields.len()) else {
        return false;
    };
    fields == lifecycle.fields
        && match rest {
            [] => lifecycle.criteria.is_empty(),
            [criteria] => {
                !lifecycle.criteria.is_empty()
                    && criteria.name == "criteria"
                    && is_list_of(plan, criteria.ty, CRITERION)
            }
            _ => false,
        }
}

fn lists(plan: &Plan, lifecycle: &Lifecycle, params: &[Field]) -> bool {
    let [state, after] = params else { return false };
    let states = option(plan, state.ty).is_some_and(|value| {
        matches!(def(plan, value), Some(TypeDef::Enum { variants, .. }) if *variants == lifecycle.states)
    });
    let text = option(plan, after.ty).is_some_and(|value| is_string(plan, value));
    state.name == "state" && after.name == "after" && states && text
}

fn moves(plan: &Plan, transition: &Transition, params: &[Field]) -> bool {
    let Some((id, rest)) = params.split_first() else { return false };
    let evidence = match rest {
        [] => !transition.evidence,
        [evidence] => {
            transition.evidence
                && evidence.name == "evidence"
                && is_list_of(plan, evidence.ty, EVIDENCE)
        }
        _ => false,
    };
    id.name == "id" && is_string(plan, id.ty) && evidence
}

fn def(plan: &Plan, ty: TypeId) -> Option<&TypeDef> {
    plan.types.get(ty as usize)
}

fn option(plan: &Plan, ty: TypeId) -> Option<TypeId> {
    match def(plan, ty) {
        Some(TypeDef::Option { of }) => Some(*of),
        _ => None,
    }
}

/// Returns true if a type is a list of records with exactly these fields, in any order, each an
/// option.
fn is_list_of(plan: &Plan, ty: TypeId, expected: &[(&str, TypeFit)]) -> bool {
    let Some(TypeDef::List { of, .. }) = def(plan, ty) else { return false };
    let Some(TypeDef::Record { fields, .. }) = def(plan, *of) else { return false };
    fields.len() == expected.len()
        && expected.iter().all(|(name, fits)| {
            let field = fields.iter().find(|field| field.name == *name);
            field.and_then(|field| option(plan, field.ty)).is_some_and(|value| fits(plan, value))
        })
}

fn is_string(plan: &Plan, ty: TypeId) -> bool {
    matches!(def(plan, ty), Some(TypeDef::String { .. }))
}

fn is_path(plan: &Plan, ty: TypeId) -> bool {
    matches!(def(plan, ty), Some(TypeDef::Path))
}

fn is_bool(plan: &Plan, ty: TypeId) -> bool {
    matches!(def(plan, ty), Some(TypeDef::Bool))
}

fn is_words(plan: &Plan, ty: TypeId) -> bool {
    matches!(def(plan, ty), Some(TypeDef::List { of, .. }) if is_string(plan, *of))
}
