//! A recorded session as a test: its calls with their verdicts and results, and the answers of the
//! world.

use super::stated_files::StatedFiles;
use guard_plan::json::Json;
use guard_plan::naming::is_name;
use guard_plan::plan::{Plan, TypeDef};
use guard_plan::record::{
    Asked, Delivered, Item, Note, Payload, Propose, Ran, Record, RunEnd, Settle, Stop, StopDecision,
};
use guard_plan::verdict::{Code, Decision, Reason, Verdict};
use guard_plan::{time, words};
use guard_syntax::ast::{
    Arg, Expr, ExprKind, Ident, SpanEq, Spanned, Test, TestCall, TestStep, TestStepKind, UnaryOp,
};
use guard_syntax::span::Span;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The workspace of every test.
const WORKSPACE: &str = "/workspace";

/// The parameter of a claim that cites calls.
const EVIDENCE: &str = "evidence";

/// Returns the ids of the calls that the arguments of a claim cite.
fn cited(args: &Json) -> impl Iterator<Item = &str> {
    let entries = match args.get(EVIDENCE) {
        Some(Json::Array(entries)) => entries.as_slice(),
        _ => &[],
    };
    entries.iter().filter_map(|entry| entry.get("call")?.as_str())
}

/// The writer of one test.
pub struct TestWriter<'p> {
    plan: Option<&'p Plan>,
    slim: bool,
    workspace: String,
    /// The time of the current record, in milliseconds.
    now: i64,
    /// The clock of the test, in milliseconds.
    clock: i64,
    /// The answers of the world that the test has already stated.
    answers: BTreeMap<String, String>,
    files: StatedFiles,
    /// The calls in flight, by their ids, with their names in the test.
    started: HashMap<String, String>,
    names: BTreeSet<String>,
    /// The ids of calls that claims cite as evidence.
    cited: BTreeSet<String>,
    /// Their names in the test, once they have run.
    cited_as: HashMap<String, String>,
    steps: Vec<TestStep>,
    left_out: BTreeSet<String>,
}

