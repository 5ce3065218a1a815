//! The world of one run: the model's script, tools, files, the clock, and people who approve. It
//! plays its part, and records what it observes.

use crate::adapter::{AdapterTrouble, AdapterWorld, Refused, TroubleKind};
use crate::case::{CallFile, Case, RunFile, TurnFile};
use crate::observed::{RanCall, RunSeen};
use crate::protocol::{
    ApprovalAnswer, ApprovalRequest, Done, HostEvent, LoopEnd, ModelCall, ModelMessage, ModelTurn,
    Run, StreamChunk, ToolRun,
};
use crate::workspace::Workspace;
use guard_plan::time;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::collections::VecDeque;

/// The state that lasts from run to run: the clock, the workspace, the answers so far.
pub struct Outside<'c> {
    pub case: &'c Case,
    pub now: i64,
    pub workspace: Option<Workspace>,
    /// The adapter's id of each call, by the case's id.
    pub ids: BTreeMap<String, String>,
    /// True if calls end only when the adapter is silent.
    pub held: bool,
    approvals: BTreeMap<String, usize>,
    /// The number of requests to the model.
    turns: usize,
    pub log: Vec<String>,
}

impl<'c> Outside<'c> {
    pub fn new(
        case: &'c Case,
        workspace: Option<Workspace>,
        ids: BTreeMap<String, String>,
    ) -> Outside<'c> {
        let now = time::parse_rfc3339(&case.start).unwrap_or_default();
        Outside {
            case,
            now,
            workspace,
            ids,
            held: false,
            approvals: BTreeMap::new(),
            turns: 0,
            log: Vec::new(),
        }
    }

    pub fn passes(&mut self, duration: Option<&String>) {
        let millis = duration.and_then(|text| time::parse_duration(text)).unwrap_or(0);
        self.now = self.now.saturating_add(millis);
    }

    /// Records a message in the form of its line.
    pub fn note(&mut self, arrow: &str, method: &str, body: &Value) {
        self.log.push(format!("{arrow} {method} {body}"));
    }
}

/// Returns the next of several values; the last one repeats.
fn next_of<'v, T>(values: &'v [T], at: &mut usize) -> Option<&'v T> {
    let value = values.get(*at).or(values.last());
    *at += 1;
    value
}

/// Returns a value of a case as JSON.
pub fn json_of(value: &toml::Value) -> Value {
    match value {
        // Serde writes a time of TOML as an object with a private name.
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(items) => items.iter().map(json_of).collect(),
        toml::Value::Table(members) => table(members),
        other => serde_json::to_value(other).unwrap_or(Value::Null),
    }
}

/// Returns a table of a case as a JSON object.
pub fn table(members: &toml::Table) -> Value {
    Value::Object(members.iter().map(|(key, value)| (key.clone(), json_of(value))).collect())
}

/// Replaces call references in arguments: `@id` stands for the adapter's id of that call.
pub fn named(args: &Value, ids: &BTreeMap<String, String>) -> Value {
    match args {
        Value::String(text) => {
            let id = text.strip_prefix('@').and_then(|id| ids.get(id));
            Value::String(id.unwrap_or(text).clone())
        }
        Value::Array(items) => items.iter().map(|item| named(item, ids)).collect(),
        Value::Object(members) => Value::Object(
            members.iter().map(|(key, value)| (key.clone(), named(value, ids))).collect(),
        ),
        other => other.clone(),
    }
}

/// The stage of one run: its script, and the observations so far.
struct RunStage<'c> {
    session: String,
    script: &'c RunFile,
    seen: RunSeen,
    /// For the current turn: true if the calls are held.
    overlap: bool,
    /// For the current turn: the number of questions for the time until the call in flight ends.
    race: usize,
    /// The calls that run, as indexes of the executed calls, in the order in which they began.
    running: VecDeque<usize>,
    events: usize,
}

/// The state of the parallel run.
enum ParallelRun {
    /// There is none, or the run has ended.
    None,
    /// The run begins with this call.
    Awaits(Box<Run>, String),
    /// The run is in progress.
    Goes,
}

/// The world of one run, and of another run in parallel.
pub struct Stages<'o, 'c> {
    pub outside: &'o mut Outside<'c>,
    stages: Vec<RunStage<'c>>,
    /// The stage whose adapter asks.
    active: usize,
    beside: ParallelRun,
    beside_end: Option<Result<LoopEnd, AdapterTrouble>>,
}

