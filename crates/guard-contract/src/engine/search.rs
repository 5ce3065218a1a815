//! The search after unreadable text for the next position where an item, a list or a document can
//! begin, or a list can end.
//!
//! Content of the lost unit is not found. A position counts only where everything that the unit
//! opened is closed again, or where a line begins at the indentation of the units before. A quote
//! may be missing, so the open brackets are tracked twice: as if the search began inside a string,
//! and outside. In one of the two, every position is outside of strings.

use super::{ContractEngine, PartialValue, Phase, StepInput};
use crate::boundary::{self, Lead};
use crate::keep::Refusal;
use crate::lex::blanks;
use crate::nest::Nest;
use guard_plan::plan::Root;
use guard_plan::report::{QuarantineReason, SNIPPET, SpanKind};

/// The length of a unit's stored beginning, in bytes: enough for the characters of its snippet in
/// any encoding length.
pub(super) const HEAD: usize = 4 * (SNIPPET + 1);

/// A lost unit.
#[derive(Debug)]
pub(super) struct Gone {
    pub list: usize,
    pub index: u64,
    pub start: usize,
    pub reason: QuarantineReason,
    pub error: String,
}

/// A search.
#[derive(Debug)]
pub(super) struct EngineSearch {
    /// The position reached.
    from: usize,
    /// The start of the lost unit.
    start: usize,
    gone: Option<Gone>,
    head: Option<Vec<u8>>,
    /// The last non-whitespace byte before the position, and whether a line has begun since.
    before: (u8, bool),
    /// The indentation at the position, if its line is empty so far.
    column: Option<usize>,
    /// The open brackets at the position: as if the search began outside of a string, and inside.
    open: [Nest; 2],
    /// The minimum depth so far: everything deeper was closed.
    least: [i32; 2],
    /// True if the position is in a string, as if the search began outside.
    inside: bool,
    escaped: bool,
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
enum PositionClass {
    Nothing,
    More,
    Here(Next),
}

impl EngineSearch {
    pub fn new(from: usize, start: usize, gone: Option<Gone>, open: Nest) -> EngineSearch {
        EngineSearch {
            from,
            start,
            gone,
            head: None,
            before: (0, false),
            column: None,
            open: [open; 2],
            least: [open.depth; 2],
            inside: false,
            escaped: false,
        }
    }

    /// Records the byte directly before the start of the search.
    pub fn behind(&mut self, byte: Option<u8>) {
        self.before.0 = byte.unwrap_or(0);
    }

    /// Returns the first offset that must stay available.
    pub fn hold(&self) -> usize {
        if self.gone.is_none() || self.head.is_some() {
            self.from
        } else {
            self.start.min(self.from)
        }
    }

    /// Returns true if an array or object ends directly before the position.
    fn nested(&self) -> bool {
        matches!(self.before.0, b'}' | b']')
    }

    /// Returns the open brackets here, if the position is outside of strings.
    fn here(&self) -> Nest {
        self.open[usize::from(self.inside)]
    }

    /// Skips a byte. A bracket counts unless it is there by mistake.
    fn pass(&mut self, byte: u8, counts: bool) {
        self.from += 1;
        match byte {
            b'\n' => {
                self.before.1 = true;
                self.column = Some(0);
                self.escaped = false;
                return;
            }
            b' ' | b'\t' | b'\r' => {
                self.column = self.column.map(|column| column + 1);
                self.escaped = false;
                return;
            }
            _ => {}
        }
        let nested = self.nested();
        self.before = (byte, false);
        self.column = None;
        if std::mem::take(&mut self.escaped) {
            return;
        }
        let open = &mut self.open[usize::from(self.inside)];
        match byte {
            b'\\' => self.escaped = true,
            b'"' => self.inside = !self.inside,
            b'{' | b'[' if counts => open.open(byte == b'{'),
            b'}' | b']' if counts => {
                open.close(byte == b'}', nested);
                let least = &mut self.least[usize::from(self.inside)];
                *least = open.depth.min(*least);
            }
            _ => {}
        }
    }
}

impl ContractEngine {
    pub(super) fn search(&mut self, t: &StepInput<'_>) -> bool {
        let Phase::Search(search) = &mut self.phase else { return false };
        if search.gone.is_some() && search.head.is_none() && t.w.stop() - search.start >= HEAD {
            search.head = Some(t.w.part(search.start, search.start + HEAD).to_vec());
        }
        let from = search.from;
        let bytes = t.w.from(from);
        for (i, byte) in bytes.iter().enumerate() {
            let found = match byte {
                b'{' | b'"' | b']' => self.place(t, bytes, i),
                _ => PositionClass::Nothing,
            };
            let found = match (found, byte) {
                (PositionClass::Nothing, b'{' | b'[' | b'}' | b']') => self.counts(t, bytes, i),
                (PositionClass::Nothing, _) => Ok(true),
                (PositionClass::More, _) => Err(PositionClass::More),
                (found, _) => Err(found),
            };
            match found {
                Ok(counts) => {
                    let Phase::Search(search) = &mut self.phase else { return false };
                    search.pass(*byte, counts);
                }
                Err(PositionClass::Nothing) => {}
                Err(PositionClass::More) => {
                    self.wait();
                    return false;
                }
                Err(PositionClass::Here(next)) => {
                    self.go_on(t, next, from + i);
                    return true;
                }
            }
        }
        self.wait();
        if t.w.end {
            let stop = t.w.stop();
            self.lost(t, stop);
            self.cut |= !self.stack.is_empty();
            self.close_all(t, stop);
        }
        t.w.end
    }

