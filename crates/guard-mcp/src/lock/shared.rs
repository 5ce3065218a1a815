//! Schemas that several tools share, with the schemas that they refer to.

use super::{hash, undescribed};
use guard_plan::json::Json;
use std::collections::{BTreeMap, BTreeSet};

/// Shared schemas, by the value of `$ref`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SharedSchemas {
    schemas: BTreeMap<String, SharedSchema>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct SharedSchema {
    json: Json,
    /// The hashes of the schema itself, without descriptions and with them.
    hashes: [String; 2],
    /// The names of the schemas that it refers to.
    refers: Vec<String>,
}

impl SharedSchemas {
    pub fn new(schemas: &BTreeMap<String, Json>) -> SharedSchemas {
        let shared = |(name, json): (&String, &Json)| {
            let json = json.sorted();
            let hashes = [hash(&undescribed(&json)), hash(&json)];
            let mut refers = BTreeSet::new();
            references(&json, &mut refers);
            let refers = refers.into_iter().map(str::to_owned).collect();
            (name.clone(), SharedSchema { json, hashes, refers })
        };
        SharedSchemas { schemas: schemas.iter().map(shared).collect() }
    }

    /// Returns all schemas as one object; `None` if there are none.
    pub fn json(&self) -> Option<Json> {
        let member =
            |(name, schema): (&String, &SharedSchema)| (name.as_str().into(), schema.json.clone());
        let members: Vec<_> = self.schemas.iter().map(member).collect();
        (!members.is_empty()).then_some(Json::Object(members))
    }

    pub fn get(&self, name: &str) -> Option<&Json> {
        self.schemas.get(name).map(|schema| &schema.json)
    }

    /// Returns the names of the schemas that a definition needs, directly or through others.
    pub fn needed(&self, definition: Option<&Json>) -> BTreeSet<&str> {
        let mut direct = BTreeSet::new();
        if let Some(definition) = definition {
            references(definition, &mut direct);
        }
        let mut needed = BTreeSet::new();
        let mut waiting: Vec<&str> = direct.into_iter().collect();
        while let Some(name) = waiting.pop() {
            if let Some((name, schema)) = self.schemas.get_key_value(name)
                && needed.insert(name.as_str())
            {
                waiting.extend(schema.refers.iter().map(String::as_str));
            }
        }
        needed
    }

    /// Returns the hashes of the schemas that a definition needs, by name: without descriptions,
    /// and with them; `None` if it needs none.
    pub fn hashes(&self, definition: &Json) -> [Option<Json>; 2] {
        let needed = self.needed(Some(definition));
        [0, 1].map(|which| {
            let member = |name: &&str| {
                let hash = &self.schemas.get(*name)?.hashes[which];
                Some(((*name).into(), Json::string(hash)))
            };
            let members: Vec<_> = needed.iter().filter_map(member).collect();
            (!members.is_empty()).then_some(Json::Object(members))
        })
    }

    /// Returns the names of the schemas that are only in one of both, or differ.
    pub fn changed<'s>(&'s self, newer: &'s SharedSchemas) -> BTreeSet<&'s str> {
        let names = self.schemas.keys().chain(newer.schemas.keys());
        let differs = |name: &&String| self.get(name) != newer.get(name);
        names.filter(differs).map(String::as_str).collect()
    }
}

/// Collects the references of a schema. A member `$ref` that is data gives an extra reference,
/// which is harmless.
fn references<'s>(json: &'s Json, found: &mut BTreeSet<&'s str>) {
    match json {
        Json::Object(members) => {
            for (name, value) in members {
                match (&**name, value) {
                    ("$ref", Json::String(reference)) => _ = found.insert(reference),
                    _ => references(value, found),
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}
