//! One guarded session: the kernel, its world on disk, its trace.

use crate::library::Library;
use guard_ack::protocol::Run;
use guard_ack::{Kind, Trouble, World};
use guard_contract::{Checker, Input};
use guard_hosts::Host;
use guard_plan::json::Json;
use guard_plan::plan::ProbeAsks;
use guard_plan::record::{Payload, Record, verify_chain};
use guard_plan::time;
use guard_runtime::{Event, Kernel, Outcome, Recorder, Salt, Session, StepError, replay};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Where a session works that has no workspace.
const NOWHERE: &str = "/workspace";
/// Secrets are salted, and a restored trace must come out as it was.
const SALT: &[u8] = b"guard-adapters";

/// A session and what it needs to go on.
pub struct Engine {
    pub kernel: Arc<Kernel>,
    pub session: Session,
    host: Host,
    recorder: Recorder,
    /// Its trace.
    pub lines: Vec<String>,
}

fn trouble(what: impl ToString) -> Trouble {
    Trouble::new(Kind::Error, what.to_string())
}

/// Any JSON as the kernel reads it.
pub fn json(value: &Value) -> Result<Json, Trouble> {
    Json::parse(&value.to_string()).map_err(trouble)
}

/// A time of the protocol.
pub fn instant(text: &str) -> i64 {
    time::parse_rfc3339(text).unwrap_or_default()
}

impl Engine {
    /// Begins a session.
    pub fn open(library: &Library, run: &Run) -> Result<Engine, Trouble> {
        let kernel = library.kernel(&run.source)?;
        let data = run.data.as_ref().map(json).transpose()?;
        let root = run.workspace.as_deref().unwrap_or(NOWHERE);
        let session = kernel
            .open_with(&run.session, instant(&run.now), root, data.as_ref())
            .map_err(trouble)?;
        let mut engine = Engine {
            host: Host::new(run.workspace.as_deref().map(Path::new)).map_err(trouble)?,
            recorder: Recorder::new(Arc::new(Salt::new(SALT))),
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

    /// Takes an event. Probes that only the host can answer are asked of the world first.
    pub fn take(&mut self, event: &Event, world: &mut dyn World) -> Result<Outcome, StepError> {
        for probe in
            self.kernel.plan().probes.iter().filter(|probe| matches!(probe.asks, ProbeAsks::Host))
        {
            match world.probe(&probe.name).and_then(|answer| json(&answer).ok()) {
                Some(answer) => self.host.probes.insert(probe.name.clone(), answer),
                None => self.host.probes.remove(&probe.name),
            };
        }
        let outcome = self.kernel.step(&mut self.session, event, &mut self.host)?;
        let line = self.recorder.event(&self.kernel, &self.session, event, &outcome).to_vec();
        self.lines.push(String::from_utf8_lossy(&line).into_owned());
        Ok(outcome)
    }

    /// The report of a contract on a text.
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

    /// The session that a trace is of, made again from it alone: the first record that comes out otherwise is the error.
    pub fn again(
        kernel: &Arc<Kernel>,
        trace: &[String],
        workspace: Option<&str>,
    ) -> Result<Engine, Divergence> {
        verify_chain(trace.iter().map(String::as_str))
            .map_err(|error| Divergence { at: error.line - 1 })?;
        let record = |at: usize| trace.get(at).and_then(|line| Record::parse(line).ok());
        let diverged = |at: usize| Divergence { at: at as u64 };
        let first = record(0).ok_or_else(|| diverged(0))?;
        let Payload::Open(open) = &first.payload else { return Err(diverged(0)) };
        let start = instant(&first.time);
        let session = kernel.open_with(&open.session, start, &open.workspace, open.data.as_deref());
        let mut engine = Engine {
            kernel: Arc::clone(kernel),
            session: session.map_err(|_| diverged(0))?,
            host: Host::new(workspace.map(Path::new)).map_err(|_| diverged(0))?,
            recorder: Recorder::new(Arc::new(Salt::new(SALT))),
            lines: Vec::new(),
        };
        engine.opened();
        for at in 1..trace.len() {
            let record = record(at).ok_or_else(|| diverged(at))?;
            let event = replay::event(&record).ok_or_else(|| diverged(at))?;
            let mut world = replay::world(&record);
            let outcome =
                kernel.step(&mut engine.session, &event, &mut world).map_err(|_| diverged(at))?;
            let line = engine.recorder.event(kernel, &engine.session, &event, &outcome).to_vec();
            engine.lines.push(String::from_utf8_lossy(&line).into_owned());
        }
        match engine.lines.iter().zip(trace).position(|(again, line)| again != line) {
            Some(at) => Err(diverged(at)),
            None => Ok(engine),
        }
    }
}

/// Where a trace does not come out as it was.
pub struct Divergence {
    /// The record's number.
    pub at: u64,
}
