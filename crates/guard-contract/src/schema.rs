//! A contract as JSON Schema, draft 2020-12: a hint to the producer that never contradicts the
//! check.
//!
//! A schema cannot express some rules: the nesting depth and byte length of an item, references,
//! duplicate keys, the number of different elements of a set, a number without a decimal point, or
//! a text that is a URL or a time.

use guard_plan::json::Json;
use guard_plan::plan::{
    Allowed, Contract, Field, ItemList, ItemShape, Plan, Root, TypeDef, TypeId, UnionCase,
};
use guard_plan::{decimal, words};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The lists that a host provides, by name.
pub type Lists = BTreeMap<String, Vec<Json>>;

/// The maximum length of a list whose values are included in a schema.
const SPELT_OUT: usize = 500;

/// Returns the schema of a contract's document, by its index in the plan; `false`, which no value
/// satisfies, if there is no such contract. Members that refer to a list of the host have its
/// values, if it is provided and not too long.
pub fn schema(plan: &Plan, contract: usize, known: &Lists) -> Value {
    let Some(contract) = plan.contracts.get(contract) else { return Value::Bool(false) };
    let mut writer = SchemaWriter { plan, contract, known, defs: BTreeMap::new() };
    let Some(TypeDef::Record { fields, .. }) = plan.types.get(contract.record as usize) else {
        return Value::Bool(false);
    };
    let mut schema = match (contract.root, fields.first()) {
        (Root::Envelope, _) | (_, None) => writer.object(fields, None),
        (root, Some(field)) => {
            let mut schema = match root {
                Root::Items => writer.list(0, &contract.lists[0], field.ty),
                _ => writer.ty(field.ty),
            };
            writer.refer(&mut schema, field, None);
            let Value::Object(schema) = schema else { return schema };
            schema
        }
    };
    schema.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("title".into(), contract.name.clone().into());
    if !contract.doc.is_empty() {
        schema.insert("description".into(), contract.doc.clone().into());
    }
    let defs: Map<String, Value> = writer.defs.into_iter().collect();
    if !defs.is_empty() {
        schema.insert("$defs".into(), defs.into());
    }
    schema.into()
}

struct SchemaWriter<'a> {
    plan: &'a Plan,
    contract: &'a Contract,
    known: &'a Lists,
    /// The records, by their names in the schema.
    defs: BTreeMap<String, Value>,
}

