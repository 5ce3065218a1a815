//! Static comparison of two guards: for each part of a decision, whether it is the same, tighter, looser or simply
//! other.
//!
//! Claims are of sessions that both guards have judged alike so far, so the rules that let earlier calls pass do not
//! matter here; what those calls did does.

mod disclosure;
mod effects;
mod hidden;
mod history;
mod limits;
mod reads;
mod shown;
mod unfilled;

pub(super) use hidden::hidden;
pub(super) use history::{HistoryView, counter};

use super::implied::{ImpliedRule, Placed, covered_by_any, covers, implies, is_total};
use crate::hir::canon::Canon;
use crate::hir::{Allowed, Clause, ClauseKind, Contract, Expr, Program, Tool, ToolId, Type};
use crate::lower::waits_for;
use guard_proof::mutant;
use guard_syntax::span::Span;
use history::{Histories, Influence};
use reads::RuleReads;
use std::collections::BTreeSet;
use std::rc::Rc;
use unfilled::never_called;

/// The minimum percentage of shared words at which one rule counts as an edited form of the other.
const ALIKE: usize = 30;

/// The possible change of a tool's verdicts, with its reasons.
#[derive(Debug, Default)]
pub(super) struct PossibleChange {
    /// What may allow more than before.
    pub looser: Vec<String>,
    /// What may allow less.
    pub tighter: Vec<String>,
    /// How many rules are the same.
    pub same: usize,
    /// Rules that were edited: where they stand in the old guard and in the new one.
    pub edited: Vec<(Span, Span)>,
}

impl PossibleChange {
    fn other(&mut self, what: String) {
        self.looser.push(what.clone());
        self.tighter.push(what);
    }

    /// Compares two upper bounds. A lower bound allows less; no bound allows most.
    fn bound<T: Ord + Copy>(&mut self, what: &str, old: Option<T>, new: Option<T>) {
        match (old, new) {
            (a, b) if a == b => {}
            (Some(a), Some(b)) if b < a => self.tighter.push(format!("{what} is less")),
            (None, Some(_)) => self.tighter.push(format!("{what} is new")),
            (Some(_), None) => self.looser.push(format!("{what} is removed")),
            _ => self.looser.push(format!("{what} is more")),
        }
    }
}

/// Both sides of a comparison.
pub(super) struct Sides<'p> {
    pub old: &'p Program,
    pub new: &'p Program,
    /// Tools that the old guard never allows, and those that the new one never allows.
    never: (BTreeSet<String>, BTreeSet<String>),
    /// The histories of both, as far as both can have got.
    told: (Histories<'p>, Histories<'p>),
}

impl<'p> Sides<'p> {
    pub fn new(old: &'p Program, new: &'p Program, running: bool) -> Self {
        // A running session may hold values that no call under its guard fills, so no tool is ruled
        // out.
        let never =
            if running { Default::default() } else { (never_called(old), never_called(new)) };
        let either: Rc<BTreeSet<String>> = Rc::new(never.0.union(&never.1).cloned().collect());
        let view = |program, beside| HistoryView { program, beside, never: either.clone() };
        let told = (Histories::new(view(old, new)), Histories::new(view(new, old)));
        Sides { old, new, never, told }
    }

