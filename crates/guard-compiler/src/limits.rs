//! The limits of the size of defines.

/// The maximum number of nodes of one use with its defines replaced.
pub(crate) const MAX_NODES: u64 = 10_000;
/// The maximum number of nodes of all uses of a guard together, with their defines replaced.
pub(crate) const MAX_ALL_NODES: u64 = 250_000;
/// The maximum depth of an expression with its defines replaced. It is the same as for an
/// expression without defines.
pub(crate) const MAX_DEPTH: u64 = 128;
