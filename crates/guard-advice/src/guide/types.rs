//! Records and long enums, each of which is described once.

use super::MarkdownPage;
use super::tools::parameter;
use guard_plan::plan::{Plan, TypeDef, TypeId};
use guard_plan::words;
use guard_plan::words::rules::code;
use std::collections::BTreeSet;

/// Describes the types of parameters, fields and state.
pub(super) fn types(plan: &Plan, page: &mut MarkdownPage) {
    let mut named = BTreeSet::new();
    let params = plan.tools.iter().flat_map(|tool| &tool.params).map(|field| field.ty);
    let mut todo: Vec<TypeId> = params.chain(plan.state.iter().map(|var| var.ty)).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = todo.pop() {
        // Types may refer to themselves through lists and options.
        let Some(def) = plan.types.get(id as usize).filter(|_| seen.insert(id)) else {
            continue;
        };
        match def {
            TypeDef::Record { fields, .. } => todo.extend(fields.iter().map(|field| field.ty)),
            TypeDef::List { of, .. }
            | TypeDef::Set { of, .. }
            | TypeDef::Map { of, .. }
            | TypeDef::Option { of } => todo.push(*of),
            _ => {}
        }
        if words::apart(def) && !of_items(def) {
            named.insert(id);
        }
    }
    if !named.is_empty() {
        page.block("## Types");
    }
    for def in named.into_iter().filter_map(|id| plan.types.get(id as usize)) {
        spell(plan, def, page);
    }
}

/// Returns true for the types of criteria and evidence, which are described with the items. No type
/// name in a guard contains whitespace.
fn of_items(def: &TypeDef) -> bool {
    matches!(def, TypeDef::Record { name, .. } if name.starts_with("lifecycle "))
}

fn spell(plan: &Plan, def: &TypeDef, page: &mut MarkdownPage) {
    match def {
        TypeDef::Record { name, fields } => {
            page.item(format!("`{name}`: object with"));
            fields.iter().for_each(|field| page.deeper(1, parameter(plan, field)));
        }
        TypeDef::Enum { name, variants } => {
            let names: Vec<String> = variants.iter().map(|v| code(v)).collect();
            page.item(format!("`{name}`: one of {}", names.join(", ")));
        }
        _ => {}
    }
}
