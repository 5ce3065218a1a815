//! Advice: every action that a session could take next, judged and ranked.
//!
//! This module has the serialized form, the formula of the value, and the text. The kernel crates
//! compute the numbers. `docs/reference/advice.md` defines them.

mod text;

use crate::decimal;
use crate::json::Json;
use crate::plan::{Millis, Risk};
use crate::verdict::Code;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An exact decimal in units of 10⁻⁶; a number in JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal(pub i64);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&decimal::format(self.0))
    }
}

impl Serialize for Decimal {
    /// Supports only `serde_json`, like [`Json`].
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Json::number(&self.to_string()).unwrap_or(Json::Null).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let units = match Json::deserialize(deserializer)? {
            Json::Int(number) => number.checked_mul(crate::value::DECIMAL_ONE),
            Json::Number(text) => decimal::parse(&text),
            _ => None,
        };
        units.map(Decimal).ok_or_else(|| serde::de::Error::custom("no decimal of six places"))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Decimal {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Decimal".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "number", "description": "Exact, of six places." })
    }
}

/// Advice for a session: its possible next actions, with the goals, state and budgets that they are
/// judged by (semantics §13).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Advice {
    /// The guard's name.
    pub guard: String,
    /// The reason why the session is halted and denies everything, if it is.
    pub halted: Option<String>,
    /// The goals, sorted by name.
    pub goals: Vec<GoalView>,
    /// The mean of the goals' progress, 0 to 1; none without goals.
    pub progress: Option<Decimal>,
    /// The state variables, with secrets hidden and long values truncated. Variables that goals
    /// read come first; each group is sorted by name.
    pub state: Vec<Shown>,
    /// The number of state variables that are not listed.
    pub state_more: u64,
    /// The budgets, sorted by name. Units without a budget are not included.
    pub budgets: Vec<BudgetView>,
    /// The deadline, if there is one.
    pub deadline: Option<DeadlineView>,
    /// The tools that were called, most recent first; at most ten.
    pub recent: Vec<Recent>,
    /// The actions, one per tool: the most valuable first, then by name.
    pub actions: Vec<Action>,
}

/// The progress of a goal, and its conditions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoalView {
    /// The name of the goal.
    pub name: String,
    /// The `///` text of the goal.
    pub doc: String,
    /// The fraction of the goal's conditions that are true, 0 to 1.
    pub progress: Decimal,
    /// The conditions as text, each with true if it holds.
    pub conditions: Vec<(String, bool)>,
}

/// A state variable and its value, unless the value is secret or too long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shown {
    /// The name of the variable.
    pub name: String,
    /// The value: a number, a boolean, `null`, or any other value rendered as text.
    pub value: Json,
}

/// A budget: its total, the amount spent and the remainder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BudgetView {
    /// The name of the unit.
    pub unit: String,
    /// The total budget.
    pub budget: Decimal,
    /// The amount spent.
    pub spent: Decimal,
    /// The amount that remains; never negative.
    pub remaining: Decimal,
}

/// The session's deadline, and the time that remains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeadlineView {
    /// The maximum length of the session, in milliseconds.
    pub total: Millis,
    /// The remaining time, in milliseconds; never negative.
    pub remaining: Millis,
}

/// A tool that was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recent {
    /// The name of the tool in the guard.
    pub tool: String,
    /// The number of successful calls.
    pub succeeded: u64,
    /// The number of failed calls.
    pub failed: u64,
    /// True if the last call succeeded.
    pub success: bool,
    /// The time since the last call, in milliseconds.
    pub ago: Millis,
}

/// The status of a suggested action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The kernel would allow the call. If the arguments are not known, only they can prevent it.
    Ready,
    /// A person must approve the call.
    Ask,
    /// A call in flight must be settled first.
    Wait,
    /// The kernel would deny the call. If the arguments are not known, it would deny the call with
    /// any arguments.
    Blocked,
}

impl Status {
    /// Returns the name of the status in the text.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Ready => "READY",
            Status::Ask => "ASK",
            Status::Wait => "WAIT",
            Status::Blocked => "BLOCKED",
        }
    }
}

/// One condition that an action waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Need {
    /// The kind of reason.
    pub code: Code,
    /// The tools to call, in this order; or the role, probe or tool that the action waits for.
    pub names: Vec<String>,
    /// The condition as text: `lint, then build`, `approval of human`.
    pub text: String,
}