impl SchemaWriter<'_> {
    /// Returns the schema of a record, which belongs to the document or to the items of a list.
    fn object(&mut self, fields: &[Field], list: Option<usize>) -> Map<String, Value> {
        let mut properties = Map::new();
        let mut required: Vec<Value> = Vec::new();
        for (at, field) in fields.iter().enumerate() {
            let here = |inner: &(usize, &ItemList)| {
                inner.1.within.map(|l| l as usize) == list && inner.1.field as usize == at
            };
            let items = self.contract.lists.iter().enumerate().find(here);
            let mut value = match items {
                Some((at, items)) => self.list(at, items, field.ty),
                None => self.ty(field.ty),
            };
            self.refer(&mut value, field, list);
            if let (false, Some(value)) = (field.doc.is_empty(), value.as_object_mut()) {
                value.insert("description".into(), field.doc.clone().into());
            }
            properties.insert(field.name.clone(), value);
            if !matches!(self.def(field.ty), Some(TypeDef::Option { .. })) {
                required.push(field.name.clone().into());
            }
        }
        let mut object = Map::new();
        object.insert("type".into(), "object".into());
        object.insert("properties".into(), properties.into());
        object.insert("required".into(), required.into());
        object.insert("additionalProperties".into(), false.into());
        object
    }

    /// Restricts a member of the document, or of the items of a list, to the values that it may
    /// refer to.
    fn refer(&self, schema: &mut Value, field: &Field, list: Option<usize>) {
        for reference in &self.contract.references {
            let here = reference.list.map(|list| list as usize) == list
                && matches!(&reference.path[..], [name] if *name == field.name);
            let Allowed::Given(name) = &reference.allowed else { continue };
            if let Some(values) = self.known.get(name).filter(|_| here)
                && values.len() <= SPELT_OUT
            {
                self.narrow(schema, field.ty, values);
            }
        }
    }

    fn narrow(&self, schema: &mut Value, ty: TypeId, values: &[Json]) {
        match self.def(ty) {
            Some(TypeDef::Option { of }) => self.narrow(&mut schema["anyOf"][0], *of, values),
            Some(TypeDef::List { of, .. } | TypeDef::Set { of, .. }) => {
                self.narrow(&mut schema["items"], *of, values);
            }
            Some(TypeDef::String { .. } | TypeDef::Int { .. } | TypeDef::Decimal { .. }) => {
                schema["enum"] = serde_json::to_value(values).unwrap_or(Value::Bool(false));
            }
            _ => {}
        }
    }

    fn def(&self, ty: TypeId) -> Option<&TypeDef> {
        self.plan.types.get(ty as usize)
    }

    /// Returns the schema of a list of items, for the case that no unit is quarantined.
    fn list(&mut self, at: usize, list: &ItemList, ty: TypeId) -> Value {
        let items = match &list.shape {
            ItemShape::Type(ty) if matches!(self.def(*ty), Some(TypeDef::Json)) => {
                json!({"type": "object"})
            }
            ItemShape::Type(ty) => self.named(*ty, Some(at)),
            ItemShape::Schema { text, .. } => self.foreign(at, text),
        };
        let mut schema = json!({"type": "array", "items": items});
        if let Some(max) = list.max {
            schema["maxItems"] = max.into();
        }
        match self.def(ty) {
            Some(TypeDef::Option { .. }) => json!({"anyOf": [schema, {"type": "null"}]}),
            _ => schema,
        }
    }

    /// Embeds a given schema as a separate resource, so that its references keep their meaning.
    fn foreign(&mut self, at: usize, text: &str) -> Value {
        let mut schema = serde_json::from_str(text).unwrap_or(Value::Bool(false));
        if let Value::Object(members) = &mut schema
            && !members.contains_key("$id")
        {
            let id = format!("urn:guard:{}:{at}", self.contract.name);
            members.insert("$id".into(), id.into());
        }
        schema
    }

    /// Returns the schema of a type. A record is stored under its own name; any other type is
    /// inlined.
    fn named(&mut self, ty: TypeId, list: Option<usize>) -> Value {
        let in_list = list.or(Some(usize::MAX));
        match self.def(ty).cloned() {
            Some(TypeDef::Record { name, fields }) => {
                self.stored((ty, name), list, |writer| writer.object(&fields, in_list).into())
            }
            Some(TypeDef::Union { name, tag, cases }) => {
                self.stored((ty, name), list, |writer| writer.union(&tag, &cases, in_list))
            }
            _ => self.ty(ty),
        }
    }

    /// Stores the schema of a record or union once, and returns a reference to it.
    fn stored(
        &mut self,
        (ty, name): (TypeId, String),
        list: Option<usize>,
        write: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let key = match list {
            Some(at) => format!("{name}.{at}"),
            None => format!("{name}.type{ty}"),
        };
        if !self.defs.contains_key(&key) {
            self.defs.insert(key.clone(), Value::Bool(false));
            let mut object = write(self);
            object["title"] = name.into();
            self.defs.insert(key.clone(), object);
        }
        json!({"$ref": format!("#/$defs/{}", pointer(&key))})
    }

    /// Returns one object for each case, distinguished by the tag.
    fn union(&mut self, tag: &str, cases: &[UnionCase], list: Option<usize>) -> Value {
        let mut any = Vec::new();
        for case in cases {
            let Some(TypeDef::Record { fields, .. }) = self.def(case.ty).cloned() else { continue };
            let mut object = self.object(&fields, list);
            let text = json!({"type": "string", "enum": [case.tag]});
            if let Some(Value::Object(properties)) = object.get_mut("properties") {
                properties.insert(tag.into(), text);
            }
            if let Some(Value::Array(required)) = object.get_mut("required") {
                required.insert(0, tag.into());
            }
            any.push(Value::from(object));
        }
        json!({"anyOf": any})
    }

    fn ty(&mut self, ty: TypeId) -> Value {
        let Some(def) = self.def(ty).cloned() else { return Value::Bool(false) };
        match def {
            TypeDef::Bool => json!({"type": "boolean"}),
            TypeDef::Int { min, max } => json!({
                "type": "integer", "minimum": min.unwrap_or(i64::MIN), "maximum": max.unwrap_or(i64::MAX),
            }),
            TypeDef::Decimal { min, max } => {
                bounded(json!({"type": "number"}), min.map(number), max.map(number))
            }
            TypeDef::Duration { min, max } => {
                let millis =
                    bounded(json!({"type": "integer"}), min.map(Value::from), max.map(Value::from));
                json!({
                    "anyOf": [millis, {"type": "string", "pattern": "^([0-9]+[a-z]+)+$"}],
                    "description": words::plain(self.plan, ty),
                })
            }
            TypeDef::String { max_chars, max_bytes, patterns } => {
                let most = [max_chars, max_bytes].into_iter().flatten().min();
                let mut schema = self.string(most);
                let pattern = |id: &u32| self.plan.regexes.get(*id as usize);
                match &patterns.iter().filter_map(pattern).collect::<Vec<_>>()[..] {
                    [] => {}
                    [pattern] => schema["pattern"] = pattern.as_str().into(),
                    all => {
                        schema["allOf"] =
                            all.iter().map(|pattern| json!({"pattern": pattern})).collect();
                    }
                }
                schema
            }
            TypeDef::Path => {
                let mut schema = self.string(None);
                schema["pattern"] = "^[^\\u0000\\\\]+$".into();
                schema
            }
            TypeDef::Command => self.string(None),
            TypeDef::Url => described(self.string(None), "format", "uri"),
            TypeDef::Time { format: None } => described(self.string(None), "format", "date-time"),
            TypeDef::Time { format: Some(_) } => {
                described(self.string(None), "description", &words::plain(self.plan, ty))
            }
            TypeDef::Enum { variants, .. } => json!({"enum": variants}),
            TypeDef::Record { .. } | TypeDef::Union { .. } => self.named(ty, None),
            TypeDef::List { of, max } => {
                let mut schema = json!({"type": "array", "items": self.ty(of)});
                if let Some(max) = max {
                    schema["maxItems"] = max.into();
                }
                schema
            }
            TypeDef::Set { of, .. } => json!({"type": "array", "items": self.ty(of)}),
            TypeDef::Map { key, of, max } => {
                let mut names = json!({"maxLength": self.contract.bounds.string});
                match key.and_then(|key| self.plan.types.get(key as usize)) {
                    Some(TypeDef::Enum { variants, .. }) => names["enum"] = json!(variants),
                    Some(TypeDef::Bool) => names["enum"] = json!(["true", "false"]),
                    Some(_) => names["pattern"] = "^(0|-?[1-9][0-9]*)$".into(),
                    None => {}
                }
                let mut schema = json!({"type": "object", "additionalProperties": self.ty(of), "propertyNames": names});
                if let Some(max) = max {
                    schema["maxProperties"] = max.into();
                }
                schema
            }
            TypeDef::Option { of } => json!({"anyOf": [self.ty(of), {"type": "null"}]}),
            TypeDef::Json => Value::Bool(true),
        }
    }

    /// Returns the schema of a string that is limited to this length, and to the length that the
    /// contract permits.
    fn string(&self, most: Option<u64>) -> Value {
        let bound = self.contract.bounds.string;
        json!({"type": "string", "maxLength": most.map_or(bound, |most| most.min(bound))})
    }
}

fn described(mut schema: Value, key: &str, value: &str) -> Value {
    schema[key] = value.into();
    schema
}

fn bounded(mut schema: Value, min: Option<Value>, max: Option<Value>) -> Value {
    for (key, value) in [("minimum", min), ("maximum", max)] {
        if let Some(value) = value {
            schema[key] = value;
        }
    }
    schema
}

/// Returns a decimal as JSON.
fn number(units: i64) -> Value {
    serde_json::from_str(&decimal::format(units)).unwrap_or(Value::Null)
}

/// Returns a name as part of a JSON pointer in a URI fragment.
fn pointer(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        match byte {
            b'~' => out.push_str("~0"),
            b'/' => out.push_str("~1"),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
