//! The plan: a checked guard as flat data.
//!
//! The plan contains everything that a kernel needs to decide, and nothing else. No type here is
//! recursive: expressions are arrays of nodes in which children precede parents, and types are rows
//! of a table, so that hostile bytes can neither overflow a stack nor cause a loop. The plan keeps
//! only names that a verdict mentions. Source positions are stored beside the plan (`Sources`),
//! because moving a declaration changes no meaning and must not change the hash.

mod children;
mod contract;
mod expr;
mod forms;
mod proof;
mod result;
mod session;
mod tool;

pub use contract::*;
pub use expr::*;
pub use forms::*;
pub use proof::*;
pub use result::*;
pub use session::*;
pub use tool::*;

use crate::builtin::Builtin;
use serde::{Deserialize, Serialize};

/// Index into [`Plan::types`].
pub type TypeId = u32;
/// Index into [`Plan::state`].
pub type VarId = u32;
/// Index into [`Plan::tools`].
pub type ToolId = u32;
/// Index into [`Plan::units`].
pub type UnitId = u32;
/// Index into [`Plan::limits`].
pub type LimitId = u32;
/// Index into [`Plan::invariants`].
pub type InvariantId = u32;
/// Index into [`Plan::indexes`].
pub type IndexId = u32;
/// Index into [`Plan::windows`].
pub type WindowId = u32;
/// Index into [`Plan::monitors`].
pub type MonitorId = u32;
/// Index into [`Plan::facts`].
pub type FactId = u32;
/// Index into [`Plan::probes`].
pub type ProbeId = u32;
/// Index into [`Plan::commands`].
pub type CommandId = u32;
/// Index into [`Plan::lifecycles`].
pub type LifecycleId = u32;
/// Index into [`Plan::attests`].
pub type AttestId = u32;
/// Index into [`Plan::contracts`].
pub type ContractId = u32;
/// Index into [`Plan::feedback`].
pub type ProviderId = u32;
/// Index into [`Plan::regexes`].
pub type RegexId = u32;
/// Index into [`Plan::paths`].
pub type PathId = u32;
/// Index into the nodes of the same [`Expr`].
pub type NodeId = u32;
/// Index into [`Sources::spans`].
pub type SpanId = u32;
/// A number of milliseconds.
pub type Millis = i64;

/// A compiled guard (language reference §11).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The language edition in which the guard was written.
    pub edition: u32,
    /// The name of the guard.
    pub guard: String,
    /// True in shadow mode: nothing is refused, and calls that would be refused are recorded.
    pub shadow: bool,
    /// True if undeclared tools are allowed.
    pub default_allow: bool,
    /// The maximum length of a session, in milliseconds.
    pub deadline: Option<Millis>,
    /// The types. A row refers only to earlier rows.
    pub types: Vec<TypeDef>,
    /// The state variables, sorted by name.
    pub state: Vec<StateVar>,
    /// The units that can be spent, sorted by name. `calls` is always present.
    pub units: Vec<Unit>,
    /// The counters of allowed calls.
    pub limits: Vec<Limit>,
    /// The regular expressions, in the syntax of the `regex` crate.
    pub regexes: Vec<String>,
    /// The path literals, as written.
    pub paths: Vec<String>,
    /// The invariants, sorted by name.
    pub invariants: Vec<Invariant>,
    /// The past-time temporal operators. A monitor refers only to earlier monitors.
    pub monitors: Vec<Monitor>,
    /// The keyed memories of successful calls.
    pub indexes: Vec<SuccessIndex>,
    /// The memories of the times of settled calls.
    pub windows: Vec<Window>,
    /// The facts: relations that are filled from trusted input, sorted by name.
    pub facts: Vec<Fact>,
    /// All commands that may ever be run, sorted by their words.
    pub commands: Vec<Command>,
    /// The probes: questions to the environment, sorted by name.
    pub probes: Vec<Probe>,
    /// The facts that are learned from the host's own input, sorted by kind.
    pub sources: Vec<Source>,
    /// True if some rule asks for the origin of a value.
    pub origins: bool,
    /// True if some rule asks whether the user mentioned something: a session then keeps the words
    /// of its prompts.
    pub mentions: bool,
    /// True if some rule asks who may read a text: a session then keeps private texts.
    pub confidential: bool,
    /// The lifecycles of items with stable ids, sorted by name.
    pub lifecycles: Vec<Lifecycle>,
    /// The feedback providers, sorted by name.
    pub feedback: Vec<Feedback>,
    /// The attests, each of which combines several dimensions in one verdict, sorted by name.
    pub attests: Vec<Attest>,
    /// The conditions under which the agent may stop.
    pub completion: Option<Completion>,
    /// The goals that progress is measured against, sorted by name.
    pub goals: Vec<Goal>,
    /// The fields that are also accepted in other forms, sorted by record and field.
    pub coercions: Vec<Coercion>,
    /// The contracts for the output of a producer, sorted by name.
    pub contracts: Vec<Contract>,
    /// The tools, sorted by name.
    pub tools: Vec<Tool>,
    /// The claims that need no check when a call is decided, sorted by claim.
    pub proofs: Vec<Proof>,
}

