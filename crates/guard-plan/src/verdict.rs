//! Verdicts: the kernel's decisions on proposed calls, and their reasons.

use serde::{Deserialize, Serialize};

/// The decision (language reference §5). Decisions join as deny > ask > wait > allow. The enum is
/// deliberately exhaustive: a host must notice a new kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The call may run.
    Allow,
    /// An unsettled parallel call touches a resource on which this call depends. Ask again when it
    /// has settled.
    Wait,
    /// A person must approve exactly this call first.
    Ask,
    /// The call must not run.
    Deny,
}

impl Decision {
    /// Returns the decision as it is written in all output.
    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Wait => "wait",
            Decision::Ask => "ask",
            Decision::Deny => "deny",
        }
    }
}

/// Stable reason codes, in the order in which reasons are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The guard declares no such tool.
    UnknownTool,
    /// The arguments do not have the declared types.
    InvalidArguments,
    /// A required call has not succeeded.
    Requires,
    /// A `deny` rule applies.
    Denied,
    /// A `transform` requires another value of an argument.
    Transform,
    /// A limit is reached.
    Limit,
    /// A budget does not cover the cost.
    Budget,
    /// The deadline has passed.
    Deadline,
    /// The simulated state breaks an invariant or a refinement.
    Invariant,
    /// An approval is needed.
    Approval,
    /// The call is irreversible and critical, and not explicitly authorised.
    Gated,
    /// A probe reports that something is not ready.
    NotReady,
    /// A lifecycle does not permit the transition.
    Lifecycle,
    /// A value refers to something unknown.
    UnknownReference,
    /// A rule could not be evaluated.
    EvaluationError,
    /// An unsettled call may write a resource that this call reads or writes.
    Conflict,
    /// The session is halted.
    Halted,
    /// The optimized plan decided differently from the full plan (`shadow 1/N`).
    PlanMismatch,
    /// A proved invariant did not hold when it was checked again.
    BrokenProof,
}

impl Code {
    /// Every code, in order.
    pub const ALL: [Code; 19] = [
        Code::UnknownTool,
        Code::InvalidArguments,
        Code::Requires,
        Code::Denied,
        Code::Transform,
        Code::Limit,
        Code::Budget,
        Code::Deadline,
        Code::Invariant,
        Code::Approval,
        Code::Gated,
        Code::NotReady,
        Code::Lifecycle,
        Code::UnknownReference,
        Code::EvaluationError,
        Code::Conflict,
        Code::Halted,
        Code::PlanMismatch,
        Code::BrokenProof,
    ];

    /// Returns the code as written in all output.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::UnknownTool => "unknown_tool",
            Code::InvalidArguments => "invalid_arguments",
            Code::Requires => "requires",
            Code::Denied => "denied",
            Code::Transform => "transform",
            Code::Limit => "limit",
            Code::Budget => "budget",
            Code::Deadline => "deadline",
            Code::Invariant => "invariant",
            Code::Approval => "approval",
            Code::Gated => "gated",
            Code::NotReady => "not_ready",
            Code::Lifecycle => "lifecycle",
            Code::UnknownReference => "unknown_reference",
            Code::EvaluationError => "evaluation_error",
            Code::Conflict => "conflict",
            Code::Halted => "halted",
            Code::PlanMismatch => "plan_mismatch",
            Code::BrokenProof => "broken_proof",
        }
    }
}

/// One reason of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reason {
    /// The kind of reason.
    pub code: Code,
    /// The decision that this reason alone would give.
    pub decision: Decision,
    /// The rule's owner: a tool, policy, invariant, budget or variable.
    pub rule: String,
    /// The problem, as a message to the agent.
    pub message: String,
    /// The remedy that would make the call allowed; may be empty.
    pub help: String,
    /// `file:line:column` of the rule, if it is known.
    pub span: Option<String>,
    /// The names that are still needed, sorted: tools to call, roles to approve, calls to wait for.
    pub needs: Vec<String>,
    /// The relevant values: expression and rendering.
    pub values: Vec<(String, String)>,
}

impl Reason {
    /// Returns the message, followed by the remedy in parentheses.
    pub fn text(&self) -> String {
        match self.help.as_str() {
            "" => self.message.clone(),
            help => format!("{} ({help})", self.message),
        }
    }
}

/// The verdict of the kernel on a proposed call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// The join of the reasons' decisions; allow if there are none.
    pub decision: Decision,
    /// All reasons, ordered by code, then rule, then message.
    pub reasons: Vec<Reason>,
    /// The reasons that rules in shadow mode, and monitors, would have given; they have no effect.
    pub shadowed: Vec<Reason>,
}

impl Verdict {
    /// Returns true if the call may run.
    pub fn is_allowed(&self) -> bool {
        self.decision == Decision::Allow
    }

    /// Returns the verdict as a text for the agent: one line for each reason, with its remedy.
    pub fn message(&self) -> String {
        self.reasons.iter().map(Reason::text).collect::<Vec<_>>().join("\n")
    }
}
