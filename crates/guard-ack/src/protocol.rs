//! The messages of `ackp/1`, both directions. One JSON object a line; `docs/reference/ack.md` has an example of each.
//!
//! Whoever asks chooses the id; the answer carries it. Unknown members are ignored.

mod model;

pub use model::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The version that is spoken here.
pub const PROTOCOL: &str = "1";

/// The longest line, in bytes, its end included.
pub const MAX_LINE: usize = 16 << 20;

/// A line that asks for something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdapterRequest {
    /// Chosen by whoever asks.
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
    /// The hash of the cases.
    pub suite: String,
}

/// The answer to `hello`: what an adapter says it can do.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// Its version.
    #[serde(default)]
    pub version: String,
    /// By name; what is not there is not declared.
    pub capabilities: BTreeMap<String, bool>,
    /// True if one process can serve several cases, with a `reset` of everything between them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reusable: bool,
}

impl Declared {
    /// Returns whether a capability is declared.
    pub fn has(&self, capability: &str) -> bool {
        self.capabilities.get(capability).copied().unwrap_or(false)
    }
}

/// A tool that the agent has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentTool {
    /// The name by which the model calls it.
    pub name: String,
    /// Its description for the model.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: Value,
    /// The framework's own: it has another way through the framework than the rest.
    #[serde(default, skip_serializing_if = "is_false")]
    pub native: bool,
    /// Of a tool that nobody runs here: who does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Elsewhere>,
}

/// The reason why a tool's calls do not pass through the adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Elsewhere {
    /// The provider of the model runs it, such as a search on its own servers.
    Provider,
    /// It only carries the output in the form of a call.
    Output,
}

/// `run`: one run of the agent's loop in a session. A session that ran before goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// The session.
    pub session: String,
    /// The text of the guard.
    pub source: String,
    /// The policy in plain rules, where they can say what the guard says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PlainPolicy>,
    /// The path of the compiled plan, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// The folder the tools work in; without it nobody can say what exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The time at which it begins, RFC 3339.
    pub now: String,
    /// The words of the user.
    pub prompt: String,
    /// The data that the guard may learn from when the session begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// The contract of the guard that the last output is judged by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<String>,
    /// The tools that the agent has.
    pub tools: Vec<AgentTool>,
    /// The guard fails in this run. An adapter that starts `GUARDC` need not look: the command fails by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<Outage>,
    /// The model streams: its turns come in `pieces`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub streamed: bool,
}

/// A policy for engines that do not read guards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PlainPolicy {
    /// The tools that may be called; every other call is denied.
    pub tools: Vec<String>,
    /// The rules. A call is denied if one of its rules applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<PolicyRule>,
}

/// A rule of a policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    /// The tool whose calls it denies.
    pub tool: String,
    /// It applies only to calls with such an argument.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<PolicyCondition>,
    /// It applies only as long as no call of this tool has succeeded in the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires: Option<String>,
    /// It does not apply to a call that somebody in this role has approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The text that the model has to be shown.
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
    /// The number of the question that it begins with, from 1.
    pub at: u64,
    /// Its kind.
    pub how: OutageKind,
    /// The questions that are counted.
    #[serde(default, skip_serializing_if = "Question::is_propose")]
    pub on: Question,
    /// The number of runs that it lasts, from the first one on. The count may begin anew with each of them.
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

/// The questions to the guard by which an outage counts.
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
    /// A report of what the user says.
    Prompt,
}

impl Question {
    /// Returns its name.
    pub fn word(self) -> &'static str {
        match self {
            Question::Propose => "propose",
            Question::Settle => "settle",
            Question::Usage => "usage",
            Question::Stop => "stop",
            Question::Prompt => "prompt",
        }
    }

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    fn is_propose(&self) -> bool {
        *self == Question::Propose
    }
}

/// The kinds of outages of the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutageKind {
    /// That question is answered with an error; later ones are answered as usual.
    ErrsOnce,
    /// That question and everything after it is answered with an error.
    Errs,
    /// The guard's process ends without an answer.
    Dies,
    /// The guard never answers again.
    Hangs,
}

impl OutageKind {
    /// Returns its name.
    pub fn word(self) -> &'static str {
        match self {
            OutageKind::ErrsOnce => "errs_once",
            OutageKind::Errs => "errs",
            OutageKind::Dies => "dies",
            OutageKind::Hangs => "hangs",
        }
    }
}