    /// Returns true if what the completion's checks read may come about in two ways.
    pub fn stops_otherwise(&self) -> bool {
        let read = |program: &'p Program| {
            let mut reads = RuleReads::default();
            program.each_check(&mut |check| {
                check.expr().into_iter().for_each(|e| reads.expr(program, e));
            });
            reads.influences()
        };
        let all: BTreeSet<Influence> = read(self.old).union(&read(self.new)).cloned().collect();
        all.iter().any(|influence| self.differs(influence))
    }

    /// Returns true if the values that a contract refers to may come about in two ways.
    pub fn judges_otherwise(&self, contract: &Contract) -> bool {
        let mut reads = RuleReads::default();
        for reference in &contract.references {
            match &reference.allowed {
                Allowed::Fact(fact) => {
                    reads.facts.insert(self.old.facts[*fact].name.clone());
                }
                Allowed::Values(values) => reads.expr(self.old, values),
                Allowed::Given(_) => {}
            }
        }
        reads.influences().iter().any(|influence| self.differs(influence))
    }

    /// Returns true if something may come about in two ways.
    fn differs(&self, influence: &Influence) -> bool {
        self.told.0.history(influence) != self.told.1.history(influence)
    }

    /// Returns the changes for calls of a tool that both guards declare.
    pub fn tool(&self, old: ToolId, new: ToolId) -> PossibleChange {
        let mut change = PossibleChange::default();
        let a = &self.old.tools[old];
        let b = &self.new.tools[new];
        self.guard(&mut change);
        self.params(a, b, &mut change);
        self.clauses(a, b, &mut change);
        self.limits(a, b, &mut change);
        self.budgets(a, b, &mut change);
        self.effects(a, b, &mut change);
        self.waits(old, new, &mut change);
        self.inputs(a, b, &mut change);
        // A tool that one guard never allows can only change in one direction, whatever its rules
        // say.
        if self.never.0.contains(&a.wire_name) {
            change.tighter.clear();
        }
        if self.never.1.contains(&b.wire_name) {
            change.looser.clear();
        }
        for list in [&mut change.looser, &mut change.tighter] {
            list.sort();
            list.dedup();
        }
        change
    }

    /// Compares the declarations that hold for all calls: shadow mode, the deadline and what halts a session.
    fn guard(&self, change: &mut PossibleChange) {
        let old = self.old;
        let new = self.new;
        if old.shadow != new.shadow {
            let list = if new.shadow { &mut change.looser } else { &mut change.tighter };
            list.push("the whole guard's shadow".into());
        }
        change.bound("the deadline", old.deadline, new.deadline);
        // A call by a name that is one tool's on the wire and another's in the guard reaches another tool.
        let renamed = |these: &Program, others: &Program| {
            let is_wire = |name: &str| others.tools.iter().any(|tool| tool.wire_name == name);
            let gone = these.tools.iter().filter(|tool| !is_wire(&tool.wire_name));
            gone.filter(|tool| others.tools.iter().any(|other| other.name == tool.wire_name))
                .count()
        };
        if renamed(old, new) + renamed(new, old) > 0 && !mutant!("a name is one tool's") {
            change.other("which tool a name is".into());
        }
        if self.differs(&Influence::Halts) {
            change.other("what halts a session".into());
        }
    }

    fn params(&self, a: &Tool, b: &Tool, change: &mut PossibleChange) {
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
    fn narrowed(&self, what: &str, old: &Type, new: &Type, change: &mut PossibleChange) {
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
                let swapped = mutant!("a lower end is an upper end");
                let (lo, low) = if swapped { (low, lo) } else { (lo, low) };
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
    fn clauses(&self, a: &'p Tool, b: &'p Tool, change: &mut PossibleChange) {
        let old = rules(self.old, a);
        let new = rules(self.new, b);
        let added: Vec<&ImpliedRule> =
            new.iter().filter(|rule| !covered_by_any(&old, **rule)).collect();
        let gone: Vec<&ImpliedRule> =
            old.iter().filter(|rule| !covered_by_any(&new, **rule)).collect();
        change.same += new.len() - added.len();
        let edited = self.edited(&old, &new);
        change.edited.extend(edited.iter().map(|(x, y)| (x.clause.rule.span, y.clause.rule.span)));
        for rule in added {
            let is_edited = edited.iter().any(|(_, y)| std::ptr::eq(y.clause, rule.clause));
            let what = if is_edited { "is edited" } else { "is new" };
            change.tighter.push(format!("{} {what}", named(rule)));
        }
        for rule in gone {
            let is_edited = edited.iter().any(|(x, _)| std::ptr::eq(x.clause, rule.clause));
            let what = if is_edited { "is edited" } else { "is gone" };
            change.looser.push(format!("{} {what}", named(rule)));
        }
        self.gate(a, b, change);
        let served = |program: &Program, tool: &Tool| {
            tool.served.map(|s| (Canon(program).lifecycle(s.lifecycle), format!("{:?}", s.op)))
        };
        let alike = mutant!("a lifecycle is any");
        if served(self.old, a).map(|s| s.0) != served(self.new, b).map(|s| s.0) && !alike {
            change.other("its lifecycle".into());
        }
        if a.states != b.states {
            change.other("whether the kernel serves it".into());
        }
    }

    /// The calls that need an approval without a rule that says so.
    fn gate(&self, a: &Tool, b: &Tool, change: &mut PossibleChange) {
        // A gate takes any approval: which one it uses up depends on the roles that other rules ask.
        let asks = |program: &Program, tool: &Tool| -> BTreeSet<String> {
            let clauses = Canon(program).clauses(tool).into_iter();
            let asks = |clause: &Clause| match &clause.kind {
                ClauseKind::Approval { .. } => true,
                ClauseKind::Limit { limit, .. } => program.limits[*limit].ask.is_some(),
                _ => false,
            };
            let count = |clause: &Clause| match &clause.kind {
                ClauseKind::Limit { limit, .. } => program.limits[*limit].count,
                _ => 0,
            };
            let asking = clauses.filter(|(clause, _)| asks(clause));
            asking.map(|(clause, text)| format!("{text} {}", count(clause))).collect()
        };
        // Where the condition of a gate faults no approval helps.
        let faults = |tool: &Tool| {
            tool.gates().any(|(_, when)| !is_total(when)) && !mutant!("a gate never faults")
        };
        let asked = asks(self.old, a) == asks(self.new, b) || mutant!("a gate uses up nothing");
        if a.may_be_gated() && b.may_be_gated() && !asked {
            change.other("which approval its gate uses up".into());
        }
        if a.is_gated() && b.is_gated() {
            return;
        }
        let conditions = |program: &'p Program, tool: &Tool| -> BTreeSet<String> {
            tool.gates().map(|(_, when)| Canon(program).expr(Some(tool), when)).collect()
        };
        let old = conditions(self.old, a);
        let new = conditions(self.new, b);
        if (faults(a) || faults(b)) && (a.is_gated() || b.is_gated() || old != new) {
            return change.other("the conditions of its gate".into());
        }
        let grows = b.is_gated() || (!a.is_gated() && old.is_subset(&new));
        let shrinks = a.is_gated() || (!b.is_gated() && new.is_subset(&old));
        match (grows, shrinks) {
            (true, true) => {}
            (true, false) => change.tighter.push("the gate".into()),
            (false, true) => change.looser.push("the gate".into()),
            (false, false) => change.other("the conditions of its gate".into()),
        }
    }

    /// The rules that only one of them has, in pairs: of the same kind and owner, those that share most first.
    fn edited(
        &self,
        old: &[ImpliedRule<'p>],
        new: &[ImpliedRule<'p>],
    ) -> Vec<(ImpliedRule<'p>, ImpliedRule<'p>)> {
        let only = |mine: &[ImpliedRule<'p>], theirs: &[ImpliedRule<'p>]| -> Vec<ImpliedRule<'p>> {
            let mut rest: Vec<String> = theirs.iter().map(|rule| rule.text()).collect();
            let mut own = Vec::new();
            for rule in mine {
                match rest.iter().position(|text| *text == rule.text()) {
                    Some(at) => drop(rest.remove(at)),
                    None => own.push(*rule),
                }
            }
            own
        };
        let mut gone = only(old, new);
        let mut added = only(new, old);
        let mut pairs = Vec::new();
        loop {
            let mut best: Option<(usize, usize, usize)> = None;
            for (i, x) in gone.iter().enumerate() {
                for (j, y) in added.iter().enumerate() {
                    let alike = named(x) == named(y) && x.clause.rule.owner == y.clause.rule.owner;
                    let shared = shared_words(&x.text(), &y.text());
                    if alike && shared >= ALIKE && best.is_none_or(|(most, ..)| shared > most) {
                        best = Some((shared, i, j));
                    }
                }
            }
            let Some((_, i, j)) = best else { return pairs };
            pairs.push((gone.remove(i), added.remove(j)));
        }
    }

    /// Calls in flight for which this one waits.
    fn waits(&self, old: ToolId, new: ToolId, change: &mut PossibleChange) {
        let waits = |program: &Program, tool: ToolId| -> BTreeSet<String> {
            let others = (0..program.tools.len()).filter(|other| waits_for(program, tool, *other));
            others.map(|other| program.tools[other].wire_name.clone()).collect()
        };
        let a = waits(self.old, old);
        let b = waits(self.new, new);
        if mutant!("nothing waits") {
            return;
        }
        let text = |name: &String| format!("waiting for `{name}`");
        let known = |program: &Program, name: &String| {
            program.default_allow || program.tools.iter().any(|tool| tool.wire_name == *name)
        };
        // A tool that only one of them has was never in flight under both.
        change.tighter.extend(b.difference(&a).filter(|n| known(self.old, n)).map(text));
        change.looser.extend(a.difference(&b).filter(|n| known(self.new, n)).map(text));
    }

    /// The texts of the rules that were weighed against each other. A rule that only one of them has has been counted;
    /// what it reads changes nothing more.
    fn common(&self, a: &'p Tool, b: &'p Tool) -> BTreeSet<String> {
        let mut common: BTreeSet<String> = BTreeSet::new();
        let (old, new) = (rules(self.old, a), rules(self.new, b));
        for (mine, others) in [(&old, &new), (&new, &old)] {
            for rule in mine.iter().filter(|rule| covered_by_any(others, **rule)) {
                let mut covering: Vec<_> =
                    others.iter().filter(|other| covers(**other, *rule)).collect();
                if covering.is_empty() {
                    // Several rules stand for it together.
                    covering.extend(others);
                }
                common.insert(rule.text());
                common.extend(covering.into_iter().map(|other| other.text()));
            }
        }
        let every = |program: &'p Program| {
            let placed =
                move |i: &'p crate::hir::Invariant| Placed { program, tool: None, e: &i.condition };
            program.invariants.iter().map(placed).collect::<Vec<_>>()
        };
        for x in every(self.old) {
            for y in every(self.new).into_iter().filter(|y| implies(*y, x) || implies(x, *y)) {
                common.extend([x.text(), y.text()]);
            }
        }
        let others = |program: &Program, tool: &Tool| -> BTreeSet<String> {
            tool.clauses.iter().map(|c| Canon(program).clause(tool, c)).collect()
        };
        common.extend(others(self.old, a).intersection(&others(self.new, b)).cloned());
        // Limits are weighed by their counters, whoever is asked.
        let limits = |program: &'p Program, tool: &'p Tool| {
            let is_limit = |c: &&Clause| matches!(c.kind, ClauseKind::Limit { .. });
            let canon = Canon(program);
            let texts = move |c: &Clause| (canon.counter(tool, c), canon.clause(tool, c));
            tool.clauses.iter().filter(is_limit).map(texts).collect::<Vec<_>>()
        };
        let new = limits(self.new, b);
        for (counter, text) in limits(self.old, a) {
            for (_, other) in new.iter().filter(|(known, _)| *known == counter) {
                common.extend([text.clone(), other.clone()]);
            }
        }
        common
    }

    /// Everything that the decision reads must have come about alike.
    fn inputs(&self, a: &'p Tool, b: &'p Tool, change: &mut PossibleChange) {
        let common = self.common(a, b);
        let old = RuleReads::new(self.old, a, &common);
        let new = RuleReads::new(self.new, b, &common);
        let mut influences = old.influences();
        influences.append(&mut new.influences());
        // What is private is weighed clause by clause, below.
        influences.remove(&Influence::Readers);
        for influence in influences {
            if self.differs(&influence) && !mutant!("what is read came about alike") {
                change.other(match influence {
                    Influence::Variable(name) => format!("how `{name}` comes about"),
                    Influence::Fact(name) => format!("how `{name}` is learned"),
                    Influence::Spending(name) | Influence::Budget(name) => {
                        format!("the spent amount of `{name}`")
                    }
                    Influence::Probe(name) => format!("the probe `{name}`"),
                    Influence::Calls(name) => format!("the tool `{name}` that a rule asks about"),
                    Influence::Trust => "whose words are trusted".into(),
                    Influence::Readers | Influence::Secrets => {
                        "who may read what is private".into()
                    }
                    Influence::Deadline => "the deadline that a rule asks about".into(),
                    Influence::Halts => "what halts a session".into(),
                });
            }
        }
        if old.readers || new.readers {
            disclosure::compare((&self.told.0, a), (&self.told.1, b), change);
        }
    }
}

