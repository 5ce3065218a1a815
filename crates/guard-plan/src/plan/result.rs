//! The uses of a result: observations, lessons, reconciliations, transforms, and who may read and trust its parts.

use super::*;
use crate::builtin::Builtin;
use crate::trust::ELEMENT;
use std::fmt;

/// `observe TARGET = e`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Observe {
    /// Who says it.
    pub rule: RuleMeta,
    /// The place that is written.
    pub target: Target,
    /// The value, over the result.
    pub value: Expr,
    /// The type the value is decoded to where it is `json`.
    pub ty: TypeId,
    /// A broken invariant is reported rather than halting the session.
    pub warn: bool,
}

/// `learn FACT(…) for … in …`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Learn {
    /// Who says it.
    pub rule: RuleMeta,
    /// The relation.
    pub fact: FactId,
    /// The collections to iterate over, from the outermost; once where there are none. At most [`MAX_RANGES`].
    pub ranges: Vec<Range>,
    /// Only rows for which this is true.
    pub when: Option<Expr>,
    /// One value per column; `json` values are decoded to the column's type. A list or set in place of a
    /// single value teaches one row per element.
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
    /// A list, a set or a map of a typed value or of `json`; it may read what the ranges before it bind.
    pub over: Expr,
    /// The local slots bound: the element, or the key (index of a list) and the element.
    pub binders: Vec<u32>,
}

/// `reconcile e [because "…"]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reconcile {
    /// Who says it.
    pub rule: RuleMeta,
    /// The condition that must be true after the call.
    pub condition: Expr,
    /// The condition as text.
    pub text: String,
    /// Why the session halts where it is not.
    pub because: Option<Message>,
    /// The values to show.
    pub shows: Vec<Show>,
}

/// `transform result.a.b = e`: what the agent reads in the place of a part of the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Transform {
    /// Who says it.
    pub rule: RuleMeta,
    /// The members on the path to the part, through the elements of lists and sets; empty for the whole result.
    pub path: Vec<String>,
    /// The value that is shown, over the result as it came.
    pub value: Expr,
    /// The type of the value.
    pub ty: TypeId,
    /// Only when this is true.
    pub when: Option<Expr>,
}

/// `private result.a.b to e`: a part of the result that only its readers may read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PrivatePart {
    /// Who says it.
    pub rule: RuleMeta,
    /// The part.
    pub part: ResultPart,
    /// Who may read it: a string, or a list or set of strings, over the call and its result. Nobody where it is absent.
    pub to: Option<Expr>,
    /// The readers are computed from a secret: no reason names them.
    pub secret: bool,
    /// Only when this is true.
    pub when: Option<Expr>,
}

/// `trusted result.a when e`: a part of the result is trusted where a condition holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Endorsement {
    /// Who says it.
    pub rule: RuleMeta,
    /// The part.
    pub part: ResultPart,
    /// Only what this function reads in the texts of the part is trusted.
    pub extractor: Option<Builtin>,
    /// Only when this is true.
    pub when: Option<Expr>,
}

/// A part of a result, once for each element that its ranges bind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResultPart {
    /// The members on the path to the part, through the elements of lists and sets, with `[*]` for each element; empty for the
    /// whole result. The first `[*]` are the elements of the ranges.
    pub path: Vec<String>,
    /// The lists whose elements are told apart, from the outermost, each a part of the element before it.
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
    /// Writes the part as a guard may write it: `result.a[*].b`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("result")?;
        self.path.iter().try_for_each(|step| {
            if step == ELEMENT { f.write_str(ELEMENT) } else { write!(f, ".{step}") }
        })
    }
}
