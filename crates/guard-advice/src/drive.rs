//! The drive: a loop that asks a reasoner for the next action, and performs the actions that the
//! kernel allows.
//!
//! The drive only performs the steps of a round in order. It runs nothing, waits for nothing and
//! asks nobody itself: the host's [`DriveIo`] does. Only calls that the kernel has allowed reach
//! [`Tools`], no matter who names them. `docs/reference/advice.md` defines when the drive ends.

mod choice;
mod driver;
mod io;
mod progress;
mod reasoners;
mod report;

pub use choice::{Choice, MAX_REPLY_BYTES};
pub use io::{
    Approvals, Approved, Clock, DriveIo, DriveSession, Nobody, Reasoner, Reply, Situation,
    ToolOutcome, Tools, UnrecordedSession, Wanted,
};
pub use reasoners::{JsonLines, Scripted};

use guard_plan::drive::DriveReport;
use guard_plan::plan::Millis;

/// The limits at which a drive gives up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriveLimits {
    /// The maximum number of rounds.
    pub steps: u64,
    /// The maximum number of consecutive rounds without progress: no call that had not succeeded
    /// before, and no change of the state.
    pub stuck: u32,
    /// The maximum number of consecutive calls that fail.
    pub failures: u32,
    /// The maximum number of consecutive invalid choices.
    pub invalid: u32,
    /// The first delay for a probe that is not ready, in milliseconds. Each further delay is twice
    /// as long.
    pub wait: Millis,
    /// The longest delay, in milliseconds.
    pub longest_wait: Millis,
}

impl Default for DriveLimits {
    fn default() -> Self {
        DriveLimits {
            steps: 100,
            stuck: 10,
            failures: 5,
            invalid: 10,
            wait: 1_000,
            longest_wait: 60_000,
        }
    }
}

/// Drives a session until its goals are reached, no further step is possible, or a limit is
/// reached.
pub fn drive(
    session: &mut dyn DriveSession,
    io: &mut DriveIo<'_>,
    limits: &DriveLimits,
) -> DriveReport {
    driver::Driver::new(session, io, limits).run()
}
