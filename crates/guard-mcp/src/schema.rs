//! A tool's JSON Schema, narrowed to the values that a guard accepts: enums, bounds, lengths,
//! patterns, required members.
//!
//! Narrowing only adds restrictions. Restrictions that a schema cannot express are left to the
//! guard.

use guard_plan::decimal;
use guard_plan::json::Json;
use guard_plan::naming::to_name;
use guard_plan::plan::{Field, Plan, TypeDef, TypeId};

type JsonMembers = Vec<(Box<str>, Json)>;

/// Returns the schema of an object whose members are `fields`.
pub(crate) fn narrowed_object(plan: &Plan, fields: &[Field], schema: &Json) -> Json {
    let Json::Object(members) = schema else { return schema.clone() };
    let mut members = members.clone();
    let Some(Json::Object(properties)) = get(&members, "properties") else {
        return Json::Object(members);
    };
    let field = |name: &str| fields.iter().find(|field| field.name == to_name(name));
    let narrowed: JsonMembers = properties
        .iter()
        .filter_map(|(name, property)| {
            field(name).map(|field| (name.clone(), narrowed_field(plan, field, property)))
        })
        .collect();
    let before = match get(&members, "required") {
        Some(Json::Array(names)) => names.clone(),
        _ => Vec::new(),
    };
    let listed = |name: &str| before.iter().any(|known| known.as_str() == Some(name));
    let needs = |name: &str| {
        let optional = |ty| matches!(plan.types.get(ty as usize), Some(TypeDef::Option { .. }));
        listed(name) || field(name).is_some_and(|field| !optional(field.ty))
    };
    let required: Vec<Json> = narrowed
        .iter()
        .filter(|(name, _)| needs(name))
        .map(|(name, _)| Json::string(name))
        .collect();
    set(&mut members, "properties", Json::Object(narrowed));
    if required.is_empty() {
        members.retain(|(name, _)| **name != *"required")
    } else {
        set(&mut members, "required", Json::Array(required))
    }
    set(&mut members, "additionalProperties", Json::Bool(false));
    Json::Object(members)
}

fn narrowed_field(plan: &Plan, field: &Field, schema: &Json) -> Json {
    match narrowed(plan, field.ty, schema) {
        Json::Object(mut members) => {
            let described = described(get(&members, "description"), &field.doc);
            if let Some(text) = described {
                set(&mut members, "description", Json::string(&text));
            }
            Json::Object(members)
        }
        other => other,
    }
}

