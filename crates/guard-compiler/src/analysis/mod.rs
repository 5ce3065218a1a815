//! What can be said of a checked program and its plan without a running agent.
//!
//! `reference` runs the language's definition; `explore` searches its sessions; `verify` proves invariants;
//! `diff` compares two guards; `lint` reports findings about one. Nothing that makes a plan imports from here,
//! except `verify`, whose certificates stand in the plan.

pub mod diff;
pub mod explore;
pub mod lint;
pub mod reference;
pub mod verify;
