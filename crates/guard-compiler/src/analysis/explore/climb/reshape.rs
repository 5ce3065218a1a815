//! Changes of several places of a draft at once: what agreed agrees still, or agrees now.
//!
//! Conditions hold a value of one call against one of another: a key of a row and an argument, the entries of a map and the items
//! of a list. A search that changes one place at a time breaks what it has before it has what it wants.

use super::super::session::{Act, ExploredEnding};
use super::focus::Focus;
use super::take_members;
use guard_plan::json::Json;
use guard_plan::random::Rng;
use std::rc::Rc;

/// Most times that an entry is taken once more.
const MOST_COPIES: usize = 3;

/// The arguments and the result of a call; nothing of another event.
pub(crate) fn values_of(act: &mut Act) -> Vec<&mut Json> {
    match act {
        Act::Call { args, then: ExploredEnding::Succeeds(Some(result)), .. } => vec![args, result],
        Act::Call { args, .. } => vec![args],
        _ => Vec::new(),
    }
}

/// The same, to be read.
pub(super) fn values_in(act: &Act) -> Vec<&Json> {
    match act {
        Act::Call { args, then: ExploredEnding::Succeeds(Some(result)), .. } => vec![args, result],
        Act::Call { args, .. } => vec![args],
        _ => Vec::new(),
    }
}

/// The values of all calls of a draft, those of the call at its end last.
pub(super) fn all_values<'j>(acts: &'j mut [Rc<Act>], last: &'j mut Json) -> Vec<&'j mut Json> {
    acts.iter_mut().map(Rc::make_mut).flat_map(values_of).chain([last]).collect()
}

/// Puts another value wherever one stands, also as a key.
pub(super) fn replace(json: &mut Json, from: &Json, to: &Json) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(|item| replace(item, from, to)),
        Json::Object(members) => {
            for (name, value) in members {
                if let (Json::String(from), Json::String(to)) = (from, to)
                    && **name == **from
                {
                    *name = (&**to).into();
                }
                replace(value, from, to);
            }
        }
        leaf if leaf == from => *leaf = to.clone(),
        _ => {}
    }
}

/// Returns clones of all objects within the values of a draft, and at least the arguments of the call at its end.
pub(super) fn objects_of(acts: &[Rc<Act>], last: &Json) -> Vec<Json> {
    let mut all = Vec::new();
    for act in acts {
        values_in(act).into_iter().for_each(|value| objects(value, &mut all));
    }
    objects(last, &mut all);
    if all.is_empty() {
        all.push(last.clone());
    }
    all
}

/// Collects the objects within a value, itself among them.
fn objects(json: &Json, all: &mut Vec<Json>) {
    match json {
        Json::Array(items) => items.iter().for_each(|item| objects(item, all)),
        Json::Object(members) => {
            all.push(json.clone());
            members.iter().for_each(|(_, value)| objects(value, all));
        }
        _ => {}
    }
}

/// Gives all objects within a value the members that they have in common with another one.
pub(super) fn agree(json: &mut Json, with: &Json) {
    take_members(json, with);
    match json {
        Json::Array(items) => items.iter_mut().for_each(|item| agree(item, with)),
        Json::Object(members) => members.iter_mut().for_each(|(_, value)| agree(value, with)),
        _ => {}
    }
}

/// Takes an entry of a list or of a map once more or several times. Each copy in a map has a key of its own; copies in a list have
/// the keys of a map, where there is one, and often no amounts. An empty list takes an item of the member of its name of `spare`.
pub(super) fn grow(values: &mut [&mut Json], spare: Option<&Json>, focus: &Focus, rng: &mut Rng) {
    let mut maps: Vec<Json> = Vec::new();
    let mut places: Vec<(String, bool)> = Vec::new();
    for value in values.iter() {
        objects(value, &mut maps);
        containers(value, "", focus, false, &mut places);
    }
    maps.retain(is_map);
    if places.is_empty() {
        return;
    }
    let seen: Vec<usize> = (0..places.len()).filter(|at| places[*at].1).collect();
    let at = focus.choose(places.len(), &seen, rng);
    let mut left = at;
    match values.iter_mut().find_map(|value| container_at(value, &mut left)) {
        Some(Json::Object(entries)) => {
            let (key, value) = rng.pick(entries).clone();
            for copy in 0..=rng.below(MOST_COPIES) {
                let key: Box<str> = format!("{key}{}", copy + 2).into();
                if entries.iter().all(|(known, _)| *known != key) {
                    entries.push((key, value.clone()));
                }
            }
        }
        Some(Json::Array(items)) => {
            if items.is_empty() {
                let member = spare.and_then(|spare| spare.get(&places[at].0));
                let Some(Json::Array(drawn)) = member else { return };
                items.extend(drawn.first().cloned());
            }
            if !items.is_empty() {
                grow_list(items, &maps, rng);
            }
        }
        _ => {}
    }
}

