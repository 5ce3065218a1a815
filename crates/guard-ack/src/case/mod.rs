//! Cases: the model's script, the world, and the expectations. Each file tests one claim.
//!
//! [`Case`] is the checked file; `docs/reference/ack.md` describes it.

pub mod draw;
mod read;

pub use read::{CaseProblem, parse};

use crate::protocol::{Declared, Elsewhere, FailureKind, Outage, PlainPolicy};
use serde::Deserialize;
use std::collections::BTreeMap;

/// One case.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The area and the name, from the file path.
    #[serde(skip)]
    pub name: String,
    /// The clause that the case tests.
    pub clause: String,
    /// The tested claim, in one sentence.
    pub claim: String,
    /// The required capabilities; without them the case is skipped.
    pub needs: Vec<String>,
    /// The version of the suite in which the case was added.
    #[serde(default = "first_version")]
    pub since: String,
    /// A typical mistake of adapters that fail the case.
    pub hint: Option<String>,
    /// The tags by which the case can be selected.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The guard.
    pub guard: String,
    /// The same policy in plain rules, for engines that do not read guards.
    pub policy: Option<PlainPolicy>,
    /// The start of the first run, RFC 3339.
    #[serde(default = "start")]
    pub start: String,
    /// The opening data that the guard may learn from.
    pub data: Option<toml::Value>,
    /// The contract that judges the last output.
    pub contract: Option<String>,
    /// The agent's tools that no turn calls, and the framework's own tools.
    #[serde(default)]
    pub tools: Vec<ToolFile>,
    /// The outside world.
    #[serde(default)]
    pub world: WorldFile,
    /// The faults that the case must detect.
    #[serde(default)]
    pub kills: Vec<String>,
    /// The turns of a single run.
    #[serde(default)]
    turn: Vec<TurnFile>,
    /// The expectations of a single run.
    expect: Option<Expect>,
    /// The runs, if there are several.
    #[serde(default)]
    pub run: Vec<RunFile>,
}

fn first_version() -> String {
    "1.0.0".into()
}

fn start() -> String {
    "2026-01-05T09:00:00Z".into()
}

/// A tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolFile {
    /// The name.
    pub name: String,
    /// True if the tool belongs to the framework.
    #[serde(default)]
    pub native: bool,
    /// The JSON Schema of its arguments; by default any object.
    pub schema: Option<toml::Table>,
    /// True if the model calls the tool although the agent does not have it.
    #[serde(default)]
    pub missing: bool,
    /// The party that runs the tool, if the adapter does not run it.
    pub elsewhere: Option<Elsewhere>,
}

/// The outside world.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorldFile {
    /// The files with their contents.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// True if there is a workspace.
    #[serde(default = "yes")]
    pub workspace: bool,
    /// The answers to requests for approval, by role, in order; the last one repeats.
    #[serde(default)]
    pub approvals: BTreeMap<String, Vec<ApprovalFile>>,
    /// The answers of probes, by the turns of the model; the last one repeats.
    #[serde(default)]
    pub probes: BTreeMap<String, Vec<toml::Value>>,
    /// The outage of the guard, from the first run on.
    pub outage: Option<Outage>,
    /// True if the model streams.
    #[serde(default)]
    pub streamed: bool,
    /// True if calls end only when the adapter is silent, for adapters that declare
    /// `parallel_calls`.
    #[serde(default)]
    pub held: bool,
}

impl WorldFile {
    /// Returns the outage of the guard in a run, counted from 0.
    pub fn outage_in(&self, run: usize) -> Option<&Outage> {
        self.outage.as_ref().filter(|outage| run < outage.runs)
    }
}

impl Default for WorldFile {
    fn default() -> WorldFile {
        WorldFile {
            files: BTreeMap::new(),
            workspace: true,
            approvals: BTreeMap::new(),
            probes: BTreeMap::new(),
            outage: None,
            streamed: false,
            held: false,
        }
    }
}

fn yes() -> bool {
    true
}

