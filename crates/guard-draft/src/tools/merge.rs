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
/// there is none, or there are too many parts. If two parts restrict the same property and both
/// restrictions cannot be kept, one of them is kept.
pub(crate) fn merged<'s>(
    schema: &'s Json,
    resolve: &dyn Fn(&str) -> Option<&'s Json>,
) -> Option<Json> {
    let mut whole: MergedMembers = Vec::new();
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
                _ => add(&mut whole, key, value)?,
            }
        }
        inner.reverse();
        waiting.extend(inner);
    }
    Some(Json::Object(whole))
}

/// Adds the restriction of one part by a keyword; `None` if no value satisfies both.
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
        // Descriptions are those of the first part. Other keywords are noted for the first part
        // only.
        _ => {}
    }
    Some(())
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

/// Replaces the bound by the other one if that is narrower.
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
