//! Traces: storage, sealing, verification, resumption and replay.
//!
//! The kernel writes records (`guard_runtime::Recorder`), which `guard_plan::record` defines. This
//! crate contains the parts that need files, databases and keys, so the other two do not.

pub mod checkpoint;
pub mod draft;
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
pub use resume::{
    ResumeError, Resumed, answers_for, last_upgrade, recall, remember, resume, resume_from,
    snapshot, upgrade_payload,
};