impl<'o, 'c> Stages<'o, 'c> {
    pub fn new(outside: &'o mut Outside<'c>, script: &'c RunFile, session: &str) -> Stages<'o, 'c> {
        let mut all = Stages {
            outside,
            stages: Vec::new(),
            active: 0,
            beside: ParallelRun::None,
            beside_end: None,
        };
        all.add_stage(script, session);
        all
    }

    fn add_stage(&mut self, script: &'c RunFile, session: &str) {
        let seen = RunSeen { log_from: self.outside.log.len(), ..RunSeen::default() };
        self.stages.push(RunStage {
            session: session.to_owned(),
            script,
            seen,
            overlap: false,
            race: 0,
            running: VecDeque::new(),
            events: 0,
        });
    }

    /// Adds a run that takes place while a call is in flight.
    pub fn go_beside(&mut self, message: Run, script: &'c RunFile, call: String) {
        self.add_stage(script, &message.session);
        self.beside = ParallelRun::Awaits(Box::new(message), call);
    }

    /// Returns the observations of the run, and of the parallel run with its end.
    #[allow(clippy::type_complexity, reason = "a run, and maybe another with its end")]
    pub fn into_seen(
        mut self,
    ) -> (RunSeen, Option<(RunSeen, Option<Result<LoopEnd, AdapterTrouble>>)>) {
        if matches!(self.beside, ParallelRun::Goes) {
            let silent = AdapterTrouble::new(TroubleKind::Hang, "the concurrent run did not end");
            self.beside_end = Some(Err(silent));
        }
        let beside = (self.stages.len() > 1).then(|| self.stages.pop()).flatten();
        let beside = beside.map(|stage| (stage.seen, self.beside_end.take()));
        (self.stages.pop().map(|stage| stage.seen).unwrap_or_default(), beside)
    }

    fn stage(&self) -> &RunStage<'c> {
        &self.stages[self.active]
    }

    fn stage_mut(&mut self) -> &mut RunStage<'c> {
        &mut self.stages[self.active]
    }

    fn turn(&self, turn: &'c TurnFile) -> ModelTurn {
        let call = |call: &CallFile| ModelCall {
            call: self.outside.ids.get(&call.id).cloned().unwrap_or_default(),
            tool: call.tool.clone(),
            args: named(&json_of(&call.args), &self.outside.ids),
        };
        let reason = if turn.stop { "stop" } else { "tool_calls" };
        let calls: Vec<ModelCall> = turn.calls.iter().map(call).collect();
        let streamed = self.outside.case.world.streamed;
        ModelTurn {
            host: turn
                .host
                .iter()
                .filter_map(|event| event.clone().try_into::<HostEvent>().ok())
                .collect(),
            usage: turn.usage.clone(),
            say: turn.say.clone().filter(|_| !streamed),
            pieces: if streamed { pieces(turn.say.as_deref(), &calls) } else { Vec::new() },
            calls: if streamed { Vec::new() } else { calls },
            stop: turn.stop,
            output: turn.output.clone(),
            finish_reason: turn.finish_reason.clone().unwrap_or_else(|| reason.into()),
        }
    }

    /// Returns the case's id of a call that runs. The model may have given the same id to several
    /// calls, or no id.
    fn case_id(&self, call: &ModelCall) -> Option<String> {
        let ids = &self.outside.ids;
        let begun = |id: &String| {
            self.stage().seen.executed.iter().any(|call| call.id.as_ref() == Some(id))
        };
        let named = |script: &&CallFile| ids.get(&script.id) == Some(&call.call);
        let like = |script: &&CallFile| {
            script.tool == call.tool && self::named(&json_of(&script.args), ids) == call.args
        };
        let scripts: Vec<&CallFile> = self.outside.case.calls().filter(named).collect();
        let best = scripts.iter().find(|script| like(script) && !begun(&script.id));
        if let Some(script) = best.or(scripts.first()) {
            return Some(script.id.clone());
        }
        // A framework gives a call without an id its own id.
        let mut nameless = self.outside.case.calls().filter(|script| {
            script.given_id.as_deref() == Some("") && like(script) && !begun(&script.id)
        });
        nameless.next().map(|script| script.id.clone())
    }

    /// Returns true if a call of the first stage has begun.
    fn is_begun(&self, id: &str) -> bool {
        self.stages[0].seen.executed.iter().any(|call| call.id.as_deref() == Some(id))
    }

    /// Returns the calls of the current turn.
    fn calls(&self) -> &'c [CallFile] {
        let stage = self.stage();
        let turn = stage.seen.shown.len().checked_sub(1).and_then(|at| stage.script.turn.get(at));
        turn.map_or(&[], |turn| &turn.calls)
    }

    fn has_begun(&self, id: &str) -> bool {
        self.stage().seen.executed.iter().any(|call| call.id.as_deref() == Some(id))
    }

    /// Returns true if every call of the turn runs or has run. The adapter may still ask about a
    /// call that does not: the answer depends on the calls that have ended.
    fn complete(&self) -> bool {
        self.calls().iter().all(|call| self.has_begun(&call.id))
    }

    /// Ends a call that has run. Its files are written now. Returns its result.
    fn finish(&mut self, at: usize) -> (String, Done) {
        let stage = &mut self.stages[self.active];
        let served = &mut stage.seen.executed[at];
        served.ended = Some(stage.events);
        served.told = Some(self.outside.log.len());
        let wire = served.call.call.clone();
        let script =
            served.id.as_ref().and_then(|id| self.outside.case.calls().find(|call| call.id == *id));
        stage.events += 1;
        let Some(script) = script else {
            return (
                wire,
                Done {
                    outcome: ToolRun::Failure,
                    result: json!("there is no such call"),
                    failure: None,
                },
            );
        };
        self.outside.passes(script.takes.as_ref());
        if let Some(workspace) = &self.outside.workspace {
            for (name, text) in &script.writes {
                // A file that cannot be written is missing, and the checks will report it.
                let _ = workspace.write(name, text);
            }
            for name in &script.removes {
                let _ = workspace.remove(name);
            }
        }
        let failed = script.is_failure();
        let outcome = if failed { ToolRun::Failure } else { ToolRun::Success };
        let result = script.result.as_ref().map_or_else(|| json!("done"), json_of);
        (wire, Done { outcome, result, failure: script.failure })
    }
}

