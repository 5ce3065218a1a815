//! The judge of adapters: it plays the world around one, and says which promises were broken.
//!
//! A case says what the model does and what the world is like; `play` plays it against an [`Adapter`], `judge` compares
//! what was seen with what the case expects. The judge believes what it saw and nothing that an adapter says of itself.
//! It knows neither compiler nor runtime: a guard is a text that is handed on.

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

pub use adapter::{Adapter, Contestant, Kind, Refused, Trouble, World};
pub use judge::Broken;
pub use observed::{Observed, RunSeen, Served};
pub use play::{Compile, Played, play};
pub use run::{Options, Outcome, Report, Verdict, known_failing, matches, run};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use suite::{Suite, Unreadable};
