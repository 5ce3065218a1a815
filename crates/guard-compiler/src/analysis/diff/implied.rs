//! Whether one condition follows from another, where their shape shows it: equal parts, and bounds that are constants.
//!
//! Sound and small. Whatever needs more than a look is not shown here.

use super::canon::Canon;
use crate::hir::{Clause, ClauseKind, Expr, ExprKind as K, Program, Requirement, Tool};
use guard_plan::plan::CompareOp;

/// An expression with where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Placed<'p> {
    pub program: &'p Program,
    pub tool: Option<&'p Tool>,
    pub e: &'p Expr,
}

impl<'p> Placed<'p> {
    fn at(self, e: &'p Expr) -> Self {
        Placed { e, ..self }
    }

    /// The expression as text.
    pub fn text(self) -> String {
        Canon(self.program).expr(self.tool, self.e)
    }
}

/// Whether `b` is true wherever `a` is, and faults wherever `a` does.
pub(crate) fn implies(a: Placed, b: Placed) -> bool {
    if a.text() == b.text() {
        return true;
    }
    match (&a.e.kind, &b.e.kind) {
        // Two comparisons of the same fault alike, so this one may be turned round.
        (K::Not(x), K::Not(y)) => match (&x.kind, &y.kind) {
            (K::Compare(..), K::Compare(..)) => implies(b.at(y), a.at(x)),
            _ => false,
        },
        // Evaluated from the left, both stop at the same part or not at all.
        (K::And(x, y), K::And(p, q)) if implies(a.at(x), b.at(p)) && implies(a.at(y), b.at(q)) => {
            true
        }
        (K::Or(x, y), _) => implies(a.at(x), b) && implies(a.at(y), b),
        (_, K::And(x, y)) => implies(a, b.at(x)) && implies(a, b.at(y)),
        // The second part of `a` may fault where `b` would not.
        (K::And(x, _), _) if implies(a.at(x), b) => true,
        (K::Compare(op, x, m), K::Compare(other, y, n)) => {
            op == other && a.at(x).text() == b.at(y).text() && bounded(*op, m, n)
        }
        _ => false,
    }
}

/// Whether `x op m` gives `x op n`.
fn bounded(op: CompareOp, m: &Expr, n: &Expr) -> bool {
    let (Some(m), Some(n)) = (constant(m), constant(n)) else { return false };
    match op {
        CompareOp::Gt | CompareOp::Ge => m >= n,
        CompareOp::Lt | CompareOp::Le => m <= n,
        CompareOp::Eq | CompareOp::Ne => m == n,
    }
}

fn constant(e: &Expr) -> Option<i64> {
    match &e.kind {
        K::Int(v) | K::Decimal(v) | K::Duration(v) | K::Time(v) => Some(*v),
        K::Neg(of) => constant(of)?.checked_neg(),
        _ => None,
    }
}

/// A clause with where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Rule<'p> {
    pub program: &'p Program,
    pub tool: &'p Tool,
    pub clause: &'p Clause,
}

impl<'p> Rule<'p> {
    /// All of it as text.
    pub fn text(self) -> String {
        Canon(self.program).clause(self.tool, self.clause)
    }

    fn at(self, e: &'p Expr) -> Placed<'p> {
        Placed { program: self.program, tool: Some(self.tool), e }
    }
}

/// Whether the rule `b` refuses whatever `a` does.
pub(crate) fn covers<'p>(b: Rule<'p>, a: Rule<'p>) -> bool {
    if a.text() == b.text() {
        return true;
    }
    let when = |x: &'p Option<Expr>, y: &'p Option<Expr>| match (x, y) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(x), Some(y)) => implies(a.at(x), b.at(y)),
    };
    match (&a.clause.kind, &b.clause.kind) {
        (ClauseKind::Deny { condition: x, .. }, ClauseKind::Deny { condition: y, .. }) => {
            implies(a.at(x), b.at(y))
        }
        (
            ClauseKind::Approval { role, within, when: x },
            ClauseKind::Approval { role: other, within: age, when: y },
        ) => role == other && shorter(*age, *within) && when(x, y),
        (
            ClauseKind::Requires { any_of, when: x },
            ClauseKind::Requires { any_of: other, when: y },
        ) => {
            let met = |r: &Requirement| any_of.iter().any(|s| stricter((b, r), (a, s)));
            other.iter().all(met) && when(x, y)
        }
        _ => false,
    }
}

/// Whether the requirement `b` holds only where `a` does.
fn stricter((b, r): (Rule, &Requirement), (a, s): (Rule, &Requirement)) -> bool {
    let name = |rule: Rule, tool: usize| rule.program.tools[tool].wire_name.clone();
    let key = |rule: Rule, r: &Requirement| -> Vec<(String, String)> {
        let of = &rule.program.tools[r.tool];
        let text = |e: &Expr| Canon(rule.program).expr(Some(rule.tool), e);
        r.key.iter().map(|(at, e)| (of.params[*at as usize].name.clone(), text(e))).collect()
    };
    let since = |rule: Rule, r: &Requirement| r.since.map(|tool| name(rule, tool));
    let (mine, theirs) = (key(b, r), key(a, s));
    name(b, r.tool) == name(a, s.tool)
        && theirs.iter().all(|part| mine.contains(part))
        && since(a, s).is_none_or(|_| since(a, s) == since(b, r))
        && shorter(r.within, s.within)
        // The last call with a key says nothing of the last without.
        && (!s.latest || r.latest && mine.iter().all(|part| theirs.contains(part)))
}

/// Whether an age is at least as short as another; none is longest.
fn shorter(age: Option<i64>, other: Option<i64>) -> bool {
    match (age, other) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(a), Some(b)) => a <= b,
    }
}
