//! Refinements of computed values: bounds, patterns and sizes (reference, types).
//!
//! Values decoded from JSON are not checked here: `guard_plan::decode` checks them itself.

use super::ReferenceSession;
use crate::hir::{StringBounds, Type};
use guard_plan::value::Value;

impl ReferenceSession<'_> {
    /// Returns true if a computed value satisfies the refinements of a type.
    pub(super) fn fits(&self, ty: &Type, value: &Value) -> bool {
        let sized = |count: usize, max: &Option<u64>| max.is_none_or(|max| count as u64 <= max);
        match (ty, value) {
            (_, Value::None) => ty.is_option(),
            (Type::Option(inner), _) => self.fits(inner, value),
            (Type::Int(least, most), Value::Int(number))
            | (Type::Decimal(least, most), Value::Decimal(number))
            | (Type::Duration(least, most), Value::Duration(number)) => {
                least.is_none_or(|least| least <= *number)
                    && most.is_none_or(|most| *number <= most)
            }
            (Type::String(bounds), Value::String(text)) => self.fits_bounds(bounds, text),
            (Type::Record(record), Value::Record(values)) => {
                let fields = &self.program.records[*record].fields;
                fields.len() == values.len()
                    && fields.iter().zip(values).all(|(field, value)| self.fits(&field.ty, value))
            }
            (Type::List(element, max), Value::List(items)) => {
                sized(items.len(), max) && items.iter().all(|item| self.fits(element, item))
            }
            (Type::Set(element, max), Value::Set(items)) => {
                sized(items.len(), max) && items.iter().all(|item| self.fits(element, item))
            }
            (Type::Map(_, element, max), Value::Map(entries)) => {
                sized(entries.len(), max) && entries.values().all(|value| self.fits(element, value))
            }
            (Type::Bool, Value::Bool(_))
            | (Type::Enum(_), Value::Enum(_))
            | (Type::Path, Value::Path(_))
            | (Type::Url, Value::Url(_))
            | (Type::Time(_), Value::Time(_))
            | (Type::Command, Value::String(_))
            | (Type::Json, _) => true,
            _ => false,
        }
    }

    fn fits_bounds(&self, bounds: &StringBounds, text: &str) -> bool {
        let matches = |pattern| self.read.regexes.get(pattern).is_some_and(|r| r.is_match(text));
        bounds.max_chars.is_none_or(|max| text.chars().count() as u64 <= max)
            && bounds.max_bytes.is_none_or(|max| text.len() as u64 <= max)
            && bounds.patterns.iter().all(matches)
    }
}
