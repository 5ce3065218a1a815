//! The limits of what defines stand for.

/// The maximum number of nodes that one use may stand for.
pub(crate) const MAX_NODES: u64 = 10_000;
/// The maximum number of nodes that all uses of a guard may stand for together.
pub(crate) const MAX_ALL_NODES: u64 = 250_000;
/// The maximum depth of an expression with its defines written out: that of one that is written as a whole.
pub(crate) const MAX_DEPTH: u64 = 128;
