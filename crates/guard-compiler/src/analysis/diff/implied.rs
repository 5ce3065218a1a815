//! Implication between rules, as far as their shape shows it: equal parts, bounds that are constants, values that must be there.
//!
//! Sound and small: an implication that needs a proof is not found here.

use super::outcome::{ConditionOutcome, follows};
use crate::hir::canon::Canon;
use crate::hir::{
    Clause, ClauseKind, Expr, ExprKind as K, Program, Requirement, Step, Target, Tool, Type, VarId,
};
use crate::optimize::never_faults;
use guard_plan::builtin::Builtin;
use guard_plan::plan::{CompareOp, QuantifierOp};
use guard_proof::mutant;

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

/// Returns true if it is shown that `b` is true wherever `a` is true.
pub(crate) fn implies(a: Placed, b: Placed) -> bool {
    let has = |condition| ConditionOutcome { condition, value: true };
    follows(&[has(a)], has(b))
}

/// Returns true if it is shown that one of the rules' conditions is true or faults wherever `a` is true or faults: where they all are
/// false, so is `a`.
fn refuses_wherever(rules: &[Placed], a: Placed) -> bool {
    let lacks = |condition| ConditionOutcome { condition, value: false };
    let rules: Vec<ConditionOutcome> = rules.iter().map(|rule| lacks(*rule)).collect();
    follows(&rules, lacks(a))
}

/// Returns true if evaluating `e` never faults.
pub(crate) fn is_total(e: &Expr) -> bool {
    let is_collection =
        |expr: &Expr| matches!(expr.ty, Type::List(..) | Type::Set(..) | Type::Map(..));
    let itself = match &e.kind {
        K::Neg(_) | K::Arith(..) | K::Unwrap(..) | K::Temporal(..) | K::Exists(_) | K::Probe(_) => {
            false
        }
        K::MayRead(..) | K::RemainingTime | K::ToKey(..) | K::FromKey(..) | K::Error => false,
        K::Quantified { op, over, .. } => {
            let counts = matches!(op, QuantifierOp::All | QuantifierOp::Any | QuantifierOp::Count);
            counts && matches!(&over[..], [only] if is_collection(only))
        }
        K::Call(builtin, _) => never_faults(*builtin),
        _ => true,
    };
    itself && e.children().into_iter().all(is_total)
}

/// Returns true if evaluating `e` faults wherever a value is none that is one of `wanted`: it unwraps such a value, whatever else
/// it finds.
pub(crate) fn faults_without(e: Placed, wanted: &dyn Fn(&Expr) -> bool) -> bool {
    let in_any = |parts: &[&Expr]| parts.iter().any(|part| faults_without(e.at(part), wanted));
    match &e.e.kind {
        K::Unwrap(operand, _) => is_absent(operand, wanted) || in_any(&[operand]),
        // Evaluated from the left: the second part may be passed over.
        K::And(a, _) | K::Or(a, _) | K::Implies(a, _) | K::Else(a, _) | K::If(a, ..) => {
            in_any(&[a])
        }
        K::Quantified { over, .. } => over.iter().any(|list| faults_without(e.at(list), wanted)),
        K::Not(_)
        | K::Neg(_)
        | K::Compare(..)
        | K::Arith(..)
        | K::In(..)
        | K::Within(..)
        | K::Matches(..)
        | K::Field(..)
        | K::Member(..)
        | K::UrlPart(..)
        | K::Index(..)
        | K::IsSome(_)
        | K::Call(..) => in_any(&e.e.children()),
        _ => false,
    }
}

