//! The session-wide parts of a plan: probes, sources, lifecycles, feedback, completion, goals.

use super::*;

/// A fixed command line. No data of a session is inserted into it (semantics §12).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// The program and its arguments; never empty.
    pub argv: Vec<String>,
    /// The names of the environment variables that the command gets, sorted.
    pub env: Vec<String>,
    /// The time limit, in milliseconds.
    pub within: Millis,
}

/// A read-only question to the environment (semantics §9).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// The name of the probe.
    pub name: String,
    /// The type of the answer.
    pub returns: TypeId,
    /// The other forms in which the answer is accepted, if any.
    pub forms: Option<TakenForms>,
    /// The source of the answer.
    pub asks: ProbeAsks,
    /// The age in milliseconds up to which an answer is reused.
    pub every: Option<Millis>,
    /// The waiting times after failed attempts.
    pub backoff: Option<Backoff>,
    /// The time limit of one question, in milliseconds.
    pub timeout: Millis,
    /// The time after the first of several consecutive failed attempts at which the probe gives up,
    /// in milliseconds.
    pub within: Option<Millis>,
}

/// The source of a probe's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum ProbeAsks {
    /// The host, which is asked by the probe's name.
    Host,
    /// The status or output of a command.
    Command(CommandId),
    /// The existence of this file.
    File(PathId),
}

/// An exponential back-off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Backoff {
    /// The factor from one wait to the next, in millionths; at least one million.
    pub factor: i64,
    /// The maximum wait, in milliseconds.
    pub up_to: Millis,
}

/// The facts that are learned from the host's own input: the opening data or a prompt (semantics
/// §8).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The kind of input.
    pub kind: SourceKind,
    /// The facts that it teaches.
    pub learns: Vec<Learn>,
}

/// Trusted input that is not a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum SourceKind {
    /// The JSON with which a session is opened, read as `Node::Result`.
    Start,
    /// The text of the user's prompt, read as `Node::Text`.
    Prompt,
}

/// The trust of a tool's result. The longest path that is a prefix of a part's path decides. If
/// there is none, `whole` decides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Trust {
    /// True if the parts that no path covers are trusted.
    pub whole: bool,
    /// The paths, as member names, each with true if the part at it is trusted; sorted.
    pub parts: Vec<(Vec<String>, bool)>,
}

/// A Beta distribution. Its parameters are decimals over the state. A value of 0 or less counts as
/// 0.000001.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Prior {
    /// The number of assumed successes.
    pub alpha: Expr,
    /// The number of assumed failures.
    pub beta: Expr,
}

/// The lifecycle operation of a tool that the kernel serves itself (semantics §11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Served {
    /// The lifecycle.
    pub lifecycle: LifecycleId,
    /// The operation.
    pub op: ServedOp,
}

/// The operation of a lifecycle tool. It determines the tool's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum ServedOp {
    /// Creates an item. The parameters are the fields, then the criteria if the lifecycle has any.
    Create,
    /// Lists items. The parameters are an optional state and an optional id after which the list
    /// continues.
    List,
    /// Makes a transition, given by index. The parameters are the id, then the evidence if it is
    /// required.
    Move(u32),
}

/// Items with stable ids and a state machine (semantics §11).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Lifecycle {
    /// The name of the lifecycle.
    pub name: String,
    /// The `///` text.
    pub doc: String,
    /// The source position of the declaration.
    pub span: SpanId,
    /// The fields of an item.
    pub fields: Vec<Field>,
    /// The names of the states.
    pub states: Vec<String>,
    /// The index of the initial state.
    pub initial: u32,
    /// The indexes of the final states, ascending.
    pub finals: Vec<u32>,
    /// The transitions, sorted by name.
    pub transitions: Vec<Transition>,
    /// The kinds of criteria that an item may have, ascending; empty if items have no criteria.
    pub criteria: Vec<CriterionKind>,
    /// The role that must approve after several rejections of one item.
    pub escalate: Option<Escalate>,
}

/// A transition between states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Transition {
    /// The name of the transition.
    pub name: String,
    /// The source position of the declaration.
    pub span: SpanId,
    /// The party that makes the transition.
    pub actor: Actor,
    /// The indexes of the source states, ascending.
    pub from: Vec<u32>,
    /// The index of the target state.
    pub to: u32,
    /// True if the transition requires evidence.
    pub evidence: bool,
    /// True if the transition is made when the criteria pass, false when they fail; none for other
    /// transitions.
    pub criteria: Option<bool>,
}

