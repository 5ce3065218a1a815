//! Errors of the host: what it asked makes no sense. A refusal is a verdict, never one of these.

use guard_plan::decode::Problem;
use guard_plan::path::PathError;
use std::fmt;

/// Why no kernel can be made of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelError {
    /// A regular expression does not compile, or is too large; the expression and why.
    Regex(String, String),
    /// The initial state has no value, or breaks what is proved.
    State(String),
    /// A proof of the plan does not stand; which, and why.
    Proof(String),
    /// The full plan is not one of the same guard; what differs.
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

/// Why a session cannot go on from what it remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecallError {
    /// The bytes are no memory; says why.
    Bytes(String),
    /// They are the memory of a session of another plan; names what does not fit.
    Misfit(&'static str),
    /// What is proved of the plan does not hold in its state.
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

/// Why an event cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepError {
    /// The workspace is no path.
    Workspace(PathError),
    /// A state variable has no initial value; its name and why.
    InitialState(String, String),
    /// A call with this id is in flight.
    CallInFlight(String),
    /// No call with this id is in flight.
    NoSuchCall(String),
    /// The guard declares no such tool.
    UnknownTool(String),
    /// The arguments are not those of the tool.
    InvalidArguments(Vec<Problem>),
    /// The guard has no such unit, or the host does not charge it.
    NotHostCharged(String),
    /// An amount is negative.
    NegativeAmount(i64),
    /// The session is not halted.
    NotHalted,
    /// Nobody is named who does it; says what.
    Nobody(&'static str),
    /// No lifecycle has an item with this id.
    UnknownItem(String),
    /// The harness cannot do this to the item; says why.
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
            StepError::Nobody(what) => {
                write!(f, "nobody is named who {what}: give a name in `by`")
            }
            StepError::UnknownItem(item) => {
                write!(f, "there is no item `{}`", guard_plan::render::cut(item, 100))
            }
            StepError::NoTransition(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for StepError {}
