//! Errors in the host's requests. A refusal is a verdict, not an error.

use guard_plan::decode::DecodeProblem;
use guard_plan::path::PathError;
use guard_plan::render;
use std::fmt;

/// The reason why no kernel can be built from a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelError {
    /// A regular expression does not compile or is too large: the expression and the reason.
    Regex(String, String),
    /// The initial state has no value, or violates a proved invariant.
    State(String),
    /// A proof of the plan does not hold: which proof, and the reason.
    Proof(String),
    /// The full plan belongs to a different guard: the difference.
    Shadow(String),
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KernelError::Regex(pattern, why) => write!(f, "the expression /{pattern}/: {why}"),
            KernelError::State(why) | KernelError::Proof(why) => f.write_str(why),
            KernelError::Shadow(what) => {
                write!(f, "the full plan is one of another guard: they differ in {what}")
            }
        }
    }
}

impl std::error::Error for KernelError {}

/// The reason why a session cannot be restored from its memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecallError {
    /// The bytes are not a session memory: the reason.
    Bytes(String),
    /// The memory belongs to a session of another plan: the part that does not fit.
    Misfit(&'static str),
    /// The state violates a proved invariant of the plan.
    Unsound(String),
}

impl fmt::Display for RecallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecallError::Bytes(why) => {
                write!(f, "what the session remembered cannot be read: {why}")
            }
            RecallError::Misfit(what) => {
                write!(f, "what the session remembered does not fit the plan: {what}")
            }
            RecallError::Unsound(why) => write!(f, "the state is not sound: {why}"),
        }
    }
}

impl std::error::Error for RecallError {}

/// The reason why a session cannot continue under another plan. The session is unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpgradeError {
    /// A call is in flight that the new plan cannot settle.
    InFlight {
        /// The id of the call.
        call: String,
        /// The tool of the call.
        tool: String,
        /// The property of the tool that prevents the settlement.
        why: &'static str,
    },
    /// The state of the session does not fit the new plan.
    Unsound(RecallError),
    /// A part of the state has another form in the new plan.
    Other(String),
}

impl fmt::Display for UpgradeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UpgradeError::InFlight { call, tool, why } => {
                write!(
                    f,
                    "the call `{call}` is in flight, and its tool `{tool}` has {why}: settle it first"
                )
            }
            UpgradeError::Unsound(error) => error.fmt(f),
            UpgradeError::Other(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for UpgradeError {}

/// The reason why an event cannot be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepError {
    /// The workspace is not a valid path.
    Workspace(PathError),
    /// A state variable has no initial value: its name and the reason.
    InitialState(String, String),
    /// A call with this id is in flight.
    CallInFlight(String),
    /// No call with this id is in flight.
    NoSuchCall(String),
    /// The guard declares no such tool.
    UnknownTool(String),
    /// The arguments do not fit the tool.
    InvalidArguments(Vec<DecodeProblem>),
    /// The guard has no such unit, or the host does not charge this unit.
    NotHostCharged(String),
    /// An amount is negative.
    NegativeAmount(i64),
    /// The session is not halted.
    NotHalted,
    /// The role has no valid approval of this call. Contains the tool and the role.
    NotApproved(String, String),
    /// The name of the person is missing. Contains the action.
    Nobody(&'static str),
    /// No lifecycle has an item with this id.
    UnknownItem(String),
    /// The harness cannot make this transition: the reason.
    NoTransition(String),
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepError::Workspace(error) => write!(f, "the workspace: {error}"),
            StepError::InitialState(name, why) => write!(f, "the initial value of `{name}`: {why}"),
            StepError::CallInFlight(call) => write!(f, "the call `{call}` is in flight"),
            StepError::NoSuchCall(call) => write!(f, "no call `{call}` is in flight"),
            StepError::UnknownTool(tool) => write!(f, "the guard declares no tool `{tool}`"),
            StepError::InvalidArguments(problems) => {
                f.write_str("the arguments are not valid")?;
                problems.iter().try_for_each(|problem| write!(f, "; {problem}"))
            }
            StepError::NotHostCharged(unit) => write!(f, "`{unit}` is not charged by the host"),
            StepError::NegativeAmount(_) => f.write_str("an amount is negative"),
            StepError::NotHalted => f.write_str("the session is not halted"),
            StepError::NotApproved(tool, role) => {
                let tool = render::cut(tool, 100);
                let role = render::cut(role, 100);
                write!(f, "there is no unused approval of this call of `{tool}` by `{role}`")
            }
            StepError::Nobody(what) => {
                write!(f, "the person who {what} is not named: give a name in `by`")
            }
            StepError::UnknownItem(item) => {
                write!(f, "there is no item `{}`", render::cut(item, 100))
            }
            StepError::NoTransition(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for StepError {}
