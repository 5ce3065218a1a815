//! Schemas put together: `allOf`, and what stands beside a `$ref`. A value of all parts is a value of the whole.

use guard_plan::decimal;
use guard_plan::json::Json;
use std::collections::HashMap;

/// Keywords that say nothing about a value, or are read elsewhere.
pub(super) const SILENT: [&str; 13] = [
    "type",
    "description",
    "title",
    "properties",
    "required",
    "$schema",
    "$defs",
    "definitions",
    "$id",
    "$comment",
    "examples",
    "nullable",
    "deprecated",
];

/// The most parts of one schema, and the most references that lead to one part.
const MAX_PARTS: usize = 200;

type MergedMembers = Vec<(Box<str>, Json)>;

/// Returns true if a keyword beside a reference says more than words.
pub(super) fn is_told(key: &str) -> bool {
    let members = matches!(key, "properties" | "required");
    let words = SILENT.contains(&key) || matches!(key, "default" | "readOnly" | "writeOnly");
    members || !words && !key.starts_with("x-")
}

/// Returns one schema without `$ref` and `allOf` that every value of this one has; `None` if there is none, or too many
/// parts. What two parts say of the same thing stays said by one of them where both cannot be kept.
pub(crate) fn merged<'s>(
    schema: &'s Json,
    resolve: &dyn Fn(&str) -> Option<&'s Json>,
) -> Option<Json> {
    let mut whole: MergedMembers = Vec::new();
    let mut waiting = vec![schema];
    let mut parts = 0;
    let mut seen: Vec<&Json> = Vec::new();
    // The parts in their order; the innermost come last, so that words are those of the outermost.
    while let Some(part) = waiting.pop() {
        parts += 1;
        if parts > MAX_PARTS {
            return None;
        }
        let Json::Object(members) = part else { return None };
        let mut inner = Vec::new();
        for (key, value) in members {
            match (&**key, value) {
                ("$ref", Json::String(reference)) => {
                    let target = resolve(reference)?;
                    // Once more says no more; a schema within itself says nothing.
                    if !seen.iter().any(|known| std::ptr::eq(*known, target)) {
                        seen.push(target);
                        inner.push(target);
                    }
                }
                ("allOf", Json::Array(branches)) => inner.extend(branches),
                ("allOf" | "$ref", _) => return None,
                _ => add(&mut whole, key, value)?,
            }
        }
        inner.reverse();
        waiting.extend(inner);
    }
    Some(Json::Object(whole))
}

/// Adds what one part says with a keyword; `None` if no value has both.
fn add(whole: &mut MergedMembers, key: &str, value: &Json) -> Option<()> {
    let Some((_, known)) = whole.iter_mut().find(|(name, _)| **name == *key) else {
        whole.push((key.into(), value.clone()));
        return Some(());
    };
    if known == value {
        return Some(());
    }
    match (key, &mut *known, value) {
        ("properties", Json::Object(members), Json::Object(more)) => {
            let places = members.iter().enumerate();
            let places: HashMap<Box<str>, usize> =
                places.map(|(at, (name, _))| (name.clone(), at)).collect();
            for (name, schema) in more {
                match places.get(name) {
                    Some(at) => describe_twice(&mut members[*at].1, schema),
                    None => members.push((name.clone(), schema.clone())),
                }
            }
        }
        ("required", Json::Array(names), Json::Array(more)) => {
            let more: Vec<Json> =
                more.iter().filter(|name| !names.contains(name)).cloned().collect();
            names.extend(more);
        }
        ("enum", Json::Array(values), Json::Array(others)) => {
            values.retain(|value| others.contains(value));
            if values.is_empty() {
                return None;
            }
        }
        ("type", _, _) => *known = common_type(known, value)?,
        ("minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties", _, _) => {
            narrow(known, value, |known, other| other > known);
        }
        ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties", _, _) => {
            narrow(known, value, |known, other| other < known);
        }
        (
            "nullable" | "deprecated" | "readOnly" | "writeOnly",
            Json::Bool(is),
            Json::Bool(other),
        ) => {
            *is |= other;
        }
        // Words are those of the first part; other keywords are noted of the first part alone.
        _ => {}
    }
    Some(())
}

