//! The report of a drive: what a reasoner chose round by round, what became of it, and why it ended.

use crate::advice::Decimal;
use crate::json::Json;
use crate::plan::Millis;
use crate::verdict::{Decision, Reason};
use serde::{Deserialize, Serialize};

/// A drive that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriveReport {
    /// Its rounds, in order.
    pub rounds: Vec<Round>,
    /// Why it ended.
    pub end: End,
    /// It stopped although something was missing (semantics §12).
    pub incomplete: bool,
    /// The mean of the goals' progress at the end; none without goals.
    pub progress: Option<Decimal>,
    /// What the session has spent, by unit.
    pub spent: Vec<Spent>,
}

/// The amount that a session has spent of a unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spent {
    /// The unit.
    pub unit: String,
    /// How much.
    pub amount: Decimal,
}

/// The reason why a drive ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Every goal is reached.
    GoalReached,
    /// No action can be afforded any more.
    BudgetExhausted,
    /// The deadline has passed.
    Deadline,
    /// The session is halted.
    Halted,
    /// The reasoner asked to stop, and might.
    Stopped,
    /// Too many rounds brought nothing new.
    Stuck,
    /// Too many calls failed one after another.
    Failures,
    /// Too many choices were invalid one after another.
    InvalidChoices,
    /// As many rounds as there may be.
    StepLimit,
    /// The kernel did not take an event; why.
    Error(String),
}

/// One round: a choice and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Round {
    /// Its number, from 1.
    pub number: u64,
    /// When it began, RFC 3339.
    pub time: String,
    /// The action that the reasoner named, if it named one; cut.
    pub choice: Option<String>,
    /// Why it chose so, in its own words; cut.
    pub reasoning: String,
    /// Why the choice was not taken; none where it was.
    pub invalid: Option<String>,
    /// What was proposed in the end, if anything was.
    pub proposed: Option<AttemptedCall>,
    /// What became of it.
    pub outcome: RoundOutcome,
    /// The mean of the goals' progress when the round began.
    pub progress: Option<Decimal>,
}

/// A call that was put to the kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttemptedCall {
    /// Its id.
    pub call: String,
    /// The tool's wire name.
    pub tool: String,
    /// The arguments, secrets hidden; cut to a string where they are long.
    pub args: Json,
    /// It is not the choice of the reasoner but what was done in its place.
    pub fallback: bool,
    /// What the advice said it is worth, if it judged this call.
    pub value: Option<Decimal>,
    /// What the kernel said.
    pub decision: Decision,
    /// Why.
    pub reasons: Vec<Reason>,
}

/// The outcome of one round of a drive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RoundOutcome {
    /// The call succeeded.
    Succeeded,
    /// The call failed; what the tool said, cut.
    Failed(String),
    /// The kernel did not allow it, and there was nothing else to do.
    Refused,
    /// Nobody approved it.
    NotApproved,
    /// Something was not ready; until when the drive waited, milliseconds since 1970.
    Waited(Millis),
    /// The reasoner wanted to stop, and might not; what is missing.
    StopBlocked(String),
    /// The reasoner wanted to stop, and might.
    Stopped,
    /// There was nothing to do.
    Nothing,
}
