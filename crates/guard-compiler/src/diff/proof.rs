//! What can be said of a change without trying it: of each part of a decision whether it is the same, tighter, looser
//! or simply other.
//!
//! Claims are of sessions that both guards have judged alike so far, so the rules that let earlier calls pass do not
//! matter here; what those calls did does.

use super::canon::Canon;
use crate::hir::{ClauseKind, Expr, ExprKind as K, Program, Tool, ToolId, Type};
use crate::lower::waits_for;
use guard_plan::plan::{LimitScope, Risk};
use std::collections::{BTreeMap, BTreeSet};

/// How a tool's verdicts may have changed, with what says so.
#[derive(Debug, Default)]
pub(super) struct Change {
    /// What may allow more than before.
    pub looser: Vec<String>,
    /// What may allow less.
    pub tighter: Vec<String>,
    /// How many rules are the same.
    pub same: usize,
}

impl Change {
    fn other(&mut self, what: String) {
        self.looser.push(what.clone());
        self.tighter.push(what);
    }

    /// Of two bounds: less allows less; none allows most.
    fn bound<T: Ord + Copy>(&mut self, what: &str, old: Option<T>, new: Option<T>) {
        match (old, new) {
            (a, b) if a == b => {}
            (Some(a), Some(b)) if b < a => self.tighter.push(format!("{what} is less")),
            (None, Some(_)) => self.tighter.push(format!("{what} is new")),
            (Some(_), None) => self.looser.push(format!("{what} is gone")),
            _ => self.looser.push(format!("{what} is more")),
        }
    }

    /// Of rules each of which only refuses: more refuse more.
    fn rules(&mut self, what: &str, old: &BTreeMap<String, usize>, new: &BTreeMap<String, usize>) {
        for (rule, count) in new {
            match old.get(rule) {
                Some(_) => self.same += count,
                None => self.tighter.push(format!("{what} is new")),
            }
        }
        for rule in old.keys().filter(|rule| !new.contains_key(*rule)) {
            let _ = rule;
            self.looser.push(format!("{what} is gone"));
        }
    }
}

/// A guard as far as both can have got: calls of a tool that only one of them knows end what they judge alike.
#[derive(Clone, Copy)]
pub(super) struct View<'p> {
    pub program: &'p Program,
    /// The guard beside which it is looked at.
    pub beside: &'p Program,
}

impl<'p> View<'p> {
    /// The tools that count.
    fn tools(self) -> impl Iterator<Item = &'p Tool> {
        let lenient = self.program.default_allow || self.beside.default_allow;
        let known = move |tool: &&Tool| {
            lenient || self.beside.tools.iter().any(|other| other.wire_name == tool.wire_name)
        };
        self.program.tools.iter().filter(known)
    }
}

/// Both sides of a comparison.
pub(super) struct Sides<'p> {
    pub old: &'p Program,
    pub new: &'p Program,
}

impl<'p> Sides<'p> {
    fn views(&self) -> (View<'p>, View<'p>) {
        let (old, new) = (self.old, self.new);
        (View { program: old, beside: new }, View { program: new, beside: old })
    }

    /// What has changed for calls of a tool that both guards declare.
    pub fn tool(&self, old: ToolId, new: ToolId) -> Change {
        let mut change = Change::default();
        let (a, b) = (&self.old.tools[old], &self.new.tools[new]);
        self.guard(&mut change);
        self.params(a, b, &mut change);
        self.clauses(a, b, &mut change);
        self.limits(a, b, &mut change);
        self.budgets(a, b, &mut change);
        self.effects(a, b, &mut change);
        self.waits(old, new, &mut change);
        self.inputs(a, b, &mut change);
        for list in [&mut change.looser, &mut change.tighter] {
            list.sort();
            list.dedup();
        }
        change
    }

    /// What holds for all calls.
    fn guard(&self, change: &mut Change) {
        let (old, new) = (self.old, self.new);
        if old.shadow != new.shadow {
            let list = if new.shadow { &mut change.looser } else { &mut change.tighter };
            list.push("the whole guard's shadow".into());
        }
        change.bound("the deadline", old.deadline, new.deadline);
        let (before, after) = self.views();
        if halting(before) != halting(after) {
            change.other("what halts a session".into());
        }
    }

