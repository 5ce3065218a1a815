//! Replies of the reference evaluator to events.

use super::heard::{EventReply, Heard, ObservedSession, ObservedStop, UNREADABLE};
use super::world::answer;
use crate::generate::Event;
use guard_compiler::reference::{Ask, EventEffects, Misuse, ReferenceSession, UnmetCheck};
use guard_plan::verdict::Decision;

pub(super) fn step(
    session: &mut ReferenceSession,
    event: &Event,
    now: i64,
    at: usize,
    place: &dyn Fn(guard_syntax::span::Span) -> String,
) -> Result<EventReply, ()> {
    said(session, event, now, at, place).map_err(drop)
}

fn said(
    session: &mut ReferenceSession,
    event: &Event,
    now: i64,
    at: usize,
    place: &dyn Fn(guard_syntax::span::Span) -> String,
) -> Result<EventReply, Misuse> {
    let world = &|ask: &Ask| answer(ask, at);
    Ok(match event {
        Event::Open(_) => EventReply::default(),
        Event::Propose(call, tool, args) => {
            let judgement = session.propose(call, tool, args, now, world)?;
            EventReply {
                decision: Some(judgement.decision),
                reasons: judgement.reasons,
                shadowed: judgement.shadowed,
                served: judgement.outcome.served.clone(),
                heard: Heard {
                    denied: judgement.decision == Decision::Deny,
                    ..heard(judgement.outcome)
                },
                ..EventReply::default()
            }
        }
        Event::Settle(call, success, result) => {
            EventReply::new(heard(session.settle(call, *success, result.as_ref(), now, world)?))
        }
        Event::Garble(call) => {
            EventReply::new(heard(session.settle_unreadable(call, UNREADABLE, now, world)?))
        }
        Event::Approve(tool, args, role, ttl) => {
            session.approve(tool, args, role, ttl.map(|ttl| now + ttl), now)?;
            EventReply::default()
        }
        Event::Revoke(tool, args, role) => {
            session.revoke(tool, args, role, now)?;
            EventReply::default()
        }
        Event::Usage(amount) => {
            session.usage("tokens", *amount, now)?;
            EventReply::default()
        }
        Event::Resume => {
            session.resume(now)?;
            EventReply::default()
        }
        Event::Prompt(text) => EventReply::new(heard(session.prompt(text, now, world)?)),
        Event::Stop => {
            let stopping = session.stop(now, world);
            EventReply {
                stop: Some(ObservedStop {
                    allowed: stopping.allowed,
                    bypassed: stopping.bypassed,
                    incomplete: stopping.incomplete,
                    missing: stopping.missing.into_iter().map(|one| lacking(one, place)).collect(),
                }),
                ..EventReply::default()
            }
        }
        Event::Verify(item) => EventReply::new(Heard {
            items: vec![session.verify(item, now, world)?],
            ..Heard::default()
        }),
        Event::Move(item, transition, reason) => EventReply::new(Heard {
            items: vec![session.move_item(item, transition, "ann", reason.as_deref(), now)?],
            ..Heard::default()
        }),
    })
}

fn lacking(
    lacking: UnmetCheck,
    place: &dyn Fn(guard_syntax::span::Span) -> String,
) -> (String, String, Vec<String>) {
    let mut files = lacking.files;
    files.sort();
    (lacking.text, place(lacking.span), files)
}

fn heard(outcome: EventEffects) -> Heard {
    let EventEffects { learned, forgotten, notes, feedback, items, instead, shown, .. } = outcome;
    Heard { learned, forgotten, notes, feedback, items, denied: false, instead, shown }
}

/// All of the session that can be seen from outside.
pub(super) fn ending(session: &ReferenceSession) -> ObservedSession {
    let items = session.items();
    let (judged, blocked) = session.counts();
    ObservedSession {
        state: session.state().map(|(name, value)| (name.into(), Some(value.clone()))).collect(),
        spent: session.spent().map(|(name, spent)| (name.into(), Some(spent))).collect(),
        facts: session.facts().map(|(name, rows)| (name.into(), rows)).collect(),
        total: items.len(),
        items,
        halted: session.halted(),
        judged,
        blocked,
    }
}
