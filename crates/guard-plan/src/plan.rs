//! The plan: a checked guard as flat data.
//!
//! Everything a kernel needs to decide, nothing else. No type here is recursive: expressions are arrays of
//! nodes in which children precede parents, types are rows of a table, so that hostile bytes can neither
//! overflow a stack nor loop. Names are kept where a verdict speaks them. Source positions live beside
//! the plan (`Sources`), since moving a declaration changes no meaning and must change no hash.

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
/// Milliseconds.
pub type Millis = i64;

/// A compiled guard (language reference §11).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The language edition the guard was written in.
    pub edition: u32,
    /// The guard's name.
    pub guard: String,
    /// Nothing is refused; what would be is recorded.
    pub shadow: bool,
    /// Undeclared tools are allowed.
    pub default_allow: bool,
    /// How long a session may last.
    pub deadline: Option<Millis>,
    /// Types; a row refers to earlier rows only.
    pub types: Vec<TypeDef>,
    /// State variables, by name.
    pub state: Vec<StateVar>,
    /// What may be spent, by name. `calls` is always present.
    pub units: Vec<Unit>,
    /// Counters of allowed calls.
    pub limits: Vec<Limit>,
    /// Regular expressions, in `regex` syntax.
    pub regexes: Vec<String>,
    /// Path literals, as written.
    pub paths: Vec<String>,
    /// Invariants, by name.
    pub invariants: Vec<Invariant>,
    /// Past-time temporal operators; a monitor refers to earlier monitors only.
    pub monitors: Vec<Monitor>,
    /// Keyed memories of successful calls.
    pub indexes: Vec<SuccessIndex>,
    /// Memories of the times of settled calls.
    pub windows: Vec<Window>,
    /// Relations filled from trusted input, by name.
    pub facts: Vec<Fact>,
    /// Every command that may ever be run, by its words.
    pub commands: Vec<Command>,
    /// Questions to the environment, by name.
    pub probes: Vec<Probe>,
    /// What the host's own words teach, by kind.
    pub sources: Vec<Source>,
    /// Some rule asks where a value comes from.
    pub origins: bool,
    /// Some rule asks what the user named: a session keeps the words of its prompts.
    pub mentions: bool,
    /// Some rule asks who may read a text: a session keeps what is private.
    pub confidential: bool,
    /// Items with stable ids, by name.
    pub lifecycles: Vec<Lifecycle>,
    /// Advice, by name.
    pub feedback: Vec<Feedback>,
    /// Several dimensions in one verdict, by name.
    pub attests: Vec<Attest>,
    /// What must hold before the agent may stop.
    pub completion: Option<Completion>,
    /// What progress is measured against, by name.
    pub goals: Vec<Goal>,
    /// The fields that are taken in other forms too, by record and field.
    pub coercions: Vec<Coercion>,
    /// What a producer may hand over, by name.
    pub contracts: Vec<Contract>,
    /// Tools, by name.
    pub tools: Vec<Tool>,
    /// What needs no check when a call is decided, by claim.
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
        /// Least value.
        min: Option<i64>,
        /// Greatest value.
        max: Option<i64>,
    },
    /// `decimal in min..=max`, in units of 10⁻⁶.
    Decimal {
        /// Least value.
        min: Option<i64>,
        /// Greatest value.
        max: Option<i64>,
    },
    /// `string max N matches /re/`.
    String {
        /// Most characters.
        max_chars: Option<u64>,
        /// Most bytes.
        max_bytes: Option<u64>,
        /// All of these match somewhere in it.
        patterns: Vec<RegexId>,
    },
    /// `path`.
    Path,
    /// `url`.
    Url,
    /// `duration in min..=max`.
    Duration {
        /// Least value.
        min: Option<Millis>,
        /// Greatest value.
        max: Option<Millis>,
    },
    /// `time`, RFC 3339 unless a format (`%Y-%m-%d %H:%M:%S` subset) is given.
    Time {
        /// The format.
        format: Option<String>,
    },
    /// An enum.
    Enum {
        /// Its name.
        name: String,
        /// Its variants; a value is an index.
        variants: Vec<String>,
    },
    /// A record.
    Record {
        /// Its name.
        name: String,
        /// Its fields.
        fields: Vec<Field>,
    },
    /// One of several records, told apart by a member with a literal text; only in contracts.
    Union {
        /// Its name.
        name: String,
        /// The member that tells them apart.
        tag: String,
        /// Its cases.
        cases: Vec<UnionCase>,
    },
    /// `list<T> max N`.
    List {
        /// The element type.
        of: TypeId,
        /// Most elements.
        max: Option<u64>,
    },
    /// `set<T> max N`.
    Set {
        /// The element type.
        of: TypeId,
        /// Most elements.
        max: Option<u64>,
    },
    /// `map<K, T> max N`.
    Map {
        /// The type of the keys, where they are not strings: `bool`, `int` or an enum. A value has its keys
        /// as texts.
        key: Option<TypeId>,
        /// The type of the values.
        of: TypeId,
        /// Most entries.
        max: Option<u64>,
    },
    /// `T?`.
    Option {
        /// The type of the value when there is one; never itself an option.
        of: TypeId,
    },
    /// `json`: passed on and measured.
    Json,
    /// `command`: a text that a shell runs.
    Command,
}

/// A case of a union.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UnionCase {
    /// The text of the tag.
    pub tag: String,
    /// The record of the other members.
    pub ty: TypeId,
}

/// A parameter, a record field or a fact column.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Its name in JSON.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// Never leaves the kernel in the clear.
    pub secret: bool,
    /// Its `///` text.
    pub doc: String,
}

