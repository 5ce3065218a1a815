//! A completion or a goal that cannot be reached.

use super::Lint;
use super::truth::truth;
use crate::errors;
use crate::hir::{Check, CheckKind};
use guard_syntax::diagnostic::Diagnostic;

pub(super) fn check(lint: &Lint, found: &mut Vec<Diagnostic>) {
    let program = lint.program;
    if let Some(completion) = &program.completion {
        let never = completion.checks.iter().find(|check| fails(lint, check));
        if let Some(check) = never {
            let why = format!("`{}` is never true", check.text);
            found.push(errors::unreachable(check.span, "the completion", &why));
        } else if lint.exhausted().is_some_and(|explored| explored.completion.is_none()) {
            let why = "the search was exhaustive, and some check always fails";
            found.push(errors::unreachable(completion.span, "the completion", why));
        }
    }
    for (at, goal) in program.goals.iter().enumerate() {
        let what = format!("the goal `{}`", goal.name);
        let never = goal.conditions.iter();
        let mut never = never.filter(|(_, e)| truth(e, &lint.impossible) == Some(false));
        if let Some((text, e)) = never.next() {
            found.push(errors::unreachable(e.span, &what, &format!("`{text}` is never true")));
        } else if lint.exhausted().is_some_and(|explored| explored.goals[at].is_none()) {
            let why = "the search was exhaustive, and not all of it is true at once";
            found.push(errors::unreachable(goal.span, &what, why));
        }
    }
}

/// Returns true if a check holds in no session.
fn fails(lint: &Lint, check: &Check) -> bool {
    match &check.kind {
        CheckKind::Condition(e) => truth(e, &lint.impossible) == Some(false),
        CheckKind::All(checks) => checks.iter().any(|check| fails(lint, check)),
        CheckKind::Any(checks) => checks.iter().all(|check| fails(lint, check)),
        _ => false,
    }
}
