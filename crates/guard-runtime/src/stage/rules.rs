//! Denies: conditions under which a call is refused.

use super::Call;
use crate::eval::Context;
use crate::reason::Findings;
use guard_plan::plan::Deny;
use guard_plan::verdict::{Code, Reason};

pub(crate) fn check<'a>(cx: &Context<'a>, call: Call<'a>, findings: &mut Findings) {
    for (deny, condition) in call.tool.denies.iter().zip(&call.ready.denies) {
        match cx.holds(condition) {
            Ok(false) => {}
            Ok(true) => findings.push(deny.rule.shadow, denied(cx, deny)),
            Err(fault) => findings.fault(cx, &deny.rule, &fault),
        }
    }
}

fn denied(cx: &Context<'_>, deny: &Deny) -> Reason {
    // What would help: the condition that holds the call back, or the one that would let it pass.
    let help = match deny.text.strip_prefix("unless ") {
        Some(wanted) => format!("allowed only if {wanted}"),
        None => format!("denied {}", deny.text),
    };
    let (message, help) = match &deny.because {
        Some(because) => (cx.message(because), help),
        None => (help, String::new()),
    };
    let mut reason = cx.reason(Code::Denied, &deny.rule, message);
    reason.help = help;
    reason.values = cx.values(&deny.shows);
    reason
}
