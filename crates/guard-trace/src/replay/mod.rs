//! Replay of recorded sessions: with the recorded plan, or with another one.
//!
//! With the same plan, every record is reproduced byte for byte. With another plan, each recorded
//! event is decided by it in order, and the differences are counted in two views (replay
//! reference): *as recorded*, to the end of each session, and *strict*, up to the first difference.
//! Unknown outcomes are counted separately and never guessed. This module reads no files and holds
//! one record at a time.

mod call;
mod compare;
mod hidden;
mod live;
mod session;
mod world;

pub use live::Replay;
pub use session::{Replayed, RuleDifference};

use crate::{Keys, ResumeError};
use guard_plan::LoadedPlan;
use guard_plan::plan::Plan;
use guard_runtime::{Kernel, KernelError, StepError};
use hidden::Looks;
use std::fmt;
use std::sync::Arc;

/// A compiled plan that replays recorded sessions. One judge can replay many sessions at once.
#[derive(Debug)]
pub struct Judge {
    kernel: Kernel,
    /// The plan, for the display of arguments.
    shown: Arc<Plan>,
    hash: String,
    looks: Looks,
}

impl Judge {
    /// Compiles a plan.
    ///
    /// # Errors
    ///
    /// Returns an error if no kernel can be built from it.
    pub fn new(loaded: LoadedPlan) -> Result<Judge, KernelError> {
        let kernel = Kernel::new(loaded)?;
        let shown = Arc::new(kernel.plan().clone());
        Ok(Judge { hash: kernel.loaded().hash_text(), looks: Looks::new(&shown), kernel, shown })
    }

    /// Returns the content hash of the plan, `sha256:…`.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns the guard's name.
    pub fn guard(&self) -> &str {
        &self.kernel.plan().guard
    }
}

/// The reason why a session cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayError {
    /// The trace does not begin with an opening record.
    NoOpening,
    /// The trace begins with a snapshot of another plan.
    Snapshot,
    /// The snapshot cannot be used. Contains the reason.
    Recall(String),
    /// The session is opened a second time.
    Again,
    /// A record is invalid: its time or an amount cannot be read.
    Senseless,
    /// The kernel cannot open the session.
    Open(StepError),
    /// The session continues under another plan, from a plan that did not decide it in this replay.
    /// Contains that plan's hash.
    OtherPlan(String),
    /// The session's state under another plan is sealed, and there is no key.
    Closed,
    /// The recorded plan cannot have written the record.
    Forged(ResumeError),
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::NoOpening => f.write_str("the session does not begin with an `open` record"),
            ReplayError::Snapshot => f.write_str(
                "the session begins with a snapshot, which only the plan that it was recorded with can read",
            ),
            ReplayError::Recall(why) => f.write_str(why),
            ReplayError::OtherPlan(plan) => write!(
                f,
                "the session continues under another plan, and was not decided by the one before it, {plan}"
            ),
            ReplayError::Closed => f.write_str(
                "the session's memory under its new plan is sealed: give the key with `--key`",
            ),
            ReplayError::Again => f.write_str("the session begins a second time"),
            ReplayError::Senseless => f.write_str("the record is not a valid event"),
            ReplayError::Forged(error) => error.fmt(f),
            ReplayError::Open(error) => write!(f, "the session cannot be opened: {error}"),
        }
    }
}

impl std::error::Error for ReplayError {}

/// The options of a replay.
#[derive(Debug, Clone, Copy)]
pub struct Options<'k> {
    /// The key of sealed secrets.
    pub keys: Option<&'k Keys>,
    /// The number of differences kept in full per session.
    pub keep: usize,
    /// The number of timeline marks kept per session.
    pub marks: usize,
    /// True if no guard decided the session: every call ran.
    pub foreign: bool,
}
