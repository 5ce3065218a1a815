//! An adapter as a process: a line protocol over its standard input and output, with a deadline on
//! every step.
//!
//! Only this module uses a real clock. It never waits indefinitely: a process that hangs, floods or
//! sends invalid messages is killed with all processes it has started, and that is reported.

mod child;
mod lines;

use crate::adapter::{Adapter, Contestant, Kind, Trouble, World};
use crate::protocol::{
    ApprovalRequest, Ask, Call, Declared, End, Hello, MAX_LINE, Now, OfSession, ProbeAnswer,
    ProbeRead, Replay, Replayed, Request, Reset, Restore, Run, Snapshot,
};
use child::Child;
use lines::Line;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The maximum number of messages in one run.
const MAX_MESSAGES: usize = 20_000;
/// The maximum length of a quoted invalid line, in characters.
const QUOTED: usize = 200;

/// A command that is started once for each case.
#[derive(Debug, Clone)]
pub struct Command {
    /// The binary and its arguments; no shell.
    pub argv: Vec<String>,
    /// Additional environment variables.
    pub env: Vec<(String, String)>,
    /// The time limit of one step.
    pub patience: Duration,
    /// The silence after which held calls end.
    pub quiet: Duration,
}

impl Contestant for Command {
    fn start(&self) -> Result<Box<dyn Adapter + '_>, Trouble> {
        let child = Child::start(&self.argv, &self.env)?;
        Ok(Box::new(Process {
            child,
            patience: self.patience,
            quiet: self.quiet,
            asked: 0,
            left: MAX_MESSAGES,
        }))
    }
}

struct Process {
    child: Child,
    patience: Duration,
    quiet: Duration,
    asked: u64,
    left: usize,
}

/// The classification of a line.
enum Said {
    Answer(Value),
    Request(Request),
    Silence,
}

impl Process {
    fn tell(&mut self, line: &Value) -> Result<(), Trouble> {
        self.child.say(format!("{line}\n").into_bytes())
    }

