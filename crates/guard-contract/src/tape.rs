//! The strict reader: one JSON value as a flat list of nodes that point into its text.
//!
//! The reader accepts the same text as `guard_plan::json`, except for duplicate keys, which
//! `distinct` finds. It does not recurse, allocates nothing after its buffers have grown, and can
//! stop at the end of a partial text. It does not know about types.

use crate::lex::{self, LexStop};
use guard_plan::json::{Json, MAX_DEPTH};
use std::borrow::Cow;
use std::collections::HashSet;

/// The maximum number of members for which duplicate keys are searched for pair by pair.
const FEW_MEMBERS: usize = 16;

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TapeNodeKind {
    Null,
    True,
    False,
    Number,
    /// A string without escapes; its range excludes the quotes.
    Plain,
    /// A string with escapes.
    Escaped,
    Array,
    /// An object; its children alternate keys and values.
    Object,
}

/// A node; its children follow it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TapeNode {
    pub kind: TapeNodeKind,
    pub start: u32,
    pub end: u32,
    /// The index of the node after it and all its descendants.
    pub next: u32,
}

/// A value.
#[derive(Debug, Default, Clone)]
pub(crate) struct Tape {
    pub nodes: Vec<TapeNode>,
    /// The nesting depth.
    pub depth: usize,
    /// The length of its longest string as written, in bytes.
    pub longest: usize,
    open: Vec<u32>,
}

impl Tape {
    /// Reads the value at the beginning of some bytes and returns its length. Returns
    /// `LexStop::More` if the bytes end within it.
    ///
    /// # Errors
    ///
    /// Returns the reason why reading stopped.
    pub fn read(&mut self, bytes: &[u8]) -> Result<usize, LexStop> {
        self.nodes.clear();
        self.open.clear();
        (self.depth, self.longest) = (0, 0);
        let mut at = 0;
        loop {
            at = lex::all_blanks(bytes, at);
            at = match bytes.get(at) {
                None => return Err(LexStop::More),
                Some(b'"') => self.string(bytes, at)?,
                Some(b'{') => match self.object(bytes, at)? {
                    (at, false) => at,
                    (next, true) => {
                        at = next;
                        continue;
                    }
                },
                Some(b'[') => {
                    self.push_open(TapeNodeKind::Array, at)?;
                    at = lex::all_blanks(bytes, at + 1);
                    match bytes.get(at) {
                        Some(b']') => self.close(at + 1),
                        _ => continue,
                    }
                }
                Some(_) => self.scalar(bytes, at)?,
            };
            match self.after(bytes, at)? {
                (at, true) => return Ok(at),
                (next, false) => at = next,
            }
        }
    }

    /// Reads the beginning of an object. Returns true if a value follows.
    fn object(&mut self, bytes: &[u8], at: usize) -> Result<(usize, bool), LexStop> {
        self.push_open(TapeNodeKind::Object, at)?;
        let at = lex::all_blanks(bytes, at + 1);
        match bytes.get(at) {
            Some(b'}') => Ok((self.close(at + 1), false)),
            _ => Ok((self.key(bytes, at)?, true)),
        }
    }

    /// Reads the text after a value. Returns the position of the next value, or that everything is
    /// closed.
    fn after(&mut self, bytes: &[u8], mut at: usize) -> Result<(usize, bool), LexStop> {
        loop {
            let Some(top) = self.open.last() else { return Ok((at, true)) };
            let object = self.nodes[*top as usize].kind == TapeNodeKind::Object;
            at = lex::all_blanks(bytes, at);
            match bytes.get(at) {
                None => return Err(LexStop::More),
                Some(b',') if object => {
                    return Ok((self.key(bytes, lex::all_blanks(bytes, at + 1))?, false));
                }
                Some(b',') => return Ok((at + 1, false)),
                Some(b'}') if object => at = self.close(at + 1),
                Some(b']') if !object => at = self.close(at + 1),
                Some(_) if object => return Err(LexStop::Bad(at, "expected `,` or `}`")),
                Some(_) => return Err(LexStop::Bad(at, "expected `,` or `]`")),
            }
        }
    }

    fn push_open(&mut self, kind: TapeNodeKind, at: usize) -> Result<(), LexStop> {
        if self.open.len() == MAX_DEPTH {
            return Err(LexStop::Deep(at));
        }
        self.open.push(self.nodes.len() as u32);
        self.depth = self.depth.max(self.open.len());
        self.nodes.push(TapeNode { kind, start: at as u32, end: 0, next: 0 });
        Ok(())
    }

