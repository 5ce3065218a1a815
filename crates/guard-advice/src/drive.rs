//! The drive: a loop that asks a reasoner for the next action, and performs the actions that the
//! kernel allows.
//!
//! Implements the order of a round. All IO, waiting and approvals go through the [doors](Doors)
//! that the host provides. Only calls that the kernel has allowed reach [`Tools`], whoever proposes
//! them. `docs/reference/advice.md` defines when the drive ends.

mod choice;
mod doors;
mod driver;
mod progress;
mod reasoners;
mod report;

pub use choice::{Choice, MAX_REPLY_BYTES};
pub use doors::{
    Approvals, Approved, Clock, Doors, Nobody, Reasoner, Reply, Situation, ToolOutcome, Tools,
    Unheard, Wanted, Witness,
};
pub use reasoners::{JsonLines, Scripted};

use guard_plan::drive::DriveReport;
use guard_plan::plan::Millis;
use guard_runtime::{Kernel, Session};

/// The limits at which a drive gives up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of rounds.
    pub steps: u64,
    /// Consecutive rounds without progress: no call that had not succeeded before, no change of the
    /// state.
    pub stuck: u32,
    /// Consecutive calls that fail.
    pub failures: u32,
    /// Consecutive invalid choices.
    pub invalid: u32,
    /// The first delay for a probe that is not ready, in milliseconds; each further one is twice as
    /// long.
    pub wait: Millis,
    /// The longest delay, in milliseconds.
    pub longest_wait: Millis,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            steps: 100,
            stuck: 10,
            failures: 5,
            invalid: 10,
            wait: 1_000,
            longest_wait: 60_000,
        }
    }
}

/// Drives a session to its end: until its goals are reached, no action is possible, or a limit is
/// reached. The session must be opened by this kernel.
pub fn drive(
    kernel: &Kernel,
    session: &mut Session,
    doors: &mut Doors<'_>,
    limits: &Limits,
) -> DriveReport {
    driver::Driver::new(kernel, session, doors, limits).run()
}
