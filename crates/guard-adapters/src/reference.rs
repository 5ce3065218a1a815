//! The reference evaluator as an adapter: a loop with hooks around `guard_compiler::reference`.
//!
//! It uses neither plan nor kernel, and has no messages of its own: a denial is shown as the
//! reasons in its rules, and a blocked stop as the names of the failed checks. Its shown texts and
//! runs are the expectations of generated cases.

use crate::harness::{shown_text, text_of};
use guard_ack::protocol::{
    ApprovalRequest, Declared, Done, Hello, HostEvent, LoopEnd, LoopEndKind, ModelCall,
    ModelMessage, ModelTurn, ReplayAnswer, ReplayRequest, Restore, Role, Run, ToolRun,
};
use guard_ack::{Adapter, AdapterTrouble, AdapterWorld, Contestant, TroubleKind, clause};
use guard_compiler::hir::Program;
use guard_compiler::reference::{Ask, Judgement, Misuse, ReferenceSession, Stopping, UnmetCheck};
use guard_compiler::{NoFiles, SourceFile, compile};
use guard_hosts::Host;
use guard_plan::json::Json;
use guard_plan::record::{Content, rendered};
use guard_plan::verdict::{Code, Decision};
use guard_plan::{decimal, time};
use guard_runtime::World as _;
use serde_json::Value;
use std::cell::RefCell;
use std::path::Path;

/// The prefix of reasons of rules in shadow mode, in generated guards.
pub const SHADE: &str = "shade";

/// A loop around the reference evaluator. It keeps no session beyond one run.
#[derive(Debug, Clone, Copy)]
pub struct Evaluator {
    /// True if the calls of a turn run one after another.
    pub serial: bool,
}

impl Contestant for Evaluator {
    fn start(&self) -> Result<Box<dyn Adapter + '_>, AdapterTrouble> {
        Ok(Box::new(*self))
    }
}

fn trouble(what: impl ToString) -> AdapterTrouble {
    AdapterTrouble::new(TroubleKind::Error, what.to_string())
}

fn misuse(misuse: Misuse) -> AdapterTrouble {
    trouble(misuse.0)
}

fn unable<T>() -> Result<T, AdapterTrouble> {
    Err(trouble("the reference evaluator plays single runs"))
}

impl Adapter for Evaluator {
    fn hello(&mut self, _: &Hello) -> Result<Declared, AdapterTrouble> {
        let names =
            clause::capabilities().iter().map(|capability| (capability.name.to_owned(), true));
        Ok(Declared {
            name: "reference".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            capabilities: names.collect(),
            reusable: true,
        })
    }

    fn run(&mut self, run: &Run, world: &mut dyn AdapterWorld) -> Result<LoopEnd, AdapterTrouble> {
        let program = compiled(&run.source).ok_or_else(|| trouble("the guard does not compile"))?;
        let data = run.data.as_ref().map(json).transpose()?;
        let root = run.workspace.as_deref().unwrap_or("/workspace");
        let session = ReferenceSession::open(&program, millis(&run.now), root, data.as_ref())
            .map_err(|(_, why)| trouble(why))?;
        let host = Host::new(run.workspace.as_deref().map(Path::new)).map_err(trouble)?;
        let host = RefCell::new(host);
        let mut round = AdapterRun {
            session,
            host: &host,
            world,
            source: &run.source,
            messages: Vec::new(),
            serial: self.serial,
        };
        round.play(run)
    }

    fn snapshot(&mut self, _: &str) -> Result<Value, AdapterTrouble> {
        unable()
    }

    fn restore(&mut self, _: &Restore) -> Result<(), AdapterTrouble> {
        unable()
    }

    fn reset(&mut self, _: Option<&str>) -> Result<(), AdapterTrouble> {
        unable()
    }

    fn replay(&mut self, _: &ReplayRequest) -> Result<ReplayAnswer, AdapterTrouble> {
        unable()
    }
}

/// Returns the checked program of a guard; `None` if it has errors.
pub fn compiled(source: &str) -> Option<Program> {
    let file = SourceFile { path: "case.guard".into(), text: source.to_owned() };
    compile(file, &mut NoFiles).output.map(|output| output.program)
}

fn json(value: &Value) -> Result<Json, AdapterTrouble> {
    Json::parse(&value.to_string()).map_err(trouble)
}

fn millis(text: &str) -> i64 {
    time::parse_rfc3339(text).unwrap_or_default()
}

