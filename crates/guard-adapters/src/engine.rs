//! One guarded session: the kernel, its world on disk, its trace.

use crate::fault::Fault;
use crate::library::Library;
use guard_ack::protocol::Run;
use guard_ack::{Kind, Trouble, World};
use guard_contract::{Checker, Input};
use guard_hosts::Host;
use guard_plan::json::Json;
use guard_plan::plan::{Command, ProbeAsks};
use guard_plan::record::{Content, Payload, Ran, Record};
use guard_plan::time;
use guard_plan::verdict::Decision;
use guard_runtime::{Event, Kernel, Outcome, Recorder, Secrets, Session, StepError, replay};
use guard_trace::{Keys, resume};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The workspace of a session that has none.
const NOWHERE: &str = "/workspace";
/// A fixed key, so that any process can resume a session; a real adapter keeps its key in a file.
const KEY: [u8; 32] = *b"guard-adapters keep no secrets!!";

fn secrets(session: &str) -> Arc<dyn Secrets> {
    Arc::new(Keys::new(KEY).session(session))
}

/// A session and the state needed to continue it.
pub struct Engine {
    pub kernel: Arc<Kernel>,
    pub session: Session,
    host: Files,
    recorder: Recorder,
    fault: Fault,
    /// Its trace.
    pub lines: Vec<String>,
}

fn trouble(what: impl ToString) -> Trouble {
    Trouble::new(Kind::Error, what.to_string())
}

/// Converts JSON to the kernel's form.
pub fn json(value: &Value) -> Result<Json, Trouble> {
    Json::parse(&value.to_string()).map_err(trouble)
}

/// Parses a time of the protocol.
pub fn instant(text: &str) -> i64 {
    time::parse_rfc3339(text).unwrap_or_default()
}

impl Engine {
    /// Opens a session.
    pub fn open(library: &Library, run: &Run, fault: Fault) -> Result<Engine, Trouble> {
        let kernel = library.kernel(&run.source)?;
        let data = run.data.as_ref().filter(|_| fault != Fault::IgnoresData);
        let data = data.map(json).transpose()?;
        let workspace = run.workspace.as_deref().filter(|_| fault != Fault::NoWorkspace);
        let root = if fault == Fault::NoWorkspace { "/" } else { workspace.unwrap_or(NOWHERE) };
        let session = kernel
            .open_with(&run.session, instant(&run.now), root, data.as_ref())
            .map_err(trouble)?;
        let mut engine = Engine {
            host: Files::new(workspace, fault).map_err(trouble)?,
            fault,
            recorder: Recorder::new(secrets(&run.session)),
            kernel,
            session,
            lines: Vec::new(),
        };
        engine.opened();
        Ok(engine)
    }

    fn opened(&mut self) {
        let line = self.recorder.open(&self.kernel, &self.session, None).to_vec();
        self.lines.push(String::from_utf8_lossy(&line).into_owned());
    }

    /// Processes an event. The world is first asked for the probes that only the host can answer.
    pub fn take(&mut self, event: &Event, world: &mut dyn World) -> Result<Outcome, StepError> {
        for probe in
            self.kernel.plan().probes.iter().filter(|probe| matches!(probe.asks, ProbeAsks::Host))
        {
            match world.probe(&probe.name).and_then(|answer| json(&answer).ok()) {
                Some(answer) => self.host.host.probes.insert(probe.name.clone(), answer),
                None => self.host.host.probes.remove(&probe.name),
            };
        }
        let outcome = self.kernel.step(&mut self.session, event, &mut self.host)?;
        if let (Fault::SecretsOnRecord, Event::Propose(proposal)) = (self.fault, event) {
            let args = Json::Object(vec![(
                "args".into(),
                proposal.args.json().cloned().unwrap_or(Json::Null),
            )]);
            let line = self.recorder.answers(&self.kernel, &self.session, &args).to_vec();
            self.lines.push(String::from_utf8_lossy(&line).into_owned());
        }
        let denied =
            matches!(&outcome, Outcome::Proposed(it) if it.verdict.decision == Decision::Deny);
        if denied && self.fault == Fault::NoDenialsOnRecord {
            return Ok(outcome);
        }
        let line = self.recorder.event(&self.kernel, &self.session, event, &outcome).to_vec();
        self.lines.push(String::from_utf8_lossy(&line).into_owned());
        Ok(outcome)
    }

    /// Starts a new trace in the middle of the session.
    pub fn new_trace(&mut self) {
        self.recorder = Recorder::new(secrets(self.session.id()));
        self.lines.clear();
        self.opened();
    }

