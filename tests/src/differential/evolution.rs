//! Two guards on the same events, until they say different things: what `diff` must have foreseen.

use super::heard::{EventReply, START};
use super::reference;
use crate::generate::{Event, Timed, opening};
use guard_compiler::hir::Program;
use guard_compiler::reference::ReferenceSession;
use guard_plan::verdict::Decision;

/// The tool of which the guards first say different things, and whether the new one is looser. None where they agree as
/// long as both take the events.
pub fn first_difference(old: &Program, new: &Program, events: &[Timed]) -> Option<(String, bool)> {
    let data = opening(events);
    let mut before = ReferenceSession::open(old, START, "/workspace", data).ok()?;
    let mut after = ReferenceSession::open(new, START, "/workspace", data).ok()?;
    let mut now = START;
    for Timed { at, step, event } in events {
        now += step;
        let a = reference::step(&mut before, event, now, *at, &|_| String::new());
        let b = reference::step(&mut after, event, now, *at, &|_| String::new());
        let (a, b) = match (a, b) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(_), Err(_)) => continue,
            _ => return None,
        };
        if let Event::Propose(_, tool, _) = event {
            let old = rank(&a);
            let new = rank(&b);
            if old != new {
                return Some((tool.clone(), new < old));
            }
        } else if a.heard.items != b.heard.items {
            // An item was moved in one of them only.
            return None;
        }
    }
    None
}

/// Allowed, asked, or not now: a wait is a refusal, also where somebody is asked beside it.
fn rank(said: &EventReply) -> u8 {
    let waits = said.reasons.iter().any(|(_, _, outcome, _)| *outcome == Decision::Wait);
    match said.decision {
        Some(Decision::Allow) => 0,
        Some(Decision::Ask) if !waits => 1,
        _ => 2,
    }
}
