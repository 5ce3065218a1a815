//! Origins of values: the values that occur in texts and results, and the text by which a value is
//! looked up (semantics §8).
//!
//! This module only compares texts. The session stores the origins.

use crate::builtin::extract;
use crate::builtin::{Builtin, is_unreadable};
use crate::json::Json;
use crate::plan::Trust;
use crate::trust::ELEMENT;
use crate::value::Value;
use crate::{decimal, path};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashSet;

/// The maximum number of values whose origin a session remembers.
pub const MAX_SEEN: usize = 65_536;

/// The maximum length of a text that may be a path as a whole, in bytes.
const MAX_PATH: usize = 4096;

/// The origin where a value was first seen. Its index is that of the variant in the built-in enum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Origin {
    /// The user's messages.
    Prompt,
    /// A trusted result, or the opening data of the session.
    Trusted,
    /// An untrusted result.
    Untrusted,
    /// An unknown origin.
    Unknown,
}

impl Origin {
    /// The variants' names, in order.
    pub const NAMES: [&str; 4] = ["prompt", "trusted", "untrusted", "unknown"];
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

/// Calls `see` with every value that occurs in a text, with some values more than once. In a text
/// that is not `trusted`, digits are seen in every reading.
pub fn in_text(text: &str, trusted: bool, workspace: &str, see: &mut dyn FnMut(&str)) {
    for word in text.split_whitespace() {
        // An id may start with a mark.
        see(word.trim_end_matches(is_punctuation));
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
    if !trusted {
        figures(text, &mut |found| number(found, see));
    }
}

/// Calls `visit` with every run of digits in a text that is not trusted.
pub fn figures(text: &str, visit: &mut dyn FnMut(&str)) {
    extract::figures(text, visit);
}

/// The parts of one result that the endorsements of its tool vouch for.
#[derive(Debug, Default)]
pub struct Vouched<'j> {
    /// The parts, by identity.
    pub parts: HashSet<*const Json>,
    /// The texts of which only the strings that a function extracts are vouched for.
    pub texts: Vec<(Builtin, &'j str)>,
}

impl<'j> Vouched<'j> {
    /// Vouches for the parts at a path, or for the strings that a function extracts from their
    /// texts.
    pub fn add(&mut self, json: &'j Json, path: &[String], extractor: Option<Builtin>) {
        parts_at(json, path, &mut |part| match extractor {
            None => _ = self.parts.insert(part),
            Some(extractor) => texts(part, &mut |text| self.texts.push((extractor, text))),
        });
    }
}

/// Calls `visit` with each part of a result at a path. The path goes through the elements of lists.
/// `[*]` means each element of a list or each member of an object.
pub fn parts_at<'j>(json: &'j Json, path: &[String], visit: &mut dyn FnMut(&'j Json)) {
    match (json, path) {
        (_, []) => visit(json),
        (Json::Array(items), [first, rest @ ..]) => {
            let rest = if first == ELEMENT { rest } else { path };
            items.iter().for_each(|item| parts_at(item, rest, visit));
        }
        (Json::Object(members), [first, rest @ ..]) => {
            let within = members.iter().filter(|(name, _)| first == ELEMENT || **name == **first);
            within.for_each(|(_, member)| parts_at(member, rest, visit));
        }
        _ => {}
    }
}

/// Calls `visit` with each string in a value.
fn texts<'j>(json: &'j Json, visit: &mut dyn FnMut(&'j str)) {
    match json {
        Json::String(text) => visit(text),
        Json::Array(items) => items.iter().for_each(|item| texts(item, visit)),
        Json::Object(members) => members.iter().for_each(|(_, member)| texts(member, visit)),
        _ => {}
    }
}

/// Calls `see` with every value that occurs in a result, and its trust level there. Lists do not
/// count as path steps: their elements have the path of the list.
pub fn in_json(
    json: &Json,
    workspace: &str,
    (trust, vouched): (&Trust, &Vouched<'_>),
    see: &mut dyn FnMut(&str, bool),
) {
    for (extractor, text) in &vouched.texts {
        let Ok(Value::List(found)) = extractor.eval(&[&Value::String((*text).into())]) else {
            continue;
        };
        for found in &found {
            let Value::String(found) = found else { continue };
            if !is_unreadable(found) {
                see(found, true);
                match extractor {
                    Builtin::Paths => as_path(found, workspace, &mut |text| see(text, true)),
                    Builtin::Numbers => number(found, &mut |text| see(text, true)),
                    _ => {}
                }
            }
        }
    }
    let mut walk = ResultWalk { workspace, trust, vouched, way: Vec::new(), from: None };
    walk.visit(json, see);
}

/// The traversal of a result.
struct ResultWalk<'w, 'j> {
    workspace: &'w str,
    trust: &'w Trust,
    vouched: &'w Vouched<'w>,
    /// The members on the current path.
    way: Vec<&'j str>,
    /// The length of the path to the innermost enclosing part that is vouched for.
    from: Option<usize>,
}

impl<'j> ResultWalk<'_, 'j> {
    fn visit(&mut self, json: &'j Json, see: &mut dyn FnMut(&str, bool)) {
        let outside = self.from;
        if self.vouched.parts.contains(&std::ptr::from_ref(json)) {
            self.from = Some(self.way.len());
        }
        match json {
            Json::Array(items) => items.iter().for_each(|item| self.visit(item, see)),
            Json::Object(members) => {
                for (name, json) in members {
                    self.way.push(name);
                    self.visit(json, see);
                    self.way.pop();
                }
            }
            Json::Null | Json::Bool(_) => {}
            leaf => self.leaf(leaf, see),
        }
        self.from = outside;
    }

    fn leaf(&self, json: &Json, see: &mut dyn FnMut(&str, bool)) {
        let workspace = self.workspace;
        let trusted = self.is_trusted();
        let see = &mut |text: &str| see(text, trusted);
        match json {
            Json::Int(number) => see(&number.to_string()),
            Json::Number(text) => number(text, see),
            Json::String(text) => {
                see(text);
                let whole = text.len() <= MAX_PATH && !text.contains("://") && !text.contains('\n');
                if whole && text.contains(['/', '.']) {
                    as_path(text, workspace, see);
                }
                in_text(text, trusted, workspace, see);
            }
            _ => {}
        }
    }

    /// Returns true if the value at the end of the path is trusted. The longest matching path
    /// decides; at equal length, an endorsement takes precedence over a rule.
    fn is_trusted(&self) -> bool {
        let leads = |path: &[String]| {
            path.len() <= self.way.len() && path.iter().zip(&self.way).all(|(a, b)| a == b)
        };
        let parts = self.trust.parts.iter().filter(|(path, _)| leads(path));
        let nearest = parts.max_by_key(|(path, _)| path.len());
        let ruled = nearest.map_or(0, |(path, _)| path.len());
        self.from.is_some_and(|from| from >= ruled)
            || nearest.map_or(self.trust.whole, |(_, trusted)| *trusted)
    }
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || matches!(c, '“' | '”' | '„' | '«' | '»' | '‘' | '’' | '…')
}

fn as_path(text: &str, workspace: &str, see: &mut dyn FnMut(&str)) {
    if let Ok(normal) = path::normalise(workspace, text) {
        see(&normal);
    }
}

/// Reports a number as written, and in the form by which it is looked up.
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
        in_text(
            "Send 5.50 to (ann@example.org), see `a b` in src/x.rs!",
            true,
            "/ws",
            &mut |text| {
                seen.push(text.to_owned());
            },
        );
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
        in_json(&json, "/", (&trust, &Vouched::default()), &mut |text, trusted| {
            seen.push((text.to_owned(), trusted));
        });
        seen.dedup();
        let expected = [("1", false), ("x", true), ("2", false)];
        assert!(seen.iter().map(|(text, trusted)| (&**text, *trusted)).eq(expected), "{seen:?}");
    }
}