/// Keeps both descriptions of one member. They hold together, and are put together where they are read.
fn describe_twice(known: &mut Json, schema: &Json) {
    if known != schema {
        let both = Json::Array(vec![known.clone(), schema.clone()]);
        *known = Json::Object(vec![("allOf".into(), both)]);
    }
}

/// The types that both lists have; a number that is an integer is an integer.
fn common_type(known: &Json, other: &Json) -> Option<Json> {
    let list = |json: &Json| match json {
        Json::Array(kinds) => kinds.clone(),
        single => vec![single.clone()],
    };
    let known = list(known);
    let other = list(other);
    let integer = Json::string("integer");
    let number = Json::string("number");
    let mut common: Vec<Json> = Vec::new();
    for kind in &known {
        let is_common = other.contains(kind) || *kind == integer && other.contains(&number);
        if is_common {
            common.push(kind.clone());
        } else if *kind == number && other.contains(&integer) {
            common.push(integer.clone());
        }
    }
    match common.len() {
        0 => None,
        1 => common.pop(),
        _ => Some(Json::Array(common)),
    }
}

/// Takes the other bound if it is narrower.
fn narrow(known: &mut Json, other: &Json, is_narrower: fn(i128, i128) -> bool) {
    let amount = |json: &Json| match json {
        Json::Int(number) => Some(i128::from(*number) * 1_000_000),
        Json::Number(text) => decimal::parse(text).map(i128::from),
        _ => None,
    };
    let other_amount = amount(other);
    let takes = match (amount(known), other_amount) {
        (Some(known), Some(other)) => is_narrower(known, other),
        (known, other) => known.is_none() && other.is_some(),
    };
    if takes {
        *known = other.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::merged;
    use guard_plan::json::Json;

    fn whole(schema: &str) -> String {
        let schema = Json::parse(schema).unwrap();
        let shared =
            Json::parse(r#"{"type": "object", "properties": {"a": {"type": "number"}}}"#).unwrap();
        let own = Json::parse(r##"{"allOf": [{"$ref": "#own"}, {"$ref": "#own"}]}"##).unwrap();
        let resolve = |name: &str| match name {
            "#shared" => Some(&shared),
            "#own" => Some(&own),
            _ => None,
        };
        merged(&schema, &resolve).map_or_else(|| "none".into(), |whole| whole.sorted().to_string())
    }

    #[test]
    fn parts_become_one_schema() {
        let text = whole(
            r##"{"required": ["a"], "allOf": [{"$ref": "#shared"}, {"required": ["b", "a"], "properties": {"a": {"type": "integer"}, "b": {}}}]}"##,
        );
        assert_eq!(
            text,
            r#"{"properties":{"a":{"allOf":[{"type":"number"},{"type":"integer"}]},"b":{}},"required":["a","b"],"type":"object"}"#
        );
        let text = whole(
            r#"{"allOf": [{"type": "number", "minimum": 1, "maximum": 9.5}, {"type": ["integer", "null"], "minimum": 2, "maximum": 10}]}"#,
        );
        assert_eq!(text, r#"{"maximum":9.5,"minimum":2,"type":"integer"}"#);
        assert_eq!(whole(r##"{"$ref": "#own"}"##), "{}");
        let text = whole(r#"{"enum": ["x", "y"], "allOf": [{"enum": ["y", "z"]}]}"#);
        assert_eq!(text, r#"{"enum":["y"]}"#);
    }

    #[test]
    fn what_no_value_has_is_no_schema() {
        for schema in [
            r#"{"allOf": [{"type": "string"}, {"type": "integer"}]}"#,
            r#"{"allOf": [{"enum": ["a"]}, {"enum": ["b"]}]}"#,
            r##"{"$ref": "#nowhere"}"##,
            r#"{"allOf": [5]}"#,
            r#"{"allOf": 5}"#,
        ] {
            assert_eq!(whole(schema), "none", "{schema}");
        }
    }
}
