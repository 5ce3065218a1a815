//! Middleware: a function around each tool. The framework runs one call after another, so calls
//! never overlap, and feedback is part of the answer.

use crate::duties::{Duties, with_feedback};
use crate::engine::trouble;
use crate::harness::{AdapterResult, Gate, Harness};
use guard_ack::protocol::{LoopEnd, ModelCall};

/// Runs the loop of the framework.
pub fn run(duties: &mut dyn Duties, harness: &mut Harness) -> AdapterResult<LoopEnd> {
    duties.begin(harness)?;
    while let Some(turn) = duties.ask_model(harness)? {
        for call in &turn.calls {
            let text = around(duties, harness, call)?;
            harness.answer(call, &text);
        }
        if turn.stop {
            let stopped = duties.stop(harness, &turn)?;
            if duties.may_stop(harness, &stopped) {
                return duties.end(harness, &turn, &stopped);
            }
        }
    }
    Ok(duties.abandoned(harness))
}

/// Wraps a tool. Returns the text for the model.
fn around(
    duties: &mut dyn Duties,
    harness: &mut Harness,
    call: &ModelCall,
) -> AdapterResult<String> {
    match duties.call(harness, call)? {
        Gate::Run => {
            let (_, done) =
                duties.finished(harness).ok_or_else(|| trouble("the tool did not run"))?;
            duties.settle(harness, call, &done).map(|both| with_feedback(&both))
        }
        Gate::Served(text) | Gate::Refused(text) | Gate::Wait(text) => Ok(text),
    }
}
