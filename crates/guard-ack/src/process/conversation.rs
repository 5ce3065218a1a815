//! The conversation with an adapter's process: requests to it, and its own requests to the world,
//! until its response. A second run may go on beside the first.

use super::MAX_MESSAGES;
use super::child::Child;
use super::lines::NextLine;
use crate::adapter::{AdapterTrouble, AdapterWorld, TroubleKind};
use crate::protocol::{
    AdapterRequest, ApprovalRequest, LoopEnd, MAX_LINE, ModelCall, ModelRequest, Now, ProbeAnswer,
    ProbeRead,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The maximum length of a quoted invalid line, in characters.
const QUOTED: usize = 200;

/// A running adapter with its limits.
#[derive(Debug)]
pub(super) struct AdapterProcess {
    pub(super) child: Child,
    /// The file that exists while the guard fails.
    pub(super) outage: Option<PathBuf>,
    /// True if the guard fails or has failed: the process then plays one case.
    pub(super) has_outage: bool,
    pub(super) patience: Duration,
    pub(super) startup: Duration,
    pub(super) quiet: Duration,
    pub(super) asked: u64,
    pub(super) left: usize,
    /// True if the process declared itself reusable in its last `hello`.
    pub(super) is_reusable: bool,
    /// The number of cases that the process has played.
    pub(super) cases: usize,
}

/// The classification of a line.
enum OutputLine {
    Answer(Value),
    /// An answer to the parallel run.
    Beside(Result<Value, AdapterTrouble>),
    Request(AdapterRequest),
    Silence,
}

impl AdapterProcess {
    fn tell(&mut self, line: &Value) -> Result<(), AdapterTrouble> {
        self.child.say(format!("{line}\n").into_bytes())
    }

    /// Sends a request, and answers the adapter's requests until its response.
    pub(super) fn ask<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
        world: Option<&mut dyn AdapterWorld>,
    ) -> Result<T, AdapterTrouble> {
        self.asked += 1;
        let id = Value::from(self.asked);
        self.tell(&json!({ "id": id, "method": method, "params": params }))?;
        let mut talk = Talk { pending: BTreeMap::new(), late_clock: None, world, beside: None };
        let starts = self.asked == 1;
        let mut until = Instant::now() + if starts { self.startup } else { self.patience };
        loop {
            let wait = until.saturating_duration_since(Instant::now());
            let held = !talk.pending.is_empty() || talk.late_clock.is_some();
            let wait = if held { wait.min(self.quiet(&talk)) } else { wait };
            match self.hear(&id, talk.beside.as_ref(), wait)? {
                OutputLine::Answer(_) if talk.beside.is_some() => {
                    let message = "it ended a run while a call of it was in flight";
                    return Err(AdapterTrouble::new(TroubleKind::Message, message));
                }
                OutputLine::Beside(answer) => {
                    self.end_beside(answer, &mut talk)?;
                    until = Instant::now() + self.patience;
                }
                OutputLine::Answer(result) => {
                    return serde_json::from_value(result).map_err(|error| {
                        AdapterTrouble::new(
                            TroubleKind::Message,
                            format!("its answer to `{method}` is not one: {error}"),
                        )
                    });
                }
                OutputLine::Request(request) => {
                    self.left = self.left.checked_sub(1).ok_or_else(|| {
                        AdapterTrouble::new(
                            TroubleKind::Flood,
                            format!("it asked more than {MAX_MESSAGES} times in one case"),
                        )
                    })?;
                    self.serve(request, &mut talk)?;
                    until = Instant::now() + self.patience;
                }
                OutputLine::Silence if talk.late_clock.is_some() => {
                    self.tell_the_time(&mut talk)?
                }
                OutputLine::Silence if held => {
                    let is_late = talk.beside.is_none() || Instant::now() >= until;
                    if !self.release(&mut talk, true)? {
                        if !is_late {
                            continue;
                        }
                        return Err(self.late(method, &talk));
                    }
                    until = Instant::now() + self.patience;
                }
                OutputLine::Silence => return Err(self.late(method, &talk)),
            }
        }
    }

    /// Returns the silence after which held calls end. It is short if no other call is expected in
    /// parallel.
    fn quiet(&self, talk: &Talk) -> Duration {
        let expecting = talk.world.as_ref().is_none_or(|world| world.is_expecting_company());
        if expecting && talk.late_clock.is_none() { self.quiet } else { self.quiet / 5 }
    }

    fn late(&self, method: &str, talk: &Talk) -> AdapterTrouble {
        let limit = if self.asked == 1 { self.startup } else { self.patience };
        let mut message = format!(
            "it was silent for {} s while `{method}` was to be answered",
            limit.as_secs_f32()
        );
        if !talk.pending.is_empty() {
            let calls: Vec<&str> = talk.pending.keys().map(String::as_str).collect();
            message.push_str(&format!("; calls in flight: {}", calls.join(", ")));
        }
        AdapterTrouble::new(TroubleKind::Hang, message)
    }

    /// Reads and classifies one line.
    fn hear(
        &mut self,
        id: &Value,
        beside: Option<&SecondRun>,
        wait: Duration,
    ) -> Result<OutputLine, AdapterTrouble> {
        let line = match self.child.hear(wait) {
            None => return Ok(OutputLine::Silence),
            Some(NextLine::End) => {
                return Err(AdapterTrouble::new(TroubleKind::Crash, self.child.how_it_ended()));
            }
            Some(NextLine::TooLong) => {
                let message = format!("a line is longer than {} MiB", MAX_LINE >> 20);
                return Err(AdapterTrouble::new(TroubleKind::Flood, message));
            }
            Some(NextLine::Whole(line) | NextLine::Open(line)) => line,
        };
        let shown = guard_plan::render::cut(&String::from_utf8_lossy(&line), QUOTED);
        let bad =
            |why: String| AdapterTrouble::new(TroubleKind::Message, format!("{why}: {shown}"));
        let value: Value = serde_json::from_slice(&line)
            .map_err(|error| bad(format!("a line that is not JSON ({error})")))?;
        if value.get("method").is_some() {
            return serde_json::from_value(value)
                .map(OutputLine::Request)
                .map_err(|error| bad(format!("not a request ({error})")));
        }
        let is_beside = beside.is_some_and(|beside| value.get("id") == Some(&beside.id));
        if !is_beside && value.get("id") != Some(id) {
            return Err(bad("an answer to a request that was not made".into()));
        }
        let answer = match (value.get("result"), value.get("error")) {
            (Some(result), None) => Ok(result.clone()),
            (None, Some(error)) => {
                let message = error
                    .get("message")
                    .and_then(Value::as_str)
                    .map_or_else(|| error.to_string(), str::to_owned);
                Err(AdapterTrouble::new(
                    TroubleKind::Error,
                    format!("it answered with an error: {message}"),
                ))
            }
            _ => return Err(bad("an answer with neither `result` nor `error`".into())),
        };
        if is_beside { Ok(OutputLine::Beside(answer)) } else { answer.map(OutputLine::Answer) }
    }

    /// Starts the run that the world requests in parallel to the current one.
    fn start_beside(&mut self, talk: &mut Talk) -> Result<(), AdapterTrouble> {
        let Some(run) = talk.world.as_mut().and_then(|world| world.beside()) else {
            return Ok(());
        };
        self.asked += 1;
        let id = Value::from(self.asked);
        self.tell(&json!({ "id": id, "method": "run", "params": run }))?;
        talk.beside = Some(SecondRun { id, session: run.session });
        Ok(())
    }

    fn end_beside(
        &mut self,
        answer: Result<Value, AdapterTrouble>,
        talk: &mut Talk,
    ) -> Result<(), AdapterTrouble> {
        talk.beside = None;
        let end = answer.and_then(|result| read::<LoopEnd>("run", result));
        if let Some(world) = &mut talk.world {
            world.beside_ended(end);
            world.select("");
        }
        self.release(talk, false).map(|_| ())
    }

    /// Determines the session of a question, if two runs are in progress.
    fn select(request: &AdapterRequest, talk: &mut Talk) -> Result<(), AdapterTrouble> {
        let (Some(world), Some(_)) = (&mut talk.world, &talk.beside) else { return Ok(()) };
        let Some(session) = request.params.get("session").and_then(Value::as_str) else {
            let message = format!(
                "two runs are active, and its `{}` does not name a `session`",
                request.method
            );
            return Err(AdapterTrouble::new(TroubleKind::Message, message));
        };
        world.select(session);
        Ok(())
    }

    fn serve(&mut self, request: AdapterRequest, talk: &mut Talk) -> Result<(), AdapterTrouble> {
        AdapterProcess::select(&request, talk)?;
        let AdapterRequest { id, method, params } = request;
        let Some(world) = &mut talk.world else {
            let message = format!("it asks for `{method}` while nothing runs");
            return Err(AdapterTrouble::new(TroubleKind::Message, message));
        };
        let result = match method.as_str() {
            "model.next" => {
                let ask: ModelRequest = read(&method, params)?;
                match world.model(&ask.messages) {
                    Ok(turn) => json!(turn),
                    Err(_) => {
                        let error =
                            json!({ "code": "script_ended", "message": "the model has ended" });
                        return self.tell(&json!({ "id": id, "error": error }));
                    }
                }
            }
            "tool.execute" => {
                let call: ModelCall = read(&method, params)?;
                if talk.pending.contains_key(&call.call) {
                    let message = format!("it runs `{}` a second time while it runs", call.call);
                    return Err(AdapterTrouble::new(TroubleKind::Message, message));
                }
                world.begin(&call);
                talk.pending.insert(call.call, id);
                self.start_beside(talk)?;
                self.release(talk, false)?;
                return Ok(());
            }
            "clock.now" if world.is_racing() => {
                talk.late_clock = Some(id);
                self.release(talk, true)?;
                return Ok(());
            }
            "clock.now" => json!(Now { now: world.now() }),
            "approval.request" => json!(world.approval(&read::<ApprovalRequest>(&method, params)?)),
            "probe.read" => {
                json!(ProbeAnswer {
                    answer: world.probe(&read::<ProbeRead>(&method, params)?.name)
                })
            }
            _ => {
                let error = json!({ "code": "unknown_method", "message": format!("there is no method `{method}`") });
                return self.tell(&json!({ "id": id, "error": error }));
            }
        };
        self.tell(&json!({ "id": id, "result": result }))
    }

    /// Answers the question for the time that was left open.
    fn tell_the_time(&mut self, talk: &mut Talk) -> Result<(), AdapterTrouble> {
        let (Some(id), Some(world)) = (talk.late_clock.take(), &mut talk.world) else {
            return Ok(());
        };
        self.tell(&json!({ "id": id, "result": Now { now: world.now() } }))
    }

    /// Answers a call that has ended. Returns true if there was one. Other calls end after a
    /// silence, because the adapter's reaction to this end, and its resulting requests to the
    /// guard, must come first.
    fn release(&mut self, talk: &mut Talk, idle: bool) -> Result<bool, AdapterTrouble> {
        // Only the calls of the parallel run end while that run is in progress.
        if let (Some(world), Some(beside)) = (&mut talk.world, &talk.beside) {
            world.select(&beside.session);
        }
        let Some((call, done)) = talk.world.as_mut().and_then(|world| world.ended(idle)) else {
            return Ok(false);
        };
        if let Some(id) = talk.pending.remove(&call) {
            self.tell(&json!({ "id": id, "result": done }))?;
        }
        Ok(true)
    }
}

/// The state of a pending request to an adapter.
struct Talk<'w> {
    /// The unanswered request of each call.
    pending: BTreeMap<String, Value>,
    /// A question for the time that is answered when the adapter is silent.
    late_clock: Option<Value>,
    world: Option<&'w mut dyn AdapterWorld>,
    beside: Option<SecondRun>,
}

/// The parallel run.
struct SecondRun {
    /// The id of the request that started it.
    id: Value,
    session: String,
}

fn read<T: DeserializeOwned>(method: &str, params: Value) -> Result<T, AdapterTrouble> {
    serde_json::from_value(params).map_err(|error| {
        AdapterTrouble::new(TroubleKind::Message, format!("its `{method}` cannot be read: {error}"))
    })
}
