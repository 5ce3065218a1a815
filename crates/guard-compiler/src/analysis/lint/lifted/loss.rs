//! A loss, and what becomes of a condition after it.

use crate::analysis::diff::implied::is_absent;
use crate::hir::canon::Canon;
use crate::hir::{
    Clause, ClauseKind, Expr, ExprKind as K, FactId, Program, Tool, ToolId, Type, VarId,
};
use guard_plan::builtin::{Builtin, ReturnKind};
use guard_plan::plan::{ArithOp, CompareOp, EffectOp, QuantifierOp as Op};

/// Something that is there no more.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LostValue {
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
    /// Every success of a tool: its only call has run, and its result does not decode.
    Last(ToolId),
}

impl LostValue {
    pub(super) fn is_of(&self, fact: FactId) -> bool {
        matches!(self, LostValue::Row(of, _) | LostValue::Rows(of) if *of == fact)
    }

    pub(super) fn is_of_variable(&self, var: VarId) -> bool {
        matches!(self, LostValue::Observed(of) | LostValue::Entry(of, _) if *of == var)
    }
}

/// A loss, where it is looked at: in the conditions of a tool.
pub(super) struct Loss<'l> {
    pub(super) program: &'l Program,
    pub(super) tool: &'l Tool,
    pub(super) lost: &'l LostValue,
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
    pub(super) fn lifts(&self, clause: &Clause, condition: &Expr) -> bool {
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
        let decided = self.decided(e);
        let (lifted, truth) = match &e.kind {
            _ if decided.is_some() => (decided != Some(wanted), decided),
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
                let [yes, no] = [true, false].map(|side| self.after(condition, side));
                let [a, b] = [a, b].map(|part| self.after(part, wanted));
                match yes.truth {
                    Some(holds) => {
                        let taken = if holds { a } else { b };
                        let is_other = (yes.lifted || no.lifted) && taken.truth == Some(!wanted);
                        (taken.lifted || is_other, taken.truth)
                    }
                    None => {
                        let truth = a.truth.filter(|truth| b.truth == Some(*truth));
                        (a.lifted || b.lifted, truth)
                    }
                }
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
            K::Else(a, b) if self.is_missing(a) => {
                let truth = self.after(b, wanted).truth;
                (truth == Some(!wanted), truth)
            }
            // A test of what is missing is false, but for `!=`.
            K::Compare(CompareOp::Ne, a, b) => {
                let is_missing = self.is_missing(a) || self.is_missing(b);
                let lifted = self.counts_fewer(e, wanted) || !wanted && is_missing;
                (lifted, is_missing.then_some(true))
            }
            _ => {
                let fails = self.fails(e);
                (self.counts_fewer(e, wanted) || wanted && fails, fails.then_some(false))
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

    /// Returns the outcome of a comparison of literals, one of which stands for what is gone.
    fn decided(&self, e: &Expr) -> Option<bool> {
        let K::Compare(op, a, b) = &e.kind else { return None };
        if !self.stands_in(a) && !self.stands_in(b) {
            return None;
        }
        match (self.number(a), self.number(b)) {
            (Some(a), Some(b)) => Some(op.holds(a.cmp(&b))),
            _ if !matches!(op, CompareOp::Eq | CompareOp::Ne) => None,
            _ => Some((self.literal(a)? == self.literal(b)?) == (*op == CompareOp::Eq)),
        }
    }

    /// Returns true if a comparison is less often as wanted, since it counts what is gone.
    fn counts_fewer(&self, e: &Expr, wanted: bool) -> bool {
        let K::Compare(op, a, b) = &e.kind else { return false };
        let fewer = match op {
            CompareOp::Ne if wanted && matches!(b.kind, K::Int(0)) => a,
            CompareOp::Eq if !wanted && matches!(b.kind, K::Int(0)) => a,
            CompareOp::Ge | CompareOp::Gt if wanted => a,
            CompareOp::Lt | CompareOp::Le if !wanted => a,
            CompareOp::Le | CompareOp::Lt => b,
            CompareOp::Gt | CompareOp::Ge => b,
            _ => return false,
        };
        self.counts(fewer)
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
                LostValue::Last(id) => id == tool,
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

    /// Returns the text or variant that an expression is where it is gone, as written.
    fn literal(&self, e: &Expr) -> Option<String> {
        match &e.kind {
            K::String(_) | K::Enum(_) | K::Bool(_) => {
                Some(key_text(self.program, self.tool, std::slice::from_ref(e)))
            }
            K::Else(a, b) if self.is_missing(a) => self.literal(b),
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
            K::Call(Builtin::Len, args) => args.iter().any(|arg| self.is_emptied(arg)),
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
            (K::Else(a, b), _) => self.is_missing(a) && is_empty(b),
            _ => self.is_missing(e),
        }
    }

    /// Returns true if a value is missing where it is gone. What a rule takes for established is a fault then, which refuses.
    fn is_missing(&self, e: &Expr) -> bool {
        is_absent(e, &|expr| match (&expr.kind, self.lost) {
            (K::LastArg(of, _), LostValue::Last(id)) => of == id,
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
        let (LostValue::Success(id, _) | LostValue::Last(id)) = self.lost else { return None };
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

/// Returns true if a clause sets a variable to `true`, whatever was called.
fn sets_true(clause: &ClauseKind) -> bool {
    match clause {
        ClauseKind::Effect { ranges, target, op: EffectOp::Set, value: Some(value), .. } => {
            ranges.is_empty() && target.path.is_empty() && matches!(value.kind, K::Bool(true))
        }
        _ => false,
    }
}

fn is_empty(e: &Expr) -> bool {
    match &e.kind {
        K::List(items) | K::Set(items) => items.is_empty(),
        K::Map(entries) => entries.is_empty(),
        _ => false,
    }
}

pub(super) fn key_text(program: &Program, tool: &Tool, key: &[Expr]) -> String {
    let parts: Vec<String> = key.iter().map(|part| Canon(program).expr(Some(tool), part)).collect();
    parts.join(", ")
}
