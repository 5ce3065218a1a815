//! Approvals by a person of exactly one call.

use super::DecidedCall;
use crate::eval::context::Context;
use crate::reason::FoundReasons;
use crate::session::UnusedApproval;
use crate::session::flight::PendingWrites;
use crate::session::items;
use crate::val::Val;
use guard_plan::key;
use guard_plan::plan::{Millis, ServedOp, ToolId};
use guard_plan::verdict::{Code, Reason};

/// A role whose approval is needed, and the maximum age of the approval.
type Needed<'a> = (&'a str, Option<Millis>);

/// Checks the approvals that a call needs, and drafts their use.
pub(crate) fn check<'a>(
    cx: &Context<'a>,
    call: DecidedCall<'a>,
    draft: &mut PendingWrites,
    findings: &mut FoundReasons,
) {
    let asks = std::mem::take(&mut findings.asks);
    let ungated = call.tool.approvals.is_empty() && !call.tool.may_be_gated() && asks.is_empty();
    if ungated && call.tool.served.is_none() {
        return;
    }
    let escalated = escalated(cx, call);
    if ungated && escalated.is_none() {
        return;
    }
    let grants = Grants::new(cx, call, draft);
    let mut needed: SmallList<Needed<'_>> = SmallList::default();
    for (approval, when) in call.tool.approvals.iter().zip(&call.ready.approvals) {
        match cx.holds_if_any(when) {
            Ok(false) => continue,
            Ok(true) => {}
            Err(fault) => {
                findings.fault(cx, &approval.rule, &fault);
                continue;
            }
        }
        let accepted = grants.first(draft, Some(&approval.role), approval.within);
        if !approval.rule.shadow {
            need(&mut needed, &approval.role, approval.within);
        }
        if accepted.is_none() {
            let name = &call.tool.name;
            let mut message = format!("`{name}` needs the approval of {}", approval.role);
            if let Some(because) = &approval.because {
                message = format!("{message}: {}", cx.message(because));
            }
            let mut reason = cx.reason(Code::Approval, &approval.rule, message);
            reason.help = format!("ask {} to approve exactly this call", approval.role);
            if let Some(when) = when {
                cx.explain_leak(&mut reason, when);
            }
            reason.needs = vec![approval.role.clone()];
            reason.values = cx.values(&approval.shows);
            findings.push(approval.rule.shadow, reason);
        }
    }
    for (role, shadow, reason) in &asks {
        if !shadow {
            need(&mut needed, role, None);
        }
        if grants.first(draft, Some(role), None).is_none() {
            findings.push(*shadow, reason.clone());
        }
    }
    if let Some((role, reason)) = escalated {
        need(&mut needed, role, None);
        if grants.first(draft, Some(role), None).is_none() {
            findings.reasons.push(reason);
        }
    }
    for (role, within) in needed.iter() {
        let used = grants.first(draft, Some(role), *within);
        draft.approvals.extend(used);
    }
    if let Some(when) = gate(cx, call, findings) {
        // An approval that a role needs also opens the gate, so the gate uses up no second one.
        match grants.first(draft, None, None) {
            None => findings.reasons.push(gated(cx, call, when)),
            Some(grant) if needed.is_empty() => draft.approvals.push(grant),
            Some(_) => {}
        }
    }
    draft.bytes.truncate(grants.start);
}

/// Returns the role that must approve the move of an item that was rejected too often, and the
/// reason (semantics §11).
fn escalated<'a>(cx: &Context<'a>, call: DecidedCall<'_>) -> Option<(&'a str, Reason)> {
    let served = call.tool.served.as_ref()?;
    let ServedOp::Move(_) = served.op else { return None };
    let lifecycle = &cx.compiled.plan().lifecycles[served.lifecycle as usize];
    let escalate = lifecycle.escalate.as_ref()?;
    let id = cx.args.first().and_then(Val::text)?;
    let (_, number) = items::parse(id).filter(|(name, _)| *name == lifecycle.name)?;
    let rejections = cx.session.items[served.lifecycle as usize].get(number)?.rejections;
    if rejections < escalate.after {
        return None;
    }
    let role = &escalate.role;
    let times = if rejections == 1 { "once".into() } else { format!("{rejections} times") };
    let message =
        format!("{id} was rejected {times}, and can now move only with the approval of {role}");
    let mut reason = cx.reason_at(Code::Approval, &lifecycle.name, Some(lifecycle.span), message);
    reason.help = format!("ask {role} to approve exactly this call");
    reason.needs = vec![role.clone()];
    Some((role, reason))
}

