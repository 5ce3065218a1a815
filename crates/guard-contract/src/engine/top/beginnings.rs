//! Beginnings of documents: which brace, bracket or key outside of documents begins one.

use super::context::LinePlace;
use crate::boundary::{self, Lead};
use crate::draft::{GLUED, IN_SENTENCE};
use crate::engine::{ContractEngine, Object, PartialValue, Phase, StepInput};
use guard_plan::report::SpanKind;

/// The classification of the text after a double quote.
pub(super) enum Quote {
    Passed,
    /// A document without its first brace.
    Headless,
    More,
}

/// The structure that begins at a brace.
pub(super) enum Start {
    Prose,
    /// An object that is read member by member.
    Object,
    /// An item of this list.
    Frame(usize),
    More,
}

impl ContractEngine {
    /// Classifies a bracket: the document, if it is a list, may begin here.
    pub(super) fn array(&self, rest: &[u8], i: usize, end: bool) -> Start {
        if self.around.inked || self.around.open_quote || self.around.wrapped > 0 {
            return Start::Prose;
        }
        let empty = self.draft.is_empty() && self.best.is_none();
        let nothing_yet = empty && !self.around.prose;
        let next = crate::lex::blanks(rest, i + 1);
        let leads = match rest.get(next) {
            None if !end => return Start::More,
            None => nothing_yet,
            // An empty list on separate lines retracts the list before.
            Some(b']') => nothing_yet || (!empty && self.around.place == LinePlace::Start),
            Some(b'{') => match boundary::lead(rest, next) {
                Lead::More if !end => return Start::More,
                Lead::Key(name) => nothing_yet || self.p.frame_of(&name).is_some(),
                _ => nothing_yet,
            },
            Some(_) => nothing_yet,
        };
        if leads { Start::Object } else { Start::Prose }
    }

    /// Begins the document, which is a list, in an object that is not in the text.
    pub(super) fn begin_array(&mut self) {
        let start = self.at;
        self.begin_object(start);
        if let Some(object) = self.object() {
            object.known = 1;
            object.seen.push("items".into());
        }
        self.open_list(0, start + 1);
    }

    /// Handles a double quote outside of documents. If a member of the contract follows it, the
    /// quote is a remainder of a document, or begins a document whose brace is missing.
    pub(super) fn quote(&mut self, rest: &[u8], i: usize, end: bool) -> Quote {
        if self.around.place != LinePlace::Prose {
            match boundary::key(rest, i) {
                Err(()) if !end => return Quote::More,
                Ok(Some((name, _))) if self.is_declared(&name) => {
                    let nothing_yet = self.draft.is_empty() && self.best.is_none();
                    if nothing_yet && self.p.envelope.has(&name) && !self.around.prose {
                        return Quote::Headless;
                    }
                    self.reject("a member follows its brace");
                    self.leftover.get_or_insert(self.at + i);
                }
                _ => {}
            }
        }
        self.around.open_quote = !self.around.open_quote;
        (self.around.quoted, self.around.inked, self.around.column) = (true, true, None);
        self.other_text(self.at + i);
        Quote::Passed
    }

    /// Returns true if a line begins with a member of the contract without quotes; `None` if more
    /// text is needed.
    pub(super) fn loose_member(&self, rest: &[u8], i: usize, end: bool) -> Option<bool> {
        if self.around.place == LinePlace::Prose || self.around.fence_line {
            return Some(false);
        }
        match boundary::loose_key(rest, i) {
            Ok(Some((name, _))) => Some(self.is_declared(name)),
            Err(()) if !end => None,
            _ => Some(false),
        }
    }

    /// Begins a document whose first brace is missing.
    pub(super) fn begin_headless(&mut self) {
        let at = self.at;
        self.begin_object(at);
        self.at = at;
        self.doubt(at, "the first brace of the document is missing");
    }

