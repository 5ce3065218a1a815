//! An event loop: every event goes through a queue. Between turns only the trace is kept, and the
//! session is resumed from it.

use crate::duties::{Duties, with_feedback};
use crate::engine::{Engine, trouble};
use crate::harness::{AdapterResult, Gate, Harness};
use guard_ack::protocol::{Done, LoopEnd, ModelCall, ModelTurn};
use std::collections::VecDeque;

/// An event of the loop.
enum Happens {
    /// A request to the model.
    Ask,
    /// A call of the model.
    Called(ModelCall),
    /// The end of a call.
    Ended(ModelCall, Done),
    /// A stop of the model.
    Stops(ModelTurn),
}

/// Runs the loop.
pub fn run(duties: &mut dyn Duties, harness: &mut Harness) -> AdapterResult<LoopEnd> {
    duties.begin(harness)?;
    let mut queue = VecDeque::from([Happens::Ask]);
    let mut running: Vec<ModelCall> = Vec::new();
    let mut waiting: Vec<(ModelCall, String)> = Vec::new();
    while let Some(event) = queue.pop_front() {
        match event {
            Happens::Ask => {
                resume(duties, harness)?;
                let Some(turn) = duties.ask_model(harness)? else {
                    return Ok(duties.abandoned(harness));
                };
                if turn.stop {
                    queue.push_back(Happens::Stops(turn))
                } else {
                    queue.extend(turn.calls.into_iter().map(Happens::Called))
                }
            }
            Happens::Called(call) => match duties.call(harness, &call)? {
                Gate::Run => running.push(call),
                Gate::Served(text) | Gate::Refused(text) => harness.answer(&call, &text),
                Gate::Wait(why) => waiting.push((call, why)),
            },
            Happens::Ended(call, done) => {
                let both = duties.settle(harness, &call, &done)?;
                harness.answer(&call, &with_feedback(&both));
                queue.extend(waiting.drain(..).map(|(call, _)| Happens::Called(call)));
            }
            Happens::Stops(turn) => {
                let stopped = duties.stop(harness, &turn)?;
                if duties.may_stop(harness, &stopped) {
                    return duties.end(harness, &turn, &stopped);
                }
                queue.push_back(Happens::Ask);
            }
        }
        // Events in the queue come first, since a call that may begin must not wait for the end of
        // another.
        if queue.is_empty() {
            match duties.finished(harness) {
                Some((id, done)) => {
                    let at = running.iter().position(|call| call.call == id);
                    queue.extend(at.map(|at| Happens::Ended(running.remove(at), done)));
                }
                None => {
                    // Nothing is running any more, so nothing can end the wait.
                    waiting.drain(..).for_each(|(call, why)| harness.answer(&call, &why));
                    queue.push_back(Happens::Ask);
                }
            }
        }
    }
    Ok(duties.abandoned(harness))
}

/// Resumes the session from its trace alone.
fn resume(duties: &mut dyn Duties, harness: &mut Harness) -> AdapterResult<()> {
    let guard = harness.engine.session.guard().clone();
    let files = duties.files(harness.run.workspace.as_deref())?;
    let resumed = Engine::resume(&guard, &harness.engine.trace()?, files);
    *harness.engine =
        resumed.map_err(|error| trouble(format!("the session cannot be resumed: {error}")))?;
    Ok(())
}
