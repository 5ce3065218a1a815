//! Tests of the syntax crate: case files, laws, and the pages of its codes.

mod generate;
mod laws;
mod outline;
mod pages;
mod suite;
