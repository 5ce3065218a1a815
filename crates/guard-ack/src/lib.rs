//! The judge of adapters. It runs an adapter in a simulated world, and reports the promises that
//! the adapter broke.
//!
//! A case describes the model's script and the world. `play` runs it against an [`Adapter`], and
//! `judge` compares the observations with the expectations. The judge trusts only its own
//! observations, not the adapter's claims. It uses neither the compiler nor the runtime: a guard is
//! passed on as text.

#![forbid(unsafe_code)]

mod adapter;
pub mod case;
pub mod clause;
mod judge;
mod observed;
mod play;
pub mod process;
pub mod protocol;
pub mod report;
mod run;
#[cfg(feature = "schema")]
mod schema;
mod suite;
mod workspace;
mod world;

pub use adapter::{Adapter, AdapterTrouble, AdapterWorld, Contestant, Refused, TroubleKind};
pub use judge::{BrokenPromise, rechained};
pub use observed::{Observed, RanCall, RunSeen};
pub use play::{Compile, Played, play};
pub use run::{AckReport, CaseOutcome, CaseVerdict, RunOptions, known_failing, matches, run};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use suite::{CaseSuite, Unreadable, VERSION};
