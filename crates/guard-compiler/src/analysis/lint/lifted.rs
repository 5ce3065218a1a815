//! A rule that a session forgets: it refuses nothing any more once a row of a fact, or what an observation wrote, is gone.
//!
//! Rows go when a fact is full, and what was observed goes when a later result does not decode. A condition is judged as if it
//! were gone: where it is false then, whatever the call and the rest of the session are, the rule is lifted.

use super::Lint;
use crate::errors;
use crate::hir::{
    Clause, ClauseKind, Expr, ExprKind as K, FactId, Learn, Program, Tool, Type, VarId,
};
use guard_plan::builtin::Gives;
use guard_plan::plan::{CompareOp, EffectOp, LimitScope, QuantifierOp, Undecoded};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;
use std::collections::BTreeMap;

pub(super) fn check(lint: &Lint, found: &mut Vec<Diagnostic>) {
    let program = lint.program;
    let taught = taught(program);
    let cleared = cleared(program);
    for tool in &program.tools {
        for clause in tool.clauses.iter().filter(|clause| !clause.rule.shadow) {
            let condition = match &clause.kind {
                ClauseKind::Deny { condition, .. } => condition,
                ClauseKind::Approval { when: Some(when), .. } => when,
                _ => continue,
            };
            let span = clause.rule.span;
            for (fact, teacher) in &taught {
                if LostValue::Row(*fact).truth(condition) == Some(false) {
                    let fact = &program.facts[*fact];
                    found.push(errors::lifted_by_eviction(span, &fact.name, fact.max, *teacher));
                }
            }
            for (var, observer) in &cleared {
                if LostValue::Observed(*var).truth(condition) == Some(false) {
                    let name = &program.state[*var].name;
                    found.push(errors::lifted_by_clearing(span, name, *observer));
                }
            }
        }
    }
}

/// Returns the facts that calls may teach more rows than they hold, each with a clause that teaches it.
fn taught(program: &Program) -> BTreeMap<FactId, Span> {
    let mut taught = BTreeMap::new();
    for (id, fact) in program.facts.iter().enumerate().filter(|(_, fact)| !fact.bundled) {
        let mut told = program.sources.iter().flat_map(|source| &source.learns);
        let told = told.any(|(_, learn)| learn.fact == id);
        let (mut rows, mut teacher) = ((!told).then_some(0_u64), None);
        for tool in &program.tools {
            for clause in &tool.clauses {
                let ClauseKind::Learn(learn) = &clause.kind else { continue };
                if learn.fact == id {
                    let more = most_rows(learn).zip(most_calls(program, tool));
                    let more = more.map(|(rows, calls)| rows.saturating_mul(calls));
                    rows = rows.zip(more).map(|(rows, more)| rows.saturating_add(more));
                    teacher = Some(clause.rule.span);
                }
            }
        }
        let keys = program.records[fact.row].fields[..fact.keys].iter();
        let mut keys = keys.map(|field| most_values(program, &field.ty));
        let keys = keys.try_fold(1_u64, |all, one| Some(all.saturating_mul(one?)));
        let fits = |most: Option<u64>| most.is_some_and(|most| most <= fact.max);
        if let Some(teacher) = teacher.filter(|_| !fits(rows) && !fits(keys)) {
            taught.insert(id, teacher);
        }
    }
    taught
}

/// Returns the most rows that one result teaches.
fn most_rows(learn: &Learn) -> Option<u64> {
    let elements = |ty: &Type| match ty.required() {
        Type::List(_, max) | Type::Set(_, max) | Type::Map(_, _, max) => *max,
        Type::Json => None,
        _ => Some(1),
    };
    let ranged = learn.ranges.iter().map(|range| &range.over.ty);
    ranged
        .chain(learn.row.iter().map(|value| &value.ty))
        .map(elements)
        .try_fold(1, |all, one| Some(u64::saturating_mul(all, one?)))
}

/// Returns the most calls of a tool that a session allows.
fn most_calls(program: &Program, tool: &Tool) -> Option<u64> {
    let limits = tool.clauses.iter().filter_map(|clause| match &clause.kind {
        ClauseKind::Limit { limit, by: None } if !clause.rule.shadow => {
            Some(&program.limits[*limit])
        }
        _ => None,
    });
    let whole = limits.filter(|limit| {
        limit.scope == LimitScope::Session && !limit.success && limit.ask.is_none()
    });
    whole.map(|limit| u64::from(limit.count)).min()
}

