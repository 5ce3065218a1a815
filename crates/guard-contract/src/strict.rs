//! A contract as the JSON Schema that APIs with strict structured outputs accept: few keywords,
//! every object closed, every member required.
//!
//! Parts of a contract without such a form are refused by name. Ranges, lengths and patterns become
//! text in a description. They are also returned by name, because a text that satisfies this schema
//! may violate them.

use crate::schema::{Lists, schema};
use guard_plan::plan::{ItemShape, Plan, Root, TypeDef, TypeId};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The keywords that only become text for people here, with their wording.
const SAID: [(&str, &str); 9] = [
    ("minimum", "at least"),
    ("maximum", "at most"),
    ("maxLength", "characters at most:"),
    ("pattern", "matching"),
    ("format", "in the form of a"),
    ("maxItems", "elements at most:"),
    ("uniqueItems", "different elements:"),
    ("allOf", "all of"),
    ("maxProperties", "members at most:"),
];

/// A schema in the strict profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Strict {
    /// The schema.
    pub schema: Value,
    /// The restrictions that are only described, by their location in the schema.
    pub described: Vec<String>,
}

/// Returns the schema of a contract's document in the strict profile.
///
/// # Errors
///
/// Returns the parts that this profile cannot express, each with its name.
pub fn strict(plan: &Plan, contract: usize, known: &Lists) -> Result<Strict, Vec<String>> {
    let mut refused = refusals(plan, contract);
    if !refused.is_empty() {
        refused.dedup();
        return Err(refused);
    }
    let mut schema = schema(plan, contract, known);
    let mut described = Vec::new();
    if let Value::Object(members) = &mut schema {
        members.remove("$schema");
    }
    simplify(&mut schema, "", &mut described);
    Ok(Strict { schema, described })
}

/// Returns the parts of a contract that the strict profile cannot express, as sentences.
fn refusals(plan: &Plan, contract: usize) -> Vec<String> {
    let Some(contract) = plan.contracts.get(contract) else {
        return vec!["there is no such contract".into()];
    };
    let mut refused = Vec::new();
    if contract.root != Root::Envelope {
        refused.push("the document is not an object: declare it as a member of one".to_owned());
    }
    let foreign = contract.lists.iter().filter_map(|list| match &list.shape {
        ItemShape::Schema { file, .. } => Some((&list.name, file)),
        ItemShape::Type(_) => None,
    });
    let mut named = BTreeSet::new();
    for (name, file) in foreign {
        named.insert(name.clone());
        refused.push(format!("`{name}`: its items are those of `{file}`"));
    }
    let mut seen = BTreeSet::new();
    let mut open = vec![(contract.record, String::new())];
    while let Some((ty, path)) = open.pop() {
        let inside = |ty: TypeId| (ty, path.clone());
        match plan.types.get(ty as usize) {
            Some(TypeDef::Record { fields, .. }) if seen.insert(ty) => {
                open.extend(fields.iter().rev().filter(|field| !named.contains(&field.name)).map(
                    |field| {
                        let dot = if path.is_empty() { "" } else { "." };
                        (field.ty, format!("{path}{dot}{}", field.name))
                    },
                ));
            }
            Some(TypeDef::Union { cases, .. }) if seen.insert(ty) => {
                open.extend(cases.iter().map(|case| inside(case.ty)));
            }
            Some(TypeDef::List { of, .. } | TypeDef::Set { of, .. } | TypeDef::Option { of }) => {
                open.push(inside(*of));
            }
            Some(TypeDef::Map { .. }) => {
                refused.push(format!("`{path}`: a map, whose names are open"))
            }
            Some(TypeDef::Json) => refused.push(format!("`{path}`: `json`, which may be anything")),
            _ => {}
        }
    }
    refused
}

/// Rewrites a schema, and all schemas within it.
fn simplify(schema: &mut Value, place: &str, described: &mut Vec<String>) {
    let Value::Object(members) = schema else { return };
    require_all(members);
    if members.get("type") == Some(&json!("object")) {
        members.remove("propertyNames");
    }
    if let Some(variants) = members.get("enum").filter(|_| !members.contains_key("type")) {
        let strings = variants.as_array().is_some_and(|all| all.iter().all(Value::is_string));
        if strings {
            members.insert("type".into(), "string".into());
        }
    }
    let said: Vec<String> =
        SAID.iter().filter_map(|(key, words)| say(key, words, members.remove(*key)?)).collect();
    if !said.is_empty() {
        let said = said.join(", ");
        described.push(format!("`{}`: {said}", place.trim_start_matches('.')));
        let text = match members.get("description").and_then(Value::as_str) {
            Some(text) => format!("{text} ({said})"),
            None => said,
        };
        members.insert("description".into(), text.into());
    }
    // A reference must be the only member.
    if members.len() > 1
        && let Some(reference) = members.remove("$ref")
    {
        members.insert("anyOf".into(), json!([{"$ref": reference}]));
    }
    for (key, value) in members.iter_mut() {
        match (key.as_str(), value) {
            ("properties" | "$defs", Value::Object(inner)) => {
                for (name, schema) in inner {
                    simplify(schema, &format!("{place}.{name}"), described);
                }
            }
            ("anyOf", Value::Array(inner)) => {
                inner.iter_mut().for_each(|schema| simplify(schema, place, described));
            }
            ("items", inner) => simplify(inner, place, described),
            _ => {}
        }
    }
}

/// Requires every member. An optional member may already be `null`.
fn require_all(members: &mut Map<String, Value>) {
    if let Some(Value::Object(properties)) = members.get("properties") {
        let all: Vec<Value> = properties.keys().map(|name| name.clone().into()).collect();
        members.insert("required".into(), all.into());
    }
}

/// Formats a restriction as text; `None` if it has no effect.
fn say(key: &str, words: &str, value: Value) -> Option<String> {
    let bound = |edge: i64| value == json!(edge);
    if (key == "minimum" && bound(i64::MIN)) || (key == "maximum" && bound(i64::MAX)) {
        return None;
    }
    let value = match value {
        Value::String(text) => text,
        Value::Array(all) => {
            let texts = all.iter().filter_map(|case| case.get("pattern")?.as_str());
            format!("the patterns {}", texts.collect::<Vec<_>>().join(" and "))
        }
        other => other.to_string(),
    };
    Some(format!("{words} {value}"))
}
