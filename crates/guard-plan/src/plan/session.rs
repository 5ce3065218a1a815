//! The session-wide parts of a plan: probes, sources, lifecycles, feedback, completion, goals.

use super::*;

/// A fixed command line: no data of a session is put into it (semantics §12).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The binary and its arguments; never empty.
    pub argv: Vec<String>,
    /// The names of the environment variables it is given, sorted.
    pub env: Vec<String>,
    /// How long it may take.
    pub within: Millis,
}

/// A read-only question to the environment (semantics §9).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Its name.
    pub name: String,
    /// What it answers.
    pub returns: TypeId,
    /// The forms besides its own in which its answer is taken, if any.
    pub forms: Option<TakenForms>,
    /// Who is asked.
    pub asks: ProbeAsks,
    /// An answer younger than this is used again.
    pub every: Option<Millis>,
    /// How long to wait after a failed attempt.
    pub backoff: Option<Backoff>,
    /// How long one question may take.
    pub timeout: Millis,
    /// How long after the first of a row of failed attempts it is given up.
    pub within: Option<Millis>,
}

/// The source of a probe's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum ProbeAsks {
    /// The host, by the probe's name.
    Host,
    /// A command's status or output.
    Command(CommandId),
    /// Whether this file exists.
    File(PathId),
}

/// Exponential back-off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Backoff {
    /// Each wait is so many millionths of the one before; at least a million.
    pub factor: i64,
    /// No wait is longer.
    pub up_to: Millis,
}

/// The facts that are learned from the host's own input: the start value or a prompt (semantics §8).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// From what.
    pub kind: SourceKind,
    /// What it teaches.
    pub learns: Vec<Learn>,
}

/// Trusted input that is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum SourceKind {
    /// The JSON a session is opened with, read as `Node::Result`.
    Start,
    /// The user's words, read as `Node::Text`.
    Prompt,
}

/// The trust of a tool's result. The longest path that is a prefix of a part's path decides; `whole` decides where
/// there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Trust {
    /// The trust of every part that no path covers.
    pub whole: bool,
    /// Members to go down by, and whether what lies there is trusted; sorted.
    pub parts: Vec<(Vec<String>, bool)>,
}

/// A Beta distribution. Its parameters are decimals of the state; what is not above 0 counts as 0.000001.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Prior {
    /// Successes, as it were.
    pub alpha: Expr,
    /// Failures, as it were.
    pub beta: Expr,
}

/// The lifecycle operation of a tool that the kernel serves itself (semantics §11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Served {
    /// Of which lifecycle.
    pub lifecycle: LifecycleId,
    /// What.
    pub op: ServedOp,
}

/// The operation of a lifecycle tool. It determines the tool's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum ServedOp {
    /// Begins an item. The fields, then the criteria where the lifecycle has some.
    Create,
    /// Lists items: a state or none, an id to go on after or none.
    List,
    /// A transition, by position. The id, then the evidence where it is required.
    Move(u32),
}

/// Items with stable ids and a state machine (semantics §11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Lifecycle {
    /// Its name.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// Where it is declared.
    pub span: SpanId,
    /// What an item says.
    pub fields: Vec<Field>,
    /// Its states.
    pub states: Vec<String>,
    /// The first, by position.
    pub initial: u32,
    /// The last ones, ascending.
    pub finals: Vec<u32>,
    /// Its transitions, by name.
    pub transitions: Vec<Transition>,
    /// The kinds of criteria an item may have, ascending; none where items have no criteria.
    pub criteria: Vec<CriterionKind>,
    /// Who is asked after how many rejections of one item.
    pub escalate: Option<Escalate>,
}

/// A transition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Transition {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub span: SpanId,
    /// Who makes it.
    pub actor: Actor,
    /// From which states, ascending.
    pub from: Vec<u32>,
    /// To which.
    pub to: u32,
    /// It requires evidence.
    pub evidence: bool,
    /// Made when the criteria pass, or when they fail.
    pub criteria: Option<bool>,
}

/// The party that changes an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Actor {
    /// The agent.
    Agent,
    /// Whoever runs it.
    Harness,
}

/// Kinds of acceptance criteria.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum CriterionKind {
    /// A file exists.
    File,
    /// A file contains a text.
    FileContains,
    /// A command exits 0.
    Command,
    /// Nothing is uncommitted.
    GitCommit,
    /// A probe answers `true`.
    Probe,
}

/// `escalate to ROLE after N rejections`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Escalate {
    /// Who must approve from then on.
    pub role: String,
    /// After how many rejections.
    pub after: u32,
}

/// Advice (semantics §10).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Feedback {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub span: SpanId,
    /// Any of them wakes it.
    pub triggers: Vec<Trigger>,
    /// The first whose condition holds speaks.
    pub blocks: Vec<Block>,
}

/// The event that triggers a feedback provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Trigger {
    /// So many judged events after it last spoke.
    Calls(u32),
    /// So long after it last spoke.
    Every(Millis),
    /// A file is there, once.
    Created(PathId),
    /// One of these was denied, ascending; any call where there are none.
    Denied(Option<Vec<ToolId>>),
    /// A condition becomes true.
    Becomes {
        /// The condition.
        condition: Expr,
        /// It can change only when one of these does, ascending; at any time where there are none.
        reads: Option<Vec<Touch>>,
    },
}

/// A message of a feedback provider, with its severity, condition and notes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// How grave it is.
    pub severity: Severity,
    /// Only when this is true.
    pub when: Option<Expr>,
    /// What it says.
    pub message: Message,
    /// Lines under it, in source order.
    pub notes: Vec<Line>,
}

/// The severity of feedback, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Take care.
    Caution,
    /// Something is going wrong.
    Warning,
}

/// A line under a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// What to do, rather than what was seen.
    pub suggest: bool,
    /// Its text.
    pub text: Message,
}

/// The conditions under which the agent may stop (semantics §12).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Completion {
    /// Where it is declared.
    pub span: SpanId,
    /// How often a stop may be blocked.
    pub at_most: u32,
    /// The checks.
    pub checks: Checks,
}

/// Checks in which children precede parents; the last one is the root. Never empty, and every check but the root
/// is used exactly once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Checks(pub Vec<Check>);

/// One check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// What it asks.
    pub kind: CheckKind,
    /// It as text.
    pub text: String,
    /// Where it stands.
    pub span: SpanId,
}

/// Every check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum CheckKind {
    /// A file is there.
    File(PathId),
    /// A file contains a text.
    Contains(PathId, String),
    /// A file conforms to a contract.
    Conforms(PathId, ContractId),
    /// A command exits so.
    Command(CommandId, u8),
    /// Nothing is uncommitted.
    Committed,
    /// Every item is in a state.
    Every(LifecycleId, u32),
    /// An attest holds.
    Attest(AttestId),
    /// All hold, judged in order up to the first that does not.
    All(Vec<u32>),
    /// One holds, judged in order up to the first that does.
    Any(Vec<u32>),
    /// A condition.
    Condition(Expr),
    /// A number between 0 and 1, in a dimension of an attest.
    Score(Expr),
}

/// Several dimensions in one verdict; a zero in any of them fails it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Attest {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub span: SpanId,
    /// Its dimensions, by name.
    pub dimensions: Vec<Dimension>,
}

/// One dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dimension {
    /// Its name.
    pub name: String,
    /// What scores.
    pub checks: Checks,
}

/// A goal: the conditions that progress is measured against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// Its name.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// Where it is declared.
    pub span: SpanId,
    /// What is to become true, as text and as an expression.
    pub conditions: Vec<(String, Expr)>,
}
