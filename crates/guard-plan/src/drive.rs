//! The report of a drive: the reasoner's choice in each round, its outcome, and the reason for the
//! end.

use crate::advice::Decimal;
use crate::json::Json;
use crate::plan::Millis;
use crate::verdict::{Decision, Reason};
use serde::{Deserialize, Serialize};

/// A drive that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriveReport {
    /// The rounds, in order.
    pub rounds: Vec<Round>,
    /// The reason for the end.
    pub end: End,
    /// True if the drive stopped although something was missing (semantics §12).
    pub incomplete: bool,
    /// The mean of the goals' progress at the end; none without goals.
    pub progress: Option<Decimal>,
    /// The amounts that the session has spent, by unit.
    pub spent: Vec<Spent>,
}

/// The amount that a session has spent of a unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spent {
    /// The name of the unit.
    pub unit: String,
    /// The amount.
    pub amount: Decimal,
}

/// The reason why a drive ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Every goal is reached.
    GoalReached,
    /// No remaining action can be afforded.
    BudgetExhausted,
    /// The deadline has passed.
    Deadline,
    /// The session is halted.
    Halted,
    /// The reasoner asked to stop, and the stop was allowed.
    Stopped,
    /// Too many rounds made no progress.
    Stuck,
    /// Too many calls failed one after another.
    Failures,
    /// Too many choices were invalid one after another.
    InvalidChoices,
    /// The maximum number of rounds was reached.
    StepLimit,
    /// The kernel did not accept an event. Contains the reason.
    Error(String),
}

/// One round: a choice and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Round {
    /// The number of the round, from 1.
    pub number: u64,
    /// The time at which the round began, in RFC 3339.
    pub time: String,
    /// The action that the reasoner named, if it named one; truncated.
    pub choice: Option<String>,
    /// The reasoner's reasons for the choice, in its own words; truncated.
    pub reasoning: String,
    /// The reason why the choice was not accepted; none if it was.
    pub invalid: Option<String>,
    /// The call that was proposed in the end, if there was one.
    pub proposed: Option<AttemptedCall>,
    /// The outcome of the round.
    pub outcome: RoundOutcome,
    /// The mean of the goals' progress when the round began.
    pub progress: Option<Decimal>,
}

/// A call that was proposed to the kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttemptedCall {
    /// The id of the call.
    pub call: String,
    /// The tool's wire name.
    pub tool: String,
    /// The arguments, with secrets hidden. Long arguments are truncated and become a string.
    pub args: Json,
    /// True if the call is a fallback that replaced the reasoner's choice.
    pub fallback: bool,
    /// The value of the call in the advice, if the advice judged this call.
    pub value: Option<Decimal>,
    /// The decision of the kernel.
    pub decision: Decision,
    /// The reasons of the decision.
    pub reasons: Vec<Reason>,
}

/// The outcome of one round of a drive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RoundOutcome {
    /// The call succeeded.
    Succeeded,
    /// The call failed. Contains the message of the tool, truncated.
    Failed(String),
    /// The kernel did not allow the call, and no fallback was possible.
    Refused,
    /// Nobody approved it.
    NotApproved,
    /// Something was not ready. Contains the time until which the drive waited, in milliseconds
    /// since 1970.
    Waited(Millis),
    /// The reasoner wanted to stop, and the stop was blocked. Contains the missing conditions.
    StopBlocked(String),
    /// The reasoner wanted to stop, and the stop was allowed.
    Stopped,
    /// No action was possible.
    Nothing,
}
