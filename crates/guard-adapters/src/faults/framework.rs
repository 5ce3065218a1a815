//! Faults that real frameworks cause: validation before the guard, limits on texts, retries,
//! cancellations, and a guard that fails.

use super::gate::unsettled;
use super::{Spec, faults, instead};
use crate::duties::{Duties, Faithful, OpenSessions};
use crate::engine::trouble;
use crate::harness::{AdapterResult, Gate, Harness};
use guard_ack::protocol::{
    Done, FailureKind, ModelCall, ModelMessage, ModelTurn, Role, Run, ToolRun,
};
use guard_runtime::UsageReport;
use guard_sdk::Event;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The number of messages in a trimmed conversation.
const TRIMMED: usize = 12;
/// The length of a truncated result, in characters.
const CUT: usize = 2_000;

pub(super) const TABLE: &[Spec] = faults! {
    "trims-history" "LOOP-1" "shows the model the last twelve messages only" => instead::conversation(|harness| {
        let messages = &harness.messages;
        messages[messages.len().saturating_sub(TRIMMED)..].to_vec()
    });
    "cuts-long-results" "LOOP-3" "cuts the results of tools to 2,000 characters" => instead::conversation(|harness| {
        let cut = |message: &ModelMessage| match message.role {
            Role::Tool => ModelMessage { text: message.text.chars().take(CUT).collect(), ..message.clone() },
            _ => message.clone(),
        };
        harness.messages.iter().map(cut).collect()
    });
    "process-session" "LOOP-7" "shares one session in the whole process" => Box::new(ProcessSession);
    "cancel-leaves-call" "LOOP-8" "leaves the call of a cancelled run in flight" => unsettled(|_, _, done| done.failure == Some(FailureKind::Cancelled));
    "cancel-goes-on" "LOOP-8" "continues after the run was cancelled" => instead::finished(|harness| {
        let done = Faithful.finished(harness);
        harness.is_cancelled = false;
        done
    });
    "escapes-denials" "GATE-5" "shows a denial as a JSON text" => instead::denial(|verdict| {
        json!(verdict.message()).to_string()
    });
    "coerces-by-schema" "GATE-13" "converts arguments to the types of the schema first" => first(|schema, args| {
        for (name, value) in args {
            let kind = schema["properties"][name.as_str()]["type"].as_str().unwrap_or_default();
            *value = converted(value, kind).unwrap_or_else(|| value.clone());
        }
    });
    "defaults-by-schema" "GATE-13" "fills in the defaults of the schema first" => first(|schema, args| {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            if let Some(default) = property.get("default") {
                args.entry(name).or_insert_with(|| default.clone());
            }
        }
    });
    "extras-by-schema" "GATE-13" "drops arguments that the schema does not have first" => first(|schema, args| {
        if let Some(properties) = schema["properties"].as_object() {
            args.retain(|name, _| properties.contains_key(name));
        }
    });
    "absent-around" "GATE-17" "leaves tools that the agent does not have to the framework" => instead::gate(
        |harness, call| {
            if harness.has_tool(&call.tool) {
                Faithful.gate(harness, call)
            } else {
                Ok(Gate::Refused(format!("Unknown tool name: {:?}", call.tool)))
            }
        },
    );
    "refused-is-success" "GATE-18" "settles as a success what the framework refused" => instead::no_such_tool(
        |harness, call| {
            let outcome = ToolRun::Success;
            let result = json!(format!("no tool {}", call.tool));
            Ok(Faithful.settle(harness, call, &Done { outcome, result, failure: None })?.0)
        },
    );
    "refused-in-flight" "GATE-18" "leaves in flight what the framework refused" => instead::no_such_tool(
        |_, call| Ok(format!("there is no tool {}", call.tool)),
    );
    "refusals-end-loop" "GATE-18" "ends the loop when the framework refuses a second call" => Box::new(Retries::default());
    "malformed-is-empty" "GATE-19" "treats arguments that are not an object as no arguments" => instead::call(|harness, call| {
        let args = if call.args.is_object() { call.args.clone() } else { json!({}) };
        Faithful.call(harness, &ModelCall { args, ..call.clone() })
    });
    "malformed-ends-run" "GATE-19" "ends the run when arguments are not an object" => instead::call(|harness, call| {
        if call.args.is_object() {
            Faithful.call(harness, call)
        } else {
            Err(trouble("Expecting value: line 1 column 1 (char 0)"))
        }
    });
    "verdict-by-id" "GATE-20" "keeps verdicts by the id of a call" => Box::new(VerdictById::default());
    "verdict-by-earlier-id" "GATE-20" "keeps verdicts by the id of a call for later turns" => Box::new(VerdictById {
        is_lasting: true,
        ..VerdictById::default()
    });
    "denial-by-id" "GATE-20" "keeps denials by the id of a call" => Box::new(DenialById::default());
    "earlier-id-is-answered" "LOOP-2" "takes a call for answered whose id an earlier turn used" => Box::new(EarlierIds::default());
    "nameless-around" "GATE-20" "runs calls without an id unasked" => Box::new(NamelessAround);
    "error-unsettled" "GATE-21" "does not settle a call whose tool returns an error" => unsettled(|_, _, done| done.failure == Some(FailureKind::Error));
    "exception-unsettled" "GATE-21" "does not settle a call whose tool raises" => unsettled(|_, _, done| done.failure == Some(FailureKind::Exception));
    "retry-unsettled" "GATE-21" "does not settle a call whose tool asks for a retry" => unsettled(|_, _, done| done.failure == Some(FailureKind::Retry));
    "timeout-unsettled" "GATE-21" "does not settle a call whose tool timed out" => unsettled(|_, _, done| done.failure == Some(FailureKind::Timeout));
    "retry-is-success" "GATE-21" "settles a call as a success whose tool asks for a retry" => instead::settlement(
        |harness, call, done| match done.failure {
            Some(FailureKind::Retry) => {
                Faithful.settlement(harness, call, &Done { outcome: ToolRun::Success, ..done.clone() })
            }
            _ => Faithful.settlement(harness, call, done),
        },
    );
    "timeout-ends-run" "GATE-21" "ends the run when a tool times out or raises" => instead::settle(|harness, call, done| {
        match done.failure {
            Some(FailureKind::Timeout | FailureKind::Exception) => Err(trouble("the tool raised")),
            _ => Faithful.settle(harness, call, done),
        }
    });
    "fails-open" "GATE-22" "runs calls while the guard fails" => instead::gate(|harness, call| {
        Ok(Faithful.gate(harness, call).unwrap_or(Gate::Run))
    });
    "fails-open-late" "GATE-22" "asks a failing guard twice, then runs the call" => instead::gate(|harness, call| {
        match Faithful.propose(harness, call).or_else(|_| Faithful.propose(harness, call)) {
            Ok(proposed) => Faithful.obey(harness, call, &proposed),
            Err(_) => Ok(Gate::Run),
        }
    });
    "no-guard-allows" "GATE-22" "runs without a guard where the guard cannot be read" => instead::open(|sessions, run| {
        let allow = "guard fallback\ndefault allow\n".to_owned();
        let opened = Faithful.open(sessions, run);
        opened.or_else(|_| Faithful.open(sessions, &Run { source: allow, ..run.clone() }))
    });
    "usage-ends-run" "EFFECT-14" "ends the run when nobody charges for what the model used" => instead::usage(
        |harness, used| {
            for unit in used.keys() {
                let now = Faithful.now(harness);
                Faithful.report(harness, &Event::Usage(UsageReport { unit, amount: 0, now })).map_err(trouble)?;
            }
            Faithful.usage(harness, used)
        },
    );
    "waits-once" "PAR-8" "refuses a call that has to wait a second time" => {
        let mut waited: Vec<String> = Vec::new();
        instead::gate(move |harness, call| Ok(match Faithful.gate(harness, call)? {
            Gate::Wait(why) if waited.contains(&call.call) => Gate::Refused(why),
            gate => {
                waited.extend(matches!(gate, Gate::Wait(_)).then(|| call.call.clone()));
                gate
            }
        }))
    };
    "wakes-one" "PAR-8" "wakes one of several calls that wait" => Box::new(WakesOne::default());
    "reserialises-output" "EDGE-2" "judges the output as its JSON is written again" => instead::judge(|harness, turn| {
        let again = |text: String| match serde_json::from_str::<Value>(&text) {
            Ok(value) => value.to_string(),
            Err(_) => text,
        };
        Faithful.judge(harness, &ModelTurn { output: turn.output.clone().map(again), ..turn.clone() })
    });
};

