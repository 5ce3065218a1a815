//! The distance of a call from being allowed, for the search of sessions. It is the branch distance
//! of search-based testing.
//!
//! It decides nothing. Each rule that refuses the call adds to the distance. A `deny` adds less if
//! fewer parts of its condition are in the way.

use super::eval::{Env, rows_of};
use super::{Answerer, Judgement, ReferenceSession};
use crate::hir::{Clause, ClauseKind, Expr, ExprKind as K, ToolId};
use guard_plan::plan::QuantifierOp;
use guard_plan::value::Value;
use guard_syntax::span::Span;

/// The weight of a rule that refuses.
pub(crate) const RULE: u32 = 32;
/// The minimum weight of a rule that refuses.
const LEAST: u32 = 4;
/// The distance of a call in a session that is halted.
const HALTED: u32 = 64 * RULE;
/// The number of parts of a condition that has no value.
const FAULT: u32 = 3;
/// The maximum number of rows of a quantifier that are examined.
const ROWS: usize = 8;
/// The maximum number of rows of a fact that a key is compared with.
const KEYS: usize = 32;
/// The maximum number of missing rows of a count.
const LACKING: u64 = 4;

impl ReferenceSession<'_> {
    /// Returns the distance of a call with this judgement from a call that no rule refuses. Missing
    /// approvals do not count.
    pub(crate) fn distance(
        &self,
        at: ToolId,
        args: &[Value],
        judged: &Judgement,
        world: Answerer,
    ) -> u32 {
        let mut distance = judged.unmet as u32 * RULE;
        if distance == 0 {
            return 0;
        }
        // No other rule was judged, and no event can help.
        if self.halted {
            return HALTED;
        }
        let parts = self.parts_of_denies(at, args, (|_| true, false), world);
        for parts in parts.into_iter().filter(|parts| *parts > 0) {
            distance = distance.saturating_sub(RULE.saturating_sub(LEAST + 2 * parts));
        }
        distance
    }

    /// Returns the number of parts that prevent a deny of the tool from refusing a call that no
    /// rule refuses; `None` if the tool does not have the deny.
    pub(crate) fn parts_to_refusal(
        &self,
        at: ToolId,
        args: &[Value],
        deny: Span,
        world: Answerer,
    ) -> Option<u32> {
        let wanted = |clause: &Clause| clause.rule.span == deny;
        self.parts_of_denies(at, args, (wanted, true), world).into_iter().min()
    }

    /// Returns, for each of these denies of the tool, the parts of its condition that are in the
    /// way of this outcome.
    fn parts_of_denies(
        &self,
        at: ToolId,
        args: &[Value],
        (which, outcome): (impl Fn(&Clause) -> bool, bool),
        world: Answerer,
    ) -> Vec<u32> {
        let env = Env { args, result: None, locals: &[], state: &self.state, world };
        self.mute.set(true);
        let clauses = self.program.tools[at].clauses.iter();
        let clauses = clauses.filter(|clause| !clause.rule.shadow && which(clause));
        let parts = clauses.filter_map(|clause| match &clause.kind {
            ClauseKind::Deny { condition, .. } => Some(self.parts(condition, outcome, env)),
            _ => None,
        });
        let parts = parts.collect();
        self.mute.set(false);
        self.tried.set(false);
        parts
    }

    /// Returns the number of parts of a condition that are in the way of this outcome; 0 if the
    /// condition has the outcome.
    fn parts(&self, e: &Expr, wanted: bool, env: Env) -> u32 {
        let (both, either) = (u32::saturating_add, |a: u32, b: u32| a.min(b));
        match (&e.kind, wanted) {
            (K::Not(operand), _) => self.parts(operand, !wanted, env),
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
                Ok(_) => self.row_to_count(e, env).saturating_add(self.missing_keys(e, env)),
                Err(_) => FAULT.saturating_add(self.missing_keys(e, env)),
            },
        }
    }

    /// Returns the parts of the keys of missing rows and entries that a condition looks up. For a
    /// row, this is the number of values in which its key differs from the nearest row.
    fn missing_keys(&self, e: &Expr, env: Env) -> u32 {
        let below = |e: &Expr| {
            e.children().into_iter().map(|e| self.missing_keys(e, env)).fold(0, u32::saturating_add)
        };
        match &e.kind {
            // The rows of a quantifier bind names that have no value here.
            K::Quantified { .. } => 0,
            K::Row(fact, key) | K::Known(fact, key) => {
                let key: Result<Vec<Value>, _> = key.iter().map(|e| self.eval(e, env)).collect();
                let Ok(key) = key else { return below(e) };
                let rows = self.rows_of(*fact).take(KEYS);
                let nearest = rows.map(|row| differing(&key, row)).min();
                nearest.unwrap_or_else(|| 1 + key.iter().map(leaves).sum::<u32>())
            }
            K::Index(collection, _) => {
                let map = self.part(collection, env).is_ok_and(|map| matches!(*map, Value::Map(_)));
                let missing = map && self.part(e, env).map_or(true, |entry| *entry == Value::None);
                below(collection).saturating_add(u32::from(missing))
            }
            _ => below(e),
        }
    }

    /// Returns the parts of a condition that does not have the wanted outcome. For a condition that
    /// compares counts, this is the distance of the missing rows from being counted.
    fn row_to_count(&self, e: &Expr, env: Env) -> u32 {
        let K::Compare(_, a, b) = &e.kind else { return 1 };
        let lacking = match (self.eval(a, env), self.eval(b, env)) {
            (Ok(Value::Int(a)), Ok(Value::Int(b))) => a.abs_diff(b).min(LACKING) as u32,
            _ => 0,
        };
        let next = |e: &Expr| match &e.kind {
            K::Quantified { op: QuantifierOp::Count, over, binders, body } => {
                let rows = self.row_parts(over, binders, body, true, env)?;
                let open = rows.into_iter().filter(|parts| *parts > 0).min();
                Some(open.unwrap_or_else(|| 1 + most(body, true)))
            }
            _ => None,
        };
        1 + next(a).into_iter().chain(next(b)).min().map_or(0, |next| next + lacking)
    }

    /// Returns, for each row of a quantifier, the parts of its body that are in the way; none if
    /// there are no collections.
    fn row_parts(
        &self,
        over: &[Expr],
        binders: &[u32],
        body: &Expr,
        wanted: bool,
        env: Env,
    ) -> Option<Vec<u32>> {
        let sources: Result<Vec<_>, _> = over.iter().map(|e| self.part(e, env)).collect();
        let rows = rows_of(&sources.ok()?, binders, env.locals).ok()?;
        let parts = |locals: &Vec<Value>| self.parts(body, wanted, Env { locals, ..env });
        Some(rows.iter().take(ROWS).map(parts).collect())
    }
}

