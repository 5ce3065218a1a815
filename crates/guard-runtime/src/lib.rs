//! The kernel of Guard: maps a plan and the events of a session to verdicts.
//!
//! The kernel is a pure state machine: the same plan and the same events give the same verdicts. It
//! has no clock, reads no files and runs no commands. It asks a [`World`] for facts about the
//! outside, and reports its questions.

#![forbid(unsafe_code)]

// The builder of plans is shared with the integration tests, which refer to the crate by its name.
#[cfg(test)]
extern crate self as guard_runtime;

mod bounds;
#[cfg(test)]
#[path = "../tests/main/build.rs"]
#[allow(dead_code, reason = "shared with the integration tests")]
mod build;
mod compiled;
mod contract;
mod decide;
mod error;
mod eval;
mod evaluate;
mod event;
mod feedback;
mod flights;
mod host;
mod hypothesis;
mod item;
mod kernel;
mod open;
mod outcome;
mod page;
mod private;
mod prompt;
mod propose;
mod reason;
mod recall;
mod recheck;
mod recorder;
pub mod replay;
mod secrets;
mod serve;
mod session;
mod settle;
mod shadow;
mod stage;
mod stop;
mod target;
mod transform;
mod upgrade;
mod val;
mod view;
mod world;
mod world_checks;

pub use contract::SessionKnown;
pub use error::{KernelError, RecallError, StepError, UpgradeError};
pub use event::{
    Arguments, CallApproval, Ending, Event, HaltEnd, Move, Proposal, Revocation, Settlement,
    StopAttempt, UsageReport, UserPrompt, Verify,
};
pub use host::{DEFAULT_APPROVAL, expect_somebody};
pub use hypothesis::{Assumed, Foreseen, Hypothesis, HypotheticalCall};
pub use kernel::Kernel;
pub use outcome::{Learned, Moved, Outcome, ProofViolation, Proposed, Settled, Stopped};
pub use propose::Scratch;
pub use recorder::Recorder;
pub use secrets::{Salt, Secrets};
pub use session::{Halt, ProbeTurn, SessionState, Spoken};
pub use upgrade::{Forgotten, Memory, Upgraded, completion_text};
pub use view::{FactRow, LastSettlement};
pub use world::{NoWorld, Recalled, World};
