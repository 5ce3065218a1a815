//! The producer boundary (semantics §14): reads and checks, unit by unit, the text of a model, an
//! agent or a person.
//!
//! A contract of a plan is compiled once (`Checker`), and then checks texts as a whole (`check`) or
//! in pieces (`feed`). The crate depends on plans and reports, but not on sessions, files and
//! processes. `Known` answers references; `Schemas` validates JSON Schemas.

mod boundary;
mod checker;
mod coerce;
mod draft;
mod engine;
mod feed;
mod fits;
mod gap;
mod input;
mod judge;
mod keep;
mod lex;
mod lines;
mod marks;
mod nest;
mod outcome;
mod prompt;
mod reask;
mod repair;
mod schema;
mod shape;
mod single_value;
mod strict;
mod tape;
mod unwrap;

pub use checker::Checker;
pub use feed::Feed;
pub use input::{Input, Known, NothingKnown};
pub use outcome::{finish, finish_reasons};
pub use prompt::prompt;
pub use reask::reask;
pub use schema::{Lists, schema};
pub use shape::{ContractError, NoSchemas, Schema, Schemas};
pub use strict::{Strict, strict};
