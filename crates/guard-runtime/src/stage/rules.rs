//! Denies: conditions under which a call is refused.

use super::Call;
use crate::eval::context::Context;
use crate::reason::Findings;
use crate::val::Val;
use guard_plan::plan::Deny;
use guard_plan::verdict::{Code, Reason};

pub(crate) fn check<'a>(cx: &Context<'a>, call: Call<'a>, findings: &mut Findings) {
    for place in &call.ready.unscreened {
        one(cx, call, *place as usize, findings);
    }
    for screen in &call.ready.screens {
        let text = match cx.args.get(screen.param as usize) {
            Some(Val::None) => continue,
            Some(value) => value.text().or(value.path()),
            None => None,
        };
        if text.is_none_or(|text| screen.patterns.is_match(text)) {
            screen.denies.iter().for_each(|place| one(cx, call, *place as usize, findings));
        }
    }
}

fn one<'a>(cx: &Context<'a>, call: Call<'a>, place: usize, findings: &mut Findings) {
    let (deny, condition) = (&call.tool.denies[place], &call.ready.denies[place]);
    match cx.holds(condition) {
        Ok(false) => {}
        Ok(true) => findings.push(deny.rule.shadow, denied(cx, deny)),
        Err(fault) => findings.fault(cx, &deny.rule, &fault),
    }
}

fn denied(cx: &Context<'_>, deny: &Deny) -> Reason {
    // The help: the condition that refuses the call, or the one that would allow it.
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
