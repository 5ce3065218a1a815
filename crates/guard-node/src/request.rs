//! Events and questions as the package asks them, and how a session answers each.

use crate::contract::{known_lists, report_text};
use crate::outcome::{proposed_text, settled_text, stopped_text};
use crate::reply::{ReplyFailure, json, json_text};
use guard_plan::decimal;
use guard_plan::json::Json;
use guard_runtime::StepError;
use guard_sdk::approvals::ApprovalLog;
use guard_sdk::{Session, SessionError, TextOptions};
use serde::Deserialize;

/// A request to a session. Arguments and results are JSON text.
#[derive(Debug, Deserialize)]
#[serde(tag = "ask", rename_all = "camelCase", deny_unknown_fields)]
pub enum SessionRequest {
    /// Decide a call.
    Propose { tool: String, args: String, call: Option<String> },
    /// Decide a call without any effect.
    Preview { tool: String, args: String },
    /// A call has ended.
    Settle { call: String, ending: CallEnding },
    /// Somebody approves a call.
    Approve { tool: String, args: String, role: String, by: String, expires: Option<i64> },
    /// Somebody takes an approval back.
    Revoke { tool: String, args: String, role: String, by: String },
    /// The host used something.
    Usage { unit: String, amount: String },
    /// Somebody ends a halt.
    Resume { role: String, by: String },
    /// The words of the user.
    Prompt { text: String },
    /// The agent would stop.
    Stop { reason: Option<String> },
    /// Asks for the calls that could come next.
    Advise {},
    /// Judge the criteria of an item.
    Verify { item: String },
    /// Move an item by hand.
    Move { item: String, transition: String, by: String, reason: Option<String> },
    /// All of one item.
    Item { item: String },
    /// Rows of a fact.
    Facts { fact: String, start: u64, limit: usize },
    /// Judge a text by a contract.
    #[serde(rename_all = "camelCase")]
    Check { contract: String, text: String, finish_reason: Option<String>, known: Option<String> },
    /// Asks for the state of the session.
    Status {},
    /// The lines of the trace.
    Records {},
    /// A bug of the engine, for tests: it can only make the session refuse.
    Panic {},
}

/// The outcome of a call.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CallEnding {
    /// It succeeded, with a result if it has one.
    Success(Option<String>),
    /// It failed.
    Failure,
    /// It succeeded with something that is not JSON: its text, and the reason.
    Unreadable(String, String),
}

/// The session's answer.
pub fn answer(
    session: &mut Session,
    request: SessionRequest,
    approvals: Option<&ApprovalLog>,
) -> Result<String, ReplyFailure> {
    match request {
        SessionRequest::Propose { tool, args, call } => {
            propose(session, &tool, &args, call.as_deref(), approvals)
        }
        SessionRequest::Preview { tool, args } => {
            let proposed = session.preview(&tool, &json(&args)?);
            proposed_text(&proposed, "", "preview", None)
        }
        SessionRequest::Settle { call, ending } => settle(session, &call, ending),
        SessionRequest::Approve { tool, args, role, by, expires } => {
            session.approve(&tool, &json(&args)?, &role, &by, expires)?;
            Ok(String::new())
        }
        SessionRequest::Revoke { tool, args, role, by } => {
            session.revoke(&tool, &json(&args)?, &role, &by)?;
            Ok(String::new())
        }
        SessionRequest::Usage { unit, amount } => usage(session, &unit, &amount),
        SessionRequest::Resume { role, by } => {
            session.resume(&role, &by)?;
            Ok(String::new())
        }
        SessionRequest::Prompt { text } => json_text(&session.prompt(&text)?.learned),
        SessionRequest::Stop { reason } => {
            let (stopped, record) = session.stop(reason.as_deref())?.into_parts();
            stopped_text(&stopped, &record)
        }
        SessionRequest::Advise {} => {
            let advice = session.advise();
            json_text(&serde_json::json!({ "advice": advice, "prompt": advice.text() }))
        }
        SessionRequest::Verify { item } => json_text(&session.verify_item(&item)?.change),
        SessionRequest::Move { item, transition, by, reason } => {
            json_text(&session.move_item(&item, &transition, &by, reason.as_deref())?.change)
        }
        SessionRequest::Item { item } => Ok(session.item(&item)?.to_string()),
        SessionRequest::Facts { fact, start, limit } => facts(session, &fact, start, limit),
        SessionRequest::Check { contract, text, finish_reason, known } => {
            let known = known_lists(known.as_deref())?;
            let options = TextOptions { finish_reason: finish_reason.as_deref(), known };
            report_text(&session.check_text(&contract, text.as_bytes(), &options)?.into_outcome())
        }
        SessionRequest::Status {} => status(session),
        SessionRequest::Records {} => json_text(&session.records()?),
        SessionRequest::Panic {} => panic!("on request"),
    }
}

