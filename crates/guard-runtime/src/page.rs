//! Items as JSON: the page that a lifecycle's list tool returns, and the brief form of one item.

use crate::compiled::CompiledPlan;
use crate::session::items::{self, ItemTable, SessionItem};
use guard_plan::json::Json;
use guard_plan::plan::Lifecycle;
use guard_plan::render;

/// The maximum number of items on a page.
const PAGE: usize = 100;

/// Returns an object with these members.
pub(crate) fn object(members: Vec<(&str, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

/// Returns a page of items, in the order of their ids.
pub(crate) fn page(
    compiled: &CompiledPlan,
    lifecycle: &Lifecycle,
    table: &ItemTable,
    state: Option<u32>,
    after: u32,
) -> Json {
    // One item more than a page holds tells whether others follow.
    let mut numbers = table.page(state, after, PAGE + 1);
    let more = numbers.len() > PAGE;
    numbers.truncate(PAGE);
    let total = state.map_or(table.len(), |state| table.count(state));
    let items = numbers
        .iter()
        .filter_map(|number| Some(brief(compiled, lifecycle, *number, table.get(*number)?)));
    object(vec![
        ("items", Json::Array(items.collect())),
        ("total", Json::Int(i64::try_from(total).unwrap_or(i64::MAX))),
        ("more", Json::Bool(more)),
    ])
}

/// Returns the agent's view of an item.
pub(crate) fn brief(
    compiled: &CompiledPlan,
    lifecycle: &Lifecycle,
    number: u32,
    item: &SessionItem,
) -> Json {
    let types = &compiled.plan().types;
    let secret = &mut |_: &_| Json::string(render::SECRET);
    let fields = lifecycle.fields.iter().zip(&item.fields).map(|(field, value)| {
        let json = if field.secret {
            Json::string(render::SECRET)
        } else {
            render::to_json_redacted(types, field.ty, value, secret)
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
