//! Recorded sessions, decided again: by the plan they were recorded with, or by another.
//!
//! With the same plan everything comes out as it was, to the byte. With another, every recorded event is given to it one
//! after the other, and what it says otherwise is counted in two views (replay reference): *as recorded*, to the end of
//! each session, and *strict*, up to the first difference. What cannot be known is counted apart and never guessed.
//! Reads no files; one record at a time is held.

mod call;
mod compare;
mod hidden;
mod live;
mod session;
mod world;

pub use live::Replay;
pub use session::{Replayed, Rule};

use crate::Keys;
use guard_plan::LoadedPlan;
use guard_plan::plan::Plan;
use guard_runtime::{Kernel, KernelError, StepError};
use hidden::Looks;
use std::fmt;
use std::sync::Arc;

/// A plan ready to decide recorded sessions; one serves many at once.
#[derive(Debug)]
pub struct Judge {
    kernel: Kernel,
    /// Its plan, for what is shown of arguments.
    shown: Arc<Plan>,
    hash: String,
    looks: Looks,
}

impl Judge {
    /// Makes a plan ready.
    ///
    /// # Errors
    ///
    /// Where no kernel can be made of it.
    pub fn new(loaded: LoadedPlan) -> Result<Judge, KernelError> {
        let kernel = Kernel::new(loaded)?;
        let shown = Arc::new(kernel.plan().clone());
        Ok(Judge { hash: kernel.loaded().hash_text(), looks: Looks::new(&shown), kernel, shown })
    }

    /// The content hash of the plan, `sha256:…`.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The guard's name.
    pub fn guard(&self) -> &str {
        &self.kernel.plan().guard
    }
}

/// Why a session cannot be decided again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayError {
    /// It does not begin with its beginning.
    NoOpening,
    /// It begins with a snapshot of another plan.
    Snapshot,
    /// Its snapshot cannot be used; says why.
    Recall(String),
    /// A session that has begun begins again.
    Again,
    /// A record makes no sense: its time or an amount cannot be read.
    Senseless,
    /// The kernel cannot open it.
    Open(StepError),
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::NoOpening => f.write_str("the session does not begin with an `open` record"),
            ReplayError::Snapshot => f.write_str(
                "the session begins with a snapshot, which only the plan that it was recorded with can read",
            ),
            ReplayError::Recall(why) => f.write_str(why),
            ReplayError::Again => f.write_str("the session begins a second time"),
            ReplayError::Senseless => f.write_str("the record makes no sense as an event"),
            ReplayError::Open(error) => write!(f, "the session cannot be opened: {error}"),
        }
    }
}

impl std::error::Error for ReplayError {}

/// What of a replay is kept, and what it may know.
#[derive(Debug, Clone, Copy)]
pub struct Options<'k> {
    /// The key of sealed secrets.
    pub keys: Option<&'k Keys>,
    /// How many differences of a session are kept in full.
    pub keep: usize,
    /// How many marks of its timeline.
    pub marks: usize,
    /// The session was not decided by a guard: what ran, ran.
    pub foreign: bool,
}