    fn close(&mut self, end: usize) -> usize {
        let next = self.nodes.len() as u32;
        if let Some(top) = self.open.pop() {
            let node = &mut self.nodes[top as usize];
            (node.end, node.next) = (end as u32, next);
        }
        end
    }

    fn push(&mut self, kind: TapeNodeKind, start: usize, end: usize) {
        let next = self.nodes.len() as u32 + 1;
        self.nodes.push(TapeNode { kind, start: start as u32, end: end as u32, next });
    }

    fn string(&mut self, bytes: &[u8], at: usize) -> Result<usize, LexStop> {
        let (end, escaped) = lex::string(bytes, at)?;
        self.longest = self.longest.max(end - at - 2);
        self.push(
            if escaped { TapeNodeKind::Escaped } else { TapeNodeKind::Plain },
            at + 1,
            end - 1,
        );
        Ok(end)
    }

    fn key(&mut self, bytes: &[u8], at: usize) -> Result<usize, LexStop> {
        match bytes.get(at) {
            None => return Err(LexStop::More),
            Some(b'"') => {}
            Some(_) => return Err(LexStop::Bad(at, "expected a key")),
        }
        let at = lex::all_blanks(bytes, self.string(bytes, at)?);
        match bytes.get(at) {
            None => Err(LexStop::More),
            Some(b':') => Ok(at + 1),
            Some(_) => Err(LexStop::Bad(at, "expected `:`")),
        }
    }

    fn scalar(&mut self, bytes: &[u8], at: usize) -> Result<usize, LexStop> {
        let word = |word: &str| lex::word(bytes, at, word);
        let (kind, end) = match bytes[at] {
            b'-' | b'0'..=b'9' => (TapeNodeKind::Number, lex::number(bytes, at)?),
            b't' => (TapeNodeKind::True, word("true")?),
            b'f' => (TapeNodeKind::False, word("false")?),
            b'n' => (TapeNodeKind::Null, word("null")?),
            _ => return Err(LexStop::Bad(at, "expected a value")),
        };
        self.push(kind, at, end);
        Ok(end)
    }

    /// Returns the text of a string.
    pub fn text<'t>(&self, text: &'t str, node: usize) -> Cow<'t, str> {
        let TapeNode { kind, start, end, .. } = self.nodes[node];
        let inner = &text[start as usize..end as usize];
        if kind == TapeNodeKind::Escaped {
            lex::unescape(inner).into()
        } else {
            Cow::Borrowed(inner)
        }
    }

    /// Returns the raw text of a node.
    pub fn raw<'t>(&self, text: &'t str, node: usize) -> &'t str {
        let TapeNode { start, end, .. } = self.nodes[node];
        &text[start as usize..end as usize]
    }

    /// Returns the children of a node.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes[node].next as usize;
        let mut at = node + 1;
        std::iter::from_fn(move || {
            let child = (at < end).then_some(at)?;
            at = self.nodes[child].next as usize;
            Some(child)
        })
    }

    /// Returns the keys and values of an object.
    pub fn members(&self, node: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let mut children = self.children(node);
        std::iter::from_fn(move || Some((children.next()?, children.next()?)))
    }

    /// Returns the value of a node.
    pub fn json(&self, text: &str, node: usize) -> Json {
        match self.nodes[node].kind {
            TapeNodeKind::Null => Json::Null,
            TapeNodeKind::True => Json::Bool(true),
            TapeNodeKind::False => Json::Bool(false),
            TapeNodeKind::Number => number(self.raw(text, node)),
            TapeNodeKind::Plain => Json::String(self.raw(text, node).into()),
            // The text is copied again rather than shrunk in place, which is slower in the
            // allocator.
            TapeNodeKind::Escaped => {
                Json::String(lex::unescape(self.raw(text, node)).as_str().into())
            }
            TapeNodeKind::Array => {
                let mut items = Vec::with_capacity(self.children(node).count());
                for child in self.children(node) {
                    items.push(self.json(text, child));
                }
                Json::Array(items)
            }
            TapeNodeKind::Object => {
                let mut members = Vec::with_capacity(self.children(node).count() / 2);
                for (key, value) in self.members(node) {
                    members.push(((*self.text(text, key)).into(), self.json(text, value)));
                }
                Json::Object(members)
            }
        }
    }

    /// Returns the first key that occurs twice in an object inside a node.
    pub fn twice<'t>(&self, text: &'t str, node: usize) -> Option<Cow<'t, str>> {
        let end = self.nodes[node].next as usize;
        let objects = (node..end).filter(|at| self.nodes[*at].kind == TapeNodeKind::Object);
        objects.into_iter().find_map(|object| self.twice_in(text, object))
    }

    fn twice_in<'t>(&self, text: &'t str, object: usize) -> Option<Cow<'t, str>> {
        let mut keys: Vec<Cow<'t, str>> = Vec::new();
        for (key, _) in self.members(object) {
            let key = self.text(text, key);
            if keys.len() < FEW_MEMBERS && keys.contains(&key) {
                return Some(key);
            }
            keys.push(key);
        }
        if keys.len() <= FEW_MEMBERS {
            return None;
        }
        let mut seen = HashSet::with_capacity(keys.len());
        keys.into_iter().find(|key| !seen.insert(key.clone()))
    }
}

