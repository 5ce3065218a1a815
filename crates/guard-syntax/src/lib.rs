//! Syntax of the Guard language.
pub mod ast;
pub mod diagnostic;
pub mod span;
