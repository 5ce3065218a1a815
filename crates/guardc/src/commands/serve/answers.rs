//! The answers of the sidecar's methods: outcomes of a session as JSON text.

use super::rpc::RpcError;
use guard_plan::json::Json;
use guard_plan::plan::{Probe, ProbeAsks};
use guard_plan::record::{Delivered, rendered};
use guard_plan::report::Report;
use guard_plan::{time, words};
use guard_runtime::{FactRow, Learned, Moved};
use guard_sdk::{GuardError, Lists, Proposed, Session, SessionError, Settled, Stopped};
use serde_json::{Value, json};

/// The text of a result, or an error.
pub type RpcAnswer = Result<String, RpcError>;

/// Returns the answer to `session.open`.
pub fn opened(session: &Session) -> String {
    let guard = session.guard();
    let plan = guard.plan();
    let asks_host = |probe: &&Probe| matches!(probe.asks, ProbeAsks::Host);
    let tools: Vec<Value> = plan
        .tools
        .iter()
        .map(|tool| {
            json!({
                "name": tool.wire_name,
                "guard_name": tool.name,
                "title": tool.title,
                "description": tool.doc,
                "risk": words::risk(tool.highest_risk()),
                "irreversible": tool.irreversible,
            })
        })
        .collect();
    json!({
        "session": session.id(),
        "guard": plan.guard,
        "plan_hash": guard.plan_hash(),
        "tools": tools,
        "contracts": plan.contracts.iter().map(|contract| &contract.name).collect::<Vec<_>>(),
        "probes": plan.probes.iter().filter(asks_host).map(|p| &p.name).collect::<Vec<_>>(),
        "restored": session.is_resumed(),
        "in_flight": session.in_flight(),
    })
    .to_string()
}

/// Returns the answer to `call.propose`.
pub fn proposed(proposed: &Proposed, session: &Session) -> String {
    let mut answer = json!({
        "verdict": proposed.verdict.decision,
        "reasons": proposed.verdict.reasons,
        "shadowed": proposed.verdict.shadowed,
        "message": proposed.verdict.message(),
        "feedback": feedback(&proposed.feedback),
        "rendered": rendered(&proposed.feedback),
    });
    if let Some(instead) = &proposed.instead {
        answer["instead"] = json!(instead);
    }
    if let Some(served) = &proposed.served {
        answer["served"] = json!({ "result": served });
    }
    if let Some(broken) = &proposed.broken_proof {
        answer["broken_proof"] = json!(session.report(broken));
    }
    answer.to_string()
}

/// Returns the answer to `call.settle`.
pub fn settled(settled: &Settled, session: &Session) -> String {
    let halted = session.state().halted();
    let halted = halted.map(|halt| json!({ "rule": halt.rule, "message": halt.message }));
    let mut answer = json!({
        "feedback": feedback(&settled.feedback),
        "rendered": rendered(&settled.feedback),
        "halted": halted,
        "notes": settled.notes,
    });
    if let Some(shown) = &settled.shown {
        answer["shown"] = json!(shown);
    }
    if let Some(broken) = &settled.broken_proof {
        answer["broken_proof"] = json!(session.report(broken));
    }
    answer.to_string()
}

/// Returns the answer to `call.approve`.
pub fn approved(tool: &str, role: &str, by: &str, expires: i64) -> String {
    let expires = time::format_rfc3339(expires);
    let approval = json!({ "tool": tool, "role": role, "by": by, "expires": expires });
    json!({ "approval": approval }).to_string()
}

/// Returns the answer to `session.prompt`.
pub fn learned(learned: &Learned) -> String {
    let Learned { learned, forgotten, notes, .. } = learned;
    json!({ "learned": learned, "forgotten": forgotten, "notes": notes }).to_string()
}

/// Returns the answer to `session.stop`.
pub fn stopped(stopped: &Stopped) -> String {
    json!({
        "decision": stopped.decision,
        "bypassed": stopped.bypassed,
        "incomplete": stopped.incomplete,
        "missing": stopped.missing,
        "message": stopped.message,
        "notes": stopped.notes,
    })
    .to_string()
}

