//! After unreadable text: finds the next position where an item, a list or a document can begin, or
//! a list can end.
//!
//! Considers only JSON's own quotes, and only after a separator or at the beginning of a line.

use super::unit::HEAD;
use super::{Engine, Open, Phase, Turn};
use crate::boundary::{self, Lead};
use crate::judge::Refusal;
use crate::lex::blanks;
use guard_plan::report::{Reason, SpanKind};

/// A lost unit.
#[derive(Debug)]
pub(super) struct Gone {
    pub list: usize,
    pub index: u64,
    pub start: usize,
    pub reason: Reason,
    pub error: String,
}

/// A search.
#[derive(Debug)]
pub(super) struct Search {
    /// The position reached.
    from: usize,
    /// The start of the lost unit.
    start: usize,
    gone: Option<Gone>,
    head: Option<Vec<u8>>,
    /// The last non-whitespace byte before the position, and whether a line has begun since.
    before: (u8, bool),
}

/// The position where reading continues.
enum Next {
    /// An item of the list at this position on the stack, or of this list if the stack's object
    /// holds none yet.
    Item(usize),
    /// A member of the object at this position on the stack.
    Member(usize),
    /// An item of a list that is not open, in the object at this position.
    Lost(usize, usize),
    /// The end of the innermost list.
    ListEnd,
    /// Outside of documents.
    Top,
}

/// The classification of a position.
enum Found {
    Nothing,
    More,
    Here(Next),
}

impl Search {
    pub fn new(from: usize, start: usize, gone: Option<Gone>) -> Search {
        Search { from, start, gone, head: None, before: (0, false) }
    }

    /// Records a bracket directly before the start of the search.
    pub fn behind(&mut self, byte: Option<u8>, start: usize) {
        if self.from == start + 1
            && let Some(byte) = byte
        {
            self.before.0 = byte;
        }
    }

    /// Returns the first offset that must stay available.
    pub fn hold(&self) -> usize {
        if self.gone.is_none() || self.head.is_some() {
            self.from
        } else {
            self.start.min(self.from)
        }
    }

    /// Returns the context before a position; looks back at most to the start of the search.
    fn before(&self, bytes: &[u8], at: usize) -> (u8, bool) {
        let mut line = false;
        for byte in bytes[..at].iter().rev() {
            match byte {
                b'\n' => line = true,
                b' ' | b'\t' | b'\r' => {}
                other => return (*other, line),
            }
        }
        (self.before.0, line || self.before.1)
    }
}

impl Engine {
    pub(super) fn search(&mut self, t: &Turn<'_>) -> bool {
        let Phase::Search(search) = &mut self.phase else { return false };
        if search.gone.is_some() && search.head.is_none() && t.w.stop() - search.start >= HEAD {
            search.head = Some(t.w.part(search.start, search.start + HEAD).to_vec());
        }
        let from = search.from;
        let bytes = t.w.from(from);
        let mut i = 0;
        while let Some(found) = memchr::memchr3(b'{', b'"', b']', &bytes[i..]) {
            i += found;
            match self.place(t, bytes, i) {
                Found::Nothing => i += 1,
                Found::More => {
                    self.advance(bytes, i);
                    return false;
                }
                Found::Here(next) => {
                    self.go_on(t, next, from + i);
                    return true;
                }
            }
        }
        self.advance(bytes, bytes.len());
        if t.w.end {
            let stop = t.w.stop();
            self.lost(t, stop);
            self.close_all(t, stop);
        }
        t.w.end
    }

    fn advance(&mut self, bytes: &[u8], len: usize) {
        if let Phase::Search(search) = &mut self.phase {
            search.before = search.before(bytes, len);
            search.from += len;
            self.at = search.hold();
        }
    }

    /// Classifies a brace, quote or bracket.
    fn place(&self, t: &Turn<'_>, bytes: &[u8], at: usize) -> Found {
        let Phase::Search(search) = &self.phase else { return Found::Nothing };
        let more = if t.w.end { Found::Nothing } else { Found::More };
        let (before, line) = search.before(bytes, at);
        let separated = line || matches!(before, b',' | b'[' | b'}' | b']');
        match bytes[at] {
            b'{' if separated => match boundary::lead(bytes, at) {
                Lead::Key(name) => self.item_or_document(name, line),
                Lead::More => more,
                _ => Found::Nothing,
            },
            b'"' if separated || before == b'{' => match boundary::key(bytes, at) {
                Ok(Some((name, value))) => {
                    let value = blanks(bytes, value);
                    match bytes.get(value) {
                        None => more,
                        Some(byte) => self.member_of(name, *byte == b'['),
                    }
                }
                Ok(None) => Found::Nothing,
                Err(()) => more,
            },
            b']' => self.end_of_list(bytes, at, more),
            _ => Found::Nothing,
        }
    }

    fn item_or_document(&self, name: &str, line: bool) -> Found {
        for (place, open) in self.stack.iter().enumerate().rev() {
            if let Open::List(listing) = open {
                let list = &self.p.lists[listing.list];
                if list.own.has(name) || (list.any && !self.p.envelope.has(name)) {
                    return Found::Here(Next::Item(place));
                }
            }
        }
        let innermost = match self.stack.last() {
            None if self.p.envelope.has(name) || self.p.frame_of(name).is_some() => {
                return Found::Here(Next::Top);
            }
            // No evidence has shown that it is an envelope.
            Some(Open::Object(object)) if !object.attached && object.known == 0 => {
                let frame = line && self.p.frame_of(name).is_some();
                if frame {
                    return Found::Here(Next::Top);
                }
                Some(object.item)
            }
            Some(Open::Object(object)) => Some(object.item),
            _ => None,
        };
        if let Some(item) = innermost {
            let lists = match item {
                Some(list) => &self.p.lists[list].nested,
                None => &self.p.top,
            };
            if let Some(list) = lists.iter().find(|list| self.p.lists[**list].own.has(name)) {
                return Found::Here(Next::Lost(self.stack.len() - 1, *list));
            }
        }
        match line && self.p.envelope.has(name) {
            true => Found::Here(Next::Top),
            false => Found::Nothing,
        }
    }

