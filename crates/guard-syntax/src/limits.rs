//! The limits of parsing: sizes, depth and errors.

/// The maximum nesting depth of brackets and operators.
pub const MAX_DEPTH: usize = 128;

/// The maximum length of a file, in bytes.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The maximum number of errors reported per file.
pub(crate) const MAX_ERRORS: usize = 100;
