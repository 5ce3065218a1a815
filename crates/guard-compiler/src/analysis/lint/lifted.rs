//! A rule that a session forgets: it refuses nothing any more once a row of a fact, or what an observation wrote, is gone.
//!
//! Rows go when a fact is full, and what was observed goes when a later result does not decode. A part of a condition for which the
//! rule refuses, and that never holds without them, is lifted. A call whose result does not decode is no success, and lifts what asks for one.

mod loss;

use super::Lint;
use crate::errors;
use crate::hir::{
    Clause, ClauseKind, Expr, ExprKind as K, FactId, Learn, Program, Step, Target, Tool, ToolId,
    Type, VarId,
};
use guard_plan::plan::{EffectOp, LimitScope, Risk, Undecoded};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;
use loss::{Loss, LostValue, key_text};
use std::collections::{BTreeMap, BTreeSet};

/// Most losses that are looked at, one after the other, in a condition.
const MOST_ASKED: usize = 64;

pub(super) fn check(lint: &Lint, found: &mut Vec<Diagnostic>) {
    let program = lint.program;
    let taught = taught(program);
    let cleared = cleared(program);
    for tool in &program.tools {
        for clause in tool.clauses.iter().filter(|clause| !clause.rule.shadow) {
            let condition = match &clause.kind {
                ClauseKind::Deny { condition, .. } => condition,
                ClauseKind::Approval { when: Some(when), .. }
                | ClauseKind::Requires { when: Some(when), .. } => when,
                ClauseKind::Risk { level: Risk::Critical, when, .. } if tool.irreversible => when,
                _ => continue,
            };
            let span = clause.rule.span;
            let lifts = |lost: &LostValue| Loss { program, tool, lost }.lifts(clause, condition);
            let asked = asked(program, tool, condition);
            let lifts_row = |fact| asked.iter().any(|lost| lost.is_of(fact) && lifts(lost));
            for (fact, teacher) in &taught {
                if lifts_row(*fact) {
                    let fact = &program.facts[*fact];
                    found.push(errors::lifted_by_eviction(span, &fact.name, fact.max, *teacher));
                }
            }
            condition.walk(&mut |e| {
                let (id, key, lost) = match &e.kind {
                    K::Called { tool: id, key, .. } => {
                        let question = key_text(program, tool, std::slice::from_ref(e));
                        (*id, &key[..], LostValue::Success(*id, question))
                    }
                    K::LastArg(id, _) => (*id, &[][..], LostValue::Last(*id)),
                    _ => return,
                };
                let called = &program.tools[id];
                let is_once = std::ptr::eq(called, tool) && runs_once(program, tool, key);
                if may_not_decode(called) && !is_once && lifts(&lost) {
                    found.push(errors::lifted_by_undecoded(span, &called.name, called.span));
                }
            });
            if may_not_decode(tool) && most_calls(program, tool) != Some(1) {
                for (fact, teacher) in own_lessons(tool) {
                    if !taught.contains_key(&fact) && lifts_row(fact) {
                        let fact = &program.facts[fact].name;
                        found.push(errors::lifted_by_no_lesson(span, &tool.name, fact, teacher));
                    }
                }
            }
            for (var, observers) in &cleared {
                let lifted = asked.iter().filter(|lost| lost.is_of_variable(*var) && lifts(lost));
                let lifted: Vec<&LostValue> = lifted.collect();
                let observer = observers
                    .iter()
                    .find(|by| lifted.iter().any(|lost| !requires_latest(program, tool, by, lost)));
                if let Some(observer) = observer {
                    let name = &program.state[*var].name;
                    found.push(errors::lifted_by_clearing(span, name, observer.span));
                }
            }
        }
    }
}

/// Returns the facts that calls may teach more rows than they hold, each with a clause that teaches it.
fn taught(program: &Program) -> BTreeMap<FactId, Span> {
    let mut taught = BTreeMap::new();
    for (id, fact) in
        program.facts.iter().enumerate().filter(|(_, fact)| !fact.bundled && !fact.halts)
    {
        let mut told = program.sources.iter().flat_map(|source| &source.learns);
        let told = told.any(|(_, learn)| learn.fact == id);
        let mut rows = (!told).then_some(0_u64);
        let mut teacher = None;
        for tool in &program.tools {
            for clause in &tool.clauses {
                let ClauseKind::Learn(learn) = &clause.kind else { continue };
                if learn.fact == id {
                    // Another row with the same key takes the place of the first.
                    let is_one = learn.row[..fact.keys].iter().all(is_literal);
                    let more = most_rows(learn).zip(most_calls(program, tool));
                    let more = more.map(|(rows, calls)| rows.saturating_mul(calls));
                    let more = if is_one { Some(1) } else { more };
                    rows = rows.zip(more).map(|(rows, more)| rows.saturating_add(more));
                    teacher = Some(clause.rule.span);
                }
            }
        }
        let keys = program.records[fact.row].fields[..fact.keys].iter();
        let mut keys = keys.map(|field| most_values(program, &field.ty));
        let keys = keys.try_fold(1_u64, |all, count| Some(all.saturating_mul(count?)));
        let fits = |most: Option<u64>| most.is_some_and(|most| most <= fact.max);
        if let Some(teacher) = teacher.filter(|_| !fits(rows) && !fits(keys)) {
            taught.insert(id, teacher);
        }
    }
    taught
}

