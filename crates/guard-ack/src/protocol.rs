//! The messages of `ackp/1` in both directions, one JSON object per line. `docs/reference/ack.md`
//! has an example of each.
//!
//! The sender of a request chooses its id, and the answer has the same id. Unknown members are
//! ignored.

mod model;

pub use model::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The protocol version of this crate.
pub const PROTOCOL: &str = "1";

/// The maximum length of a line in bytes, including its line break.
pub const MAX_LINE: usize = 16 << 20;

/// A request line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdapterRequest {
    /// The id, which the sender of the request chooses.
    pub id: Value,
    /// The method.
    pub method: String,
    /// The parameters.
    #[serde(default)]
    pub params: Value,
}

/// `hello`: the kit introduces itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hello {
    /// The version of the protocol.
    pub protocol: String,
    /// The hash of all cases.
    pub suite: String,
}

/// The answer to `hello`: the declaration of the adapter.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Declared {
    /// The name of the adapter.
    pub name: String,
    /// The version of the adapter.
    #[serde(default)]
    pub version: String,
    /// The capabilities, by name. A missing capability is not declared.
    pub capabilities: BTreeMap<String, bool>,
    /// True if one process can serve several cases, with a `reset` of everything between them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reusable: bool,
}

impl Declared {
    /// Returns true if a capability is declared.
    pub fn has(&self, capability: &str) -> bool {
        self.capabilities.get(capability).copied().unwrap_or(false)
    }
}

/// A tool of the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentTool {
    /// The name by which the model calls it.
    pub name: String,
    /// The description for the model.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
    /// True if the tool belongs to the framework, which handles it differently from other tools.
    #[serde(default, skip_serializing_if = "is_false")]
    pub native: bool,
    /// The party that runs the tool, if the adapter does not run it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Elsewhere>,
}

/// The reason why a tool's calls do not pass through the adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Elsewhere {
    /// The provider of the model runs the tool, for example a search on its own servers.
    Provider,
    /// The tool only carries the output, in the form of a call.
    Output,
}

/// `run`: one run of the agent's loop in a session. A session with earlier runs continues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// The id of the session.
    pub session: String,
    /// The text of the guard.
    pub source: String,
    /// The policy as plain rules, if they can express the guard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PlainPolicy>,
    /// The path of the compiled plan, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// The folder in which the tools work. Without it, questions about files have no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The time at which the run begins, in RFC 3339.
    pub now: String,
    /// The user's prompt.
    pub prompt: String,
    /// The opening data from which the guard may learn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// The contract of the guard by which the last output is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<String>,
    /// The tools of the agent.
    pub tools: Vec<AgentTool>,
    /// The outage of the guard in this run. An adapter that starts `GUARDC` need not read it,
    /// because the command fails by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<Outage>,
    /// True if the model streams: its turns come in `pieces`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub streamed: bool,
}

/// A policy for engines that do not read guards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PlainPolicy {
    /// The tools that may be called. Every other call is denied.
    pub tools: Vec<String>,
    /// The rules. A call is denied if one of the rules applies to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<PolicyRule>,
}

/// A rule of a policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    /// The tool whose calls are denied.
    pub tool: String,
    /// The condition on an argument; the rule applies only to calls that satisfy it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<PolicyCondition>,
    /// The required tool; the rule applies only while no call of this tool has succeeded in the
    /// session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires: Option<String>,
    /// The role that can approve a call; the rule does not apply to a call that a person in this
    /// role has approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The text that must be shown to the model.
    pub because: String,
}

/// A condition on one argument of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PolicyCondition {
    /// The name of the argument.
    pub arg: String,
    /// `==`, `!=`, `<`, `<=`, `>`, `>=` or `starts_with`.
    pub op: String,
    /// The value to compare with.
    pub value: Value,
}

/// An outage of the guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outage {
    /// The number of the question at which it begins, from 1.
    pub at: u64,
    /// The kind of outage.
    pub how: OutageKind,
    /// The questions that are counted.
    #[serde(default, skip_serializing_if = "Question::is_propose")]
    pub on: Question,
    /// The number of runs with the outage, starting with the first one. The count may restart in
    /// each of them.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub runs: usize,
}

