//! Histories of what a decision reads, as text: equal texts mean equal histories.

use super::reads::RuleReads;
use super::{variable, variables};
use crate::hir::canon::{Canon, wire};
use crate::hir::{
    Clause, ClauseKind, Expr, ExprKind as K, Field, Invariant, Program, StateVar, Step, Target,
    Tool, Type, VarId,
};
use guard_plan::plan::{LimitScope, Undecoded};
use guard_proof::mutant;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A guard as far as both can have got: calls of a tool that only one of them knows, or allows, end what they judge alike.
#[derive(Clone)]
pub(in crate::analysis::diff) struct HistoryView<'p> {
    pub program: &'p Program,
    /// The guard beside which it is looked at.
    pub beside: &'p Program,
    /// Tools, by wire name, that one of the guards never allows.
    pub never: Rc<BTreeSet<String>>,
}

impl<'p> HistoryView<'p> {
    /// The tools that count.
    pub(super) fn tools(&self) -> impl Iterator<Item = &'p Tool> {
        let lenient = self.program.default_allow || self.beside.default_allow;
        let beside = self.beside;
        let never = self.never.clone();
        let known = move |tool: &&Tool| {
            !never.contains(&tool.wire_name)
                && (lenient || beside.tools.iter().any(|other| other.wire_name == tool.wire_name))
        };
        self.program.tools.iter().filter(known)
    }
}

/// The histories of a guard that were told so far.
pub(super) struct Histories<'p> {
    view: HistoryView<'p>,
    /// The clauses of all tools, with their texts.
    clauses: Vec<(&'p Tool, &'p Clause, String)>,
    told: RefCell<BTreeMap<Influence, Rc<BTreeSet<String>>>>,
}

impl<'p> Histories<'p> {
    pub(super) fn new(view: HistoryView<'p>) -> Self {
        let program = view.program;
        let clauses = |tool: &'p Tool| {
            let clauses = Canon(program).clauses(tool).into_iter();
            clauses.map(move |(clause, text)| (tool, clause, text))
        };
        let clauses = view.tools().flat_map(clauses).collect();
        Histories { view, clauses, told: RefCell::default() }
    }

    pub(super) fn view(&self) -> &HistoryView<'p> {
        &self.view
    }

    /// Returns the history of one influence.
    pub(super) fn history(&self, influence: &Influence) -> Rc<BTreeSet<String>> {
        if let Some(told) = self.told.borrow().get(influence) {
            return told.clone();
        }
        let told = Rc::new(self.histories(BTreeSet::from([influence.clone()])));
        self.told.borrow_mut().insert(influence.clone(), told.clone());
        told
    }

    /// Returns the histories of some influences as text: what each is, everything that writes it, and the histories of what
    /// that reads.
    pub(super) fn histories(&self, roots: BTreeSet<Influence>) -> BTreeSet<String> {
        let mut telling = HistoryBuilder { histories: self, texts: BTreeSet::new(), next: roots };
        let mut done: BTreeSet<Influence> = BTreeSet::new();
        while let Some(influence) = telling.next.difference(&done).next().cloned() {
            telling.tell(&influence);
            done.insert(influence);
        }
        telling.texts
    }

    /// Every enforced `private` clause, each with everything that decides what it makes private.
    pub(super) fn disclosures(&self) -> BTreeSet<String> {
        let is_private = |clause: &Clause| {
            matches!(clause.kind, ClauseKind::Private { .. }) && !clause.rule.shadow
        };
        let clauses = self.clauses.iter().filter(|(_, clause, _)| is_private(clause));
        let told = clauses.map(|(tool, clause, text)| {
            let mut reads = RuleReads::default();
            let mut read = |e| reads.expr(self.view.program, e);
            crate::lower::clause_exprs(&clause.kind, &mut read);
            let mut influences = reads.influences();
            influences.insert(Influence::Calls(tool.wire_name.clone()));
            influences.insert(Influence::Secrets);
            format!("{text}: {:?}", self.histories(influences))
        });
        told.collect()
    }
}

/// Something that a session changes and that a decision reads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Influence {
    /// The value of a variable.
    Variable(String),
    /// The rows of a fact.
    Fact(String),
    /// What is spent of a unit.
    Spending(String),
    /// The budget of a unit.
    Budget(String),
    /// What a probe answers.
    Probe(String),
    /// The calls of a tool, by wire name, and their results.
    Calls(String),
    /// Who said what, and whose words are trusted.
    Trust,
    /// Who may read what.
    Readers,
    /// What is secret.
    Secrets,
    /// When the session ends.
    Deadline,
    /// Whether the session is halted.
    Halts,
}

