//! The suites, one module each.

mod advice;
mod cli;
mod codes;
mod docs;
mod explore;
mod hostile;
mod inputs;
mod laws;
mod proofs;
mod render;
mod schemas;
mod signals;
mod suites;
