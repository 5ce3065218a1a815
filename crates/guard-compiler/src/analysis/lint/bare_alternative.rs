//! An alternative that stands behind a `since`, where it reads like one more tool of the `since`.

use super::Lint;
use crate::errors;
use crate::hir::{ClauseKind, Requirement};
use guard_syntax::diagnostic::Diagnostic;

pub(super) fn check(lint: &Lint, found: &mut Vec<Diagnostic>) {
    let program = lint.program;
    for clause in program.tools.iter().flat_map(|tool| &tool.clauses) {
        let ClauseKind::Requires { any_of, .. } = &clause.kind else { continue };
        let is_bare = |r: &Requirement| !r.latest && r.key.is_empty() && r.since.is_none();
        for pair in any_of.windows(2) {
            if let [Requirement { since: Some(_), within: None, tool, .. }, bare] = pair
                && is_bare(bare)
                && bare.tool != *tool
            {
                let name = |tool: usize| &program.tools[tool].name;
                let bare = name(bare.tool);
                let first = name(*tool);
                found.push(errors::bare_alternative(clause.rule.span, bare, first));
            }
        }
    }
}
