//! Middleware: a function around each tool. The framework runs one call after another, so calls
//! never overlap, and feedback is part of the answer.

use crate::duty::{Gate, Work, with_feedback};
use crate::fault::Fault;
use guard_ack::Trouble;
use guard_ack::protocol::{Call, Done, End, ToolOutcome};
use serde_json::json;

/// Runs the loop of the framework.
pub fn run(work: &mut Work) -> Result<End, Trouble> {
    work.begin()?;
    loop {
        let Some(turn) = work.ask_model()? else { return Ok(work.abandoned()) };
        for call in &turn.calls {
            let text = around(work, call)?;
            work.answer(call, &text);
        }
        if turn.stop {
            let stopped = work.stop(&turn)?;
            if work.may_stop(&stopped) {
                return work.end(&turn, &stopped);
            }
        }
    }
}

/// Wraps a tool; returns the text for the model.
fn around(work: &mut Work, call: &Call) -> Result<String, Trouble> {
    if work.fault == Fault::RunsFirst {
        let done = next(work, call);
        let _ = work.gate(call)?;
        return work.settle(call, &done).map(|both| with_feedback(&both));
    }
    match work.gate(call)? {
        Gate::Run => {
            let done = next(work, call);
            work.settle(call, &done).map(|both| with_feedback(&both))
        }
        Gate::Served(text) | Gate::Refused(text) | Gate::Wait(text) => Ok(text),
    }
}

/// Runs the tool itself.
fn next(work: &mut Work, call: &Call) -> Done {
    work.world.begin(call);
    let ended = work.world.ended(true).map(|(_, done)| done);
    ended.unwrap_or_else(|| Done { outcome: ToolOutcome::Failure, result: json!("it did not run") })
}