impl RuleReads {
    /// The same as influences.
    pub(super) fn influences(&self) -> BTreeSet<Influence> {
        use Influence as I;
        let influences = |names: &BTreeSet<String>, make: fn(String) -> I| -> Vec<I> {
            names.iter().cloned().map(make).collect()
        };
        let mut all: BTreeSet<I> = BTreeSet::new();
        all.extend(influences(&self.vars, I::Variable));
        all.extend(influences(&self.facts, I::Fact));
        all.extend(influences(&self.units, I::Spending));
        all.extend(influences(&self.units, I::Budget));
        all.extend(influences(&self.probes, I::Probe));
        all.extend(influences(&self.tools, I::Calls));
        let flags =
            [(self.origins, I::Trust), (self.readers, I::Readers), (self.time, I::Deadline)];
        all.extend(flags.into_iter().filter(|(is, _)| *is).map(|(_, influence)| influence));
        all
    }
}

/// Histories in the making.
struct HistoryBuilder<'h, 'p> {
    histories: &'h Histories<'p>,
    texts: BTreeSet<String>,
    next: BTreeSet<Influence>,
}

impl<'h, 'p> HistoryBuilder<'h, 'p> {
    fn tell(&mut self, influence: &Influence) {
        let program = self.histories.view.program;
        match influence {
            Influence::Variable(name) => self.variable(name),
            Influence::Fact(name) => self.fact(name),
            Influence::Spending(name) => self.spending(name),
            Influence::Budget(name) => {
                let unit = program.units.iter().find(|unit| unit.name == *name);
                let budget = unit.map(|unit| (unit.budget, unit.host_charged));
                self.texts.insert(format!("budget {name} {budget:?}"));
            }
            Influence::Probe(name) => self.probe(name),
            Influence::Calls(name) => {
                self.texts.insert(format!("{name:?}: {:?}", signature(program, name)));
            }
            Influence::Trust => self.trust(),
            Influence::Readers => self.readers(),
            Influence::Secrets => self.secrets(),
            Influence::Deadline => {
                self.texts.insert(format!("deadline {:?}", program.deadline));
            }
            Influence::Halts => self.halts(),
        }
    }

    /// A clause that writes something: its text, and what it reads.
    fn clause(&mut self, tool: &'p Tool, clause: &'p Clause, text: &str) {
        self.texts.insert(format!("{}: {text}", wire(tool)));
        self.next.insert(Influence::Calls(tool.wire_name.clone()));
        if !mutant!("what writes reads nothing") {
            self.reads(|visit| crate::lower::clause_exprs(&clause.kind, visit));
        }
    }