/// One answer to a request for approval.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalFile {
    /// True if the approval is granted.
    pub granted: bool,
    /// True if nobody answers yet.
    #[serde(default)]
    pub later: bool,
    /// The validity, in the language's notation; by default one hour.
    pub lasts: Option<String>,
    /// The delay of the answer.
    pub takes: Option<String>,
}

/// One run of the loop.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunFile {
    /// The session; runs with the same name continue it.
    #[serde(default = "main_session")]
    pub session: String,
    /// The steps before the run.
    #[serde(default)]
    pub before: Vec<CaseStep>,
    /// The call of the previous run during which this run takes place, from its beginning to its
    /// end.
    pub during: Option<String>,
    /// The message of the user.
    #[serde(default = "prompt")]
    pub prompt: String,
    /// The turns of the model.
    pub turn: Vec<TurnFile>,
    /// The expectations.
    pub expect: Expect,
}

fn main_session() -> String {
    "main".into()
}

fn prompt() -> String {
    "Do the work.".into()
}

/// A step between runs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum CaseStep {
    /// Requests a session's snapshot and stores it under a name.
    Snapshot {
        /// The session.
        #[serde(default = "main_session")]
        session: String,
        /// The name of the snapshot.
        name: String,
    },
    /// Restores a session.
    Restore {
        /// The session.
        #[serde(default = "main_session")]
        session: String,
        /// The name of the snapshot.
        name: String,
    },
    /// Deletes a session.
    Reset {
        /// The session.
        #[serde(default = "main_session")]
        session: String,
    },
    /// Ends the adapter and starts another.
    Restart {},
    /// Advances the time.
    Wait {
        /// The duration, in the language's notation.
        takes: String,
    },
}

/// One turn of the model: calls, or a stop.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnFile {
    /// The texts that the model must be shown before this turn.
    #[serde(default)]
    pub sees: Vec<Sees>,
    /// The time until the model answers.
    pub after: Option<String>,
    /// The outside events before it answers.
    #[serde(default)]
    pub host: Vec<toml::Value>,
    /// The usage of the model, by unit, as decimal text.
    #[serde(default)]
    pub usage: BTreeMap<String, String>,
    /// The model's text beside its calls.
    pub say: Option<String>,
    /// The calls.
    #[serde(default)]
    pub calls: Vec<CallFile>,
    /// True if the calls are held until the adapter has nothing else to begin. They then end in
    /// reverse order.
    #[serde(default)]
    pub overlap: bool,
    /// The number of the question for the time at which the call in flight ends, counted from its
    /// beginning. The adapter gets the time when it is silent.
    pub race: Option<usize>,
    /// True if the model wants to stop.
    #[serde(default)]
    pub stop: bool,
    /// The output of the stop.
    pub output: Option<String>,
    /// The reason why the producer stopped.
    pub finish_reason: Option<String>,
}

/// An expectation on the shown texts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sees {
    /// The call whose answer is searched; by default all messages.
    pub call: Option<String>,
    /// The texts that must be shown.
    #[serde(default)]
    pub has: Texts,
    /// The texts that must not be shown.
    #[serde(default)]
    pub lacks: Texts,
    /// The number of times each text must be shown.
    #[serde(default = "once")]
    pub times: usize,
    /// The clause that is otherwise broken; by default the case's own.
    pub clause: Option<String>,
}

fn once() -> usize {
    1
}

