//! Origins: the places in which values were first seen (semantics §8).

use super::ReferenceSession;
use super::parts::Endorsements;
use guard_plan::builtin::{Builtin, is_unreadable};
use guard_plan::json::Json;
use guard_plan::plan::Trust;
use guard_plan::value::Value;
use guard_plan::{decimal, path};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The maximum number of values that are remembered.
const MOST: usize = 65_536;
/// The maximum number of texts whose extracts are kept.
const MOST_EXTRACTS: usize = 4_096;
/// The maximum length in bytes of a text that may be a path as a whole.
const LONGEST_PATH: usize = 4_096;

/// Indexes of the variants of the built-in enum.
pub(super) const PROMPT: u32 = 0;
pub(super) const TRUSTED: u32 = 1;
pub(super) const UNTRUSTED: u32 = 2;
const UNKNOWN: u32 = 3;

/// The extractors whose results in a text are seen, in addition to its words.
const EXTRACTORS: [Builtin; 8] = [
    Builtin::Emails,
    Builtin::Urls,
    Builtin::Hosts,
    Builtin::Paths,
    Builtin::Ibans,
    Builtin::Phones,
    Builtin::Numbers,
    Builtin::Quoted,
];

/// The words that the extractors find in texts. A search reads the same few texts in many sessions,
/// and these sessions share the extracts.
#[derive(Clone, Default)]
pub(super) struct Extracts(Rc<RefCell<HashMap<Box<str>, Extract>>>);

/// The words that the extractors find in one text.
type Extract = Rc<[(Builtin, Box<str>)]>;

impl Extracts {
    fn extract(&self, text: &str) -> Extract {
        if let Some(known) = self.0.borrow().get(text) {
            return known.clone();
        }
        let found = EXTRACTORS.into_iter().flat_map(|extractor| {
            let found = match extractor.eval(&[&Value::String(text.into())]) {
                Ok(Value::List(found)) => found,
                _ => Vec::new(),
            };
            found.into_iter().filter_map(move |found| match found {
                Value::String(found) => Some((extractor, Box::from(&*found))),
                _ => None,
            })
        });
        let found: Extract = found.collect();
        let mut known = self.0.borrow_mut();
        if known.len() >= MOST_EXTRACTS {
            known.clear();
        }
        known.insert(text.into(), found.clone());
        found
    }
}

