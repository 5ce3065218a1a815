//! The generation of first guards as text: from declared tools, from the operations of an API, and
//! from recorded sessions.
//!
//! Each source becomes declarations of tools with their types. Recorded sessions also give the
//! rules that held in all of them. A person must read and change a first guard. It claims no more
//! than its source shows, and states how much that was. All sources are hostile: their texts become
//! comments and strings, never code.
//!
//! The crate reads no file, starts no process and compiles no guard.

#![forbid(unsafe_code)]

mod openapi;
pub mod suggest;
mod text;
mod tools;

pub use openapi::{ApiError, ApiTools};
pub use tools::{declarations, guard_text};
