//! Helpers shared by the suites: how a case file becomes a printed outcome, and the machinery of the laws.

pub mod big;
pub mod differential;
pub mod generate;
pub mod rng;
pub mod small;
