//! A rule that a session forgets: it refuses nothing any more once a row of a fact, or what an observation wrote, is gone.
//!
//! Rows go when a fact is full, and what was observed goes when a later result does not decode. A part of a condition for which the
//! rule refuses, and that never holds without them, is lifted. A call whose result does not decode is no success, and lifts what asks for one.

use super::Lint;
use crate::analysis::diff::implied::is_absent;
use crate::errors;
use crate::hir::canon::Canon;
use crate::hir::{
    Clause, ClauseKind, Expr, ExprKind as K, FactId, Learn, Program, Tool, ToolId, Type, VarId,
};
use guard_plan::builtin::ReturnKind;
use guard_plan::plan::{ArithOp, CompareOp, EffectOp, LimitScope, QuantifierOp as Op, Undecoded};
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;
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
                let K::Called { tool: id, key, .. } = &e.kind else { return };
                let called = &program.tools[*id];
                let is_once = std::ptr::eq(called, tool) && runs_once(program, tool, key);
                let question = key_text(program, tool, std::slice::from_ref(e));
                if may_not_decode(called) && !is_once && lifts(&LostValue::Success(*id, question)) {
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
                // A call whose result does not decode ends what `latest` asks for.
                let mut observers = observers.iter().filter(|(by, _)| !requires_latest(tool, *by));
                if let Some((_, observer)) = observers.next()
                    && asked.iter().any(|lost| lost.is_of_variable(*var) && lifts(lost))
                {
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

/// Returns true if every call of a tool requires that the last call of another one has succeeded.
fn requires_latest(tool: &Tool, required: ToolId) -> bool {
    let enforced = tool.clauses.iter().filter(|clause| !clause.rule.shadow);
    enforced.into_iter().any(|clause| match &clause.kind {
        ClauseKind::Requires { any_of, when: None } => {
            matches!(&any_of[..], [only] if only.latest && only.key.is_empty() && only.tool == required)
        }
        _ => false,
    })
}

/// Returns the variables that a result which does not decode clears, with the tools that observe them and their clauses.
fn cleared(program: &Program) -> BTreeMap<VarId, Vec<(ToolId, Span)>> {
    let mut cleared: BTreeMap<VarId, Vec<(ToolId, Span)>> = BTreeMap::new();
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
                cleared.entry(target.var).or_default().push((id, clause.rule.span));
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
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LostValue {
    /// The row of a fact with this key, as text.
    Row(FactId, String),
    /// A row among those of a fact that a condition walks over.
    Rows(FactId),
    /// The value of a variable; of a map, one of its entries.
    Observed(VarId),
    /// The entry of a map with this key, as text.
    Entry(VarId, String),
    /// The success of a call that has run and whose result does not decode, as the question after it reads.
    Success(ToolId, String),
}

impl LostValue {
    fn is_of(&self, fact: FactId) -> bool {
        matches!(self, LostValue::Row(of, _) | LostValue::Rows(of) if *of == fact)
    }

    fn is_of_variable(&self, var: VarId) -> bool {
        matches!(self, LostValue::Observed(of) | LostValue::Entry(of, _) if *of == var)
    }
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

/// Returns true if the second call of a tool with this key is refused by a limit.
fn runs_once(program: &Program, tool: &Tool, key: &[(u32, Expr)]) -> bool {
    let text = |e: &Expr| key_text(program, tool, std::slice::from_ref(e));
    tool.clauses.iter().any(|clause| {
        let ClauseKind::Limit { limit, by } = &clause.kind else { return false };
        let limit = &program.limits[*limit];
        let is_one = limit.count == 1 && limit.scope == LimitScope::Session && limit.ask.is_none();
        let asks = |by: &Expr| key.iter().any(|(_, value)| text(value) == text(by));
        is_one && !clause.rule.shadow && by.as_ref().is_none_or(asks)
    })
}

/// Returns true if a clause sets a variable to `true`, whatever was called.
fn sets_true(clause: &ClauseKind) -> bool {
    match clause {
        ClauseKind::Effect { ranges, target, op: EffectOp::Set, value: Some(value), .. } => {
            ranges.is_empty() && target.path.is_empty() && matches!(value.kind, K::Bool(true))
        }
        _ => false,
    }
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

fn key_text(program: &Program, tool: &Tool, key: &[Expr]) -> String {
    let parts: Vec<String> = key.iter().map(|part| Canon(program).expr(Some(tool), part)).collect();
    parts.join(", ")
}

/// A loss, where it is looked at: in the conditions of a tool.
struct Loss<'l> {
    program: &'l Program,
    tool: &'l Tool,
    lost: &'l LostValue,
}

/// A condition after a loss.
struct AfterLoss {
    /// True if a part of it never is as it is wanted.
    lifted: bool,
    /// Its truth, where that follows from the loss alone.
    truth: Option<bool>,
}

impl Loss<'_> {
    /// Returns true if a clause refuses less after the loss, and no other one of the tool refuses every call then.
    fn lifts(&self, clause: &Clause, condition: &Expr) -> bool {
        let refuses = |other: &Clause| match &other.kind {
            ClauseKind::Deny { condition, replacement: None, .. } => {
                !other.rule.shadow && self.after(condition, true).truth == Some(true)
            }
            _ => false,
        };
        let others = self.tool.clauses.iter().filter(|other| other.rule.span != clause.rule.span);
        self.after(condition, true).lifted && !others.into_iter().any(refuses)
    }

    fn after(&self, e: &Expr, wanted: bool) -> AfterLoss {
        let truth_of = |parts: [Option<bool>; 2], decides: bool| match parts {
            [Some(a), _] if a == decides => Some(decides),
            [_, Some(b)] if b == decides => Some(decides),
            [Some(_), Some(_)] => Some(!decides),
            _ => None,
        };
        let (lifted, truth) = match &e.kind {
            K::Bool(value) => (false, Some(*value)),
            K::Not(a) => {
                let a = self.after(a, !wanted);
                (a.lifted, a.truth.map(|truth| !truth))
            }
            K::And(a, b) | K::Or(a, b) => {
                let a = self.after(a, wanted);
                let b = self.after(b, wanted);
                let decides = matches!(e.kind, K::Or(..));
                (a.lifted || b.lifted, truth_of([a.truth, b.truth], decides))
            }
            K::Implies(a, b) => {
                let a = self.after(a, !wanted);
                let b = self.after(b, wanted);
                let denied = a.truth.map(|truth| !truth);
                (a.lifted || b.lifted, truth_of([denied, b.truth], true))
            }
            K::If(condition, a, b) => {
                let [condition, a, b] = [condition, a, b].map(|part| self.after(part, wanted));
                let truth = match condition.truth {
                    Some(true) => a.truth,
                    Some(false) => b.truth,
                    None => a.truth.filter(|truth| b.truth == Some(*truth)),
                };
                (condition.lifted || a.lifted || b.lifted, truth)
            }
            K::Quantified { op: op @ (Op::Any | Op::All), over, body, .. } => {
                let is_empty = over.iter().any(|over| self.is_emptied(over));
                let of_nothing = *op == Op::All;
                let body = self.after(body, wanted).lifted;
                (is_empty && of_nothing != wanted || body, is_empty.then_some(of_nothing))
            }
            K::Compare(op @ (CompareOp::Eq | CompareOp::Ne), a, b) if b.ty == Type::Bool => {
                let K::Bool(value) = b.kind else {
                    return AfterLoss { lifted: false, truth: None };
                };
                let same = value == (*op == CompareOp::Eq);
                let a = self.after(a, wanted == same);
                (a.lifted, a.truth.map(|truth| truth == same))
            }
            // A test of what is missing is false, but for `!=`.
            K::Compare(CompareOp::Ne, a, b) => {
                let is_missing = self.is_missing(a) || self.is_missing(b);
                let counted = wanted && self.counts(a) && matches!(b.kind, K::Int(0));
                (!wanted && is_missing || counted, is_missing.then_some(true))
            }
            _ => {
                let fails = self.fails(e);
                (
                    self.lifts_comparison(e, wanted).unwrap_or(wanted && fails),
                    fails.then_some(false),
                )
            }
        };
        // Of many rows or entries one is gone: nothing is certain of the others.
        let is_one_of_many = match self.lost {
            LostValue::Rows(_) => true,
            LostValue::Observed(var) => matches!(self.program.state[*var].ty, Type::Map(..)),
            _ => false,
        };
        let truth = truth.or_else(|| self.has_run(e)).filter(|_| !is_one_of_many);
        AfterLoss { lifted: lifted && truth != Some(wanted), truth }
    }

    /// Returns whether a comparison of numbers that stand for what is gone, or count it, is as wanted; none for other expressions.
    fn lifts_comparison(&self, e: &Expr, wanted: bool) -> Option<bool> {
        let K::Compare(op, a, b) = &e.kind else { return None };
        if let (true, Some(a), Some(b)) =
            (self.stands_in(a) || self.stands_in(b), self.number(a), self.number(b))
        {
            return Some(op.holds(a.cmp(&b)) != wanted);
        }
        // Fewer are counted where it is gone.
        let fewer = match op {
            CompareOp::Ge | CompareOp::Gt if wanted => a,
            CompareOp::Lt | CompareOp::Le if !wanted => a,
            CompareOp::Le | CompareOp::Lt => b,
            CompareOp::Gt | CompareOp::Ge => b,
            _ => return None,
        };
        self.counts(fewer).then_some(true)
    }

    /// Returns true if a test is false when the value is missing.
    fn fails(&self, e: &Expr) -> bool {
        match &e.kind {
            K::IsSome(operand) | K::Matches(operand, _) => self.is_missing(operand),
            K::Known(fact, key) => self.is_row(*fact, key),
            K::Called { tool, .. } => match self.lost {
                LostValue::Success(id, question) if id == tool => {
                    key_text(self.program, self.tool, std::slice::from_ref(e)) == *question
                }
                _ => false,
            },
            K::In(_, b) if self.is_emptied(b) => true,
            K::Compare(_, a, b) | K::In(a, b) | K::Within(a, b) => {
                self.is_missing(a) || self.is_missing(b)
            }
            K::Call(builtin, args) if builtin.row().gives == ReturnKind::Bool => {
                args.iter().any(|arg| self.is_missing(arg))
            }
            _ => false,
        }
    }

    /// Returns true for a value that `else` gives where it is gone.
    fn stands_in(&self, e: &Expr) -> bool {
        matches!(&e.kind, K::Else(a, _) if self.is_missing(a))
    }

    /// Returns the number that an expression is where it is gone, if it is a literal then.
    fn number(&self, e: &Expr) -> Option<i64> {
        match &e.kind {
            K::Int(n) | K::Decimal(n) | K::Duration(n) => Some(*n),
            K::Else(a, b) if self.is_missing(a) => self.number(b),
            _ => None,
        }
    }

    /// Returns true for a number that grows with what is there: a count of it, or a sum over it.
    fn counts(&self, e: &Expr) -> bool {
        match &e.kind {
            K::Quantified {
                op: Op::Count | Op::SumInt | Op::SumDecimal | Op::SumDuration,
                over,
                ..
            } => over.iter().any(|over| self.is_emptied(over)),
            K::Arith(ArithOp::Add, a, b) => self.counts(a) || self.counts(b),
            // The least number of its type stands for what is gone.
            K::Else(a, b) if self.is_missing(a) => {
                let least = match a.ty.required() {
                    Type::Int(least, _) | Type::Decimal(least, _) | Type::Duration(least, _) => {
                        *least
                    }
                    _ => None,
                };
                least.zip(self.number(b)).is_some_and(|(least, default)| default <= least)
            }
            K::Else(a, _) => self.counts(a),
            _ => false,
        }
    }

    /// Returns true if a collection holds nothing of what is gone.
    fn is_emptied(&self, e: &Expr) -> bool {
        match (&e.kind, self.lost) {
            (K::State(var), LostValue::Observed(gone)) => var == gone,
            (K::Rows(fact), LostValue::Rows(gone)) => fact == gone,
            _ => self.is_missing(e),
        }
    }

    /// Returns true if a value is missing where it is gone. What a rule takes for established is a fault then, which refuses.
    fn is_missing(&self, e: &Expr) -> bool {
        is_absent(e, &|expr| match (&expr.kind, self.lost) {
            (K::Row(fact, key), LostValue::Row(..)) => self.is_row(*fact, key),
            (K::State(var), LostValue::Observed(gone)) => var == gone && expr.ty.is_option(),
            (K::Index(whole, key), LostValue::Entry(gone, gone_key)) => {
                matches!(&whole.kind, K::State(var) if var == gone)
                    && key_text(self.program, self.tool, std::slice::from_ref(key)) == *gone_key
            }
            (K::Quantified { op: Op::First, over, .. }, _) => {
                over.iter().any(|over| self.is_emptied(over))
            }
            _ => false,
        })
    }

    /// Returns the truth of what is certain once a call has run: it is counted, and its effects are written.
    fn has_run(&self, e: &Expr) -> Option<bool> {
        let LostValue::Success(id, _) = self.lost else { return None };
        match &e.kind {
            K::Compare(op, a, b) => match (&a.kind, &b.kind) {
                (K::Calls { tool, failures: false, recent: None }, K::Int(n)) if tool == id => {
                    let at_least_one = op.holds(1.cmp(n));
                    let more = op.holds(i64::MAX.cmp(n));
                    let is_order = !matches!(op, CompareOp::Eq | CompareOp::Ne);
                    (at_least_one == more && (is_order || *n < 1)).then_some(more)
                }
                _ => None,
            },
            K::State(var) => {
                let writes = |clause: &&Clause| match &clause.kind {
                    ClauseKind::Effect { target, .. } | ClauseKind::Observe { target, .. } => {
                        target.var == *var && !clause.rule.shadow
                    }
                    _ => false,
                };
                let is_set = self.program.tools[*id].clauses.iter().any(|clause| writes(&clause));
                let all = self.program.tools.iter().flat_map(|tool| &tool.clauses);
                let stays = all.filter(writes).all(|clause| sets_true(&clause.kind));
                (is_set && stays).then_some(true)
            }
            _ => None,
        }
    }

    /// Returns true for the row that is gone.
    fn is_row(&self, fact: FactId, key: &[Expr]) -> bool {
        let LostValue::Row(gone, gone_key) = self.lost else { return false };
        fact == *gone && key_text(self.program, self.tool, key) == *gone_key
    }
}
