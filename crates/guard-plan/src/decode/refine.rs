//! The check of a typed value against the refinements of its type.

use super::{DecodeProblem, Decoder};
use crate::plan::{TypeDef, TypeId};
use crate::render;
use crate::value::Value;

impl Decoder<'_> {
    /// Checks that a value conforms to a type, with all refinements, at any depth.
    ///
    /// # Errors
    ///
    /// The first refinement that the value violates.
    pub fn conform(&self, ty: TypeId, value: &Value) -> Result<(), DecodeProblem> {
        let fail = |message| Err(DecodeProblem { path: String::new(), message });
        let Some(def) = self.def(ty) else {
            return fail("its type is unknown".into());
        };
        if let Some(message) = self.refinement(ty, value) {
            return fail(message);
        }
        let within = |problem: DecodeProblem, step: String| {
            let dot =
                if problem.path.is_empty() || problem.path.starts_with('[') { "" } else { "." };
            DecodeProblem { path: format!("{step}{dot}{}", problem.path), ..problem }
        };
        match (def, value) {
            (TypeDef::Option { .. }, Value::None) => Ok(()),
            (TypeDef::Option { of }, _) => self.conform(*of, value),
            (TypeDef::Record { fields, .. }, Value::Record(values)) => {
                fields.iter().zip(values).try_for_each(|(field, value)| {
                    self.conform(field.ty, value).map_err(|problem| {
                        // The keys of a map on the path are also secret.
                        let problem = if field.secret {
                            DecodeProblem { path: String::new(), message: self.hidden(field.ty) }
                        } else {
                            problem
                        };
                        within(problem, field.name.clone())
                    })
                })
            }
            (TypeDef::List { of, .. }, Value::List(items)) => {
                items.iter().enumerate().try_for_each(|(index, value)| {
                    self.conform(*of, value).map_err(|p| within(p, format!("[{index}]")))
                })
            }
            (TypeDef::Set { of, .. }, Value::Set(items)) => {
                items.iter().try_for_each(|value| self.conform(*of, value))
            }
            (TypeDef::Map { key: keys, of, .. }, Value::Map(entries)) => {
                entries.iter().try_for_each(|(key, value)| {
                    if keys.is_some_and(|ty| crate::map_key::value(self.types, ty, key).is_none()) {
                        let message = format!("`{}` is not a key", render::cut(key, 60));
                        return Err(DecodeProblem { path: String::new(), message });
                    }
                    let step = || format!("[\"{}\"]", render::cut(key, 60));
                    self.conform(*of, value).map_err(|p| within(p, step()))
                })
            }
            _ => Ok(()),
        }
    }

    /// Returns the refinement that the value itself violates. Its elements and members are not
    /// checked.
    pub(super) fn refinement(&self, ty: TypeId, value: &Value) -> Option<String> {
        let def = self.def(ty)?;
        match (def, value) {
            (TypeDef::Bool, Value::Bool(_))
            | (TypeDef::Path, Value::Path(_))
            | (TypeDef::Url, Value::Url(_))
            | (TypeDef::Command, Value::String(_))
            | (TypeDef::Time { .. }, Value::Time(_))
            | (TypeDef::Json, Value::Json(_))
            | (TypeDef::Option { .. }, _) => None,
            (TypeDef::Int { min, max }, Value::Int(number))
            | (TypeDef::Decimal { min, max }, Value::Decimal(number))
            | (TypeDef::Duration { min, max }, Value::Duration(number)) => {
                let inside =
                    min.is_none_or(|min| min <= *number) && max.is_none_or(|max| *number <= max);
                (!inside).then(|| self.mismatch(ty, value))
            }
            (TypeDef::String { .. }, Value::String(text)) => self.string_problem(def, text),
            (TypeDef::Enum { variants, .. }, Value::Enum(index)) => {
                (*index as usize >= variants.len()).then(|| self.mismatch(ty, value))
            }
            (TypeDef::Record { fields, .. }, Value::Record(values)) => {
                (fields.len() != values.len()).then(|| self.mismatch(ty, value))
            }
            (TypeDef::List { max, .. }, Value::List(items)) => {
                too_many(items.len(), *max, "elements")
            }
            (TypeDef::Set { max, .. }, Value::Set(items)) => {
                too_many(items.len(), *max, "elements")
            }
            (TypeDef::Map { max, .. }, Value::Map(entries)) => {
                too_many(entries.len(), *max, "entries")
            }
            _ => Some(self.mismatch(ty, value)),
        }
    }

    /// Returns the message of a mismatch, without the value.
    fn hidden(&self, ty: TypeId) -> String {
        format!("expected {}, found {}", render::type_name(self.types, ty), render::SECRET)
    }

    fn mismatch(&self, ty: TypeId, value: &Value) -> String {
        let expected = render::type_name(self.types, ty);
        format!("expected {expected}, found {}", render::value(self.types, ty, value))
    }

    /// Returns the first constraint of a string type that a string violates; `None` if there is
    /// none, or if the type is not a string type.
    pub fn string_problem(&self, def: &TypeDef, text: &str) -> Option<String> {
        let TypeDef::String { max_chars, max_bytes, patterns } = def else {
            return None;
        };
        if let Some(max) = max_bytes
            && text.len() as u64 > *max
        {
            return Some(format!("expected at most {max} bytes, found {}", text.len()));
        }
        // A string with at most this many bytes cannot have too many characters, so they are not
        // counted.
        if let Some(max) = max_chars
            && text.len() as u64 > *max
        {
            let count = text.chars().count();
            if count as u64 > *max {
                return Some(format!("expected at most {max} characters, found {count}"));
            }
        }
        let broken = patterns.iter().any(|pattern| !(self.matches)(*pattern, text));
        broken.then(|| {
            let shown = render::cut(text, 60);
            format!("\"{shown}\" does not match the pattern of its type")
        })
    }
}

fn too_many(count: usize, max: Option<u64>, what: &str) -> Option<String> {
    let max = max.filter(|max| count as u64 > *max)?;
    Some(format!("expected at most {max} {what}, found {count}"))
}
