//! Advice: every action a session could take next, judged and ranked.
//!
//! The serialized form, the formula of the value, and the text. The kernel crates compute the
//! numbers; `docs/reference/advice.md` defines them.

mod text;

use crate::decimal;
use crate::json::Json;
use crate::plan::{Millis, Risk};
use crate::verdict::Code;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An exact decimal in units of 10⁻⁶; in JSON a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decimal(pub i64);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&decimal::format(self.0))
    }
}

impl Serialize for Decimal {
    /// Only for `serde_json`, as [`Json`] is.
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

/// Advice for a session: its possible next actions, and the goals, state and budgets behind them (semantics §13).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Advice {
    /// The guard's name.
    pub guard: String,
    /// The session denies everything; why.
    pub halted: Option<String>,
    /// Its goals, by name.
    pub goals: Vec<GoalView>,
    /// The mean of the goals' progress, 0 to 1; none without goals.
    pub progress: Option<Decimal>,
    /// State variables, secrets hidden and long values cut: those that goals read first, then by name.
    pub state: Vec<Shown>,
    /// How many more state variables there are.
    pub state_more: u64,
    /// What may be spent, by name; units without a budget are not here.
    pub budgets: Vec<BudgetView>,
    /// The deadline, where there is one.
    pub deadline: Option<DeadlineView>,
    /// Tools that were called, the latest first; at most ten.
    pub recent: Vec<Recent>,
    /// One per tool, the most valuable first, then by name.
    pub actions: Vec<Action>,
}

/// The progress of a goal, and its conditions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoalView {
    /// Its name.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// The part of its conditions that is true, 0 to 1.
    pub progress: Decimal,
    /// Its conditions as text, and whether each is true.
    pub conditions: Vec<(String, bool)>,
}

/// A state variable and its value, as far as it may and can be shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shown {
    /// Its name.
    pub name: String,
    /// Its value: a number, a truth value, `null`, or the rendering of anything else.
    pub value: Json,
}

/// A budget: its total, the amount spent and the remainder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BudgetView {
    /// The unit.
    pub unit: String,
    /// The whole.
    pub budget: Decimal,
    /// What was spent.
    pub spent: Decimal,
    /// What is left; never negative.
    pub remaining: Decimal,
}

/// The session's deadline, and the time that remains until it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeadlineView {
    /// How long the session may last, in milliseconds.
    pub total: Millis,
    /// How much of it is left; never negative.
    pub remaining: Millis,
}

/// A tool that was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recent {
    /// The tool, by its name in the guard.
    pub tool: String,
    /// How often it succeeded.
    pub succeeded: u64,
    /// How often it failed.
    pub failed: u64,
    /// Whether the last call succeeded.
    pub success: bool,
    /// How long ago that was, in milliseconds.
    pub ago: Millis,
}

/// The status of a suggested action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The kernel would allow it. Without arguments: nothing but its arguments can hold it back.
    Ready,
    /// Somebody must approve it.
    Ask,
    /// A call in flight must settle first.
    Wait,
    /// The kernel would deny it, whatever the arguments where there are none.
    Blocked,
}

impl Status {
    /// Returns its name in the text.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Ready => "READY",
            Status::Ask => "ASK",
            Status::Wait => "WAIT",
            Status::Blocked => "BLOCKED",
        }
    }
}

/// One thing that an action waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Need {
    /// The kind of reason.
    pub code: Code,
    /// The tools to call, in this order; the role, probe or tool that is waited for.
    pub names: Vec<String>,
    /// It in words: `lint, then build`, `approval of human`.
    pub text: String,
}

/// An action and what speaks for and against it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Action {
    /// The tool, by its name in the guard.
    pub tool: String,
    /// The name the harness uses.
    pub wire_name: String,
    /// The name a person reads.
    pub title: Option<String>,
    /// The arguments it was judged with; none where they are for the reasoner to choose.
    pub args: Option<Json>,
    /// What it takes.
    pub params: Vec<Param>,
    /// How it stands.
    pub status: Status,
    /// What it waits for, where it is not ready.
    pub needs: Vec<Need>,
    /// What the ranking goes by: [`Terms::value`].
    pub value: Decimal,
    /// What the value is made of.
    pub terms: Terms,
    /// The belief in its success.
    pub belief: Belief,
    /// What it costs.
    pub cost: Vec<Price>,
    /// How dangerous it is declared to be.
    pub risk: Risk,
    /// It cannot be undone.
    pub irreversible: bool,
}

/// A parameter of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its type in words.
    #[serde(rename = "type")]
    pub ty: String,
}

/// The five terms of a value, each 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Terms {
    /// How much nearer to the goals it is expected to lead.
    pub progress: Decimal,
    /// How much is learned from trying it.
    pub info: Decimal,
    /// Its cost as a part of what is left.
    pub cost_ratio: Decimal,
    /// How dangerous it is, and how near it comes to breaking an invariant.
    pub risk: Decimal,
    /// What can no longer be afforded after it.
    pub opportunity: Decimal,
}

/// The weights of the terms in hundredths, in their order.
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
    /// Successes, with those of the prior.
    pub alpha: Decimal,
    /// Failures, with those of the prior.
    pub beta: Decimal,
    /// The expected probability of success, α / (α + β).
    pub mean: Decimal,
}

/// The price of an action in one unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Price {
    /// The unit.
    pub unit: String,
    /// How much.
    pub amount: Decimal,
    /// It may be more: a part of it depends on the arguments.
    pub at_least: bool,
}

impl Advice {
    /// Returns the most valuable action that is ready and whose arguments are known; `None` if no
    /// action is better than none.
    pub fn best(&self) -> Option<&Action> {
        let ready = |action: &&Action| action.status == Status::Ready && action.args.is_some();
        self.actions.iter().find(ready).filter(|action| action.value > Decimal(0))
    }

    /// Returns whether every goal is reached; false without goals.
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
