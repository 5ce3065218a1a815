//! Faults at the end of a run.

use crate::duty::Work;
use crate::fault::Fault;
use guard_ack::protocol::{End, Ended};
use guard_plan::record::StopDecision;
use guard_runtime::Stopped;

/// Returns the answer to a stop that the adapter uses.
pub(crate) fn stopped(work: &mut Work, mut stopped: Stopped) -> Stopped {
    let held = match work.fault {
        Fault::HeldAtDeadline => stopped.bypassed.as_deref() == Some("deadline"),
        Fault::HeldAtBudget => {
            stopped.bypassed.as_deref().is_some_and(|why| why != "deadline" && why != "halted")
        }
        Fault::BlocksFirst => !work.lapses.blocked,
        _ => false,
    };
    let blocked = stopped.decision == StopDecision::Block;
    if held {
        stopped.decision = StopDecision::Block;
        stopped.message = "something is missing".into();
    }
    match work.fault {
        Fault::StopsBlocked => stopped.decision = StopDecision::Allow,
        Fault::BlocksOnce if work.lapses.blocked => stopped.decision = StopDecision::Allow,
        Fault::StopIsKept => {
            stopped = work.lapses.stop.get_or_insert(stopped).clone();
        }
        Fault::GenericMissing if blocked => stopped.message = "something is missing".into(),
        Fault::RepeatsMissing if blocked => {
            work.lapses.repeated = vec![stopped.message.clone()];
        }
        _ => {}
    }
    work.lapses.blocked |= stopped.decision == StopDecision::Block;
    stopped
}

/// Returns the result that is reported instead of the correct one.
pub(crate) fn ended(work: &mut Work, mut end: End) -> End {
    match work.fault {
        Fault::DropsOutput => end.output = None,
        Fault::TrimsOutput => end.output = end.output.map(|text| text.trim().to_owned()),
        Fault::AlwaysStopped => end.ended = Ended::Stopped,
        Fault::BlockedOutput => end.output = work.lapses.output.take().or(end.output),
        Fault::NoReport => end.report = None,
        Fault::AllOrNothing => {
            let spoilt = |report: &serde_json::Value| report["state"] != "valid";
            if end.report.as_ref().is_some_and(spoilt) {
                end.report = Some(serde_json::json!({ "state": "total_loss", "lists": [] }));
            }
        }
        Fault::NoTrace => end.trace = None,
        Fault::TraceWithGaps => {
            if let Some(trace) = end.trace.as_mut().filter(|trace| trace.len() > 2) {
                trace.remove(1);
            }
        }
        Fault::AsksOnceMore => {
            let _ = work.world.model(&work.messages);
        }
        _ => {}
    }
    end
}
