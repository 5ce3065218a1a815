//! A tool that cannot be undone and that nobody is asked about.

use super::Lint;
use crate::errors;
use crate::hir::ClauseKind;
use guard_syntax::diagnostic::Diagnostic;

pub(super) fn check(lint: &Lint, found: &mut Vec<Diagnostic>) {
    for tool in &lint.program.tools {
        let approved = tool.clauses.iter().any(|c| matches!(c.kind, ClauseKind::Approval { .. }));
        // What is critical, too, is gated without a word.
        if tool.irreversible && !tool.may_be_gated() && !approved {
            found.push(errors::ungated(tool.span, &tool.name));
        }
    }
}
