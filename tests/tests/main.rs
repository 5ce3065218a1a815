//! The suites, one module each.

mod cli;
mod codes;
mod docs;
mod hostile;
mod laws;
mod render;
