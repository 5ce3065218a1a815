//! Approvals: somebody said yes to exactly this call.

use super::Call;
use crate::eval::Context;
use crate::reason::Findings;
use crate::session::Grant;
use crate::session::flight::Draft;
use crate::session::items;
use crate::val::Val;
use guard_plan::key;
use guard_plan::plan::{Millis, ServedOp};
use guard_plan::verdict::{Code, Reason};

/// A role whose approval is needed, and the age it accepts.
type Needed<'a> = (&'a str, Option<Millis>);

/// Checks the approvals a call needs, and drafts their use.
pub(crate) fn check<'a>(
    cx: &Context<'a>,
    call: Call<'a>,
    draft: &mut Draft,
    findings: &mut Findings,
) {
    let ungated = call.tool.approvals.is_empty() && !call.ready.gated;
    if ungated && call.tool.served.is_none() {
        return;
    }
    let escalated = escalated(cx, call);
    if ungated && escalated.is_none() {
        return;
    }
    let grants = grants(cx, call);
    let mut needed: Vec<Needed<'_>> = Vec::new();
    for (approval, when) in call.tool.approvals.iter().zip(&call.ready.approvals) {
        match cx.holds_if_any(when) {
            Ok(false) => continue,
            Ok(true) => {}
            Err(fault) => {
                findings.fault(cx, &approval.rule, &fault);
                continue;
            }
        }
        let accepted = first(cx, &grants, Some(&approval.role), approval.within);
        if !approval.rule.shadow {
            need(&mut needed, &approval.role, approval.within);
        }
        if accepted.is_none() {
            let name = &call.tool.name;
            let message = format!("`{name}` needs the approval of {}", approval.role);
            let mut reason = cx.reason(Code::Approval, &approval.rule, message);
            reason.help = format!("ask {} to approve exactly this call", approval.role);
            reason.needs = vec![approval.role.clone()];
            findings.push(approval.rule.shadow, reason);
        }
    }
    if let Some((role, reason)) = escalated {
        need(&mut needed, role, None);
        if first(cx, &grants, Some(role), None).is_none() {
            findings.reasons.push(reason);
        }
    }
    let uses = needed.iter().filter_map(|(role, within)| first(cx, &grants, Some(role), *within));
    draft.approvals.extend(uses);
    if call.ready.gated {
        match first(cx, &grants, None, None) {
            None => findings.reasons.push(gated(cx, call)),
            Some(grant) if needed.is_empty() => draft.approvals.push(grant),
            Some(_) => {}
        }
    }
}

/// Who must approve that an item moves which was rejected too often, and why (semantics §11).
fn escalated<'a>(cx: &Context<'a>, call: Call<'_>) -> Option<(&'a str, Reason)> {
    let served = call.tool.served.as_ref()?;
    let ServedOp::Move(_) = served.op else { return None };
    let lifecycle = &cx.kernel.plan().lifecycles[served.lifecycle as usize];
    let escalate = lifecycle.escalate.as_ref()?;
    let id = cx.args.first().and_then(Val::text)?;
    let (_, number) = items::parse(id).filter(|(name, _)| *name == lifecycle.name)?;
    let rejections = cx.session.items[served.lifecycle as usize].get(number)?.rejections;
    if rejections < escalate.after {
        return None;
    }
    let role = &escalate.role;
    let times = if rejections == 1 { "once".into() } else { format!("{rejections} times") };
    let message = format!("{id} was rejected {times}, and moves with the approval of {role} only");
    let mut reason = cx.reason_at(Code::Approval, &lifecycle.name, Some(lifecycle.span), message);
    reason.help = format!("ask {role} to approve exactly this call");
    reason.needs = vec![role.clone()];
    Some((role, reason))
}

/// Adds a role, or makes the age it accepts the least one asked for.
fn need<'a>(needed: &mut Vec<Needed<'a>>, role: &'a str, within: Option<Millis>) {
    match needed.iter_mut().find(|(known, _)| *known == role) {
        Some((_, least)) => *least = [*least, within].into_iter().flatten().min(),
        None => needed.push((role, within)),
    }
}

/// The unexpired approvals of exactly this call, with their places.
fn grants<'a>(cx: &Context<'a>, call: Call<'_>) -> Vec<(usize, &'a Grant)> {
    let session = cx.session;
    if session.approvals.is_empty() {
        return Vec::new();
    }
    let mut bytes = cx.decision.buffer.take();
    bytes.clear();
    cx.args.iter().for_each(|arg| arg.write_key(&mut bytes));
    key::shorten(0, &mut bytes);
    let this = |(_, grant): &(usize, &Grant)| {
        grant.tool == call.id && grant.expires > cx.now && *grant.key == *bytes
    };
    let grants = session.approvals.iter().enumerate().filter(this).collect();
    cx.decision.buffer.replace(bytes);
    grants
}

/// The place of the approval that expires first.
fn first(
    cx: &Context<'_>,
    grants: &[(usize, &Grant)],
    role: Option<&str>,
    within: Option<Millis>,
) -> Option<usize> {
    let accepted = grants.iter().filter(|(_, grant)| {
        role.is_none_or(|role| *grant.role == *role)
            && within.is_none_or(|within| cx.now.saturating_sub(grant.given) <= within)
    });
    accepted.min_by_key(|(place, grant)| (grant.expires, *place)).map(|(place, _)| *place)
}

fn gated(cx: &Context<'_>, call: Call<'_>) -> Reason {
    let name = &call.tool.name;
    let message =
        format!("`{name}` is critical and irreversible, and nobody has approved exactly this call");
    let mut reason = cx.reason_at(Code::Gated, name, Some(call.tool.span), message);
    reason.help = "have exactly this call approved first".into();
    reason
}
