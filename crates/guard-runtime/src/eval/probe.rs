//! Probes: asked when due, otherwise answered from memory (semantics §9).

use super::context::Context;
use crate::compiled::resolved;
use crate::session::probes::{Attempts, ProbeReply, ProbeTurn};
use guard_plan::json::Json;
use guard_plan::plan::{CommandId, Probe, ProbeAsks, ProbeId, TypeDef};
use guard_plan::record::{Ran, RunEnd, STDOUT_BYTES};
use guard_plan::value::{Fault, Value};

impl Context<'_> {
    /// Returns the attempts to ask a probe, including those of this decision.
    pub fn attempts(&self, id: ProbeId) -> Attempts {
        if let Some(attempts) = self.known_attempts(id) {
            return attempts;
        }
        let probe = &self.compiled.plan().probes[id as usize];
        let known = &self.session.probes[id as usize];
        let attempts = known.with(probe, self.ask(probe), self.now);
        self.answers.keep(id, attempts.clone());
        attempts
    }

    /// Returns the attempts whose last answer holds now; `None` if the probe is to be asked.
    pub fn known_attempts(&self, id: ProbeId) -> Option<Attempts> {
        if let Some(attempts) = self.answers.probed(id) {
            return Some(attempts);
        }
        let known = &self.session.probes[id as usize];
        let turn = known.turn(&self.compiled.plan().probes[id as usize], self.now);
        (turn != ProbeTurn::Now).then(|| known.clone())
    }

    fn ask(&self, probe: &Probe) -> ProbeReply {
        match probe.asks {
            ProbeAsks::Host => {
                let json = self.answers.host(&probe.name).ok_or_else(|| silent(probe))?;
                self.answered(probe, &json)
            }
            ProbeAsks::File(path) => {
                let path = &self.session.paths[path as usize];
                let there = self.answers.file(path).ok_or_else(|| silent(probe))?;
                self.answered(probe, &Json::Bool(there))
            }
            ProbeAsks::Command(id) => self.commanded(probe, id),
        }
    }

    fn commanded(&self, probe: &Probe, id: CommandId) -> ProbeReply {
        let command = &self.compiled.plan().commands[id as usize];
        let ran = self.answers.run(command, self.compiled.keeps_stdout(id));
        // A command that was killed or timed out has no exit status, and its output may be
        // incomplete.
        let Some(Ran { ended: RunEnd::Exited(status), stdout, .. }) = ran else {
            return Err(silent(probe));
        };
        match resolved(&self.compiled.plan().types, probe.returns) {
            Some(TypeDef::Bool) => Ok(Value::Bool(status == 0)),
            _ if stdout.len() > STDOUT_BYTES => {
                let why = format!("more than {STDOUT_BYTES} bytes");
                Err(nonsense(probe, &why))
            }
            Some(TypeDef::String { .. }) => self.answered(probe, &Json::string(stdout.trim())),
            _ => {
                let json = Json::parse(stdout.trim());
                self.answered(probe, &json.map_err(|error| nonsense(probe, &error.to_string()))?)
            }
        }
    }

    fn answered(&self, probe: &Probe, json: &Json) -> ProbeReply {
        let matches = |id, text: &str| self.compiled.matches(id, text);
        let decoder = self.compiled.decoder(&self.session.workspace, true, &matches);
        let forms = probe.forms.unwrap_or_default();
        let opened = forms.opened(json);
        let json = opened.as_ref().unwrap_or(json);
        decoder.decode_as(probe.returns, &forms, json).map_err(|problems| {
            let why = problems.first().map(ToString::to_string).unwrap_or_default();
            nonsense(probe, &why)
        })
    }
}

fn silent(probe: &Probe) -> Fault {
    Fault::NoAnswer(format!("the probe `{}` gives no answer", probe.name))
}

fn nonsense(probe: &Probe, why: &str) -> Fault {
    Fault::Decode(format!("the probe `{}` answers something else: {why}", probe.name))
}