/// The answer to `run`: the loop has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoopEnd {
    /// How.
    pub ended: LoopEndKind,
    /// The last output of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The report of the contract on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Value>,
    /// The lines of the session's trace, from its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<String>>,
    /// The tools of this run that the guard did not see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unguarded: Vec<String>,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl LoopEnd {
    /// Returns the end of a loop that has nothing to hand over.
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
    /// The model stopped, and was let go although something was missing.
    Incomplete,
    /// It stopped after the deadline; nothing was asked for.
    Deadline,
    /// It stopped with a budget exhausted; nothing was asked for.
    Budget,
    /// It stopped in a halted session; nothing was asked for.
    Halted,
    /// The run was cancelled while a tool ran.
    Cancelled,
    /// A call waits for an approval that comes later; another run goes on.
    Waiting,
    /// Something went wrong in the adapter.
    Error,
}

impl LoopEndKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            LoopEndKind::Stopped => "stopped",
            LoopEndKind::Incomplete => "incomplete",
            LoopEndKind::Deadline => "deadline",
            LoopEndKind::Budget => "budget",
            LoopEndKind::Halted => "halted",
            LoopEndKind::Cancelled => "cancelled",
            LoopEndKind::Waiting => "waiting",
            LoopEndKind::Error => "error",
        }
    }
}

/// The answer to `tool.execute`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Done {
    /// How it ended.
    pub outcome: ToolRun,
    /// The result; of a failure, the error.
    pub result: Value,
    /// Of a failure: the way in which the tool fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureKind>,
}

/// The ways in which a tool fails. A framework may treat each in a way of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// It returns an error, in the form that the framework has for that.
    Error,
    /// It raises an exception that the framework does not know.
    Exception,
    /// It asks the model to try again, in the form that the framework has for that.
    Retry,
    /// It exceeds its time limit.
    Timeout,
    /// The whole run is cancelled while the tool runs; the loop ends `cancelled`.
    Cancelled,
}

impl FailureKind {
    /// Returns its name.
    pub fn word(self) -> &'static str {
        match self {
            FailureKind::Error => "error",
            FailureKind::Exception => "exception",
            FailureKind::Retry => "retry",
            FailureKind::Timeout => "timeout",
            FailureKind::Cancelled => "cancelled",
        }
    }
}

/// The outcome of a tool's run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolRun {
    /// It did what it is for.
    Success,
    /// It did not.
    Failure,
}

/// `approval.request`: somebody in a role is asked for exactly this call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalRequest {
    /// The call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub args: Value,
    /// The role.
    pub role: String,
}

/// The answer to `approval.request`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalAnswer {
    /// True if it is granted.
    pub granted: bool,
    /// Nobody has answered yet: the approval may come in another run.
    #[serde(default, skip_serializing_if = "is_false")]
    pub later: bool,
    /// By whom.
    pub by: String,
    /// Until when, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// `probe.read`: a probe that only the host can answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeRead {
    /// Its name.
    pub name: String,
}

/// The answer to `probe.read`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProbeAnswer {
    /// None: nobody can say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
}

/// The answer to `clock.now`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Now {
    /// RFC 3339.
    pub now: String,
}

/// `reset`: of a session, or of everything: the adapter is as it was when it had started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reset {
    /// Its id; without it, all sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// `snapshot`: of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OfSession {
    /// Its id.
    pub session: String,
}

/// The answer to `snapshot`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SnapshotAnswer {
    /// The adapter's own; it is only kept and given back.
    pub snapshot: Value,
}

/// `restore`: a session is what it was when the snapshot was taken, whatever has happened since.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Restore {
    /// Its id.
    pub session: String,
    /// The answer to `snapshot`.
    pub snapshot: Value,
    /// The text of its guard.
    pub source: String,
    /// The path of the compiled plan, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// The folder the tools work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

/// `replay`: a trace is played again without the world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayRequest {
    /// Its lines.
    pub trace: Vec<String>,
    /// The text of the guard.
    pub source: String,
}

/// The answer to `replay`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayAnswer {
    /// True if each record came out as it was.
    pub agrees: bool,
    /// The number of the first that did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(flag: &bool) -> bool {
    !*flag
}
