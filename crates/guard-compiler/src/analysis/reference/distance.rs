//! The distance of a call from being allowed: the branch distance of search-based testing, for those who look for sessions.
//!
//! It decides nothing. Each rule that refuses counts, a `deny` the less the fewer parts of its condition are in the way.

use super::eval::{Env, rows_of};
use super::{Judgement, Reference, World};
use crate::hir::{ClauseKind, Expr, ExprKind as K, ToolId};
use guard_plan::plan::QuantifierOp;
use guard_plan::value::Value;

/// The weight of a rule that refuses.
pub(crate) const RULE: u32 = 16;
/// The weight of a rule that refuses only just.
const LEAST: u32 = 4;
/// The distance of a call in a session that is halted.
const HALTED: u32 = 64 * RULE;
/// The parts of a condition that has no value.
const FAULT: u32 = 3;
/// Most rows of a quantifier that are looked at.
const ROWS: usize = 8;

impl Reference<'_> {
    /// The distance of a call that was judged so from one that no rule refuses. Missing approvals do not count.
    pub(crate) fn distance(
        &self,
        at: ToolId,
        args: &[Value],
        judged: &Judgement,
        world: World,
    ) -> u32 {
        let mut distance = judged.unmet as u32 * RULE;
        if distance == 0 {
            return 0;
        }
        // Nothing else was looked at, and nothing that may happen helps.
        if self.halted {
            return HALTED;
        }
        let env = Env { args, result: None, locals: &[], state: &self.state, world };
        self.mute.set(true);
        for clause in self.program.tools[at].clauses.iter().filter(|clause| !clause.rule.shadow) {
            if let ClauseKind::Deny { condition, .. } = &clause.kind {
                let parts = self.parts(condition, false, env);
                if parts > 0 {
                    distance = distance.saturating_sub(RULE.saturating_sub(LEAST + 2 * parts));
                }
            }
        }
        self.mute.set(false);
        self.tried.set(false);
        distance
    }

    /// The number of parts of a condition that are in the way of this outcome; 0 if it is the outcome.
    fn parts(&self, e: &Expr, wanted: bool, env: Env) -> u32 {
        let (both, either) = (u32::saturating_add, |a: u32, b: u32| a.min(b));
        match (&e.kind, wanted) {
            (K::Not(of), _) => self.parts(of, !wanted, env),
            (K::And(a, b), _) => {
                let join = if wanted { both } else { either };
                join(self.parts(a, wanted, env), self.parts(b, wanted, env))
            }
            (K::Or(a, b), _) => {
                let join = if wanted { either } else { both };
                join(self.parts(a, wanted, env), self.parts(b, wanted, env))
            }
            (K::Implies(a, b), true) => self.parts(a, false, env).min(self.parts(b, true, env)),
            (K::Implies(a, b), false) => {
                self.parts(a, true, env).saturating_add(self.parts(b, false, env))
            }
            (K::Quantified { op, over, binders, body }, _)
                if matches!(op, QuantifierOp::All | QuantifierOp::Any) =>
            {
                let each = wanted == (*op == QuantifierOp::All);
                let rows = self.row_parts(over, binders, body, wanted, env);
                match (rows, each) {
                    (None, _) => FAULT + most(body, wanted),
                    (Some(rows), true) => rows.into_iter().fold(0, u32::saturating_add),
                    (Some(rows), false) => {
                        rows.into_iter().min().unwrap_or_else(|| 1 + most(body, wanted))
                    }
                }
            }
            _ => match self.holds(e, env) {
                Ok(truth) if truth == wanted => 0,
                Ok(_) => self.row_to_count(e, env),
                Err(_) => FAULT,
            },
        }
    }

    /// The parts of a condition that is not as it should be: of one that compares counts, how far the next row is from counting.
    fn row_to_count(&self, e: &Expr, env: Env) -> u32 {
        let K::Compare(_, a, b) = &e.kind else { return 1 };
        let next = |e: &Expr| match &e.kind {
            K::Quantified { op: QuantifierOp::Count, over, binders, body } => {
                let rows = self.row_parts(over, binders, body, true, env)?;
                let open = rows.into_iter().filter(|parts| *parts > 0).min();
                Some(open.unwrap_or_else(|| 1 + most(body, true)))
            }
            _ => None,
        };
        1 + next(a).into_iter().chain(next(b)).min().unwrap_or(0)
    }

    /// Of each row of a quantifier, the parts of its body that are in the way; none where there are no collections.
    fn row_parts(
        &self,
        over: &[Expr],
        binders: &[u32],
        body: &Expr,
        wanted: bool,
        env: Env,
    ) -> Option<Vec<u32>> {
        let sources: Result<Vec<Value>, _> = over.iter().map(|e| self.eval(e, env)).collect();
        let rows = rows_of(&sources.ok()?, binders, env.locals).ok()?;
        let parts = |locals: &Vec<Value>| self.parts(body, wanted, Env { locals, ..env });
        Some(rows.iter().take(ROWS).map(parts).collect())
    }
}

/// The parts that a condition has, at most, in the way of an outcome: where nothing is there that it could be asked of.
fn most(e: &Expr, wanted: bool) -> u32 {
    match (&e.kind, wanted) {
        (K::Not(of), _) => most(of, !wanted),
        (K::And(a, b), true) | (K::Or(a, b), false) => most(a, wanted) + most(b, wanted),
        (K::And(a, b), false) | (K::Or(a, b), true) => most(a, wanted).min(most(b, wanted)),
        (K::Quantified { body, .. }, _) => 1 + most(body, wanted),
        _ => 1,
    }
}
