//! Outcomes of events as text.

use crate::reply::{ReplyFailure, json_text};
use guard_plan::record::{StopDecision, rendered};
use guard_sdk::approvals::PendingApproval;
use guard_sdk::{Decision, Proposed, Settled, Stopped};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A verdict: the decision's letter, its details as JSON (nothing where there are none), a line break, the record,
/// a line break, and the id of the call. An allowed call costs no JSON.
pub fn proposed_text(
    proposed: &Proposed,
    record: &str,
    call: &str,
    request: Option<&PendingApproval>,
) -> Result<String, ReplyFailure> {
    let letter = match proposed.verdict.decision {
        Decision::Allow => 'a',
        Decision::Deny => 'd',
        Decision::Ask => 'q',
        Decision::Wait => 'w',
    };
    let details =
        if is_plain(proposed) { String::new() } else { json_text(&details(proposed, request))? };
    let mut text = String::with_capacity(details.len() + record.len() + call.len() + 3);
    text.push(letter);
    text.push_str(&details);
    text.push('\n');
    text.push_str(record);
    text.push('\n');
    text.push_str(call);
    Ok(text)
}

fn is_plain(proposed: &Proposed) -> bool {
    let verdict = &proposed.verdict;
    verdict.decision == Decision::Allow
        && verdict.reasons.is_empty()
        && verdict.shadowed.is_empty()
        && proposed.served.is_none()
        && proposed.feedback.is_empty()
        && proposed.notes.is_empty()
}

/// The text for the agent, with the answer of a person who refused the call.
fn message(proposed: &Proposed, request: Option<&PendingApproval>) -> String {
    let mut text = proposed.verdict.message();
    if let Some(refusal) = request.and_then(|request| request.rejected.as_ref()) {
        let _ = write!(text, "\n{} refused exactly this call: {}", refusal.by, refusal.reason);
    }
    text
}

fn details(proposed: &Proposed, request: Option<&PendingApproval>) -> Value {
    let names = proposed.verdict.reasons.iter().flat_map(|reason| &reason.needs);
    let mut needs: Vec<&String> = names.collect();
    needs.sort();
    needs.dedup();
    json!({
        "message": message(proposed, request),
        "reasons": proposed.verdict.reasons,
        "shadowed": proposed.verdict.shadowed,
        "needs": needs,
        "insteadText": proposed.instead.as_ref().map(ToString::to_string),
        "servedText": proposed.served.as_ref().map(ToString::to_string),
        "feedback": proposed.feedback.iter().map(|block| &block.text).collect::<Vec<_>>(),
        "rendered": rendered(&proposed.feedback),
        "notes": proposed.notes,
        "request": request.map(|request| &request.id),
    })
}

/// A settlement: its details as JSON (nothing where there are none), a line break, and the record.
pub fn settled_text(settled: &Settled, record: &str) -> Result<String, ReplyFailure> {
    let plain = settled.feedback.is_empty() && settled.notes.is_empty() && !settled.halted;
    let mut text = if plain {
        String::new()
    } else {
        json_text(&json!({
            "feedback": settled.feedback.iter().map(|block| &block.text).collect::<Vec<_>>(),
            "rendered": rendered(&settled.feedback),
            "halted": settled.halted,
            "shownText": settled.shown.as_ref().map(ToString::to_string),
            "notes": settled.notes,
        }))?
    };
    text.push('\n');
    text.push_str(record);
    Ok(text)
}

/// A stop, as JSON.
pub fn stopped_text(stopped: &Stopped, record: &str) -> Result<String, ReplyFailure> {
    let allowed = stopped.decision == StopDecision::Allow;
    json_text(&json!({
        "allowed": allowed,
        "decision": if allowed { "allow" } else { "block" },
        "message": stopped.message,
        "bypassed": stopped.bypassed,
        "incomplete": stopped.incomplete,
        "missing": stopped.missing,
        "notes": stopped.notes,
        "record": record,
    }))
}
