//! Values and types as text for messages, and as JSON.
//!
//! Rendering is total: it never fails for any value and type, and the output is bounded. Control
//! and direction characters are escaped, so that no value can forge a message.

use crate::builtin::is_hidden;
use crate::json::Json;
use crate::plan::{Millis, TypeDef, TypeId};
use crate::value::Value;
use crate::{decimal, markup, time};
use std::fmt::Write as _;

/// The maximum length of a value in a message, in characters.
pub const MAX_CHARS: usize = 200;

/// The maximum length of a value in feedback, in characters, before escaping.
pub const MAX_INTERPOLATED: usize = 500;

/// The text that replaces a secret.
pub const SECRET: &str = "(secret)";

/// A function that returns the replacement of a secret.
pub type Redact<'a> = &'a mut dyn FnMut(&Value) -> Json;

/// Renders a value for a message. A string at the top level has no quotes.
pub fn value(types: &[TypeDef], ty: TypeId, value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::String(text) => text_to(text, &mut out),
        _ => value_to(types, Some(ty), value, &mut out),
    }
    shorten(out, MAX_CHARS)
}

/// Renders a value for a text with several lines, so that the value cannot forge a line (semantics
/// §10). The output has at most 500 characters, spaces for line breaks and invisible characters,
/// and entities for `&`, `<` and `>`. Durations are in plain English.
pub fn interpolated(types: &[TypeDef], ty: TypeId, value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::String(part) | Value::Path(part) => text.push_str(part),
        Value::Url(url) => text.push_str(&url.text),
        Value::Duration(millis) => text.push_str(&time::speak_duration(*millis)),
        _ => value_to(types, Some(ty), value, &mut text),
    }
    let cut = text.chars().nth(MAX_INTERPOLATED).is_some();
    let kept = if cut { MAX_INTERPOLATED - 1 } else { MAX_INTERPOLATED };
    let mut out = String::with_capacity(text.len().min(MAX_INTERPOLATED) + 16);
    for c in text.chars().take(kept) {
        match c {
            '&' | '<' | '>' => out.extend(markup::entity(c)),
            c if c.is_control() || is_invisible(c) => out.push(' '),
            c => out.push(c),
        }
    }
    if cut {
        out.push('…');
    }
    out
}

/// Truncates a text to a number of characters, escaped.
pub fn cut(text: &str, max: usize) -> String {
    // One character more than is shown tells whether the text was cut.
    let end = text.char_indices().nth(max + 1).map_or(text.len(), |(at, _)| at);
    let mut out = String::new();
    escape(&text[..end], &mut out);
    shorten(out, max)
}

fn shorten(mut text: String, max: usize) -> String {
    if text.len() > max
        && let Some((at, _)) = text.char_indices().nth(max)
    {
        text.truncate(at);
        text.push('…');
    }
    text
}

/// Appends an escaped text, truncated to the length limit of a message.
fn text_to(text: &str, out: &mut String) {
    let end = text.char_indices().nth(MAX_CHARS + 1).map_or(text.len(), |(at, _)| at);
    escape(&text[..end], out);
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || is_invisible(c) => {
                let _ = write!(out, "{}", c.escape_unicode());
            }
            c => out.push(c),
        }
    }
}

/// Returns true if a character is invisible, changes the direction of text, or breaks a line. A
/// text for people or models must not contain it.
pub fn is_invisible(c: char) -> bool {
    is_hidden(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

fn value_to(types: &[TypeDef], ty: Option<TypeId>, value: &Value, out: &mut String) {
    // The message is cut later, so a large value need not be rendered whole.
    if out.len() > MAX_CHARS * 4 {
        return;
    }
    let def = resolved(types, ty);
    match value {
        Value::None => out.push_str("none"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Int(number) => _ = write!(out, "{number}"),
        Value::Decimal(units) => out.push_str(&decimal::format(*units)),
        Value::Duration(millis) => out.push_str(&time::describe_duration(*millis)),
        Value::Time(at) => out.push_str(&format_time(def, *at)),
        Value::Enum(index) => match variant(def, *index) {
            Some(name) => escape(name, out),
            None => _ = write!(out, "#{index}"),
        },
        Value::Path(text) => text_to(text, out),
        Value::Url(url) => text_to(&url.text, out),
        Value::String(text) => {
            out.push('"');
            text_to(text, out);
            out.push('"');
        }
        Value::Json(json) => text_to(&json.to_string(), out),
        Value::List(items) => all_to(types, element(def), items, ('[', ']'), out),
        Value::Set(items) => all_to(types, element(def), items, ('{', '}'), out),
        Value::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| (&**key, element(def), false, value));
            entries_to(types, entries, out);
        }
        Value::Record(values) => {
            let fields = match def {
                Some(TypeDef::Record { fields, .. }) => fields.as_slice(),
                _ => &[],
            };
            let entries = values.iter().enumerate().map(|(i, value)| match fields.get(i) {
                Some(field) => (field.name.as_str(), Some(field.ty), field.secret, value),
                None => ("?", None, false, value),
            });
            entries_to(types, entries, out);
        }
    }
}

fn all_to<'a>(
    types: &[TypeDef],
    element: Option<TypeId>,
    items: impl IntoIterator<Item = &'a Value>,
    brackets: (char, char),
    out: &mut String,
) {
    out.push(brackets.0);
    for (i, item) in items.into_iter().enumerate() {
        if out.len() > MAX_CHARS * 4 {
            break;
        }
        if i > 0 {
            out.push_str(", ");
        }
        value_to(types, element, item, out);
    }
    out.push(brackets.1);
}

