//! Calls that the kernel serves itself: they change or list items, and are settled at once
//! (semantics §11).

use crate::compiled::CompiledPlan;
use crate::event::Ending;
use crate::outcome::{Proposed, Settled};
use crate::session::SessionState;
use crate::session::flight::InFlight;
use crate::session::items::{self, LastChange, ServedAction, SessionItem};
use crate::world::WorldQuestions;
use crate::{flights, page, settle};
use guard_plan::json::Json;
use guard_plan::plan::{Actor, LifecycleId};
use guard_plan::record::ItemChange;

/// Performs an allowed call of a lifecycle's tool, or of a statement if there is no lifecycle, and
/// settles it.
pub(crate) fn serve(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    mut flight: Box<InFlight>,
    id: Option<LifecycleId>,
    answers: &dyn WorldQuestions,
    proposed: &mut Proposed,
) {
    let done = match (flight.action.take().map(|action| *action), id) {
        (Some(Ok(action)), Some(id)) => {
            Ok(act(compiled, session, id, &flight.call, action, &mut proposed.items))
        }
        (Some(Err(why)), _) => Err(why),
        (_, None) if flight.tool.is_some() => Ok(page::object(vec![("stated", Json::Bool(true))])),
        // Only a guard in shadow mode allows a call that could not be decoded.
        _ => Err("the call could not be read".into()),
    };
    flights::admit(session, &mut flight);
    let (result, done) = match done {
        Ok(result) => (result, true),
        Err(why) => (page::object(vec![("error", Json::string(&why))]), false),
    };
    let ending = if done { Ending::Success(Some(&result)) } else { Ending::Failure };
    let mut settled = Settled::default();
    settle::finish(compiled, session, flight, ending, answers, &mut settled);
    proposed.notes.append(&mut settled.notes);
    proposed.feedback.append(&mut settled.feedback);
    proposed.learned = settled.learned;
    proposed.forgotten = settled.forgotten;
    proposed.halted = settled.halted;
    proposed.served = Some(result);
}

/// Performs an action and returns its result.
fn act(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    id: LifecycleId,
    call: &str,
    action: ServedAction,
    changes: &mut Vec<ItemChange>,
) -> Json {
    let lifecycle = &compiled.plan().lifecycles[id as usize];
    let now = session.now;
    let table = &mut session.items[id as usize];
    let (number, transition, before) = match action {
        ServedAction::List(state, after) => {
            return page::page(compiled, lifecycle, table, state, after);
        }
        ServedAction::Create(fields, criteria) => {
            (table.add(SessionItem::new(lifecycle, fields, criteria, now, call)), None, None)
        }
        ServedAction::Move(number, at, evidence) => {
            let transition = &lifecycle.transitions[at as usize];
            let before = table.get(number).map(SessionItem::state);
            table.enter(number, transition.to);
            if let Some(item) = table.get_mut(number) {
                let actor = Actor::Agent;
                let by = call.into();
                item.last = LastChange { time: now, actor, transition: Some(at), by };
                if let Some(evidence) = evidence {
                    item.evidence = evidence;
                }
                item.reasons.clear();
            }
            (number, Some(transition), before)
        }
    };
    let state = |state: u32| lifecycle.states[state as usize].clone();
    let item = items::id(lifecycle, number);
    let after = table.get(number).map(SessionItem::state).map(state).unwrap_or_default();
    let result = page::object(vec![("id", Json::string(&item)), ("state", Json::string(&after))]);
    changes.push(ItemChange {
        item,
        lifecycle: lifecycle.name.clone(),
        actor: Actor::Agent,
        by: call.into(),
        transition: Some(transition.map_or("create".into(), |transition| transition.name.clone())),
        before: before.map(state),
        after,
        reasons: Vec::new(),
        unanswered: Vec::new(),
        rejections: table.get(number).map_or(0, |item| item.rejections.into()),
    });
    result
}