/// Returns true if `e` is false or faults wherever a value is none that is one of `wanted`. `filled` are lists, as text, that have
/// an item.
pub(crate) fn is_false_without(
    e: Placed,
    wanted: &dyn Fn(&Expr) -> bool,
    filled: &[String],
) -> bool {
    let part = |part| is_false_without(e.at(part), wanted, filled);
    let has_items =
        |list: &Expr| filled.contains(&e.at(list).text()) || mutant!("a list has items");
    if faults_without(e, wanted) {
        return true;
    }
    match &e.e.kind {
        K::And(a, b) => part(a) || part(b),
        K::Or(a, b) => part(a) && part(b),
        K::IsSome(operand) => is_absent(operand, wanted),
        // Nothing is neither equal to anything nor more or less.
        K::Compare(op, a, b) if *op != CompareOp::Ne => {
            let none = is_absent(a, wanted) || is_absent(b, wanted);
            let is_low = || matches!(default_without(a, wanted), Some(..1));
            none || matches!(op, CompareOp::Ge | CompareOp::Gt)
                && matches!(&b.kind, K::Call(Builtin::Len, of) if has_items(&of[0]))
                && is_low()
        }
        K::Quantified { op: QuantifierOp::Any, body, .. } => part(body),
        // Lists that are gone through together have the same length, or the condition faults.
        K::Quantified { op: QuantifierOp::All, over, body, .. } => {
            let is_list = |list: &&Expr| matches!(list.ty, Type::List(..));
            over.iter().filter(is_list).any(has_items) && part(body)
        }
        _ => false,
    }
}

/// Returns true if the value is none wherever one of `wanted` is: a part of nothing is nothing.
pub(crate) fn is_absent(e: &Expr, wanted: &dyn Fn(&Expr) -> bool) -> bool {
    wanted(e)
        || match &e.kind {
            K::Field(record, _)
            | K::Member(record, _)
            | K::UrlPart(record, _)
            | K::Index(record, _) => is_absent(record, wanted),
            _ => false,
        }
}

/// Returns the constant that stands for a value wherever one of `wanted` is none.
fn default_without(e: &Expr, wanted: &dyn Fn(&Expr) -> bool) -> Option<i64> {
    match &e.kind {
        K::Else(value, default) if is_absent(value, wanted) => constant(default),
        _ => None,
    }
}

/// Returns the lists that have an item wherever no rule of a tool refuses, as text.
pub(crate) fn filled_lists(program: &Program, tool: &Tool) -> Vec<String> {
    let mut lists = Vec::new();
    for clause in tool.clauses.iter().filter(|clause| !clause.rule.shadow) {
        if let ClauseKind::Deny { condition, .. } = &clause.kind {
            lists_with_items(Placed { program, tool: Some(tool), e: condition }, false, &mut lists);
        }
    }
    lists
}

/// The lists that have an item wherever the condition has this outcome.
fn lists_with_items(e: Placed, outcome: bool, lists: &mut Vec<String>) {
    match &e.e.kind {
        K::Not(operand) => lists_with_items(e.at(operand), !outcome, lists),
        K::And(a, b) if outcome => {
            lists_with_items(e.at(a), true, lists);
            lists_with_items(e.at(b), true, lists);
        }
        K::Or(a, b) if !outcome => {
            lists_with_items(e.at(a), false, lists);
            lists_with_items(e.at(b), false, lists);
        }
        K::Compare(op, a, b) => {
            let K::Call(Builtin::Len, args) = &a.kind else { return };
            let has_items = match (op, constant(b)) {
                (CompareOp::Gt, Some(least)) => outcome && least >= 0,
                (CompareOp::Ge, Some(least)) => outcome && least >= 1,
                (CompareOp::Eq, Some(0)) => !outcome,
                _ => false,
            };
            if has_items {
                lists.extend(args.iter().map(|list| e.at(list).text()));
            }
        }
        _ => {}
    }
}

pub(super) fn constant(e: &Expr) -> Option<i64> {
    match &e.kind {
        K::Int(v) | K::Decimal(v) | K::Duration(v) | K::Time(v) => Some(*v),
        K::Neg(operand) => constant(operand)?.checked_neg(),
        _ => None,
    }
}

/// A clause with where it stands.
#[derive(Clone, Copy)]
pub(crate) struct ImpliedRule<'p> {
    pub program: &'p Program,
    pub tool: &'p Tool,
    pub clause: &'p Clause,
}

impl<'p> ImpliedRule<'p> {
    /// All of it as text.
    pub fn text(self) -> String {
        Canon(self.program).clause(self.tool, self.clause)
    }