/// The party that changes an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Actor {
    /// The agent.
    Agent,
    /// The harness that runs the agent.
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
    /// There are no uncommitted changes.
    GitCommit,
    /// A probe answers `true`.
    Probe,
}

/// `escalate to ROLE after N rejections`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Escalate {
    /// The role that must approve from then on.
    pub role: String,
    /// The number of rejections.
    pub after: u32,
}

/// A feedback provider (semantics §10).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Feedback {
    /// The name of the provider.
    pub name: String,
    /// The source position of the declaration.
    pub span: SpanId,
    /// The triggers. Any of them activates the provider.
    pub triggers: Vec<Trigger>,
    /// The messages. The first one whose condition holds is delivered.
    pub blocks: Vec<Block>,
}

/// The event that triggers a feedback provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Trigger {
    /// This many judged events after the provider's last message.
    Calls(u32),
    /// This many milliseconds after the provider's last message.
    Every(Millis),
    /// A file exists; triggers once.
    Created(PathId),
    /// One of these tools was denied, ascending; any call if there is no list.
    Denied(Option<Vec<ToolId>>),
    /// A condition becomes true.
    Becomes {
        /// The condition.
        condition: Expr,
        /// The resources on which the condition depends, ascending. It can change only when one of
        /// these does. Without a list, it can change at any time.
        reads: Option<Vec<Touch>>,
    },
}

/// A message of a feedback provider, with its severity, condition and notes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// The severity of the message.
    pub severity: Severity,
    /// The condition under which the message is delivered.
    pub when: Option<Expr>,
    /// The text of the message.
    pub message: Message,
    /// The lines under the message, in source order.
    pub notes: Vec<Line>,
}

/// The severity of feedback, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Severity {
    /// Information.
    Info,
    /// A reason for caution.
    Caution,
    /// A warning that something is going wrong.
    Warning,
}

/// A line under a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// True for a suggestion of what to do, false for an observation.
    pub suggest: bool,
    /// The text of the line.
    pub text: Message,
}

/// The conditions under which the agent may stop (semantics §12).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Completion {
    /// The source position of the declaration.
    pub span: SpanId,
    /// The maximum number of times that a stop may be blocked.
    pub at_most: u32,
    /// The checks.
    pub checks: Checks,
}

/// A tree of checks in which children precede parents. The last check is the root. The list is
/// never empty, and every check except the root is used exactly once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Checks(pub Vec<Check>);

/// One check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The kind of the check.
    pub kind: CheckKind,
    /// The check as text.
    pub text: String,
    /// The source position of the check.
    pub span: SpanId,
}

/// The kinds of checks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum CheckKind {
    /// A file exists.
    File(PathId),
    /// A file contains a text.
    Contains(PathId, String),
    /// A file conforms to a contract.
    Conforms(PathId, ContractId),
    /// A command exits with this status.
    Command(CommandId, u8),
    /// There are no uncommitted changes.
    Committed,
    /// Every item of the lifecycle is in this state.
    Every(LifecycleId, u32),
    /// An attest holds.
    Attest(AttestId),
    /// All of these checks hold; evaluated in order up to the first that does not.
    All(Vec<u32>),
    /// One of these checks holds; evaluated in order up to the first that does.
    Any(Vec<u32>),
    /// A condition is true.
    Condition(Expr),
    /// The score of a dimension of an attest, between 0 and 1.
    Score(Expr),
}

/// A verdict over several dimensions. A zero in any of them fails it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Attest {
    /// The name of the attest.
    pub name: String,
    /// The source position of the declaration.
    pub span: SpanId,
    /// The dimensions, sorted by name.
    pub dimensions: Vec<Dimension>,
}

/// One dimension of an attest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Dimension {
    /// The name of the dimension.
    pub name: String,
    /// The checks that give the score.
    pub checks: Checks,
}

/// A goal: the conditions that progress is measured against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The name of the goal.
    pub name: String,
    /// The `///` text.
    pub doc: String,
    /// The source position of the declaration.
    pub span: SpanId,
    /// The conditions that are to become true, each as text and as an expression.
    pub conditions: Vec<(String, Expr)>,
}
