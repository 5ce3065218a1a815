//! The adapters as a process: the line protocol on standard input and output.

use guard_ack::protocol::MAX_LINE;
use guard_ack::protocol::{
    AdapterRequest, ApprovalAnswer, ApprovalRequest, Done, LoopEnd, ModelCall, ModelMessage,
    ModelTurn, Now, OfSession, ProbeAnswer, Reset, Run,
};
use guard_ack::{Adapter, AdapterTrouble, AdapterWorld, Refused, TroubleKind};
use guard_plan::lines::read_text_line;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{self, BufRead, Write};

/// Answers the kit until its input ends, and then ends the adapter.
///
/// # Errors
///
/// Returns an error if communication with the kit fails, or if the adapter does not end as it
/// should.
pub fn serve(adapter: &mut dyn Adapter, input: impl BufRead, output: impl Write) -> io::Result<()> {
    let mut wire = Wire {
        input,
        output,
        asked: 0,
        ended: VecDeque::new(),
        running: Vec::new(),
        session: None,
        beside: None,
        beside_id: Value::Null,
    };
    while let Some(line) = wire.read()? {
        let Ok(request) = serde_json::from_value::<AdapterRequest>(line) else { continue };
        let id = request.id.clone();
        wire.ended.clear();
        wire.running.clear();
        wire.session = request.params["session"].as_str().map(str::to_owned);
        let answer = match answer(adapter, request, &mut wire) {
            Ok(result) => json!({ "id": id, "result": result }),
            // A fault in which the adapter sends nothing any more, or exits.
            Err(trouble) if trouble.kind == TroubleKind::Hang => {
                // The process must stay alive and silent, as an adapter that hangs does.
                while wire.read()?.is_some() {}
                break;
            }
            Err(trouble) if trouble.kind == TroubleKind::Crash => {
                return Err(io::Error::other(trouble.message));
            }
            Err(trouble) => json!({ "id": id, "error": { "message": trouble.message } }),
        };
        wire.write(&answer)?;
    }
    adapter.end().map_err(io::Error::other)
}

fn answer(
    adapter: &mut dyn Adapter,
    request: AdapterRequest,
    wire: &mut dyn AdapterWorld,
) -> Result<Value, AdapterTrouble> {
    let params = request.params;
    Ok(match request.method.as_str() {
        "hello" => json!(adapter.hello(&read(params)?)?),
        "run" => json!(adapter.run(&read(params)?, wire)?),
        "snapshot" => json!({ "snapshot": adapter.snapshot(&read::<OfSession>(params)?.session)? }),
        "restore" => adapter.restore(&read(params)?).map(|()| json!({}))?,
        "reset" => adapter.reset(read::<Reset>(params)?.session.as_deref()).map(|()| json!({}))?,
        "replay" => json!(adapter.replay(&read(params)?)?),
        other => {
            return Err(AdapterTrouble::new(
                TroubleKind::Message,
                format!("there is no method `{other}`"),
            ));
        }
    })
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, AdapterTrouble> {
    serde_json::from_value(params)
        .map_err(|error| AdapterTrouble::new(TroubleKind::Message, error.to_string()))
}

/// A request that runs a tool.
struct Running {
    asked: u64,
    call: String,
    session: Option<String>,
}

/// The world at the other end of the line.
struct Wire<R, W> {
    input: R,
    output: W,
    asked: u64,
    /// Calls that ended while another question was pending.
    ended: VecDeque<(Running, Done)>,
    /// Requests that run tools, of every session.
    running: Vec<Running>,
    /// The session whose run is asking.
    session: Option<String>,
    /// A run that was requested while another one was in progress.
    beside: Option<Run>,
    /// The id of that request.
    beside_id: Value,
}

impl<R: BufRead, W: Write> Wire<R, W> {
    fn read(&mut self) -> io::Result<Option<Value>> {
        let line = read_text_line(&mut self.input, MAX_LINE)?;
        Ok(line.map(|line| serde_json::from_str(&line).unwrap_or(Value::Null)))
    }

    fn write(&mut self, value: &Value) -> io::Result<()> {
        writeln!(self.output, "{value}")?;
        self.output.flush()
    }

    fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.asked += 1;
        if let (Some(session), Value::Object(params)) = (&self.session, &mut params) {
            params.insert("session".into(), json!(session));
        }
        // If the kit is gone, the next read detects it.
        let _ = self.write(
            &json!({ "id": format!("a{}", self.asked), "method": method, "params": params }),
        );
        self.asked
    }

    /// Reads until a request is answered; calls that end meanwhile are stored.
    fn until(&mut self, wanted: u64) -> Option<Value> {
        loop {
            let line = self.read().ok().flatten()?;
            if self.is_beside(&line) {
                continue;
            }
            let id = line["id"].as_str().and_then(|id| id.strip_prefix('a')?.parse::<u64>().ok());
            if id == Some(wanted) {
                return line.get("result").cloned();
            }
            self.ended(id, &line);
        }
    }

    /// Stores a run that is requested while another one is in progress. Returns true if the line is
    /// such a request.
    fn is_beside(&mut self, line: &Value) -> bool {
        let is_run = line["method"] == "run";
        if is_run {
            self.beside_id = line["id"].clone();
            self.beside = serde_json::from_value(line["params"].clone()).ok();
        }
        is_run
    }

    fn ended(&mut self, id: Option<u64>, line: &Value) {
        let at = self.running.iter().position(|running| Some(running.asked) == id);
        let done = serde_json::from_value::<Done>(line["result"].clone());
        if let (Some(at), Ok(done)) = (at, done) {
            let running = self.running.remove(at);
            self.ended.push_back((running, done));
        }
    }

    fn ask<T: DeserializeOwned>(&mut self, method: &str, params: Value) -> Option<T> {
        let id = self.send(method, params);
        self.until(id).and_then(|result| serde_json::from_value(result).ok())
    }
}