    /// Returns true if a bracket opens or closes a value, rather than being there by mistake. An
    /// opening bracket counts if a key or value follows. A closing bracket that closes the last level
    /// counts if more of the same may follow.
    fn counts(&self, t: &StepInput<'_>, bytes: &[u8], at: usize) -> Result<bool, PositionClass> {
        let Phase::Search(search) = &self.phase else { return Ok(true) };
        let next = blanks(bytes, at + 1);
        let Some(byte) = bytes.get(next) else {
            return if t.w.end { Ok(true) } else { Err(PositionClass::More) };
        };
        let mut open = search.here();
        match bytes[at] {
            b'{' => return Ok(!matches!(byte, b',' | b':' | b'{' | b'[' | b']')),
            b'[' => return Ok(!matches!(byte, b',' | b':' | b'}')),
            bracket => open.close(bracket == b'}', search.nested()),
        }
        if open.depth > 0 {
            return Ok(matches!(byte, b',' | b'}' | b']'));
        }
        // The value that ends here is on the stack around the search, or is the unit itself.
        let around = self.stack.len() as i32 - 1 + open.depth;
        let list = match usize::try_from(around).ok().and_then(|at| self.stack.get(at)) {
            Some(PartialValue::List(_)) => true,
            Some(PartialValue::Object(_)) => false,
            None => return Ok(false),
        };
        let comma = *byte == b',';
        let first = bytes.get(blanks(bytes, next + 1));
        match (list, comma) {
            (_, true) if first.is_none() && !t.w.end => Err(PositionClass::More),
            (true, true) => Ok(first == Some(&b'{')),
            (true, false) => Ok(*byte == b']'),
            (false, true) => Ok(first == Some(&b'"')),
            (false, false) => Ok(*byte == b'}'),
        }
    }

    fn wait(&mut self) {
        if let Phase::Search(search) = &self.phase {
            self.at = search.hold();
        }
    }

    /// Classifies a brace, quote or bracket.
    fn place(&self, t: &StepInput<'_>, bytes: &[u8], at: usize) -> PositionClass {
        let Phase::Search(search) = &self.phase else { return PositionClass::Nothing };
        let more = if t.w.end { PositionClass::Nothing } else { PositionClass::More };
        let (before, line) = search.before;
        let separated = line || matches!(before, b',' | b'[');
        match bytes[at] {
            b'{' if separated || before == b'{' => match self.lead(bytes, at) {
                Lead::Key(name) => self.item_or_document(search, &name),
                Lead::More => more,
                _ => PositionClass::Nothing,
            },
            b'"' if separated || before == b'{' => match boundary::key(bytes, at) {
                Ok(Some((name, value))) => {
                    let value = blanks(bytes, value);
                    match bytes.get(value) {
                        None => more,
                        Some(byte) => self.member_of(search, &name, *byte == b'['),
                    }
                }
                Ok(None) => PositionClass::Nothing,
                Err(()) => more,
            },
            b']' => self.end_of_list(search, bytes, at, more),
            _ => PositionClass::Nothing,
        }
    }

