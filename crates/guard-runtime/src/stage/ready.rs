//! Readiness: probes that must answer `true`.

use super::Call;
use crate::eval::Context;
use crate::reason::Findings;
use guard_plan::verdict::Code;

pub(crate) fn check<'a>(cx: &Context<'a>, call: Call<'a>, findings: &mut Findings) {
    for ready in &call.tool.ready {
        match cx.probe(ready.probe).and_then(|answer| answer.truth()) {
            Ok(true) => {}
            Ok(false) => {
                let probe = &cx.kernel.plan().probes[ready.probe as usize].name;
                let message =
                    format!("`{}` is not ready: the probe `{probe}` says no", call.tool.name);
                let mut reason = cx.reason(Code::NotReady, &ready.rule, message);
                reason.help = "try again later".into();
                reason.needs = vec![probe.clone()];
                findings.push(ready.rule.shadow, reason);
            }
            Err(fault) => findings.fault(cx, &ready.rule, &fault),
        }
    }
}
