//! The plan: a checked guard as flat data.
//!
//! Everything a kernel needs to decide, nothing else. No type here is recursive: expressions are arrays of
//! nodes in which children precede parents, types are rows of a table, so that hostile bytes can neither
//! overflow a stack nor loop. Names are kept where a verdict speaks them. Source positions live beside
//! the plan (`Sources`), since moving a declaration changes no meaning and must change no hash.

mod children;
mod contract;
mod expr;
mod proof;
mod session;

pub use contract::*;
pub use expr::*;
pub use proof::*;
pub use session::*;

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

/// The memory of when a tool's calls settled, for counts within a duration.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// The tool.
    pub tool: ToolId,
    /// Failures rather than successes.
    pub failures: bool,
    /// Not longer ago than this.
    pub within: Millis,
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
    /// Most rows; the oldest goes first.
    pub max: u64,
}

/// The risk level of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Risk {
    /// Nothing to fear.
    Low,
    /// Some care.
    Medium,
    /// Much care.
    High,
    /// Disastrous when wrong.
    Critical,
}

/// A tool and everything that governs it, policies included (language reference §5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Its name in the guard.
    pub name: String,
    /// The name the harness uses.
    pub wire_name: String,
    /// The name a person reads.
    pub title: Option<String>,
    /// Its `///` text.
    pub doc: String,
    /// Its tags, sorted.
    pub tags: Vec<String>,
    /// Its parameters, in order.
    pub params: Vec<Field>,
    /// What its result decodes to; opaque where not said.
    pub returns: Option<TypeId>,
    /// The effect on the variables it observes of a result that does not decode.
    pub undecoded: Undecoded,
    /// Whose word its result is.
    pub trust: Trust,
    /// The kernel serves it itself.
    pub served: Option<Served>,
    /// The kernel serves it itself: what the agent states is on record and in the state, and nothing else happens.
    pub states: bool,
    /// Belief in success before any evidence.
    pub prior: Option<Prior>,
    /// How dangerous it is.
    pub risk: Risk,
    /// It cannot be undone.
    pub irreversible: bool,
    /// Where it is declared.
    pub span: SpanId,
    /// Worst-case number of evaluation steps of one decision.
    pub steps: u64,
    /// What must have succeeded.
    pub requires: Vec<Requires>,
    /// When it is refused.
    pub denies: Vec<Deny>,
    /// Which counters it is held to.
    pub limits: Vec<LimitUse>,
    /// What it costs.
    pub costs: Vec<Cost>,
    /// What it does to the state, simulated before and applied on success.
    pub effects: Vec<Effect>,
    /// The invariants its effects can break, ascending.
    pub frame: Vec<InvariantId>,
    /// Who must approve.
    pub approvals: Vec<Approval>,
    /// Which probes must be true, by rule.
    pub ready: Vec<Ready>,
    /// What is written from its result.
    pub observes: Vec<Observe>,
    /// The invariants its observations can break, ascending.
    pub observe_frame: Vec<InvariantId>,
    /// What its result teaches.
    pub learns: Vec<Learn>,
    /// What must be true after it.
    pub reconciles: Vec<Reconcile>,
    /// What the agent reads in the place of parts of the result.
    pub transforms: Vec<Transform>,
    /// What its decision reads or its settlement may write, ascending. A call waits while one is unsettled
    /// that may write any of it.
    pub touches: Vec<Touch>,
    /// What its settlement may write besides its own history, ascending.
    pub writes: Vec<Touch>,
    /// Memories to update when it succeeds, ascending.
    pub indexes: Vec<IndexId>,
    /// Memories of times to update when it settles, ascending.
    pub windows: Vec<WindowId>,
    /// The arguments of its last success are asked for.
    pub keeps_args: bool,
    /// The result of its last success is asked for.
    pub keeps_result: bool,
}

impl Tool {
    /// Returns whether the kernel serves it itself.
    pub fn is_served(&self) -> bool {
        self.served.is_some() || self.states
    }

    /// Returns true if a call of this tool must wait for an unsettled call of `other`, whose id is `id` (semantics §7).
    pub fn waits_for(&self, id: ToolId, other: &Tool) -> bool {
        let touched = |touch: &Touch| self.touches.binary_search(touch).is_ok();
        touched(&Touch::History(id)) || other.writes.iter().any(touched)
    }
}

/// Something that calls in parallel may get into one another's way over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Touch {
    /// A state variable.
    State(VarId),
    /// The rows of a fact.
    Fact(FactId),
    /// Which calls of a tool have settled, and how.
    History(ToolId),
}

/// `requires A or B … when e`: one of the alternatives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Requires {
    /// Who says it.
    pub rule: RuleMeta,
    /// One of these must hold.
    pub any_of: Vec<Requirement>,
    /// Only when this is true.
    pub when: Option<Expr>,
}

