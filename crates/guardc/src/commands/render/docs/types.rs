//! Records and enums.

use super::Doc;
use super::page::Page;
use guard_plan::plan::{Field, Plan, TypeDef};
use guard_plan::words;
use guard_plan::words::rules::code;

/// Describes the named types of a guard, by name, except built-in ones.
pub(super) fn types(doc: Doc) -> String {
    let plan = doc.plan;
    let rows_of_facts: Vec<u32> = plan.facts.iter().map(|fact| fact.row).collect();
    let mut named: Vec<(&str, String)> = Vec::new();
    for (id, def) in (0..).zip(&plan.types) {
        match def {
            TypeDef::Enum { name, variants } => {
                let variants: Vec<String> = variants.iter().map(|v| code(v)).collect();
                named.push((name, format!("One of {}.", variants.join(", "))));
            }
            TypeDef::Record { name, fields } if !rows_of_facts.contains(&id) => {
                let mut page = Page::default();
                page.table(["field", "type", "is"], fields.iter().map(|f| row(plan, f)).collect());
                named.push((name, page.out.trim_end().to_owned()));
            }
            _ => {}
        }
    }
    named.sort();
    named.dedup();
    let mut page = Page::default();
    for (name, text) in named.iter().filter(|(name, _)| !name.is_empty()) {
        page.heading(3, &format!("type-{name}"), &code(name));
        page.raw(text);
    }
    page.out
}

/// Returns the name, type and meaning of a parameter or field.
pub(super) fn row(plan: &Plan, field: &Field) -> [String; 3] {
    let (mark, secret) =
        if field.secret { ("secret ", "; never in the clear") } else { Default::default() };
    let is = format!("{}{secret}", words::plain(plan, field.ty));
    [code(&field.name), code(&format!("{mark}{}", words::ty(plan, field.ty))), is]
}
