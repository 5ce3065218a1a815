//! Denies: conditions under which a call is refused.

use super::DecidedCall;
use crate::compiled::expr::CompiledExpr;
use crate::eval::context::{Asking, Context};
use crate::reason::FoundReasons;
use crate::transform;
use crate::val::Val;
use guard_plan::plan::Deny;
use guard_plan::value::Fault;
use guard_plan::verdict::{Code, Reason};

pub(crate) fn check<'a>(cx: &Context<'a>, call: DecidedCall<'a>, findings: &mut FoundReasons) {
    for place in &call.ready.unscreened {
        if call.ready.asks[*place as usize] {
            unless_asking(cx, call, *place, findings)
        } else {
            one(cx, call, *place as usize, findings)
        }
    }
    for screen in &call.ready.screens {
        let text = match cx.args.get(screen.param as usize) {
            Some(Val::None) => continue,
            Some(value) => value.text().or(value.path()),
            None => None,
        };
        // For a value that is not a text, each deny reports its own fault.
        if text.is_none_or(|text| screen.patterns.is_match(text)) {
            screen.denies.iter().for_each(|place| one(cx, call, *place as usize, findings));
        }
    }
}

/// Checks the denies that ask a probe.
pub(crate) fn check_postponed<'a>(
    cx: &Context<'a>,
    call: DecidedCall<'a>,
    findings: &mut FoundReasons,
) {
    for place in std::mem::take(&mut findings.postponed) {
        one(cx, call, place as usize, findings);
    }
}

/// Checks a deny, or postpones it if it asks a probe.
fn unless_asking<'a>(
    cx: &Context<'a>,
    call: DecidedCall<'a>,
    place: u32,
    findings: &mut FoundReasons,
) {
    cx.decision.asking.set(Asking::Later);
    let holds = cx.holds(&call.ready.denies[place as usize]);
    match cx.decision.asking.replace(Asking::Now) {
        Asking::Postponed => findings.postponed.push(place),
        _ => found(cx, call, place as usize, holds, findings),
    }
}

#[inline]
fn one<'a>(cx: &Context<'a>, call: DecidedCall<'a>, place: usize, findings: &mut FoundReasons) {
    match cx.holds(&call.ready.denies[place]) {
        Ok(false) => {}
        holds => found(cx, call, place, holds, findings),
    }
}

fn found<'a>(
    cx: &Context<'a>,
    call: DecidedCall<'a>,
    place: usize,
    holds: Result<bool, Fault>,
    findings: &mut FoundReasons,
) {
    let deny = &call.tool.denies[place];
    match holds {
        Ok(false) => {}
        Ok(true) => {
            let advises =
                deny.replacement.is_some() && guard_proof::mutant!("a transform only advises");
            findings.push(deny.rule.shadow || advises, denied(cx, deny));
            if let Some(replacement) = deny.replacement.as_ref().filter(|_| !deny.rule.shadow) {
                transform::ask_for(cx, replacement, findings);
            }
        }
        Err(fault) => findings.fault(cx, &deny.rule, &fault),
    }
}

fn denied(cx: &Context<'_>, deny: &Deny) -> Reason {
    if let Some(replacement) = &deny.replacement {
        return transform::reason(cx, deny, replacement);
    }
    // The help is the condition that refuses the call, or the condition that would allow it.
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
    cx.explain_leak(&mut reason, &CompiledExpr::new(&deny.condition));
    reason.values = cx.values(&deny.shows);
    reason
}
