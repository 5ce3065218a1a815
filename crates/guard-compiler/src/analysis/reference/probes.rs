//! Probes: their answers, and the times at which they are asked (semantics §9).
//!
//! Every attempt is kept. The time of the next attempt is computed from all of them.

use super::eval::{Env, EvaluatedExpr};
use super::{Ask, ReferenceSession};
use crate::hir::{Probe, ProbeAsks, ProbeId, Type};
use guard_plan::json::Json;
use guard_plan::record::STDOUT_BYTES;
use guard_plan::value::{DECIMAL_ONE, Fault, Value};

/// The first delay after a failed attempt.
const FIRST_WAIT: i64 = 1_000;

/// One question to the world, and its answer.
#[derive(Clone)]
pub(super) struct Attempt {
    time: i64,
    answer: EvaluatedExpr,
    /// True if it may begin a window: nothing but a probe refused the call.
    opens: bool,
}

impl Attempt {
    /// Returns the time of the attempt, in milliseconds since 1970.
    pub(super) fn when(&self) -> i64 {
        self.time
    }

    /// Returns true if it may begin a window.
    pub(super) fn opens(&self) -> bool {
        self.opens
    }

    /// Returns true if there was no answer, or the answer was `false`.
    pub(super) fn failed(&self) -> bool {
        matches!(self.answer, Err(_) | Ok(Value::Bool(false)))
    }

    /// Returns the answer, for comparison.
    pub(super) fn said(&self) -> String {
        format!("{:?}", self.answer)
    }
}

impl ReferenceSession<'_> {
    /// Returns the answer of a probe: from this decision, from the last attempt, or from the world.
    pub(super) fn probe(&self, id: ProbeId, env: Env) -> EvaluatedExpr {
        if self.mute.get() {
            self.tried.set(true);
            return Err(Fault::NoAnswer("not asked yet".into()));
        }
        let asked = self.asked.borrow().iter().find(|(asked, _)| *asked == id).cloned();
        if let Some((_, attempt)) = asked {
            return attempt.answer;
        }
        let probe = &self.program.probes[id];
        match self.attempts[id].last() {
            Some(last) if !self.is_due(probe, &self.attempts[id], last) => {
                self.reused.set(true);
                last.answer.clone()
            }
            _ => {
                let answer = self.ask(probe, env);
                let attempt = Attempt { time: self.now, answer: answer.clone(), opens: true };
                self.asked.borrow_mut().push((id, attempt));
                answer
            }
        }
    }

    /// Keeps the answers of probes in this event.
    pub(super) fn keep_answers(&mut self) {
        let opens = !self.refused.take();
        for (id, attempt) in self.asked.take() {
            self.attempts[id].push(Attempt { opens, ..attempt });
        }
    }

    /// Forgets the questions of a hypothetical event.
    pub(super) fn forget_answers(&self) {
        self.asked.take();
        self.refused.take();
    }

    fn is_due(&self, probe: &Probe, attempts: &[Attempt], last: &Attempt) -> bool {
        let age = self.now - last.time;
        if probe.every.is_some_and(|every| last.answer.is_ok() && age < every) {
            return false;
        }
        if !last.failed() {
            return true;
        }
        let row = attempts.iter().rposition(|a| !a.failed()).map_or(0, |before| before + 1);
        let row = &attempts[row..];
        let begun = row.iter().find(|attempt| attempt.opens);
        let end = begun.zip(probe.within).map(|(first, within)| first.time.saturating_add(within));
        if end.is_some_and(|end| last.time >= end) {
            return false;
        }
        let Some(backoff) = &probe.backoff else { return true };
        let mut wait = FIRST_WAIT.min(backoff.up_to);
        // The last attempt has failed, so the row is not empty.
        for _ in &row[1..] {
            let longer = i128::from(wait) * i128::from(backoff.factor) / i128::from(DECIMAL_ONE);
            wait = longer.min(backoff.up_to.into()) as i64;
        }
        age >= wait || end.is_some_and(|end| self.now >= end)
    }

    fn ask(&self, probe: &Probe, env: Env) -> EvaluatedExpr {
        let silent = || Fault::NoAnswer(format!("the probe `{}` gives no answer", probe.name));
        let answer = match &probe.asks {
            ProbeAsks::Host => (env.world)(&Ask::Probe(probe.name.clone())).ok_or_else(silent)?,
            ProbeAsks::File(path) => {
                let path = self.inside(path).map_err(Fault::Decode)?;
                (env.world)(&Ask::File(path)).ok_or_else(silent)?
            }
            ProbeAsks::Command(command) => {
                let (status, printed) =
                    ran((env.world)(&Ask::Run(command.argv.clone()))).ok_or_else(silent)?;
                match probe.returns.required() {
                    Type::Bool => Json::Bool(status == 0),
                    _ if printed.len() > STDOUT_BYTES => {
                        return Err(Fault::Decode("the output is too long".into()));
                    }
                    Type::String(_) => Json::string(printed.trim()),
                    _ => Json::parse(printed.trim()).map_err(|e| Fault::Decode(e.to_string()))?,
                }
            }
        };
        let answer = probe.forms.opened(&answer).unwrap_or(answer);
        self.decode_as(&probe.returns, &probe.forms, &answer, true).map_err(Fault::Decode)
    }

    /// Returns the normalised path of a file of the workspace, or the error.
    pub(super) fn inside(&self, path: &str) -> Result<String, String> {
        let normal = guard_plan::path::normalise(&self.read.workspace, path);
        let normal = normal.map_err(|e| e.to_string())?.into_owned();
        let below = self.read.workspace.trim_end_matches('/').to_string() + "/";
        if *normal == *self.read.workspace || normal.starts_with(&below) {
            Ok(normal)
        } else {
            Err(format!("`{path}` is outside the workspace"))
        }
    }
}

/// Returns the status and the standard output of a command that ended by itself.
pub(super) fn ran(answer: Option<Json>) -> Option<(i64, String)> {
    match answer? {
        Json::Array(parts) => match parts.as_slice() {
            [Json::Int(status), Json::String(printed)] => Some((*status, printed.to_string())),
            _ => None,
        },
        _ => None,
    }
}