/// Returns the most values of a type.
fn most_values(program: &Program, ty: &Type) -> Option<u64> {
    match ty {
        Type::Bool => Some(2),
        Type::Enum(id) => Some(program.enums[*id].variants.len() as u64),
        Type::Int(Some(least), Some(greatest)) => greatest
            .checked_sub(*least)
            .and_then(|most| u64::try_from(most).ok())
            .map(|most| most + 1),
        _ => None,
    }
}

/// Returns the variables that a result which does not decode clears, each with a clause that observes it.
fn cleared(program: &Program) -> BTreeMap<VarId, Span> {
    let mut cleared = BTreeMap::new();
    for tool in program.tools.iter().filter(|tool| tool.undecoded == Undecoded::Clear) {
        for clause in tool.clauses.iter().filter(|clause| !clause.rule.shadow) {
            let ClauseKind::Observe { target, .. } = &clause.kind else { continue };
            // A tool that is refused while there is a value clears none.
            let refuses = |clause: &Clause| match &clause.kind {
                ClauseKind::Deny { condition, .. } if !clause.rule.shadow => {
                    matches!(&condition.kind, K::IsSome(of) if matches!(of.kind, K::State(var) if var == target.var))
                }
                _ => false,
            };
            if !tool.clauses.iter().any(refuses) && !deletes(program, target.var) {
                cleared.insert(target.var, clause.rule.span);
            }
        }
    }
    cleared
}

/// Returns true if effects delete a variable or its entries: the author's own rules lift what depends on it.
fn deletes(program: &Program, deleted: VarId) -> bool {
    let clauses = program.tools.iter().flat_map(|tool| &tool.clauses);
    let mut effects = clauses.filter_map(|clause| match &clause.kind {
        ClauseKind::Effect { target, op, .. } => Some((target.var, op)),
        _ => None,
    });
    effects.any(|(var, op)| var == deleted && matches!(op, EffectOp::Delete))
}

/// Something that is there no more.
#[derive(Clone, Copy)]
enum LostValue {
    /// The row of a fact that a condition asks for.
    Row(FactId),
    /// The value of a variable, or the entry of it that a condition reads.
    Observed(VarId),
}

impl LostValue {
    /// Returns the truth of a condition where it is gone; `None` where that depends on something else.
    fn truth(self, e: &Expr) -> Option<bool> {
        match &e.kind {
            K::Bool(value) => Some(*value),
            K::Not(a) => self.truth(a).map(|truth| !truth),
            K::And(a, b) => both(self.truth(a), self.truth(b)),
            K::Or(a, b) => both(self.truth(a).map(|a| !a), self.truth(b).map(|b| !b)).map(|no| !no),
            K::Implies(a, b) => both(self.truth(a), self.truth(b).map(|b| !b)).map(|no| !no),
            K::IsSome(of) => self.is_missing(of).then_some(false),
            K::Compare(op, a, b) => self.any_missing([&**a, &**b]).then_some(*op == CompareOp::Ne),
            K::In(a, b) | K::Within(a, b) => self.any_missing([&**a, &**b]).then_some(false),
            K::Matches(of, _) => self.is_missing(of).then_some(false),
            K::Known(fact, _) => {
                matches!(self, LostValue::Row(gone) if gone == *fact).then_some(false)
            }
            K::Call(builtin, args) if builtin.row().gives == Gives::Bool => {
                self.any_missing(args).then_some(false)
            }
            K::Quantified { op, over, .. } if over.iter().any(|over| self.is_missing(over)) => {
                match op {
                    QuantifierOp::Any => Some(false),
                    QuantifierOp::All => Some(true),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn any_missing<'e>(self, parts: impl IntoIterator<Item = &'e Expr>) -> bool {
        parts.into_iter().any(|part| self.is_missing(part))
    }

    /// Returns true if a value is missing where it is gone: it is gone itself, or a part of it. What a rule takes for established is a
    /// fault then, which refuses.
    fn is_missing(self, e: &Expr) -> bool {
        match (&e.kind, self) {
            (K::Row(fact, _) | K::Rows(fact), LostValue::Row(gone)) => *fact == gone,
            (K::State(var), LostValue::Observed(gone)) => *var == gone && e.ty.is_option(),
            (K::Index(of, _), LostValue::Observed(gone)) if matches!(of.kind, K::State(var) if var == gone) => {
                true
            }
            (K::Index(of, _) | K::Field(of, _) | K::Member(of, _), _) => self.is_missing(of),
            _ => false,
        }
    }
}

/// Returns whether two things hold; `None` where it cannot be told.
fn both(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}
