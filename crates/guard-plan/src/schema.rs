//! The JSON Schemas of all types that are exchanged between processes.

use crate::record::{self, Kind};
use crate::{advice, drive, encode, replay_report, report, verdict};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, schema_for};
use serde_json::{Map, Value, json};

/// Returns each schema with its name, in a fixed order.
pub fn schemas() -> Vec<(&'static str, Value)> {
    fn schema<T: JsonSchema>() -> Value {
        schema_for!(T).to_value()
    }
    vec![
        ("plan", schema::<encode::Document>()),
        ("verdict", schema::<verdict::Verdict>()),
        ("advice", schema::<advice::Advice>()),
        ("drive-report", schema::<drive::DriveReport>()),
        ("record", record()),
        ("replay-report", schema::<replay_report::ReplayReport>()),
        ("report", schema::<report::Report>()),
    ]
}

/// Returns the schema of a line of the trace: the common members of all records, and one branch for
/// each kind. An unknown member is refused in the record, in its payload and in every object that
/// Guard defines.
fn record() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let kinds = payloads(&mut generator);
    let kinds: Vec<Value> = kinds
        .into_iter()
        .map(|(kind, payload)| {
            json!({"properties": {"kind": {"const": kind.word()}, "payload": payload}})
        })
        .collect();
    let mut definitions = generator.take_definitions(true);
    definitions.values_mut().for_each(close);
    definitions.insert("Hash".into(), json!({"type": "string", "pattern": "^[0-9a-f]{64}$"}));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Record",
        "description": "One line of the trace. `kind` says which payload it has.",
        "type": "object",
        "properties": {
            "seq": {"description": "Its number, from 0.", "type": "integer", "minimum": 0},
            "time": {
                "description": "The session's clock, RFC 3339.",
                "type": "string",
                "format": "date-time"
            },
            "kind": {"description": "The kind of event."},
            "call": {"description": "The call it is about, if it is about one.", "type": "string"},
            "payload": {"description": "The event."},
            "prev": {
                "description": "The hash of the record before, zeros where there is none.",
                "$ref": "#/$defs/Hash"
            },
            "hash": {"description": "Its own hash.", "$ref": "#/$defs/Hash"}
        },
        "required": ["seq", "time", "kind", "payload", "prev", "hash"],
        "additionalProperties": false,
        "oneOf": kinds,
        "$defs": definitions,
    })
}

/// Returns the payload of each kind, as a reference into the generator's definitions.
fn payloads(generator: &mut SchemaGenerator) -> Vec<(Kind, Value)> {
    let mut all = Vec::new();
    let mut add = |kind, payload: schemars::Schema| all.push((kind, payload.to_value()));
    add(Kind::Open, generator.subschema_for::<record::Open<'static>>());
    add(Kind::Propose, generator.subschema_for::<record::Propose<'static>>());
    add(Kind::Settle, generator.subschema_for::<record::Settle<'static>>());
    add(Kind::Approve, generator.subschema_for::<record::Approve<'static>>());
    add(Kind::Revoke, generator.subschema_for::<record::Revoke<'static>>());
    add(Kind::Usage, generator.subschema_for::<record::Usage<'static>>());
    add(Kind::Resume, generator.subschema_for::<record::Resume<'static>>());
    add(Kind::Prompt, generator.subschema_for::<record::Prompt<'static>>());
    add(Kind::Stop, generator.subschema_for::<record::Stop<'static>>());
    add(Kind::Item, generator.subschema_for::<record::Item<'static>>());
    add(Kind::Answers, generator.subschema_for::<record::Answers<'static>>());
    add(Kind::Contract, generator.subschema_for::<record::ContractJudgement<'static>>());
    add(Kind::Snapshot, generator.subschema_for::<record::Snapshot<'static>>());
    add(Kind::Upgrade, generator.subschema_for::<record::Upgrade<'static>>());
    add(Kind::Ledger, generator.subschema_for::<record::Ledger<'static>>());
    all
}

/// Refuses unknown members of every object in a schema whose members are all listed.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let listed = members.contains_key("properties") && !is_composed(members);
            if listed && !members.contains_key("additionalProperties") {
                members.insert("additionalProperties".into(), Value::Bool(false));
            }
            members.values_mut().for_each(close);
        }
        Value::Array(parts) => parts.iter_mut().for_each(close),
        _ => {}
    }
}

/// Returns true if other schemas than the properties may list more members.
fn is_composed(members: &Map<String, Value>) -> bool {
    ["$ref", "allOf", "anyOf", "oneOf"].iter().any(|key| members.contains_key(*key))
}

#[cfg(test)]
mod tests {
    #[test]
    fn schemas_are_objects() {
        for (name, schema) in super::schemas() {
            assert!(schema.get("$schema").is_some(), "{name}");
        }
    }
}
