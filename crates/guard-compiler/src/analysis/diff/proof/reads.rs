//! Reads of a decision, by name.

use super::{Canon, variables};
use crate::hir::{ClauseKind, Expr, ExprKind as K, Program, Tool, ToolId};
use guard_proof::mutant;
use std::collections::BTreeSet;

/// The reads of a decision, by name.
#[derive(Default)]
pub(super) struct RuleReads {
    pub vars: BTreeSet<String>,
    pub facts: BTreeSet<String>,
    pub units: BTreeSet<String>,
    pub probes: BTreeSet<String>,
    pub tools: BTreeSet<String>,
    pub origins: bool,
    pub readers: bool,
    pub time: bool,
}

impl RuleReads {
    /// Returns the reads of the rules with these texts, and of what every decision reads.
    pub(super) fn new(program: &Program, tool: &Tool, common: &BTreeSet<String>) -> Self {
        let mut reads = RuleReads::default();
        let counts = |c: &&crate::hir::Clause| {
            // A cost is no rule of its own, yet what it reads decides whether a budget is enough.
            let rule = !matches!(c.kind, ClauseKind::Costs { .. });
            !c.rule.shadow && (!rule || common.contains(&Canon(program).clause(tool, c)))
        };
        for clause in tool.clauses.iter().filter(counts) {
            match &clause.kind {
                ClauseKind::Deny { condition, .. } => reads.expr(program, condition),
                // What is only written after the call decides nothing.
                ClauseKind::Observe { .. }
                | ClauseKind::Learn(_)
                | ClauseKind::Transform { .. }
                | ClauseKind::Private { .. }
                | ClauseKind::Endorse { .. }
                | ClauseKind::Reconcile { .. } => {}
                ClauseKind::Ready(probe) => {
                    reads.probes.insert(program.probes[*probe].name.clone());
                }
                kind => crate::lower::clause_exprs(kind, &mut |e| reads.expr(program, e)),
            }
            if let ClauseKind::Limit { limit, .. } = &clause.kind
                && !mutant!("a counter reads one tool's key")
            {
                // The other tools' calls are counted by what their keys read.
                let keys = program.tools.iter().flat_map(|tool| limit_key(tool, *limit));
                keys.for_each(|key| reads.expr(program, key));
            }
            if let ClauseKind::Requires { any_of, .. } = &clause.kind {
                for r in any_of.iter().filter(|_| !mutant!("a requirement asks of no tool")) {
                    reads.tool(program, r.tool);
                    r.since.into_iter().for_each(|since| reads.tool(program, since));
                }
            }
            if let ClauseKind::Effect { target, .. } = &clause.kind {
                let name = &program.state[target.var].name;
                reads.vars.insert(name.clone());
                let known = |i: &&crate::hir::Invariant| {
                    !i.monitor
                        && !mutant!("an invariant reads what is written alone")
                        && common.contains(&Canon(program).expr(None, &i.condition))
                };
                for invariant in program.invariants.iter().filter(known) {
                    if variables(program, &invariant.condition).contains(name) {
                        reads.expr(program, &invariant.condition);
                    }
                }
            }
        }
        reads
    }

    pub(super) fn tool(&mut self, program: &Program, tool: ToolId) {
        self.tools.insert(program.tools[tool].wire_name.clone());
    }

    pub(super) fn expr(&mut self, program: &Program, e: &Expr) {
        e.walk(&mut |part| match &part.kind {
            K::State(var) => _ = self.vars.insert(program.state[*var].name.clone()),
            K::Row(fact, _) | K::Known(fact, _) | K::Rows(fact) => {
                self.facts.insert(program.facts[*fact].name.clone());
            }
            K::Remaining(unit) | K::Spent(unit) => {
                self.units.insert(program.units[*unit].name.clone());
            }
            K::Probe(probe) => _ = self.probes.insert(program.probes[*probe].name.clone()),
            K::Called { .. } if mutant!("nobody asks after calls") => {}
            K::Called { tool, since, .. } | K::Failed { tool, since, .. } => {
                self.tool(program, *tool);
                since.iter().for_each(|since| self.tool(program, *since));
            }
            K::Calls { tool, .. } | K::LastArg(tool, _) | K::LastResult(tool) => {
                self.tool(program, *tool);
            }
            K::Origin(_) | K::Seen(_) => self.origins = true,
            K::MayRead(..) => self.readers = true,
            K::RemainingTime => self.time = true,
            _ => {}
        });
    }
}

/// Returns the keys by which calls of a tool are counted for a limit.
fn limit_key(tool: &Tool, counted: usize) -> impl Iterator<Item = &Expr> {
    tool.clauses.iter().filter_map(move |clause| match &clause.kind {
        ClauseKind::Limit { limit, by: Some(by) } if *limit == counted => Some(by),
        _ => None,
    })
}
