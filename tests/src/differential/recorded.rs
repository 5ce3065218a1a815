//! The trace of a session of a kernel alone: what `replay` decides again.

use super::heard::START;
use super::trace::Trace;
use crate::generate::{Timed, opening};
use guard_runtime::Kernel;

/// The lines of a session, recorded with the key of 32 sevens. None where the session cannot be opened.
pub fn recorded(kernel: &Kernel, events: &[Timed]) -> Option<Vec<String>> {
    let data = opening(events);
    let mut session = kernel.open_with("s", START, "/workspace", data).ok()?;
    let mut trace = Trace::new(kernel, &session);
    let mut now = START;
    for Timed { at, step, event } in events {
        now += step;
        let _ = trace.step(kernel, &mut session, event, now, *at);
    }
    Some(trace.into_lines())
}