fn is_literal(e: &Expr) -> bool {
    matches!(e.kind, K::String(_) | K::Int(_) | K::Bool(_) | K::Enum(_))
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
        .try_fold(1, |all, count| Some(u64::saturating_mul(all, count?)))
}

/// Returns the most calls of a tool that a session allows.
fn most_calls(program: &Program, tool: &Tool) -> Option<u64> {
    let limits = tool.clauses.iter().filter_map(|clause| match &clause.kind {
        ClauseKind::Limit { limit, by: None } if !clause.rule.shadow => {
            Some(&program.limits[*limit])
        }
        _ => None,
    });
    let whole = limits.filter(|limit| limit.scope == LimitScope::Session && limit.ask.is_none());
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

/// A clause that observes a variable, and clears it when a result does not decode.
struct Observer<'p> {
    tool: ToolId,
    target: &'p Target,
    span: Span,
}

/// Returns true if every call of a tool requires that the last call that observes the lost value has succeeded: a call whose result does
/// not decode ends what `latest` asks for.
fn requires_latest(program: &Program, tool: &Tool, by: &Observer, lost: &LostValue) -> bool {
    let enforced = tool.clauses.iter().filter(|clause| !clause.rule.shadow);
    enforced.into_iter().any(|clause| match &clause.kind {
        ClauseKind::Requires { any_of, when: None } => match &any_of[..] {
            [only] if only.latest && only.tool == by.tool => {
                match (&only.key[..], &by.target.path[..], lost) {
                    ([(at, value)], [Step::Index(index)], LostValue::Entry(_, key)) => {
                        matches!(index.kind, K::Param(param) if param == *at)
                            && key_text(program, tool, std::slice::from_ref(value)) == *key
                    }
                    ([], path, _) => path.iter().all(|step| matches!(step, Step::Field(_))),
                    _ => false,
                }
            }
            _ => false,
        },
        _ => false,
    })
}

/// Returns the variables that a result which does not decode clears, with the clauses that observe them.
fn cleared(program: &Program) -> BTreeMap<VarId, Vec<Observer<'_>>> {
    let mut cleared: BTreeMap<VarId, Vec<Observer>> = BTreeMap::new();
    let tools = program.tools.iter().enumerate();
    for (id, tool) in tools.filter(|(_, tool)| tool.undecoded == Undecoded::Clear) {
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
                let observer = Observer { tool: id, target, span: clause.rule.span };
                cleared.entry(target.var).or_default().push(observer);
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

/// Returns what a condition asks for that may be lost, by key: some may be there while another one is gone.
fn asked(program: &Program, tool: &Tool, condition: &Expr) -> BTreeSet<LostValue> {
    let mut asked = BTreeSet::new();
    let key_text = |key: &[Expr]| key_text(program, tool, key);
    condition.walk(&mut |e| {
        let lost = match &e.kind {
            K::Row(fact, key) | K::Known(fact, key) => LostValue::Row(*fact, key_text(key)),
            K::Rows(fact) => LostValue::Rows(*fact),
            K::State(var) => LostValue::Observed(*var),
            K::Index(whole, key) => match &whole.kind {
                K::State(var) => LostValue::Entry(*var, key_text(std::slice::from_ref(key))),
                _ => return,
            },
            _ => return,
        };
        if asked.len() < MOST_ASKED {
            asked.insert(lost);
        }
    });
    asked
}

/// Returns true if a limit refuses a second call of a tool whose arguments are those of the question: `called(pay, order: order)`.
fn runs_once(program: &Program, tool: &Tool, key: &[(u32, Expr)]) -> bool {
    let is_asked = |param: u32| {
        key.iter()
            .any(|(at, value)| *at == param && matches!(value.kind, K::Param(of) if of == param))
    };
    let is_other = |part: &Expr| match &part.kind {
        K::Param(param) => !is_asked(*param),
        K::Field(..) | K::Index(..) | K::Else(..) | K::Call(..) => false,
        _ => !is_literal(part),
    };
    let counts_asked = |by: &Expr| !by.any(&mut |part| is_other(part));
    tool.clauses.iter().any(|clause| {
        let ClauseKind::Limit { limit, by } = &clause.kind else { return false };
        let limit = &program.limits[*limit];
        let is_one = limit.count == 1 && limit.scope == LimitScope::Session && limit.ask.is_none();
        is_one && !clause.rule.shadow && by.as_ref().is_none_or(counts_asked)
    })
}

/// Returns the facts that results of a tool teach.
fn own_lessons(tool: &Tool) -> BTreeMap<FactId, Span> {
    let learns = tool.clauses.iter().filter_map(|clause| match &clause.kind {
        ClauseKind::Learn(learn) if !clause.rule.shadow => Some((learn.fact, clause.rule.span)),
        _ => None,
    });
    learns.collect()
}

/// Returns true if a call of a tool may run and be no success, though nothing has failed.
fn may_not_decode(tool: &Tool) -> bool {
    let may_differ = |ty: &Type| !matches!(ty.required(), Type::Json);
    tool.undecoded != Undecoded::Halt && tool.returns.as_ref().is_some_and(may_differ)
}