    /// Classifies a brace. Objects in JSON's quotes always count; others only if they are certainly
    /// not inside a string.
    pub(super) fn start(&self, rest: &[u8], i: usize, end: bool) -> Start {
        // The object is quoted from elsewhere.
        let quoted =
            self.around.inked && matches!(self.around.last, b'"' | b'\'' | b'`' | 0x98..=0x9E);
        let nothing_yet = self.draft.is_empty() && self.best.is_none();
        let at = match boundary::opening(rest, i) {
            Ok(at) => at,
            Err(()) if !end => return Start::More,
            Err(()) => crate::lex::blanks(rest, i + 1),
        };
        match boundary::first(rest, at) {
            Lead::Key(name) if quoted => self.p.frame_of(&name).map_or(Start::Prose, Start::Frame),
            Lead::More if !end => Start::More,
            _ if quoted => Start::Prose,
            Lead::Key(name) if self.p.envelope.has(&name) => Start::Object,
            Lead::Key(name) => {
                self.p.frame_of(&name).or(self.neighbour()).map_or(Start::Object, Start::Frame)
            }
            Lead::Empty if nothing_yet && !self.around.prose => Start::Object,
            Lead::Empty => Start::Prose,
            // The text ends within the object's first key.
            Lead::More if nothing_yet => Start::Object,
            Lead::More => Start::Prose,
            Lead::Other => self.damaged_start(rest, at, nothing_yet, end),
        }
    }

    /// Classifies a brace before a key that is not in JSON's quotes.
    fn damaged_start(&self, rest: &[u8], at: usize, nothing_yet: bool, end: bool) -> Start {
        if nothing_yet && !self.around.prose && self.around.place == LinePlace::Start {
            match self.may_be_key(rest, at, end) {
                None => return Start::More,
                Some(true) => return Start::Object,
                Some(false) => {}
            }
        }
        if self.around.quoted {
            return Start::Prose;
        }
        match boundary::loose_key(rest, at) {
            Ok(Some((name, _))) if self.p.envelope.has(name) => Start::Object,
            Ok(Some((name, _))) => self.p.frame_of(name).map_or(Start::Prose, Start::Frame),
            Err(()) if !end => Start::More,
            _ => Start::Prose,
        }
    }

    /// Returns true if a damaged key of the envelope may begin here; `None` if more text is needed.
    fn may_be_key(&self, rest: &[u8], at: usize, end: bool) -> Option<bool> {
        let near = &rest[at..rest.len().min(at + boundary::LONGEST_NAME)];
        let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        let len = match near.iter().position(|b| !part(b)) {
            None if near.len() < boundary::LONGEST_NAME && !end => return None,
            len => len.unwrap_or(near.len()),
        };
        let named = str::from_utf8(&near[..len]).is_ok_and(|name| self.p.envelope.has(name));
        Some(named || near.first() == Some(&b'"'))
    }

    /// Returns the list of the separate items directly before. An object with an unknown key
    /// belongs to it.
    fn neighbour(&self) -> Option<usize> {
        let among = self.draft.framed || (self.draft.envelope && self.draft.total() == 0);
        let list = self.p.top.iter().copied().max_by_key(|list| self.draft.units[*list]);
        list.filter(|_| among && !self.around.prose)
    }

    pub(super) fn begin(&mut self, t: &StepInput<'_>, start: Start, i: usize) -> bool {
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

    pub(in crate::engine) fn begin_object(&mut self, start: usize) {
        self.confirm();
        self.marks.set(start, SpanKind::Envelope);
        let doubt = if self.around.place == LinePlace::Prose || self.around.open_quote {
            Some((start, IN_SENTENCE))
        } else {
            self.around.is_glued().then_some((start, GLUED))
        };
        let begun = self.around.column;
        let object = Object { start, begun, doubt, ..Object::default() };
        self.stack.push(PartialValue::Object(Box::new(object)));
        self.begin_loose(start, false);
        self.at = start + 1;
        self.phase = Phase::Members;
    }
}