/// Takes an item of a list once more, or once for each key of a map.
fn grow_list(items: &mut Vec<Json>, maps: &[Json], rng: &mut Rng) {
    let mut item = rng.pick(items).clone();
    if rng.chance(70) {
        zero(&mut item);
    }
    let keys = if maps.is_empty() { Vec::new() } else { keys(rng.pick(maps)) };
    let texts = texts_of(&item);
    if keys.is_empty() || texts.is_empty() || rng.chance(30) {
        return items.push(item);
    }
    let member = rng.pick(&texts).clone();
    let most = 1 + rng.below(keys.len());
    for key in keys.into_iter().take(most) {
        if items.iter().all(|known| known.get(&member) != Some(&key)) {
            let mut item = item.clone();
            take_members(&mut item, &Json::Object(vec![(member.clone(), key)]));
            items.push(item);
        }
    }
}

/// The keys of a map, as texts.
fn keys(map: &Json) -> Vec<Json> {
    match map {
        Json::Object(entries) => entries.iter().map(|(key, _)| Json::string(key)).collect(),
        _ => Vec::new(),
    }
}

/// The names of an object's members that are texts.
fn texts_of(json: &Json) -> Vec<Box<str>> {
    match json {
        Json::Object(members) => {
            let texts = members.iter().filter(|(_, value)| value.as_str().is_some());
            texts.map(|(name, _)| name.clone()).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns true for an object whose values are all objects: such are the maps of records.
fn is_map(json: &Json) -> bool {
    match json {
        Json::Object(members) => {
            !members.is_empty() && members.iter().all(|(_, v)| matches!(v, Json::Object(_)))
        }
        _ => false,
    }
}

/// Collects the maps and lists within a value, each with the name of its member and whether it stands in focus.
fn containers(json: &Json, name: &str, focus: &Focus, inside: bool, all: &mut Vec<(String, bool)>) {
    if is_container(json) {
        all.push((name.to_string(), inside));
    }
    match json {
        Json::Array(items) => {
            items.iter().for_each(|item| containers(item, name, focus, inside, all));
        }
        Json::Object(members) => {
            for (name, value) in members {
                containers(value, name, focus, inside || focus.contains(name), all);
            }
        }
        _ => {}
    }
}

/// The map or list at a place, which is counted down; none where there are fewer.
fn container_at<'j>(json: &'j mut Json, left: &mut usize) -> Option<&'j mut Json> {
    if is_container(json) {
        if *left == 0 {
            return Some(json);
        }
        *left -= 1;
    }
    match json {
        Json::Array(items) => items.iter_mut().find_map(|item| container_at(item, left)),
        Json::Object(members) => {
            members.iter_mut().find_map(|(_, value)| container_at(value, left))
        }
        _ => None,
    }
}

fn is_container(json: &Json) -> bool {
    is_map(json) || matches!(json, Json::Array(_))
}

/// Removes the entry of a list or map at a place, which is counted down; returns false where there are fewer.
pub(crate) fn remove_entry(json: &mut Json, left: &mut usize) -> bool {
    let map = is_map(json);
    let entries = match json {
        Json::Array(items) if *left < items.len() => {
            items.remove(*left);
            return true;
        }
        Json::Object(members) if map && *left < members.len() => {
            members.remove(*left);
            return true;
        }
        Json::Array(items) => items.len(),
        Json::Object(members) if map => members.len(),
        _ => 0,
    };
    *left -= entries;
    match json {
        Json::Array(items) => items.iter_mut().any(|item| remove_entry(item, left)),
        Json::Object(members) => members.iter_mut().any(|(_, value)| remove_entry(value, left)),
        _ => false,
    }
}

/// Sets the numbers within a value to zero.
fn zero(json: &mut Json) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(zero),
        Json::Object(members) => members.iter_mut().for_each(|(_, value)| zero(value)),
        Json::Int(number) => *number = 0,
        _ => {}
    }
}

/// Returns true if both values are texts, or both numbers, and so on.
pub(super) fn same_kind(a: &Json, b: &Json) -> bool {
    let number = |json: &Json| matches!(json, Json::Int(_) | Json::Number(_));
    std::mem::discriminant(a) == std::mem::discriminant(b) || number(a) && number(b)
}
