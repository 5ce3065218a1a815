//! Slices of a guard: the tools whose calls may bring something about, and the variables that they read.
//!
//! Taken backwards: a tool needs those it requires or asks of, those that write what it reads, and what these need.

use super::rules::{self, Rule, RuleKind};
use crate::hir::{
    Clause, ClauseKind, Expr, ExprKind as K, FactId, Program, ServedOp, Tool, ToolId, VarId,
};
use guard_plan::plan::WindowSize;
use std::collections::BTreeSet;

/// The tools that may matter to this one in any of these guards, by wire name; it comes first.
pub(crate) fn tools_for<'p>(
    programs: impl Iterator<Item = &'p Program>,
    wire: &str,
) -> Vec<String> {
    let mut tools = vec![wire.to_string()];
    for program in programs {
        let Some(tool) = program.tool_on_wire(wire) else { continue };
        let mut slice = Slice::of_tool(program, tool);
        for holder in holders(program, &program.tools[tool]) {
            slice.tools.extend(Slice::of_tool(program, holder).tools);
            slice.tools.insert(holder);
        }
        for tool in slice.tools {
            let wire = &program.tools[tool].wire_name;
            if !tools.contains(wire) {
                tools.push(wire.clone());
            }
        }
    }
    tools
}

/// Returns the tools whose calls a limit of this one counts by what the state says.
fn holders(program: &Program, tool: &Tool) -> BTreeSet<ToolId> {
    let counted = tool.clauses.iter().filter_map(|clause| match &clause.kind {
        ClauseKind::Limit { limit, .. } => Some(*limit),
        _ => None,
    });
    let counted: BTreeSet<usize> = counted.collect();
    let by_state = |tool: &Tool| {
        tool.clauses.iter().any(|clause| {
            let ClauseKind::Limit { limit, by: Some(by) } = &clause.kind else { return false };
            counted.contains(limit) && reads_state(by)
        })
    };
    let tools = program.tools.iter().enumerate();
    tools.filter(|(_, other)| by_state(other)).map(|(id, _)| id).collect()
}

/// The dependencies of a goal: tools, variables and facts.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slice {
    pub tools: BTreeSet<ToolId>,
    pub vars: BTreeSet<VarId>,
    pub facts: BTreeSet<FactId>,
}

impl Slice {
    /// Everything.
    pub fn whole(program: &Program) -> Self {
        Slice {
            tools: (0..program.tools.len()).collect(),
            vars: (0..program.state.len()).collect(),
            facts: (0..program.facts.len()).collect(),
        }
    }

    /// Returns the slice on which the permission of a tool's calls depends.
    pub fn of_tool(program: &Program, tool: ToolId) -> Self {
        let mut slice = Slice::default();
        slice.vars.extend(written(&program.tools[tool]));
        slice.needs(program, tool);
        slice.close(program);
        slice
    }

