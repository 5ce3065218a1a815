//! The lossless encoding of values as bytes, for snapshots of sessions.
//!
//! The encoding is not canonical, unlike that of [`key`](crate::key): opaque JSON keeps the text of
//! its numbers. The reader accepts untrusted bytes: the depth is bounded, and memory is allocated
//! only for data that is present. The type of a value is not checked here.

use super::{Fault, Value};
use crate::json::Json;
use crate::url::Url;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum nesting depth of values. The types of plans are no deeper.
const MAX_DEPTH: usize = 64;

impl Value {
    /// Appends the bytes of the value.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Value::None => out.push(0),
            Value::Bool(value) => out.extend([1, u8::from(*value)]),
            Value::Int(number) => write_number(2, *number, out),
            Value::Decimal(units) => write_number(3, *units, out),
            Value::Duration(millis) => write_number(4, *millis, out),
            Value::Time(millis) => write_number(5, *millis, out),
            Value::Enum(variant) => write_number(6, i64::from(*variant), out),
            Value::String(text) => write_text(7, text, out),
            Value::Path(text) => write_text(8, text, out),
            Value::Url(url) => write_text(9, &url.text, out),
            Value::List(items) => write_all(10, items.len(), items, out),
            Value::Set(items) => write_all(11, items.len(), items, out),
            Value::Map(entries) => {
                write_number(12, entries.len() as i64, out);
                for (key, value) in entries {
                    write_text(7, key, out);
                    value.write(out);
                }
            }
            Value::Record(fields) => write_all(13, fields.len(), fields, out),
            Value::Json(json) => write_text(14, &json.to_string(), out),
        }
    }

    /// Parses a value that uses all of the bytes.
    pub fn read(bytes: &[u8]) -> Option<Value> {
        let mut reader = ByteReader { rest: bytes, depth: 0 };
        let value = reader.value()?;
        reader.rest.is_empty().then_some(value)
    }
}

fn write_number(tag: u8, number: i64, out: &mut Vec<u8>) {
    out.push(tag);
    out.extend(number.to_le_bytes());
}

fn write_text(tag: u8, text: &str, out: &mut Vec<u8>) {
    write_number(tag, text.len() as i64, out);
    out.extend_from_slice(text.as_bytes());
}

fn write_all<'v>(
    tag: u8,
    len: usize,
    values: impl IntoIterator<Item = &'v Value>,
    out: &mut Vec<u8>,
) {
    write_number(tag, len as i64, out);
    values.into_iter().for_each(|value| value.write(out));
}

struct ByteReader<'b> {
    rest: &'b [u8],
    depth: usize,
}

impl<'b> ByteReader<'b> {
    fn take(&mut self, len: usize) -> Option<&'b [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(bytes)
    }

    fn number(&mut self) -> Option<i64> {
        self.take(8)?.try_into().ok().map(i64::from_le_bytes)
    }

    /// Reads a count of elements with at least one byte each.
    fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|count| *count <= self.rest.len())
    }

    fn text(&mut self) -> Option<&'b str> {
        let len = self.count()?;
        std::str::from_utf8(self.take(len)?).ok()
    }

    fn all<C: FromIterator<Value>>(&mut self) -> Option<C> {
        (0..self.count()?).map(|_| self.value()).collect()
    }

    fn value(&mut self) -> Option<Value> {
        self.depth += 1;
        // Each level is a call, and forged bytes could otherwise exhaust the stack.
        if self.depth > MAX_DEPTH {
            return None;
        }
        let value = match self.take(1)?[0] {
            0 => Value::None,
            1 => Value::Bool(self.take(1)?[0] != 0),
            2 => Value::Int(self.number()?),
            3 => Value::Decimal(self.number()?),
            4 => Value::Duration(self.number()?),
            5 => Value::Time(self.number()?),
            6 => Value::Enum(u32::try_from(self.number()?).ok()?),
            7 => Value::String(self.text()?.into()),
            8 => Value::Path(self.text()?.into()),
            9 => Value::Url(Box::new(Url::parse(self.text()?).ok()?)),
            10 => Value::List(self.all()?),
            11 => Value::Set(self.all::<BTreeSet<_>>()?),
            12 => {
                let mut entries = BTreeMap::new();
                for _ in 0..self.count()? {
                    let Value::String(key) = self.value()? else { return None };
                    entries.insert(key, self.value()?);
                }
                Value::Map(entries)
            }
            13 => Value::Record(self.all()?),
            14 => Value::Json(Box::new(Json::parse(self.text()?).ok()?)),
            _ => return None,
        };
        self.depth -= 1;
        Some(value)
    }
}