    /// Resets the session.
    pub fn begin_again(&mut self) {
        let (id, start) = (self.session.id(), self.session.start());
        if let Ok(session) = self.kernel.open(id, start, self.session.workspace()) {
            self.session = session;
        }
    }

    /// Returns the report of a contract on a text.
    pub fn report(
        &self,
        contract: &str,
        text: &str,
        finish_reason: Option<&str>,
    ) -> Result<Value, Trouble> {
        let plan = self.kernel.plan();
        let at = plan.contracts.iter().position(|known| known.name == contract);
        let at = at.ok_or_else(|| trouble(format!("the guard has no contract `{contract}`")))?;
        let checker = Checker::new(plan, at).map_err(trouble)?;
        let nothing = BTreeMap::new();
        let known = self
            .kernel
            .known(&self.session, at, &nothing)
            .ok_or_else(|| trouble("no such contract"))?;
        let input = Input { finish_reason, known: &known, workspace: self.session.workspace() };
        serde_json::to_value(checker.check(text.as_bytes(), &input)).map_err(trouble)
    }

    /// Replays a trace to its session; the first record that is not reproduced is the error.
    pub fn again(
        kernel: &Arc<Kernel>,
        trace: &[String],
        workspace: Option<&str>,
    ) -> Result<Engine, Divergence> {
        let session = trace.first().and_then(|line| match Record::parse(line).ok()?.payload {
            Payload::Open(open) => Some(open.session.into_owned()),
            _ => None,
        });
        let secrets = secrets(&session.ok_or(Divergence { at: 0 })?);
        let resumed = resume(kernel, &secrets, trace.iter().map(String::as_str))
            .map_err(|error| Divergence { at: error.record() })?;
        Ok(Engine {
            kernel: Arc::clone(kernel),
            session: resumed.session,
            host: Files::new(workspace, Fault::None).map_err(|_| Divergence { at: 0 })?,
            fault: Fault::None,
            recorder: resumed.recorder,
            lines: trace.to_vec(),
        })
    }
}

impl Engine {
    /// Replays a trace to its session; records that are not reproduced are skipped.
    pub fn about(
        kernel: &Arc<Kernel>,
        trace: &[String],
        workspace: Option<&str>,
    ) -> Option<Engine> {
        let (first, rest) = trace.split_first()?;
        let mut engine = Engine::again(kernel, std::slice::from_ref(first), workspace).ok()?;
        for record in rest.iter().filter_map(|line| Record::parse(line).ok()) {
            let Some(event) = replay::event(&record) else { continue };
            let mut world = replay::world(&record);
            if let Ok(outcome) = kernel.step(&mut engine.session, &event, &mut world) {
                let line = engine.recorder.event(kernel, &engine.session, &event, &outcome);
                engine.lines.push(String::from_utf8_lossy(line).into_owned());
            }
        }
        Some(engine)
    }
}

/// The files of a workspace, and the faults in reading them.
struct Files {
    host: Host,
    fault: Fault,
    known: BTreeMap<String, Option<bool>>,
}

impl Files {
    fn new(workspace: Option<&str>, fault: Fault) -> std::io::Result<Files> {
        let host = Host::new(workspace.map(Path::new))?;
        Ok(Files { host, fault, known: BTreeMap::new() })
    }

    fn answer(&mut self, path: &str, ask: fn(&mut Host, &str) -> Option<bool>) -> Option<bool> {
        match self.fault {
            Fault::AssumesFiles => ask(&mut self.host, path).or(Some(true)),
            Fault::KeepsFiles => {
                let host = &mut self.host;
                *self.known.entry(path.to_owned()).or_insert_with(|| ask(host, path))
            }
            _ => ask(&mut self.host, path),
        }
    }
}

impl guard_runtime::World for Files {
    fn exists(&mut self, path: &str) -> Option<bool> {
        self.answer(path, Host::exists)
    }

    fn probe(&mut self, name: &str) -> Option<Json> {
        self.host.probe(name)
    }

    fn file(&mut self, path: &str) -> Option<bool> {
        self.answer(path, Host::file)
    }

    fn contains(&mut self, path: &str, text: &str) -> Option<bool> {
        self.host.contains(path, text)
    }

    fn text(&mut self, path: &str) -> Option<Content> {
        self.host.text(path)
    }

    fn sha256(&mut self, path: &str) -> Option<Option<String>> {
        self.host.sha256(path)
    }

    fn run(&mut self, command: &Command) -> Option<Ran> {
        self.host.run(command)
    }

    fn committed(&mut self) -> Option<bool> {
        self.host.committed()
    }
}

/// The record at which a replay differs from its trace.
pub struct Divergence {
    /// The record's number.
    pub at: u64,
}
