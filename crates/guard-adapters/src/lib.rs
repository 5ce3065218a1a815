//! Adapters that use our own kernel, for the conformance kit to judge.
//!
//! One engine, four shapes of real harnesses: hooks before and after a call, middleware around a
//! call, a proxy between client and tool server, and a resumable event loop. An [`AdapterFault`] breaks one
//! duty, so that the judge itself can be tested. Sessions are those of `guard-sdk`, and the kernel makes all decisions.

#![forbid(unsafe_code)]

mod duties;
mod engine;
mod faults;
mod generated;
mod harness;
mod mock;
mod null;
mod reference;
mod shape;
mod stdio;

pub use faults::AdapterFault;
pub use generated::GeneratedCase;
pub use mock::Mock;
pub use null::Null;
pub use reference::Evaluator;
pub use shape::AdapterShape;
pub use stdio::serve;
