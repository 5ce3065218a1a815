//! A fast test that a value has a type, without building values or explanations.
//!
//! `true` agrees with `guard_plan::decode`; `false` means only that the decoder must decide. The
//! value must not have duplicate keys.

use crate::shape::PreparedContract;
use crate::tape::{Tape, TapeNodeKind};
use guard_plan::builtin::is_unreadable;
use guard_plan::plan::{Field, TypeDef, TypeId};
use guard_plan::url::Url;
use guard_plan::{decimal, time};

/// The maximum number of record fields that are tested here.
const FEW_FIELDS: usize = 64;

/// The inputs of the test.
#[derive(Clone, Copy)]
pub(crate) struct Fits<'a> {
    pub prepared: &'a PreparedContract,
    pub tape: &'a Tape,
    pub text: &'a str,
}

impl Fits<'_> {
    /// Returns true if the value at a node certainly has a type.
    pub fn has(&self, ty: TypeId, node: usize) -> bool {
        let Some(def) = self.prepared.types.get(ty as usize) else { return false };
        let kind = self.tape.nodes[node].kind;
        match (def, kind) {
            (TypeDef::Option { .. }, TapeNodeKind::Null) => true,
            (TypeDef::Option { of }, _) => self.has(*of, node),
            (TypeDef::Json, _) => self.tape.twice(self.text, node).is_none(),
            (TypeDef::Bool, TapeNodeKind::True | TapeNodeKind::False) => true,
            (TypeDef::Int { min, max }, TapeNodeKind::Number) => {
                inside(self.raw(node).parse().ok(), *min, *max)
            }
            (TypeDef::Decimal { min, max }, TapeNodeKind::Number) => {
                inside(decimal::parse(self.raw(node)), *min, *max)
            }
            (TypeDef::Record { fields, .. }, TapeNodeKind::Object) => self.record(fields, node),
            (TypeDef::List { of, max } | TypeDef::Set { of, max }, TapeNodeKind::Array) => {
                let mut count = 0;
                let all = self.tape.children(node).all(|child| {
                    count += 1;
                    self.has(*of, child)
                });
                all && max.is_none_or(|max| count <= max)
            }
            // Keys of other types are checked when the value is decoded.
            (TypeDef::Map { key: None, of, max }, TapeNodeKind::Object) => {
                let count = self.tape.members(node).count() as u64;
                max.is_none_or(|max| count <= max)
                    && self.tape.members(node).all(|(key, value)| {
                        !is_unreadable(&self.tape.text(self.text, key)) && self.has(*of, value)
                    })
                    && self.tape.twice(self.text, node).is_none()
            }
            (_, TapeNodeKind::Plain | TapeNodeKind::Escaped) => self.of_text(def, node),
            _ => false,
        }
    }

    fn raw(&self, node: usize) -> &str {
        self.tape.raw(self.text, node)
    }

    fn record(&self, fields: &[Field], node: usize) -> bool {
        if fields.len() > FEW_FIELDS {
            return false;
        }
        let mut seen: u64 = 0;
        // Members are usually in the order of the fields.
        let mut next = 0;
        for (key, value) in self.tape.members(node) {
            if self.tape.nodes[key].kind != TapeNodeKind::Plain {
                return false;
            }
            let name = self.raw(key);
            let order = (next..fields.len()).chain(0..next);
            let Some(at) = order.into_iter().find(|at| fields[*at].name == name) else {
                return false;
            };
            if seen & (1 << at) != 0 || !self.has(fields[at].ty, value) {
                return false;
            }
            seen |= 1 << at;
            next = at + 1;
        }
        let optional = |field: &Field| {
            matches!(self.prepared.types.get(field.ty as usize), Some(TypeDef::Option { .. }))
        };
        fields.iter().enumerate().all(|(at, field)| seen & (1 << at) != 0 || optional(field))
    }

    fn of_text(&self, def: &TypeDef, node: usize) -> bool {
        let text = self.tape.text(self.text, node);
        // Such a text is a value of another kind, which the decoder refuses.
        if is_unreadable(&text) {
            return false;
        }
        match def {
            TypeDef::String { max_chars, max_bytes, patterns } => {
                max_bytes.is_none_or(|max| text.len() as u64 <= max)
                    && max_chars.is_none_or(|max| {
                        text.len() as u64 <= max || text.chars().count() as u64 <= max
                    })
                    && patterns.iter().all(|id| self.prepared.matches(*id, &text))
            }
            TypeDef::Enum { variants, .. } => variants.iter().any(|variant| **variant == *text),
            TypeDef::Path => !text.is_empty() && !text.bytes().any(|b| b == 0 || b == b'\\'),
            TypeDef::Url => Url::parse(&text).is_ok(),
            TypeDef::Command => true,
            TypeDef::Duration { min, max } => inside(time::parse_duration(&text), *min, *max),
            TypeDef::Time { format: None } => time::parse_rfc3339(&text).is_some(),
            TypeDef::Time { format: Some(format) } => time::parse_format(format, &text).is_some(),
            _ => false,
        }
    }
}

fn inside(number: Option<i64>, min: Option<i64>, max: Option<i64>) -> bool {
    number.is_some_and(|number| {
        min.is_none_or(|min| min <= number) && max.is_none_or(|max| number <= max)
    })
}
