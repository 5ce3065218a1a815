//! Requirements of tools: their alternatives, and cycles of tools that require one another.

use super::TypeChecker;
use super::scope::Scope;
use crate::errors;
use crate::hir::{self, Clause, ClauseKind, ToolId};
use guard_syntax::ast;
use guard_syntax::span::Span;
use std::collections::HashSet;

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
        let mut mark = vec![0u8; edges.len()];
        // If cycles share a tool, only the first is reported.
        let mut reported: HashSet<ToolId> = HashSet::new();
        for start in 0..edges.len() {
            let mut path: Vec<(ToolId, usize)> = vec![(start, 0)];
            while let Some((at, next)) = path.pop() {
                if next == 0 && mark[at] != 0 {
                    continue;
                }
                mark[at] = 1;
                let Some((inner, _)) = edges[at].get(next) else {
                    mark[at] = 2;
                    continue;
                };
                path.push((at, next + 1));
                match mark[*inner] {
                    0 => path.push((*inner, 0)),
                    1 => self.report_cycle(&path, *inner, &edges, &mut reported),
                    _ => {}
                }
            }
        }
    }

    fn report_cycle(
        &mut self,
        path: &[(ToolId, usize)],
        closing: ToolId,
        edges: &[Vec<(ToolId, Span)>],
        reported: &mut HashSet<ToolId>,
    ) {
        let Some(from) = path.iter().position(|(at, _)| *at == closing) else {
            return;
        };
        if path[from..].iter().any(|(at, _)| reported.contains(at)) {
            return;
        }
        reported.extend(path[from..].iter().map(|(at, _)| *at));
        let mut cycle: Vec<(String, Span)> = path[from..]
            .iter()
            .map(|(at, next)| (self.program.tools[*at].name.clone(), edges[*at][next - 1].1))
            .collect();
        // Start with the alphabetically first name, so that the report does not depend on the order
        // of items.
        let first = (0..cycle.len()).min_by_key(|at| cycle[*at].0.clone()).unwrap_or(0);
        cycle.rotate_left(first);
        let named: Vec<(&str, Span)> = cycle.iter().map(|(n, s)| (n.as_str(), *s)).collect();
        self.report(errors::requirement_cycle(&named));
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
