//! Traces as OpenTelemetry spans: OTLP as JSON, one export request per line, with the attribute
//! names for generative AI.
//!
//! A session is a trace: one span for the session, and a child span for each call, from proposal to
//! settlement. A refused call is a span of zero length. Attributes outside the conventions are
//! named `guard.*`.

use super::filter::Filter;
use super::walk::{At, walk};
use crate::failure::Failure;
use crate::term::Console;
use guard_plan::record::{Charge, Delivered, Payload, Propose, Record, StopDecision};
use guard_plan::verdict::Decision;
use guard_plan::{hex, time};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;

/// The maximum number of spans per line.
const SPANS: usize = 256;
/// The maximum number of unsettled calls.
const OPEN: usize = 100_000;
/// `SPAN_KIND_INTERNAL`.
const INTERNAL: u8 = 1;
/// `STATUS_CODE_ERROR`.
const ERROR: u8 = 2;

/// Writes the spans; returns whether all lines were records.
pub fn write(
    traces: &[PathBuf],
    filter: &Filter,
    content: bool,
    out: &mut dyn Write,
    term: &Console,
) -> Result<bool, Failure> {
    let mut spans = Spans { out, ready: Vec::new(), session: None, content };
    let sound = walk(traces, "exporting", term, &mut |at, record, _| {
        if matches!(record.payload, Payload::Open(_) | Payload::Snapshot(_)) {
            spans.close()?;
            spans.session = Some(SpanSession::new(at, record));
        }
        if filter.takes(at, record) { spans.record(record) } else { Ok(()) }
    })?;
    spans.close()?;
    Ok(sound)
}

struct Spans<'o> {
    out: &'o mut dyn Write,
    ready: Vec<Value>,
    session: Option<SpanSession>,
    content: bool,
}

struct SpanSession {
    trace: String,
    root: String,
    id: String,
    guard: String,
    plan: String,
    actor: Option<String>,
    begin: String,
    end: String,
    calls: u64,
    /// True if some record of the session is selected.
    meant: bool,
    open: HashMap<String, Value>,
    events: Vec<Value>,
}

impl SpanSession {
    fn new(at: &At<'_>, record: &Record) -> SpanSession {
        let (plan, actor) = match &record.payload {
            Payload::Open(open) => {
                (open.plan.to_string(), open.actor.as_ref().map(|actor| actor.to_string()))
            }
            Payload::Snapshot(snapshot) => (snapshot.plan.to_string(), None),
            _ => (String::new(), None),
        };
        let now = nanos(&record.time);
        SpanSession {
            trace: id(&at.session, &record.hash, 16),
            root: id(&at.session, "session", 8),
            id: at.session.clone(),
            guard: at.guard.clone(),
            plan,
            actor,
            begin: now.clone(),
            end: now,
            calls: 0,
            meant: false,
            open: HashMap::new(),
            events: Vec::new(),
        }
    }
}

