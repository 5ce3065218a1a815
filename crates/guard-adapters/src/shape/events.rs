//! An event loop: every event goes through a queue, and between turns only the trace is kept, from
//! which the session is resumed.

use crate::duty::{Gate, Work, with_feedback};
use crate::engine::Engine;
use crate::fault::Fault;
use guard_ack::protocol::{Call, Done, End, Turn};
use guard_ack::{Kind, Trouble};
use std::collections::VecDeque;
use std::sync::Arc;

/// An event of the loop.
enum Happens {
    /// The model is asked.
    Ask,
    /// The model calls a tool.
    Called(Call),
    /// A call has ended.
    Ended(Call, Done),
    /// The model wants to stop.
    Stops(Turn),
}

/// Runs the loop.
pub fn run(work: &mut Work) -> Result<End, Trouble> {
    work.begin()?;
    let mut queue = VecDeque::from([Happens::Ask]);
    let mut running: Vec<Call> = Vec::new();
    let mut waiting: Vec<(Call, String)> = Vec::new();
    while let Some(event) = queue.pop_front() {
        match event {
            Happens::Ask => {
                resume(work)?;
                let Some(turn) = work.ask_model()? else { return Ok(work.abandoned()) };
                match turn.stop {
                    true => queue.push_back(Happens::Stops(turn)),
                    false => queue.extend(turn.calls.into_iter().map(Happens::Called)),
                }
            }
            Happens::Called(call) if work.fault == Fault::RunsFirst => {
                work.world.begin(&call);
                let _ = work.gate(&call)?;
                running.push(call);
            }
            Happens::Called(call) => match work.gate(&call)? {
                Gate::Run => {
                    work.world.begin(&call);
                    running.push(call);
                }
                Gate::Served(text) | Gate::Refused(text) => work.answer(&call, &text),
                Gate::Wait(why) => waiting.push((call, why)),
            },
            Happens::Ended(call, done) => {
                let both = work.settle(&call, &done)?;
                work.answer(&call, &with_feedback(&both));
                queue.extend(waiting.drain(..).map(|(call, _)| Happens::Called(call)));
            }
            Happens::Stops(turn) => {
                let stopped = work.stop(&turn)?;
                if work.may_stop(&stopped) {
                    return work.end(&turn, &stopped);
                }
                queue.push_back(Happens::Ask);
            }
        }
        if queue.is_empty() {
            match work.world.ended(true) {
                Some((id, done)) => {
                    let at = running.iter().position(|call| call.call == id);
                    queue.extend(at.map(|at| Happens::Ended(running.remove(at), done)));
                }
                None => {
                    waiting.drain(..).for_each(|(call, why)| work.answer(&call, &why));
                    queue.push_back(Happens::Ask);
                }
            }
        }
    }
    Ok(work.abandoned())
}

/// Resumes the session from its trace alone.
fn resume(work: &mut Work) -> Result<(), Trouble> {
    let kernel = Arc::clone(&work.engine.kernel);
    let again = Engine::again(&kernel, &work.engine.lines, work.run.workspace.as_deref());
    *work.engine = again.map_err(|diverged| {
        Trouble::new(
            Kind::Error,
            format!("the session cannot be resumed: it diverges at record {}", diverged.at),
        )
    })?;
    Ok(())
}