impl Serialize for Value {
    /// Serializes the value as its bytes.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = <&'de [u8]>::deserialize(deserializer)?;
        Value::read(bytes).ok_or_else(|| D::Error::custom("no value"))
    }
}

/// The stored form of a fault.
#[derive(Serialize, Deserialize)]
enum StoredFault<'a> {
    DivisionByZero,
    Missing(Cow<'a, str>),
    UnequalLengths(u64, u64),
    NegativeCost(Cow<'a, str>),
    NoDeadline,
    NoAnswer(Cow<'a, str>),
    /// A value that does not decode. Also used for an overflow and for a text that is too long,
    /// which have the same message.
    Decode(Cow<'a, str>),
}

impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kept = match self {
            Fault::Overflow(_) | Fault::TooLong => StoredFault::Decode(self.to_string().into()),
            Fault::DivisionByZero => StoredFault::DivisionByZero,
            Fault::Missing(what) => StoredFault::Missing(what.into()),
            Fault::UnequalLengths(a, b) => StoredFault::UnequalLengths(*a as u64, *b as u64),
            Fault::NegativeCost(what) => StoredFault::NegativeCost(what.into()),
            Fault::NoDeadline => StoredFault::NoDeadline,
            Fault::NoAnswer(what) => StoredFault::NoAnswer(what.into()),
            Fault::Decode(what) => StoredFault::Decode(what.into()),
        };
        kept.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Fault {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let len = |len: u64| usize::try_from(len).unwrap_or(usize::MAX);
        Ok(match StoredFault::deserialize(deserializer)? {
            StoredFault::DivisionByZero => Fault::DivisionByZero,
            StoredFault::Missing(what) => Fault::Missing(what.into_owned()),
            StoredFault::UnequalLengths(a, b) => Fault::UnequalLengths(len(a), len(b)),
            StoredFault::NegativeCost(what) => Fault::NegativeCost(what.into_owned()),
            StoredFault::NoDeadline => Fault::NoDeadline,
            StoredFault::NoAnswer(what) => Fault::NoAnswer(what.into_owned()),
            StoredFault::Decode(what) => Fault::Decode(what.into_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        let url = Url::parse("https://a.example/x?y").unwrap();
        let json = Json::parse(r#"{"a": 1.50, "b": [null, 12345678901234567890]}"#).unwrap();
        let values = vec![
            Value::None,
            Value::Bool(true),
            Value::Int(i64::MIN),
            Value::Enum(u32::MAX),
            Value::Url(Box::new(url)),
            Value::Set([Value::String("x".into()), Value::Path("/y".into())].into()),
            Value::Map([("k".into(), Value::Duration(5))].into()),
            Value::Json(Box::new(json)),
        ];
        let value = Value::List(vec![Value::Record(values), Value::Time(3), Value::Decimal(-1)]);
        let mut bytes = Vec::new();
        value.write(&mut bytes);
        assert_eq!(Value::read(&bytes), Some(value));
        for end in 0..bytes.len() {
            assert_eq!(Value::read(&bytes[..end]), None);
        }
    }

    #[test]
    fn hostile_bytes_are_none() {
        let deep: Vec<u8> =
            std::iter::repeat_n([10, 1, 0, 0, 0, 0, 0, 0, 0], 100_000).flatten().collect();
        assert_eq!(Value::read(&deep), None);
        let wide = [10, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F];
        assert_eq!(Value::read(&wide), None);
        assert_eq!(Value::read(&[99]), None);
    }
}