    fn reads(&mut self, each: impl FnOnce(&mut dyn FnMut(&'p Expr))) {
        let mut reads = RuleReads::default();
        each(&mut |e| reads.expr(self.histories.view.program, e));
        self.next.extend(reads.influences());
    }

    fn variable(&mut self, name: &str) {
        let program = self.histories.view.program;
        let Some(var) = variable(program, name) else { return };
        let ty = Canon(program).ty(&crate::lower::plain(&var.ty));
        self.texts.insert(format!("{name} {ty} = {}", Canon(program).expr(None, &var.init)));
        for (tool, clause, text) in &self.histories.clauses {
            let (target, observed) = match &clause.kind {
                ClauseKind::Effect { target, .. } => (target, false),
                ClauseKind::Observe { target, .. } => (target, true),
                _ => continue,
            };
            if program.state[target.var].name != name {
                continue;
            }
            self.clause(tool, clause, text);
            if observed && !mutant!("what is observed fits") {
                // What does not fit is not written.
                self.texts.insert(format!("{name} as {}", Canon(program).ty(&var.ty)));
            }
        }
    }

    /// The number of a map's entries: an effect within an entry does not change it.
    fn entries(&mut self, var: VarId) {
        let program = self.histories.view.program;
        let StateVar { name, init, .. } = &program.state[var];
        self.texts.insert(format!("entries of {name} = {}", Canon(program).expr(None, init)));
        for (tool, clause, text) in &self.histories.clauses {
            let writes = match &clause.kind {
                ClauseKind::Effect { target, .. } => target.var == var && target.path.len() <= 1,
                ClauseKind::Observe { target, .. } => target.var == var,
                _ => false,
            };
            if writes {
                self.clause(tool, clause, text);
            }
        }
    }

    fn fact(&mut self, name: &str) {
        let program = self.histories.view.program;
        let Some(at) = program.facts.iter().position(|fact| fact.name == name) else { return };
        self.texts.insert(Canon(program).fact(at));
        for (tool, clause, text) in &self.histories.clauses {
            if matches!(&clause.kind, ClauseKind::Learn(learn) if learn.fact == at) {
                self.clause(tool, clause, text);
                if mutant!("all that teaches is trusted") {
                    continue;
                }
                self.texts.insert(format!("{} {:?}", wire(tool), tool.trust));
                self.endorsements(Some(tool));
            }
        }
        for source in program.sources.iter().filter(|_| !mutant!("sources teach nothing")) {
            for (rule, learn) in source.learns.iter().filter(|(_, learn)| learn.fact == at) {
                let text = Canon(program).learn(None, learn);
                self.texts.insert(format!("{:?}: shadow {} {text}", source.kind, rule.shadow));
                self.reads(|visit| learn.exprs().for_each(visit));
            }
        }
    }

    fn spending(&mut self, name: &str) {
        let program = self.histories.view.program;
        for (tool, clause, text) in &self.histories.clauses {
            if let ClauseKind::Costs { unit, .. } = &clause.kind
                && program.units[*unit].name == name
                && !clause.rule.shadow
            {
                self.clause(tool, clause, text);
            }
        }
    }

    fn probe(&mut self, name: &str) {
        let program = self.histories.view.program;
        let Some(at) = program.probes.iter().position(|probe| probe.name == name) else { return };
        self.texts.insert(Canon(program).probe(at));
        let probe = &program.probes[at];
        // Who else asks it, and when, decides what it answers; anything may decide that.
        if probe.remembers() && !mutant!("a probe forgets") {
            self.texts.insert(Canon(program).whole());
        }
    }

    fn trust(&mut self) {
        for tool in self.histories.view.tools() {
            let program = self.histories.view.program;
            let returns = tool.returns.as_ref().map(|ty| Canon(program).taken(ty, &tool.forms));
            let name = wire(tool);
            let trust = &tool.trust;
            let undecoded = tool.undecoded;
            self.texts.insert(format!("{name} {trust:?} {returns:?} {undecoded:?}"));
        }
        self.endorsements(None);
    }

    /// The parts that are trusted under a condition, of this tool or of all.
    fn endorsements(&mut self, only: Option<&Tool>) {
        for (tool, clause, text) in &self.histories.clauses {
            let is_its = only.is_none_or(|wanted| std::ptr::eq(wanted, *tool));
            if is_its && matches!(clause.kind, ClauseKind::Endorse { .. }) {
                self.clause(tool, clause, text);
            }
        }
    }

    fn readers(&mut self) {
        self.next.insert(Influence::Secrets);
        for (tool, clause, text) in &self.histories.clauses {
            if matches!(clause.kind, ClauseKind::Private { .. }) && !clause.rule.shadow {
                self.clause(tool, clause, text);
            }
        }
    }

    /// The secrets: a result that nobody can read may hold it.
    fn secrets(&mut self) {
        let program = self.histories.view.program;
        let hidden = |fields: &[Field]| -> Vec<String> {
            fields.iter().filter(|field| field.secret).map(|field| field.name.clone()).collect()
        };
        for tool in self.histories.view.tools() {
            self.texts.insert(format!("{} hides {:?}", wire(tool), hidden(&tool.params)));
        }
        for record in &program.records {
            self.texts.insert(format!("{} hides {:?}", record.name, hidden(&record.fields)));
        }
    }

    fn halts(&mut self) {
        let program = self.histories.view.program;
        let mut observed: BTreeSet<String> = BTreeSet::new();
        let halts = |tool: &&Tool| {
            tool.undecoded == Undecoded::Halt && !mutant!("a result that is not read halts nothing")
        };
        for tool in self.histories.view.tools().filter(halts) {
            self.next.insert(Influence::Calls(tool.wire_name.clone()));
        }
        for fact in program.facts.iter().filter(|fact| fact.halts) {
            if !mutant!("a full fact halts nothing") {
                self.next.insert(Influence::Fact(fact.name.clone()));
            }
        }
        for (tool, clause, text) in &self.histories.clauses {
            if clause.rule.shadow {
                continue;
            }
            match &clause.kind {
                ClauseKind::Reconcile { .. } if mutant!("what is reconciled halts nothing") => {}
                ClauseKind::Reconcile { .. } => self.clause(tool, clause, text),
                ClauseKind::Observe { .. } if mutant!("what is observed halts nothing") => {}
                ClauseKind::Observe { target, value, .. } if fits(program, tool, target, value) => {
                }
                ClauseKind::Observe { target, .. } => {
                    let var = &program.state[target.var];
                    observed.insert(var.name.clone());
                    self.clause(tool, clause, text);
                    self.texts.insert(format!("{} as {}", var.name, Canon(program).ty(&var.ty)));
                    // Whether what is written fits is all that matters: of a value as a whole that is its own, of an entry
                    // the number of entries, too.
                    match &target.path[..] {
                        [] => {}
                        [Step::Index(_)] if matches!(var.ty, Type::Map(..)) => {
                            self.entries(target.var);
                        }
                        _ => _ = self.next.insert(Influence::Variable(var.name.clone())),
                    }
                }
                _ => {}
            }
        }
        for invariant in program.invariants.iter().filter(|i| !i.monitor && !i.rule.shadow) {
            if !variables(program, &invariant.condition).is_disjoint(&observed) {
                self.texts.insert(Canon(program).expr(None, &invariant.condition));
                self.reads(|visit| visit(&invariant.condition));
            }
        }
    }
}

/// Returns true if an observation halts nothing: it writes whatever it observes, no invariant speaks of it, and a result that nobody
/// can read leaves the variable as it is or sets it to none. A variable as a whole gets the result or a part of it, of its own type,
/// which the result was decoded to.
fn fits(program: &Program, tool: &Tool, target: &Target, value: &Expr) -> bool {
    let var = &program.state[target.var];
    let mut part = value;
    while let K::Field(record, _) = &part.kind {
        part = record;
    }
    let own = |ty: &Type| Canon(program).ty(ty) == Canon(program).ty(&value.ty);
    let is_own = own(&var.ty) || matches!(&var.ty, Type::Option(ty) if own(ty));
    let spoken = |i: &Invariant| variables(program, &i.condition).contains(&var.name);
    let whole = target.path.is_empty() && matches!(part.kind, K::Result);
    let is_clearable = match tool.undecoded {
        Undecoded::Keep => true,
        Undecoded::Clear => matches!(var.ty, Type::Option(_)),
        Undecoded::Halt => false,
    };
    (whole && is_own && is_clearable && !program.invariants.iter().any(spoken))
        || mutant!("what is observed always fits")
}

/// A counter: what it counts, by what, and every tool that is held to it. Whom it asks is no part of it.
pub(in crate::analysis::diff) fn counter(
    view: &HistoryView,
    tool: &Tool,
    limit: usize,
    clause: &crate::hir::Clause,
) -> String {
    let program = view.program;
    let mut text = Canon(program).counter(tool, clause);
    let alone = mutant!("a counter counts one tool");
    // A limit of identical calls is counted for each tool alone (§3), so nobody else is held to it.
    if program.limits[limit].scope != LimitScope::Identical && !alone {
        let mut holders: Vec<String> = Vec::new();
        for other in view.tools() {
            for clause in &other.clauses {
                if matches!(&clause.kind, ClauseKind::Limit { limit: of, .. } if *of == limit) {
                    let text = Canon(program).counter(other, clause);
                    let by = match &clause.kind {
                        ClauseKind::Limit { by: Some(by), .. } => Canon(program).ty(&by.ty),
                        _ => String::new(),
                    };
                    holders.push(format!("{}: {text} {by}", wire(other)));
                }
            }
        }
        holders.sort();
        text += &holders.join("; ");
    }
    text
}

/// A tool as others see it: its parameters, its result, and whether the kernel serves it.
pub(super) fn signature(program: &Program, name: &str) -> Option<String> {
    let tool = program.tools.iter().find(|tool| tool.wire_name == name)?;
    // A call that both guards let pass has the same arguments under both, whatever their bounds.
    let ty = |ty: &Type| Canon(program).ty(&crate::lower::plain(ty));
    let params: Vec<String> =
        tool.params.iter().map(|p| format!("{}: {}", p.name, ty(&p.ty))).collect();
    let returns = tool.returns.as_ref().map(|ty| Canon(program).taken(ty, &tool.forms));
    let undecoded = tool.undecoded;
    let states = tool.states;
    let served = tool
        .served
        .map(|served| format!("{} {:?}", Canon(program).lifecycle(served.lifecycle), served.op));
    Some(format!("{name:?} {params:?} {returns:?} {undecoded:?} {states} {served:?}"))
}