impl ReferenceSession<'_> {
    /// Returns the origin of a value: the place in which it was first seen.
    pub(super) fn origin(&self, value: &Value) -> Value {
        Value::Enum(self.places(value).first().copied().unwrap_or(UNKNOWN))
    }

    /// Returns all origins of a value.
    pub(super) fn all_origins(&self, value: &Value) -> Value {
        Value::Set(self.places(value).iter().map(|origin| Value::Enum(*origin)).collect())
    }

    fn places(&self, value: &Value) -> &[u32] {
        let text = match value {
            Value::String(text) | Value::Path(text) => text.to_string(),
            Value::Url(url) => url.text.to_string(),
            Value::Int(number) => number.to_string(),
            Value::Decimal(units) => decimal::format(*units),
            _ => String::new(),
        };
        let found = self.seen.iter().find(|seen| seen.0 == text);
        found.map_or(&[], |seen| &seen.1)
    }

    fn see(&mut self, text: &str, origin: u32) {
        if text.is_empty() || is_unreadable(text) || !self.read.tables.origins {
            return;
        }
        match self.seen.iter().position(|seen| seen.0 == text) {
            Some(at) if self.seen[at].1.contains(&origin) => {}
            Some(at) => Rc::make_mut(&mut Rc::make_mut(&mut self.seen)[at]).1.push(origin),
            None if self.seen.len() < MOST => {
                Rc::make_mut(&mut self.seen).push(Rc::new((text.to_string(), vec![origin])));
            }
            None => {}
        }
    }

    /// Records all values of a text as seen.
    pub(super) fn see_text(&mut self, text: &str, origin: u32) {
        // No rule asks for origins: parsing the text would be expensive and change nothing.
        if !self.read.tables.origins {
            return;
        }
        for word in text.split_whitespace() {
            let marks = |c: char| c.is_ascii_punctuation() || "“”„«»‘’…".contains(c);
            self.see(word.trim_end_matches(marks), origin);
            self.see(word.trim_matches(marks), origin);
        }
        for (extractor, found) in self.extracts.extract(text).iter() {
            self.see(found, origin);
            match extractor {
                Builtin::Paths => self.see_path(found, origin),
                Builtin::Numbers => self.see_number(found, origin),
                _ => {}
            }
        }
        if origin == UNTRUSTED {
            guard_plan::origin::figures(text, &mut |found| self.see_number(found, origin));
        }
    }

    fn see_path(&mut self, text: &str, origin: u32) {
        if let Ok(normal) = path::normalise(&self.read.workspace.clone(), text) {
            self.see(&normal, origin);
        }
    }

    fn see_number(&mut self, text: &str, origin: u32) {
        self.see(text, origin);
        if let Some(units) = decimal::parse(text) {
            self.see(&decimal::format(units), origin);
        }
    }

    /// Records all values of a result as seen. The path to each value decides whether the value is
    /// trusted.
    pub(super) fn see_result(&mut self, json: &Json, trust: &Trust, endorsed: &Endorsements) {
        if !self.read.tables.origins {
            return;
        }
        for (extractor, text) in &endorsed.texts {
            let Ok(Value::List(found)) = extractor.eval(&[&Value::String(text.as_str().into())])
            else {
                continue;
            };
            for found in found {
                let Value::String(found) = found else { continue };
                if is_unreadable(&found) {
                    continue;
                }
                match extractor {
                    Builtin::Paths => self.see_path(&found, TRUSTED),
                    Builtin::Numbers => self.see_number(&found, TRUSTED),
                    _ => {}
                }
                self.see(&found, TRUSTED);
            }
        }
        self.see_part(json, trust, endorsed, &[]);
    }

    fn see_part(&mut self, json: &Json, trust: &Trust, endorsed: &Endorsements, place: &[String]) {
        let by_place = !trust.parts.is_empty() || !endorsed.places.is_empty();
        let below = |step: std::fmt::Arguments| {
            if by_place { [place, &[step.to_string()]].concat() } else { Vec::new() }
        };
        match json {
            Json::Null | Json::Bool(_) => {}
            Json::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.see_part(item, trust, endorsed, &below(format_args!("[{at}]")));
                }
            }
            Json::Object(members) => {
                for (name, member) in members {
                    self.see_part(member, trust, endorsed, &below(format_args!(".{name}")));
                }
            }
            Json::Int(number) => {
                self.see_number(&number.to_string(), believed(trust, endorsed, place));
            }
            Json::Number(text) => self.see_number(text, believed(trust, endorsed, place)),
            Json::String(text) => {
                let origin = believed(trust, endorsed, place);
                self.see(text, origin);
                let names_path = text.contains('/') || text.contains('.');
                let plain = !text.contains("://") && !text.contains('\n');
                if names_path && plain && text.len() <= LONGEST_PATH {
                    self.see_path(text, origin);
                }
                self.see_text(text, origin);
            }
        }
    }
}

/// The longest path that leads to a place decides. An endorsement has priority over a rule of the
/// same length.
fn believed(trust: &Trust, endorsed: &Endorsements, place: &[String]) -> u32 {
    let members = |place: &[String]| -> Vec<String> {
        place.iter().filter_map(|step| step.strip_prefix('.').map(str::to_owned)).collect()
    };
    let way = members(place);
    let around = endorsed.places.iter().filter(|part| place.starts_with(part));
    let deepest = around.map(|part| members(part).len()).max();
    let mut ruled = 0;
    let mut trusted = trust.whole;
    for length in 1..=way.len() {
        if let Some((_, says)) = trust.parts.iter().find(|(part, _)| *part == way[..length]) {
            (ruled, trusted) = (length, *says);
        }
    }
    if trusted || deepest.is_some_and(|depth| depth >= ruled) { TRUSTED } else { UNTRUSTED }
}
