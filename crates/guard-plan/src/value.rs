//! Typed values, and the faults of evaluating expressions.
//!
//! A value does not store its type: enums are indexes, and records are positional. Rendering needs
//! the type. This module neither parses JSON nor asks the world.

mod bytes;

use crate::json::Json;
use std::collections::{BTreeMap, BTreeSet};

/// The number 1 in units of a decimal's fixed scale of six places.
pub const DECIMAL_ONE: i64 = 1_000_000;

/// A typed value (language reference §4).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// The missing option. A present option is its value.
    None,
    /// A boolean.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// An exact decimal, in units of 10⁻⁶.
    Decimal(i64),
    /// A duration, in milliseconds.
    Duration(i64),
    /// A time, in milliseconds since 1970-01-01T00:00:00Z.
    Time(i64),
    /// A variant, by index.
    Enum(u32),
    /// A string.
    String(Box<str>),
    /// A normalised absolute path: `/`, or components each preceded by one `/`; see `path`.
    Path(Box<str>),
    /// A parsed URL.
    Url(Box<crate::url::Url>),
    /// A list.
    List(Vec<Value>),
    /// A set.
    Set(BTreeSet<Value>),
    /// A map.
    Map(BTreeMap<Box<str>, Value>),
    /// A record's fields, in order.
    Record(Vec<Value>),
    /// Opaque JSON.
    Json(Box<Json>),
}

impl Value {
    /// Returns the value with the numbers of all `json` inside of it in one spelling.
    pub fn normalised(&self) -> Value {
        let all = |items: &[Value]| items.iter().map(Value::normalised).collect();
        match self {
            Value::Json(json) => Value::Json(Box::new(json.normalised())),
            Value::List(items) => Value::List(all(items)),
            Value::Record(fields) => Value::Record(all(fields)),
            Value::Set(items) => Value::Set(items.iter().map(Value::normalised).collect()),
            Value::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| (key.clone(), value.normalised()));
                Value::Map(entries.collect())
            }
            other => other.clone(),
        }
    }
}

/// The maximum amount that one effect on elements writes, by [`Value::weight`].
pub const MAX_WRITTEN: usize = 16 << 20;

impl Value {
    /// Returns the approximate size of the value, in bytes.
    pub fn weight(&self) -> usize {
        fn json(node: &Json) -> usize {
            match node {
                Json::Array(items) => 8 + items.iter().map(json).sum::<usize>(),
                Json::Object(members) => {
                    8 + members.iter().map(|(key, member)| key.len() + json(member)).sum::<usize>()
                }
                Json::String(text) => 8 + text.len(),
                _ => 8,
            }
        }
        let all = |items: &[Value]| items.iter().map(Value::weight).sum::<usize>();
        8 + match self {
            Value::String(text) | Value::Path(text) => text.len(),
            Value::Url(url) => url.text.len(),
            Value::List(items) | Value::Record(items) => all(items),
            Value::Set(items) => items.iter().map(Value::weight).sum(),
            Value::Map(entries) => {
                entries.iter().map(|(key, value)| key.len() + value.weight()).sum()
            }
            Value::Json(of) => json(of),
            _ => 0,
        }
    }

    /// Adds the weight of a value that an effect on elements writes.
    ///
    /// # Errors
    ///
    /// Returns a fault if the effect writes more than [`MAX_WRITTEN`].
    pub fn add_weight(&self, written: &mut usize) -> Result<(), Fault> {
        *written = written.saturating_add(self.weight());
        if *written <= MAX_WRITTEN {
            Ok(())
        } else {
            Err(Fault::Decode("an effect writes more than 16 MiB".into()))
        }
    }
}

/// The reason why an expression has no value. A rule with a fault denies with `evaluation_error`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A result does not fit 64 bits. Contains the operation.
    Overflow(&'static str),
    /// Division or remainder by zero.
    DivisionByZero,
    /// A value that another rule should have established is missing. Contains its name.
    Missing(String),
    /// Two joined texts are longer than a text may be.
    TooLong,
    /// Lists that are iterated together have different lengths.
    UnequalLengths(usize, usize),
    /// A cost is negative.
    NegativeCost(String),
    /// The session has no deadline.
    NoDeadline,
    /// The world gave no answer. Contains the question and the reason.
    NoAnswer(String),
    /// A value does not decode to the required type. Contains the value and the reason.
    Decode(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Overflow(what) => write!(f, "{what} overflows 64 bits"),
            Fault::DivisionByZero => f.write_str("division by zero"),
            Fault::Missing(what) => write!(f, "{what} is missing"),
            Fault::TooLong => f.write_str("texts together are longer than 1 MiB"),
            Fault::UnequalLengths(a, b) => {
                write!(f, "lists walked in step have {a} and {b} elements")
            }
            Fault::NegativeCost(what) => write!(f, "the cost {what} is negative"),
            Fault::NoDeadline => f.write_str("the guard has no deadline"),
            Fault::NoAnswer(what) | Fault::Decode(what) => f.write_str(what),
        }
    }
}
