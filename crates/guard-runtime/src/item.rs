//! Events of the harness on items: verification and manual moves (semantics §11).

use crate::compiled::CompiledPlan;
use crate::error::StepError;
use crate::eval::context::{Context, DecisionResources};
use crate::event::{Move, Verify};
use crate::host::named;
use crate::outcome::Moved;
use crate::session::SessionState;
use crate::session::items::{self, ItemCriterion, LastChange, SessionItem};
use crate::stage::lifecycle::misplaced;
use crate::world::{World, WorldAnswers};
use crate::world_checks::{self, CheckResult};
use guard_plan::plan::{Actor, Lifecycle, LifecycleId, Transition};
use guard_plan::record::ItemChange;
use guard_plan::{near, render};

/// The recorded author of a move by verification.
const VERIFY: &str = "verify";
/// The maximum length of a stored reason, in characters.
const REASON_CHARS: usize = 1000;

/// The position of an item.
type ItemPlace = (LifecycleId, u32);

/// A transition and its position.
type NumberedTransition<'p> = (u32, &'p Transition);

/// Judges the criteria of an item, and moves the item accordingly.
///
/// # Errors
///
/// Returns an error if there is no such item or its state has no verification.
pub(crate) fn verify(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    verify: &Verify<'_>,
    world: &mut dyn World,
) -> Result<Moved, StepError> {
    let (place, item) = item(compiled, session, verify.item)?;
    let lifecycle = &compiled.plan().lifecycles[place.0 as usize];
    let state = item.state();
    let judged = |passes: bool| {
        (0..).zip(&lifecycle.transitions).find(|(_, transition)| {
            transition.criteria == Some(passes)
                && transition.actor == Actor::Harness
                && transition.from.contains(&state)
        })
    };
    let passes = judged(true).ok_or_else(|| {
        let state = &lifecycle.states[state as usize];
        StepError::NoTransition(format!("{} is `{state}`: nothing is verified there", verify.item))
    })?;
    session.advance(verify.now);
    let mut answers = WorldAnswers::new(world);
    let (reasons, unanswered) = {
        let decision = DecisionResources::default();
        let cx = Context::new(compiled, session, &decision, &answers);
        let criteria = session.items[place.0 as usize].get(place.1).map(|item| &*item.criteria);
        judge(&cx, criteria.unwrap_or_default())
    };
    let asked = answers.commit(session);
    // An outage of the world is not a failed criterion, so the item stays where it is.
    let step = match (unanswered.is_empty(), reasons.is_empty()) {
        (false, _) => None,
        (true, true) => Some(passes),
        (true, false) => judged(false),
    };
    let rejects = !reasons.is_empty();
    if unanswered.is_empty()
        && let Some(item) = session.items[place.0 as usize].get_mut(place.1)
    {
        item.reasons.clone_from(&reasons);
    }
    let mut change = change(compiled, session, place, step, VERIFY, rejects);
    (change.reasons, change.unanswered) = (reasons, unanswered);
    Ok(Moved { change, asked })
}

/// Moves an item manually.
///
/// # Errors
///
/// Returns an error if there is no such item or the harness cannot make the transition now.
pub(crate) fn move_item(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    by: &Move<'_>,
) -> Result<Moved, StepError> {
    named(by.by, "moves the item")?;
    let (place, item) = item(compiled, session, by.item)?;
    let lifecycle = &compiled.plan().lifecycles[place.0 as usize];
    let step = by_hand(lifecycle, by).map_err(StepError::NoTransition)?;
    if let Some(why) = misplaced(lifecycle, step.1, item, by.item) {
        return Err(StepError::NoTransition(why));
    }
    session.advance(by.now);
    let reasons: Vec<String> =
        by.reason.map(|reason| render::cut(reason, REASON_CHARS)).into_iter().collect();
    let rejects = !reasons.is_empty() && !lifecycle.finals.contains(&step.1.to);
    if let Some(item) = session.items[place.0 as usize].get_mut(place.1) {
        item.reasons.clone_from(&reasons);
    }
    let mut change = change(compiled, session, place, Some(step), by.by, rejects);
    change.reasons = reasons;
    Ok(Moved { change, asked: Vec::new() })
}