    fn params(&self, a: &Tool, b: &Tool, change: &mut Change) {
        let names = |tool: &Tool| tool.params.iter().map(|p| p.name.clone()).collect::<Vec<_>>();
        if names(a) != names(b) || a.name != b.name {
            change.other("its name or parameters".into());
            return;
        }
        for (p, q) in a.params.iter().zip(&b.params) {
            self.narrowed(&format!("the type of `{}`", p.name), &p.ty, &q.ty, change);
        }
    }

    /// Two types of the same place.
    fn narrowed(&self, what: &str, old: &Type, new: &Type, change: &mut Change) {
        if Canon(self.old).ty(old) == Canon(self.new).ty(new) {
            return;
        }
        let ends = |ty: &Type| match ty {
            Type::Int(lo, hi) => Some((0, *lo, *hi)),
            Type::Decimal(lo, hi) => Some((1, *lo, *hi)),
            Type::Duration(lo, hi) => Some((2, *lo, *hi)),
            Type::String(s) if s.patterns.is_empty() && s.max_bytes.is_none() => {
                Some((3, None, s.max_chars.map(|n| i64::try_from(n).unwrap_or(i64::MAX))))
            }
            _ => None,
        };
        match (ends(old), ends(new)) {
            (Some((k, lo, hi)), Some((l, low, high))) if k == l => {
                change.bound(&format!("{what}, at its upper end,"), hi, high);
                // A lower end is the other way round.
                change.bound(
                    &format!("{what}, at its lower end,"),
                    lo.map(std::cmp::Reverse),
                    low.map(std::cmp::Reverse),
                );
            }
            _ => change.other(what.into()),
        }
    }

    /// Conditions and approvals: each of them only refuses.
    fn clauses(&self, a: &Tool, b: &Tool, change: &mut Change) {
        let kinds: [(&str, fn(&ClauseKind) -> bool); 4] = [
            ("a `requires`", |k| matches!(k, ClauseKind::Requires { .. })),
            ("a `deny`", |k| matches!(k, ClauseKind::Deny { .. })),
            ("an `approval`", |k| matches!(k, ClauseKind::Approval { .. })),
            ("a `ready`", |k| matches!(k, ClauseKind::Ready(_))),
        ];
        for (what, wanted) in kinds {
            let texts = |program, tool: &Tool| {
                let mut texts: BTreeMap<String, usize> = BTreeMap::new();
                for clause in tool.clauses.iter().filter(|c| wanted(&c.kind) && !c.rule.shadow) {
                    *texts.entry(Canon(program).clause(tool, clause)).or_insert(0) += 1;
                }
                texts
            };
            change.rules(what, &texts(self.old, a), &texts(self.new, b));
        }
        let gated = |tool: &Tool| tool.irreversible && tool.risk == Risk::Critical;
        if gated(a) != gated(b) {
            let list = if gated(b) { &mut change.tighter } else { &mut change.looser };
            list.push("the gate".into());
        }
        let served = |program: &Program, tool: &Tool| {
            tool.served.map(|s| (Canon(program).lifecycle(s.lifecycle), format!("{:?}", s.op)))
        };
        if served(self.old, a).map(|s| s.0) != served(self.new, b).map(|s| s.0) {
            change.other("its lifecycle".into());
        }
    }

    /// Counters: the same one with a lower count refuses more.
    fn limits(&self, a: &Tool, b: &Tool, change: &mut Change) {
        let counters = |view: View, tool: &Tool| {
            let program = view.program;
            let mut counters: BTreeMap<String, u32> = BTreeMap::new();
            for clause in tool.clauses.iter().filter(|clause| !clause.rule.shadow) {
                let ClauseKind::Limit { limit, .. } = &clause.kind else { continue };
                let text = counter(view, tool, *limit, clause);
                let count = program.limits[*limit].count;
                let least = counters.entry(text).or_insert(count);
                *least = count.min(*least);
            }
            counters
        };
        let (before, after) = self.views();
        let (old, new) = (counters(before, a), counters(after, b));
        let all: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for text in all {
            change.bound("a limit", old.get(text).copied(), new.get(text).copied());
        }
    }

