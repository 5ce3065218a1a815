//! The kernel of Guard: a plan and the events of a session go in, verdicts come out.
//!
//! A pure state machine: same plan and same events, same verdicts. It has no clock, reads no files and runs
//! nothing; what it must know of the world it asks a [`World`], and says what it asked.

#![forbid(unsafe_code)]

mod advice;
mod contract;
mod dispatch;
pub mod drive;
mod error;
mod eval;
mod feedback;
mod found;
mod guide;
mod host;
mod item;
mod kernel;
mod prepare;
mod prompt;
mod propose;
mod reason;
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
mod val;
mod world;

pub use contract::SessionKnown;
pub use error::{KernelError, RecallError, StepError};
pub use guide::guide;
pub use host::{Approve, Event, Outcome, Resume, Usage};
pub use item::{Move, Moved, Verify};
pub use kernel::Kernel;
pub use prompt::{Learned, Prompt};
pub use propose::{Proposal, Proposed, Scratch};
pub use recorder::Recorder;
pub use secrets::{Salt, Secrets};
pub use session::{FactRow, Halt, Session, Spoken, Turn};
pub use settle::{Ending, Settled, Settlement};
pub use stop::{Stop, Stopped};
pub use world::{NoWorld, Recalled, World};
