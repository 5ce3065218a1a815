//! Memories of a session that the plan asks for: temporal operators over its state, keys of
//! successful calls, and times of settled calls.

use super::*;

/// A past-time temporal operator over state, stepped after each settled call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Monitor {
    /// The temporal operator.
    pub op: TemporalOp,
    /// The operand; the left operand of `since`.
    pub of: Expr,
    /// The right operand of `since`.
    pub trigger: Option<Expr>,
}

/// Past-time temporal operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum TemporalOp {
    /// The operand is true now or was true at some earlier step.
    Once,
    /// The operand is true now and was true at every earlier step.
    Historically,
    /// The operand was true at the previous step; false at the first step.
    Previous,
    /// `p since q`: q was true at some step up to now, and p at every later step.
    Since,
}

/// A memory of the argument values with which a tool has succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SuccessIndex {
    /// The tool.
    pub tool: ToolId,
    /// The parameters that form the key, ascending.
    pub params: Vec<u32>,
}

/// A memory of the times at which a tool's calls were settled, for counts of recent calls.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// The tool.
    pub tool: ToolId,
    /// True if failures are counted rather than successes.
    pub failures: bool,
    /// The size of the window.
    pub size: WindowSize,
}

/// The size of a window over the settled calls of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum WindowSize {
    /// The calls that were settled at most this many milliseconds ago.
    Within(Millis),
    /// The calls of this tool among this many most recently settled calls of any tool; 1 to
    /// [`MAX_LAST_CALLS`].
    Last(u32),
}

/// The maximum N of `within last N calls`.
pub const MAX_LAST_CALLS: u32 = 1_000;

impl WindowSize {
    /// Returns true if every call in this window is also in the other one, in every session.
    pub fn is_within(self, other: WindowSize) -> bool {
        match (self, other) {
            (WindowSize::Within(age), WindowSize::Within(other)) => age <= other,
            (WindowSize::Last(count), WindowSize::Last(other)) => count <= other,
            _ => false,
        }
    }
}
