//! A requirement `since` another tool that a later failure of the required one does not end.

use super::Lint;
use crate::errors;
use crate::hir::{ClauseKind, ExprKind, Program, Requirement, ToolId};
use guard_syntax::diagnostic::Diagnostic;
use std::collections::BTreeSet;

pub(super) fn check(lint: &Lint, found: &mut Vec<Diagnostic>) {
    let program = lint.program;
    let read = failures_read(program);
    for tool in &program.tools {
        for clause in tool.clauses.iter().filter(|clause| !clause.rule.shadow) {
            let ClauseKind::Requires { any_of, .. } = &clause.kind else { continue };
            // Who says `since` asks for how things stand now.
            let is_old = |r: &&Requirement| {
                let served = program.tools[r.tool].is_served();
                r.since.is_some() && !r.latest && !served && !read.contains(&r.tool)
            };
            for requirement in any_of.iter().filter(is_old) {
                let name = &program.tools[requirement.tool].name;
                found.push(errors::old_success(clause.rule.span, name));
            }
        }
    }
}

/// Returns the tools of which some rule reads that they failed.
fn failures_read(program: &Program) -> BTreeSet<ToolId> {
    let mut read = BTreeSet::new();
    crate::analysis::explore::each_condition(program, &mut |root| {
        root.walk(&mut |e| match e.kind {
            ExprKind::Failed { tool, .. } | ExprKind::Calls { tool, failures: true, .. } => {
                read.insert(tool);
            }
            _ => {}
        });
    });
    let clauses = program.tools.iter().flat_map(|tool| &tool.clauses);
    let required = clauses.filter_map(|clause| match &clause.kind {
        ClauseKind::Requires { any_of, .. } => Some(any_of),
        _ => None,
    });
    read.extend(required.flatten().filter(|r| r.latest).map(|r| r.tool));
    read
}