impl<'p> TestWriter<'p> {
    /// Creates an empty test. With `slim` it has only the events that change the session.
    pub fn new(plan: Option<&'p Plan>, slim: bool) -> TestWriter<'p> {
        TestWriter {
            plan,
            slim,
            workspace: String::new(),
            now: 0,
            clock: 0,
            answers: BTreeMap::new(),
            files: StatedFiles::default(),
            started: HashMap::new(),
            names: BTreeSet::new(),
            cited: BTreeSet::new(),
            cited_as: HashMap::new(),
            steps: Vec::new(),
            left_out: BTreeSet::new(),
        }
    }

    /// Returns the test of a session's records, and the parts that it omits.
    pub fn write(mut self, title: String, records: &[Record]) -> (Test, BTreeSet<String>) {
        for record in records {
            if let Payload::Propose(propose) = &record.payload {
                self.cited.extend(cited(&propose.args).map(str::to_owned));
            }
        }
        let mut records = records.iter().peekable();
        while let Some(record) = records.next() {
            let settles = |next: &&Record| {
                matches!(next.payload, Payload::Settle(_)) && next.call == record.call
            };
            let settled = match &record.payload {
                Payload::Propose(propose) if is_in_flight(propose) => records.next_if(settles),
                _ => None,
            };
            self.record(record, settled);
        }
        (Test { title: node(title), after: None, steps: self.steps }, self.left_out)
    }

    fn record(&mut self, record: &Record, settled: Option<&Record>) {
        self.now = time::parse_rfc3339(&record.time).unwrap_or(self.now);
        match &record.payload {
            Payload::Open(open) => {
                self.clock = self.now;
                self.workspace = open.workspace.trim_end_matches('/').to_owned();
                self.hides(open.sealed.is_some());
                if let Some(data) = &open.data {
                    let data = self.value(data);
                    self.step(TestStepKind::Data(data));
                }
                self.step(TestStepKind::At(node(record.time.clone())));
            }
            Payload::Propose(propose) => self.propose(record, propose, settled),
            Payload::Settle(settle) => self.finish(record, settle),
            Payload::Approve(approve) => {
                self.hides(approve.sealed.is_some());
                let Some(call) = self.call(&approve.tool, &approve.args) else { return };
                let expires = approve.expires.as_deref().and_then(time::parse_rfc3339);
                let within = expires
                    .map(|end| node(words::duration((end - self.now).max(1000) / 1000 * 1000)));
                let role = node(approve.role.to_string());
                self.step(TestStepKind::Approve { call, role, within });
            }
            Payload::Revoke(revoke) => {
                self.hides(revoke.sealed.is_some());
                let Some(call) = self.call(&revoke.tool, &revoke.args) else { return };
                self.step(TestStepKind::Revoke { call, role: node(revoke.role.to_string()) });
            }
            Payload::Usage(usage) => {
                let amount = usage.amount.to_string();
                let unit = usage.unit.to_string();
                self.step(TestStepKind::Usage(node(amount), node(unit)));
            }
            Payload::Resume(resume) => {
                self.step(TestStepKind::Resume(node(resume.role.to_string())));
            }
            Payload::Prompt(prompt) => {
                self.hides(prompt.sealed.is_some());
                self.asked(&prompt.asked);
                let text = self.relocated(&prompt.text);
                self.step(TestStepKind::Prompt(node(text)));
            }
            Payload::Stop(stop) => self.stop(stop),
            Payload::Item(item) => self.item(item),
            Payload::Snapshot(_) => self.leaves_out("what came before a snapshot"),
            Payload::Upgrade(_) => self.leaves_out("that another guard decided from then on"),
            Payload::Answers(_) | Payload::Contract(_) | Payload::Ledger(_) => {}
        }
    }

    fn propose(&mut self, record: &Record, propose: &Propose, settled: Option<&Record>) {
        self.hides(propose.sealed.is_some());
        let verdict = &*propose.verdict;
        if self.slim && verdict.decision != Decision::Allow {
            return;
        }
        if propose.unreadable.is_some() {
            return self.leaves_out("a call whose arguments are not JSON");
        }
        let misfits =
            |reason: &Reason| matches!(reason.code, Code::UnknownTool | Code::InvalidArguments);
        // A guard in shadow mode lets such calls run, but a test cannot express them either.
        let halted = verdict.reasons.iter().any(|reason| reason.code == Code::Halted);
        // A halted session denies a call before its arguments are examined.
        let unfit = halted && !has_parameters(self.plan, &propose.tool, &propose.args);
        if unfit || verdict.reasons.iter().chain(&verdict.shadowed).any(misfits) {
            let tool = declared(self.plan, &propose.tool);
            return self.leaves_out(&format!("a call of `{tool}` that fits no declaration"));
        }
        let Some(call) = self.call(&propose.tool, &propose.args) else { return };
        self.asked(&propose.asked);
        match verdict.decision {
            Decision::Deny => self.denied(call, verdict),
            Decision::Ask => {
                let roles = need(verdict, Decision::Ask);
                self.step(TestStepKind::Asks { call, of: roles });
            }
            Decision::Wait => {
                let waits = |reason: &&Reason| reason.decision == Decision::Wait;
                let reasons = || verdict.reasons.iter().filter(waits);
                let named = |reason: &&Reason| reason.needs.iter().any(|name| is_name(name));
                let reason = reasons().find(named).or_else(|| reasons().next());
                let by = reason.map(|reason| node(reason.code.as_str().to_owned()));
                let tool = reason.and_then(|reason| reason.needs.iter().find(|name| is_name(name)));
                let for_tool = tool.map(|name| node(declared(self.plan, name).to_owned()));
                self.step(TestStepKind::Waits { call, by, for_tool });
            }
            Decision::Allow => self.allowed(call, record, propose, settled),
        }
        self.feedback(&propose.feedback);
        if propose.halted && !self.slim {
            self.step(TestStepKind::Halted);
        }
    }

    fn allowed(
        &mut self,
        call: TestCall,
        record: &Record,
        propose: &Propose,
        settled: Option<&Record>,
    ) {
        let settle = settled.and_then(|record| match &record.payload {
            Payload::Settle(settle) => Some(settle),
            _ => None,
        });
        if let Some(settle) = settle {
            self.asked(&settle.asked);
            let (returns, undecoded) = self.result(settle);
            let success = settle.success;
            let name = self.cited_name(record, &call);
            self.step(TestStepKind::Run { success, call, name, returns, undecoded });
            return self.after_settlement(settle);
        }
        if propose.served.is_some() {
            let name = self.cited_name(record, &call);
            let success = true;
            let returns = None;
            let undecoded = false;
            return self.step(TestStepKind::Run { success, call, name, returns, undecoded });
        }
        let id = record.call.clone().unwrap_or_default();
        let name = self.name(&id, &call);
        if self.cited.contains(&id) {
            self.cited_as.insert(id.clone(), name.clone());
        }
        self.started.insert(id, name.clone());
        self.step(TestStepKind::Start(node(name), call));
    }

    /// Returns the name of a call that a claim cites.
    fn cited_name(&mut self, record: &Record, call: &TestCall) -> Option<Ident> {
        let id = record.call.as_ref().filter(|id| self.cited.contains(*id))?;
        let name = self.name(id, call);
        self.cited_as.insert(id.clone(), name.clone());
        Some(node(name))
    }

    /// Returns a new name for a call: its id, if that is a valid name, or the name of its tool.
    fn name(&mut self, id: &str, call: &TestCall) -> String {
        let plain = if is_name(id) { id } else { &call.tool.node };
        let mut name = plain.to_owned();
        for number in 2.. {
            if self.names.insert(name.clone()) {
                break;
            }
            name = format!("{plain}_{number}");
        }
        name
    }

    fn finish(&mut self, record: &Record, settle: &Settle) {
        let id = record.call.clone().unwrap_or_default();
        let Some(name) = self.started.remove(&id) else {
            return self.leaves_out("the end of a call that is left out");
        };
        self.asked(&settle.asked);
        let (returns, undecoded) = self.result(settle);
        let success = settle.success;
        self.step(TestStepKind::Finish { name: node(name), success, returns, undecoded });
        self.after_settlement(settle);
    }

    fn after_settlement(&mut self, settle: &Settle) {
        self.feedback(&settle.feedback);
        if settle.halted && !self.slim {
            self.step(TestStepKind::Halted);
        }
    }

    /// Returns the result of a call, and true if it did not decode.
    fn result(&mut self, settle: &Settle) -> (Option<Expr>, bool) {
        self.hides(settle.sealed.is_some());
        if settle.unreadable.is_some() {
            return (None, settle.success);
        }
        let undecoded = settle.notes.iter().any(Note::is_undecoded);
        let says = settle.success && (undecoded || *settle.result != Json::Null);
        (says.then(|| self.value(&settle.result)), undecoded)
    }

    fn denied(&mut self, call: TestCall, verdict: &Verdict) {
        let Some(reason) = verdict.reasons.iter().find(|reason| reason.decision == Decision::Deny)
        else {
            return;
        };
        let named: Vec<&String> = if reason.needs.is_empty() {
            [&reason.rule].into_iter().filter(|rule| **rule != call.tool.node).collect()
        } else {
            reason.needs.iter().collect()
        };
        let names = named.iter().filter(|name| is_name(name)).map(|name| node((*name).clone()));
        let names = names.collect();
        let by = Some(node(reason.code.as_str().to_owned()));
        self.step(TestStepKind::Denied { call, by, names, because: None });
    }

    fn feedback(&mut self, delivered: &[Delivered]) {
        if !self.slim {
            for message in delivered {
                self.step(TestStepKind::Feedback(node(message.provider.clone()), None));
            }
        }
    }

    fn stop(&mut self, stop: &Stop) {
        if self.slim {
            return;
        }
        self.hides(stop.sealed.is_some());
        self.asked(&stop.asked);
        let outcome = match stop.decision {
            StopDecision::Block => "blocked",
            StopDecision::Allow if stop.bypassed.is_some() => "bypassed",
            StopDecision::Allow if stop.incomplete => "incomplete",
            StopDecision::Allow => "allowed",
        };
        self.step(TestStepKind::Stop(node(outcome.to_owned()), None));
    }

    fn item(&mut self, item: &Item) {
        self.hides(item.sealed.is_some());
        self.asked(&item.asked);
        let id = node(item.item.to_string());
        let because = item.reason.as_ref().map(|reason| node(reason.to_string()));
        self.step(match &item.transition {
            Some(transition) => {
                TestStepKind::Move(id.clone(), node(transition.to_string()), because)
            }
            None => TestStepKind::Verify(id.clone(), None),
        });
        self.step(TestStepKind::Item(id, node(item.change.after.clone())));
    }

    /// Adds the answers of the world that the test has not stated yet.
    fn asked(&mut self, asked: &[Asked]) {
        for question in asked {
            let step = match question {
                Asked::Exists { path, answer: Some(there) }
                | Asked::File { path, answer: Some(there) } => {
                    let path = self.relocated(path);
                    self.files.exists(&path, *there).map(|step| (format!("file {path}"), step))
                }
                Asked::Contains { path, text, answer: Some(contained) } => {
                    let path = self.relocated(path);
                    let step = self.files.contains(&path, text, *contained);
                    step.map(|step| (format!("file {path}"), step))
                }
                Asked::Probe { name, answered: false, .. }
                    if !self.answers.contains_key(&format!("probe {name}")) =>
                {
                    None
                }
                Asked::Probe { name, answered: true, answer } => {
                    let value = self.value(answer);
                    Some((
                        format!("probe {name}"),
                        TestStepKind::Probe(node(name.to_string()), value),
                    ))
                }
                Asked::Run { command, answer: Some(ran) } => self.ran(command, ran),
                Asked::Committed { answer: Some(answer) } => {
                    Some(("git".to_owned(), TestStepKind::Git(*answer)))
                }
                _ => {
                    self.leaves_out("an answer of the world that a test cannot state");
                    None
                }
            };
            let Some((question, step)) = step else { continue };
            let says = format!("{step:?}");
            if self.answers.get(&question) != Some(&says) {
                self.answers.insert(question, says);
                self.step(step);
            }
        }
    }

    fn ran(&mut self, command: &[String], ran: &Ran) -> Option<(String, TestStepKind)> {
        let exits = match ran.ended {
            RunEnd::Exited(status) if (0..=255).contains(&status) => Some(node(status.to_string())),
            RunEnd::TimedOut => None,
            _ => {
                self.leaves_out("a command that did not end by itself");
                return None;
            }
        };
        let said = if ran.stdout.is_empty() { &ran.output } else { &ran.stdout };
        let output = (exits.is_some() && !said.is_empty()).then(|| node(said.clone()));
        let argv = command.iter().map(|word| node(word.clone())).collect();
        Some((format!("command {command:?}"), TestStepKind::Command { argv, exits, output }))
    }

    fn call(&mut self, tool: &str, args: &Json) -> Option<TestCall> {
        let name = declared(self.plan, tool);
        let Json::Object(members) = args else {
            self.leaves_out("a call whose arguments are not an object");
            return None;
        };
        if !is_name(name) || !members.iter().all(|(member, _)| is_name(member)) {
            self.leaves_out(&format!("calls of `{tool}`: name the guard with `--guard`"));
            return None;
        }
        let args = members.iter().map(|(member, value)| Arg {
            name: Some(node(member.to_string())),
            value: if &**member == EVIDENCE { self.evidence(value) } else { self.value(value) },
        });
        Some(TestCall { tool: node(name.to_owned()), args: args.collect() })
    }

    /// Returns evidence in which calls have their names in the test.
    fn evidence(&self, json: &Json) -> Expr {
        let named = |id: &str| self.cited_as.get(id).map_or_else(|| id.to_owned(), String::clone);
        let member = |(key, value): &(Box<str>, Json)| match value {
            Json::String(id) if &**key == "call" => {
                (node(key.to_string()), expr(ExprKind::String(named(id))))
            }
            _ => (node(key.to_string()), self.value(value)),
        };
        let entry = |entry: &Json| match entry {
            Json::Object(members) if !members.is_empty() => {
                expr(ExprKind::Map(members.iter().map(member).collect()))
            }
            other => self.value(other),
        };
        match json {
            Json::Array(entries) => expr(ExprKind::List(entries.iter().map(entry).collect())),
            other => self.value(other),
        }
    }

    fn value(&self, json: &Json) -> Expr {
        let kind = match json {
            Json::Null => ExprKind::None,
            Json::Bool(value) => ExprKind::Bool(*value),
            Json::Int(value) => return number(&value.to_string()),
            Json::Number(text) => return number(&plain(text)),
            Json::String(text) => ExprKind::String(self.relocated(text)),
            Json::Array(items) => {
                ExprKind::List(items.iter().map(|item| self.value(item)).collect())
            }
            Json::Object(members) if members.is_empty() => ExprKind::Set(Vec::new()),
            Json::Object(members) => ExprKind::Map(
                members
                    .iter()
                    .map(|(key, value)| (node(key.to_string()), self.value(value)))
                    .collect(),
            ),
        };
        expr(kind)
    }

    /// Returns a text with the session's workspace replaced by that of the test.
    fn relocated(&self, text: &str) -> String {
        if self.workspace.len() < 2 || self.workspace == WORKSPACE {
            return text.to_owned();
        }
        match text.strip_prefix(&self.workspace) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{WORKSPACE}{rest}"),
            _ => text.replace(&format!("{}/", self.workspace), &format!("{WORKSPACE}/")),
        }
    }

