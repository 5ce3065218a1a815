//! Replies of the kernel to events, without its sentences.

use super::heard::{EventReply, Heard, ObservedSession, ObservedStop, UNREADABLE};
use super::world::Answering;
use crate::generate::Event;
use guard_compiler::reference::Outline;
use guard_plan::json::Json;
use guard_plan::record::{ItemChange, Missing, Note, NoteKind, StopDecision};
use guard_plan::verdict::{Code, Decision, Reason};
use guard_runtime::{
    CallApproval, Ending, Event as Taken, HaltEnd, Kernel, Move, Outcome, Proposal, Revocation,
    SessionState, Settlement, StopAttempt, UsageReport, UserPrompt, Verify,
};

/// The event as the kernel takes it; none where there is nothing to take.
pub(super) fn taken(event: &Event, now: i64) -> Option<Taken<'_>> {
    Some(match event {
        Event::Open(_) => return None,
        Event::Propose(call, tool, args) => {
            Taken::Propose(Proposal { call, tool, args: args.into(), now })
        }
        Event::Settle(call, success, result) => {
            let ending = if *success { Ending::Success(result.as_ref()) } else { Ending::Failure };
            Taken::Settle(Settlement { call, ending, now })
        }
        Event::Garble(call) => {
            let ending = Ending::Unreadable { text: UNREADABLE, error: "a key twice" };
            Taken::Settle(Settlement { call, ending, now })
        }
        Event::Approve(tool, args, role, ttl) => {
            let expires = ttl.map(|ttl| now + ttl);
            Taken::Approve(CallApproval { tool, args, role, by: "somebody", expires, now })
        }
        Event::Revoke(tool, args, role) => {
            Taken::Revoke(Revocation { tool, args, role, by: "somebody", now })
        }
        Event::Usage(amount) => Taken::Usage(UsageReport { unit: "tokens", amount: *amount, now }),
        Event::Resume => Taken::Resume(HaltEnd { role: "human", by: "somebody", now }),
        Event::Prompt(text) => Taken::Prompt(UserPrompt { text, now }),
        Event::Stop => Taken::Stop(StopAttempt { reason: None, now }),
        Event::Verify(item) => Taken::Verify(Verify { item, now }),
        Event::Move(item, transition, reason) => {
            let reason = reason.as_deref();
            Taken::Move(Move { item, transition, by: "ann", reason, now })
        }
    })
}

/// Returns the kernel's reply to an event, with its exact text.
pub(super) fn step(
    kernel: &Kernel,
    session: &mut SessionState,
    event: &Event,
    now: i64,
    at: usize,
) -> Result<EventReply, ()> {
    let Some(event) = taken(event, now) else { return Ok(EventReply::default()) };
    let outcome = kernel.step(session, &event, &mut Answering(at)).map_err(drop)?;
    Ok(said(&event, session, outcome))
}

/// Converts an outcome of the kernel.
pub(super) fn said(event: &Taken<'_>, session: &SessionState, outcome: Outcome) -> EventReply {
    match outcome {
        Outcome::Proposed(proposed) => {
            let exact = format!("{proposed:?}");
            let verdict = proposed.verdict;
            let escalated = verdict.reasons.iter().any(|r| r.message.contains("was rejected"));
            EventReply {
                decision: Some(verdict.decision),
                reasons: outlines(&verdict.reasons),
                shadowed: outlines(&verdict.shadowed),
                served: proposed.served.map(served),
                escalated,
                heard: Heard {
                    learned: proposed.learned,
                    forgotten: proposed.forgotten,
                    notes: notes(&proposed.notes),
                    feedback: proposed.feedback,
                    items: proposed.items,
                    denied: verdict.decision == Decision::Deny,
                    instead: proposed.instead,
                    shown: None,
                },
                stop: None,
                exact,
            }
        }
        Outcome::Settled(settled) => {
            let exact = format!("{settled:?} {:?}", session.changes());
            let heard = Heard {
                learned: settled.learned,
                forgotten: settled.forgotten,
                notes: notes(&settled.notes),
                feedback: settled.feedback,
                shown: settled.shown,
                ..Heard::default()
            };
            EventReply { exact, ..EventReply::new(heard) }
        }
        Outcome::Taken => EventReply::default(),
        Outcome::Prompted(learned) => {
            let exact = format!("{learned:?}");
            let heard = Heard {
                learned: learned.learned,
                forgotten: learned.forgotten,
                notes: notes(&learned.notes),
                ..Heard::default()
            };
            EventReply { exact, ..EventReply::new(heard) }
        }
        Outcome::Stopped(stopped) => {
            let exact = format!("{stopped:?}");
            EventReply {
                exact,
                stop: Some(ObservedStop {
                    allowed: stopped.decision == StopDecision::Allow,
                    bypassed: stopped.bypassed,
                    incomplete: stopped.incomplete,
                    missing: stopped.missing.into_iter().map(missing).collect(),
                }),
                ..EventReply::default()
            }
        }
        Outcome::Item(moved) => {
            let exact = format!("{moved:?}");
            let mut change = moved.change;
            if matches!(event, Taken::Verify(_)) {
                for sentence in change.reasons.iter_mut().chain(&mut change.unanswered) {
                    *sentence = "?".into();
                }
            }
            EventReply { exact, ..EventReply::new(changed(change)) }
        }
    }
}