    /// Returns the first key after a brace, in quotes of any kind. The open brackets show whether
    /// it is in a string.
    fn lead<'b>(&self, bytes: &'b [u8], brace: usize) -> Lead<'b> {
        let key = blanks(bytes, brace + 1);
        match bytes.get(key) {
            Some(b'\'' | b'`' | 0x80..) => match boundary::loose_key(bytes, key) {
                Ok(Some((name, _))) => Lead::Key(name.into()),
                Ok(None) => Lead::Other,
                Err(()) => Lead::More,
            },
            _ => boundary::lead(bytes, brace),
        }
    }

    /// Returns true if the position is directly inside of the object or list at this place on the
    /// stack, whose units begin at this indentation.
    fn at_level(&self, search: &EngineSearch, place: usize, column: Option<usize>) -> bool {
        let depth = place as i32 - (self.stack.len() as i32 - 1);
        let least = search.least[usize::from(search.inside)];
        (search.here().depth == depth && least >= depth)
            || (column.is_some() && column == search.column)
    }

    fn item_or_document(&self, search: &EngineSearch, name: &str) -> PositionClass {
        for (place, open) in self.stack.iter().enumerate().rev() {
            if let PartialValue::List(listing) = open {
                let list = &self.p.lists[listing.list];
                let leads = list.own.has(name) || (list.any && !self.p.envelope.has(name));
                // No member inside of an item has such a name, and no key is an object.
                let key_place = search.before.0 == b',' && search.here().object() == Some(true);
                let sure = key_place && list.sure.has(name);
                if leads && (sure || self.at_level(search, place, listing.separators.column)) {
                    return PositionClass::Here(Next::Item(place));
                }
            }
        }
        let line = search.before.1;
        match self.stack.first() {
            None => {
                let known = self.p.envelope.has(name) || self.p.frame_of(name).is_some();
                let level = search.here().depth == 0 || search.column == Some(0);
                return if known && level {
                    PositionClass::Here(Next::Top)
                } else {
                    PositionClass::Nothing
                };
            }
            // No text has shown yet that it is an envelope.
            Some(PartialValue::Object(object))
                if !object.attached
                    && object.known == 0
                    && line
                    && self.p.frame_of(name).is_some()
                    && search.here().depth <= 0 =>
            {
                return PositionClass::Here(Next::Top);
            }
            _ => {}
        }
        if let Some(list) = self.nameless_list(search, name) {
            return PositionClass::Here(Next::Lost(self.stack.len() - 1, list));
        }
        let again = match self.stack.first() {
            Some(PartialValue::Object(object)) => {
                object.begun.is_some() && object.begun == search.column
            }
            _ => false,
        };
        if again && self.p.envelope.has(name) {
            PositionClass::Here(Next::Top)
        } else {
            PositionClass::Nothing
        }
    }

    /// Returns the envelope's list with an unreadable name, if an item with this first key is where
    /// nothing else can be.
    fn nameless_list(&self, search: &EngineSearch, name: &str) -> Option<usize> {
        let Some(PartialValue::Object(object)) = self.stack.last() else { return None };
        let here = search.here();
        if object.item.is_some() || self.p.roomy || here.depth > 1 || here.object() == Some(true) {
            return None;
        }
        self.p.top.iter().copied().find(|list| {
            let list = &self.p.lists[*list];
            list.own.has(name) && !object.seen.iter().any(|seen| **seen == list.member)
        })
    }

    /// Classifies a member's key: for a list of any open object, or for the innermost object
    /// outside of lists.
    fn member_of(&self, search: &EngineSearch, name: &str, list: bool) -> PositionClass {
        for (place, open) in self.stack.iter().enumerate().rev() {
            let PartialValue::Object(object) = open else { continue };
            if !self.at_level(search, place, object.separators.column) {
                continue;
            }
            if list && self.p.list_of(object.item, name).is_some() {
                return PositionClass::Here(Next::Member(place));
            }
            let known = match object.item {
                None => self.p.envelope.has(name),
                Some(list) => self.p.lists[list].own.has(name),
            };
            if known && place + 1 == self.stack.len() {
                return PositionClass::Here(Next::Member(place));
            }
        }
        PositionClass::Nothing
    }

    /// Classifies a bracket. It ends the innermost list if the text after it shows so.
    fn end_of_list(
        &self,
        search: &EngineSearch,
        bytes: &[u8],
        at: usize,
        more: PositionClass,
    ) -> PositionClass {
        if !matches!(self.stack.last(), Some(PartialValue::List(_))) || search.here().has(false) {
            return PositionClass::Nothing;
        }
        let Some(PartialValue::Object(around)) = self.stack.iter().rev().nth(1) else {
            return PositionClass::Nothing;
        };
        let next = blanks(bytes, at + 1);
        let whole = self.stack.len() == 2 && self.p.contract.root == Root::Items;
        let ends = match bytes.get(next) {
            // The text, the line or the fence ends after a document that is a list.
            None if whole && matches!(more, PositionClass::Nothing) => Some(true),
            Some(_) if whole => document_ends(bytes, at),
            None => return more,
            Some(b',') => self.member_follows(bytes, next + 1, around.item),
            Some(b'}') => match around.item {
                // If the text ends after it, the document ends too.
                None if matches!(more, PositionClass::Nothing) => {
                    document_ends(bytes, next).or(Some(true))
                }
                None => document_ends(bytes, next),
                Some(list) => self.item_ends(bytes, next, list),
            },
            Some(_) => Some(false),
        };
        match ends {
            Some(true) => PositionClass::Here(Next::ListEnd),
            Some(false) => PositionClass::Nothing,
            None => more,
        }
    }

    /// Returns true if a member of an object follows a comma; `None` if the bytes end too soon to
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
        let list = match self.stack.last() {
            Some(PartialValue::List(listing)) => Some(&self.p.lists[listing.list].own),
            _ => None,
        };
        Some(
            key.is_some_and(|(name, _)| {
                names.has(&name) && !list.is_some_and(|own| own.has(&name))
            }),
        )
    }

    /// Returns true if a brace ends an item of a list: another item or the end of the list follows.
    fn item_ends(&self, bytes: &[u8], brace: usize, list: usize) -> Option<bool> {
        let next = blanks(bytes, brace + 1);
        Some(match bytes.get(next)? {
            b']' => true,
            b',' => {
                let next = blanks(bytes, next + 1);
                *bytes.get(next)? == b'{'
                    && match boundary::lead(bytes, next) {
                        Lead::Key(name) => self.p.lists[list].own.has(&name),
                        Lead::More => return None,
                        _ => false,
                    }
            }
            _ => false,
        })
    }

    /// Ends the lost text here.
    fn lost(&mut self, t: &StepInput<'_>, end: usize) {
        let Phase::Search(search) = std::mem::replace(&mut self.phase, Phase::Top) else { return };
        let Some(Gone { list, index, start, reason, error }) = search.gone else { return };
        let head = search.head.unwrap_or_else(|| t.w.part(start, end).to_vec());
        let head = &head[..head.len().min(end - start)];
        self.quarantine(list, index, Refusal { reason, error }, head, (start, end));
    }

    fn go_on(&mut self, t: &StepInput<'_>, next: Next, at: usize) {
        self.lost(t, at);
        match next {
            Next::Top => {
                self.close_all(t, at);
                self.around.begin_line();
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
                self.doubt(at, "an item is outside of its list");
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
        // A separator that was expected before is not reported as missing.
        if let Some(PartialValue::Object(object)) = self.stack.last_mut() {
            object.last = None;
        }
        match self.separators() {
            Some(separators) => (separators.comma, separators.is_due) = (None, false),
            None => self.marks.set(at, SpanKind::Text),
        }
        self.at = at;
    }

    /// Closes the open objects and lists inside a position on the stack.
    fn close_to(&mut self, t: &StepInput<'_>, place: usize, at: usize) {
        while self.stack.len() > place + 1 {
            match self.stack.last() {
                Some(PartialValue::List(_)) => self.end_list(),
                _ => {
                    if let Some(object) = self.object() {
                        let why = (QuarantineReason::Malformed, "it is not closed".to_owned());
                        object.refused.get_or_insert(why);
                    }
                    self.end_object(t, at);
                }
            }
        }
    }
}

/// Returns true if a brace ends the document: the text, the line or the fence ends after it.
fn document_ends(bytes: &[u8], brace: usize) -> Option<bool> {
    let behind = blanks(bytes, brace + 1);
    match bytes.get(behind) {
        None => None,
        Some(b'`' | b'<') => Some(true),
        Some(_) => Some(bytes[brace..behind].contains(&b'\n')),
    }
}