/// One type with its refinements (language reference §4).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum TypeDef {
    /// `bool`.
    Bool,
    /// `int in min..=max`.
    Int {
        /// The minimum value.
        min: Option<i64>,
        /// The maximum value.
        max: Option<i64>,
    },
    /// `decimal in min..=max`, in units of 10⁻⁶.
    Decimal {
        /// The minimum value.
        min: Option<i64>,
        /// The maximum value.
        max: Option<i64>,
    },
    /// `string max N matches /re/`.
    String {
        /// The maximum number of characters.
        max_chars: Option<u64>,
        /// The maximum number of bytes.
        max_bytes: Option<u64>,
        /// The patterns. Each of them must match somewhere in the string.
        patterns: Vec<RegexId>,
    },
    /// `path`.
    Path,
    /// `url`.
    Url,
    /// `duration in min..=max`.
    Duration {
        /// The minimum value.
        min: Option<Millis>,
        /// The maximum value.
        max: Option<Millis>,
    },
    /// `time`, in RFC 3339 unless a format (a subset of `%Y-%m-%d %H:%M:%S`) is given.
    Time {
        /// The format.
        format: Option<String>,
    },
    /// An enum.
    Enum {
        /// The name of the enum.
        name: String,
        /// The names of the variants. A value is an index.
        variants: Vec<String>,
    },
    /// A record.
    Record {
        /// The name of the record.
        name: String,
        /// The fields of the record.
        fields: Vec<Field>,
    },
    /// One of several records, distinguished by a member with a literal text; only in contracts.
    Union {
        /// The name of the union.
        name: String,
        /// The member that distinguishes the cases.
        tag: String,
        /// The cases of the union.
        cases: Vec<UnionCase>,
    },
    /// `list<T> max N`.
    List {
        /// The element type.
        of: TypeId,
        /// The maximum number of elements.
        max: Option<u64>,
    },
    /// `set<T> max N`.
    Set {
        /// The element type.
        of: TypeId,
        /// The maximum number of elements.
        max: Option<u64>,
    },
    /// `map<K, T> max N`.
    Map {
        /// The type of the keys, if they are not strings: `bool`, `int` or an enum. A value stores
        /// its keys as texts.
        key: Option<TypeId>,
        /// The type of the values.
        of: TypeId,
        /// The maximum number of entries.
        max: Option<u64>,
    },
    /// `T?`.
    Option {
        /// The type of the value if it is present; never an option itself.
        of: TypeId,
    },
    /// `json`: passed through and measured.
    Json,
    /// `command`: a text that a shell runs.
    Command,
}

/// A case of a union.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UnionCase {
    /// The literal text of the tag member.
    pub tag: String,
    /// The record with the other members.
    pub ty: TypeId,
}

/// A parameter, a record field or a fact column.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// The name in JSON.
    pub name: String,
    /// The type.
    pub ty: TypeId,
    /// True if the value is secret and never leaves the kernel in clear text.
    pub secret: bool,
    /// The `///` text.
    pub doc: String,
}

/// A state variable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StateVar {
    /// The name of the variable.
    pub name: String,
    /// The type of the variable. Its refinement is an invariant.
    pub ty: TypeId,
    /// The constant value when a session begins.
    pub init: Expr,
}

/// A unit that can be spent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// The name of the unit.
    pub name: String,
    /// The budget in units of 10⁻⁶; none if the unit is only counted.
    pub budget: Option<i64>,
    /// True if the host's reports charge the unit, rather than calls.
    pub host_charged: bool,
    /// The source position of the budget's declaration.
    pub span: SpanId,
}

