//! The proofs of a plan, with certificates that need not be trusted.
//!
//! `guard-proof` defines and checks the certificates.

use super::*;

impl Plan {
    /// Returns whether a claim is listed as proved. The proofs of a runnable plan are sorted.
    pub fn claims(&self, claim: &Claim) -> bool {
        self.proofs.binary_search_by(|proof| proof.claim.cmp(claim)).is_ok()
    }
}

/// Something that needs no check when a call is decided, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// What is proved.
    pub claim: Claim,
    /// Why it is so.
    pub certificate: Certificate,
}

/// A claim that a proof may establish (semantics §15).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Claim {
    /// After the observations of any settled call of the tool, whichever of them are written, the invariant holds.
    Observed {
        /// The tool.
        tool: ToolId,
        /// The invariant.
        invariant: InvariantId,
    },
    /// The effects of a call of the tool that nothing else refuses keep this part of the invariant true.
    Preserved {
        /// The tool.
        tool: ToolId,
        /// The invariant.
        invariant: InvariantId,
        /// Which operand of its outermost `and`s, in order; 0 where there is none.
        part: u32,
    },
    /// The effects of a call of the tool that nothing else refuses leave the variable in its type.
    Refined {
        /// The tool.
        tool: ToolId,
        /// The variable.
        var: VarId,
    },
    /// The settlement of a call of the tool keeps the bound, where the bound held until then.
    Bounded {
        /// The tool.
        tool: ToolId,
        /// The bound.
        bound: SessionBound,
    },
}

impl Claim {
    /// Returns the tool concerned.
    pub fn tool(&self) -> ToolId {
        match self {
            Claim::Observed { tool, .. }
            | Claim::Preserved { tool, .. }
            | Claim::Refined { tool, .. }
            | Claim::Bounded { tool, .. } => *tool,
        }
    }
}

/// An inequality between variables and the counts of a session: `constant + Σ factor · measure ≤ 0`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionBound {
    /// The factors of its measures. Each measure stands here once.
    pub terms: Vec<(i64, SessionMeasure)>,
    /// What is added to their sum.
    pub constant: i64,
}

/// A number that a session has at every moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum SessionMeasure {
    /// The committed value of a number, in its own units; of a bool, 0 or 1.
    State(VarId),
    /// The committed number of elements of a list, set or map.
    Size(VarId),
    /// The number of calls that a limit of the session counts and that are not in flight.
    Counted(LimitId),
    /// The amount spent by calls that are not in flight, in units of 10⁻⁶.
    Spent(UnitId),
    /// 1 if a call of the tool has succeeded, else 0.
    Called(ToolId),
}

/// A refutation of the claim's negation, in preorder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The hypotheses it needs, ascending.
    pub uses: Vec<u32>,
    /// Its steps.
    pub steps: Vec<ProofStep>,
}

/// One step of a refutation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum ProofStep {
    /// One of the alternatives of this disjunction holds: what follows refutes each, in order.
    Split(u32),
    /// A sum of multiples of inequalities is one, divided by what divides all its coefficients and
    /// rounded; where it is absurd, this branch is refuted.
    Sum(Vec<(u64, Row)>),
}

/// An inequality, `… ≤ 0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Row {
    /// The variable is not below its least value.
    Least(u32),
    /// The variable is not above its greatest value.
    Greatest(u32),
    /// One that is given, assumed in this branch, or derived before; in the order in which they came.
    Known(u32),
}
