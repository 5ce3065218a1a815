//! Counterexamples of unproved invariants: the shortest session that violates the invariant, shown
//! with the diagnostic.

use guard_compiler::explore::{self, ExplorationLimits, RuleKind};
use guard_compiler::{Compilation, CompilerOutput};
use guard_syntax::diagnostic::Diagnostic;

/// Returns the diagnostics of a compilation. The diagnostic of an unproved invariant includes a
/// counterexample, if one was found.
pub fn told(compilation: &Compilation) -> Vec<Diagnostic> {
    let mut diagnostics = compilation.diagnostics.clone();
    if let Some(unproved) = &compilation.unproved {
        tell(unproved, &mut diagnostics);
    }
    diagnostics
}

fn tell(output: &CompilerOutput, diagnostics: &mut [Diagnostic]) {
    let explored = explore::explore(&output.program, &ExplorationLimits::default(), &|| false);
    for diagnostic in diagnostics.iter_mut().filter(|diagnostic| diagnostic.is_error()) {
        let about = explored.rules.iter().find(|(rule, _)| {
            rule.kind == RuleKind::Invariant && rule.span == diagnostic.primary.span
        });
        let Some((_, Some(session))) = about else { continue };
        let story = session.story(&output.program);
        let help = diagnostic.help.get_or_insert_default();
        help.push_str("\nthe shortest session in which it would break:");
        story.lines().for_each(|line| help.push_str(&format!("\n  {line}")));
    }
}