/// A counter of allowed calls, shared by every tool that refers to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The rule that declares it.
    pub rule: RuleMeta,
    /// The number of allowed calls.
    pub count: u32,
    /// True if failed calls do not count.
    pub success: bool,
    /// The scope of the count.
    pub scope: LimitScope,
    /// True if there is a separate count for each key.
    pub keyed: bool,
    /// The role that approves calls over the limit. Without a role they are refused.
    pub ask: Option<String>,
}

/// The scope of a limit: the calls that it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum LimitScope {
    /// The calls that were allowed less than this many milliseconds ago.
    Window(Millis),
    /// The calls of the whole session.
    Session,
    /// The calls that are not settled.
    InFlight,
    /// The calls of the whole session with the same canonical arguments.
    Identical,
}

/// The effect of a result that does not decode on the variables that the tool observes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Undecoded {
    /// The variables keep their values.
    Keep,
    /// The variables are cleared. If one of them cannot be cleared, the session halts.
    #[default]
    Clear,
    /// The session halts.
    Halt,
}

/// The origin of a rule: its owner, its documentation and its position in the source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleMeta {
    /// The tool, policy or invariant that declares it.
    pub owner: String,
    /// The `///` text.
    pub doc: String,
    /// True if the rule is in shadow mode: evaluated and recorded, without effect.
    pub shadow: bool,
    /// The source position of the rule.
    pub span: SpanId,
}

/// An invariant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Invariant {
    /// The origin of the invariant. The owner is the invariant's name.
    pub rule: RuleMeta,
    /// True if the invariant is only reported.
    pub monitor: bool,
    /// The condition on the state.
    pub condition: Expr,
    /// The condition as text.
    pub text: String,
    /// The reason from the source.
    pub because: Option<Message>,
    /// The values to show when the invariant breaks.
    pub shows: Vec<Show>,
    /// The variables that the condition reads, ascending.
    pub reads: Vec<VarId>,
}

/// A past-time temporal operator over state, stepped after each settled call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Monitor {
    /// The temporal operator.
    pub op: TemporalOp,
    /// The operand; the left operand of `since`.
    pub of: Expr,
    /// The right operand of `since`.
    pub trigger: Option<Expr>,
}

/// Past-time temporal operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum TemporalOp {
    /// The operand is true now or was true at some earlier step.
    Once,
    /// The operand is true now and was true at every earlier step.
    Historically,
    /// The operand was true at the previous step; false at the first step.
    Previous,
    /// `p since q`: q was true at some step up to now, and p at every later step.
    Since,
}

/// A memory of the argument values with which a tool has succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SuccessIndex {
    /// The tool.
    pub tool: ToolId,
    /// The parameters that form the key, ascending.
    pub params: Vec<u32>,
}

/// A memory of the times at which a tool's calls were settled, for counts of recent calls.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// The tool.
    pub tool: ToolId,
    /// True if failures are counted rather than successes.
    pub failures: bool,
    /// The size of the window.
    pub size: WindowSize,
}

/// The size of a window over the settled calls of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum WindowSize {
    /// The calls that were settled at most this many milliseconds ago.
    Within(Millis),
    /// The calls of this tool among this many most recently settled calls of any tool; 1 to
    /// [`MAX_LAST_CALLS`].
    Last(u32),
}

/// The maximum N of `within last N calls`.
pub const MAX_LAST_CALLS: u32 = 1_000;

impl WindowSize {
    /// Returns true if every call in this window is also in the other one, in every session.
    pub fn is_within(self, other: WindowSize) -> bool {
        match (self, other) {
            (WindowSize::Within(age), WindowSize::Within(other)) => age <= other,
            (WindowSize::Last(count), WindowSize::Last(other)) => count <= other,
            _ => false,
        }
    }
}

/// A relation that is filled from trusted input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// The name of the fact.
    pub name: String,
    /// The table type of one row: a record of all columns.
    pub row: TypeId,
    /// The number of leading columns that form the key; all of them if none was marked.
    pub keys: u32,
    /// The maximum number of rows.
    pub max: u64,
    /// True if a further row is not learned and halts the session when the fact is full. Otherwise
    /// the oldest row is removed.
    pub halts: bool,
}

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
