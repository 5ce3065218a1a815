//! Findings about the guard itself: what it says and cannot mean.
//!
//! One file per finding. Each speaks only where it is sure: by constants, the ranges of types and the graph of
//! requirements, by a prover where the caller has one, or by an exploration that has tried everything.

mod any_call;
mod bare_alternative;
mod chosen_trust;
mod command_default;
mod lifted;
mod moot_limit;
mod never_called;
mod never_fires;
mod old_success;
mod shadowed_rule;
mod silent_feedback;
mod truth;
mod ungated;
mod unlearnable_fact;
mod unreachable;

use crate::analysis::explore::Exploration;
use crate::analysis::verify::Verification;
use crate::hir::{Expr, Program, Tool, ToolId};
use guard_plan::plan::Plan;
use guard_syntax::diagnostic::Diagnostic;
use std::collections::BTreeSet;

/// Somebody who can show that something never is. Whoever cannot says no.
pub trait Prover {
    /// Returns true if no call of the tool can pass its own conditions.
    fn is_impossible(&self, tool: &Tool) -> bool;

    /// Returns true if these conditions, in the tool, are never true together.
    fn never(&self, tool: &Tool, conditions: &[&Expr]) -> bool;
}

/// Nobody.
pub struct NoProver;

impl Prover for NoProver {
    fn is_impossible(&self, _: &Tool) -> bool {
        false
    }

    fn never(&self, _: &Tool, _: &[&Expr]) -> bool {
        false
    }
}

/// A plan and the result of its verification.
pub struct VerifiedPlan<'v> {
    /// The plan.
    pub plan: &'v Plan,
    /// What was shown of it.
    pub verification: &'v Verification,
}

impl Prover for VerifiedPlan<'_> {
    fn is_impossible(&self, tool: &Tool) -> bool {
        let mut shown = self.verification.impossible.iter();
        shown.any(|impossible| self.plan.tools[impossible.tool as usize].name == tool.name)
    }

    fn never(&self, _: &Tool, _: &[&Expr]) -> bool {
        false
    }
}

/// The input of the lints: the program, its exploration and a prover.
pub(crate) struct Lint<'l> {
    pub program: &'l Program,
    /// What was found by trying; none where nothing was tried.
    pub explored: Option<&'l Exploration>,
    /// Who shows what needs more than a look.
    pub prover: &'l dyn Prover,
    /// Tools that can never be called, by the rules alone.
    pub impossible: BTreeSet<ToolId>,
}

/// Every finding; those that need trying only where there is an exploration.
pub fn all(
    program: &Program,
    explored: Option<&Exploration>,
    prover: &dyn Prover,
) -> Vec<Diagnostic> {
    let mut lint = Lint { program, explored, prover, impossible: BTreeSet::new() };
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
    unlearnable_fact::check(&lint, &mut found);
    ungated::check(&lint, &mut found);
    old_success::check(&lint, &mut found);
    any_call::check(&lint, &mut found);
    chosen_trust::check(&lint, &mut found);
    bare_alternative::check(&lint, &mut found);
    lifted::check(&lint, &mut found);
    command_default::check(&lint, &mut found);
    found.sort_by_key(|d| (d.primary.span, d.code));
    found.dedup();
    found
}

impl Lint<'_> {
    /// Returns the exploration if it was exhaustive: what it has not found does not exist.
    pub fn exhausted(&self) -> Option<&Exploration> {
        self.explored.filter(|explored| explored.exhausted)
    }
}
