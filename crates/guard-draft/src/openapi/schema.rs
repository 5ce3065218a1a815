//! Schemas of a document, copied without keywords that do not affect values, with the shared
//! schemas that they refer to.

use super::ApiError;
use super::document::{ApiDocument, check_local};
use guard_plan::json::Json;
use std::collections::BTreeMap;

/// Keywords that do not affect values.
const DROPPED: [&str; 4] = ["example", "examples", "externalDocs", "xml"];

/// Keywords whose members are names, not keywords.
const NAMED: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Keywords whose values are data.
const DATA: [&str; 5] = ["enum", "const", "default", "required", "dependentRequired"];

/// The members beside a `$ref` that are used in OpenAPI 3.0 in practice.
const BESIDE_REF: [&str; 5] = ["description", "nullable", "deprecated", "readOnly", "writeOnly"];

/// A copier of schemas, which remembers the shared ones that they need.
pub(super) struct SchemaCopier<'d> {
    pub document: &'d ApiDocument<'d>,
    /// The shared schemas by their references; `None` while they are still to be copied.
    components: BTreeMap<String, Option<Json>>,
    waiting: Vec<String>,
}

impl<'d> SchemaCopier<'d> {
    pub fn new(document: &'d ApiDocument<'d>) -> SchemaCopier<'d> {
        SchemaCopier { document, components: BTreeMap::new(), waiting: Vec::new() }
    }

    /// Copies a schema.
    pub fn copy(&mut self, schema: &Json, place: &str) -> Result<Json, ApiError> {
        let Json::Object(members) = schema else {
            return match schema {
                // `true` accepts every value. `false` accepts none, which no type can express
                // either.
                Json::Bool(_) => Ok(Json::Object(Vec::new())),
                other => {
                    let kind = other.kind();
                    Err(ApiError::new(format!("a schema of {place} is {kind}, not an object")))
                }
            };
        };
        let reference = schema.get("$ref");
        if let Some(reference) = reference.and_then(Json::as_str) {
            self.refer(reference, place)?;
        }
        let mut copy = Vec::with_capacity(members.len());
        for (name, value) in members {
            let key = &**name;
            let silent = DROPPED.contains(&key) || key.starts_with("x-");
            let beside = reference.is_some() && key != "$ref" && !BESIDE_REF.contains(&key);
            if silent || self.document.is_3_0 && beside {
                continue;
            }
            copy.push((name.clone(), self.member(key, value, place)?));
        }
        Ok(numeric_bounds(copy))
    }

    fn member(&mut self, key: &str, value: &Json, place: &str) -> Result<Json, ApiError> {
        if DATA.contains(&key) {
            return Ok(value.clone());
        }
        match (key, value) {
            (key, Json::Object(members)) if NAMED.contains(&key) => {
                let mut copy = Vec::with_capacity(members.len());
                for (name, schema) in members {
                    copy.push((name.clone(), self.copy(schema, place)?));
                }
                Ok(Json::Object(copy))
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems" | "items", Json::Array(branches)) => {
                let copied = branches.iter().map(|branch| self.copy(branch, place));
                Ok(Json::Array(copied.collect::<Result<_, _>>()?))
            }
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedProperties"
                | "unevaluatedItems",
                Json::Object(_),
            ) => self.copy(value, place),
            _ => Ok(value.clone()),
        }
    }

    /// Remembers a shared schema. A reference to a missing schema stays a reference, which no type
    /// can resolve.
    fn refer(&mut self, reference: &str, place: &str) -> Result<(), ApiError> {
        check_local(reference, place)?;
        if !self.components.contains_key(reference) && self.document.pointed(reference).is_some() {
            self.components.insert(reference.to_owned(), None);
            self.waiting.push(reference.to_owned());
        }
        Ok(())
    }

    /// Returns the copy of a shared schema.
    pub fn component(&mut self, reference: &str) -> Result<Option<Json>, ApiError> {
        if let Some(Some(known)) = self.components.get(reference) {
            return Ok(Some(known.clone()));
        }
        let Some(schema) = self.document.pointed(reference) else { return Ok(None) };
        let copy = self.copy(schema, &format!("`{}`", crate::text::one_line(reference)))?;
        self.components.insert(reference.to_owned(), Some(copy.clone()));
        Ok(Some(copy))
    }

    /// Returns all shared schemas that a copied one needs.
    pub fn components(mut self) -> Result<BTreeMap<String, Json>, ApiError> {
        while let Some(reference) = self.waiting.pop() {
            self.component(&reference)?;
        }
        let whole = |(reference, schema): (String, Option<Json>)| Some((reference, schema?));
        Ok(self.components.into_iter().filter_map(whole).collect())
    }
}

/// Converts the bounds of OpenAPI 3.0 to those of 3.1 if nothing is lost: `minimum: 5,
/// exclusiveMinimum: true` of an integer is `exclusiveMinimum: 5`.
fn numeric_bounds(mut members: Vec<(Box<str>, Json)>) -> Json {
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        let find = |members: &[(Box<str>, Json)], key: &str| {
            members.iter().position(|(name, _)| **name == *key)
        };
        let Some(flag) = find(&members, exclusive) else { continue };
        let Json::Bool(is_exclusive) = members[flag].1 else { continue };
        members.remove(flag);
        if let (true, Some(at)) = (is_exclusive, find(&members, bound)) {
            members[at].0 = exclusive.into();
        }
    }
    Json::Object(members)
}
