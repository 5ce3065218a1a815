//! The table of pure builtin functions: name, type, evaluation, documentation, one row each.
//!
//! The compiler types calls by it, the kernel and the reference evaluator evaluate by it, the reference
//! documentation is printed from it. Functions that ask the history or the world are not here.

use crate::value::{Fault, Value};
use serde::{Deserialize, Serialize};

/// A builtin function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the table documents each")]
pub enum Builtin {
    Len,
    Min,
    Max,
    Abs,
    Lower,
    Upper,
    Trim,
    StartsWith,
    EndsWith,
    Glob,
    FileName,
    Extension,
    Parent,
    EmailDomain,
    VersionAtLeast,
    Decimal,
    Floor,
    Round,
    Emails,
    Urls,
    Hosts,
    Paths,
    Ibans,
    Phones,
    Numbers,
    Dates,
    Quoted,
    Names,
}

/// What a builtin takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `string`.
    String,
    /// `path`.
    Path,
    /// `int`.
    Int,
    /// `decimal`.
    Decimal,
    /// `int`, `decimal` or `duration`; all such arguments of a call have one type.
    Number,
    /// `int`, `decimal`, `duration` or `time`; all such arguments of a call have one type.
    Ordered,
    /// `string`, any collection, or `json`.
    Measurable,
    /// `string` or `json`.
    Text,
}

/// What a builtin gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gives {
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `decimal`.
    Decimal,
    /// `string`.
    String,
    /// `string?`.
    OptionalString,
    /// `path`.
    Path,
    /// The type of the first argument.
    Same,
    /// `list<string>`.
    Strings,
}

/// One row of the table.
pub struct Row {
    /// Which function.
    pub builtin: Builtin,
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub takes: &'static [Kind],
    /// What it gives.
    pub gives: Gives,
    /// What it does, one line.
    pub doc: &'static str,
    /// How: the arguments have the kinds of `takes`.
    pub eval: fn(&[&Value]) -> Result<Value, Fault>,
}
