//! The producer boundary (semantics §14): what a model, an agent or a person wrote, read and judged unit by unit.
//!
//! A contract of a plan is made ready once (`Checker`), and then judges texts whole (`check`) or as they come (`feed`).
//! Knows plans and reports; knows nothing of sessions, files and processes. Who can tell what is known is asked through
//! `Known`, who carries out JSON Schemas through `Schemas`.

mod boundary;
mod checker;
mod draft;
mod engine;
mod feed;
mod fits;
mod gap;
mod judge;
mod keep;
mod lex;
mod marks;
mod outcome;
mod prompt;
mod repair;
mod schema;
mod shape;
mod tape;

pub use checker::{Checker, Input, Known, NothingKnown};
pub use feed::Feed;
pub use prompt::prompt;
pub use schema::schema;
pub use shape::{ContractError, NoSchemas, Schema, Schemas};