    fn at(self, e: &'p Expr) -> Placed<'p> {
        Placed { program: self.program, tool: Some(self.tool), e }
    }
}

/// Returns true if it is shown that rule `b` refuses every call that rule `a` refuses.
pub(crate) fn covers<'p>(b: ImpliedRule<'p>, a: ImpliedRule<'p>) -> bool {
    if a.text() == b.text() {
        return true;
    }
    // Where the condition of `a` faults it refuses; what `b` asks for may be met there.
    let when = |x: &'p Option<Expr>, y: &'p Option<Expr>| match (x, y) {
        (None, None) => true,
        (None, Some(_)) => false,
        (Some(x), None) => is_total(x),
        (Some(x), Some(y)) => {
            a.at(x).text() == b.at(y).text()
                || (is_total(x) && refuses_wherever(&[b.at(y)], a.at(x)))
        }
    };
    match (&a.clause.kind, &b.clause.kind) {
        (ClauseKind::Deny { condition: x, .. }, ClauseKind::Deny { condition: y, .. }) => {
            refuses_wherever(&[b.at(y)], a.at(x))
                || wants_more((b, y), (a, x))
                || wants_items((b, y), (a, x))
                || wants_unasked((b, y), (a, x))
        }
        (ClauseKind::Requires { any_of, when }, ClauseKind::Deny { condition: y, .. }) => {
            let mut keys = any_of.iter().flat_map(|r| &r.key);
            when.iter().all(is_total)
                && keys.all(|(_, key)| is_total(key))
                && any_of.iter().any(|r| leaves_entry((b, y), (a, r)))
        }
        (
            ClauseKind::Approval { role, within, when: x, .. },
            ClauseKind::Approval { role: other, within: age, when: y, .. },
        ) => role == other && shorter(*age, *within) && when(x, y),
        (
            ClauseKind::Requires { any_of, when: x },
            ClauseKind::Requires { any_of: other, when: y },
        ) => {
            let met = |r: &Requirement| any_of.iter().any(|s| stricter((b, r), (a, s)));
            // A key that `a` alone asks for may fault.
            let mut keys = any_of.iter().flat_map(|r| &r.key);
            keys.all(|(_, key)| is_total(key)) && other.iter().all(met) && when(x, y)
        }
        _ => false,
    }
}

/// Returns true if it is shown that of these rules one refuses every call that rule `a` refuses.
pub(crate) fn covered_by_any<'p>(rules: &[ImpliedRule<'p>], a: ImpliedRule<'p>) -> bool {
    let condition = |rule: &ImpliedRule<'p>| match &rule.clause.kind {
        ClauseKind::Deny { condition, .. } => Some(rule.at(condition)),
        _ => None,
    };
    let denies: Vec<Placed> = rules.iter().filter_map(condition).collect();
    rules.iter().any(|rule| covers(*rule, a))
        || condition(&a).is_some_and(|own| refuses_wherever(&denies, own))
}

/// Returns true if the rule `a` refuses only where a value is missing, and `b` refuses there too.
fn wants_more((b, y): (ImpliedRule, &Expr), (a, x): (ImpliedRule, &Expr)) -> bool {
    let Some((mine, theirs, _)) = of_all((b, y), (a, x)) else { return false };
    let filled = filled_lists(b.program, b.tool);
    match &theirs.kind {
        K::IsSome(value) => {
            let text = a.at(value).text();
            is_false_without(b.at(mine), &|expr| b.at(expr).text() == text, &filled)
        }
        K::Known(fact, keys) => {
            let row = |rule: ImpliedRule, fact: usize, keys: &[Expr]| {
                let keys: Vec<String> = keys.iter().map(|key| rule.at(key).text()).collect();
                (rule.program.facts[fact].name.clone(), keys)
            };
            let known = row(a, *fact, keys);
            let is_row = |expr: &Expr| matches!(&expr.kind, K::Row(fact, keys) if row(b, *fact, keys) == known);
            is_false_without(b.at(mine), &is_row, &filled)
        }
        _ => false,
    }
}