    /// Units that the tool charges.
    fn budgets(&self, a: &Tool, b: &Tool, change: &mut Change) {
        let charged = |program: &Program, tool: &Tool| {
            let mut units: BTreeSet<String> = [program.units[0].name.clone()].into();
            units.extend(program.units.iter().filter(|u| u.host_charged).map(|u| u.name.clone()));
            for clause in &tool.clauses {
                if let ClauseKind::Costs { unit, .. } = &clause.kind {
                    units.insert(program.units[*unit].name.clone());
                }
            }
            units
        };
        let units: BTreeSet<String> =
            charged(self.old, a).union(&charged(self.new, b)).cloned().collect();
        for unit in units {
            let budget = |program: &Program| {
                program.units.iter().find(|u| u.name == unit).and_then(|u| u.budget)
            };
            change.bound(&format!("the budget `{unit}`"), budget(self.old), budget(self.new));
            let hosted = |p: &Program| p.units.iter().any(|u| u.name == unit && u.host_charged);
            let (before, after) = self.views();
            if costs(before, &unit) != costs(after, &unit)
                || hosted(self.old) != hosted(self.new)
            {
                change.other(format!("what costs `{unit}`"));
            }
        }
    }

    /// What the tool writes, and what is checked of it before.
    fn effects(&self, a: &Tool, b: &Tool, change: &mut Change) {
        let texts = |program: &Program, tool: &Tool| {
            let effect = |c: &&crate::hir::Clause| matches!(c.kind, ClauseKind::Effect { .. });
            let own = tool.clauses.iter().filter(effect);
            let texts = own.map(|c| (c.rule.shadow, Canon(program).clause(tool, c)));
            texts.collect::<BTreeSet<_>>()
        };
        let (before, after) = (texts(self.old, a), texts(self.new, b));
        if before != after && !self.effects_beside(a, b, change) {
            change.other("its effects".into());
            return;
        }
        let written = |program: &Program, tool: &Tool| -> BTreeSet<String> {
            let var = |c: &crate::hir::Clause| match &c.kind {
                ClauseKind::Effect { target, .. } => Some(program.state[target.var].name.clone()),
                _ => None,
            };
            tool.clauses.iter().filter_map(var).collect()
        };
        let vars: BTreeSet<String> = written(self.old, a).union(&written(self.new, b)).cloned().collect();
        let invariants = |program: &Program| {
            let mut texts: BTreeMap<String, usize> = BTreeMap::new();
            for invariant in program.invariants.iter().filter(|i| !i.monitor && !i.rule.shadow) {
                let reads = variables(program, &invariant.condition);
                if !reads.is_disjoint(&vars) {
                    texts.insert(Canon(program).expr(None, &invariant.condition), 1);
                }
            }
            texts
        };
        change.rules("an invariant", &invariants(self.old), &invariants(self.new));
        for name in &vars {
            if let (Some(p), Some(q)) = (variable(self.old, name), variable(self.new, name)) {
                self.narrowed(&format!("the type of `{name}`"), &p.ty, &q.ty, change);
            }
        }
    }

    /// Effects that only one of them has, on variables of which no common invariant speaks: they can only refuse.
    fn effects_beside(&self, a: &Tool, b: &Tool, change: &mut Change) -> bool {
        let effects = |program: &Program, tool: &Tool| {
            let mut texts: BTreeMap<String, String> = BTreeMap::new();
            for clause in &tool.clauses {
                if let ClauseKind::Effect { target, .. } = &clause.kind {
                    let text = format!("{} {}", clause.rule.shadow, Canon(program).clause(tool, clause));
                    texts.insert(text, program.state[target.var].name.clone());
                }
            }
            texts
        };
        let (old, new) = (effects(self.old, a), effects(self.new, b));
        let spoken: BTreeSet<String> = [self.old, self.new]
            .into_iter()
            .flat_map(|p| p.invariants.iter().map(move |i| variables(p, &i.condition)))
            .flatten()
            .collect();
        let own = |texts: &BTreeMap<String, String>, other: &BTreeMap<String, String>| {
            let beside = texts.iter().filter(|(text, _)| !other.contains_key(*text));
            beside.map(|(_, var)| var.clone()).collect::<BTreeSet<String>>()
        };
        let (gone, added) = (own(&old, &new), own(&new, &old));
        let touched = |var: &String| {
            spoken.contains(var) || old.iter().any(|(t, v)| v == var && new.contains_key(t))
        };
        if gone.iter().chain(&added).any(touched) || !gone.is_disjoint(&added) {
            return false;
        }
        change.looser.extend(gone.iter().map(|var| format!("the effect on `{var}`")));
        change.tighter.extend(added.iter().map(|var| format!("the effect on `{var}`")));
        true
    }