impl Spans<'_> {
    fn record(&mut self, record: &Record) -> Result<(), Failure> {
        let content = self.content;
        let Some(session) = &mut self.session else { return Ok(()) };
        session.meant = true;
        session.end = nanos(&record.time);
        let now = session.end.clone();
        let mut done = None;
        match &record.payload {
            Payload::Propose(propose) => {
                session.calls += 1;
                let span = proposed(session, record, propose, content);
                let call = record.call.clone().unwrap_or_default();
                let runs = propose.verdict.decision == Decision::Allow && propose.served.is_none();
                // Beyond the bound a call is written at once, as a span without its ending.
                if runs && session.open.len() < OPEN {
                    // An id in use again means that the earlier call was never settled in the
                    // trace.
                    done = session.open.insert(call, span);
                } else {
                    done = Some(span);
                }
            }
            Payload::Settle(settle) => {
                let call = record.call.as_deref().unwrap_or_default();
                if let Some(mut span) = session.open.remove(call) {
                    span["endTimeUnixNano"] = now.into();
                    put(&mut span, "guard.success", settle.success.into());
                    put(&mut span, "guard.settle.seq", (record.seq as i64).into());
                    if !settle.success {
                        put(&mut span, "error.type", "tool_error".into());
                        span["status"] = json!({ "code": ERROR });
                    }
                    for Charge { unit, amount } in settle.returned.iter() {
                        let amount = amount.parse::<f64>().unwrap_or_default();
                        put(&mut span, &format!("guard.returned.{unit}"), amount.into());
                    }
                    if settle.halted {
                        put(&mut span, "guard.halted", true.into());
                    }
                    if content {
                        put(&mut span, "gen_ai.tool.call.result", settle.result.to_string().into());
                    }
                    feedback(&mut span, &settle.feedback, &record.time);
                    done = Some(span);
                }
            }
            Payload::Stop(stop) => {
                let decision = if stop.decision == StopDecision::Allow { "allow" } else { "block" };
                session.events.push(event(
                    "guard.stop",
                    &record.time,
                    vec![
                        ("guard.verdict", decision.into()),
                        ("guard.incomplete", stop.incomplete.into()),
                        ("guard.message", stop.message.to_string().into()),
                    ],
                ));
            }
            Payload::Approve(approve) => session.events.push(event(
                "guard.approval",
                &record.time,
                by_person(&approve.tool, &approve.role, &approve.by),
            )),
            Payload::Revoke(revoke) => session.events.push(event(
                "guard.revocation",
                &record.time,
                by_person(&revoke.tool, &revoke.role, &revoke.by),
            )),
            _ => {}
        }
        // The events of a very long session must not fill the memory.
        session.events.truncate(1000);
        self.ready.extend(done);
        if self.ready.len() >= SPANS { self.flush() } else { Ok(()) }
    }

    /// Ends the session: writes the spans of unsettled calls, and of the session.
    fn close(&mut self) -> Result<(), Failure> {
        let session = self.session.take().filter(|session| session.meant);
        let Some(mut session) = session else { return Ok(()) };
        let mut open: Vec<(String, Value)> = session.open.drain().collect();
        open.sort_by(|a, b| a.0.cmp(&b.0));
        for (_, mut span) in open {
            span["endTimeUnixNano"] = session.end.clone().into();
            put(&mut span, "guard.settled", false.into());
            self.ready.push(span);
        }
        let mut root = json!({
            "traceId": session.trace,
            "spanId": session.root,
            "name": format!("invoke_agent {}", session.guard),
            "kind": INTERNAL,
            "startTimeUnixNano": session.begin,
            "endTimeUnixNano": session.end,
            "attributes": [],
            "events": session.events,
        });
        put(&mut root, "gen_ai.operation.name", "invoke_agent".into());
        put(&mut root, "gen_ai.conversation.id", session.id.as_str().into());
        put(&mut root, "guard.name", session.guard.as_str().into());
        put(&mut root, "guard.plan", session.plan.as_str().into());
        put(&mut root, "guard.calls", (session.calls as i64).into());
        if let Some(actor) = &session.actor {
            put(&mut root, "enduser.id", actor.as_str().into());
        }
        self.ready.push(root);
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let spans = std::mem::take(&mut self.ready);
        let line = json!({ "resourceSpans": [{
            "resource": { "attributes": [{ "key": "service.name", "value": { "stringValue": "guard" } }] },
            "scopeSpans": [{ "scope": { "name": "guardc", "version": env!("CARGO_PKG_VERSION") }, "spans": spans }],
        }] });
        writeln!(self.out, "{line}").map_err(|error| Failure::output(&error))
    }
}

