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
mod history;
mod proof;
mod result;
mod session;
mod sources;
mod tool;
mod types;

pub use contract::*;
pub use expr::*;
pub use forms::*;
pub use history::*;
pub use proof::*;
pub use result::*;
pub use session::*;
pub use sources::*;
pub use tool::*;
pub use types::*;

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
