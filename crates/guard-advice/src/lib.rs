//! Advice for a session, the guide to a guard, and the loop around a reasoner.
//!
//! This crate is outside the trusted kernel: it uses only the public methods of
//! [`Kernel`](guard_runtime::Kernel), and makes no decisions. [`advise`] ranks the possible next
//! actions of a session, [`guide`] writes the instructions for an agent, and
//! [`drive()`](drive::drive) asks a reasoner for the next call until the goals are reached.

#![forbid(unsafe_code)]

mod advice;
pub mod drive;
mod guide;

pub use advice::advise;
pub use guide::guide;
