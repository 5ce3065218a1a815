//! Conflicts: unsettled calls that may write state on which this call depends.

use super::DecidedCall;
use crate::eval::context::Context;
use crate::reason::FoundReasons;
use guard_plan::verdict::Code;

pub(crate) fn check(cx: &Context<'_>, call: DecidedCall<'_>, findings: &mut FoundReasons) {
    if cx.session.flights.is_empty() || call.tool.touches.is_empty() {
        return;
    }
    let declared = &cx.compiled.plan().tools;
    let mut tools: Vec<_> = cx.session.flights.iter().filter_map(|flight| flight.tool).collect();
    tools.sort_unstable();
    tools.dedup();
    for id in tools {
        if !call.tool.waits_for(id, &declared[id as usize]) {
            continue;
        }
        let other = &declared[id as usize].name;
        let name = &call.tool.name;
        let message =
            format!("`{name}` depends on state that an unsettled call of `{other}` may change");
        let mut reason = cx.reason_at(Code::Conflict, name, Some(call.tool.span), message);
        reason.help = format!("wait for `{other}`");
        reason.needs = vec![other.clone()];
        findings.reasons.push(reason);
    }
}
