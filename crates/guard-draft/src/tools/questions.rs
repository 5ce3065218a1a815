//! Questions about a single JSON Schema.

use super::merge::is_told;
use guard_plan::json::Json;
use std::collections::BTreeMap;

/// The maximum number of members of a record.
pub(super) const MAX_MEMBERS: usize = 1_000;

/// Returns the branches that are not just `null`.
pub(super) fn others(branches: &[Json]) -> Vec<&Json> {
    let is_null = |branch: &&Json| branch.get("type").and_then(Json::as_str) == Some("null");
    branches.iter().filter(|branch| !is_null(branch)).collect()
}

/// Returns false if `type`, `enum` or `const` excludes null.
pub(super) fn allows_null(schema: &Json) -> bool {
    let kind = match schema.get("type") {
        Some(Json::Array(kinds)) => kinds.contains(&Json::string("null")),
        Some(kind) => kind.as_str() == Some("null"),
        None => true,
    };
    let value = match (schema.get("enum"), schema.get("const")) {
        (_, Some(value)) => *value == Json::Null,
        (Some(Json::Array(values)), None) => values.contains(&Json::Null),
        _ => true,
    };
    kind && value
}

/// Returns true if a schema describes objects whose members are known, and are not too many for a
/// record.
pub(crate) fn is_object(schema: &Json) -> bool {
    let kind = schema.get("type").map_or(Some("object"), Json::as_str);
    let count = members(schema, "properties").len();
    kind == Some("object") && (1..=MAX_MEMBERS).contains(&count)
}

/// Returns true if a branch of an object may have members that the object itself does not name, so
/// that a record of the object's own members would refuse them.
pub(crate) fn has_more_members(schema: &Json) -> bool {
    let names_more = |branch: &Json| {
        let keys = ["$ref", "properties", "allOf", "anyOf", "oneOf"];
        keys.iter().any(|key| branch.get(key).is_some())
    };
    let branches = |key: &&str| match schema.get(key) {
        Some(Json::Array(branches)) => branches.iter().any(names_more),
        _ => false,
    };
    is_object(schema) && ["anyOf", "oneOf"].iter().any(branches)
}

pub(super) fn members<'s>(schema: &'s Json, key: &str) -> &'s [(Box<str>, Json)] {
    match schema.get(key) {
        Some(Json::Object(members)) => members,
        _ => &[],
    }
}

/// Returns true if every object of a schema has this member. A member that only calls or only
/// results have is not required.
pub(crate) fn is_required(schema: &Json, name: &str) -> bool {
    let member = schema.get("properties").and_then(|members| members.get(name));
    let is_one_way = ["readOnly", "writeOnly"]
        .iter()
        .any(|key| member.and_then(|member| member.get(key)) == Some(&Json::Bool(true)));
    let Some(Json::Array(names)) = schema.get("required") else { return false };
    !is_one_way && names.iter().any(|known| known.as_str() == Some(name))
}

pub(super) fn description(schema: &Json) -> &str {
    schema.get("description").and_then(Json::as_str).unwrap_or_default()
}

/// Returns the schema that a `$ref` names: a shared one, or one in the same document.
pub(super) fn resolve<'s>(
    components: &'s BTreeMap<String, Json>,
    root: &'s Json,
    reference: &str,
) -> Option<&'s Json> {
    if let Some(shared) = components.get(reference) {
        return Some(shared);
    }
    let mut target = root;
    for part in reference.strip_prefix("#/")?.split('/') {
        target = target.get(&part.replace("~1", "/").replace("~0", "~"))?;
    }
    Some(target)
}

/// Returns the reference if the schema is only a reference: a `$ref`, or an `allOf` of one, with
/// nothing but descriptions beside it.
pub(super) fn alias(schema: &Json) -> Option<&str> {
    let Json::Object(members) = schema else { return None };
    let restricts = |name: &str| name == "type" || is_told(name);
    let told = |key: &str| members.iter().any(|(name, _)| **name != *key && restricts(name));
    match (schema.get("$ref"), schema.get("allOf")) {
        (Some(Json::String(reference)), None) if !told("$ref") => Some(reference),
        (None, Some(Json::Array(parts))) if parts.len() == 1 && !told("allOf") => alias(&parts[0]),
        _ => None,
    }
}