/// Returns the answer of the workspace.
fn answer(host: &RefCell<Host>, ask: &Ask) -> Option<Json> {
    let mut host = host.borrow_mut();
    match ask {
        Ask::Exists(path) => host.exists(path).map(Json::Bool),
        Ask::Probe(name) => host.probe(name),
        Ask::File(path) => host.file(path).map(Json::Bool),
        Ask::Contains(path, text) => host.contains(path, text).map(Json::Bool),
        Ask::Text(path) => Some(match host.text(path)? {
            Content::Text(text) => Json::string(&text),
            _ => Json::Null,
        }),
        Ask::Sha256(path) => {
            Some(host.sha256(path)?.map_or(Json::Null, |digest| Json::string(&digest)))
        }
        // Generated guards use neither of these.
        Ask::Run(_) | Ask::Committed => None,
    }
}

/// The outcome of a call.
enum AwaitedGate {
    Run,
    Wait,
    Refused(String),
}

/// One run.
struct AdapterRun<'r> {
    session: ReferenceSession<'r>,
    host: &'r RefCell<Host>,
    world: &'r mut dyn AdapterWorld,
    source: &'r str,
    messages: Vec<ModelMessage>,
    serial: bool,
}

impl AdapterRun<'_> {
    fn play(&mut self, run: &Run) -> Result<LoopEnd, AdapterTrouble> {
        self.prompt(&run.prompt)?;
        loop {
            let Ok(turn) = self.world.model(&self.messages) else {
                let why = Some("the script has ended".to_owned());
                return Ok(LoopEnd::without_output(LoopEndKind::Error, why));
            };
            self.meanwhile(&turn)?;
            if !turn.stop {
                if self.serial {
                    self.one_by_one(&turn.calls)?
                } else {
                    self.together(&turn.calls)?
                }
                continue;
            }
            let now = self.now();
            let stopping = self.session.stop(now, &|ask: &Ask| answer(self.host, ask));
            if stopping.allowed {
                let output = turn.output.clone();
                let ended = how(&stopping);
                return Ok(LoopEnd { output, ..LoopEnd::without_output(ended, None) });
            }
            let lines: Vec<String> = stopping.missing.iter().flat_map(missing).collect();
            self.say(Role::User, None, &lines.join("\n"));
        }
    }

    fn now(&mut self) -> i64 {
        millis(&self.world.now())
    }

    fn say(&mut self, role: Role, call: Option<&ModelCall>, text: &str) {
        let call = call.map(|call| call.call.clone());
        self.messages.push(ModelMessage {
            role,
            text: text.into(),
            call,
            calls: Vec::new(),
            failed: false,
        });
    }

    fn prompt(&mut self, text: &str) -> Result<(), AdapterTrouble> {
        let now = self.now();
        let host = self.host;
        self.session.prompt(text, now, &|ask: &Ask| answer(host, ask)).map_err(misuse)?;
        self.say(Role::User, None, text);
        Ok(())
    }

    /// Reports the events that happened while the model was generating.
    fn meanwhile(&mut self, turn: &ModelTurn) -> Result<(), AdapterTrouble> {
        for event in &turn.host {
            match event {
                HostEvent::Prompt { text } => self.prompt(text)?,
                HostEvent::Resume { .. } => {
                    let now = self.now();
                    self.session.resume(now).map_err(misuse)?;
                }
                HostEvent::Verify { .. }
                | HostEvent::Move { .. }
                | HostEvent::Approve { .. }
                | HostEvent::Revoke { .. } => {
                    return unable();
                }
            }
        }
        for (unit, amount) in &turn.usage {
            let now = self.now();
            let amount = decimal::parse(amount).ok_or_else(|| trouble("usage is not an amount"))?;
            self.session.usage(unit, amount, now).map_err(misuse)?;
        }
        let text = turn.say.clone().or(turn.output.clone()).unwrap_or_default();
        let role = Role::Assistant;
        let calls = turn.calls.clone();
        self.messages.push(ModelMessage { role, text, call: None, calls, failed: false });
        Ok(())
    }

    fn one_by_one(&mut self, calls: &[ModelCall]) -> Result<(), AdapterTrouble> {
        for call in calls {
            match self.gate(call)? {
                AwaitedGate::Run => {
                    self.world.begin(call);
                    if let Some((_, done)) = self.world.ended(true) {
                        self.settle(call, &done)?;
                    }
                }
                AwaitedGate::Refused(text) => self.say(Role::Tool, Some(call), &text),
                AwaitedGate::Wait => self.say(Role::Tool, Some(call), ""),
            }
        }
        Ok(())
    }

    fn together(&mut self, calls: &[ModelCall]) -> Result<(), AdapterTrouble> {
        let mut running: Vec<&ModelCall> = Vec::new();
        let mut waiting: Vec<&ModelCall> = Vec::new();
        self.begin(calls.iter().collect(), &mut running, &mut waiting)?;
        while let Some((id, done)) = self.world.ended(true) {
            let Some(at) = running.iter().position(|call| call.call == id) else { continue };
            let call = running.remove(at);
            self.settle(call, &done)?;
            let again = std::mem::take(&mut waiting);
            self.begin(again, &mut running, &mut waiting)?;
        }
        for call in waiting {
            self.say(Role::Tool, Some(call), "");
        }
        Ok(())
    }

    fn begin<'c>(
        &mut self,
        calls: Vec<&'c ModelCall>,
        running: &mut Vec<&'c ModelCall>,
        waiting: &mut Vec<&'c ModelCall>,
    ) -> Result<(), AdapterTrouble> {
        for call in calls {
            match self.gate(call)? {
                AwaitedGate::Run => {
                    self.world.begin(call);
                    running.push(call);
                }
                AwaitedGate::Refused(text) => self.say(Role::Tool, Some(call), &text),
                AwaitedGate::Wait => waiting.push(call),
            }
        }
        Ok(())
    }

    fn gate(&mut self, call: &ModelCall) -> Result<AwaitedGate, AdapterTrouble> {
        let args = json(&call.args)?;
        let mut asked = false;
        loop {
            let now = self.now();
            let host = self.host;
            let world = &|ask: &Ask| answer(host, ask);
            let judged = self.session.propose(&call.call, &call.tool, &args, now, world);
            let judged = judged.map_err(misuse)?;
            match judged.decision {
                Decision::Allow => return Ok(AwaitedGate::Run),
                Decision::Wait => return Ok(AwaitedGate::Wait),
                // A role is asked once; a second request for approval would only repeat the
                // refusal.
                Decision::Ask if !asked => {
                    asked = true;
                    if !self.approved(call, &args, &judged)? {
                        return Ok(AwaitedGate::Refused(reasons(self.source, &judged)));
                    }
                }
                _ => return Ok(AwaitedGate::Refused(reasons(self.source, &judged))),
            }
        }
    }

    fn approved(
        &mut self,
        call: &ModelCall,
        args: &Json,
        judged: &Judgement,
    ) -> Result<bool, AdapterTrouble> {
        let needed = judged.reasons.iter().filter(|(code, ..)| *code == Code::Approval);
        let mut roles: Vec<&String> = needed.flat_map(|(.., needs)| needs).collect();
        roles.dedup();
        for role in roles {
            let request = ApprovalRequest {
                call: call.call.clone(),
                tool: call.tool.clone(),
                args: call.args.clone(),
                role: role.clone(),
            };
            let approval = self.world.approval(&request);
            if !approval.granted {
                return Ok(false);
            }
            let now = self.now();
            let expires = approval.expires.as_deref().map(millis);
            self.session.approve(&call.tool, args, role, expires, now).map_err(misuse)?;
        }
        Ok(true)
    }

    fn settle(&mut self, call: &ModelCall, done: &Done) -> Result<(), AdapterTrouble> {
        let now = self.now();
        let host = self.host;
        let result = json(&done.result)?;
        let success = done.outcome == ToolRun::Success;
        let result = success.then_some(&result);
        let world = &|ask: &Ask| answer(host, ask);
        let settled = self.session.settle(&call.call, success, result, now, world);
        let settled = settled.map_err(misuse)?;
        let shown = settled.shown.as_ref().map(shown_text);
        let text = shown.unwrap_or_else(|| text_of(&done.result));
        self.say(Role::Tool, Some(call), &text);
        let feedback = rendered(&settled.feedback);
        if !feedback.is_empty() {
            self.say(Role::User, None, &feedback);
        }
        Ok(())
    }
}