/// Decides a call. Without an id the call gets the number of its record.
pub fn propose(
    session: &mut Session,
    tool: &str,
    args: &str,
    call: Option<&str>,
    approvals: Option<&ApprovalLog>,
) -> Result<String, ReplyFailure> {
    let numbered;
    let call = match call {
        Some(call) => call,
        None => {
            numbered = format!("call-{}", session.head().0);
            &numbered
        }
    };
    let (proposed, request) = match approvals {
        Some(log) => {
            let proposed = session.propose_with(call, tool, args, log)?;
            (proposed.proposed, proposed.request)
        }
        None => (session.propose(call, tool, args)?, None),
    };
    proposed_text(&proposed, proposed.record(), call, request.as_ref())
}

/// Settles a call.
pub fn settle(
    session: &mut Session,
    call: &str,
    ending: CallEnding,
) -> Result<String, ReplyFailure> {
    let recorded = match ending {
        CallEnding::Success(None) => session.settle(call, Ok(None))?,
        CallEnding::Success(Some(result)) => {
            let result: Json = json(&result)?;
            session.settle(call, Ok(Some(&result)))?
        }
        CallEnding::Failure => session.settle(call, Err(()))?,
        CallEnding::Unreadable(text, error) => session.settle_unreadable(call, &text, &error)?,
    };
    settled_text(&recorded, recorded.record())
}

fn usage(session: &mut Session, unit: &str, amount: &str) -> Result<String, ReplyFailure> {
    let units = decimal::parse(amount).ok_or_else(|| {
        let why = format!("`{amount}` is not an amount: a number with at most six decimal places");
        ReplyFailure::argument(why)
    })?;
    if units < 0 {
        return Err(ReplyFailure::argument("an amount is not negative"));
    }
    match session.usage(unit, units) {
        Ok(_) => Ok("true".into()),
        Err(SessionError::Step(StepError::NotHostCharged(_))) => Ok("false".into()),
        Err(error) => Err(error.into()),
    }
}

fn facts(session: &Session, fact: &str, start: u64, limit: usize) -> Result<String, ReplyFailure> {
    let rows = session.facts(fact, start, limit)?;
    let row = |row: &guard_runtime::FactRow| serde_json::json!({ "number": row.number, "row": row.row, "by": &*row.by });
    json_text(&rows.iter().map(row).collect::<Vec<_>>())
}

/// The tools, under both of their names, of which the agent may have to read something else than they return.
fn changes_results(session: &Session) -> Vec<&str> {
    let tools = &session.guard().plan().tools;
    let names = tools.iter().flat_map(|tool| [&*tool.wire_name, &*tool.name]);
    names.filter(|name| session.changes_result(name)).collect()
}

fn status(session: &Session) -> Result<String, ReplyFailure> {
    let state: serde_json::Value = serde_json::from_str(&session.state_json().to_string())
        .map_err(|error| ReplyFailure::unshown(&error))?;
    let halted = session.state().halted();
    json_text(&serde_json::json!({
        "isResumed": session.is_resumed(),
        "changesResults": changes_results(session),
        "inFlight": session.in_flight(),
        "halted": halted.map(|halt| serde_json::json!({ "rule": halt.rule, "message": halt.message })),
        "head": session.head(),
        "state": state,
    }))
}