/// Returns the item with an id.
fn item<'s>(
    compiled: &CompiledPlan,
    session: &'s SessionState,
    id: &str,
) -> Result<(ItemPlace, &'s SessionItem), StepError> {
    let unknown = || StepError::UnknownItem(id.into());
    let place = items::place(compiled.plan(), id).ok_or_else(unknown)?;
    let item = session.items[place.0 as usize].get(place.1).ok_or_else(unknown)?;
    Ok((place, item))
}

/// Moves an item, or reports that nothing moved.
fn change(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    (id, number): ItemPlace,
    step: Option<NumberedTransition<'_>>,
    by: &str,
    rejects: bool,
) -> ItemChange {
    let lifecycle = &compiled.plan().lifecycles[id as usize];
    let name = |state: u32| lifecycle.states[state as usize].clone();
    let now = session.now;
    let table = &mut session.items[id as usize];
    let before = table.get(number).map_or(lifecycle.initial, SessionItem::state);
    if let Some((at, transition)) = step {
        table.enter(number, transition.to);
        if let Some(item) = table.get_mut(number) {
            let actor = Actor::Harness;
            let by = by.into();
            item.last = LastChange { time: now, actor, transition: Some(at), by };
            item.rejections = item.rejections.saturating_add(u32::from(rejects));
        }
    }
    ItemChange {
        item: items::id(lifecycle, number),
        lifecycle: lifecycle.name.clone(),
        actor: Actor::Harness,
        by: by.into(),
        transition: step.map(|(_, transition)| transition.name.clone()),
        before: Some(name(before)),
        after: name(step.map_or(before, |(_, transition)| transition.to)),
        reasons: Vec::new(),
        unanswered: Vec::new(),
        rejections: table.get(number).map_or(0, |item| item.rejections.into()),
    }
}

/// Returns the manual transition, if the harness may make it.
fn by_hand<'p>(lifecycle: &'p Lifecycle, by: &Move<'_>) -> Result<NumberedTransition<'p>, String> {
    let named =
        (0..).zip(&lifecycle.transitions).find(|(_, transition)| transition.name == by.transition);
    let shown = render::cut(by.transition, 100);
    let Some(step) = named else {
        let names = lifecycle.transitions.iter().map(|transition| &*transition.name);
        let near = near::nearest(by.transition, names);
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return Err(format!("`{}` has no transition `{shown}`{near}", lifecycle.name));
    };
    match step.1 {
        Transition { actor: Actor::Agent, .. } => {
            Err(format!("`{shown}` is a transition of the agent"))
        }
        Transition { criteria: Some(_), .. } => {
            Err(format!("`{shown}` is made when the criteria are verified, not by hand"))
        }
        _ => Ok(step),
    }
}

/// Returns the unmet criteria, and the criteria that cannot be judged.
fn judge(cx: &Context<'_>, criteria: &[ItemCriterion]) -> (Vec<String>, Vec<String>) {
    let mut reasons = Vec::new();
    let mut unanswered = Vec::new();
    for criterion in criteria {
        let found = match criterion {
            ItemCriterion::File(path) => world_checks::file(cx, path),
            ItemCriterion::Contains(path, text) => world_checks::contains(cx, path, text),
            ItemCriterion::Command(id) => world_checks::command(cx, *id, 0),
            ItemCriterion::Committed => world_checks::committed(cx),
            ItemCriterion::Probe(id) => world_checks::probe(cx, *id),
        };
        match found {
            CheckResult::Holds => {}
            CheckResult::Lacks(why) => reasons.push(why),
            CheckResult::Unknown(why) => unanswered.push(why),
        }
    }
    (reasons, unanswered)
}
