//! The proofs of a plan, with certificates that need not be trusted.
//!
//! `guard-proof` defines and checks the certificates.

use super::*;

impl Plan {
    /// Returns true if a claim is listed as proved. The proofs of a runnable plan are sorted.
    pub fn claims(&self, claim: &Claim) -> bool {
        self.proofs.binary_search_by(|proof| proof.claim.cmp(claim)).is_ok()
    }
}

/// A claim that needs no check when a call is decided, with its certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// The proved claim.
    pub claim: Claim,
    /// The certificate of the proof.
    pub certificate: Certificate,
}

/// A claim that a proof may establish (semantics §15).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Claim {
    /// The invariant holds after the observations of any settled call of the tool, whichever of
    /// them are written.
    Observed {
        /// The tool.
        tool: ToolId,
        /// The invariant.
        invariant: InvariantId,
    },
    /// The effects of a call of the tool that nothing else refuses preserve this part of the
    /// invariant.
    Preserved {
        /// The tool.
        tool: ToolId,
        /// The invariant.
        invariant: InvariantId,
        /// The index of the operand of the outermost `and`s, in order; 0 if there are none.
        part: u32,
    },
    /// The effects of a call of the tool that nothing else refuses keep the variable within its
    /// type.
    Refined {
        /// The tool.
        tool: ToolId,
        /// The variable.
        var: VarId,
    },
    /// The settlement of a call of the tool preserves the bound, if the bound held before.
    Bounded {
        /// The tool.
        tool: ToolId,
        /// The bound.
        bound: SessionBound,
    },
}

impl Claim {
    /// Returns the tool that the claim is about.
    pub fn tool(&self) -> ToolId {
        match self {
            Claim::Observed { tool, .. }
            | Claim::Preserved { tool, .. }
            | Claim::Refined { tool, .. }
            | Claim::Bounded { tool, .. } => *tool,
        }
    }
}

/// An inequality between variables and counts of a session: `constant + Σ factor · measure ≤ 0`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SessionBound {
    /// The measures with their factors. Each measure occurs once.
    pub terms: Vec<(i64, SessionMeasure)>,
    /// The constant that is added to the sum.
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
    /// 1 if a call of the tool has succeeded, otherwise 0.
    Called(ToolId),
}

/// A refutation of the claim's negation, in preorder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The indexes of the hypotheses that are used, ascending.
    pub uses: Vec<u32>,
    /// The steps of the refutation.
    pub steps: Vec<ProofStep>,
}

/// One step of a refutation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum ProofStep {
    /// One of the alternatives of this disjunction holds. The following steps refute each of them,
    /// in order.
    Split(u32),
    /// A sum of multiples of inequalities is an inequality. It is divided by the common divisor of
    /// its coefficients and rounded. If it is a contradiction, this branch is refuted.
    Sum(Vec<(u64, Row)>),
}

/// An inequality of the form `… ≤ 0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Row {
    /// The variable is not below its minimum.
    Least(u32),
    /// The variable is not above its maximum.
    Greatest(u32),
    /// An inequality that is given, assumed in this branch, or derived before, by its index in the
    /// order of introduction.
    Known(u32),
}
