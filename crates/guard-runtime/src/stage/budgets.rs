//! Budgets and the deadline.

use super::DecidedCall;
use crate::eval::context::Context;
use crate::reason::FoundReasons;
use crate::session::flight::PendingWrites;
use crate::val::{Val, confused};
use guard_plan::plan::{Cost, Unit, UnitId};
use guard_plan::value::{DECIMAL_ONE, Fault};
use guard_plan::verdict::{Code, Reason};
use guard_plan::{decimal, time};

/// Checks the costs of a declared tool, and drafts the charges.
pub(crate) fn check<'a>(
    cx: &Context<'a>,
    call: DecidedCall<'a>,
    draft: &mut PendingWrites,
    findings: &mut FoundReasons,
) {
    if call.tool.costs.is_empty() {
        check_calls(cx, draft, findings);
    } else {
        check_costs(cx, call, draft, findings);
    }
    for unit in &cx.compiled.host_charged {
        findings.reasons.extend(exhausted(cx, *unit));
    }
}

/// Checks the declared costs of a call, and one of `calls` unless the guard declares a cost in
/// `calls`.
fn check_costs<'a>(
    cx: &Context<'a>,
    call: DecidedCall<'a>,
    draft: &mut PendingWrites,
    findings: &mut FoundReasons,
) {
    let said = |cost: &Cost| cost.unit == cx.compiled.calls && !cost.rule.shadow;
    let base = if call.tool.costs.iter().any(said) { 0 } else { DECIMAL_ONE };
    draft.charges.push((cx.compiled.calls, base));
    let mut in_shadow = Vec::new();
    for (cost, amount) in call.tool.costs.iter().zip(&call.ready.costs) {
        match cx.eval(amount).and_then(|amount| charge(cost, &amount)) {
            Ok(amount) if cost.rule.shadow => in_shadow.push((cost.unit, amount)),
            Ok(amount) => {
                add(&mut draft.charges, cost.unit, amount);
                if cost.returned {
                    add(&mut draft.returned, cost.unit, amount);
                }
            }
            Err(fault) => findings.fault(cx, &cost.rule, &fault),
        }
    }
    for (unit, amount) in &draft.charges {
        findings.reasons.extend(exceeded(cx, *unit, *amount));
    }
    shadowed(cx, draft, &in_shadow, findings);
}

/// Checks the budget of calls alone.
pub(crate) fn check_calls(
    cx: &Context<'_>,
    draft: &mut PendingWrites,
    findings: &mut FoundReasons,
) {
    draft.charges.push((cx.compiled.calls, DECIMAL_ONE));
    if let Some(reason) = exceeded(cx, cx.compiled.calls, DECIMAL_ONE) {
        findings.reasons.push(reason);
    }
}

/// Denies every call at or after the deadline.
pub(crate) fn check_deadline(cx: &Context<'_>, findings: &mut FoundReasons) {
    let Some(deadline) = cx.compiled.plan().deadline else {
        return;
    };
    if cx.now >= cx.session.start.saturating_add(deadline) {
        let message = format!("the deadline of {} has passed", time::describe_duration(deadline));
        findings.reasons.push(cx.reason_at(Code::Deadline, "deadline", None, message));
    }
}

fn charge(cost: &Cost, amount: &Val<'_>) -> Result<i64, Fault> {
    match amount {
        Val::Decimal(units) if *units >= 0 => Ok(*units),
        Val::Decimal(units) => Err(Fault::NegativeCost(decimal::format(*units))),
        _ => Err(confused(&format!("the cost that `{}` states", cost.rule.owner))),
    }
}

fn add(charges: &mut Vec<(UnitId, i64)>, unit: UnitId, amount: i64) {
    match charges.iter_mut().find(|(charged, _)| *charged == unit) {
        Some((_, sum)) => *sum = sum.saturating_add(amount),
        None => charges.push((unit, amount)),
    }
}

fn unit<'a>(cx: &Context<'a>, id: UnitId) -> (&'a Unit, i64) {
    (&cx.compiled.plan().units[id as usize], cx.session.spent[id as usize])
}

fn exceeded(cx: &Context<'_>, id: UnitId, amount: i64) -> Option<Reason> {
    let (unit, spent) = unit(cx, id);
    let budget = unit.budget?;
    // A saturating sum would equal a budget of the largest number, and the call would pass.
    if i128::from(spent) + i128::from(amount) <= i128::from(budget) {
        return None;
    }
    let left = decimal::format(budget.saturating_sub(spent).max(0));
    let budget = decimal::format(budget);
    let cost = decimal::format(amount);
    let message = format!("{left} of {budget} {} left; this call costs {cost}", unit.name);
    Some(cx.reason_at(Code::Budget, &unit.name, Some(unit.span), message))
}

fn exhausted(cx: &Context<'_>, id: UnitId) -> Option<Reason> {
    let (unit, spent) = unit(cx, id);
    let budget = unit.budget.filter(|budget| spent >= *budget)?;
    let message = format!("nothing is left of {} {}", decimal::format(budget), unit.name);
    Some(cx.reason_at(Code::Budget, &unit.name, Some(unit.span), message))
}

/// Reports the budget findings that would result if the costs in shadow mode were charged.
fn shadowed(
    cx: &Context<'_>,
    draft: &PendingWrites,
    in_shadow: &[(UnitId, i64)],
    findings: &mut FoundReasons,
) {
    let mut sums = Vec::new();
    for (unit, amount) in in_shadow {
        add(&mut sums, *unit, *amount);
    }
    for (unit, amount) in sums {
        let charged = draft.charges.iter().find(|(id, _)| *id == unit).map_or(0, |(_, sum)| *sum);
        // If the enforced costs alone exceed the budget, the reason is reported already.
        if exceeded(cx, unit, charged).is_none() {
            findings.shadowed.extend(exceeded(cx, unit, charged.saturating_add(amount)));
        }
    }
}