/// Returns true if the rules are written alike, and where `a` faults because a value is missing, which another of its guard's rules
/// asks for, `b` refuses too.
fn wants_unasked((b, y): (ImpliedRule, &Expr), (a, x): (ImpliedRule, &Expr)) -> bool {
    let as_written =
        |rule: ImpliedRule, e: &Expr| Canon(rule.program).expr_as_written(Some(rule.tool), e);
    if as_written(a, x) != as_written(b, y) {
        return false;
    }
    let Some((mine, theirs, binders)) = of_all((b, y), (a, x)) else { return false };
    let filled = filled_lists(b.program, b.tool);
    // A value of an item of a list within may be missing of one item, and the condition hold by another.
    let is_inner = |part: &Expr| matches!(part.kind, K::Local(slot) if !binders.contains(&slot));
    let may_be_missing = |part: &Expr| {
        let K::Unwrap(value, _) = &part.kind else { return false };
        let text = as_written(a, value);
        let wanted = |expr: &Expr| as_written(b, expr) == text;
        value.any(&mut |part| is_inner(part)) || !is_false_without(b.at(mine), &wanted, &filled)
    };
    !theirs.any(&mut |part| may_be_missing(part))
}

/// The conditions without which two rules refuse, or those of each item where both ask the same lists about all items, with the slots of
/// the items.
fn of_all<'e>(
    (b, y): (ImpliedRule, &'e Expr),
    (a, x): (ImpliedRule, &'e Expr),
) -> Option<(&'e Expr, &'e Expr, &'e [u32])> {
    let (K::Not(mine), K::Not(theirs)) = (&y.kind, &x.kind) else { return None };
    let all = |e: &'e Expr| match &e.kind {
        K::Quantified { op: QuantifierOp::All, over, binders, body } => Some((over, binders, body)),
        _ => None,
    };
    let lists = |rule: ImpliedRule, over: &'e [Expr]| -> Vec<String> {
        over.iter().map(|list| rule.at(list).text()).collect()
    };
    match (all(mine), all(theirs)) {
        (Some((over, slots, p)), Some((same, binders, q)))
            if slots == binders && lists(b, over) == lists(a, same) =>
        {
            Some((p, q, slots))
        }
        _ => Some((mine, theirs, &[])),
    }
}

/// Returns true if the rule `a` refuses only where a list is empty, and `b` wants something of one of its items.
fn wants_items((b, y): (ImpliedRule, &Expr), (a, x): (ImpliedRule, &Expr)) -> bool {
    let K::Compare(CompareOp::Eq, len, zero) = &x.kind else { return false };
    let (K::Call(Builtin::Len, collection), Some(0)) = (&len.kind, constant(zero)) else {
        return false;
    };
    let K::Not(unless) = &y.kind else { return false };
    is_total(&collection[0]) && is_false_where_empty(b.at(unless), &a.at(&collection[0]).text())
}

/// Returns true if `e` is false or faults wherever the list, as text, is empty.
fn is_false_where_empty(e: Placed, list: &str) -> bool {
    match &e.e.kind {
        K::And(p, q) => is_false_where_empty(e.at(p), list) || is_false_where_empty(e.at(q), list),
        K::Or(p, q) => is_false_where_empty(e.at(p), list) && is_false_where_empty(e.at(q), list),
        K::Quantified { op, over, .. } => {
            let wants = *op == QuantifierOp::Any || mutant!("`all` wants an item");
            wants && over.iter().any(|collection| e.at(collection).text() == list)
        }
        _ => false,
    }
}

/// Returns true if the rule `b` refuses without a value that is there only after the call that is required: a variable that only
/// `observe VAR = …` of that tool writes, or an entry of a map that only `observe VAR[PARAM] = …` of it makes.
fn leaves_entry((b, y): (ImpliedRule, &Expr), (a, r): (ImpliedRule, &Requirement)) -> bool {
    if r.since.is_some() || r.within.is_some() || r.latest {
        return false;
    }
    let wire = &a.program.tools[r.tool].wire_name;
    // A session that goes on under `b` may have got its entries under `a`.
    let filled = |var: VarId, param: Option<&str>| {
        let was = a.program.state.iter().position(|v| v.name == b.program.state[var].name);
        is_filled_by(b.program, var, (wire, param))
            && was.is_some_and(|was| is_filled_by(a.program, was, (wire, param)))
    };
    let entry = |expr: &Expr| match (&expr.kind, &r.key[..]) {
        (K::State(var), []) => filled(*var, None),
        (K::Index(map, at), [(param, key)]) => match map.kind {
            K::State(var) => {
                let name = &a.program.tools[r.tool].params[*param as usize].name;
                b.at(at).text() == a.at(key).text() && filled(var, Some(name))
            }
            _ => false,
        },
        _ => false,
    };
    let K::Not(unless) = &y.kind else { return false };
    is_false_without(b.at(unless), &entry, &[])
}