/// One text or several.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(from = "OneOrMore")]
pub struct Texts(pub Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl From<OneOrMore> for Texts {
    fn from(texts: OneOrMore) -> Texts {
        match texts {
            OneOrMore::One(text) => Texts(vec![text]),
            OneOrMore::More(texts) => Texts(texts),
        }
    }
}

/// A call of the model, and its result if it runs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallFile {
    /// The id used in the case.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The arguments: a table, or the text that the model writes instead.
    #[serde(default = "no_arguments")]
    pub args: toml::Value,
    /// The id that the model gives the call instead of a new one: the id of another call, or an
    /// empty text for no id.
    pub given_id: Option<String>,
    /// True if it fails.
    #[serde(default)]
    pub fails: bool,
    /// The way in which it fails.
    pub failure: Option<FailureKind>,
    /// The result.
    pub result: Option<toml::Value>,
    /// The text that the model reads in place of the result, if the guard changes it.
    pub shown: Option<toml::Value>,
    /// The only arguments with which the call may run, if the guard requires others than the
    /// model's.
    pub runs_with: Option<toml::Value>,
    /// The duration.
    pub takes: Option<String>,
    /// The files it writes.
    #[serde(default)]
    pub writes: BTreeMap<String, String>,
    /// The files it removes.
    #[serde(default)]
    pub removes: Vec<String>,
}

impl CallFile {
    /// Returns true if it fails.
    pub fn is_failure(&self) -> bool {
        self.fails || self.failure.is_some()
    }
}

fn no_arguments() -> toml::Value {
    toml::Value::Table(toml::Table::new())
}

/// The complete expectations of a run. Events that are not listed must not happen.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The calls that run, in the order in which they begin.
    pub executed: Vec<String>,
    /// The calls that a framework may run or refuse by itself.
    #[serde(default)]
    pub may_run: Vec<String>,
    /// The ways in which the loop may end; several are separated by ` or `.
    pub ended: String,
    /// Sets of calls that run at the same time.
    #[serde(default)]
    pub together: Vec<Vec<String>>,
    /// Sets of calls that never overlap.
    #[serde(default)]
    pub apart: Vec<Vec<String>>,
    /// The requests for approval: `CALL ROLE`.
    #[serde(default)]
    pub approvals: Vec<String>,
    /// The expected parts of the contract's report.
    pub report: Option<toml::Table>,
    /// The tools that the adapter names as unguarded.
    #[serde(default)]
    pub unguarded: Vec<String>,
    /// The expectations of the trace.
    pub trace: Option<TraceFile>,
    /// For cases that need `replay`: the verdict of this record is reversed before the replay,
    /// which must detect it. The hash chain is recomputed.
    pub diverges: Option<u64>,
}

/// The expectations of a trace.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// The number of records of each kind; other kinds may occur.
    #[serde(default)]
    pub kinds: BTreeMap<String, usize>,
    /// The decisions of its proposals, in order.
    pub decisions: Option<Vec<String>>,
    /// The texts that it contains.
    #[serde(default)]
    pub has: Texts,
    /// The texts that it must not contain.
    #[serde(default)]
    pub lacks: Texts,
}

impl Expect {
    /// Returns the ways in which the loop may end.
    pub fn endings(&self) -> impl Iterator<Item = &str> {
        self.ended.split(" or ")
    }
}

impl Case {
    /// Returns the tier of its clause.
    pub fn tier(&self) -> u8 {
        crate::clause::find(&self.clause).map_or(0, |clause| clause.tier)
    }

    /// Returns the first required capability that an adapter does not declare. An adapter that
    /// reads plain rules and no guards is judged by the cases with plain rules.
    pub fn lacking(&self, declared: &Declared) -> Option<&str> {
        let reads_rules = declared.has("plain_policies");
        if reads_rules && !declared.has("tool_policies") && self.policy.is_none() {
            return Some("tool_policies");
        }
        let needs = self.needs.iter().map(String::as_str);
        let mut needs = needs.filter(|need| !(reads_rules && *need == "tool_policies"));
        needs.find(|need| !declared.has(need))
    }

    /// Returns true if the case is selected by a word: a tag, its area, or a required capability.
    pub fn has_tag(&self, tag: &str) -> bool {
        let area = self.name.split('/').next();
        area == Some(tag) || self.tags.iter().chain(&self.needs).any(|word| word == tag)
    }

    /// Returns every call of the script.
    pub fn calls(&self) -> impl Iterator<Item = &CallFile> {
        self.run.iter().flat_map(|run| &run.turn).flat_map(|turn| &turn.calls)
    }
}