/// Returns the answer to `item.verify` and `item.move`.
pub fn moved(moved: &Moved, session: &Session) -> RpcAnswer {
    let item = session.item(&moved.change.item)?;
    Ok(json!({ "change": moved.change, "item": item }).to_string())
}

/// Returns the answer to `item.get`.
pub fn item(item: &Json) -> String {
    json!({ "item": item }).to_string()
}

/// Returns the answer to `session.facts`.
pub fn facts(rows: &[FactRow]) -> String {
    let row = |row: &FactRow| json!({ "number": row.number, "row": row.row, "by": &*row.by });
    json!({ "rows": rows.iter().map(row).collect::<Vec<_>>() }).to_string()
}

/// Returns the answer to `session.advise`: the ranked tools, and the same as a text for a reasoner.
pub fn advice(session: &mut Session) -> RpcAnswer {
    let advice = session.advise();
    let internal = |error: serde_json::Error| RpcError::failed("internal", error.to_string());
    let mut answer = serde_json::to_value(&advice).map_err(internal)?;
    answer["prompt"] = advice.text().into();
    Ok(answer.to_string())
}

/// Returns the answer to `session.state`.
pub fn state(session: &Session) -> String {
    session.state_json().to_string()
}

/// Returns the answer to `session.trace`.
pub fn trace(session: &Session) -> RpcAnswer {
    let records = session.records()?;
    let (_, hash) = session.head();
    let dropped = match session.dropped_records() {
        0 => String::new(),
        dropped => format!(",\"dropped\":{dropped}"),
    };
    Ok(format!("{{\"records\":[{}],\"hash\":\"{hash}\"{dropped}}}", records.join(",")))
}

/// Returns the answer to `session.close`.
pub fn closed(session: &Session) -> String {
    let (records, hash) = session.head();
    json!({ "session": session.id(), "records": records, "hash": hash }).to_string()
}

/// Returns the answer to `contract.check`.
pub fn report(report: &Report) -> RpcAnswer {
    serde_json::to_string(report).map_err(|error| RpcError::failed("internal", error.to_string()))
}

fn feedback(delivered: &[Delivered]) -> Vec<Value> {
    let entry = |delivered: &Delivered| {
        let Delivered { provider, severity, text, .. } = delivered;
        json!({ "provider": provider, "severity": severity, "text": text })
    };
    delivered.iter().map(entry).collect()
}

impl From<GuardError> for RpcError {
    fn from(error: GuardError) -> RpcError {
        let GuardError::Source { files, diagnostics } = &error else {
            return RpcError::failed(error.code(), error.to_string());
        };
        let mut report = crate::report::FindingReport::of_one();
        report.add(files, diagnostics);
        report.findings.retain(|finding| finding.error);
        let first = report.findings.first();
        let first = first.map_or("no reason is given", |finding| finding.message.as_str());
        RpcError::failed(error.code(), format!("the guard does not compile: {first}"))
            .with("diagnostics", report.to_json()["diagnostics"].clone())
    }
}

impl From<SessionError> for RpcError {
    fn from(error: SessionError) -> RpcError {
        match error {
            SessionError::Guard(error) => error.into(),
            SessionError::NotTighter(ref looser) => {
                let looser = serde_json::json!(looser);
                RpcError::failed(error.code(), error.to_string()).with("looser", looser)
            }
            SessionError::UnknownProbe(..) | SessionError::SharedBudget(_) => {
                RpcError::params(error.to_string())
            }
            other => RpcError::failed(other.code(), other.to_string()),
        }
    }
}

/// Returns the answer to `contract.schema`.
///
/// # Errors
///
/// The parts that the strict profile cannot express.
pub fn schema(contract: &guard_sdk::Contract, known: &Lists, strict: bool) -> RpcAnswer {
    if !strict {
        return Ok(serde_json::json!({ "schema": contract.schema(known) }).to_string());
    }
    let strict = contract.strict_schema(known);
    let strict = strict.map_err(|refused| {
        RpcError::failed("bad_contract", format!("it has no strict schema: {}", refused.join("; ")))
    })?;
    Ok(serde_json::json!({ "schema": strict.schema, "described": strict.described }).to_string())
}