impl AdapterWorld for Stages<'_, '_> {
    fn model(&mut self, messages: &[ModelMessage]) -> Result<ModelTurn, Refused> {
        let at = self.stage().seen.shown.len();
        // The log holds only the new messages, because each request repeats the whole conversation.
        let new = self.stage().seen.shown.last().map_or(0, Vec::len).min(messages.len());
        let earlier = (new > 0).then(|| json!(format!("… {new} as before")));
        let messages_shown: Vec<Value> = earlier
            .into_iter()
            .chain(messages[new..].iter().map(|message| json!(message)))
            .collect();
        let body = json!({ "messages": messages_shown });
        self.outside.note("<", "model.next", &body);
        self.stage_mut().seen.shown.push(messages.to_vec());
        self.outside.turns += 1;
        let script = self.stage().script;
        let Some(turn) = script.turn.get(at) else {
            self.stage_mut().seen.beyond = true;
            self.outside.note(">", "model.next", &json!({ "error": "the script has ended" }));
            return Err(Refused);
        };
        self.outside.passes(turn.after.as_ref());
        self.stage_mut().overlap = turn.overlap;
        self.stage_mut().race = turn.race.unwrap_or_default();
        let answer = self.turn(turn);
        let message = self.outside.log.len();
        self.stage_mut().seen.asked.push(message);
        self.outside.note(">", "model.next", &json!(answer));
        Ok(answer)
    }

    fn begin(&mut self, call: &ModelCall) {
        self.outside.note("<", "tool.execute", &json!(call));
        let id = self.case_id(call);
        let stage = self.stage_mut();
        stage.running.push_back(stage.seen.executed.len());
        let begun = stage.events;
        stage.seen.executed.push(RanCall {
            call: call.clone(),
            id,
            begun,
            ended: None,
            told: None,
        });
        stage.events += 1;
    }

    fn ended(&mut self, idle: bool) -> Option<(String, Done)> {
        // The call stays in flight until the parallel run has ended.
        let is_held = match &self.beside {
            ParallelRun::None => false,
            ParallelRun::Awaits(_, call) => self.is_begun(call),
            ParallelRun::Goes => true,
        };
        if self.active == 0 && is_held {
            return None;
        }
        let may_end = idle || self.complete();
        let held = self.outside.held;
        let stage = self.stage_mut();
        let next = match (stage.overlap, may_end) {
            (true, true) => stage.running.pop_back(),
            (true, false) => None,
            (false, false) if held || stage.race > 0 => None,
            (false, _) => stage.running.pop_front(),
        };
        let (call, done) = self.finish(next?);
        self.outside.note(
            ">",
            "tool.execute",
            &json!({ "call": call, "outcome": done.outcome, "result": done.result }),
        );
        Some((call, done))
    }

