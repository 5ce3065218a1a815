//! A framework with hooks: it starts the calls of a turn together, and runs a hook before and after
//! each.
//!
//! The output of the hook after a call is shown as a separate message after the answer.

use crate::duties::Duties;
use crate::harness::{AdapterResult, Gate, Harness};
use guard_ack::protocol::{LoopEnd, ModelCall, Role};

/// Runs the loop of the framework.
pub fn run(duties: &mut dyn Duties, harness: &mut Harness) -> AdapterResult<LoopEnd> {
    duties.begin(harness)?;
    while let Some(turn) = duties.ask_model(harness)? {
        if turn.stop {
            let stopped = duties.stop(harness, &turn)?;
            if duties.may_stop(harness, &stopped) {
                return duties.end(harness, &turn, &stopped);
            }
            continue;
        }
        calls(duties, harness, &turn.calls)?;
    }
    Ok(duties.abandoned(harness))
}

fn calls(duties: &mut dyn Duties, harness: &mut Harness, calls: &[ModelCall]) -> AdapterResult<()> {
    let mut running: Vec<&ModelCall> = Vec::new();
    let mut waiting: Vec<(&ModelCall, String)> = Vec::new();
    for call in calls {
        before(duties, harness, call, &mut running, &mut waiting)?;
    }
    while let Some((id, done)) = duties.finished(harness) {
        let Some(at) = running.iter().position(|call| call.call == id) else { continue };
        let call = running.remove(at);
        let (text, feedback) = duties.settle(harness, call, &done)?;
        harness.answer(call, &text);
        if !feedback.is_empty() {
            harness.say(Role::User, &feedback);
        }
        for (call, _) in std::mem::take(&mut waiting) {
            before(duties, harness, call, &mut running, &mut waiting)?;
        }
    }
    // Nothing is running any more, so nothing can end the wait.
    for (call, why) in waiting {
        harness.answer(call, &why);
    }
    Ok(())
}

/// Runs the hook before a call, which then runs, waits or is answered.
fn before<'c>(
    duties: &mut dyn Duties,
    harness: &mut Harness,
    call: &'c ModelCall,
    running: &mut Vec<&'c ModelCall>,
    waiting: &mut Vec<(&'c ModelCall, String)>,
) -> AdapterResult<()> {
    match duties.call(harness, call)? {
        Gate::Run => running.push(call),
        Gate::Served(text) | Gate::Refused(text) => harness.answer(call, &text),
        Gate::Wait(why) => waiting.push((call, why)),
    }
    Ok(())
}
