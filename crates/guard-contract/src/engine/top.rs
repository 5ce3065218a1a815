//! Reads the text outside of documents: prose, fences, reasoning, and the beginnings of documents.

use super::{Engine, Object, Open, Phase, Turn};
use crate::boundary::{self, Lead};
use crate::draft::Draft;
use guard_plan::report::SpanKind;

/// The tags around reasoning text.
const TAGS: [(&str, &str); 6] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<analysis>", "</analysis>"),
];
const LONGEST_TAG: usize = 13;

/// The context of the current position.
#[derive(Debug, Default)]
pub(super) struct Around {
    /// True if the line has a non-whitespace character.
    pub inked: bool,
    /// True if the line has a double quote.
    quoted: bool,
    /// True if there is prose since the last document.
    pub prose: bool,
    /// True in a fence.
    fenced: bool,
    /// True if the last non-whitespace byte is a comma.
    comma: bool,
}

/// The structure that begins at a brace.
enum Start {
    Prose,
    /// An object that is read member by member.
    Object,
    /// An item of this list.
    Frame(usize),
    More,
}

impl Engine {
    pub(super) fn top(&mut self, t: &Turn<'_>) -> bool {
        if let Some(list) = self.framing.take() {
            return self.frame(t, list);
        }
        let rest = t.w.from(self.at);
        let mut i = 0;
        while let Some(byte) = rest.get(i) {
            match byte {
                b'\n' => (self.around.inked, self.around.quoted) = (false, false),
                b' ' | b'\t' | b'\r' => {}
                b',' | b']' | b'}' | b'[' => {
                    (self.around.inked, self.around.comma) = (true, *byte == b',');
                }
                b'{' => {
                    let start = self.start(rest, i, t.w.end);
                    if !matches!(start, Start::Prose) {
                        return self.begin(t, start, i);
                    }
                    self.prose_byte();
                }
                b'<' => {
                    if rest.len() - i < LONGEST_TAG && !t.w.end {
                        return self.stay(i);
                    }
                    if self.tag(&rest[i..], i) {
                        return true;
                    }
                    self.prose_byte();
                }
                b'`' if !self.around.inked => {
                    if rest.len() - i < 3 && !t.w.end {
                        return self.stay(i);
                    }
                    if rest[i..].starts_with(b"```") {
                        self.around.fenced = !self.around.fenced;
                        i += 2;
                    }
                    self.prose_byte();
                }
                b'"' => (self.around.quoted, self.around.inked) = (true, true),
                _ if byte.is_ascii_alphanumeric() || *byte >= 0x80 => self.prose_byte(),
                _ => self.around.inked = true,
            }
            i += 1;
        }
        self.stay(i)
    }

    fn prose_byte(&mut self) {
        (self.around.inked, self.around.prose, self.around.comma) = (true, true, false);
    }

    /// Marks everything up to here as decided.
    fn stay(&mut self, len: usize) -> bool {
        if len > 0 {
            self.marks.set(self.at, SpanKind::Text);
        }
        self.at += len;
        false
    }

    /// Classifies a brace. Objects in JSON's quotes always count; others only if they are certainly
    /// not inside a string.
    fn start(&self, rest: &[u8], i: usize, end: bool) -> Start {
        let nothing_yet = self.draft.is_empty() && self.best.is_none();
        let at = match boundary::opening(rest, i) {
            Ok(at) => at,
            Err(()) if !end => return Start::More,
            Err(()) => crate::lex::blanks(rest, i + 1),
        };
        match boundary::first(rest, at) {
            Lead::Key(name) if self.p.envelope.has(name) => Start::Object,
            Lead::Key(name) => {
                self.p.frame_of(name).or(self.neighbour()).map_or(Start::Object, Start::Frame)
            }
            Lead::Empty if nothing_yet && !self.around.prose => Start::Object,
            Lead::Empty => Start::Prose,
            Lead::More if !end => Start::More,
            // The text ends in the object's first key.
            Lead::More if nothing_yet => Start::Object,
            Lead::More => Start::Prose,
            Lead::Other if self.around.quoted => Start::Prose,
            Lead::Other => match boundary::loose_key(rest, at) {
                Ok(Some((name, _))) if self.p.envelope.has(name) => Start::Object,
                Ok(Some((name, _))) => self.p.frame_of(name).map_or(Start::Prose, Start::Frame),
                Err(()) if !end => Start::More,
                _ => Start::Prose,
            },
        }
    }

