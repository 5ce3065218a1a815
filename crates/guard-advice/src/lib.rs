//! Advice for a session, the guide to a guard, and the loop around a reasoner.
//!
//! Outside the trusted kernel: everything here asks [`Kernel`](guard_runtime::Kernel) by its public methods, and decides
//! nothing. [`advise`] judges and ranks what a session could do next, [`guide`] writes what an agent should read before
//! it begins, and [`drive()`](drive::drive) asks a reasoner for the next call until the goals are reached.

#![forbid(unsafe_code)]

mod advice;
pub mod drive;
mod guide;

pub use advice::advise;
pub use guide::guide;