/// Returns a description with the guard's text appended; `None` if that adds nothing.
pub(crate) fn described(description: Option<&Json>, doc: &str) -> Option<String> {
    let doc = doc.trim();
    let known = description.and_then(Json::as_str).unwrap_or_default().trim();
    if doc.is_empty() || words(known).contains(&words(doc)) {
        return None;
    }
    Some(if known.is_empty() { doc.to_owned() } else { format!("{known}\n{doc}") })
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the schema of a value of a type.
fn narrowed(plan: &Plan, ty: TypeId, schema: &Json) -> Json {
    let Json::Object(members) = schema else { return schema.clone() };
    let (ty, optional) = match plan.types.get(ty as usize) {
        Some(TypeDef::Option { of }) => (*of, true),
        _ => (ty, false),
    };
    for key in ["anyOf", "oneOf"] {
        if let Some(Json::Array(branches)) = get(members, key) {
            let is_null = |branch: &Json| branch.get("type").and_then(Json::as_str) == Some("null");
            let branch = |branch: &Json| {
                if is_null(branch) { branch.clone() } else { narrowed(plan, ty, branch) }
            };
            let branches = branches.iter().filter(|branch| optional || !is_null(branch));
            let branches = branches.map(branch).collect();
            let mut members = members.clone();
            set(&mut members, key, Json::Array(branches));
            return Json::Object(members);
        }
    }
    let mut members = members.clone();
    restrict(plan, ty, &mut members);
    Json::Object(members)
}

/// Adds the restrictions of a type that is not an option.
fn restrict(plan: &Plan, ty: TypeId, members: &mut JsonMembers) {
    let Some(def) = plan.types.get(ty as usize) else { return };
    match def {
        TypeDef::Enum { variants, .. } => restrict_enum(variants, members),
        TypeDef::Int { min, max } => {
            bound(members, "minimum", min.map(Json::Int), true);
            bound(members, "maximum", max.map(Json::Int), false);
        }
        TypeDef::Decimal { min, max } => {
            let number = |value: &i64| Json::number(&decimal::format(*value));
            bound(members, "minimum", min.as_ref().and_then(number), true);
            bound(members, "maximum", max.as_ref().and_then(number), false);
        }
        TypeDef::String { max_chars, max_bytes, patterns } => {
            // A character has at least one byte, so a limit of bytes is a valid limit of
            // characters.
            let most = [*max_chars, *max_bytes].into_iter().flatten().min();
            bound(members, "maxLength", most.and_then(count), false);
            let patterns = patterns.iter().filter_map(|id| plan.regexes.get(*id as usize));
            let patterns: Vec<&String> = patterns.filter(|text| is_portable(text)).collect();
            restrict_patterns(&patterns, members);
        }
        TypeDef::List { of, max } | TypeDef::Set { of, max } => {
            bound(members, "maxItems", max.and_then(count), false);
            if let Some(items) = get(members, "items").cloned() {
                set(members, "items", narrowed(plan, *of, &items));
            }
        }
        TypeDef::Map { of, max, .. } => {
            bound(members, "maxProperties", max.and_then(count), false);
            if let Some(values @ Json::Object(_)) = get(members, "additionalProperties").cloned() {
                set(members, "additionalProperties", narrowed(plan, *of, &values));
            }
        }
        TypeDef::Record { fields, .. } => {
            let whole = narrowed_object(plan, fields, &Json::Object(members.clone()));
            if let Json::Object(narrowed) = whole {
                *members = narrowed;
            }
        }
        TypeDef::Bool
        | TypeDef::Path
        | TypeDef::Url
        | TypeDef::Duration { .. }
        | TypeDef::Time { .. }
        | TypeDef::Option { .. }
        | TypeDef::Json
        | TypeDef::Union { .. }
        | TypeDef::Command => {}
    }
}

fn restrict_enum(variants: &[String], members: &mut JsonMembers) {
    let known: Vec<Json> = match get(members, "enum") {
        Some(Json::Array(values)) => values
            .iter()
            .filter(|value| {
                **value == Json::Null
                    || value.as_str().is_some_and(|text| variants.iter().any(|name| name == text))
            })
            .cloned()
            .collect(),
        _ => {
            let nullable = matches!(get(members, "type"), Some(Json::Array(types))
                if types.iter().any(|name| name.as_str() == Some("null")));
            let null = nullable.then_some(Json::Null);
            variants.iter().map(|name| Json::string(name)).chain(null).collect()
        }
    };
    set(members, "enum", Json::Array(known));
}

fn restrict_patterns(patterns: &[&String], members: &mut JsonMembers) {
    let mut patterns = patterns.iter();
    if get(members, "pattern").is_none()
        && let Some(pattern) = patterns.next()
    {
        set(members, "pattern", Json::string(pattern));
    }
    let has = |members: &JsonMembers, text: &str| {
        get(members, "pattern").and_then(Json::as_str) == Some(text)
    };
    let more: Vec<Json> = patterns
        .filter(|pattern| !has(members, pattern))
        .map(|pattern| Json::Object(vec![("pattern".into(), Json::string(pattern))]))
        .collect();
    if !more.is_empty() && get(members, "allOf").is_none() {
        set(members, "allOf", Json::Array(more));
    }
}

/// Returns true if all JSON Schema validators interpret a pattern in the same way.
fn is_portable(pattern: &str) -> bool {
    let groups = pattern.match_indices("(?").all(|(at, _)| pattern[at..].starts_with("(?:"));
    let classes = ["[[", "&&", "--", "~~", "\\p", "\\P", "\\A", "\\z", "\\x{", "\\u", "\\<", "\\>"];
    groups && !classes.iter().any(|class| pattern.contains(class))
}

fn count(number: u64) -> Option<Json> {
    i64::try_from(number).ok().map(Json::Int)
}

/// Sets a bound, unless a stricter one exists.
fn bound(members: &mut JsonMembers, key: &str, value: Option<Json>, lower: bool) {
    let Some(value) = value else { return };
    let known = get(members, key).and_then(number);
    let stricter = match (known, number(&value)) {
        (Some(known), Some(ours)) if lower => known >= ours,
        (Some(known), Some(ours)) => known <= ours,
        _ => false,
    };
    if !stricter {
        set(members, key, value);
    }
}

fn number(json: &Json) -> Option<i128> {
    match json {
        Json::Int(number) => Some(i128::from(*number) * 1_000_000),
        Json::Number(text) => decimal::parse(text).map(i128::from),
        _ => None,
    }
}

pub(crate) fn get<'a>(members: &'a [(Box<str>, Json)], key: &str) -> Option<&'a Json> {
    members.iter().find(|(name, _)| **name == *key).map(|(_, value)| value)
}

/// Sets a member at its position, or at the end.
pub(crate) fn set(members: &mut JsonMembers, key: &str, value: Json) {
    match members.iter_mut().find(|(name, _)| **name == *key) {
        Some((_, known)) => *known = value,
        None => members.push((key.into(), value)),
    }
}
