//! The conversion of JSON to typed values, and the check of refinements.
//!
//! Arguments are closed: undeclared members of a record are refused. Results are open: undeclared
//! members are ignored. Every problem is reported, up to a limit. The caller runs the regular
//! expressions.

mod forms;
mod problems;
mod refine;
mod scalars;

pub use forms::coerced;
pub use problems::{DecodeProblem, MAX_PROBLEMS};

use crate::builtin::is_unreadable;
use crate::json::Json;
use crate::plan::{Coercion, Field, RegexId, TakenForms, TypeDef, TypeId, UnionCase};
use crate::render;
use crate::value::Value;
use problems::{PathStep, Trail};
use std::collections::{BTreeMap, BTreeSet};

/// The problem of a text that imitates an unreadable element of an extractor. Only the guard may
/// use such a text; otherwise a caller could name the element.
const UNREADABLE: &str = "is reserved for unreadable values; only the guard itself writes it";

/// The limits of a decimal, which follow a number outside of them in a message.
const NOT_EXACT: &str = " (a decimal has at most six places, and lies within ±9.2 · 10¹²)";

/// A decoder from JSON to typed values: the plan's types and the options of decoding.
#[derive(Clone, Copy)]
pub struct Decoder<'a> {
    /// The plan's types.
    pub types: &'a [TypeDef],
    /// The normalised path that relative paths start from.
    pub workspace: &'a str,
    /// True if unknown record fields are ignored rather than refused.
    pub open: bool,
    /// The fields that are also accepted in other forms, by record and field; empty for arguments.
    pub coercions: &'a [Coercion],
    /// Returns true if a regular expression of the plan matches somewhere in a string.
    pub matches: &'a dyn Fn(RegexId, &str) -> bool,
}