impl<R: BufRead, W: Write> AdapterWorld for Wire<R, W> {
    fn model(&mut self, messages: &[ModelMessage]) -> Result<ModelTurn, Refused> {
        self.ask("model.next", json!({ "messages": messages })).ok_or(Refused)
    }

    fn begin(&mut self, call: &ModelCall) {
        let id = self.send("tool.execute", json!(call));
        let session = self.session.clone();
        self.running.push(Running { asked: id, call: call.call.clone(), session });
    }

    fn ended(&mut self, idle: bool) -> Option<(String, Done)> {
        loop {
            // A run waits only for its own calls. Calls of a parallel run do not end while it is in
            // progress.
            let own = |running: &Running| running.session == self.session;
            if let Some(at) = self.ended.iter().position(|(running, _)| own(running)) {
                return self.ended.remove(at).map(|(running, done)| (running.call, done));
            }
            if !idle || !self.running.iter().any(own) {
                return None;
            }
            let line = self.read().ok().flatten()?;
            if self.is_beside(&line) {
                return None;
            }
            let id = line["id"].as_str().and_then(|id| id.strip_prefix('a')?.parse::<u64>().ok());
            Wire::ended(self, id, &line);
        }
    }

    fn now(&mut self) -> String {
        self.ask::<Now>("clock.now", json!({})).map(|reply| reply.now).unwrap_or_default()
    }

    fn approval(&mut self, request: &ApprovalRequest) -> ApprovalAnswer {
        let refused =
            ApprovalAnswer { granted: false, later: false, by: String::new(), expires: None };
        self.ask("approval.request", json!(request)).unwrap_or(refused)
    }

    fn probe(&mut self, name: &str) -> Option<Value> {
        self.ask::<ProbeAnswer>("probe.read", json!({ "name": name }))
            .and_then(|reply| reply.answer)
    }

    fn beside(&mut self) -> Option<Run> {
        self.beside.take()
    }

    fn select(&mut self, session: &str) {
        self.session = Some(session.to_owned());
    }

    fn beside_ended(&mut self, end: Result<LoopEnd, AdapterTrouble>) {
        let id = std::mem::take(&mut self.beside_id);
        let answer = match end {
            Ok(end) => json!({ "id": id, "result": end }),
            Err(trouble) if trouble.kind == TroubleKind::Hang => return,
            Err(trouble) => json!({ "id": id, "error": { "message": trouble.message } }),
        };
        // If the kit is gone, the next read detects it.
        let _ = self.write(&answer);
    }
}
