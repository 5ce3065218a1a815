//! Cases: what the model does, what the world is like, what must be seen. One file, one claim.
//!
//! [`Case`] is the file as it is written, checked; `docs/reference/ack.md` describes it.

pub mod draw;
mod read;

pub use read::{Problem, parse};

use serde::Deserialize;
use std::collections::BTreeMap;

/// One case.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its area and name, from where it stands.
    #[serde(skip)]
    pub name: String,
    /// The clause it judges.
    pub clause: String,
    /// What it shows, in one sentence.
    pub claim: String,
    /// The capabilities without which it is skipped.
    pub needs: Vec<String>,
    /// The guard.
    pub guard: String,
    /// When the first run begins, RFC 3339.
    #[serde(default = "start")]
    pub start: String,
    /// What the guard may learn from at the start.
    pub data: Option<toml::Value>,
    /// The contract that the last output is judged by.
    pub contract: Option<String>,
    /// The tools of the agent that no turn calls, and those of the framework's own.
    #[serde(default)]
    pub tools: Vec<ToolFile>,
    /// What is outside.
    #[serde(default)]
    pub world: WorldFile,
    /// The faults that it is there for.
    #[serde(default)]
    pub kills: Vec<String>,
    /// The turns of its only run.
    #[serde(default)]
    turn: Vec<TurnFile>,
    /// What is expected of its only run.
    expect: Option<Expect>,
    /// Its runs, where there are several.
    #[serde(default)]
    pub run: Vec<RunFile>,
}

fn start() -> String {
    "2026-01-05T09:00:00Z".into()
}

/// A tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolFile {
    /// Its name.
    pub name: String,
    /// Whether it is the framework's own.
    #[serde(default)]
    pub native: bool,
}

/// What is outside.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorldFile {
    /// The files there are, with what they hold.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Whether there is a workspace at all.
    #[serde(default = "yes")]
    pub workspace: bool,
    /// What those say who are asked to approve, by role, in order; the last stays.
    #[serde(default)]
    pub approvals: BTreeMap<String, Vec<ApprovalFile>>,
    /// What probes answer, by the turns of the model; the last stays.
    #[serde(default)]
    pub probes: BTreeMap<String, Vec<toml::Value>>,
}

impl Default for WorldFile {
    fn default() -> WorldFile {
        WorldFile {
            files: BTreeMap::new(),
            workspace: true,
            approvals: BTreeMap::new(),
            probes: BTreeMap::new(),
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
    /// Whether it is granted.
    pub granted: bool,
    /// For how long, in the language's notation; for an hour where it is not said.
    pub lasts: Option<String>,
    /// How long it takes until somebody answers.
    pub takes: Option<String>,
}

/// One run of the loop.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunFile {
    /// The session; runs of the same name go on.
    #[serde(default = "main_session")]
    pub session: String,
    /// What is done before it.
    #[serde(default)]
    pub before: Vec<Step>,
    /// What the user says.
    #[serde(default = "prompt")]
    pub prompt: String,
    /// What the model does.
    pub turn: Vec<TurnFile>,
    /// What must be seen.
    pub expect: Expect,
}

fn main_session() -> String {
    "main".into()
}

fn prompt() -> String {
    "Do the work.".into()
}

/// Something done between runs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// A session's state is asked for and kept under a name.
    Snapshot {
        /// Of which session.
        #[serde(default = "main_session")]
        session: String,
        /// Under which name.
        name: String,
    },
    /// A session is made what it was.
    Restore {
        /// Which.
        #[serde(default = "main_session")]
        session: String,
        /// From what.
        name: String,
    },
    /// A session is forgotten.
    Reset {
        /// Which.
        #[serde(default = "main_session")]
        session: String,
    },
    /// The adapter is ended, and another started.
    Restart {},
    /// Time passes.
    Wait {
        /// How much, in the language's notation.
        takes: String,
    },
}

/// One turn of the model: calls, or a stop.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnFile {
    /// What must be shown when it is asked for.
    #[serde(default)]
    pub sees: Vec<Sees>,
    /// What passes until the model answers.
    pub after: Option<String>,
    /// What happens outside before it answers.
    #[serde(default)]
    pub host: Vec<toml::Value>,
    /// What the model used, by unit, as decimal text.
    #[serde(default)]
    pub usage: BTreeMap<String, String>,
    /// What it says beside its calls.
    pub say: Option<String>,
    /// What it calls.
    #[serde(default)]
    pub calls: Vec<CallFile>,
    /// The calls are held until the adapter has nothing else to begin, and end in the order opposite to that in which
    /// they began.
    #[serde(default)]
    pub overlap: bool,
    /// It would stop.
    #[serde(default)]
    pub stop: bool,
    /// With this output.
    pub output: Option<String>,
    /// Why the producer stopped.
    pub finish_reason: Option<String>,
}

/// What must be shown.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sees {
    /// In the answer to this call; anywhere where it is not said.
    pub call: Option<String>,
    /// These texts.
    #[serde(default)]
    pub has: Texts,
    /// None of these.
    #[serde(default)]
    pub lacks: Texts,
    /// Each so often.
    #[serde(default = "once")]
    pub times: usize,
    /// The clause that is broken otherwise, where it is not the case's own.
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

/// A call of the model, with what comes of it if it runs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallFile {
    /// By which the case refers to it.
    pub id: String,
    /// What is called.
    pub tool: String,
    /// With what.
    #[serde(default)]
    pub args: toml::Table,
    /// Whether it fails.
    #[serde(default)]
    pub fails: bool,
    /// What it gives.
    pub result: Option<toml::Value>,
    /// How long it takes.
    pub takes: Option<String>,
    /// The files it writes.
    #[serde(default)]
    pub writes: BTreeMap<String, String>,
    /// The files it removes.
    #[serde(default)]
    pub removes: Vec<String>,
}

/// What must be seen of a run, whole: what is not said here must not happen.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The calls that are run, in the order in which they begin.
    pub executed: Vec<String>,
    /// How the loop ends.
    pub ended: String,
    /// Sets of calls that run at the same time.
    #[serde(default)]
    pub together: Vec<Vec<String>>,
    /// Sets of calls no two of which run at the same time.
    #[serde(default)]
    pub apart: Vec<Vec<String>>,
    /// Who is asked to approve what: `CALL ROLE`.
    #[serde(default)]
    pub approvals: Vec<String>,
    /// Parts of the contract's report.
    pub report: Option<toml::Table>,
    /// What stands in the trace.
    pub trace: Option<TraceFile>,
    /// In cases that need `replay`: a verdict is turned round at this record before the trace is played again, and that
    /// must be found. The chain is made whole again.
    pub diverges: Option<u64>,
}

/// What stands in a trace.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// How many records of each kind; other kinds may be there.
    #[serde(default)]
    pub kinds: BTreeMap<String, usize>,
    /// The decisions of its proposals, in order.
    pub decisions: Option<Vec<String>>,
    /// Texts that stand in it.
    #[serde(default)]
    pub has: Texts,
    /// Texts that do not.
    #[serde(default)]
    pub lacks: Texts,
}

impl Case {
    /// Of which tier it is: that of its clause.
    pub fn tier(&self) -> u8 {
        crate::clause::find(&self.clause).map_or(0, |clause| clause.tier)
    }

    /// Every call of the script.
    pub fn calls(&self) -> impl Iterator<Item = &CallFile> {
        self.run.iter().flat_map(|run| &run.turn).flat_map(|turn| &turn.calls)
    }
}