/// An action, with its value, status, cost and risk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Action {
    /// The name of the tool in the guard.
    pub tool: String,
    /// The name of the tool that the harness uses.
    pub wire_name: String,
    /// The title of the tool for people.
    pub title: Option<String>,
    /// The arguments with which the action was judged; none if the reasoner must choose them.
    pub args: Option<Json>,
    /// The parameters of the action.
    pub params: Vec<Param>,
    /// The status of the action.
    pub status: Status,
    /// The conditions that the action waits for, if it is not ready.
    pub needs: Vec<Need>,
    /// The value by which actions are ranked: [`Terms::value`].
    pub value: Decimal,
    /// The terms of the value.
    pub terms: Terms,
    /// The belief in the success of the action.
    pub belief: Belief,
    /// The cost of the action.
    pub cost: Vec<Price>,
    /// The declared risk level.
    pub risk: Risk,
    /// True if the action cannot be undone.
    pub irreversible: bool,
}

/// A parameter of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Param {
    /// The name of the parameter.
    pub name: String,
    /// The type of the parameter as text.
    #[serde(rename = "type")]
    pub ty: String,
}

/// The five terms of a value, each 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Terms {
    /// The expected progress towards the goals.
    pub progress: Decimal,
    /// The information that is gained by trying the action.
    pub info: Decimal,
    /// The cost as a fraction of the remaining budget.
    pub cost_ratio: Decimal,
    /// The danger of the action, and how close it comes to breaking an invariant.
    pub risk: Decimal,
    /// The actions that can no longer be afforded after this one.
    pub opportunity: Decimal,
}

/// The weights of the terms in hundredths, in the order of the fields.
pub const WEIGHTS: [i64; 5] = [50, 15, -10, -15, -10];

impl Terms {
    /// Returns the weighted sum of the terms, rounded half to even at six places.
    pub fn value(&self) -> Decimal {
        let terms = [self.progress, self.info, self.cost_ratio, self.risk, self.opportunity];
        let sum: i64 = WEIGHTS.iter().zip(terms).map(|(weight, term)| weight * term.0).sum();
        Decimal(decimal::divide(sum, 100 * crate::value::DECIMAL_ONE).unwrap_or_default())
    }
}

/// A Beta distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Belief {
    /// The number of successes, including those of the prior.
    pub alpha: Decimal,
    /// The number of failures, including those of the prior.
    pub beta: Decimal,
    /// The expected probability of success, α / (α + β).
    pub mean: Decimal,
}

/// The price of an action in one unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Price {
    /// The name of the unit.
    pub unit: String,
    /// The amount.
    pub amount: Decimal,
    /// True if the price may be higher, because a part of it depends on the arguments.
    pub at_least: bool,
}

impl Advice {
    /// Returns the most valuable action that is ready and whose arguments are known; `None` if no
    /// action is better than doing nothing.
    pub fn best(&self) -> Option<&Action> {
        let ready = |action: &&Action| action.status == Status::Ready && action.args.is_some();
        self.actions.iter().find(ready).filter(|action| action.value > Decimal(0))
    }

    /// Returns true if every goal is reached; false without goals.
    pub fn reached(&self) -> bool {
        self.progress.is_some() && self.goals.iter().flat_map(|goal| &goal.conditions).all(|c| c.1)
    }

    /// Returns the advice as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_sums_that_anybody_can_repeat() {
        let check = |terms: [i64; 5], expected: &str| {
            let [progress, info, cost_ratio, risk, opportunity] = terms.map(Decimal);
            let terms = Terms { progress, info, cost_ratio, risk, opportunity };
            assert_eq!(terms.value().to_string(), expected);
        };
        check([0; 5], "0");
        check([1_000_000; 5], "0.3");
        check([1_000_000, 1_000_000, 0, 0, 0], "0.65");
        check([0, 0, 1_000_000, 1_000_000, 1_000_000], "-0.35");
        check([1, 0, 0, 0, 0], "0");
        check([3, 0, 0, 0, 0], "0.000002");
    }

    #[test]
    fn decimals_are_numbers_in_json() {
        for (units, text) in [(0, "0"), (1_500_000, "1.5"), (-1, "-0.000001")] {
            assert_eq!(serde_json::to_string(&Decimal(units)).unwrap(), text);
            assert_eq!(serde_json::from_str::<Decimal>(text).unwrap(), Decimal(units));
        }
        assert!(serde_json::from_str::<Decimal>("0.0000001").is_err());
        assert!(serde_json::from_str::<Decimal>("\"1\"").is_err());
    }
}
