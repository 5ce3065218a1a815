//! Readiness: probes that must answer `true`.

use super::DecidedCall;
use crate::eval::context::Context;
use crate::reason::FoundReasons;
use crate::session::probes::ProbeTurn;
use guard_plan::plan::ProbeId;
use guard_plan::time;
use guard_plan::verdict::Code;

/// Checks the probes that must answer `true`.
pub(crate) fn check<'a>(cx: &Context<'a>, call: DecidedCall<'a>, findings: &mut FoundReasons) {
    for ready in &call.tool.ready {
        match cx.probe(ready.probe).and_then(|answer| answer.truth()) {
            Ok(true) => {}
            Ok(false) => {
                let probe = &cx.compiled.plan().probes[ready.probe as usize].name;
                let message = format!(
                    "`{}` is not ready: the probe `{probe}` returned false",
                    call.tool.name
                );
                let mut reason = cx.reason(Code::NotReady, &ready.rule, message);
                reason.help = help(cx, ready.probe);
                reason.needs = vec![probe.clone()];
                findings.push(ready.rule.shadow, reason);
            }
            Err(fault) => findings.fault(cx, &ready.rule, &fault),
        }
    }
}

/// Returns the time at which a repeated call is useful.
fn help(cx: &Context<'_>, id: ProbeId) -> String {
    let probe = &cx.compiled.plan().probes[id as usize];
    match cx.attempts(id).turn(probe, cx.now) {
        ProbeTurn::Now => "try again later".into(),
        ProbeTurn::At(next) => {
            let wait = time::describe_duration(next.saturating_sub(cx.now));
            format!("the probe is asked again in {wait}; try then")
        }
        ProbeTurn::Never => {
            let tried = time::describe_duration(probe.within.unwrap_or_default());
            format!("it was not ready within {tried}, and the probe is not asked again")
        }
    }
}