/// Returns the reasons in the rules of a denial, one per line, and the feedback.
fn reasons(source: &str, judged: &Judgement) -> String {
    // A rule that cannot be evaluated reports that instead of its own reason.
    let gives = |code: &Code| *code != Code::EvaluationError;
    let given = judged.fired.iter().filter(|(code, _)| gives(code)).filter_map(|(_, span)| {
        let text = source.get(span.start as usize..span.end as usize)?;
        let word = text.split_once("because \"")?.1.split('"').next()?;
        // Rules in shadow mode are also among those that fired, but show nothing.
        (!word.starts_with(SHADE)).then(|| word.to_owned())
    });
    let mut lines: Vec<String> = given.collect();
    lines.extend(judged.outcome.feedback.iter().map(|feedback| feedback.text.clone()));
    lines.join("\n\n")
}

/// Returns the failed checks of a stop, by the names that must be shown.
fn missing(lacking: &UnmetCheck) -> Vec<String> {
    match lacking.files.as_slice() {
        [] => vec![format!("`{}`", lacking.text)],
        files => files.iter().take(3).map(|file| format!("`{file}`")).collect(),
    }
}

fn how(stopping: &Stopping) -> LoopEndKind {
    match stopping.bypassed.as_deref() {
        Some("deadline") => LoopEndKind::Deadline,
        Some("halted") => LoopEndKind::Halted,
        Some(_) => LoopEndKind::Budget,
        None if stopping.incomplete => LoopEndKind::Incomplete,
        None => LoopEndKind::Stopped,
    }
}
