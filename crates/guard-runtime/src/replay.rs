//! The events in a session's trace, for replay.

use crate::event::{
    Arguments, CallApproval, Ending, Event, HaltEnd, Move, Proposal, Revocation, Settlement,
    StopAttempt, UsageReport, UserPrompt, Verify,
};
use crate::world::Recalled;
use guard_plan::json::Json;
use guard_plan::record::{Payload, Record};
use guard_plan::{decimal, time};

/// Returns the event of a record; `None` if the record holds no kernel event or is inconsistent.
pub fn event(record: &Record) -> Option<Event<'_>> {
    let now = time::parse_rfc3339(&record.time)?;
    let call = record.call.as_deref();
    Some(match &record.payload {
        Payload::Open(_)
        | Payload::Answers(_)
        | Payload::Contract(_)
        | Payload::Snapshot(_)
        | Payload::Upgrade(_)
        | Payload::Ledger(_) => return None,
        Payload::Propose(propose) => {
            let args = match &propose.unreadable {
                None => Arguments::Read(&propose.args),
                Some(error) => Arguments::Unreadable { text: propose.args.as_str()?, error },
            };
            Event::Propose(Proposal { call: call?, tool: &propose.tool, args, now })
        }
        Payload::Settle(settle) => {
            // A record has null for a call without a result, and both decode alike.
            let result = Some(&*settle.result).filter(|result| !matches!(result, Json::Null));
            let ending = match &settle.unreadable {
                Some(error) => {
                    let text = settle.result.as_str().unwrap_or_default();
                    Ending::Unreadable { text, error }
                }
                None if settle.success => Ending::Success(result),
                None => Ending::Failure,
            };
            Event::Settle(Settlement { call: call?, ending, now })
        }
        Payload::Approve(approve) => Event::Approve(CallApproval {
            tool: &approve.tool,
            args: &approve.args,
            role: &approve.role,
            by: &approve.by,
            expires: match &approve.expires {
                Some(text) => Some(time::parse_rfc3339(text)?),
                None => None,
            },
            now,
        }),
        Payload::Revoke(revoke) => Event::Revoke(Revocation {
            tool: &revoke.tool,
            args: &revoke.args,
            role: &revoke.role,
            by: &revoke.by,
            now,
        }),
        Payload::Usage(usage) => Event::Usage(UsageReport {
            unit: &usage.unit,
            amount: decimal::parse(&usage.amount)?,
            now,
        }),
        Payload::Resume(resume) => {
            Event::Resume(HaltEnd { role: &resume.role, by: &resume.by, now })
        }
        Payload::Prompt(prompt) => Event::Prompt(UserPrompt { text: &prompt.text, now }),
        Payload::Stop(stop) => Event::Stop(StopAttempt { reason: stop.reason.as_deref(), now }),
        Payload::Item(item) => match (&item.transition, &item.by) {
            (Some(transition), Some(by)) => {
                let reason = item.reason.as_deref();
                Event::Move(Move { item: &item.item, transition, by, reason, now })
            }
            _ => Event::Verify(Verify { item: &item.item, now }),
        },
    })
}

/// Returns the world with the answers in the record.
pub fn world(record: &Record) -> Recalled<'_> {
    Recalled(match &record.payload {
        Payload::Propose(propose) => &propose.asked,
        Payload::Settle(settle) => &settle.asked,
        Payload::Prompt(prompt) => &prompt.asked,
        Payload::Stop(stop) => &stop.asked,
        Payload::Item(item) => &item.asked,
        _ => &[],
    })
}
