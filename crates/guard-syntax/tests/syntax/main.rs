//! Tests of the syntax crate: case files, property tests, and the pages of its codes.

mod generate;
mod laws;
mod outline;
mod pages;
mod suite;
