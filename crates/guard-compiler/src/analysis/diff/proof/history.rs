//! Histories of what a decision reads, as text: equal texts mean equal histories.

use super::reads::Reads;
use super::{Canon, variable, variables};
use crate::hir::{ClauseKind, Program, Tool};
use guard_plan::plan::LimitScope;
use std::collections::BTreeSet;

/// A guard as far as both can have got: calls of a tool that only one of them knows, or allows, end what they judge alike.
#[derive(Clone, Copy)]
pub(in crate::analysis::diff) struct View<'p> {
    pub program: &'p Program,
    /// The guard beside which it is looked at.
    pub beside: &'p Program,
    /// Tools, by wire name, that one of the guards never allows.
    pub never: &'p BTreeSet<String>,
}

impl<'p> View<'p> {
    /// The tools that count.
    pub(super) fn tools(self) -> impl Iterator<Item = &'p Tool> {
        let lenient = self.program.default_allow || self.beside.default_allow;
        let known = move |tool: &&Tool| {
            !self.never.contains(&tool.wire_name)
                && (lenient
                    || self.beside.tools.iter().any(|other| other.wire_name == tool.wire_name))
        };
        self.program.tools.iter().filter(known)
    }
}

/// Returns the history of a variable: its type without bounds, its initial value, everything that writes it, and the
/// history of what that reads.
pub(super) fn history(view: View, name: &str) -> BTreeSet<String> {
    let program = view.program;
    let (mut texts, mut vars) = (BTreeSet::new(), BTreeSet::from([name.to_string()]));
    let mut done: BTreeSet<String> = BTreeSet::new();
    while let Some(name) = vars.difference(&done).next().cloned() {
        done.insert(name.clone());
        let Some(var) = variable(program, &name) else { continue };
        let ty = Canon(program).ty(&crate::lower::plain(&var.ty));
        texts.insert(format!("{name} {ty} = {}", Canon(program).expr(None, &var.init)));
        for tool in view.tools() {
            for (clause, text) in Canon(program).clauses(tool) {
                let (target, observed) = match &clause.kind {
                    ClauseKind::Effect { target, .. } => (target, false),
                    ClauseKind::Observe { target, .. } => (target, true),
                    _ => continue,
                };
                if program.state[target.var].name != name {
                    continue;
                }
                texts.insert(format!("{}: {text}", tool.wire_name));
                if observed {
                    // What does not fit is not written.
                    texts.insert(format!("{name} as {}", Canon(program).ty(&var.ty)));
                    let returns =
                        tool.returns.as_ref().map(|ty| Canon(program).taken(ty, &tool.forms));
                    let undecoded = tool.undecoded;
                    texts.insert(format!("{} returns {returns:?}", tool.wire_name));
                    texts.insert(format!("{} undecoded {undecoded:?}", tool.wire_name));
                }
                let mut reads = Reads::default();
                crate::lower::clause_exprs(&clause.kind, &mut |e| reads.expr(program, e));
                vars.extend(reads.vars);
                texts.extend(reads.facts.iter().map(|fact| format!("{:?}", taught(view, fact))));
                texts.extend(reads.units.iter().map(|unit| format!("{:?}", costs(view, unit))));
                texts.extend(reads.tools.iter().map(|t| format!("{:?}", signature(program, t))));
                texts.insert(format!(
                    "{}: {:?}",
                    tool.wire_name,
                    signature(program, &tool.wire_name)
                ));
                if reads.time {
                    texts.insert(format!("{:?}", program.deadline));
                }
                if reads.origins {
                    texts.extend(trust(view));
                }
                if reads.readers {
                    texts.extend(everything(view));
                }
            }
        }
    }
    texts
}

/// Everything that teaches a fact.
pub(super) fn taught(view: View, fact: &str) -> BTreeSet<String> {
    let program = view.program;
    let Some(at) = program.facts.iter().position(|f| f.name == fact) else {
        return BTreeSet::new();
    };
    let mut texts = BTreeSet::from([Canon(program).fact(at)]);
    for tool in view.tools() {
        for (clause, text) in Canon(program).clauses(tool) {
            if let ClauseKind::Learn(learn) = &clause.kind
                && learn.fact == at
            {
                let returns = tool.returns.as_ref().map(|ty| Canon(program).taken(ty, &tool.forms));
                let endorsed = endorsed(program, tool);
                texts.insert(format!("{} {returns:?}: {text} {endorsed:?}", tool.wire_name));
            }
        }
    }
    for source in &program.sources {
        for (rule, learn) in source.learns.iter().filter(|(_, learn)| learn.fact == at) {
            let text = Canon(program).learn(None, learn);
            texts.insert(format!("{:?}: shadow {} {text}", source.kind, rule.shadow));
        }
    }
    // What a lesson reads of the state is rare: any difference of the state counts.
    if texts.iter().any(|text| text.contains("state ")) {
        texts.extend(everything(view));
    }
    texts
}