fn entries_to<'a>(
    types: &[TypeDef],
    entries: impl Iterator<Item = (&'a str, Option<TypeId>, bool, &'a Value)>,
    out: &mut String,
) {
    out.push('{');
    for (i, (key, ty, secret, value)) in entries.enumerate() {
        if out.len() > MAX_CHARS * 4 {
            break;
        }
        if i > 0 {
            out.push_str(", ");
        }
        if is_bare_key(key) {
            text_to(key, out)
        } else {
            out.push('"');
            text_to(key, out);
            out.push('"');
        }
        out.push_str(": ");
        if secret {
            out.push_str(SECRET);
        } else {
            value_to(types, ty, value, out);
        }
    }
    out.push('}');
}

/// Returns true if the key of a map is shown without quotes: a name or a number.
pub fn is_bare_key(key: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    !key.is_empty() && key.bytes().all(plain)
}

/// Returns the definition of a type. For an option, returns the definition of its inner type.
fn resolved(types: &[TypeDef], ty: Option<TypeId>) -> Option<&TypeDef> {
    match types.get(ty? as usize) {
        Some(TypeDef::Option { of }) => types.get(*of as usize),
        def => def,
    }
}

fn element(def: Option<&TypeDef>) -> Option<TypeId> {
    match def {
        Some(TypeDef::List { of, .. } | TypeDef::Set { of, .. } | TypeDef::Map { of, .. }) => {
            Some(*of)
        }
        _ => None,
    }
}

fn variant(def: Option<&TypeDef>, index: u32) -> Option<&str> {
    match def {
        Some(TypeDef::Enum { variants, .. }) => variants.get(index as usize).map(String::as_str),
        _ => None,
    }
}

fn format_time(def: Option<&TypeDef>, at: Millis) -> String {
    match def {
        Some(TypeDef::Time { format: Some(format) }) => time::format_with(format, at),
        _ => time::format_rfc3339(at),
    }
}

/// Returns the JSON from which a value decodes, with secrets in clear text.
pub fn to_json(types: &[TypeDef], ty: TypeId, value: &Value) -> Json {
    json(types, Some(ty), value, &mut None)
}

/// Returns a value as JSON, with each secret field replaced.
pub fn to_json_redacted(types: &[TypeDef], ty: TypeId, value: &Value, redact: Redact<'_>) -> Json {
    json(types, Some(ty), value, &mut Some(redact))
}