    fn hides(&mut self, hidden: bool) {
        if hidden {
            self.leaves_out("secrets, which are recorded as hashes: write values in their place");
        }
    }

    fn leaves_out(&mut self, what: &str) {
        self.left_out.insert(format!("left out: {what}"));
    }

    /// Adds a step, after the clock of the test was advanced to the step's time, in whole seconds.
    fn step(&mut self, kind: TestStepKind) {
        let waited = (self.now - self.clock) / 1000 * 1000;
        if waited > 0 {
            self.clock += waited;
            self.step(TestStepKind::After(node(words::duration(waited))));
        }
        self.steps.push(TestStep { kind, span: SpanEq(Span::default()) });
    }
}

/// Returns true for a call that runs outside of the kernel.
fn is_in_flight(propose: &Propose) -> bool {
    propose.verdict.decision == Decision::Allow && propose.served.is_none()
}

/// Returns the first role or tool that a verdict needs.
fn need(verdict: &Verdict, decision: Decision) -> Option<Ident> {
    let reasons = verdict.reasons.iter().filter(|reason| reason.decision == decision);
    let mut needs = reasons.flat_map(|reason| &reason.needs);
    needs.find(|name| is_name(name)).map(|name| node(name.clone()))
}

fn number(text: &str) -> Expr {
    match text.strip_prefix('-') {
        Some(positive) => expr(ExprKind::Unary(UnaryOp::Neg, Box::new(number(positive)))),
        None => expr(ExprKind::Number(text.to_owned())),
    }
}

