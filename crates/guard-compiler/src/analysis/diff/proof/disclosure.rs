//! Private results, and whether more of them can only refuse more.

use super::PossibleChange;
use super::history::Histories;
use crate::hir::{ClauseKind, Expr, ExprKind as K, Tool};

/// Compares what is private. More of it is tighter for a call that is refused where a text may not be read, and looser for one
/// that is refused where it may be; another reader may be either.
pub(super) fn compare(
    old: (&Histories, &Tool),
    new: (&Histories, &Tool),
    change: &mut PossibleChange,
) {
    let before = old.0.disclosures();
    let after = new.0.disclosures();
    let grows = before.is_subset(&after);
    let shrinks = after.is_subset(&before);
    let refuses = |negated: bool| asks_only(old.1, negated) && asks_only(new.1, negated);
    let what = if grows { "a `private` is new" } else { "a `private` is removed" };
    match (grows, shrinks) {
        (true, true) => {}
        (false, false) => change.other("who may read what is private".into()),
        _ if refuses(true) && grows => change.tighter.push(what.into()),
        _ if refuses(true) => change.looser.push(what.into()),
        _ if refuses(false) && grows => change.looser.push(what.into()),
        _ if refuses(false) => change.tighter.push(what.into()),
        _ => change.other("who may read what is private".into()),
    }
}

/// Returns true if the tool asks only where a text that may not be read can refuse a call; where it is not `negated`, only
/// where it can allow one.
fn asks_only(tool: &Tool, negated: bool) -> bool {
    let refuses = |condition: &Expr| falls(condition, negated);
    tool.clauses.iter().filter(|clause| !clause.rule.shadow).all(|clause| match &clause.kind {
        ClauseKind::Deny { condition, .. } => refuses(condition),
        ClauseKind::Approval { when, .. } => when.iter().all(refuses),
        ClauseKind::Requires { any_of, when } => {
            let mut keys = any_of.iter().flat_map(|requirement| &requirement.key);
            keys.all(|(_, key)| !asks(key)) && when.iter().all(refuses)
        }
        // Of risks only a gate decides, and it refuses.
        ClauseKind::Risk { when, .. } => refuses(when),
        // What is only written after the call decides nothing.
        ClauseKind::Observe { .. }
        | ClauseKind::Learn(_)
        | ClauseKind::Transform { .. }
        | ClauseKind::Private { .. }
        | ClauseKind::Endorse { .. }
        | ClauseKind::Reconcile { .. } => true,
        kind => {
            let mut found = false;
            crate::lower::clause_exprs(kind, &mut |e| found |= asks(e));
            !found
        }
    })
}

fn asks(e: &Expr) -> bool {
    e.any(&mut |part| matches!(part.kind, K::MayRead(..)))
}

/// Returns true if a condition can only become true where an answer becomes false; where it is not `positive`, the same of its
/// negation.
fn falls(e: &Expr, positive: bool) -> bool {
    match &e.kind {
        K::MayRead(who, text) => !positive && !asks(who) && !asks(text),
        K::Not(operand) => falls(operand, !positive),
        K::And(a, b) | K::Or(a, b) => falls(a, positive) && falls(b, positive),
        K::Implies(a, b) => falls(a, !positive) && falls(b, positive),
        K::Quantified { op, over, body, .. } => {
            use guard_plan::plan::QuantifierOp as Q;
            let keeps = matches!(op, Q::All | Q::Any) && over.iter().all(|list| !asks(list));
            (keeps && falls(body, positive)) || !asks(e)
        }
        _ => !asks(e),
    }
}