    /// Sends a request, and answers the adapter's requests until its response.
    fn ask<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
        world: Option<&mut dyn World>,
    ) -> Result<T, Trouble> {
        self.asked += 1;
        let id = Value::from(self.asked);
        self.tell(&json!({ "id": id, "method": method, "params": params }))?;
        let mut talk = Talk { pending: BTreeMap::new(), world };
        let mut until = Instant::now() + self.patience;
        loop {
            let wait = until.saturating_duration_since(Instant::now());
            let held = !talk.pending.is_empty();
            let wait = if held { wait.min(self.quiet) } else { wait };
            match self.hear(&id, wait)? {
                Said::Answer(result) => {
                    return serde_json::from_value(result).map_err(|error| {
                        Trouble::new(
                            Kind::Message,
                            format!("its answer to `{method}` is not one: {error}"),
                        )
                    });
                }
                Said::Request(request) => {
                    self.left = self.left.checked_sub(1).ok_or_else(|| {
                        Trouble::new(
                            Kind::Flood,
                            format!("it asked more than {MAX_MESSAGES} times in one case"),
                        )
                    })?;
                    self.serve(request, &mut talk)?;
                    until = Instant::now() + self.patience;
                }
                Said::Silence if held => {
                    if !self.release(&mut talk, true)? {
                        return Err(self.late(method));
                    }
                    until = Instant::now() + self.patience;
                }
                Said::Silence => return Err(self.late(method)),
            }
        }
    }

    fn late(&self, method: &str) -> Trouble {
        let message = format!(
            "it was silent for {} s while `{method}` was to be answered",
            self.patience.as_secs_f32()
        );
        Trouble::new(Kind::Hang, message)
    }

    /// Reads and classifies one line.
    fn hear(&mut self, id: &Value, wait: Duration) -> Result<Said, Trouble> {
        let line = match self.child.hear(wait) {
            None => return Ok(Said::Silence),
            Some(Line::End) => return Err(Trouble::new(Kind::Crash, self.child.how_it_ended())),
            Some(Line::TooLong) => {
                let message = format!("a line is longer than {} MiB", MAX_LINE >> 20);
                return Err(Trouble::new(Kind::Flood, message));
            }
            Some(Line::Whole(line) | Line::Open(line)) => line,
        };
        let shown = guard_plan::render::cut(&String::from_utf8_lossy(&line), QUOTED);
        let bad = |why: String| Trouble::new(Kind::Message, format!("{why}: {shown}"));
        let value: Value = serde_json::from_slice(&line)
            .map_err(|error| bad(format!("a line that is not JSON ({error})")))?;
        if value.get("method").is_some() {
            return serde_json::from_value(value)
                .map(Said::Request)
                .map_err(|error| bad(format!("not a request ({error})")));
        }
        if value.get("id") != Some(id) {
            return Err(bad("an answer to what was not asked".into()));
        }
        match (value.get("result"), value.get("error")) {
            (Some(result), None) => Ok(Said::Answer(result.clone())),
            (None, Some(error)) => {
                let message = error
                    .get("message")
                    .and_then(Value::as_str)
                    .map_or_else(|| error.to_string(), str::to_owned);
                Err(Trouble::new(Kind::Error, format!("it answered with an error: {message}")))
            }
            _ => Err(bad("an answer with neither `result` nor `error`".into())),
        }
    }

    fn serve(&mut self, request: Request, talk: &mut Talk) -> Result<(), Trouble> {
        let Request { id, method, params } = request;
        let Some(world) = &mut talk.world else {
            let message = format!("it asks for `{method}` while nothing runs");
            return Err(Trouble::new(Kind::Message, message));
        };
        let result = match method.as_str() {
            "model.next" => {
                let ask: Ask = read(&method, params)?;
                match world.model(&ask.messages) {
                    Ok(turn) => json!(turn),
                    Err(_) => {
                        let error = json!({ "code": "script_ended", "message": "the model is not there any more" });
                        return self.tell(&json!({ "id": id, "error": error }));
                    }
                }
            }
            "tool.execute" => {
                let call: Call = read(&method, params)?;
                if talk.pending.contains_key(&call.call) {
                    let message = format!("it runs `{}` a second time while it runs", call.call);
                    return Err(Trouble::new(Kind::Message, message));
                }
                world.begin(&call);
                talk.pending.insert(call.call, id);
                self.release(talk, false)?;
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

    /// Answers the calls that have ended; returns whether there were any.
    fn release(&mut self, talk: &mut Talk, idle: bool) -> Result<bool, Trouble> {
        let mut any = false;
        while let Some((call, done)) = talk.world.as_mut().and_then(|world| world.ended(idle)) {
            any = true;
            if let Some(id) = talk.pending.remove(&call) {
                self.tell(&json!({ "id": id, "result": done }))?;
            }
        }
        Ok(any)
    }
}

/// The state of a pending request to an adapter.
struct Talk<'w> {
    /// By call: its unanswered request.
    pending: BTreeMap<String, Value>,
    world: Option<&'w mut dyn World>,
}

fn read<T: DeserializeOwned>(method: &str, params: Value) -> Result<T, Trouble> {
    serde_json::from_value(params).map_err(|error| {
        Trouble::new(Kind::Message, format!("its `{method}` cannot be read: {error}"))
    })
}

impl Adapter for Process {
    fn hello(&mut self, hello: &Hello) -> Result<Declared, Trouble> {
        self.ask("hello", hello, None)
    }

    fn run(&mut self, run: &Run, world: &mut dyn World) -> Result<End, Trouble> {
        self.left = MAX_MESSAGES;
        self.ask("run", run, Some(world))
    }

    fn snapshot(&mut self, session: &str) -> Result<Value, Trouble> {
        let of = OfSession { session: session.into() };
        self.ask::<Snapshot>("snapshot", &of, None).map(|it| it.snapshot)
    }

    fn restore(&mut self, restore: &Restore) -> Result<(), Trouble> {
        self.ask::<Value>("restore", restore, None).map(|_| ())
    }

    fn reset(&mut self, session: Option<&str>) -> Result<(), Trouble> {
        let reset = Reset { session: session.map(str::to_owned) };
        self.ask::<Value>("reset", &reset, None).map(|_| ())
    }

    fn replay(&mut self, replay: &Replay) -> Result<Replayed, Trouble> {
        self.ask("replay", replay, None)
    }

    fn said(&mut self) -> String {
        self.child.stderr()
    }
}
