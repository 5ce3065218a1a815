//! Origins of values: the values that are seen in texts and results, and the text by which a value
//! is looked up (semantics §8).
//!
//! Purely textual. The session stores the origins.

use crate::builtin::extract;
use crate::builtin::is_unreadable;
use crate::json::Json;
use crate::plan::Trust;
use crate::value::Value;
use crate::{decimal, path};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The maximum number of values whose origin a session remembers.
pub const MAX_SEEN: usize = 65_536;

/// The maximum length of a text that may be a path as a whole, in bytes.
const MAX_PATH: usize = 4096;

/// The origin where a value was first seen; its position is the variant of the built-in enum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Origin {
    /// The user's messages.
    Prompt,
    /// A trusted result, or the opening data of the session.
    Trusted,
    /// An untrusted result.
    Untrusted,
    /// No known origin.
    Unknown,
}

/// Returns the text by which a value is looked up; `None` for values without an origin.
pub fn lookup(value: &Value) -> Option<Cow<'_, str>> {
    Some(match value {
        Value::String(text) | Value::Path(text) => Cow::Borrowed(text),
        Value::Url(url) => Cow::Borrowed(&url.text),
        Value::Int(number) => Cow::Owned(number.to_string()),
        Value::Decimal(units) => Cow::Owned(decimal::format(*units)),
        _ => return None,
    })
}

/// Calls `see` with every value that is seen in a text; some more than once.
pub fn in_text(text: &str, workspace: &str, see: &mut dyn FnMut(&str)) {
    for word in text.split_whitespace() {
        see(word.trim_matches(is_punctuation));
    }
    for find in [
        extract::emails,
        extract::urls,
        extract::hosts,
        extract::ibans,
        extract::phones,
        extract::quoted,
    ] {
        find(text, &mut |found| {
            if !is_unreadable(found) {
                see(found);
            }
        });
    }
    extract::paths(text, &mut |found| {
        if !is_unreadable(found) {
            see(found);
            as_path(found, workspace, see);
        }
    });
    extract::numbers(text, &mut |found| number(found, see));
}

/// Calls `see` with every value that is seen in a result, and its trust level there. Lists do not
/// count as path steps: their elements have the path of the list.
pub fn in_json(json: &Json, workspace: &str, trust: &Trust, see: &mut dyn FnMut(&str, bool)) {
    walk(json, workspace, trust, &mut Vec::new(), see);
}

fn walk<'j>(
    json: &'j Json,
    workspace: &str,
    trust: &Trust,
    way: &mut Vec<&'j str>,
    see: &mut dyn FnMut(&str, bool),
) {
    match json {
        Json::Array(items) => {
            items.iter().for_each(|item| walk(item, workspace, trust, way, see));
        }
        Json::Object(members) => {
            for (name, json) in members {
                way.push(name);
                walk(json, workspace, trust, way, see);
                way.pop();
            }
        }
        Json::Int(number) => see(&number.to_string(), trusted(trust, way)),
        Json::Number(text) => {
            let trusted = trusted(trust, way);
            number(text, &mut |text| see(text, trusted));
        }
        Json::String(text) => {
            let trusted = trusted(trust, way);
            let see = &mut |text: &str| see(text, trusted);
            see(text);
            let whole = text.len() <= MAX_PATH && !text.contains("://") && !text.contains('\n');
            if whole && text.contains(['/', '.']) {
                as_path(text, workspace, see);
            }
            in_text(text, workspace, see);
        }
        Json::Null | Json::Bool(_) => {}
    }
}

/// Returns whether the value at a path is trusted: the longest matching rule decides.
fn trusted(trust: &Trust, way: &[&str]) -> bool {
    let leads = |path: &[String]| {
        path.len() <= way.len() && path.iter().zip(way).all(|(member, step)| member == step)
    };
    let parts = trust.parts.iter().filter(|(path, _)| leads(path));
    parts.max_by_key(|(path, _)| path.len()).map_or(trust.whole, |(_, trusted)| *trusted)
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || matches!(c, '“' | '”' | '„' | '«' | '»' | '‘' | '’' | '…')
}

fn as_path(text: &str, workspace: &str, see: &mut dyn FnMut(&str)) {
    if let Ok(normal) = path::normalise(workspace, text) {
        see(&normal);
    }
}

/// Reports a number as written, and in its look-up form.
fn number(text: &str, see: &mut dyn FnMut(&str)) {
    see(text);
    if let Some(units) = decimal::parse(text) {
        see(&decimal::format(units));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_seen() {
        let mut seen = Vec::new();
        in_text("Send 5.50 to (ann@example.org), see `a b` in src/x.rs!", "/ws", &mut |text| {
            seen.push(text.to_owned());
        });
        for expected in
            ["Send", "5.50", "5.5", "ann@example.org", "a b", "src/x.rs", "/ws/src/x.rs"]
        {
            assert!(seen.iter().any(|text| text == expected), "{expected}: {seen:?}");
        }
    }

    #[test]
    fn the_longest_path_decides() {
        let part = |path: &[&str], trusted| (path.iter().map(|s| (*s).into()).collect(), trusted);
        let trust =
            Trust { whole: false, parts: vec![part(&["a"], true), part(&["a", "b"], false)] };
        let json = Json::parse(r#"{"a": {"b": [1], "c": ["x"]}, "d": 2}"#).unwrap();
        let mut seen = Vec::new();
        in_json(&json, "/", &trust, &mut |text, trusted| seen.push((text.to_owned(), trusted)));
        seen.dedup();
        let expected = [("1", false), ("x", true), ("2", false)];
        assert!(seen.iter().map(|(text, trusted)| (&**text, *trusted)).eq(expected), "{seen:?}");
    }
}
