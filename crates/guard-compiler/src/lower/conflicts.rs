//! Frames and conflicts: the invariants that a tool can violate, and the unsettled calls it must
//! wait for.

use super::collect::Tables;
use super::visit::clause_exprs;
use crate::hir::{Clause, ClauseKind, Expr, ExprKind, Program, Tool};
use guard_plan::plan::{Plan, Touch, WindowSize};
use std::collections::{BTreeSet, HashMap};

/// The state that the decision of a tool reads, and the state that its settlement may write, by
/// declaration.
#[derive(Default)]
struct Footprint {
    read_vars: BTreeSet<usize>,
    read_facts: BTreeSet<usize>,
    /// The tools whose history is read.
    read_history: BTreeSet<usize>,
    /// True if the history of every tool is read.
    read_every_history: bool,
    effect_vars: BTreeSet<usize>,
    observe_vars: BTreeSet<usize>,
    taught: BTreeSet<usize>,
}

/// Fills in the frames and conflicts of every tool (semantics §7).
pub(super) fn fill(program: &Program, tables: &Tables, plan: &mut Plan) {
    let reads: Vec<BTreeSet<usize>> =
        program.invariants.iter().map(|i| variables(&i.condition)).collect();
    let mut by_var: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, vars) in reads.iter().enumerate() {
        vars.iter().for_each(|var| by_var.entry(*var).or_default().push(at));
    }
    let frame = |vars: &BTreeSet<usize>| -> BTreeSet<usize> {
        vars.iter().flat_map(|var| by_var.get(var).into_iter().flatten().copied()).collect()
    };
    let mut footprints: Vec<Footprint> = program.tools.iter().map(footprint).collect();
    for (declared, footprint) in footprints.iter_mut().enumerate() {
        let effects = frame(&footprint.effect_vars);
        let observes = frame(&footprint.observe_vars);
        // A decision judges these invariants, so it reads their variables.
        for invariant in effects.iter().chain(&observes) {
            footprint.read_vars.extend(&reads[*invariant]);
        }
        let numbered = |frame: &BTreeSet<usize>| {
            let mut ids: Vec<u32> = frame.iter().map(|i| tables.invariants.id(*i)).collect();
            ids.sort_unstable();
            ids
        };
        let tool = &mut plan.tools[tables.tools.id(declared) as usize];
        tool.frame = numbered(&effects);
        tool.observe_frame = numbered(&observes);
    }
    for (declared, footprint) in footprints.iter().enumerate() {
        let tool = &mut plan.tools[tables.tools.id(declared) as usize];
        tool.writes = footprint.writes(tables);
        tool.touches = footprint.touches(program.tools.len(), tables, &tool.writes);
    }
}

/// Returns true if a call of `tool` must wait for an unsettled call of `other`. It is computed for
/// this pair alone, and the precomputed conflicts must agree with it.
pub(crate) fn waits_for(program: &Program, tool: usize, other: usize) -> bool {
    let mine = footprint(&program.tools[tool]);
    let theirs = footprint(&program.tools[other]);
    let written: BTreeSet<usize> =
        theirs.effect_vars.union(&theirs.observe_vars).copied().collect();
    let own: BTreeSet<usize> = mine.effect_vars.union(&mine.observe_vars).copied().collect();
    let mut touched: BTreeSet<usize> = mine.read_vars.union(&own).copied().collect();
    for invariant in &program.invariants {
        let reads = variables(&invariant.condition);
        if !reads.is_disjoint(&own) {
            touched.extend(reads);
        }
    }
    let facts: BTreeSet<usize> = mine.read_facts.union(&mine.taught).copied().collect();
    !touched.is_disjoint(&written)
        || !facts.is_disjoint(&theirs.taught)
        || mine.read_history.contains(&other)
        || mine.read_every_history
}

fn footprint(tool: &Tool) -> Footprint {
    let mut footprint = Footprint::default();
    // The prior of a call and the description of a tool affect no decision.
    let decides = |clause: &&Clause| match &clause.kind {
        ClauseKind::Prior { .. } => false,
        ClauseKind::Risk { when, .. } => tool.gates().any(|(_, gate)| std::ptr::eq(gate, when)),
        _ => true,
    };
    for clause in tool.clauses.iter().filter(decides) {
        clause_exprs(&clause.kind, &mut |e| footprint.reads(e));
        match &clause.kind {
            ClauseKind::Effect { target, .. } => {
                footprint.effect_vars.insert(target.var);
            }
            ClauseKind::Observe { target, .. } => {
                footprint.observe_vars.insert(target.var);
            }
            ClauseKind::Learn(learn) => {
                footprint.taught.insert(learn.fact);
            }
            ClauseKind::Requires { any_of, .. } => {
                footprint.read_history.extend(any_of.iter().filter_map(|r| r.since));
                // A failure changes the answer for `latest`.
                let latest = any_of.iter().filter(|r| r.latest).map(|r| r.tool);
                footprint.read_history.extend(latest);
            }
            _ => {}
        }
    }
    footprint
}

impl Footprint {
    fn writes(&self, tables: &Tables) -> Vec<Touch> {
        let vars = self.effect_vars.union(&self.observe_vars);
        let vars = vars.map(|var| Touch::State(tables.state.id(*var)));
        let facts = self.taught.iter().map(|fact| Touch::Fact(tables.facts.id(*fact)));
        sorted(vars.chain(facts))
    }

    fn touches(&self, tools: usize, tables: &Tables, writes: &[Touch]) -> Vec<Touch> {
        let vars = self.read_vars.iter().map(|var| Touch::State(tables.state.id(*var)));
        let facts = self.read_facts.iter().map(|fact| Touch::Fact(tables.facts.id(*fact)));
        let every = 0..if self.read_every_history { tools } else { 0 };
        let history = self.read_history.iter().copied().chain(every);
        let history = history.map(|tool| Touch::History(tables.tools.id(tool)));
        sorted(vars.chain(facts).chain(history).chain(writes.iter().copied()))
    }

    fn reads(&mut self, e: &Expr) {
        e.walk(&mut |part| match &part.kind {
            ExprKind::State(var) => {
                self.read_vars.insert(*var);
            }
            ExprKind::Row(fact, _) | ExprKind::Known(fact, _) | ExprKind::Rows(fact) => {
                self.read_facts.insert(*fact);
            }
            ExprKind::Called { tool, since, .. } | ExprKind::Failed { tool, since, .. } => {
                self.read_history.insert(*tool);
                self.read_history.extend(since);
            }
            // Any settlement pushes an older call out of the window.
            ExprKind::Calls { recent: Some(WindowSize::Last(_)), .. } => {
                self.read_every_history = true;
            }
            ExprKind::Calls { tool, .. }
            | ExprKind::LastArg(tool, _)
            | ExprKind::LastResult(tool) => {
                self.read_history.insert(*tool);
            }
            _ => {}
        });
    }
}

fn variables(e: &Expr) -> BTreeSet<usize> {
    let mut vars = BTreeSet::new();
    e.walk(&mut |part| {
        if let ExprKind::State(var) = part.kind {
            vars.insert(var);
        }
    });
    vars
}

fn sorted(touches: impl Iterator<Item = Touch>) -> Vec<Touch> {
    let mut touches: Vec<Touch> = touches.collect();
    touches.sort_unstable();
    touches.dedup();
    touches
}
