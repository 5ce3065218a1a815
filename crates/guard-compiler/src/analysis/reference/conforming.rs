//! Conformance of a text to a contract (semantics §14), for texts that are strict JSON.
//!
//! The reference does not implement documents in prose, repairs and JSON Schemas, and treats all of
//! these as not conforming. The laws compare it with the kernel on texts that are strict JSON or do
//! not resemble JSON at all.

use super::eval::Env;
use super::{Answerer, ReferenceSession};
use crate::hir::{Allowed, Contract, ContractId, Field, ItemShape, RecordId, Type};
use crate::types::record_in;
use guard_plan::decimal;
use guard_plan::json::Json;
use guard_plan::plan::{CoercedForm, Root};
use guard_plan::value::{DECIMAL_ONE, Value};

/// The place of a member: in the document, or in items of a list.
#[derive(Clone, Copy, PartialEq)]
enum MemberPlace {
    Document,
    Item(usize),
}

impl ReferenceSession<'_> {
    pub(super) fn conforms(&self, contract: ContractId, text: &str, env: Env) -> bool {
        let contract = &self.program.contracts[contract];
        let Ok(document) = Json::parse(text) else { return false };
        let fields = &self.program.records[contract.record].fields;
        let document = match (contract.root, fields.first()) {
            (Root::Envelope, _) | (_, None) => document,
            // A number at the end of the text may be cut off.
            (Root::Value, _) if number(&document) && !text.ends_with(char::is_whitespace) => {
                return false;
            }
            (_, Some(field)) => Json::Object(vec![(field.wire.as_str().into(), document)]),
        };
        self.object(contract, MemberPlace::Document, fields, None, &document)
            && self.known(contract, None, &document, env.world)
    }

    /// Returns true if an object has these members and no others, each with a conforming value. If
    /// there is a tag, it is allowed in addition.
    fn object(
        &self,
        contract: &Contract,
        place: MemberPlace,
        fields: &[Field],
        tag: Option<&str>,
        value: &Json,
    ) -> bool {
        let Json::Object(members) = value else { return false };
        let declared = |(name, _): &(Box<str>, Json)| {
            tag == Some(&**name) || fields.iter().any(|f| *f.wire == **name)
        };
        members.iter().all(declared)
            && (0..fields.len()).all(|at| match value.get(&fields[at].wire) {
                None => fields[at].ty.is_option(),
                Some(member) => self.member(contract, place, at, &fields[at], member),
            })
    }

    fn member(
        &self,
        contract: &Contract,
        place: MemberPlace,
        at: usize,
        field: &Field,
        value: &Json,
    ) -> bool {
        let within = if let MemberPlace::Item(list) = place { Some(list) } else { None };
        let list = contract.lists.iter().position(|l| l.within == within && l.field == at);
        match (list, value) {
            (Some(list), Json::Array(items)) => {
                let max = contract.lists[list].max.unwrap_or(u64::MAX);
                items.len() as u64 <= max && items.iter().all(|i| self.item(contract, list, i))
            }
            _ => {
                let bounded = place != MemberPlace::Document || bounded(self, contract, value);
                bounded && self.taken(contract, field, value)
            }
        }
    }

    fn item(&self, contract: &Contract, list: usize, value: &Json) -> bool {
        let ItemShape::Type(ty) = &contract.lists[list].shape else { return false };
        let whole = match ty {
            Type::Record(id) => self.record(contract, MemberPlace::Item(list), *id, value),
            _ => matches!(value, Json::Object(_)),
        };
        whole && bounded(self, contract, value)
    }

    /// Returns true if an object is a record, or a case of a union.
    fn record(&self, contract: &Contract, place: MemberPlace, id: RecordId, value: &Json) -> bool {
        let def = &self.program.records[id];
        let Some(union) = &def.union else {
            return self.object(contract, place, &def.fields, None, value);
        };
        let said = value.get(&union.tag).and_then(Json::as_str);
        union.cases.iter().any(|(tag, record)| {
            let fields = &self.program.records[*record].fields;
            said == Some(tag) && self.object(contract, place, fields, Some(&union.tag), value)
        })
    }

    /// Returns true if a member's value has its type, possibly in another form that the contract accepts.
    fn taken(&self, contract: &Contract, field: &Field, value: &Json) -> bool {
        if self.decode(&field.ty, value, false).is_ok() {
            return true;
        }
        // Nested values may be accepted in another form too.
        let nested = |value: &Json| match (record_in(&field.ty), value) {
            (Some(id), Json::Object(_)) => {
                self.record(contract, MemberPlace::Item(usize::MAX), id, value)
            }
            _ => false,
        };
        match (field.ty.required(), value) {
            (Type::Record(_), value) => nested(value),
            (Type::List(..), Json::Array(items)) => items.iter().all(nested),
            (Type::Map(..), Json::Object(entries)) => {
                entries.iter().all(|(_, value)| nested(value))
            }
            _ => {
                let other =
                    field.forms.from.and_then(|from| coerced(from, field.ty.required(), value));
                other.is_some_and(|value| self.decode(&field.ty, &value, false).is_ok())
            }
        }
    }

    /// Returns true if every reference below a list, or below the document, refers to a known value.
    fn known(
        &self,
        contract: &Contract,
        list: Option<usize>,
        value: &Json,
        world: Answerer,
    ) -> bool {
        let here = contract.references.iter().filter(|reference| reference.list == list);
        let referring = here.flat_map(|r| leaves(value, &r.path).into_iter().map(move |l| (r, l)));
        let mut known = true;
        for (reference, leaf) in referring {
            known &= match &reference.allowed {
                Allowed::Given(_) => false,
                Allowed::Fact(fact) => {
                    let row = &self.program.records[self.program.facts[*fact].row];
                    let decoded = self.decode(&row.fields[0].ty, leaf, false);
                    decoded.is_ok_and(|key| self.facts[*fact].with(&[key]).is_some())
                }
                Allowed::Values(values) => match self.eval(values, Env::new(&self.state, world)) {
                    Ok(Value::List(items)) => items.iter().any(|item| same(item, leaf)),
                    Ok(Value::Set(items)) => items.iter().any(|item| same(item, leaf)),
                    Ok(Value::Map(entries)) => entries.keys().any(|key| *leaf == Json::string(key)),
                    _ => false,
                },
            };
        }
        known
            && contract.lists.iter().enumerate().filter(|(_, l)| l.within == list).all(|(at, l)| {
                let name = l.wire.last().cloned().unwrap_or_default();
                leaves(value, &[name]).iter().all(|i| self.known(contract, Some(at), i, world))
            })
    }
}

