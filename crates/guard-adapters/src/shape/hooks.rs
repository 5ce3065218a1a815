//! A framework with hooks: it starts the calls of a turn together, and runs a hook before and after
//! each.
//!
//! The output of the hook after a call is shown as a separate message after the answer.

use crate::duty::{Gate, Work};
use crate::fault::Fault;
use guard_ack::Trouble;
use guard_ack::protocol::{Call, End, Role};

/// Runs the loop of the framework.
pub fn run(work: &mut Work) -> Result<End, Trouble> {
    work.begin()?;
    while let Some(turn) = work.ask_model()? {
        if turn.stop {
            let stopped = work.stop(&turn)?;
            if work.may_stop(&stopped) {
                return work.end(&turn, &stopped);
            }
            continue;
        }
        calls(work, &turn.calls)?;
    }
    Ok(work.abandoned())
}

fn calls(work: &mut Work, calls: &[Call]) -> Result<(), Trouble> {
    let mut running: Vec<&Call> = Vec::new();
    let mut waiting: Vec<(&Call, String)> = Vec::new();
    for call in calls {
        if work.fault == Fault::RunsFirst {
            work.world.begin(call);
            running.push(call);
            let _ = work.gate(call)?;
        } else if let Some(why) = before(work, call, &mut running)? {
            waiting.push((call, why));
        }
    }
    while let Some((id, done)) = work.world.ended(true) {
        let Some(at) = running.iter().position(|call| call.call == id) else { continue };
        let call = running.remove(at);
        let (text, feedback) = work.settle(call, &done)?;
        work.answer(call, &text);
        if !feedback.is_empty() {
            work.say(Role::User, &feedback);
        }
        for (call, _) in std::mem::take(&mut waiting) {
            if let Some(why) = before(work, call, &mut running)? {
                waiting.push((call, why));
            }
        }
    }
    for (call, why) in waiting {
        work.answer(call, &why);
    }
    Ok(())
}

/// Runs the hook before a call. Returns the reason if the call waits.
fn before<'c>(
    work: &mut Work,
    call: &'c Call,
    running: &mut Vec<&'c Call>,
) -> Result<Option<String>, Trouble> {
    match work.gate(call)? {
        Gate::Run => {
            work.world.begin(call);
            if work.fault == Fault::Serial {
                if let Some((_, done)) = work.world.ended(true) {
                    let (text, _) = work.settle(call, &done)?;
                    work.answer(call, &text);
                }
                return Ok(None);
            }
            running.push(call);
        }
        Gate::Served(text) | Gate::Refused(text) => work.answer(call, &text),
        Gate::Wait(why) => return Ok(Some(why)),
    }
    Ok(None)
}