fn one() -> usize {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_one(count: &usize) -> bool {
    *count == 1
}

/// The questions to the guard that an outage counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// A proposal of a call.
    #[default]
    Propose,
    /// A settlement of a call.
    Settle,
    /// A report of usage.
    Usage,
    /// A stop.
    Stop,
    /// A report of a user message.
    Prompt,
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl Question {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    fn is_propose(&self) -> bool {
        *self == Question::Propose
    }
}

/// The kinds of an outage of the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutageKind {
    /// The question is answered with an error. Later questions are answered as usual.
    ErrsOnce,
    /// The question and everything after it is answered with an error.
    Errs,
    /// The guard's process ends without an answer.
    Dies,
    /// The guard never answers again.
    Hangs,
}

impl fmt::Display for OutageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The answer to `run`: the end of the loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoopEnd {
    /// The way in which the loop ended.
    pub ended: LoopEndKind,
    /// The last output of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The contract's report on the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Value>,
    /// The lines of the session's trace, from its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<String>>,
    /// The tools of this run whose calls the guard did not see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unguarded: Vec<String>,
    /// The reason, as text for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl LoopEnd {
    /// Returns the end of a loop without output.
    pub fn without_output(ended: LoopEndKind, why: Option<String>) -> LoopEnd {
        LoopEnd { ended, output: None, report: None, trace: None, unguarded: Vec::new(), why }
    }
}

/// The way in which a loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LoopEndKind {
    /// The model stopped, and nothing was missing.
    Stopped,
    /// The model stopped, and the stop was allowed although something was missing.
    Incomplete,
    /// The model stopped after the deadline, so nothing was checked.
    Deadline,
    /// The model stopped with an exhausted budget, so nothing was checked.
    Budget,
    /// The model stopped in a halted session, so nothing was checked.
    Halted,
    /// The run was cancelled while a tool ran.
    Cancelled,
    /// A call waits for an approval that comes later; another run continues.
    Waiting,
    /// An error occurred in the adapter.
    Error,
}

impl fmt::Display for LoopEndKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The answer to `tool.execute`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Done {
    /// The outcome of the tool.
    pub outcome: ToolRun,
    /// The result, or the error of a failure.
    pub result: Value,
    /// The way in which the tool fails, if it fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureKind>,
}

/// The ways in which a tool fails. A framework may treat each of them differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The tool returns an error, in the form that the framework defines for errors.
    Error,
    /// The tool raises an exception that the framework does not know.
    Exception,
    /// The tool asks the model to try again, in the form that the framework defines for that.
    Retry,
    /// The tool exceeds its time limit.
    Timeout,
    /// The whole run is cancelled while the tool runs; the loop ends `cancelled`.
    Cancelled,
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The outcome of a tool's run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolRun {
    /// The tool succeeded.
    Success,
    /// The tool failed.
    Failure,
}

/// `approval.request`: a request that a person in a role approves exactly this call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalRequest {
    /// The id of the call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub args: Value,
    /// The role of the person.
    pub role: String,
}

/// The answer to `approval.request`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalAnswer {
    /// True if the approval is granted.
    pub granted: bool,
    /// True if nobody has answered yet. The approval may come in another run.
    #[serde(default, skip_serializing_if = "is_false")]
    pub later: bool,
    /// The person who answered.
    pub by: String,
    /// The time until which the approval is valid, in RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// `probe.read`: a question for the answer of a probe that only the host can answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeRead {
    /// The name of the probe.
    pub name: String,
}

/// The answer to `probe.read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeAnswer {
    /// The answer; none if nobody can answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
}

/// The answer to `clock.now`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Now {
    /// The current time, in RFC 3339.
    pub now: String,
}

/// `reset`: a request to reset one session or all of them, so that the adapter is in the same state
/// as after its start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reset {
    /// The id of the session; all sessions if it is omitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// `snapshot`: a request for the snapshot of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OfSession {
    /// The id of the session.
    pub session: String,
}

/// The answer to `snapshot`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SnapshotAnswer {
    /// The snapshot in the adapter's own format. The kit only stores and returns it.
    pub snapshot: Value,
}

/// `restore`: a request to restore a session to the state at which the snapshot was taken, whatever
/// has happened since.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Restore {
    /// The id of the session.
    pub session: String,
    /// The snapshot from the answer to `snapshot`.
    pub snapshot: Value,
    /// The text of the session's guard.
    pub source: String,
    /// The path of the compiled plan, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// The folder in which the tools work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

/// `replay`: a request to replay a trace without the world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayRequest {
    /// The lines of the trace.
    pub trace: Vec<String>,
    /// The text of the guard.
    pub source: String,
}

/// The answer to `replay`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayAnswer {
    /// True if each record was reproduced.
    pub agrees: bool,
    /// The number of the first record that was not reproduced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(flag: &bool) -> bool {
    !*flag
}
