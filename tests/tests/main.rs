//! The suites, one module each.

mod cli;
mod laws;
