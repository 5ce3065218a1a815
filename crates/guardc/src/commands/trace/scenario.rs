//! A recorded session as a test: its calls with their verdicts and results.

use super::stated_answers::StatedAnswers;
use super::test_nodes::{TestValues, expr, node};
use guard_plan::json::Json;
use guard_plan::naming::is_name;
use guard_plan::plan::{Plan, TypeDef};
use guard_plan::record::{
    Asked, Delivered, Item, Note, Payload, Propose, Record, Settle, Stop, StopDecision,
};
use guard_plan::verdict::{Code, Decision, Reason, Verdict};
use guard_plan::{time, words};
use guard_syntax::ast::{
    Arg, Expr, ExprKind, Ident, SpanEq, Test, TestCall, TestStep, TestStepKind,
};
use guard_syntax::span::Span;
use std::collections::{BTreeSet, HashMap};

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
    values: TestValues,
    /// The time of the current record, in milliseconds.
    now: i64,
    /// The clock of the test, in milliseconds.
    clock: i64,
    stated: StatedAnswers,
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
            values: TestValues::default(),
            now: 0,
            clock: 0,
            stated: StatedAnswers::default(),
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
                self.values = TestValues::new(&open.workspace);
                self.hides(open.sealed.is_some());
                if let Some(data) = &open.data {
                    let data = self.values.value(data);
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
                let text = self.values.relocated(&prompt.text);
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
        (says.then(|| self.values.value(&settle.result)), undecoded)
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
            match self.stated.step(question, &self.values) {
                Ok(step) => step.into_iter().for_each(|step| self.step(step)),
                Err(unstatable) => self.leaves_out(unstatable),
            }
        }
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
            value: if &**member == EVIDENCE {
                self.evidence(value)
            } else {
                self.values.value(value)
            },
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
            _ => (node(key.to_string()), self.values.value(value)),
        };
        let entry = |entry: &Json| match entry {
            Json::Object(members) if !members.is_empty() => {
                expr(ExprKind::Map(members.iter().map(member).collect()))
            }
            other => self.values.value(other),
        };
        match json {
            Json::Array(entries) => expr(ExprKind::List(entries.iter().map(entry).collect())),
            other => self.values.value(other),
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

/// Returns the name by which the guard's own text calls a tool.
fn declared<'p>(plan: Option<&'p Plan>, called: &'p str) -> &'p str {
    let tools = plan.map_or(&[][..], |plan| &plan.tools);
    tools.iter().find(|tool| &*tool.wire_name == called).map_or(called, |tool| &tool.name)
}

/// Returns true if the arguments have the names that a declared tool knows, including all required
/// ones. For an unknown plan, nothing else is checked.
fn has_parameters(plan: Option<&Plan>, called: &str, args: &Json) -> bool {
    let Some(plan) = plan else { return true };
    let tool = plan.called(called);
    let (Some(tool), Json::Object(members)) = (tool, args) else { return false };
    let is_option = |ty: u32| matches!(plan.types.get(ty as usize), Some(TypeDef::Option { .. }));
    let given = |name: &str| members.iter().any(|(member, _)| **member == *name);
    members.iter().all(|(member, _)| tool.params.iter().any(|param| *param.name == **member))
        && tool.params.iter().all(|param| is_option(param.ty) || given(&param.name))
}
