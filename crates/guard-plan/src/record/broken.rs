//! The report of a wrong proof: all data that the makers of Guard need, without secrets.

use super::Change;
use serde::{Deserialize, Serialize};

/// A proved invariant, or a proved type of a variable, that did not hold when it was checked again.
/// The cause is a defect of Guard or a modified plan. The record with the report has the call, its
/// arguments and the time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BrokenProof {
    /// The invariant, or the variable whose type was proved.
    pub name: String,
    /// The condition of the invariant, as written; omitted for a type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The tool of the call, by its name in the guard; omitted if a settlement was checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// True if the invariant was false before this call: an earlier call, or an observation, broke it.
    pub already: bool,
    /// The error of the evaluation or of the type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The content hash of the plan, `sha256:…`.
    pub plan: String,
    /// The guard's name.
    pub guard: String,
    /// The session's id.
    pub session: String,
    /// The version of Guard.
    pub version: String,
    /// The number of calls that the session had admitted before.
    pub calls: u64,
    /// The variables that the invariant reads, with their values before and after; secrets are hashes.
    pub state: Vec<Change>,
}