/// Returns true if a variable begins as none or an empty map, and only a call of one tool fills it: as a whole, or the entry of the
/// argument `param`. Another tool may write an entry again that its rules need.
fn is_filled_by(program: &Program, var: VarId, (wire, param): (&str, Option<&str>)) -> bool {
    let begins_empty = match &program.state[var].init.kind {
        K::None => param.is_none(),
        K::Map(entries) => entries.is_empty() && param.is_some(),
        _ => false,
    };
    let fills = |tool: &Tool, clause: &Clause| match &clause.kind {
        ClauseKind::Effect { target, .. } if target.var == var => writes_part(target),
        ClauseKind::Observe { target, .. } if target.var == var => match &target.path[..] {
            [] => {
                param.is_none() && (tool.wire_name == wire || mutant!("one tool fills a variable"))
            }
            [Step::Index(Expr { kind: K::Param(at), .. })] => {
                let is_own = Some(&*tool.params[*at as usize].name) == param;
                (tool.wire_name == wire && is_own)
                    || needs_entry(program, tool, var, *at)
                    || mutant!("an entry is written again")
            }
            _ => false,
        },
        _ => true,
    };
    let mut tools = program.tools.iter();
    begins_empty
        && !program.shadow
        && tools.all(|tool| tool.clauses.iter().all(|clause| fills(tool, clause)))
}

/// Returns true if a rule of the tool refuses every call for which a map has no entry of the argument.
fn needs_entry(program: &Program, tool: &Tool, var: VarId, param: u32) -> bool {
    let entry = |expr: &Expr| match &expr.kind {
        K::Index(map, at) => {
            matches!(map.kind, K::State(expr) if expr == var)
                && matches!(at.kind, K::Param(expr) if expr == param)
        }
        _ => false,
    };
    let mut enforced = tool.clauses.iter().filter(|clause| !clause.rule.shadow);
    enforced.any(|clause| match &clause.kind {
        ClauseKind::Deny { condition, .. } => match &condition.kind {
            K::Not(e) => is_false_without(Placed { program, tool: Some(tool), e }, &entry, &[]),
            _ => false,
        },
        _ => false,
    })
}

/// Returns true if an effect writes a part of an entry, which it can only where the entry is.
pub(crate) fn writes_part(target: &Target) -> bool {
    matches!(&target.path[..], [Step::Index(_), Step::Field(_), ..])
}

/// Returns true if it is shown that requirement `b` holds only where `a` holds.
fn stricter((b, r): (ImpliedRule, &Requirement), (a, s): (ImpliedRule, &Requirement)) -> bool {
    let name = |rule: ImpliedRule, tool: usize| rule.program.tools[tool].wire_name.clone();
    let key = |rule: ImpliedRule, r: &Requirement| -> Vec<(String, String)> {
        let tool = &rule.program.tools[r.tool];
        let text = |e: &Expr| Canon(rule.program).expr(Some(rule.tool), e);
        r.key.iter().map(|(at, e)| (tool.params[*at as usize].name.clone(), text(e))).collect()
    };
    let since = |rule: ImpliedRule, r: &Requirement| r.since.map(|tool| name(rule, tool));
    let mine = key(b, r);
    let theirs = key(a, s);
    name(b, r.tool) == name(a, s.tool)
        && theirs.iter().all(|part| mine.contains(part))
        && since(a, s).is_none_or(|_| since(a, s) == since(b, r))
        && shorter(r.within, s.within)
        // The last call with a key says nothing of the last without.
        && (!s.latest || r.latest && mine.iter().all(|part| theirs.contains(part)))
}

/// Returns true if an age is at most another. `None` is the longest age.
fn shorter(age: Option<i64>, other: Option<i64>) -> bool {
    match (age, other) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(a), Some(b)) => a <= b,
    }
}
