//! Source positions of a plan's rules, and the optimizer's changes to them. They are stored beside
//! the plan.

use super::*;

/// The source positions of a plan's rules. They are stored beside the plan and are not part of its hash.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sources {
    /// The file names as given to the compiler, relative to the project, with `/`.
    pub files: Vec<String>,
    /// The positions, one for each [`SpanId`].
    pub spans: Vec<SourceSpan>,
    /// The changes that the optimizer made to rules, for explanations.
    pub rewrites: Vec<Rewrite>,
}

/// One change of the optimizer. It changes no verdict, reason or state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rewrite {
    /// The name of the tool whose rule was changed; none if the rule does not belong to a tool.
    pub tool: Option<String>,
    /// The passes that made the change, in order: `fold`, `order`.
    pub passes: Vec<String>,
    /// The rule as written.
    pub before: String,
    /// The rule that is decided instead; empty if the rule is dropped.
    pub after: String,
}

/// A range in a source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SourceSpan {
    /// Index into [`Sources::files`].
    pub file: u32,
    /// The line of the first character, from 1.
    pub line: u32,
    /// The column of the first character, from 1.
    pub column: u32,
    /// The line of the end.
    pub end_line: u32,
    /// The column after the last character.
    pub end_column: u32,
}