    /// A member's key: for a list of any open object, or for the innermost object outside of lists.
    fn member_of(&self, name: &str, list: bool) -> Found {
        for (place, open) in self.stack.iter().enumerate().rev() {
            let Open::Object(object) = open else { continue };
            if list && self.p.list_of(object.item, name).is_some() {
                return Found::Here(Next::Member(place));
            }
            let known = match object.item {
                None => self.p.envelope.has(name),
                Some(list) => self.p.lists[list].own.has(name),
            };
            if known && place + 1 == self.stack.len() {
                return Found::Here(Next::Member(place));
            }
        }
        Found::Nothing
    }

    /// A bracket ends the innermost list if the text after it shows so.
    fn end_of_list(&self, bytes: &[u8], at: usize, more: Found) -> Found {
        if !matches!(self.stack.last(), Some(Open::List(_))) {
            return Found::Nothing;
        }
        let Some(Open::Object(around)) = self.stack.iter().rev().nth(1) else {
            return Found::Nothing;
        };
        let next = blanks(bytes, at + 1);
        let ends = match bytes.get(next) {
            None => return more,
            Some(b',') => self.member_follows(bytes, next + 1, around.item),
            Some(b'}') => match around.item {
                // If the text ends after it, the document ends too.
                None if matches!(more, Found::Nothing) => document_ends(bytes, next).or(Some(true)),
                None => document_ends(bytes, next),
                Some(list) => self.item_ends(bytes, next, list),
            },
            Some(_) => Some(false),
        };
        match ends {
            Some(true) => Found::Here(Next::ListEnd),
            Some(false) => Found::Nothing,
            None => more,
        }
    }

    /// Returns whether a member of an object follows a comma; `None` if the bytes end too soon to
    /// decide.
    fn member_follows(&self, bytes: &[u8], at: usize, item: Option<usize>) -> Option<bool> {
        let quote = blanks(bytes, at);
        if *bytes.get(quote)? != b'"' {
            return Some(false);
        }
        let names = match item {
            None => &self.p.envelope,
            Some(list) => &self.p.lists[list].own,
        };
        let key = boundary::key(bytes, quote).ok()?;
        Some(key.is_some_and(|(name, _)| names.has(name)))
    }

    /// Returns whether a brace ends an item of a list: another item or the end of the list follows.
    fn item_ends(&self, bytes: &[u8], brace: usize, list: usize) -> Option<bool> {
        let next = blanks(bytes, brace + 1);
        Some(match bytes.get(next)? {
            b']' => true,
            b',' => {
                let next = blanks(bytes, next + 1);
                *bytes.get(next)? == b'{'
                    && match boundary::lead(bytes, next) {
                        Lead::Key(name) => self.p.lists[list].own.has(name),
                        Lead::More => return None,
                        _ => false,
                    }
            }
            _ => false,
        })
    }

    /// Ends the lost text here.
    fn lost(&mut self, t: &Turn<'_>, end: usize) {
        let Phase::Search(search) = std::mem::replace(&mut self.phase, Phase::Top) else { return };
        let Some(Gone { list, index, start, reason, error }) = search.gone else { return };
        let head = search.head.unwrap_or_else(|| t.w.part(start, end).to_vec());
        let head = &head[..head.len().min(end - start)];
        self.quarantine(list, index, Refusal { reason, error }, head, (start, end));
    }

    fn go_on(&mut self, t: &Turn<'_>, next: Next, at: usize) {
        self.lost(t, at);
        match next {
            Next::Top => {
                self.close_all(t, at);
                self.found_again = true;
            }
            Next::Item(place) => {
                self.close_to(t, place, at);
                self.found_again = true;
                self.phase = Phase::Elements;
            }
            Next::Lost(place, list) => {
                self.close_to(t, place, at);
                self.open_list(list, at);
                self.found_again = true;
            }
            Next::Member(place) => {
                self.close_to(t, place, at);
                self.marks.set(at, SpanKind::Envelope);
                self.phase = Phase::Members;
            }
            Next::ListEnd => {
                self.marks.set(at, SpanKind::Envelope);
                self.phase = Phase::Elements;
            }
        }
        // A separator expected before is not reported as missing.
        match self.stack.last_mut() {
            Some(Open::Object(object)) => {
                (object.comma, object.fresh, object.last) = (None, true, None);
            }
            Some(Open::List(listing)) => (listing.comma, listing.fresh) = (None, true),
            None => self.marks.set(at, SpanKind::Text),
        }
        self.at = at;
    }

    /// Closes the open objects and lists inside a position on the stack.
    fn close_to(&mut self, t: &Turn<'_>, place: usize, at: usize) {
        while self.stack.len() > place + 1 {
            match self.stack.last() {
                Some(Open::List(_)) => self.end_list(),
                _ => {
                    if let Some(object) = self.object() {
                        let why = (Reason::Malformed, "it is not closed".to_owned());
                        object.refused.get_or_insert(why);
                    }
                    self.end_object(t, at);
                }
            }
        }
    }
}

/// Returns whether a brace ends the document: the text, the line or the fence ends after it.
fn document_ends(bytes: &[u8], brace: usize) -> Option<bool> {
    let behind = blanks(bytes, brace + 1);
    match bytes.get(behind) {
        None => None,
        Some(b'`' | b'<') => Some(true),
        Some(_) => Some(bytes[brace..behind].contains(&b'\n')),
    }
}
