//! A fact that is asked for and that nobody teaches.

use super::Lint;
use crate::errors;
use crate::hir::{ClauseKind, ExprKind};
use guard_syntax::diagnostic::Diagnostic;
use std::collections::BTreeSet;

pub(super) fn check(lint: &Lint, found: &mut Vec<Diagnostic>) {
    let program = lint.program;
    let mut taught: BTreeSet<usize> = BTreeSet::new();
    for clause in program.tools.iter().flat_map(|tool| &tool.clauses) {
        if let ClauseKind::Learn(learn) = &clause.kind {
            taught.insert(learn.fact);
        }
    }
    let told = program.sources.iter().flat_map(|source| &source.learns);
    taught.extend(told.map(|(_, learn)| learn.fact));
    let mut asked: BTreeSet<usize> = BTreeSet::new();
    crate::lower::each_expr(program, &mut |root| {
        root.walk(&mut |e| {
            if let ExprKind::Known(fact, _) | ExprKind::Row(fact, _) | ExprKind::Rows(fact) =
                &e.kind
            {
                asked.insert(*fact);
            }
        });
    });
    let untaught = asked.difference(&taught).map(|fact| &program.facts[*fact]);
    for fact in untaught.filter(|fact| !fact.bundled) {
        found.push(errors::untaught(fact.span, &fact.name));
    }
}