/// Returns an adapter that changes arguments by the schema of the tool before the guard sees them.
/// The tool gets the changed arguments.
fn first(change: fn(&Value, &mut Map<String, Value>)) -> Box<dyn Duties> {
    instead::call(move |harness, call| {
        let mut call = call.clone();
        let tool = harness.run.tools.iter().find(|tool| tool.name == call.tool);
        if let (Some(tool), Value::Object(args)) = (tool, &mut call.args) {
            change(&tool.schema, args);
        }
        Faithful.call(harness, &call)
    })
}

/// Converts a value to a type of a schema, as a lenient validation does.
fn converted(value: &Value, kind: &str) -> Option<Value> {
    match (kind, value) {
        ("integer", Value::String(text)) => text.trim().parse::<i64>().ok().map(Value::from),
        ("boolean", Value::String(text)) => text.trim().parse::<bool>().ok().map(Value::from),
        ("string", Value::Number(number)) => Some(Value::from(number.to_string())),
        _ => None,
    }
}

struct ProcessSession;

impl Duties for ProcessSession {
    fn key(&self, _: &str) -> String {
        String::new()
    }

    fn reset(&mut self, _: &mut OpenSessions, _: &str) {}
}

/// An adapter that counts the calls that the framework refuses, and ends the loop at the second
/// one.
#[derive(Default)]
struct Retries(usize);

