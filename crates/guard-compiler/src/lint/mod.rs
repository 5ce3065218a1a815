//! Findings about the guard itself: what it says and cannot mean.
//!
//! One file per finding. Each speaks only where it is sure: by constants, the ranges of types and the graph of
//! requirements, by a prover where the caller has one, or by an exploration that has tried everything.

mod moot_limit;
mod never_called;
mod never_fires;
mod shadowed_rule;
mod silent_feedback;
mod truth;
mod ungated;
mod unreachable;
mod untaught;

use crate::explore::Exploration;
use crate::hir::{Expr, Program, Tool, ToolId};
use guard_syntax::diagnostic::Diagnostic;
use std::collections::BTreeSet;

/// What findings are made from.
pub(crate) struct Lint<'l> {
    pub program: &'l Program,
    /// What was found by trying; none where nothing was tried.
    pub explored: Option<&'l Exploration>,
    /// Whether these conditions, in a tool, can never be true together.
    pub never: &'l dyn Fn(&Tool, &[&Expr]) -> bool,
    /// Tools that can never be called, by the rules alone.
    pub impossible: BTreeSet<ToolId>,
}

/// Every finding; those that need trying only where there is an exploration.
pub fn all(program: &Program, explored: Option<&Exploration>) -> Vec<Diagnostic> {
    all_with(program, explored, &|_, _| false)
}

/// Every finding, with somebody who may know that conditions in a tool can never be true together.
pub fn all_with(
    program: &Program,
    explored: Option<&Exploration>,
    never: &dyn Fn(&Tool, &[&Expr]) -> bool,
) -> Vec<Diagnostic> {
    let mut lint = Lint { program, explored, never, impossible: BTreeSet::new() };
    let mut found = Vec::new();
    if program.shadow {
        // Nothing is refused, so nothing is unreachable either.
        return found;
    }
    never_called::check(&mut lint, &mut found);
    never_fires::check(&lint, &mut found);
    shadowed_rule::check(&lint, &mut found);
    moot_limit::check(&lint, &mut found);
    unreachable::check(&lint, &mut found);
    silent_feedback::check(&lint, &mut found);
    untaught::check(&lint, &mut found);
    ungated::check(&lint, &mut found);
    found.sort_by_key(|d| (d.primary.span, d.code));
    found.dedup();
    found
}

impl Lint<'_> {
    /// Whether everything was tried, so that what was not found cannot be.
    pub fn exhausted(&self) -> Option<&Exploration> {
        self.explored.filter(|explored| explored.exhausted)
    }
}
