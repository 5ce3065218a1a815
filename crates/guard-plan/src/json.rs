//! JSON, parsed strictly and stored exactly.
//!
//! The parser rejects everything that RFC 8259 rejects, and also duplicate keys, more than 128
//! levels and lone surrogates. Numbers keep their text. This module does not know the types of a
//! guard; see `decode`.

mod number;
mod read;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::{self, Write as _};
use std::hash::{Hash, Hasher};

/// The maximum nesting depth of arrays and objects.
pub const MAX_DEPTH: usize = 128;

/// A JSON value. Objects keep the order of the source, but are compared regardless of order.
/// Numbers are compared by their text: `1.0` is not `1`.
#[derive(Debug, Clone)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number whose text is that of a 64-bit integer.
    Int(i64),
    /// The text of any other number; see [`Json::number`].
    Number(Box<str>),
    /// A string.
    String(Box<str>),
    /// An array.
    Array(Vec<Json>),
    /// An object with distinct keys.
    Object(Vec<(Box<str>, Json)>),
}

/// A parse error and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    /// The byte offset.
    pub offset: usize,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The problem.
    pub message: Cow<'static, str>,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let JsonError { line, column, message, .. } = self;
        write!(f, "{message} at line {line}, column {column}")
    }
}

impl std::error::Error for JsonError {}

impl Json {
    /// Parses one JSON value, followed only by whitespace.
    ///
    /// # Errors
    ///
    /// Returns the first problem and its position.
    pub fn parse(text: &str) -> Result<Json, JsonError> {
        read::parse(text)
    }

    /// Parses bytes, which must be UTF-8.
    ///
    /// # Errors
    ///
    /// Returns the first problem and its position.
    pub fn parse_bytes(bytes: &[u8]) -> Result<Json, JsonError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => read::parse(text),
            Err(error) => {
                let valid = &bytes[..error.valid_up_to()];
                // The bytes before the error are UTF-8, so the position is never lost.
                let text = std::str::from_utf8(valid).unwrap_or_default();
                Err(read::error(text, valid.len(), "invalid UTF-8".into()))
            }
        }
    }

    /// Returns the number with this text, or `None` if the text is not a JSON number.
    pub fn number(text: &str) -> Option<Json> {
        read::parse(text).ok().filter(|json| matches!(json, Json::Int(_) | Json::Number(_)))
    }

    /// Returns the string with this text.
    pub fn string(text: &str) -> Json {
        Json::String(text.into())
    }

    /// Returns the member of an object with this key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => {
                members.iter().find(|(name, _)| **name == *key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the kind of the value, with its article: `an object`.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Int(_) | Json::Number(_) => "a number",
            Json::String(_) => "a string",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        }
    }

    /// Appends the canonical text: no whitespace, members in the order of the source, numbers as
    /// written.
    pub fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(true) => out.push_str("true"),
            Json::Bool(false) => out.push_str("false"),
            Json::Int(number) => {
                let _ = write!(out, "{number}");
            }
            Json::Number(text) => out.push_str(text),
            Json::String(text) => write_string(text, out),
            Json::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Json::Object(members) => {
                out.push('{');
                for (i, (key, value)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    write_string(key, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// Appends a string literal.
pub fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        // The bytes of longer characters are at least 0x80, so every cut is between two characters.
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[from..at]);
        from = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0C => out.push_str("\\f"),
            _ => {
                let _ = write!(out, "\\u{byte:04x}");
            }
        }
    }
    out.push_str(&text[from..]);
    out.push('"');
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write(&mut out);
        f.write_str(&out)
    }
}

/// Returns the members of an object, sorted by key.
fn sorted(members: &[(Box<str>, Json)]) -> Vec<&(Box<str>, Json)> {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    members
}

impl Json {
    fn rank(&self) -> u8 {
        match self {
            Json::Null => 0,
            Json::Bool(_) => 1,
            Json::Int(_) => 2,
            Json::Number(_) => 3,
            Json::String(_) => 4,
            Json::Array(_) => 5,
            Json::Object(_) => 6,
        }
    }

    /// Returns the members of an object, sorted by key; an empty list for any other value.
    pub fn sorted_members(&self) -> Vec<&(Box<str>, Json)> {
        match self {
            Json::Object(members) => sorted(members),
            _ => Vec::new(),
        }
    }

    /// Returns the same value with the members of every object sorted by key, so that equal values
    /// have the same text.
    #[must_use]
    pub fn sorted(&self) -> Json {
        match self {
            Json::Array(items) => Json::Array(items.iter().map(Json::sorted).collect()),
            Json::Object(members) => {
                let member = |(name, value): &(Box<str>, Json)| (name.clone(), value.sorted());
                Json::Object(sorted(members).into_iter().map(member).collect())
            }
            other => other.clone(),
        }
    }
}

impl Ord for Json {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
            (Json::Int(a), Json::Int(b)) => a.cmp(b),
            (Json::Number(a), Json::Number(b)) | (Json::String(a), Json::String(b)) => a.cmp(b),
            (Json::Array(a), Json::Array(b)) => a.cmp(b),
            (Json::Object(a), Json::Object(b)) => sorted(a).cmp(&sorted(b)),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Json {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Json {}

impl Hash for Json {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
        match self {
            Json::Null => {}
            Json::Bool(value) => value.hash(state),
            Json::Int(number) => number.hash(state),
            Json::Number(text) | Json::String(text) => text.hash(state),
            Json::Array(items) => items.hash(state),
            Json::Object(members) => sorted(members).hash(state),
        }
    }
}

impl serde::Serialize for Json {
    /// Supports only `serde_json`: an exact number passes through as raw text.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error;
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::Int(number) => serializer.serialize_i64(*number),
            Json::Number(text) => serde_json::value::RawValue::from_string(text.to_string())
                .map_err(S::Error::custom)?
                .serialize(serializer),
            Json::String(text) => serializer.serialize_str(text),
            Json::Array(items) => serializer.collect_seq(items),
            Json::Object(members) => serializer.collect_map(members.iter().map(|(k, v)| (k, v))),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Json {
    /// Supports only `serde_json`, whose raw text is parsed by our own parser.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <Box<serde_json::value::RawValue>>::deserialize(deserializer)?;
        Json::parse(raw.get()).map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Json {
    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}

#[cfg(test)]
mod tests;