impl Duties for Retries {
    fn call(&mut self, harness: &mut Harness, call: &ModelCall) -> AdapterResult<Gate> {
        let tool = harness.run.tools.iter().find(|tool| tool.name == call.tool);
        let fits = |value: &Value, kind: &Value| match kind.as_str() {
            Some("integer") => value.is_i64(),
            Some("string") => value.is_string(),
            _ => true,
        };
        let properties = tool.map(|tool| &tool.schema["properties"]);
        let misfit = call.args.as_object().into_iter().flatten().any(|(name, value)| {
            properties.is_some_and(|all| !fits(value, &all[name.as_str()]["type"]))
        });
        if misfit || tool.is_none() {
            self.0 += 1;
        }
        Faithful.call(harness, call)
    }

    fn ask_model(&mut self, harness: &mut Harness) -> AdapterResult<Option<ModelTurn>> {
        if self.0 > 1 {
            Err(trouble("Exceeded maximum retries (1)"))
        } else {
            Faithful.ask_model(harness)
        }
    }
}

/// An adapter that runs a call on the verdict of another call with the same id.
#[derive(Default)]
struct VerdictById {
    is_lasting: bool,
    allowed: Vec<String>,
}

impl Duties for VerdictById {
    fn tell_apart(&mut self, harness: &mut Harness, mut turn: ModelTurn) -> ModelTurn {
        if !self.is_lasting {
            self.allowed.clear();
        }
        for (number, call) in turn.calls.iter_mut().enumerate() {
            if call.call.is_empty() {
                call.call = format!("nameless-{}-{number}", harness.messages.len());
            }
        }
        turn
    }

    fn gate(&mut self, harness: &mut Harness, call: &ModelCall) -> AdapterResult<Gate> {
        if self.allowed.contains(&call.call) {
            return Ok(Gate::Run);
        }
        let gate = Faithful.gate(harness, call)?;
        self.allowed.extend((gate == Gate::Run).then(|| call.call.clone()));
        Ok(gate)
    }
}

/// An adapter that gives a call the denial of an earlier call with the same id.
#[derive(Default)]
struct DenialById(BTreeMap<String, String>);

impl Duties for DenialById {
    fn gate(&mut self, harness: &mut Harness, call: &ModelCall) -> AdapterResult<Gate> {
        if let Some(denial) = self.0.get(&call.call) {
            return Ok(Gate::Refused(denial.clone()));
        }
        let gate = Faithful.gate(harness, call)?;
        if let Gate::Refused(denial) = &gate {
            self.0.insert(call.call.clone(), denial.clone());
        }
        Ok(gate)
    }
}

/// An adapter that drops the calls of a turn whose id an earlier turn used.
#[derive(Default)]
struct EarlierIds(Vec<String>);

impl Duties for EarlierIds {
    fn tell_apart(&mut self, harness: &mut Harness, turn: ModelTurn) -> ModelTurn {
        let mut turn = Faithful.tell_apart(harness, turn);
        turn.calls.retain(|call| !self.0.contains(&call.call));
        self.0.extend(turn.calls.iter().map(|call| call.call.clone()));
        turn
    }
}

struct NamelessAround;

impl Duties for NamelessAround {
    fn gate(&mut self, harness: &mut Harness, call: &ModelCall) -> AdapterResult<Gate> {
        if call.call.starts_with("nameless-") {
            Ok(Gate::Run)
        } else {
            Faithful.gate(harness, call)
        }
    }

    fn settlement(
        &mut self,
        harness: &mut Harness,
        call: &ModelCall,
        done: &Done,
    ) -> AdapterResult<String> {
        if call.call.starts_with("nameless-") {
            Ok(String::new())
        } else {
            Faithful.settlement(harness, call, done)
        }
    }
}

/// An adapter that, after a call has ended, proposes only the first waiting call again. The others
/// are forgotten.
#[derive(Default)]
struct WakesOne {
    waited: Vec<String>,
    settled: usize,
    woken_at: usize,
}

impl Duties for WakesOne {
    fn gate(&mut self, harness: &mut Harness, call: &ModelCall) -> AdapterResult<Gate> {
        if self.waited.contains(&call.call) {
            if self.woken_at == self.settled {
                return Ok(Gate::Refused("the call waits for another".into()));
            }
            self.woken_at = self.settled;
        }
        let gate = Faithful.gate(harness, call)?;
        self.waited.extend(matches!(gate, Gate::Wait(_)).then(|| call.call.clone()));
        Ok(gate)
    }

    fn settlement(
        &mut self,
        harness: &mut Harness,
        call: &ModelCall,
        done: &Done,
    ) -> AdapterResult<String> {
        self.settled += 1;
        Faithful.settlement(harness, call, done)
    }
}
