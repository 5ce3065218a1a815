//! Analyses of a checked program and its plan, without a running agent.
//!
//! `reference` runs the language's definition; `explore` searches its sessions; `verify` proves invariants;
//! `diff` compares two guards; `property` decides what a guard is claimed to imply; `lint` reports findings about one. Nothing that
//! makes a plan imports from here, except `verify`, whose certificates stand in the plan, and `property`, whose clauses do not.

pub mod diff;
pub mod explore;
pub mod lint;
pub mod property;
pub mod reference;
pub mod verify;