fn changed(change: ItemChange) -> Heard {
    Heard { items: vec![change], ..Heard::default() }
}

/// A result; what went wrong in it is a sentence.
fn served(json: Json) -> Json {
    if json.get("error").is_some() { Json::Null } else { json }
}

fn missing(missing: Missing) -> (String, String, Vec<String>) {
    let more = |word| missing.text.contains(word);
    let plain =
        missing.text.starts_with("file ") && !more("\" contains \"") && !more("\" conforms ");
    let quoted = missing.message.split('`').skip(1).step_by(2).filter(|_| plain);
    let mut files: Vec<String> = quoted.map(String::from).collect();
    files.sort();
    (missing.text, missing.span.unwrap_or_default(), files)
}

/// Returns the parts of notes that the semantics determine: the kind and the rule.
fn notes(notes: &[Note]) -> Vec<(NoteKind, String)> {
    let mut notes: Vec<_> = notes.iter().map(|note| (note.kind, note.rule.clone())).collect();
    notes.sort();
    notes.dedup();
    notes
}

fn outlines(reasons: &[Reason]) -> Vec<Outline> {
    // Which of several rules is named for a halt is a matter of messages.
    let rule = |r: &Reason| if r.code == Code::Halted { "session".into() } else { r.rule.clone() };
    let needs = |r: &Reason| match r.code {
        Code::Requires | Code::Approval | Code::Conflict => r.needs.clone(),
        _ => Vec::new(),
    };
    let mut outlines: Vec<_> =
        reasons.iter().map(|r| (r.code, rule(r), r.decision, needs(r))).collect();
    outlines.sort();
    outlines.dedup();
    outlines
}

/// All of the session that can be seen from outside.
pub(super) fn ending(
    kernel: &Kernel,
    session: &SessionState,
    known: &ObservedSession,
) -> ObservedSession {
    let plan = kernel.plan();
    let state = known.state.iter().map(|(name, _)| {
        let var = plan.state.iter().position(|v| v.name == *name);
        (name.clone(), var.and_then(|var| session.value(var as u32)).cloned())
    });
    let spent = known.spent.iter().map(|(name, _)| {
        let unit = plan.units.iter().position(|u| u.name == *name);
        (name.clone(), unit.and_then(|unit| session.spent(unit as u32)))
    });
    let facts = known.facts.iter().map(|(name, _)| {
        let rows = session.facts(kernel, name, 0, usize::MAX).unwrap_or_default();
        let rows = rows.into_iter().map(|row| (row.number, row.by.to_string(), row.row));
        (name.clone(), rows.collect())
    });
    let items = known.items.iter().map(|(id, theirs)| {
        let ours = session.item(kernel, id).unwrap_or(Json::Null);
        (id.clone(), masked(&ours, theirs))
    });
    let total = plan.lifecycles.iter().map(|lifecycle| {
        let page = session.items(kernel, &lifecycle.name, None, None);
        match page.as_ref().and_then(|page| page.get("total")) {
            Some(Json::Int(total)) => *total as usize,
            _ => 0,
        }
    });
    ObservedSession {
        state: state.collect(),
        spent: spent.collect(),
        facts: facts.collect(),
        items: items.collect(),
        total: total.sum(),
        halted: session.halted().is_some(),
        // Without providers nothing is counted.
        judged: if plan.feedback.is_empty() { known.judged } else { session.judged() },
        blocked: session.blocked().into(),
    }
}

/// The JSON with a question mark for every text that the reference evaluator does not word.
pub(super) fn masked(ours: &Json, theirs: &Json) -> Json {
    match (ours, theirs) {
        (Json::String(_), Json::String(text)) if **text == *"?" => Json::string("?"),
        (Json::Array(ours), Json::Array(theirs)) if ours.len() == theirs.len() => {
            Json::Array(ours.iter().zip(theirs).map(|(a, b)| masked(a, b)).collect())
        }
        (Json::Object(ours), Json::Object(theirs)) if ours.len() == theirs.len() => {
            let members = ours.iter().zip(theirs);
            Json::Object(members.map(|((k, a), (_, b))| (k.clone(), masked(a, b))).collect())
        }
        _ => ours.clone(),
    }
}