/// One alternative of a requirement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// The last call that settled (with these values) must be the success.
    pub latest: bool,
    /// The tool that must have succeeded.
    pub tool: ToolId,
    /// With these values: the memory and one expression per key parameter.
    pub key: Option<Key>,
    /// Begun after every call of this tool ended, and none of them began from then on.
    pub since: Option<ToolId>,
    /// Begun not longer ago than this.
    pub within: Option<Millis>,
}

/// The key of a lookup in a [`SuccessIndex`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The memory.
    pub index: IndexId,
    /// One value per parameter of the memory.
    pub values: Vec<Expr>,
}

/// `deny when e` (an `unless` is negated when lowered).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Deny {
    /// Who says it.
    pub rule: RuleMeta,
    /// Refused when this is true.
    pub condition: Expr,
    /// The condition as text, `when …` or `unless …`.
    pub text: String,
    /// Why.
    pub because: Option<Message>,
    /// The values to show.
    pub shows: Vec<Show>,
    /// For a `transform` of an argument: the value that is not refused.
    pub replacement: Option<Replacement>,
}

/// `transform PARAM = e`: its deny holds where the argument has another value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// The parameter.
    pub param: u32,
    /// The value in its place, over the arguments as proposed.
    pub value: Show,
    /// The condition as written, `when …` or `unless …`; empty where there is none.
    pub text: String,
}

/// A tool's use of a counter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitUse {
    /// The counter.
    pub limit: LimitId,
    /// Which key, where it is keyed.
    pub by: Option<Expr>,
    /// The key's type, for messages.
    pub by_type: Option<TypeId>,
}

/// `costs e UNIT`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Who says it.
    pub rule: RuleMeta,
    /// Of what.
    pub unit: UnitId,
    /// How much: a decimal.
    pub amount: Expr,
}

/// `approval ROLE when e`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// Who says it.
    pub rule: RuleMeta,
    /// Who approves.
    pub role: String,
    /// An approval older than this is not accepted.
    pub within: Option<Millis>,
    /// Only when this is true.
    pub when: Option<Expr>,
    /// The message for the person who decides.
    pub because: Option<Message>,
    /// The values to show.
    pub shows: Vec<Show>,
}

/// `ready when probe NAME`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// Who says it.
    pub rule: RuleMeta,
    /// The probe, which must answer `true`.
    pub probe: ProbeId,
}

/// One effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Effect {
    /// Who says it.
    pub rule: RuleMeta,
    /// What is written.
    pub target: Target,
    /// How.
    pub op: EffectOp,
    /// The operand; none for `delete`.
    pub value: Option<Expr>,
}

/// The seven operations on state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum EffectOp {
    /// `x = e`.
    Set,
    /// `x += e`.
    Add,
    /// `x -= e`.
    Subtract,
    /// `x *= e`.
    Multiply,
    /// `append e to xs`.
    Append,
    /// `add e to s`.
    Insert,
    /// `remove e from xs`: the element of a set, the first equal element of a list, the key of a map.
    Remove,
    /// `delete x`: an option becomes none, a map entry goes.
    Delete,
}

impl EffectOp {
    /// True if what is written depends on how often it is done.
    pub fn accumulates(self) -> bool {
        use EffectOp::*;
        match self {
            Add | Subtract | Multiply | Append | Remove => true,
            Set | Insert | Delete => false,
        }
    }
}

/// A variable or a part of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The variable.
    pub var: VarId,
    /// The way into it.
    pub path: Vec<Step>,
}

/// One step into a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Step {
    /// A record field.
    Field(u32),
    /// A map entry or list element. Setting a missing map entry as the last step creates it.
    Index(Expr),
}

/// `observe TARGET = e`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Observe {
    /// Who says it.
    pub rule: RuleMeta,
    /// What is written.
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

/// The maximum number of collections that a `learn` iterates over.
pub const MAX_RANGES: usize = 4;

impl Learn {
    /// Returns all expressions, in the order of evaluation.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.ranges.iter().map(|range| &range.over).chain(&self.when).chain(&self.row)
    }
}

/// `for a, b in e` of a `learn`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// A list, a set or a map of a typed value or of `json`; it may read what the ranges before it bind.
    pub over: Expr,
    /// The local slots bound: the element, or the key (index of a list) and the element.
    pub binders: Vec<u32>,
}

/// `reconcile e`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reconcile {
    /// Who says it.
    pub rule: RuleMeta,
    /// What must be true after the call.
    pub condition: Expr,
    /// The condition as text.
    pub text: String,
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
    /// What is shown, over the result as it came.
    pub value: Expr,
    /// The type of the value, where it is known.
    pub ty: Option<TypeId>,
    /// Only when this is true.
    pub when: Option<Expr>,
}

/// A message with interpolated values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Its parts, in order.
    pub parts: Vec<Part>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Part {
    /// Text.
    Text(String),
    /// A value.
    Value(Show),
}

/// A value to show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Show {
    /// Its expression as text: `env`, `orders[order_id].status`.
    pub label: String,
    /// The value.
    pub expr: Expr,
    /// How to render it.
    pub ty: TypeId,
    /// It reads a secret: rendered as `(secret)`.
    pub secret: bool,
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
