//! Limits: counters of allowed calls.

use super::DecidedCall;
use crate::compiled::expr::CompiledExpr;
use crate::eval::context::Context;
use crate::reason::FoundReasons;
use crate::session::counter::CounterUsage;
use crate::session::flight::{KeyRange, PendingWrites};
use guard_plan::plan::{Limit, LimitScope, LimitUse};
use guard_plan::value::Fault;
use guard_plan::verdict::{Code, Decision, Reason};
use guard_plan::{secrecy, time};

/// Checks the counters that apply to a call, and drafts its counting.
pub(crate) fn check<'a>(
    cx: &Context<'a>,
    call: DecidedCall<'a>,
    draft: &mut PendingWrites,
    findings: &mut FoundReasons,
) {
    for (used, by) in call.tool.limits.iter().zip(&call.ready.limits) {
        let limit = &cx.compiled.plan().limits[used.limit as usize];
        let key = match key(cx, call, limit, by.as_ref(), draft) {
            Ok(key) => key,
            Err(fault) => {
                findings.fault(cx, &limit.rule, &fault);
                continue;
            }
        };
        let counter = &cx.session.counters[used.limit as usize];
        let usage = counter.usage(key.map(|span| draft.key(span)), cx.now);
        // A call over the limit is counted as well: an approval or a guard in shadow may allow it.
        draft.counted.push((used.limit, key));
        if usage.used >= limit.count {
            let reason = full(cx, call, limit, used, usage);
            match &limit.ask {
                Some(role) => findings.asks.push((role.clone(), limit.rule.shadow, reason)),
                None => findings.push(limit.rule.shadow, reason),
            }
        }
    }
}

/// Returns the key under which a call is counted.
fn key<'a>(
    cx: &Context<'a>,
    call: DecidedCall<'a>,
    limit: &Limit,
    by: Option<&'a CompiledExpr>,
    draft: &mut PendingWrites,
) -> Result<Option<KeyRange>, Fault> {
    let identical = limit.scope == LimitScope::Identical;
    if by.is_none() && !identical {
        return Ok(None);
    }
    let start = draft.bytes.len();
    if identical {
        // A policy's limit counts for all its tools, and two tools with equal arguments are not the
        // same call.
        draft.bytes.extend(call.id.to_be_bytes());
        cx.args.iter().for_each(|arg| arg.write_normal_key(&mut draft.bytes));
    }
    if let Some(by) = by {
        cx.eval(by)?.write_key(&mut draft.bytes);
    }
    Ok(Some(draft.span_from(start)))
}

fn full(
    cx: &Context<'_>,
    call: DecidedCall<'_>,
    limit: &Limit,
    used: &LimitUse,
    usage: CounterUsage,
) -> Reason {
    let Limit { rule, count, scope, .. } = limit;
    let over = match scope {
        LimitScope::Window(span) => format!("in the last {}", time::describe_duration(*span)),
        LimitScope::Session => "in this session".into(),
        LimitScope::InFlight => "in flight".into(),
        LimitScope::Identical => "with the same arguments".into(),
    };
    let number = usage.used;
    let calls = match (limit.success, *count) {
        (true, 1) => "successful call",
        (true, _) => "successful calls",
        (false, 1) => "call",
        (false, _) => "calls",
    };
    let mut message = format!("{number} of {count} {calls} {over} used");
    let mut values = Vec::new();
    if let Some(shown) = shown_key(cx, call, used) {
        message.push_str(&format!(" for {shown}"));
        values.push(("by".into(), shown));
    }
    if let Some(role) = &limit.ask {
        let message = format!("{message}: `{}` needs the approval of {role}", call.tool.name);
        let mut reason = cx.reason(Code::Approval, rule, message);
        reason.help = format!("ask {role} to approve exactly this call");
        reason.needs = vec![role.clone()];
        reason.values = values;
        return reason;
    }
    let mut reason = cx.reason(Code::Limit, rule, message);
    reason.values = values;
    reason.help = match (scope, usage.next) {
        (LimitScope::Window(_), Some(next)) => {
            let wait = time::describe_duration(next.saturating_sub(cx.now));
            format!("the next call can be made in {wait}")
        }
        (LimitScope::InFlight, _) => "wait until a call has settled".into(),
        (LimitScope::Identical, _) => "do not repeat the call; change something".into(),
        _ => String::new(),
    };
    if *scope == LimitScope::InFlight {
        reason.decision = Decision::Wait;
    }
    reason
}

/// Renders the key of a call for a message. A key that is read from a secret is hidden.
fn shown_key(cx: &Context<'_>, call: DecidedCall<'_>, used: &LimitUse) -> Option<String> {
    let (by, ty) = used.by.as_ref().zip(used.by_type)?;
    let value = cx.eval_shown(&CompiledExpr::new(by)).ok()?;
    Some(secrecy::shown(cx.compiled.plan(), &call.tool.params, by, ty, &value))
}