/// Returns the maximum number of parts of a condition that are in the way of an outcome, for the
/// case that there is no value to evaluate it on.
fn most(e: &Expr, wanted: bool) -> u32 {
    match (&e.kind, wanted) {
        (K::Not(operand), _) => most(operand, !wanted),
        (K::And(a, b), true) | (K::Or(a, b), false) => most(a, wanted) + most(b, wanted),
        (K::And(a, b), false) | (K::Or(a, b), true) => most(a, wanted).min(most(b, wanted)),
        (K::Quantified { body, .. }, _) => 1 + most(body, wanted),
        _ => 1,
    }
}

/// Returns the number of values within two lists that differ.
fn differing(a: &[Value], b: &[Value]) -> u32 {
    let each = |(a, b): (&Value, &Value)| match (a, b) {
        (Value::Record(a), Value::Record(b)) => differing(a, b),
        (a, b) => u32::from(a != b),
    };
    a.iter().zip(b).map(each).sum()
}

/// Returns the number of values within a value.
fn leaves(value: &Value) -> u32 {
    match value {
        Value::Record(fields) => fields.iter().map(leaves).sum(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::explore::session::{Act, ExploredEnding, START, WORKSPACE, act};
    use crate::{NoFiles, SourceFile, compile};
    use guard_plan::json::Json;

    const GUARD: &str = r#"guard g
record Leg { number: string gate: string }
fact status(leg: Leg key, seen: string)
tool look_up(number: string, gate: string) {
  trusted
  returns string
  learn status(leg: {number: number, gate: gate}, seen: result)
}
tool cancel(legs: list<Leg> max 3) {
  deny when count(l in legs: status[l].seen else "" == "landed") > 1
}
"#;

    /// A call is nearer to its refusal if more of its legs have a row, and if more of the key of a
    /// row equals theirs.
    #[test]
    fn refusals_come_nearer() {
        let root = SourceFile { path: "g.guard".into(), text: GUARD.into() };
        let program = compile(root, &mut NoFiles).output.expect("a sound guard").program;
        let deny = program.tools[1].clauses[0].rule.span;
        let text = |text: &str| Value::String(text.into());
        let leg = |number| Value::Record(vec![text(number), text("A1")]);
        let args = [Value::List(vec![leg("7"), leg("8")])];
        let mut session =
            ReferenceSession::open(&program, START, WORKSPACE, None).expect("a session");
        let rows = [
            ("1", "Z9", "late"),
            ("7", "Z9", "late"),
            ("7", "A1", "late"),
            ("7", "A1", "landed"),
            ("8", "A1", "late"),
            ("8", "A1", "landed"),
        ];
        let mut parts = vec![session.parts_to_refusal(1, &args, deny, &|_| None)];
        for (at, (number, gate, seen)) in rows.into_iter().enumerate() {
            let members = [("number", number), ("gate", gate)];
            let args_of_row =
                members.map(|(name, value)| (name.into(), Json::String(value.into()))).to_vec();
            let call = Act::Call {
                id: at.to_string(),
                tool: "look_up".into(),
                args: Json::Object(args_of_row),
                then: ExploredEnding::Succeeds(Some(Json::String(seen.into()))),
            };
            act(&mut session, &call, &|_| None).expect("it happens");
            parts.push(session.parts_to_refusal(1, &args, deny, &|_| None));
        }
        let parts: Vec<u32> = parts.into_iter().flatten().collect();
        assert_eq!(parts, [6, 5, 4, 3, 3, 2, 0]);
    }
}
