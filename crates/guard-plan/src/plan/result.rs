//! The uses of a result: observations, lessons, reconciliations, transforms, and the readers and
//! the trust of its parts.

use super::*;
use crate::builtin::Builtin;
use crate::trust::ELEMENT;
use std::fmt;

/// `observe TARGET = e`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Observe {
    /// The origin of the rule.
    pub rule: RuleMeta,
    /// The variable, or part of one, that is written.
    pub target: Target,
    /// The value, an expression over the result.
    pub value: Expr,
    /// The type to which the value is decoded if it is `json`.
    pub ty: TypeId,
    /// True if a broken invariant is only reported and does not halt the session.
    pub warn: bool,
}

/// `learn FACT(…) for … in …`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Learn {
    /// The origin of the rule.
    pub rule: RuleMeta,
    /// The fact that is taught.
    pub fact: FactId,
    /// The collections to iterate over, from the outermost. Without ranges, the clause runs once.
    /// At most [`MAX_RANGES`].
    pub ranges: Vec<Range>,
    /// The condition under which a row is learned.
    pub when: Option<Expr>,
    /// One value per column. `json` values are decoded to the column's type. A list or set in place
    /// of a single value teaches one row per element.
    pub row: Vec<Expr>,
}

/// The maximum number of rows of a fact.
pub const MAX_ROWS: u64 = 10_000_000;

/// The maximum number of collections that a clause iterates over.
pub const MAX_RANGES: usize = 4;

impl Learn {
    /// Returns all expressions, in the order of evaluation.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.ranges.iter().map(|range| &range.over).chain(&self.when).chain(&self.row)
    }
}

/// `for a, b in e` of a `learn`, `private` or `trusted`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// A list, a set or a map of typed values or of `json`. It may read the variables that earlier
    /// ranges bind.
    pub over: Expr,
    /// The bound local slots: the element, or the key (index of a list) and the element.
    pub binders: Vec<u32>,
}

/// `reconcile e [because "…"]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reconcile {
    /// The origin of the rule.
    pub rule: RuleMeta,
    /// The condition that must be true after the call.
    pub condition: Expr,
    /// The condition as text.
    pub text: String,
    /// The reason for a halt if the condition is not true.
    pub because: Option<Message>,
    /// The values to show.
    pub shows: Vec<Show>,
}

/// `transform result.a.b = e`: the value that the agent reads in place of a part of the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Transform {
    /// The origin of the rule.
    pub rule: RuleMeta,
    /// The member names on the path to the part, through the elements of lists and sets; empty for
    /// the whole result.
    pub path: Vec<String>,
    /// The value that is shown, an expression over the original result.
    pub value: Expr,
    /// The type of the value.
    pub ty: TypeId,
    /// The condition under which the part is replaced.
    pub when: Option<Expr>,
}

/// `private result.a.b to e`: a part of the result that only its readers may read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PrivatePart {
    /// The origin of the rule.
    pub rule: RuleMeta,
    /// The part.
    pub part: ResultPart,
    /// The readers: a string, or a list or set of strings, over the call and its result. If absent,
    /// nobody may read the part.
    pub to: Option<Expr>,
    /// True if the readers are computed from a secret, so that no reason names them.
    pub secret: bool,
    /// The condition under which the part is private.
    pub when: Option<Expr>,
}

/// `trusted result.a when e`: a part of the result that is trusted under a condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Endorsement {
    /// The origin of the rule.
    pub rule: RuleMeta,
    /// The part.
    pub part: ResultPart,
    /// The function whose extracted strings are trusted, in place of the whole text of the part.
    pub extractor: Option<Builtin>,
    /// The condition under which the part is trusted.
    pub when: Option<Expr>,
}

/// A part of a result, with one occurrence for each element that its ranges bind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResultPart {
    /// The member names on the path to the part, through the elements of lists and sets, with `[*]`
    /// for each element; empty for the whole result. The first `[*]` steps are the elements of the
    /// ranges.
    pub path: Vec<String>,
    /// The lists whose elements are distinguished, from the outermost. Each list is a part of the
    /// element before it.
    pub ranges: Vec<Range>,
}

impl ResultPart {
    /// The whole result.
    pub const WHOLE: ResultPart = ResultPart { path: Vec::new(), ranges: Vec::new() };

    /// Returns the paths from one element to the next, one for each range, and the path from the last element to the part.
    pub fn steps(&self) -> (Vec<&[String]>, &[String]) {
        let mut rest = self.path.as_slice();
        let mut lists = Vec::with_capacity(self.ranges.len());
        for _ in &self.ranges {
            let Some(at) = rest.iter().position(|step| step == ELEMENT) else { break };
            lists.push(&rest[..at]);
            rest = &rest[at + 1..];
        }
        (lists, rest)
    }
}

impl fmt::Display for ResultPart {
    /// Writes the part in the notation of a guard: `result.a[*].b`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("result")?;
        self.path.iter().try_for_each(|step| {
            if step == ELEMENT { f.write_str(ELEMENT) } else { write!(f, ".{step}") }
        })
    }
}
