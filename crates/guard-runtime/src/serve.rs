//! Calls that the kernel serves itself: they change or list items, and are settled at once (semantics §11).

use crate::kernel::Kernel;
use crate::propose::Proposed;
use crate::session::Session;
use crate::session::flight::Flight;
use crate::session::items::{self, Item, Items, Last};
use crate::settle::Ending;
use crate::stage::lifecycle::Action;
use crate::world::Questions;
use guard_plan::json::Json;
use guard_plan::plan::{Actor, Lifecycle, LifecycleId};
use guard_plan::record::ItemChange;
use guard_plan::render;

/// Most items of one page.
const PAGE: usize = 100;

pub(crate) fn object(members: Vec<(&str, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

impl Kernel {
    /// Does what an allowed call of a lifecycle's tool asks for, and settles it.
    pub(crate) fn serve(
        &self,
        session: &mut Session,
        mut flight: Box<Flight>,
        id: LifecycleId,
        answers: &dyn Questions,
        proposed: &mut Proposed,
    ) {
        let done = match flight.action.take().map(|action| *action) {
            Some(Ok(action)) => {
                Ok(self.act(session, id, &flight.call, action, &mut proposed.items))
            }
            Some(Err(why)) => Err(why),
            // Only a guard in shadow lets pass what was not read.
            None => Err("the call could not be read".into()),
        };
        self.depart(session, &mut flight);
        let (result, done) = match done {
            Ok(result) => (result, true),
            Err(why) => (object(vec![("error", Json::string(&why))]), false),
        };
        let ending = if done { Ending::Success(Some(&result)) } else { Ending::Failure };
        let mut settled = self.finish(session, flight, ending, answers);
        proposed.notes.append(&mut settled.notes);
        proposed.feedback.append(&mut settled.feedback);
        proposed.learned = settled.learned;
        proposed.forgotten = settled.forgotten;
        proposed.halted = settled.halted;
        proposed.served = Some(result);
    }

    /// The result of an action.
    fn act(
        &self,
        session: &mut Session,
        id: LifecycleId,
        call: &str,
        action: Action,
        changes: &mut Vec<ItemChange>,
    ) -> Json {
        let lifecycle = &self.plan().lifecycles[id as usize];
        let now = session.now;
        let table = &mut session.items[id as usize];
        let (number, transition, before) = match action {
            Action::List(state, after) => return page(self, lifecycle, table, state, after),
            Action::Create(fields, criteria) => {
                (table.add(Item::new(lifecycle, fields, criteria, now, call)), None, None)
            }
            Action::Move(number, at, evidence) => {
                let transition = &lifecycle.transitions[at as usize];
                let before = table.get(number).map(Item::state);
                table.enter(number, transition.to);
                if let Some(item) = table.get_mut(number) {
                    let (actor, by) = (Actor::Agent, call.into());
                    item.last = Last { time: now, actor, transition: Some(at), by };
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
        let after = table.get(number).map(Item::state).map(state).unwrap_or_default();
        let result = object(vec![("id", Json::string(&item)), ("state", Json::string(&after))]);
        changes.push(ItemChange {
            item,
            lifecycle: lifecycle.name.clone(),
            actor: Actor::Agent,
            by: call.into(),
            transition: Some(transition.map_or("create".into(), |one| one.name.clone())),
            before: before.map(state),
            after,
            reasons: Vec::new(),
            unanswered: Vec::new(),
            rejections: table.get(number).map_or(0, |item| item.rejections.into()),
        });
        result
    }
}

/// A page of items, in order of their ids.
pub(crate) fn page(
    kernel: &Kernel,
    lifecycle: &Lifecycle,
    table: &Items,
    state: Option<u32>,
    after: u32,
) -> Json {
    let mut numbers = table.page(state, after, PAGE + 1);
    let more = numbers.len() > PAGE;
    numbers.truncate(PAGE);
    let total = state.map_or(table.len(), |state| table.count(state));
    let items = numbers
        .iter()
        .filter_map(|number| Some(brief(kernel, lifecycle, *number, table.get(*number)?)));
    object(vec![
        ("items", Json::Array(items.collect())),
        ("total", Json::Int(i64::try_from(total).unwrap_or(i64::MAX))),
        ("more", Json::Bool(more)),
    ])
}

/// What the agent sees of an item.
pub(crate) fn brief(kernel: &Kernel, lifecycle: &Lifecycle, number: u32, item: &Item) -> Json {
    let types = &kernel.plan().types;
    let secret = &mut |_: &_| Json::string(render::SECRET);
    let fields = lifecycle.fields.iter().zip(&item.fields).map(|(field, value)| {
        let json = match field.secret {
            true => Json::string(render::SECRET),
            false => render::to_json_redacted(types, field.ty, value, secret),
        };
        (field.name.as_str().into(), json)
    });
    let fields = Json::Object(fields.collect());
    let state = &lifecycle.states[item.state() as usize];
    let reasons = item.reasons.iter().map(|why| Json::string(why)).collect();
    object(vec![
        ("id", Json::string(&items::id(lifecycle, number))),
        ("state", Json::string(state)),
        ("fields", fields),
        ("rejections", Json::Int(item.rejections.into())),
        ("reasons", Json::Array(reasons)),
    ])
}
