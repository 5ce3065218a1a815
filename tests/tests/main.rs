//! The suites, one module each.

mod cli;
mod codes;
mod hostile;
mod laws;
mod render;