impl Decoder<'_> {
    /// Decodes the value of a type.
    ///
    /// # Errors
    ///
    /// Every problem of the value, each with its path.
    pub fn decode(&self, ty: TypeId, json: &Json) -> Result<Value, Vec<DecodeProblem>> {
        self.decode_as(ty, &TakenForms::OWN, json)
    }

    /// Decodes like [`Decoder::decode`] a value that is also accepted in other forms.
    ///
    /// # Errors
    ///
    /// The same as [`Decoder::decode`].
    pub fn decode_as(
        &self,
        ty: TypeId,
        forms: &TakenForms,
        json: &Json,
    ) -> Result<Value, Vec<DecodeProblem>> {
        let mut trail = Trail::default();
        let value = self.value(ty, forms, json, &mut trail);
        trail.finish(value)
    }

    /// Decodes the values of a tool's parameters from an object.
    ///
    /// # Errors
    ///
    /// Every problem of the arguments, including unknown and missing ones.
    pub fn arguments(
        &self,
        params: &[Field],
        json: &Json,
    ) -> Result<Vec<Value>, Vec<DecodeProblem>> {
        let mut trail = Trail::default();
        let values = self.fields(None, None, params, json, "parameter", &mut trail);
        trail.finish(values)
    }

    /// Decodes the value of one parameter; `None` if it is absent.
    ///
    /// # Errors
    ///
    /// Every problem of the argument, or one problem if it is required and absent.
    pub fn argument(
        &self,
        param: &Field,
        json: Option<&Json>,
    ) -> Result<Value, Vec<DecodeProblem>> {
        let mut trail = Trail::default();
        let value = self.field(param, &TakenForms::OWN, json, &mut trail);
        trail.finish(value)
    }

    /// Decodes the fields of a record, or of a case of a union with this tag.
    fn fields<'s>(
        &'s self,
        record: Option<TypeId>,
        tag: Option<&str>,
        fields: &'s [Field],
        json: &'s Json,
        what: &str,
        trail: &mut Trail<'s>,
    ) -> Option<Vec<Value>> {
        let Json::Object(members) = json else {
            return trail.refused(format!("expected an object, found {}", json.kind()));
        };
        let mut values = Vec::with_capacity(fields.len());
        for (at, field) in fields.iter().enumerate() {
            values.extend(self.field(field, self.forms(record, at), json.get(&field.name), trail));
        }
        for (key, _) in members.iter().filter(|(key, _)| !self.open && tag != Some(&**key)) {
            if !fields.iter().any(|field| *field.name == **key) {
                let (step, message) = if trail.secret {
                    (render::SECRET, format!("is an unknown {what}"))
                } else {
                    (&**key, unknown(what, key, fields))
                };
                trail.at(PathStep::Field(step), |trail| trail.problem(message));
            }
        }
        (values.len() == fields.len()).then_some(values)
    }

    /// Returns the other forms in which a field of a record is accepted.
    fn forms(&self, record: Option<TypeId>, field: usize) -> &TakenForms {
        let Some(record) = record.filter(|_| !self.coercions.is_empty()) else {
            return &TakenForms::OWN;
        };
        let place = (record, field as u32);
        let found = self
            .coercions
            .binary_search_by_key(&place, |coercion| (coercion.record, coercion.field));
        found.map_or(&TakenForms::OWN, |at| &self.coercions[at].forms)
    }

    fn field<'s>(
        &'s self,
        field: &'s Field,
        forms: &TakenForms,
        json: Option<&'s Json>,
        trail: &mut Trail<'s>,
    ) -> Option<Value> {
        let outer = trail.secret;
        trail.secret |= field.secret;
        let value = trail.at(PathStep::Field(&field.name), |trail| match json {
            Some(json) => self.value(field.ty, forms, json, trail),
            None if matches!(self.def(field.ty), Some(TypeDef::Option { .. })) => Some(Value::None),
            None => {
                let expected = render::type_name(self.types, field.ty);
                trail.refused(format!("is missing, expected {expected}"))
            }
        });
        trail.secret = outer;
        value
    }

    fn def(&self, ty: TypeId) -> Option<&TypeDef> {
        self.types.get(ty as usize)
    }

    /// Reports that another type was expected.
    fn expected(&self, ty: TypeId, json: &Json, trail: &mut Trail<'_>) -> Option<Value> {
        let expected = render::type_name(self.types, ty);
        let found = found(json, trail.secret || holds_secrets(self.types, ty));
        let is_number = matches!(json, Json::Int(_) | Json::Number(_));
        let why = match self.def(ty) {
            Some(TypeDef::Decimal { .. }) if is_number => NOT_EXACT,
            _ => "",
        };
        trail.refused(format!("expected {expected}, found {found}{why}"))
    }

    fn value<'s>(
        &'s self,
        ty: TypeId,
        forms: &TakenForms,
        json: &'s Json,
        trail: &mut Trail<'s>,
    ) -> Option<Value> {
        let Some(def) = self.def(ty) else {
            return trail.refused("its type is unknown".into());
        };
        let value = match (def, json) {
            (TypeDef::Option { .. }, Json::Null) => return Some(Value::None),
            (TypeDef::Option { of }, _) => return self.value(*of, forms, json, trail),
            (TypeDef::Json, _) => return Some(Value::Json(Box::new(json.clone()))),
            (TypeDef::Record { .. } | TypeDef::Union { .. } | TypeDef::List { .. }, _)
            | (TypeDef::Set { .. } | TypeDef::Map { .. }, _) => {
                return self.composite(ty, def, forms, json, trail);
            }
            _ if forms.is_own() => self.scalar(def, json),
            _ => {
                let own = forms::own(forms, def, json);
                forms::other(forms, def, &own).map_or_else(|| self.scalar(def, &own), Ok)
            }
        };
        match value {
            Ok(value) => match self.refinement(ty, &value) {
                None => Some(value),
                Some(_) if trail.secret => match (def, &value) {
                    // Neither its length nor its text is shown.
                    (TypeDef::String { .. }, Value::String(_)) => {
                        let expected = render::type_name(self.types, ty);
                        trail.refused(format!("the text does not fit its type, {expected}"))
                    }
                    _ => self.expected(ty, json, trail),
                },
                Some(message) => trail.refused(message),
            },
            Err(Some(why)) => trail.refused(why),
            Err(None) => self.expected(ty, json, trail),
        }
    }

    fn composite<'s>(
        &'s self,
        ty: TypeId,
        def: &'s TypeDef,
        forms: &TakenForms,
        json: &'s Json,
        trail: &mut Trail<'s>,
    ) -> Option<Value> {
        let value = match (def, json) {
            (TypeDef::Record { fields, .. }, _) => {
                return self
                    .fields(Some(ty), None, fields, json, "field", trail)
                    .map(Value::Record);
            }
            (TypeDef::Union { tag, cases, .. }, _) => {
                return self.case(tag, cases, json, trail).map(Value::Record);
            }
            (TypeDef::List { of, .. }, Json::Array(items)) => {
                Value::List(self.items(*of, forms, items, trail)?)
            }
            (TypeDef::Set { of, .. }, Json::Array(items)) => {
                Value::Set(BTreeSet::from_iter(self.items(*of, forms, items, trail)?))
            }
            (TypeDef::Map { key: keys, of, .. }, Json::Object(members)) => {
                let mut entries = BTreeMap::new();
                for (key, json) in members {
                    if is_unreadable(key) {
                        trail.problem(format!("a key {UNREADABLE}"));
                        continue;
                    }
                    if let Some(ty) = keys
                        && crate::map_key::value(self.types, *ty, key).is_none()
                    {
                        let expected = render::type_name(self.types, *ty);
                        let found = found(&Json::String(key.clone()), trail.secret);
                        trail.problem(format!("expected a key that is {expected}, found {found}"));
                        continue;
                    }
                    let value =
                        trail.at(PathStep::Key(key), |trail| self.value(*of, forms, json, trail));
                    entries.extend(value.map(|value| (key.clone(), value)));
                }
                (entries.len() == members.len()).then_some(Value::Map(entries))?
            }
            _ => return self.expected(ty, json, trail),
        };
        match self.refinement(ty, &value) {
            Some(message) => trail.refused(message),
            None => Some(value),
        }
    }

    /// Returns the fields of the record that the tag names.
    fn case<'s>(
        &'s self,
        tag: &'s str,
        cases: &'s [UnionCase],
        json: &'s Json,
        trail: &mut Trail<'s>,
    ) -> Option<Vec<Value>> {
        if !matches!(json, Json::Object(_)) {
            return trail.refused(format!("expected an object, found {}", json.kind()));
        }
        let texts = || cases.iter().map(|case| case.tag.as_str());
        let said = json.get(tag);
        let case = said.and_then(|said| cases.iter().find(|case| said.as_str() == Some(&case.tag)));
        let Some(case) = case else {
            let expected = texts().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(", ");
            return trail.at(PathStep::Field(tag), |trail| match said {
                None => trail.refused(format!("is missing, expected one of {expected}")),
                Some(said) => {
                    let found = found(said, trail.secret);
                    let near = said.as_str().and_then(|said| crate::near::nearest(said, texts()));
                    let near =
                        near.map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
                    trail.refused(format!("expected one of {expected}, found {found}{near}"))
                }
            });
        };
        let Some(TypeDef::Record { fields, .. }) = self.def(case.ty) else {
            return trail.refused("its type is unknown".into());
        };
        self.fields(Some(case.ty), Some(tag), fields, json, "field", trail)
    }

    fn items<'s>(
        &'s self,
        element: TypeId,
        forms: &TakenForms,
        items: &'s [Json],
        trail: &mut Trail<'s>,
    ) -> Option<Vec<Value>> {
        let mut values = Vec::with_capacity(items.len());
        for (index, json) in items.iter().enumerate() {
            values.extend(
                trail.at(PathStep::Index(index), |trail| self.value(element, forms, json, trail)),
            );
            if trail.problems.len() >= MAX_PROBLEMS {
                return None;
            }
        }
        (values.len() == items.len()).then_some(values)
    }
}

