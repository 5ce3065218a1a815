//! Requirements of tools: their alternatives, and cycles of tools that require one another.

use super::TypeChecker;
use super::scope::Scope;
use crate::defines::{in_cycles, ordered};
use crate::errors;
use crate::hir::{self, Clause, ClauseKind, ToolId};
use guard_syntax::ast;
use guard_syntax::span::Span;

impl TypeChecker<'_, '_> {
    /// Types the alternatives of a `requires`. Their keys are read only if its `when` holds.
    pub(super) fn alternatives(
        &mut self,
        all: &[ast::Requirement],
        guard: Option<&ast::ClauseCondition>,
        scope: &mut Scope,
    ) -> Vec<hir::Requirement> {
        let check = |checker: &mut Self, scope: &mut Scope| {
            all.iter().filter_map(|requirement| checker.requirement(requirement, scope)).collect()
        };
        match guard {
            Some(guard) => self.narrowed(&guard.condition, !guard.unless, scope, check),
            None => check(self, scope),
        }
    }

    fn requirement(
        &mut self,
        requirement: &ast::Requirement,
        scope: &mut Scope,
    ) -> Option<hir::Requirement> {
        let tool = self.tool(&requirement.tool);
        let since = match &requirement.since {
            Some(name) => Some(self.tool(name)?),
            None => None,
        };
        let within = match &requirement.within {
            Some(within) => Some(self.duration(within)?),
            None => None,
        };
        let key = self.keys(tool?, &requirement.keys, scope)?;
        Some(hir::Requirement { latest: requirement.latest, tool: tool?, key, since, within })
    }

    /// Reports tools that require one another, because they could never be called.
    pub(super) fn requirement_cycles(&mut self) {
        let edges: Vec<Vec<(ToolId, Span)>> =
            self.program.tools.iter().map(certain_requirements).collect();
        let tools = &self.program.tools;
        let mut cycles = Vec::new();
        in_cycles(
            edges.len(),
            &ordered(&edges).1,
            |at| tools[at].name.as_str(),
            |cycle| {
                // Start with the alphabetically first name, so that the report does not depend on
                // the order of items.
                let first = (0..cycle.len()).min_by_key(|at| cycle[*at].0).unwrap_or(0);
                cycle.rotate_left(first);
                cycles.push(errors::requirement_cycle(cycle));
            },
        );
        cycles.into_iter().for_each(|cycle| self.report(cycle));
    }
}

/// Returns the tools that must succeed before the tool is allowed.
fn certain_requirements(tool: &hir::Tool) -> Vec<(ToolId, Span)> {
    let certain = |clause: &Clause| match &clause.kind {
        ClauseKind::Requires { any_of, when: None } if !clause.rule.shadow => {
            match any_of.as_slice() {
                [only] => Some((only.tool, clause.rule.span)),
                _ => None,
            }
        }
        _ => None,
    };
    tool.clauses.iter().filter_map(certain).collect()
}