fn json(
    types: &[TypeDef],
    ty: Option<TypeId>,
    value: &Value,
    redact: &mut Option<Redact<'_>>,
) -> Json {
    let def = resolved(types, ty);
    match value {
        Value::None => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(number) | Value::Duration(number) => Json::Int(*number),
        Value::Decimal(units) => {
            let text = decimal::format(*units);
            text.parse().map_or_else(|_| Json::Number(text.into()), Json::Int)
        }
        Value::Time(at) => Json::String(format_time(def, *at).into()),
        Value::Enum(index) => variant(def, *index).map_or(Json::Int((*index).into()), Json::string),
        Value::String(text) | Value::Path(text) => Json::String(text.clone()),
        Value::Url(url) => Json::String(url.text.clone()),
        Value::Json(json) => (**json).clone(),
        Value::List(items) => {
            Json::Array(items.iter().map(|item| json(types, element(def), item, redact)).collect())
        }
        Value::Set(items) => {
            Json::Array(items.iter().map(|item| json(types, element(def), item, redact)).collect())
        }
        Value::Map(entries) => {
            let mut members = Vec::with_capacity(entries.len());
            for (key, value) in entries {
                members.push((key.clone(), json(types, element(def), value, redact)));
            }
            Json::Object(members)
        }
        Value::Record(values) => {
            let fields = match def {
                Some(TypeDef::Record { fields, .. }) => fields.as_slice(),
                _ => &[],
            };
            let mut members = Vec::with_capacity(values.len());
            for (i, value) in values.iter().enumerate() {
                members.push(match (fields.get(i), &mut *redact) {
                    (Some(field), Some(redact)) if field.secret => {
                        (field.name.as_str().into(), redact(value))
                    }
                    (Some(field), redact) => {
                        (field.name.as_str().into(), json(types, Some(field.ty), value, redact))
                    }
                    (None, redact) => (i.to_string().into(), json(types, None, value, redact)),
                });
            }
            Json::Object(members)
        }
    }
}

/// Returns the name of a type for a message: `int in 1..=5`, `one of dev, staging, prod`,
/// `list<string> max 7`.
pub fn type_name(types: &[TypeDef], ty: TypeId) -> String {
    let mut out = String::new();
    type_to(types, ty, true, &mut out);
    shorten(out, MAX_CHARS)
}

fn type_to(types: &[TypeDef], ty: TypeId, top: bool, out: &mut String) {
    let Some(def) = types.get(ty as usize) else {
        out.push('?');
        return;
    };
    match def {
        TypeDef::Bool => out.push_str("bool"),
        TypeDef::Int { min, max } => range_to("int", *min, *max, |n| n.to_string(), out),
        TypeDef::Decimal { min, max } => range_to("decimal", *min, *max, decimal::format, out),
        TypeDef::Duration { min, max } => {
            range_to("duration", *min, *max, time::describe_duration, out);
        }
        TypeDef::String { max_chars, max_bytes, .. } => {
            out.push_str("string");
            max_to(*max_chars, "", out);
            max_to(*max_bytes, "B", out);
        }
        TypeDef::Path => out.push_str("path"),
        TypeDef::Url => out.push_str("url"),
        TypeDef::Command => out.push_str("command"),
        TypeDef::Time { format: None } => out.push_str("time (RFC 3339)"),
        TypeDef::Time { format: Some(format) } => _ = write!(out, "time format {format:?}"),
        TypeDef::Enum { variants, .. } if top => {
            out.push_str("one of ");
            for (i, name) in variants.iter().take(20).enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                escape(name, out);
            }
            if variants.len() > 20 {
                out.push_str(", …");
            }
        }
        TypeDef::Enum { name, .. } | TypeDef::Record { name, .. } | TypeDef::Union { name, .. } => {
            out.push_str(name)
        }
        TypeDef::List { of, max } => collection_to(types, "list<", *of, *max, out),
        TypeDef::Set { of, max } => collection_to(types, "set<", *of, *max, out),
        TypeDef::Map { key, of, max } => {
            let mut name = String::from("map<");
            match key {
                Some(key) => type_to(types, *key, false, &mut name),
                None => name.push_str("string"),
            }
            collection_to(types, &format!("{name}, "), *of, *max, out);
        }
        TypeDef::Option { of } => {
            type_to(types, *of, top, out);
            out.push_str(if top { " or null" } else { "?" });
        }
        TypeDef::Json => out.push_str("json"),
    }
}

fn collection_to(
    types: &[TypeDef],
    name: &str,
    element: TypeId,
    max: Option<u64>,
    out: &mut String,
) {
    out.push_str(name);
    type_to(types, element, false, out);
    out.push('>');
    max_to(max, "", out);
}

fn max_to(max: Option<u64>, unit: &str, out: &mut String) {
    if let Some(max) = max {
        let _ = write!(out, " max {max}{unit}");
    }
}

fn range_to(
    name: &str,
    min: Option<i64>,
    max: Option<i64>,
    show: impl Fn(i64) -> String,
    out: &mut String,
) {
    out.push_str(name);
    let _ = match (min, max) {
        (None, None) => Ok(()),
        (Some(min), Some(max)) => write!(out, " in {}..={}", show(min), show(max)),
        (Some(min), None) => write!(out, " in {}..", show(min)),
        (None, Some(max)) => write!(out, " in ..={}", show(max)),
    };
}