    fn is_expecting_company(&self) -> bool {
        let awaited =
            |id: &String| self.calls().iter().any(|call| call.id == *id) && !self.has_begun(id);
        self.stage().script.expect.together.iter().flatten().any(awaited)
    }

    fn now(&mut self) -> String {
        time::format_rfc3339(self.outside.now)
    }

    fn is_racing(&mut self) -> bool {
        let stage = self.stage_mut();
        if stage.race == 0 || stage.running.is_empty() {
            return false;
        }
        stage.race -= 1;
        stage.race == 0
    }

    fn approval(&mut self, request: &ApprovalRequest) -> ApprovalAnswer {
        self.outside.note("<", "approval.request", &json!(request));
        self.stage_mut().seen.approvals.push(request.clone());
        let case = self.outside.case;
        let at = self.outside.approvals.entry(request.role.clone()).or_default();
        let given = case.world.approvals.get(&request.role).and_then(|all| next_of(all, at));
        self.outside.passes(given.and_then(|given| given.takes.as_ref()));
        let lasts = given.and_then(|given| given.lasts.as_deref()).and_then(time::parse_duration);
        let answer = ApprovalAnswer {
            granted: given.is_some_and(|given| given.granted && !given.later),
            later: given.is_some_and(|given| given.later),
            by: "kim".into(),
            expires: lasts
                .map(|lasts| time::format_rfc3339(self.outside.now.saturating_add(lasts))),
        };
        self.outside.note(">", "approval.request", &json!(answer));
        answer
    }

    fn probe(&mut self, name: &str) -> Option<Value> {
        let answers = self.outside.case.world.probes.get(name);
        let turn = self.outside.turns.saturating_sub(1);
        let answer = answers.and_then(|all| all.get(turn).or(all.last())).map(json_of);
        self.outside.note("<", "probe.read", &json!({ "name": name, "answer": answer }));
        answer
    }

    fn beside(&mut self) -> Option<Run> {
        let ParallelRun::Awaits(_, call) = &self.beside else { return None };
        if !self.is_begun(call) {
            return None;
        }
        let ParallelRun::Awaits(message, _) =
            std::mem::replace(&mut self.beside, ParallelRun::Goes)
        else {
            return None;
        };
        self.outside.note(">", "run", &json!(message));
        Some(*message)
    }

    fn select(&mut self, session: &str) {
        let at = self.stages.iter().position(|stage| stage.session == session);
        self.active = at.unwrap_or(0);
    }

    fn beside_ended(&mut self, end: Result<LoopEnd, AdapterTrouble>) {
        self.beside = ParallelRun::None;
        self.beside_end = Some(end);
    }
}

/// The length of a piece of a streamed text, in characters.
const PIECE: usize = 7;

/// Splits the model's text and calls into pieces. Pieces of several calls alternate.
fn pieces(say: Option<&str>, calls: &[ModelCall]) -> Vec<StreamChunk> {
    let cut = |text: &str| -> VecDeque<String> {
        let characters: Vec<char> = text.chars().collect();
        characters.chunks(PIECE).map(|piece| piece.iter().collect()).collect()
    };
    let say = cut(say.unwrap_or_default()).into_iter();
    let mut pieces: Vec<StreamChunk> =
        say.map(|say| StreamChunk { say: Some(say), ..StreamChunk::default() }).collect();
    let mut left: Vec<VecDeque<String>> =
        calls.iter().map(|call| cut(&call.args.to_string())).collect();
    for (at, call) in calls.iter().enumerate() {
        let id = Some(call.call.clone());
        let tool = Some(call.tool.clone());
        pieces.push(StreamChunk { at: Some(at), call: id, tool, ..StreamChunk::default() });
    }
    while left.iter().any(|pieces| !pieces.is_empty()) {
        for (at, left) in left.iter_mut().enumerate() {
            let args = left.pop_front();
            pieces.extend(args.map(|args| StreamChunk {
                at: Some(at),
                args: Some(args),
                ..StreamChunk::default()
            }));
        }
    }
    pieces
}
