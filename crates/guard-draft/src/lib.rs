//! First guards as text: of tools that others declare, of the operations of an API, of sessions that were recorded.
//!
//! Each source becomes declarations of tools with the types that it shows, and, of sessions, rules that held in all of them.
//! A first guard is there to be read and changed by a person; it claims no more than its source shows, and says how much that
//! was. Whatever the source holds is hostile: its texts are comments and strings, never code.
//!
//! Nothing here reads a file, starts a process or compiles a guard.

#![forbid(unsafe_code)]

mod openapi;
pub mod suggest;
mod text;
mod tools;

pub use openapi::{ApiError, ApiTools};
pub use tools::{declarations, guard_text};
