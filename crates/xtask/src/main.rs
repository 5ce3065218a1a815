//! Tidy.
fn main() {}
