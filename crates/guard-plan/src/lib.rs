//! The types of Guard that are exchanged between processes: plan, values, events, verdicts, trace
//! records.
//!
//! This includes canonical encoding, hashing and the loading of untrusted bytes. The crate does not
//! depend on source text, compilation or evaluation.

pub mod advice;
pub mod builtin;
pub mod decimal;
pub mod decode;
pub mod disclosure;
pub mod drive;
pub mod encode;
pub mod hex;
pub mod json;
pub mod key;
pub mod lines;
pub mod load;
pub mod map_key;
pub mod markup;
pub mod naming;
pub mod near;
pub mod origin;
pub mod path;
pub mod plan;
pub mod random;
pub mod record;
pub mod render;
pub mod replay_report;
pub mod report;
#[cfg(feature = "schema")]
pub mod schema;
pub mod secrecy;
pub mod time;
pub mod trust;
pub mod typing;
pub mod url;
mod validate;
pub mod value;
pub mod verdict;
pub mod words;

pub use load::{LoadError, LoadedPlan, load};