/// Everything that charges a unit.
pub(super) fn costs(view: View, unit: &str) -> BTreeSet<String> {
    let program = view.program;
    let mut texts = BTreeSet::new();
    for tool in view.tools() {
        for (clause, text) in Canon(program).clauses(tool) {
            if let ClauseKind::Costs { unit: of, .. } = &clause.kind
                && program.units[*of].name == unit
                && !clause.rule.shadow
            {
                texts.insert(format!("{}: {text}", tool.wire_name));
                let mut reads = Reads::default();
                crate::lower::clause_exprs(&clause.kind, &mut |e| reads.expr(program, e));
                if !reads.vars.is_empty() || reads.readers {
                    texts.extend(everything(view));
                }
            }
        }
    }
    texts
}

/// A counter: what it counts, by what, and every tool that is held to it.
pub(in crate::analysis::diff) fn counter(
    view: View,
    tool: &Tool,
    limit: usize,
    clause: &crate::hir::Clause,
) -> String {
    let program = view.program;
    let mut text = Canon(program).clause(tool, clause);
    if program.limits[limit].scope != LimitScope::Identical {
        let mut holders: Vec<String> = Vec::new();
        for other in view.tools() {
            for clause in &other.clauses {
                if matches!(&clause.kind, ClauseKind::Limit { limit: of, .. } if *of == limit) {
                    let by = Canon(program).clause(other, clause);
                    holders.push(format!("{}: {by}", other.wire_name));
                }
            }
        }
        holders.sort();
        text += &holders.join("; ");
    }
    text
}

/// Everything that halts a session.
pub(super) fn halting(view: View<'_>) -> BTreeSet<String> {
    let program = view.program;
    let mut texts = BTreeSet::new();
    let mut observed: BTreeSet<String> = BTreeSet::new();
    for tool in view.tools() {
        for (clause, text) in Canon(program).clauses(tool) {
            let of = match &clause.kind {
                ClauseKind::Reconcile { .. } => None,
                ClauseKind::Observe { target, .. } => Some(&program.state[target.var]),
                _ => continue,
            };
            if clause.rule.shadow {
                continue;
            }
            texts.insert(format!("{}: {text}", tool.wire_name));
            if let Some(var) = of {
                observed.insert(var.name.clone());
                texts.extend(history(view, &var.name));
            }
            if let ClauseKind::Reconcile { condition, .. } = &clause.kind {
                let vars = variables(program, condition);
                texts.extend(vars.iter().flat_map(|var| history(view, var)));
            }
        }
    }
    for invariant in program.invariants.iter().filter(|i| !i.monitor && !i.rule.shadow) {
        let reads = variables(program, &invariant.condition);
        if !reads.is_disjoint(&observed) {
            texts.insert(Canon(program).expr(None, &invariant.condition));
            texts.extend(reads.iter().flat_map(|var| history(view, var)));
        }
    }
    texts
}

/// A tool as others see it: its parameters, its result, and whether the kernel serves it.
pub(super) fn signature(program: &Program, name: &str) -> Option<String> {
    let tool = program.tools.iter().find(|tool| tool.wire_name == name)?;
    let params: Vec<String> =
        tool.params.iter().map(|p| format!("{}: {}", p.name, Canon(program).ty(&p.ty))).collect();
    let returns = tool.returns.as_ref().map(|ty| Canon(program).taken(ty, &tool.forms));
    let (undecoded, served) = (tool.undecoded, tool.is_served());
    Some(format!("{name} {params:?} {returns:?} {undecoded:?} {served}"))
}

pub(super) fn trust(view: View<'_>) -> BTreeSet<String> {
    let says = |t: &Tool| format!("{} {:?} {:?}", t.wire_name, t.trust, endorsed(view.program, t));
    let texts: BTreeSet<String> = view.tools().map(says).collect();
    // What the condition of an endorsement reads is rare: any difference counts.
    match view.tools().any(|t| !endorsed(view.program, t).is_empty()) {
        true => texts.into_iter().chain(everything(view)).collect(),
        false => texts,
    }
}

/// The parts of a tool's result that are trusted under a condition.
fn endorsed(program: &Program, tool: &Tool) -> Vec<String> {
    let clauses = Canon(program).clauses(tool).into_iter();
    let endorses = |clause: &crate::hir::Clause| matches!(clause.kind, ClauseKind::Endorse { .. });
    clauses.filter(|(clause, _)| endorses(clause)).map(|(_, text)| text).collect()
}

/// Every clause of every tool, the completion and the invariants.
pub(super) fn everything(view: View<'_>) -> BTreeSet<String> {
    let program = view.program;
    let mut texts: BTreeSet<String> = BTreeSet::new();
    for tool in view.tools() {
        let own = Canon(program).clauses(tool).into_iter();
        texts.extend(own.map(|(_, text)| format!("{}: {text}", tool.wire_name)));
    }
    let invariant = |i: &crate::hir::Invariant| {
        let condition = Canon(program).expr(None, &i.condition);
        format!("monitor {} shadow {} {condition}", i.monitor, i.rule.shadow)
    };
    texts.extend(program.invariants.iter().map(invariant));
    for var in &program.state {
        let (ty, init) = (Canon(program).ty(&var.ty), Canon(program).expr(None, &var.init));
        texts.insert(format!("{} {ty} = {init}", var.name));
    }
    program.each_check(&mut |check| _ = texts.insert(check.text.clone()));
    texts
}