/// Returns true if a value is within the contract's bounds: its depth, its length and the length of its strings.
fn bounded(reference: &ReferenceSession, contract: &Contract, value: &Json) -> bool {
    let named = |key: &str| {
        let mut records = reference.program.records.iter();
        records.any(|record| record.fields.iter().any(|field| field.wire == key))
    };
    let bounds = &contract.bounds;
    let short = |text: &str| text.chars().count() as u64 <= bounds.string;
    fn all(value: &Json, short: &dyn Fn(&str) -> bool, named: &dyn Fn(&str) -> bool) -> bool {
        match value {
            Json::String(text) => short(text),
            Json::Array(items) => items.iter().all(|item| all(item, short, named)),
            Json::Object(members) => members
                .iter()
                .all(|(key, value)| (named(key) || short(key)) && all(value, short, named)),
            _ => true,
        }
    }
    value.to_string().len() as u64 <= bounds.bytes
        && depth(value) <= bounds.depth
        && all(value, &short, &named)
}

/// Converts a value in another form, if the conversion loses nothing.
fn coerced(from: CoercedForm, ty: &Type, value: &Json) -> Option<Json> {
    match (from, ty, value) {
        (CoercedForm::String, Type::Int(..) | Type::Decimal(..), Json::String(text)) => {
            Json::parse(text).ok().filter(|read| number(read) && read.to_string() == **text)
        }
        (CoercedForm::String, Type::Bool, Json::String(text)) => text.parse().ok().map(Json::Bool),
        (CoercedForm::Number, Type::Int(..), Json::Number(text)) => decimal::parse(text)
            .filter(|units| units % DECIMAL_ONE == 0)
            .map(|units| Json::Int(units / DECIMAL_ONE)),
        (CoercedForm::Number, Type::String(_), value) if number(value) => {
            Some(Json::string(&value.to_string()))
        }
        _ => None,
    }
}

fn number(value: &Json) -> bool {
    matches!(value, Json::Int(_) | Json::Number(_))
}

fn depth(value: &Json) -> u32 {
    match value {
        Json::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Json::Object(members) => 1 + members.iter().map(|(_, v)| depth(v)).max().unwrap_or(0),
        _ => 0,
    }
}

/// Returns the values at the end of a path. The path leads through all elements of a list.
fn leaves<'v>(value: &'v Json, path: &[String]) -> Vec<&'v Json> {
    match (value, path.split_first()) {
        (Json::Array(items), _) => items.iter().flat_map(|item| leaves(item, path)).collect(),
        (Json::Null, _) => Vec::new(),
        (_, None) => vec![value],
        (_, Some((name, rest))) => {
            value.get(name).map(|member| leaves(member, rest)).unwrap_or_default()
        }
    }
}

/// Returns true if a value of the session equals a JSON value.
fn same(value: &Value, json: &Json) -> bool {
    match (value, json) {
        (Value::String(text), Json::String(other)) => text == other,
        (Value::Int(number), json) => json.to_string() == number.to_string(),
        _ => false,
    }
}