    /// Calls in flight for which this one waits.
    fn waits(&self, old: ToolId, new: ToolId, change: &mut Change) {
        let waits = |program: &Program, tool: ToolId| -> BTreeSet<String> {
            let others = (0..program.tools.len()).filter(|other| waits_for(program, tool, *other));
            others.map(|other| program.tools[other].wire_name.clone()).collect()
        };
        let (a, b) = (waits(self.old, old), waits(self.new, new));
        let text = |name: &String| format!("waiting for `{name}`");
        let known = |program: &Program, name: &String| {
            program.tools.iter().any(|tool| tool.wire_name == *name)
        };
        // A tool that only one of them has was never in flight under both.
        change.tighter.extend(b.difference(&a).filter(|n| known(self.old, n)).map(text));
        change.looser.extend(a.difference(&b).filter(|n| known(self.new, n)).map(text));
    }

    /// Everything that the decision reads must have come about alike.
    fn inputs(&self, a: &Tool, b: &Tool, change: &mut Change) {
        let texts = |program: &Program, tool: &Tool| -> BTreeSet<String> {
            let own = tool.clauses.iter().filter(|c| !c.rule.shadow);
            let invariants = program.invariants.iter();
            own.map(|c| Canon(program).clause(tool, c))
                .chain(invariants.map(|i| Canon(program).expr(None, &i.condition)))
                .collect()
        };
        // A rule that only one of them has has been counted; what it reads changes nothing more.
        let common: BTreeSet<String> =
            texts(self.old, a).intersection(&texts(self.new, b)).cloned().collect();
        let (old, new) = (Reads::of(self.old, a, &common), Reads::of(self.new, b, &common));
        let (before, after) = self.views();
        for name in old.vars.union(&new.vars) {
            if history(before, name) != history(after, name) {
                change.other(format!("how `{name}` comes about"));
            }
        }
        for fact in old.facts.union(&new.facts) {
            if taught(before, fact) != taught(after, fact) {
                change.other(format!("how `{fact}` is learned"));
            }
        }
        for unit in old.units.union(&new.units) {
            let of = |p: &Program| p.units.iter().find(|u| u.name == *unit).map(|u| u.budget);
            if of(self.old) != of(self.new) || costs(before, unit) != costs(after, unit) {
                change.other(format!("what is spent of `{unit}`"));
            }
        }
        for probe in old.probes.union(&new.probes) {
            let of = |p: &Program| {
                p.probes.iter().position(|known| known.name == *probe).map(|at| Canon(p).probe(at))
            };
            let remembers = |p: &Program| {
                let known = p.probes.iter().find(|known| known.name == *probe);
                known.is_some_and(|p| p.every.is_some() || p.backoff.is_some() || p.within.is_some())
            };
            // Who else asks it decides when it is asked again.
            let asked = remembers(self.old) && everything(before) != everything(after);
            if of(self.old) != of(self.new) || asked {
                change.other(format!("the probe `{probe}`"));
            }
        }
        for tool in old.tools.union(&new.tools) {
            if signature(self.old, tool) != signature(self.new, tool) {
                change.other(format!("the tool `{tool}` that is asked of"));
            }
        }
        if (old.origins || new.origins) && trust(before) != trust(after) {
            change.other("whose words are trusted".into());
        }
        if old.time && self.old.deadline != self.new.deadline {
            change.other("the deadline that is asked of".into());
        }
    }
}

/// What a decision reads, by name.
#[derive(Default)]
struct Reads {
    vars: BTreeSet<String>,
    facts: BTreeSet<String>,
    units: BTreeSet<String>,
    probes: BTreeSet<String>,
    tools: BTreeSet<String>,
    origins: bool,
    time: bool,
}

