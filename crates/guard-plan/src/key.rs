//! Canonical bytes of values, used as the keys of memories, counters and approvals.
//!
//! The encoding is injective: two values have the same bytes exactly if they are equal. Long keys
//! are replaced by their SHA-256, so that the size of a memory does not depend on the size of the
//! values.

use crate::json::Json;
use crate::value::Value;
use sha2::{Digest, Sha256};

/// The maximum length of a key, in bytes. Longer keys are replaced by their digest.
pub const MAX_KEY_BYTES: usize = 64;

/// The prefix of a digest. No value begins with it.
const DIGEST: u8 = 0xFF;

/// Appends the bytes of a value.
pub fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::None => out.push(0),
        Value::Bool(value) => out.extend([1, u8::from(*value)]),
        Value::Int(number) => write_number(2, *number, out),
        Value::Decimal(units) => write_number(3, *units, out),
        Value::Duration(millis) => write_number(4, *millis, out),
        Value::Time(millis) => write_number(5, *millis, out),
        Value::Enum(variant) => write_enum(*variant, out),
        Value::String(text) => write_string(text, out),
        Value::Path(text) => write_path(text, out),
        Value::Url(url) => write_text(9, &url.text, out),
        Value::List(items) => write_all(10, items.len(), items, out),
        Value::Set(items) => write_all(11, items.len(), items, out),
        Value::Map(entries) => {
            write_count(12, entries.len(), out);
            for (key, value) in entries {
                write_string(key, out);
                write(value, out);
            }
        }
        Value::Record(fields) => write_all(13, fields.len(), fields, out),
        Value::Json(json) => write_json(json, out),
    }
}

/// Appends the bytes of an int, decimal, duration or time, by its tag.
fn write_number(tag: u8, number: i64, out: &mut Vec<u8>) {
    out.push(tag);
    out.extend(number.to_be_bytes());
}

/// Appends the bytes of an int.
pub fn write_int(number: i64, out: &mut Vec<u8>) {
    write_number(2, number, out);
}

/// Appends the bytes of an enum.
pub fn write_enum(variant: u32, out: &mut Vec<u8>) {
    out.push(6);
    out.extend(variant.to_be_bytes());
}

/// Appends the bytes of a string.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    write_text(7, text, out);
}

/// Appends the bytes of a path.
pub fn write_path(text: &str, out: &mut Vec<u8>) {
    write_text(8, text, out);
}

fn write_text(tag: u8, text: &str, out: &mut Vec<u8>) {
    write_count(tag, text.len(), out);
    out.extend_from_slice(text.as_bytes());
}

fn write_count(tag: u8, count: usize, out: &mut Vec<u8>) {
    out.push(tag);
    out.extend((count as u64).to_be_bytes());
}

fn write_all<'a>(
    tag: u8,
    count: usize,
    values: impl IntoIterator<Item = &'a Value>,
    out: &mut Vec<u8>,
) {
    write_count(tag, count, out);
    for value in values {
        write(value, out);
    }
}

fn write_json(json: &Json, out: &mut Vec<u8>) {
    match json {
        Json::Null => out.push(14),
        Json::Bool(value) => out.extend([15, u8::from(*value)]),
        Json::Int(number) => write_number(16, *number, out),
        Json::Number(text) => write_text(17, text, out),
        Json::String(text) => write_text(18, text, out),
        Json::Array(items) => {
            write_count(19, items.len(), out);
            for item in items {
                write_json(item, out);
            }
        }
        Json::Object(members) => {
            write_count(20, members.len(), out);
            // Equal objects may have their members in different orders, and equal values have one
            // key.
            for (key, value) in json.sorted_members() {
                write_string(key, out);
                write_json(value, out);
            }
        }
    }
}

/// Replaces the bytes since `start` by their digest, if they are long.
pub fn shorten(start: usize, out: &mut Vec<u8>) {
    if out.len() - start > MAX_KEY_BYTES {
        let digest: [u8; 32] = Sha256::digest(&out[start..]).into();
        out.truncate(start);
        out.push(DIGEST);
        out.extend(digest);
    }
}

/// Returns the key of a sequence of values.
pub fn encode(values: &[Value]) -> Box<[u8]> {
    let mut out = Vec::new();
    for value in values {
        write(value, &mut out);
    }
    shorten(0, &mut out);
    out.into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_values_have_distinct_keys() {
        let text = |s: &str| Value::String(s.into());
        let json = |s: &str| Value::Json(Box::new(Json::parse(s).unwrap()));
        let values = [
            vec![],
            vec![Value::None],
            vec![Value::Int(1)],
            vec![Value::Decimal(1)],
            vec![text("")],
            vec![text("a"), text("b")],
            vec![text("ab")],
            vec![Value::Path("ab".into())],
            vec![Value::List(vec![text("a"), text("b")])],
            vec![Value::List(vec![text("a")]), text("b")],
            vec![Value::List(vec![])],
            vec![Value::Record(vec![])],
            vec![json("{}")],
            vec![json("[1]")],
            vec![json("[1.0]")],
            vec![text(&"x".repeat(100))],
            vec![text(&"y".repeat(100))],
        ];
        for (i, a) in values.iter().enumerate() {
            for (j, b) in values.iter().enumerate() {
                assert_eq!(encode(a) == encode(b), i == j, "{a:?} {b:?}");
            }
        }
        assert_eq!(encode(&[json(r#"{"a":1,"b":2}"#)]), encode(&[json(r#"{"b":2,"a":1}"#)]));
    }
}