impl Tape {
    /// Returns true if an object in the value has such a key.
    pub fn holds_key(&self, text: &str, is: impl Fn(&str) -> bool) -> bool {
        let objects =
            (0..self.nodes.len()).filter(|at| self.nodes[*at].kind == TapeNodeKind::Object);
        objects.into_iter().any(|at| self.members(at).any(|(key, _)| is(&self.text(text, key))))
    }

    /// Returns the tape with the nodes' starts at other positions.
    pub fn moved(&self, place: impl Fn(usize) -> usize) -> Tape {
        let mut tape = self.clone();
        tape.nodes.iter_mut().for_each(|node| node.start = place(node.start as usize) as u32);
        tape
    }

    /// Returns true if an object inside the value has such a first key.
    pub fn holds_object_led_by(&self, text: &str, leads: impl Fn(&str) -> bool) -> bool {
        let nodes = self.nodes.iter().enumerate().skip(1);
        nodes.into_iter().any(|(at, node)| {
            let led = node.kind == TapeNodeKind::Object && node.next as usize > at + 1;
            led && leads(&self.text(text, at + 1))
        })
    }
}

/// Parses the text of a valid number.
fn number(text: &str) -> Json {
    match text.parse() {
        Ok(number) if text != "-0" => Json::Int(number),
        _ => Json::Number(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) {
        let mut tape = Tape::default();
        let ours = match tape.read(text.as_bytes()) {
            Ok(len) if text[len..].trim().is_empty() && tape.twice(text, 0).is_none() => {
                Some(tape.json(text, 0))
            }
            _ => None,
        };
        assert_eq!(ours, Json::parse(text).ok(), "{text}");
    }

    #[test]
    fn it_reads_what_the_other_reader_reads() {
        for text in [
            "{}",
            "[]",
            "[1, -0, 0.5, 1e9]",
            "{\"a\": [true, false, null], \"b\": {}}",
            "[1,]",
            "{\"a\" 1}",
            "{\"a\":1,}",
            "[01 ]",
            "\"\\u00e9\\ud83d\\ude00\\n\"",
            "\"\\ud800\"",
            "\"\\x\"",
            "\"a\u{1}\"",
            "{\"a\":1,\"\\u0061\":2}",
            "[tru]",
            "[1 2]",
            "{1:2}",
            "[-]",
            "[1.]",
            "[.5]",
            "{\"a\":1]",
            "\"a\u{7f}é\"",
            "",
        ] {
            check(text);
        }
    }

    #[test]
    fn it_says_where_the_text_ends_too_soon() {
        let text = r#"{"a": [1, true, "x\n", {"b": null}]}"#;
        let mut tape = Tape::default();
        for end in 0..text.len() {
            assert_eq!(tape.read(&text.as_bytes()[..end]), Err(LexStop::More), "{end}");
        }
        assert_eq!(tape.read(text.as_bytes()), Ok(text.len()));
        assert_eq!(tape.depth, 3);
    }

    #[test]
    fn depth_is_bounded() {
        let text = "[".repeat(100_000);
        assert_eq!(Tape::default().read(text.as_bytes()), Err(LexStop::Deep(128)));
    }
}