/// A state variable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StateVar {
    /// Its name.
    pub name: String,
    /// Its type; the refinement is an invariant.
    pub ty: TypeId,
    /// Its value when a session begins; constant.
    pub init: Expr,
}

/// Something that is spent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// The budget in units of 10⁻⁶; none where it is only counted.
    pub budget: Option<i64>,
    /// Charged by the host's reports, not by calls.
    pub host_charged: bool,
    /// Where the budget was declared.
    pub span: SpanId,
}

/// A counter of allowed calls, shared by every tool that refers to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The rule that declares it.
    pub rule: RuleMeta,
    /// How many calls are allowed.
    pub count: u32,
    /// Calls that failed do not count.
    pub success: bool,
    /// Over which span.
    pub scope: LimitScope,
    /// A count per key.
    pub keyed: bool,
    /// Who approves calls over the limit; where nobody does, they are refused.
    pub ask: Option<String>,
}

/// The scope of a limit: the calls that it counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum LimitScope {
    /// Calls allowed less than this long ago.
    Window(Millis),
    /// The whole session.
    Session,
    /// Calls not settled.
    InFlight,
    /// Calls with the same canonical arguments, whole session.
    Identical,
}

/// The effect on the variables that a tool observes of a result that does not decode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Undecoded {
    /// They keep their values.
    Keep,
    /// The variables are cleared; where one cannot be, the session halts.
    #[default]
    Clear,
    /// The session halts.
    Halt,
}

/// The origin of a rule: its owner, its documentation and its place in the source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleMeta {
    /// The tool, policy or invariant that declares it.
    pub owner: String,
    /// Its `///` text.
    pub doc: String,
    /// Evaluated and recorded, without effect.
    pub shadow: bool,
    /// Where it stands.
    pub span: SpanId,
}

/// An invariant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Invariant {
    /// Its name is the owner.
    pub rule: RuleMeta,
    /// Reported only.
    pub monitor: bool,
    /// What must be true of the state.
    pub condition: Expr,
    /// The condition as text.
    pub text: String,
    /// Why.
    pub because: Option<Message>,
    /// The values to show when it breaks.
    pub shows: Vec<Show>,
    /// The variables it reads, ascending.
    pub reads: Vec<VarId>,
}

/// A past-time temporal operator over state, stepped after each settled call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Monitor {
    /// Which operator.
    pub op: TemporalOp,
    /// Its operand (the left one of `since`).
    pub of: Expr,
    /// The right operand of `since`.
    pub trigger: Option<Expr>,
}

/// Past-time temporal operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum TemporalOp {
    /// True now or at some earlier step.
    Once,
    /// True now and at every earlier step.
    Historically,
    /// True at the step before; false at the first.
    Previous,
    /// `p since q`: q at some step up to now, and p at every later one.
    Since,
}

/// The memory of which argument values a tool has succeeded with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SuccessIndex {
    /// The tool.
    pub tool: ToolId,
    /// The parameters that make the key, ascending.
    pub params: Vec<u32>,
}

/// The memory of when a tool's calls settled, for counts of the recent ones.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// The tool.
    pub tool: ToolId,
    /// Failures rather than successes.
    pub failures: bool,
    /// Which calls are recent.
    pub size: WindowSize,
}

/// The size of a window over the settled calls of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum WindowSize {
    /// Calls that settled not longer ago than this, in milliseconds.
    Within(Millis),
    /// Calls among so many that settled last, of whatever tool; 1 to [`MAX_LAST_CALLS`].
    Last(u32),
}

/// The greatest N of `within last N calls`.
pub const MAX_LAST_CALLS: u32 = 1_000;

impl WindowSize {
    /// Returns true if every call in this window is in the other one, whatever the session.
    pub fn is_within(self, other: WindowSize) -> bool {
        match (self, other) {
            (WindowSize::Within(age), WindowSize::Within(other)) => age <= other,
            (WindowSize::Last(count), WindowSize::Last(other)) => count <= other,
            _ => false,
        }
    }
}

/// A relation filled from trusted input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Its name.
    pub name: String,
    /// The table type of one row: a record of all columns.
    pub row: TypeId,
    /// How many leading columns are the key; all of them where none was marked.
    pub keys: u32,
    /// The maximum number of rows.
    pub max: u64,
    /// True if one row more is not learned and halts the session; else the oldest row goes.
    pub halts: bool,
}

/// The source positions of a plan's rules. They are stored beside the plan and are not part of its hash.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sources {
    /// File names as the compiler was given them, relative to the project, with `/`.
    pub files: Vec<String>,
    /// One per [`SpanId`].
    pub spans: Vec<SourceSpan>,
    /// What the optimizer made of what was written, for explanations.
    pub rewrites: Vec<Rewrite>,
}

/// One thing that the optimizer did; it changes no verdict, reason or state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rewrite {
    /// The tool whose rule it is, by name; none where it is no tool's.
    pub tool: Option<String>,
    /// The passes that did it, in order: `fold`, `order`.
    pub passes: Vec<String>,
    /// What was written.
    pub before: String,
    /// What is decided instead; empty where the rule is dropped.
    pub after: String,
}

/// A place in a source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SourceSpan {
    /// Index into [`Sources::files`].
    pub file: u32,
    /// Line of the first character, from 1.
    pub line: u32,
    /// Column of the first character, from 1.
    pub column: u32,
    /// Line of the end.
    pub end_line: u32,
    /// Column after the last character.
    pub end_column: u32,
}