/// Adds a role, or reduces its maximum age to the smaller one.
fn need<'a>(needed: &mut SmallList<Needed<'a>>, role: &'a str, within: Option<Millis>) {
    if let Some((_, least)) = needed.iter_mut().find(|(known, _)| *known == role) {
        *least = [*least, within].into_iter().flatten().min();
        return;
    }
    needed.push((role, within));
}

/// A list that stores its first element, usually the only one, without allocation.
struct SmallList<T>(Option<T>, Vec<T>);

impl<T> Default for SmallList<T> {
    fn default() -> Self {
        SmallList(None, Vec::new())
    }
}

impl<T> SmallList<T> {
    fn push(&mut self, item: T) {
        match &self.0 {
            None => self.0 = Some(item),
            Some(_) => self.1.push(item),
        }
    }

    fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().chain(&self.1)
    }

    fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().chain(&mut self.1)
    }

    fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// The unexpired approvals of exactly this call.
struct Grants<'a> {
    all: &'a [UnusedApproval],
    tool: ToolId,
    now: Millis,
    /// The start of the canonical arguments among the bytes of the draft.
    start: usize,
}

impl<'a> Grants<'a> {
    fn new(cx: &Context<'a>, call: DecidedCall<'_>, draft: &mut PendingWrites) -> Grants<'a> {
        let start = draft.bytes.len();
        let all = &cx.session.approvals;
        if !all.is_empty() {
            cx.args.iter().for_each(|arg| arg.write_key(&mut draft.bytes));
            key::shorten(start, &mut draft.bytes);
        }
        Grants { all, tool: call.id, now: cx.now, start }
    }

    /// Returns the index of the approval that expires first, among those that have the role and are
    /// recent enough.
    fn first(
        &self,
        draft: &PendingWrites,
        role: Option<&str>,
        within: Option<Millis>,
    ) -> Option<usize> {
        let key = draft.bytes.get(self.start..).unwrap_or_default();
        let accepted = self.all.iter().enumerate().filter(|(_, grant)| {
            grant.tool == self.tool
                && grant.expires > self.now
                && role.is_none_or(|role| *grant.role == *role)
                && within.is_none_or(|within| self.now.saturating_sub(grant.given) <= within)
                && *grant.key == *key
        });
        accepted.min_by_key(|(place, grant)| (grant.expires, *place)).map(|(place, _)| place)
    }
}

/// Returns the condition under which a call is critical, as text, if the call is gated; an empty
/// text if it always is.
fn gate<'a>(
    cx: &Context<'_>,
    call: DecidedCall<'a>,
    findings: &mut FoundReasons,
) -> Option<&'a str> {
    let mut gate = call.tool.is_gated().then_some("");
    for (risk, when) in call.tool.gates().zip(&call.ready.gates) {
        match cx.holds(when) {
            Ok(false) => {}
            Ok(true) => gate = gate.or(Some(&risk.text)),
            Err(fault) => findings.fault(cx, &risk.rule, &fault),
        }
    }
    gate
}

fn gated(cx: &Context<'_>, call: DecidedCall<'_>, when: &str) -> Reason {
    let name = &call.tool.name;
    let level =
        if when.is_empty() { "critical".to_owned() } else { format!("critical (`{when}`)") };
    let message =
        format!("`{name}` is {level} and irreversible, and this exact call is not approved");
    let mut reason = cx.reason_at(Code::Gated, name, Some(call.tool.span), message);
    reason.help = "ask a person to approve exactly this call".into();
    reason
}