/// The clauses of a tool that only refuse.
fn rules<'p>(program: &'p Program, tool: &'p Tool) -> Vec<ImpliedRule<'p>> {
    let refuses = |c: &&crate::hir::Clause| {
        let kind = matches!(
            c.kind,
            ClauseKind::Requires { .. }
                | ClauseKind::Deny { .. }
                | ClauseKind::Approval { .. }
                | ClauseKind::Ready(_)
        );
        kind && !c.rule.shadow
    };
    tool.clauses
        .iter()
        .filter(refuses)
        .map(|clause| ImpliedRule { program, tool, clause })
        .collect()
}

/// Returns the percentage of words that two texts have in common.
fn shared_words(a: &str, b: &str) -> usize {
    let words = |text: &str| -> BTreeSet<String> {
        let parts = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        parts.filter(|word| !word.is_empty()).map(String::from).collect()
    };
    let a = words(a);
    let b = words(b);
    a.intersection(&b).count() * 100 / a.union(&b).count().max(1)
}

fn named(rule: &ImpliedRule) -> &'static str {
    match rule.clause.kind {
        ClauseKind::Requires { .. } => "a `requires`",
        ClauseKind::Approval { .. } => "an `approval`",
        ClauseKind::Ready(_) => "a `ready`",
        _ => "a `deny`",
    }
}

fn variables(program: &Program, e: &Expr) -> BTreeSet<String> {
    e.variables().into_iter().map(|var| program.state[var].name.clone()).collect()
}

fn variable<'p>(program: &'p Program, name: &str) -> Option<&'p crate::hir::StateVar> {
    program.state.iter().find(|var| var.name == name)
}