/// Returns the span of a call, which has zero length until it is settled.
fn proposed(session: &SpanSession, record: &Record, propose: &Propose<'_>, content: bool) -> Value {
    let now = nanos(&record.time);
    let verdict = propose.verdict.decision.as_str();
    let mut span = json!({
        "traceId": session.trace,
        "spanId": id(&session.id, &record.seq.to_string(), 8),
        "parentSpanId": session.root,
        "name": format!("execute_tool {}", propose.tool),
        "kind": INTERNAL,
        "startTimeUnixNano": now,
        "endTimeUnixNano": now,
        "attributes": [],
        "events": [],
    });
    put(&mut span, "gen_ai.operation.name", "execute_tool".into());
    put(&mut span, "gen_ai.tool.name", propose.tool.as_ref().into());
    put(&mut span, "gen_ai.tool.type", "function".into());
    put(&mut span, "gen_ai.tool.call.id", record.call.as_deref().unwrap_or_default().into());
    put(&mut span, "gen_ai.conversation.id", session.id.as_str().into());
    put(&mut span, "guard.verdict", verdict.into());
    put(&mut span, "guard.seq", (record.seq as i64).into());
    put(&mut span, "guard.hash", record.hash.as_str().into());
    let reasons = &propose.verdict.reasons;
    if let Some(first) = reasons.first() {
        let all = |part: fn(&guard_plan::verdict::Reason) -> &str| -> Value {
            reasons.iter().map(part).collect()
        };
        put(&mut span, "guard.reason.codes", all(|reason| reason.code.as_str()));
        put(&mut span, "guard.reason.rules", all(|reason| &reason.rule));
        put(&mut span, "guard.message", first.message.as_str().into());
    }
    if propose.verdict.decision == Decision::Deny {
        let code = reasons.first().map_or("denied", |reason| reason.code.as_str());
        put(&mut span, "error.type", format!("guard.{code}").into());
        let message = reasons.first().map_or("", |reason| &reason.message);
        span["status"] = json!({ "code": ERROR, "message": message });
    }
    for Charge { unit, amount } in propose.charged.iter() {
        let amount = amount.parse::<f64>().unwrap_or_default();
        put(&mut span, &format!("guard.charged.{unit}"), amount.into());
    }
    if content {
        put(&mut span, "gen_ai.tool.call.arguments", propose.args.to_string().into());
    }
    if let Some(served) = propose.served.as_ref().filter(|_| content) {
        put(&mut span, "gen_ai.tool.call.result", served.to_string().into());
    }
    feedback(&mut span, &propose.feedback, &record.time);
    span
}

fn feedback(span: &mut Value, feedback: &[Delivered], time: &str) {
    let Some(events) = span["events"].as_array_mut() else { return };
    events.extend(feedback.iter().map(|message| {
        let severity = format!("{:?}", message.severity).to_lowercase();
        let attributes = vec![
            ("guard.provider", message.provider.as_str().into()),
            ("guard.severity", severity.into()),
            ("guard.message", message.text.as_str().into()),
        ];
        event("guard.feedback", time, attributes)
    }));
}

/// Returns the attributes of a person's decision on a call.
fn by_person(tool: &str, role: &str, by: &str) -> Vec<(&'static str, Value)> {
    vec![("gen_ai.tool.name", tool.into()), ("guard.role", role.into()), ("guard.by", by.into())]
}

fn event(name: &str, time: &str, attributes: Vec<(&str, Value)>) -> Value {
    let attributes: Value = attributes
        .into_iter()
        .map(|(key, value)| json!({ "key": key, "value": typed(value) }))
        .collect();
    json!({ "name": name, "timeUnixNano": nanos(time), "attributes": attributes })
}

fn put(span: &mut Value, key: &str, value: Value) {
    if let Some(attributes) = span["attributes"].as_array_mut() {
        attributes.push(json!({ "key": key, "value": typed(value) }));
    }
}

/// Formats a value for OTLP, which writes integers as text.
fn typed(value: Value) -> Value {
    match value {
        Value::Bool(value) => json!({ "boolValue": value }),
        Value::Number(number) if number.is_i64() => json!({ "intValue": number.to_string() }),
        Value::Number(number) => json!({ "doubleValue": number }),
        Value::Array(items) => {
            let items: Vec<Value> = items.into_iter().map(typed).collect();
            json!({ "arrayValue": { "values": items } })
        }
        Value::String(text) => json!({ "stringValue": text }),
        other => json!({ "stringValue": other.to_string() }),
    }
}

/// Returns nanoseconds since 1970, as text.
fn nanos(text: &str) -> String {
    let millis = time::parse_rfc3339(text).unwrap_or_default().max(0);
    (i128::from(millis) * 1_000_000).to_string()
}

/// Returns an id of a number of bytes, the same for the same record every time.
fn id(session: &str, part: &str, bytes: usize) -> String {
    let mut hasher = Sha256::new();
    hasher.update((session.len() as u64).to_be_bytes());
    hasher.update(session);
    hasher.update(part);
    let mut digest = hex::encode(&hasher.finalize());
    digest.truncate(2 * bytes);
    digest
}