impl Reads {
    /// What the rules with these texts read, and what is always looked at.
    fn of(program: &Program, tool: &Tool, common: &BTreeSet<String>) -> Self {
        let mut reads = Reads::default();
        let counts = |c: &&crate::hir::Clause| {
            let rule = !matches!(c.kind, ClauseKind::Costs { .. } | ClauseKind::Effect { .. });
            !c.rule.shadow && (!rule || common.contains(&Canon(program).clause(tool, c)))
        };
        for clause in tool.clauses.iter().filter(counts) {
            match &clause.kind {
                ClauseKind::Deny { condition, .. } => reads.expr(program, condition),
                // What is only written after the call decides nothing.
                ClauseKind::Observe { .. } | ClauseKind::Learn(_) | ClauseKind::Reconcile { .. } => {}
                ClauseKind::Ready(probe) => {
                    reads.probes.insert(program.probes[*probe].name.clone());
                }
                kind => crate::lower::clause_exprs(kind, &mut |e| reads.expr(program, e)),
            }
            if let ClauseKind::Requires { any_of, .. } = &clause.kind {
                for r in any_of {
                    reads.tool(program, r.tool);
                    r.since.into_iter().for_each(|since| reads.tool(program, since));
                }
            }
            if let ClauseKind::Effect { target, .. } = &clause.kind {
                let name = &program.state[target.var].name;
                reads.vars.insert(name.clone());
                let known = |i: &&crate::hir::Invariant| {
                    !i.monitor && common.contains(&Canon(program).expr(None, &i.condition))
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

    fn tool(&mut self, program: &Program, tool: ToolId) {
        self.tools.insert(program.tools[tool].wire_name.clone());
    }

    fn expr(&mut self, program: &Program, e: &Expr) {
        e.walk(&mut |part| match &part.kind {
            K::State(var) => _ = self.vars.insert(program.state[*var].name.clone()),
            K::Row(fact, _) | K::Known(fact, _) => {
                self.facts.insert(program.facts[*fact].name.clone());
            }
            K::Remaining(unit) | K::Spent(unit) => {
                self.units.insert(program.units[*unit].name.clone());
            }
            K::Probe(probe) => _ = self.probes.insert(program.probes[*probe].name.clone()),
            K::Called { tool, since, .. } | K::Failed { tool, since, .. } => {
                self.tool(program, *tool);
                since.iter().for_each(|since| self.tool(program, *since));
            }
            K::Calls { tool, .. } | K::LastArg(tool, _) | K::LastResult(tool) => {
                self.tool(program, *tool);
            }
            K::Origin(_) => self.origins = true,
            K::RemainingTime => self.time = true,
            _ => {}
        });
    }
}

fn variables(program: &Program, e: &Expr) -> BTreeSet<String> {
    let mut vars = BTreeSet::new();
    e.walk(&mut |part| {
        if let K::State(var) = part.kind {
            vars.insert(program.state[var].name.clone());
        }
    });
    vars
}

fn variable<'p>(program: &'p Program, name: &str) -> Option<&'p crate::hir::StateVar> {
    program.state.iter().find(|var| var.name == name)
}

/// How a variable comes about: its type without bounds, its first value, and everything that writes it, with what that
/// reads in turn.
fn history(view: View, name: &str) -> BTreeSet<String> {
    let program = view.program;
    let (mut texts, mut vars) = (BTreeSet::new(), BTreeSet::from([name.to_string()]));
    let mut done: BTreeSet<String> = BTreeSet::new();
    while let Some(name) = vars.difference(&done).next().cloned() {
        done.insert(name.clone());
        let Some(var) = variable(program, &name) else { continue };
        let ty = Canon(program).ty(&crate::lower::plain(&var.ty));
        texts.insert(format!("{name} {ty} = {}", Canon(program).expr(None, &var.init)));
        for tool in view.tools() {
            for clause in &tool.clauses {
                let (target, observed) = match &clause.kind {
                    ClauseKind::Effect { target, .. } => (target, false),
                    ClauseKind::Observe { target, .. } => (target, true),
                    _ => continue,
                };
                if program.state[target.var].name != name {
                    continue;
                }
                texts.insert(format!("{}: {}", tool.wire_name, Canon(program).clause(tool, clause)));
                if observed {
                    // What does not fit is not written.
                    texts.insert(format!("{name} as {}", Canon(program).ty(&var.ty)));
                    let returns = tool.returns.as_ref().map(|ty| Canon(program).ty(ty));
                    texts.insert(format!("{} returns {returns:?}", tool.wire_name));
                }
                let mut reads = Reads::default();
                crate::lower::clause_exprs(&clause.kind, &mut |e| reads.expr(program, e));
                vars.extend(reads.vars);
                texts.extend(reads.facts.iter().map(|fact| format!("{:?}", taught(view, fact))));
                texts.extend(reads.units.iter().map(|unit| format!("{:?}", costs(view, unit))));
                texts.extend(reads.tools.iter().map(|t| format!("{:?}", signature(program, t))));
                texts.insert(format!("{}: {:?}", tool.wire_name, signature(program, &tool.wire_name)));
                if reads.time {
                    texts.insert(format!("{:?}", program.deadline));
                }
                if reads.origins {
                    texts.extend(trust(view));
                }
            }
        }
    }
    texts
}

/// Everything that teaches a fact.
fn taught(view: View, fact: &str) -> BTreeSet<String> {
    let program = view.program;
    let Some(at) = program.facts.iter().position(|f| f.name == fact) else {
        return BTreeSet::new();
    };
    let mut texts = BTreeSet::from([Canon(program).fact(at)]);
    for tool in view.tools() {
        for clause in &tool.clauses {
            if let ClauseKind::Learn(learn) = &clause.kind
                && learn.fact == at
            {
                let returns = tool.returns.as_ref().map(|ty| Canon(program).ty(ty));
                let text = Canon(program).learn(Some(tool), learn);
                texts.insert(format!("{} {returns:?}: {text}", tool.wire_name));
            }
        }
    }
    for source in &program.sources {
        for (_, learn) in source.learns.iter().filter(|(_, learn)| learn.fact == at) {
            texts.insert(format!("{:?}: {}", source.kind, Canon(program).learn(None, learn)));
        }
    }
    // What a lesson reads of the state is rare: any difference of the state counts.
    if texts.iter().any(|text| text.contains("state ")) {
        texts.extend(program.state.iter().flat_map(|var| history(view, &var.name)));
    }
    texts
}

/// Everything that charges a unit.
fn costs(view: View, unit: &str) -> BTreeSet<String> {
    let program = view.program;
    let mut texts = BTreeSet::new();
    for tool in view.tools() {
        for clause in tool.clauses.iter().filter(|clause| !clause.rule.shadow) {
            if let ClauseKind::Costs { unit: of, .. } = &clause.kind
                && program.units[*of].name == unit
            {
                texts.insert(format!("{}: {}", tool.wire_name, Canon(program).clause(tool, clause)));
                let mut reads = Reads::default();
                crate::lower::clause_exprs(&clause.kind, &mut |e| reads.expr(program, e));
                texts.extend(reads.vars.iter().flat_map(|var| history(view, var)));
            }
        }
    }
    texts
}

/// A counter: what it counts, by what, and every tool that is held to it.
pub(super) fn counter(
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
fn halting(view: View<'_>) -> BTreeSet<String> {
    let program = view.program;
    let mut texts = BTreeSet::new();
    let mut observed: BTreeSet<String> = BTreeSet::new();
    for tool in view.tools() {
        for clause in tool.clauses.iter().filter(|clause| !clause.rule.shadow) {
            let of = match &clause.kind {
                ClauseKind::Reconcile { .. } => None,
                ClauseKind::Observe { target, .. } => Some(&program.state[target.var]),
                _ => continue,
            };
            texts.insert(format!("{}: {}", tool.wire_name, Canon(program).clause(tool, clause)));
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
fn signature(program: &Program, name: &str) -> Option<String> {
    let tool = program.tools.iter().find(|tool| tool.wire_name == name)?;
    let params: Vec<String> =
        tool.params.iter().map(|p| format!("{}: {}", p.name, Canon(program).ty(&p.ty))).collect();
    let returns = tool.returns.as_ref().map(|ty| Canon(program).ty(ty));
    Some(format!("{name} {params:?} {returns:?} {}", tool.served.is_some()))
}

fn trust(view: View<'_>) -> BTreeSet<String> {
    view.tools().map(|t| format!("{} {:?}", t.wire_name, t.trust)).collect()
}

/// Every clause of every tool, the completion and the invariants.
fn everything(view: View<'_>) -> BTreeSet<String> {
    let program = view.program;
    let mut texts: BTreeSet<String> = BTreeSet::new();
    for tool in view.tools() {
        let own = tool.clauses.iter().map(|clause| Canon(program).clause(tool, clause));
        texts.extend(own.map(|text| format!("{}: {text}", tool.wire_name)));
    }
    texts.extend(program.invariants.iter().map(|i| Canon(program).expr(None, &i.condition)));
    program.each_check(&mut |check| _ = texts.insert(check.text.clone()));
    texts
}
