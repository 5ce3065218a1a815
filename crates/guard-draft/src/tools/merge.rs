//! The merging of schemas: `allOf`, and the keywords beside a `$ref`. A value that satisfies all
//! parts satisfies the merged schema.

use guard_plan::decimal;
use guard_plan::json::Json;
use std::collections::HashMap;

/// Keywords that do not restrict values, or are read elsewhere.
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

/// The maximum number of parts of one schema, and of references that lead to one part.
const MAX_PARTS: usize = 200;

type MergedMembers = Vec<(Box<str>, Json)>;

/// Returns true if a keyword beside a reference is more than a description.
pub(super) fn is_told(key: &str) -> bool {
    let members = matches!(key, "properties" | "required");
    let words = SILENT.contains(&key) || matches!(key, "default" | "readOnly" | "writeOnly");
    members || !words && !key.starts_with("x-")
}

/// Returns one schema without `$ref` and `allOf` that every value of this one satisfies; `None` if
/// there is none, or there are too many parts. If two parts have the same keyword and it cannot
/// express both restrictions, the other one stays in an `allOf`, which no type expresses.
pub(crate) fn merged<'s>(
    schema: &'s Json,
    resolve: &dyn Fn(&str) -> Option<&'s Json>,
) -> Option<Json> {
    let mut whole: MergedMembers = Vec::new();
    let mut left: Vec<Json> = Vec::new();
    let mut waiting = vec![schema];
    let mut parts = 0;
    let mut seen: Vec<&Json> = Vec::new();
    // The parts are in order, with the innermost last, so that descriptions are those of the
    // outermost.
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
                    // A repeated part adds nothing; a schema within itself is ignored.
                    if !seen.iter().any(|known| std::ptr::eq(*known, target)) {
                        seen.push(target);
                        inner.push(target);
                    }
                }
                ("allOf", Json::Array(branches)) => inner.extend(branches),
                ("allOf" | "$ref", _) => return None,
                _ => left.extend(add(&mut whole, key, value)?),
            }
        }
        inner.reverse();
        waiting.extend(inner);
    }
    if !left.is_empty() {
        whole.push(("allOf".into(), Json::Array(left)));
    }
    Some(Json::Object(whole))
}

/// Adds the restriction of one part by a keyword; `None` if no value satisfies both. Returns what
/// the keyword cannot express.
fn add(whole: &mut MergedMembers, key: &str, value: &Json) -> Option<Option<Json>> {
    let Some((_, known)) = whole.iter_mut().find(|(name, _)| **name == *key) else {
        whole.push((key.into(), value.clone()));
        return Some(None);
    };
    if known == value {
        return Some(None);
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
        ("const", _, _) => return None,
        ("items", Json::Object(_), Json::Object(_)) => describe_twice(known, value),
        ("additionalProperties", known, Json::Bool(true)) if is_schema(known) => {}
        ("additionalProperties", known @ Json::Bool(true), value) if is_schema(value) => {
            *known = value.clone();
        }
        ("minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties", known, _) => {
            let is_narrowed = narrow(known, value, |known, other| other > known);
            return Some((!is_narrowed).then(|| single(key, value)));
        }
        ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties", known, _) => {
            let is_narrowed = narrow(known, value, |known, other| other < known);
            return Some((!is_narrowed).then(|| single(key, value)));
        }
        (
            "nullable" | "deprecated" | "readOnly" | "writeOnly",
            Json::Bool(is),
            Json::Bool(other),
        ) => {
            *is |= other;
        }
        _ if is_told(key) => return Some(Some(single(key, value))),
        // Descriptions and defaults are those of the first part.
        _ => {}
    }
    Some(None)
}

/// Returns a schema with one keyword.
fn single(key: &str, value: &Json) -> Json {
    Json::Object(vec![(key.into(), value.clone())])
}

fn is_schema(json: &Json) -> bool {
    matches!(json, Json::Object(_) | Json::Bool(_))
}

/// Keeps both schemas of one member. Both apply, and they are merged when they are read.
fn describe_twice(known: &mut Json, schema: &Json) {
    if known != schema {
        let both = Json::Array(vec![known.clone(), schema.clone()]);
        *known = Json::Object(vec![("allOf".into(), both)]);
    }
}

/// Returns the types that are in both lists. The integers are the common part of numbers and
/// integers.
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

/// Replaces the bound by the other one if that is narrower. Returns false if they cannot be
/// compared.
fn narrow(known: &mut Json, other: &Json, is_narrower: fn(i128, i128) -> bool) -> bool {
    let amount = |json: &Json| match json {
        Json::Int(number) => Some(i128::from(*number) * 1_000_000),
        Json::Number(text) => decimal::parse(text).map(i128::from),
        _ => None,
    };
    let Some((known_amount, other_amount)) = amount(known).zip(amount(other)) else { return false };
    if is_narrower(known_amount, other_amount) {
        *known = other.clone();
    }
    true
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
        let text = whole(
            r#"{"allOf": [{"pattern": "a", "default": 1}, {"pattern": "b", "default": 2}, {"pattern": "a", "maximum": "x"}, {"maximum": 3}]}"#,
        );
        assert_eq!(
            text,
            r#"{"allOf":[{"pattern":"b"},{"maximum":3}],"default":1,"maximum":"x","pattern":"a"}"#
        );
        let text = whole(
            r#"{"allOf": [{"items": {"type": "number"}, "additionalProperties": true}, {"items": {"type": "integer"}, "additionalProperties": false}]}"#,
        );
        assert_eq!(
            text,
            r#"{"additionalProperties":false,"items":{"allOf":[{"type":"number"},{"type":"integer"}]}}"#
        );
    }

    #[test]
    fn what_no_value_has_is_no_schema() {
        for schema in [
            r#"{"allOf": [{"type": "string"}, {"type": "integer"}]}"#,
            r#"{"allOf": [{"enum": ["a"]}, {"enum": ["b"]}]}"#,
            r#"{"allOf": [{"const": "a"}, {"const": "b"}]}"#,
            r##"{"$ref": "#nowhere"}"##,
            r#"{"allOf": [5]}"#,
            r#"{"allOf": 5}"#,
        ] {
            assert_eq!(whole(schema), "none", "{schema}");
        }
    }
}