    /// Returns the slice on which a change of the expressions' initial values depends.
    pub fn of_exprs<'e>(program: &Program, exprs: impl Iterator<Item = &'e Expr>) -> Self {
        let mut slice = Slice::default();
        exprs.for_each(|e| slice.reads(program, e));
        slice.close(program);
        slice
    }

    /// Returns the slice on which the firing of a rule depends; `None` if a slice does not help, since the rule depends
    /// on everything or on nothing.
    pub fn of_rule(program: &Program, rule: &Rule) -> Option<Self> {
        let holders = rules::holders(program, rule);
        match rule.kind {
            RuleKind::Deny | RuleKind::Approval | RuleKind::Requires | RuleKind::Reconcile => {
                let clauses = holders.iter().flat_map(|tool| &program.tools[*tool].clauses);
                let own = clauses.filter(|c| c.rule.span == rule.span);
                let mut slice = Slice::default();
                for clause in own {
                    exprs_of(&clause.kind, &mut |e| slice.reads(program, e));
                }
                // A `reconcile` speaks after a call, which must be allowed first; the others speak
                // of a proposal.
                if rule.kind == RuleKind::Reconcile {
                    holders.iter().for_each(|tool| slice.needs(program, *tool));
                }
                slice.close(program);
                slice.tools.extend(holders);
                Some(slice)
            }
            RuleKind::Invariant | RuleKind::Monitor => {
                let invariant = program.invariants.iter().find(|i| i.rule.span == rule.span)?;
                Some(Slice::of_exprs(program, std::iter::once(&invariant.condition)))
            }
            RuleKind::Check => {
                let completion = program.completion.as_ref()?;
                let check = completion.checks.iter().find(|c| c.span == rule.span)?;
                let mut exprs = Vec::new();
                check.walk(&mut |check| exprs.extend(check.expr()));
                let mut slice = Slice::of_exprs(program, exprs.into_iter());
                slice.served(program);
                Some(slice)
            }
            _ => None,
        }
    }

    /// All tools of all lifecycles.
    pub fn served(&mut self, program: &Program) {
        self.all_that(program, |tool| tool.served.is_some());
        self.close(program);
    }

    fn reads(&mut self, program: &Program, e: &Expr) {
        e.walk(&mut |part| match &part.kind {
            K::State(var) => _ = self.vars.insert(*var),
            K::Row(fact, _) | K::Known(fact, _) | K::Rows(fact) => _ = self.facts.insert(*fact),
            K::Called { tool, since, .. } | K::Failed { tool, since, .. } => {
                self.tools.insert(*tool);
                self.tools.extend(since);
            }
            // Whatever settles pushes an older call out of the window.
            K::Calls { recent: Some(WindowSize::Last(_)), .. } => {
                self.tools.extend(0..program.tools.len());
            }
            K::Calls { tool, .. } | K::LastArg(tool, _) | K::LastResult(tool) => {
                self.tools.insert(*tool);
            }
            K::Origin(_) | K::Seen(_) => {
                let endorses = |c: &Clause| matches!(c.kind, ClauseKind::Endorse { .. });
                self.all_that(program, |t| t.params.is_empty() || t.clauses.iter().any(endorses));
            }
            K::MayRead(..) => {
                let discloses = |c: &Clause| matches!(c.kind, ClauseKind::Private { .. });
                self.all_that(program, |t| t.clauses.iter().any(discloses));
            }
            _ => {}
        });
    }

    /// Adds all tools that are such.
    fn all_that(&mut self, program: &Program, is_such: impl Fn(&Tool) -> bool) {
        let tools = program.tools.iter().enumerate();
        self.tools.extend(tools.filter(|(_, tool)| is_such(tool)).map(|(id, _)| id));
    }

    /// Adds what a call of a tool reads and requires, and the tool.
    fn needs(&mut self, program: &Program, tool: ToolId) {
        self.tools.insert(tool);
        let tool_def = &program.tools[tool];
        for clause in &tool_def.clauses {
            exprs_of(&clause.kind, &mut |e| self.reads(program, e));
            if let ClauseKind::Requires { any_of, .. } = &clause.kind {
                self.tools.extend(any_of.iter().map(|r| r.tool));
                self.tools.extend(any_of.iter().filter_map(|r| r.since));
            }
        }
        let writes = written(tool_def);
        for invariant in &program.invariants {
            if !invariant.condition.variables().is_disjoint(&writes) {
                self.reads(program, &invariant.condition);
            }
        }
        if let Some(served) = tool_def.served {
            self.all_that(program, |t| {
                t.served.is_some_and(|s| s.lifecycle == served.lifecycle && s.op != ServedOp::List)
            });
        }
    }

    /// Adds what is needed by what is there, until nothing is missing.
    fn close(&mut self, program: &Program) {
        loop {
            let before = (self.tools.len(), self.vars.len(), self.facts.len());
            for (tool, tool_def) in program.tools.iter().enumerate() {
                let writes = !written(tool_def).is_disjoint(&self.vars);
                let teaches = tool_def.clauses.iter().any(|clause| {
                    matches!(&clause.kind, ClauseKind::Learn(l) if self.facts.contains(&l.fact))
                });
                if writes || teaches {
                    self.tools.insert(tool);
                }
            }
            for tool in self.tools.clone() {
                self.needs(program, tool);
            }
            if before == (self.tools.len(), self.vars.len(), self.facts.len()) {
                return;
            }
        }
    }
}

/// The variables that a tool's effects and observations write.
fn written(tool: &Tool) -> BTreeSet<VarId> {
    let target = |clause: &Clause| match &clause.kind {
        ClauseKind::Effect { target, .. } | ClauseKind::Observe { target, .. } => Some(target.var),
        _ => None,
    };
    tool.clauses.iter().filter_map(target).collect()
}

/// The expressions of a clause that decide, messages aside.
pub(crate) fn exprs_of<'p>(clause: &'p ClauseKind, visit: &mut dyn FnMut(&'p Expr)) {
    match clause {
        ClauseKind::Deny { condition, .. } => visit(condition),
        other => crate::lower::clause_exprs(other, visit),
    }
}

/// Returns true if the value of an expression depends on more than the arguments of the call.
pub(super) fn reads_state(e: &Expr) -> bool {
    e.any(&mut |part| matches!(part.kind, K::State(_) | K::Row(..) | K::LastResult(_)))
}
