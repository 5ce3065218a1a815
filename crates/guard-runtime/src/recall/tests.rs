//! Tests of memories that no kernel wrote: each has the right shape, and one value that a session
//! never has.

use crate::build::*;
use crate::error::RecallError;
use crate::{Kernel, SessionState};
use guard_plan::plan::*;
use guard_plan::value::Value;

/// `work`, and a variable that may hold a path.
fn guarded() -> Kernel {
    let mut plan = plan();
    plan.types.push(TypeDef::Option { of: PATH });
    let ty = plan.types.len() as TypeId - 1;
    plan.state.push(variable("place", ty, Node::None));
    plan.tools.push(tool("work", &[]));
    kernel(plan)
}

/// Returns the part of the memory that is refused, after a change to a new session.
fn refused(kernel: &Kernel, change: impl FnOnce(&mut SessionState)) -> Option<&'static str> {
    let mut session = kernel.open("s", 0, "/w").unwrap();
    change(&mut session);
    match kernel.recall(&session.memory()) {
        Ok(_) => None,
        Err(RecallError::Misfit(part)) => Some(part),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn counts_that_could_overflow_are_refused() {
    let kernel = guarded();
    assert_eq!(refused(&kernel, |session| session.calls = 1 << 60), None);
    let changes: [fn(&mut SessionState); 8] = [
        |session| session.calls = u64::MAX,
        |session| session.decisions = u64::MAX,
        |session| session.settlements = u64::MAX,
        |session| session.moments = u64::MAX,
        |session| session.prompts = u64::MAX,
        |session| session.tools[0].successes = u64::MAX,
        |session| session.tools[0].failures = u64::MAX,
        |session| session.blocked = u32::MAX,
    ];
    for change in changes {
        assert_eq!(refused(&kernel, change), Some("its counts"));
    }
    assert_eq!(
        refused(&kernel, |session| session.feedback.judged = u64::MAX),
        Some("its feedback")
    );
}

#[test]
fn paths_that_are_not_normalised_are_refused() {
    let kernel = guarded();
    let path = |text: &str| Value::Path(text.into());
    assert_eq!(refused(&kernel, |session| session.state[0] = path("/w/a")), None);
    for text in ["/w/../etc", "w", "/w//a", ""] {
        assert_eq!(refused(&kernel, |session| session.state[0] = path(text)), Some("its state"));
    }
}
