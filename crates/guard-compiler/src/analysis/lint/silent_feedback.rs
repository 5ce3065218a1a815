//! Advice that is never given.

use super::Lint;
use super::truth::truth;
use crate::errors;
use crate::hir::Trigger;
use guard_syntax::diagnostic::Diagnostic;

pub(super) fn check(lint: &Lint, found: &mut Vec<Diagnostic>) {
    for provider in &lint.program.feedback {
        let never = |e| truth(e, &lint.impossible) == Some(false);
        let asleep = provider.triggers.iter().all(|trigger| match trigger {
            Trigger::Becomes(e) => never(e),
            _ => false,
        });
        let mute = provider.blocks.iter().all(|block| block.when.as_ref().is_some_and(never));
        let why = match (asleep, mute) {
            (true, _) => "nothing triggers it",
            (_, true) => "none of its conditions is ever true",
            _ => continue,
        };
        found.push(errors::silent_feedback(provider.span, &provider.name, why));
    }
}