    /// Returns the list of the separate items directly before: an object with an unknown key is one
    /// of them.
    fn neighbour(&self) -> Option<usize> {
        let among = self.draft.framed || (self.draft.envelope && self.draft.total() == 0);
        let list = self.p.top.iter().copied().max_by_key(|list| self.draft.units[*list]);
        list.filter(|_| among && !self.around.prose)
    }

    fn begin(&mut self, t: &Turn<'_>, start: Start, i: usize) -> bool {
        self.stay(i);
        match start {
            Start::Prose | Start::More => false,
            Start::Object => {
                self.begin_object(self.at);
                true
            }
            Start::Frame(list) => self.frame(t, list),
        }
    }

    pub(super) fn begin_object(&mut self, start: usize) {
        self.marks.set(start, SpanKind::Envelope);
        let object = Object { start, fresh: true, ..Object::default() };
        self.stack.push(Open::Object(Box::new(object)));
        self.at = start + 1;
        self.phase = Phase::Members;
    }

    /// Reads a separate item.
    fn frame(&mut self, t: &Turn<'_>, list: usize) -> bool {
        let near = !self.around.prose || self.around.comma;
        let continues = self.draft.envelope && !self.draft.framed && near;
        let joins = self.draft.framed && self.draft.fenced == self.around.fenced;
        let header = self.draft.envelope && self.draft.total() == 0;
        if !(continues || joins || header) {
            self.finish_draft();
        }
        if !self.lone_unit(t, list) {
            self.framing = Some(list);
            return false;
        }
        if !continues {
            self.draft.framed = true;
            self.draft.fenced = self.around.fenced;
        }
        (self.around.inked, self.around.prose) = (true, false);
        true
    }

    /// Skips a reasoning tag at the beginning of some bytes; returns whether there is one.
    fn tag(&mut self, bytes: &[u8], i: usize) -> bool {
        let is = |tag: &str| {
            bytes.get(..tag.len()).is_some_and(|b| b.eq_ignore_ascii_case(tag.as_bytes()))
        };
        let opening = TAGS.iter().position(|tag| is(tag.0)).filter(|_| !self.around.inked);
        if let Some(tag) = opening {
            self.stay(i);
            self.marks.set(self.at, SpanKind::Reasoning);
            self.phase = Phase::Reasoning(tag);
            self.at += TAGS[tag].0.len();
            return true;
        }
        let Some(tag) = TAGS.iter().find(|tag| is(tag.1)) else { return false };
        self.stay(i);
        self.all_was_thought(self.at);
        self.stay(tag.1.len());
        true
    }

    /// Marks the text so far as reasoning: it ends with a closing tag whose opening tag is not part
    /// of the text.
    fn all_was_thought(&mut self, end: usize) {
        self.draft = Draft::new(&self.p);
        self.best = None;
        self.passed.clear();
        self.marks.cover(0, end, SpanKind::Reasoning);
        self.around = Around::default();
    }

    pub(super) fn reasoning(&mut self, t: &Turn<'_>, tag: usize) -> bool {
        let rest = t.w.from(self.at);
        let close = TAGS[tag].1.as_bytes();
        let mut i = 0;
        while let Some(found) = memchr::memchr(b'<', &rest[i..]) {
            i += found;
            match rest.get(i..i + close.len()) {
                Some(bytes) if bytes.eq_ignore_ascii_case(close) => {
                    self.at += i + close.len();
                    self.around = Around { prose: true, inked: true, ..Around::default() };
                    self.phase = Phase::Top;
                    return true;
                }
                None if !t.w.end => {
                    self.at += i;
                    return false;
                }
                _ => i += 1,
            }
        }
        self.at += rest.len();
        false
    }
}
