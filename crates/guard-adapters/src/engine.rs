//! One guarded session of the SDK, its files on disk, and its trace.

use guard_ack::protocol::{Done, ModelCall, Run};
use guard_ack::{AdapterTrouble, AdapterWorld, TroubleKind};
use guard_hosts::Host;
use guard_plan::json::Json;
use guard_plan::plan::{Command, ProbeAsks};
use guard_plan::record::{Content, Payload, Ran, Record};
use guard_plan::time;
use guard_sdk::{Event, Guard, GuardCache, Keys, Outcome, Session, SessionError, TextOptions};
use serde_json::Value;
use std::path::Path;

/// The workspace of a session without a workspace.
const NO_WORKSPACE: &str = "/workspace";
/// A fixed key, so that any process can resume a session; a real adapter keeps its key in a file.
const KEY: [u8; 32] = *b"guard-adapters keep no secrets!!";

/// An adapter's session with the guard.
pub struct Engine {
    pub session: Session<WorkspaceFiles>,
    /// The calls that ran and whose settlement could not be reported.
    pub unsettled: Vec<(ModelCall, Done)>,
}

pub fn trouble(error: impl ToString) -> AdapterTrouble {
    AdapterTrouble::new(TroubleKind::Error, error.to_string())
}

/// Converts JSON to the kernel's form.
pub fn json(value: &Value) -> Result<Json, AdapterTrouble> {
    Json::parse(&value.to_string()).map_err(trouble)
}

/// Parses a time of the protocol.
pub fn instant(text: &str) -> i64 {
    time::parse_rfc3339(text).unwrap_or_default()
}

/// Compiles the guard of a case, or returns it from the cache.
pub fn compiled(guards: &GuardCache, source: &str) -> Result<Guard, AdapterTrouble> {
    let guard = guards.compile("case.guard", source);
    guard.map_err(|error| trouble(format!("the guard cannot be run: {error}")))
}

impl Engine {
    /// Opens a session.
    pub fn open(guard: &Guard, run: &Run, files: WorkspaceFiles) -> Result<Engine, AdapterTrouble> {
        let data = run.data.as_ref().map(json).transpose()?;
        let keys = Keys::new(KEY);
        let root = run.workspace.as_deref().unwrap_or(NO_WORKSPACE);
        let mut options = guard.session_in(&run.session, files).root(root).keys(&keys);
        if let Some(data) = &data {
            options = options.data(data);
        }
        let session = options.at(instant(&run.now)).open_in_world().map_err(trouble)?;
        Ok(Engine { session, unsettled: Vec::new() })
    }

    /// Resumes a session from its trace. Each record must be reproduced.
    pub fn resume(
        guard: &Guard,
        trace: &[String],
        files: WorkspaceFiles,
    ) -> Result<Engine, SessionError> {
        let id = trace.first().and_then(|line| match Record::parse(line).ok()?.payload {
            Payload::Open(open) => Some(open.session.into_owned()),
            _ => None,
        });
        let keys = Keys::new(KEY);
        let options = guard.session_in(id.unwrap_or_default(), files);
        let session = options.keys(&keys).trace(trace).open_in_world()?;
        Ok(Engine { session, unsettled: Vec::new() })
    }

    /// Processes an event. The world is first asked for the probes that only the host can answer.
    pub fn apply(
        &mut self,
        event: &Event,
        world: &mut dyn AdapterWorld,
    ) -> Result<Outcome, SessionError> {
        let guard = self.session.guard().clone();
        let answers = &mut self.session.world_mut().host.probes;
        for probe in
            guard.plan().probes.iter().filter(|probe| matches!(probe.asks, ProbeAsks::Host))
        {
            match world.probe(&probe.name).and_then(|answer| json(&answer).ok()) {
                Some(answer) => answers.insert(probe.name.clone(), answer),
                // An old answer must not stand in for a missing one.
                None => answers.remove(&probe.name),
            };
        }
        Ok(self.session.apply(event)?.into_outcome())
    }

    /// Returns the session's records.
    pub fn trace(&self) -> Result<Vec<String>, AdapterTrouble> {
        self.session.records().map_err(trouble)
    }

    /// Returns the report of a contract on a text.
    pub fn report(
        &mut self,
        contract: &str,
        text: &str,
        finish_reason: Option<&str>,
    ) -> Result<Value, AdapterTrouble> {
        let options = TextOptions { finish_reason, ..TextOptions::default() };
        let report = self.session.check_text(contract, text, &options).map_err(trouble)?;
        serde_json::to_value(&*report).map_err(trouble)
    }
}

/// A function that asks a host whether a path exists.
pub type PathLookup =
    Box<dyn FnMut(&mut Host, &str, fn(&mut Host, &str) -> Option<bool>) -> Option<bool>>;

/// The files of a workspace.
pub struct WorkspaceFiles {
    host: Host,
    look: PathLookup,
}

impl WorkspaceFiles {
    /// Returns the files on disk.
    pub fn new(workspace: Option<&str>) -> Result<WorkspaceFiles, AdapterTrouble> {
        WorkspaceFiles::looking(workspace, Box::new(|host, path, ask| ask(host, path)))
    }

    /// Returns the files as the function `look` sees them.
    pub fn looking(
        workspace: Option<&str>,
        look: PathLookup,
    ) -> Result<WorkspaceFiles, AdapterTrouble> {
        let host = Host::new(workspace.map(Path::new)).map_err(trouble)?;
        Ok(WorkspaceFiles { host, look })
    }
}

impl guard_sdk::World for WorkspaceFiles {
    fn exists(&mut self, path: &str) -> Option<bool> {
        (self.look)(&mut self.host, path, Host::exists)
    }

    fn probe(&mut self, name: &str) -> Option<Json> {
        self.host.probe(name)
    }

    fn file(&mut self, path: &str) -> Option<bool> {
        (self.look)(&mut self.host, path, Host::file)
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
