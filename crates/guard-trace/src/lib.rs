//! What becomes of traces: they are kept, sealed, checked, taken up again and decided again.
//!
//! The kernel writes records (`guard_runtime::Recorder`); what a record is stands in `guard_plan::record`. Here is what
//! needs files, databases and keys, so that neither of the two does.

pub mod checkpoint;
pub mod import;
mod keys;
pub mod line;
pub mod merkle;
pub mod reading;
pub mod replay;
mod resume;
pub mod sign;
pub mod store;
pub mod verify;

pub use keys::{KeyError, Keys, SessionKeys};
pub use resume::{ResumeError, Resumed, recall, remember, resume, snapshot};