/// Returns a number without an exponent.
fn plain(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(value) if text.contains(['e', 'E']) => value.to_string(),
        _ => text.to_owned(),
    }
}

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

pub(super) fn node<T>(node: T) -> Spanned<T> {
    Spanned { node, span: Span::default() }
}

/// Returns the name by which the guard's own text calls a tool.
fn declared<'p>(plan: Option<&'p Plan>, called: &'p str) -> &'p str {
    let tools = plan.map_or(&[][..], |plan| &plan.tools);
    tools.iter().find(|tool| &*tool.wire_name == called).map_or(called, |tool| &tool.name)
}

/// Returns true if the arguments have the names that a declared tool knows, including all required
/// ones. For an unknown plan, nothing else is checked.
fn has_parameters(plan: Option<&Plan>, called: &str, args: &Json) -> bool {
    let Some(plan) = plan else { return true };
    let tool = plan.tools.iter().find(|tool| tool.wire_name == called || tool.name == called);
    let (Some(tool), Json::Object(members)) = (tool, args) else { return false };
    let is_option = |ty: u32| matches!(plan.types.get(ty as usize), Some(TypeDef::Option { .. }));
    let given = |name: &str| members.iter().any(|(member, _)| **member == *name);
    members.iter().all(|(member, _)| tool.params.iter().any(|param| *param.name == **member))
        && tool.params.iter().all(|param| is_option(param.ty) || given(&param.name))
}
