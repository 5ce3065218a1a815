//! Values during evaluation: borrowed if they already exist.
//!
//! Scalars and texts always have their own variants, so comparing them follows no pointer.

use guard_plan::json::Json;
use guard_plan::key;
use guard_plan::value::{Fault, Value};
use std::cmp::Ordering;

/// A value during evaluation.
#[derive(Debug, Clone)]
pub(crate) enum Val<'a> {
    None,
    Bool(bool),
    Int(i64),
    Decimal(i64),
    Duration(i64),
    Time(i64),
    Enum(u32),
    /// A string.
    Str(&'a str),
    /// A normalised path.
    Path(&'a str),
    /// A part of opaque JSON.
    Json(&'a Json),
    /// A url, collection, record or opaque JSON.
    Ref(&'a Value),
    /// A compound value or text that is owned here.
    Own(Value),
}

/// Returns the fault of values that a checked plan never combines.
#[cold]
pub(crate) fn confused(what: &str) -> Fault {
    Fault::Decode(format!("the plan confuses types: {what}"))
}

impl<'a> Val<'a> {
    /// Returns a view of a value.
    pub fn from_value(value: &'a Value) -> Val<'a> {
        match value {
            Value::None => Val::None,
            Value::Bool(value) => Val::Bool(*value),
            Value::Int(number) => Val::Int(*number),
            Value::Decimal(units) => Val::Decimal(*units),
            Value::Duration(millis) => Val::Duration(*millis),
            Value::Time(at) => Val::Time(*at),
            Value::Enum(index) => Val::Enum(*index),
            Value::String(text) => Val::Str(text),
            Value::Path(text) => Val::Path(text),
            Value::Json(json) => Val::Json(json),
            _ => Val::Ref(value),
        }
    }

    /// Wraps a computed value.
    pub fn own(value: Value) -> Val<'a> {
        match value {
            Value::None => Val::None,
            Value::Bool(value) => Val::Bool(value),
            Value::Int(number) => Val::Int(number),
            Value::Decimal(units) => Val::Decimal(units),
            Value::Duration(millis) => Val::Duration(millis),
            Value::Time(at) => Val::Time(at),
            Value::Enum(index) => Val::Enum(index),
            value => Val::Own(value),
        }
    }

    /// Returns a view of this value, for the lifetime of the borrow.
    pub fn view(&'a self) -> Val<'a> {
        match self {
            Val::Own(value) => Val::from_value(value),
            other => other.clone(),
        }
    }

    /// Converts it to an owned value.
    pub fn into_value(self) -> Value {
        match self {
            Val::None => Value::None,
            Val::Bool(value) => Value::Bool(value),
            Val::Int(number) => Value::Int(number),
            Val::Decimal(units) => Value::Decimal(units),
            Val::Duration(millis) => Value::Duration(millis),
            Val::Time(at) => Value::Time(at),
            Val::Enum(index) => Value::Enum(index),
            Val::Str(text) => Value::String(text.into()),
            Val::Path(text) => Value::Path(text.into()),
            Val::Json(json) => Value::Json(Box::new(json.clone())),
            Val::Ref(value) => value.clone(),
            Val::Own(value) => value,
        }
    }

    /// Returns true if it is the missing option.
    pub fn is_none(&self) -> bool {
        matches!(self, Val::None)
    }

    /// Returns the truth value.
    pub fn truth(&self) -> Result<bool, Fault> {
        match self {
            Val::Bool(value) => Ok(*value),
            _ => Err(confused("a condition that is not true or false")),
        }
    }

    /// Returns the characters of a string.
    pub fn text(&self) -> Option<&str> {
        match self {
            Val::Str(text) => Some(text),
            Val::Own(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the text of a path.
    pub fn path(&self) -> Option<&str> {
        match self {
            Val::Path(text) => Some(text),
            Val::Own(Value::Path(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the underlying value, if it is a url, collection or record.
    pub fn compound(&self) -> Option<&Value> {
        match self {
            Val::Ref(value) => Some(value),
            Val::Own(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the underlying JSON.
    pub fn json(&self) -> Option<&Json> {
        match self {
            Val::Json(json) => Some(json),
            Val::Ref(Value::Json(json)) | Val::Own(Value::Json(json)) => Some(json),
            _ => None,
        }
    }

    /// Appends its canonical key bytes.
    pub fn write_key(&self, out: &mut Vec<u8>) {
        match self {
            Val::Int(number) => key::write_int(*number, out),
            Val::Enum(index) => key::write_enum(*index, out),
            Val::Str(text) => key::write_string(text, out),
            Val::Path(text) => key::write_path(text, out),
            Val::Ref(value) => key::write(value, out),
            Val::Own(value) => key::write(value, out),
            Val::Json(json) => key::write(&Value::Json(Box::new((*json).clone())), out),
            scalar => key::write(&scalar.clone().into_value(), out),
        }
    }

    /// Appends key bytes that are the same for all spellings of a number in `json`.
    pub fn write_normal_key(&self, out: &mut Vec<u8>) {
        match self {
            Val::Json(json) => key::write(&Value::Json(Box::new(json.normalised())), out),
            Val::Ref(value) => key::write(&value.normalised(), out),
            Val::Own(value) => key::write(&value.normalised(), out),
            other => other.write_key(out),
        }
    }

    /// Returns true if the two values are the same. Two missing options are the same here.
    pub fn same(&self, other: &Val<'_>) -> bool {
        match (self, other) {
            (Val::None, Val::None) => true,
            (Val::Bool(a), Val::Bool(b)) => a == b,
            (Val::Enum(a), Val::Enum(b)) => a == b,
            (Val::Int(a), Val::Int(b))
            | (Val::Decimal(a), Val::Decimal(b))
            | (Val::Duration(a), Val::Duration(b))
            | (Val::Time(a), Val::Time(b)) => a == b,
            _ => {
                if let (Some(a), Some(b)) = (self.text(), other.text()) {
                    return a == b;
                }
                if let (Some(a), Some(b)) = (self.path(), other.path()) {
                    return a == b;
                }
                if let (Some(a), Some(b)) = (self.json(), other.json()) {
                    return a == b;
                }
                matches!((self.compound(), other.compound()), (Some(a), Some(b)) if a == b)
            }
        }
    }

    /// Compares two values of one ordered type.
    pub fn order(&self, other: &Val<'_>) -> Result<Ordering, Fault> {
        Ok(match (self, other) {
            (Val::Int(a), Val::Int(b))
            | (Val::Decimal(a), Val::Decimal(b))
            | (Val::Duration(a), Val::Duration(b))
            | (Val::Time(a), Val::Time(b)) => a.cmp(b),
            (Val::Enum(a), Val::Enum(b)) => a.cmp(b),
            _ => match (self.text(), other.text()) {
                (Some(a), Some(b)) => a.cmp(b),
                _ => return Err(confused("an ordering of values that have no order")),
            },
        })
    }
}
