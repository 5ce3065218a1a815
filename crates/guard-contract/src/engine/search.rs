//! The search after unreadable text for the next position where an item, a list or a document can
//! begin, or a list can end.
//!
//! Content of the lost unit is not found. A position counts only where everything that the unit
//! opened is closed again, or where a line begins at the indentation of the units before. A quote
//! may be missing, so the open brackets are tracked twice: as if the search began inside a string,
//! and outside. In one of the two, every position is outside of strings.

mod resumption;

use super::{ContractEngine, PartialValue, Phase, StepInput};
use crate::keep::Refusal;
use crate::lex::blanks;
use crate::nest::Nest;
use guard_plan::report::{QuarantineReason, SNIPPET, SpanKind};
use resumption::{Next, PositionClass};

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

    /// Returns the position up to which everything is decided.
    pub fn reached(&self) -> usize {
        self.from
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
            let counts = match (found, byte) {
                (PositionClass::Nothing, b'{' | b'[' | b'}' | b']') => self.counts(t, bytes, i),
                (PositionClass::Nothing, _) => Some(true),
                (PositionClass::More, _) => None,
                (PositionClass::Here(next), _) => {
                    self.go_on(t, next, from + i);
                    return true;
                }
            };
            let Some(counts) = counts else {
                self.wait();
                return false;
            };
            let Phase::Search(search) = &mut self.phase else { return false };
            search.pass(*byte, counts);
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
    /// counts if more of the same may follow. `None` if more text is needed.
    fn counts(&self, t: &StepInput<'_>, bytes: &[u8], at: usize) -> Option<bool> {
        let Phase::Search(search) = &self.phase else { return Some(true) };
        let next = blanks(bytes, at + 1);
        let Some(byte) = bytes.get(next) else {
            return t.w.end.then_some(true);
        };
        let mut open = search.here();
        match bytes[at] {
            b'{' => return Some(!matches!(byte, b',' | b':' | b'{' | b'[' | b']')),
            b'[' => return Some(!matches!(byte, b',' | b':' | b'}')),
            bracket => open.close(bracket == b'}', search.nested()),
        }
        if open.depth > 0 {
            return Some(matches!(byte, b',' | b'}' | b']'));
        }
        // The value that ends here is on the stack around the search, or is the unit itself.
        let around = self.stack.len() as i32 - 1 + open.depth;
        let list = match usize::try_from(around).ok().and_then(|at| self.stack.get(at)) {
            Some(PartialValue::List(_)) => true,
            Some(PartialValue::Object(_)) => false,
            None => return Some(false),
        };
        let comma = *byte == b',';
        let first = bytes.get(blanks(bytes, next + 1));
        match (list, comma) {
            (_, true) if first.is_none() && !t.w.end => None,
            (true, true) => Some(first == Some(&b'{')),
            (true, false) => Some(*byte == b']'),
            (false, true) => Some(first == Some(&b'"')),
            (false, false) => Some(*byte == b'}'),
        }
    }

    fn wait(&mut self) {
        if let Phase::Search(search) = &self.phase {
            self.at = search.hold();
        }
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
