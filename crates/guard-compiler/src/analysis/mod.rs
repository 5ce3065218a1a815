//! Analyses of a checked program and its plan, without a running agent.
//!
//! `reference` runs the definition of the language. `explore` searches the sessions of a guard.
//! `verify` proves invariants. `diff` compares two guards. `property` checks the properties of a
//! guard. `lint` reports findings about a guard. No module that makes a plan imports from here,
//! except for `verify`, whose certificates are part of the plan, and `property`, whose clauses are
//! not.

pub mod diff;
pub mod explore;
pub mod lint;
pub mod property;
pub mod reference;
pub mod verify;
