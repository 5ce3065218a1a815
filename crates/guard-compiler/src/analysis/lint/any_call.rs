//! A requirement that any call of a tool meets, although the two tools share a parameter.

use super::Lint;
use crate::errors;
use crate::hir::{ClauseKind, Requirement, Tool, Type};
use guard_syntax::diagnostic::Diagnostic;

pub(super) fn check(lint: &Lint, found: &mut Vec<Diagnostic>) {
    let program = lint.program;
    for tool in &program.tools {
        for clause in tool.clauses.iter().filter(|clause| !clause.rule.shadow) {
            let ClauseKind::Requires { any_of, .. } = &clause.kind else { continue };
            for requirement in any_of {
                let required = &program.tools[requirement.tool];
                if let Some(shared) = shared(tool, required, requirement) {
                    let span = clause.rule.span;
                    found.push(errors::any_call(span, &required.name, shared));
                }
            }
        }
    }
}

/// Returns the first parameter that both tools have, by name and type, if the requirement has no key.
fn shared<'t>(tool: &'t Tool, required: &Tool, requirement: &Requirement) -> Option<&'t str> {
    if !requirement.key.is_empty() || required.name == tool.name {
        return None;
    }
    // A number is an amount as often as a name.
    let names_a_thing =
        |ty: &Type| matches!(ty, Type::String(_) | Type::Path | Type::Url | Type::Command);
    let shared = tool.params.iter().find(|param| {
        let same = |other: &&crate::hir::Field| other.name == param.name && other.ty == param.ty;
        names_a_thing(&param.ty) && required.params.iter().any(|other| same(&other))
    });
    shared.map(|param| param.name.as_str())
}