/// Returns true if a parameter or field is secret, or if its type contains secrets.
pub fn is_secret(types: &[TypeDef], field: &Field) -> bool {
    field.secret || holds_secrets(types, field.ty)
}

/// Returns true if a type contains a secret field, at any depth.
pub fn holds_secrets(types: &[TypeDef], ty: TypeId) -> bool {
    use TypeDef::{List, Map, Option, Record, Set, Union};
    match types.get(ty as usize) {
        Some(Record { fields, .. }) => fields.iter().any(|field| is_secret(types, field)),
        Some(Union { cases, .. }) => cases.iter().any(|case| holds_secrets(types, case.ty)),
        Some(List { of, .. } | Set { of, .. } | Map { of, .. } | Option { of }) => {
            holds_secrets(types, *of)
        }
        _ => false,
    }
}

/// Returns a short description of the JSON that was found. For a secret it names only the kind of the value.
fn found(json: &Json, secret: bool) -> String {
    match json {
        Json::Null | Json::Array(_) | Json::Object(_) => json.kind().into(),
        _ if secret => json.kind().into(),
        Json::String(text) => format!("\"{}\"", render::cut(text, 60)),
        _ => render::cut(&json.to_string(), 60),
    }
}

fn unknown(what: &str, key: &str, fields: &[Field]) -> String {
    let names = || fields.iter().map(|field| &*field.name);
    match crate::near::nearest(key, names()) {
        Some(near) => format!("is not a {what}; did you mean `{near}`?"),
        None if fields.is_empty() => format!("is not a {what}; there are none"),
        None => {
            let names: Vec<_> = names().take(20).collect();
            format!("is not a {what}; there are: {}", names.join(", "))
        }
    }
}

#[cfg(test)]
mod tests;
