//! One unit or member value: read, repaired, judged, and kept or quarantined.

use super::search::{Gone, Search};
use super::skip::Skip;
use super::{Engine, Object, Open, Phase, Turn};
use crate::judge::{Judged, Refusal};
use crate::keep::item;
use crate::lex::{self, Stop};
use crate::repair::{Broken, Leads, Outcome, Repaired, repair};
use guard_plan::report::{Extent, Quarantined, Reason, SNIPPET, SpanKind};

/// The length of a unit's stored beginning, in bytes: enough for the characters of its snippet in
/// any encoding length.
pub(super) const HEAD: usize = 4 * (SNIPPET + 1);

/// The result of reading a value.
pub(super) enum Read {
    /// Valid JSON of this length.
    Strict(usize),
    Repaired(Repaired),
    Broken(Broken),
    /// Too long or too deeply nested to be parsed: the reason.
    Large(String),
    More,
}

impl Engine {
    /// The maximum length of a value, in bytes.
    pub(super) fn cap(&self) -> usize {
        usize::try_from(self.p.contract.bounds.bytes).unwrap_or(usize::MAX).clamp(1, 1 << 31)
    }

    /// Reads the value that begins here, as an item of a list or as a member.
    pub(super) fn read(&mut self, t: &Turn<'_>, at: usize, list: Option<usize>) -> Read {
        let rest = t.w.from(at);
        let cap = self.cap();
        let near = &rest[..rest.len().min(cap)];
        let end = t.w.end && rest.len() <= cap;
        let large = || format!("it is longer than {cap} bytes");
        let deep = || "it nests deeper than 128".to_owned();
        match self.tape.read(near) {
            Ok(len) => return Read::Strict(len),
            Err(Stop::Deep) => return Read::Large(deep()),
            Err(Stop::More) if rest.len() > cap => return Read::Large(large()),
            Err(Stop::More) if !end => return Read::More,
            Err(_) => {}
        }
        let list = list.map(|list| &self.p.lists[list]);
        let own = |name: &str| list.is_some_and(|list| list.own.has(name));
        let sure = |name: &str| list.is_some_and(|list| list.sure.has(name));
        match repair(near, end, &Leads { own: &own, sure: &sure }) {
            Outcome::Done(done) => Read::Repaired(done),
            Outcome::Broken(broken) => Read::Broken(broken),
            Outcome::Deep => Read::Large(deep()),
            Outcome::More if rest.len() > cap => Read::Large(large()),
            Outcome::More => Read::More,
        }
    }

    /// Reads the unit of the open list that begins here.
    pub(super) fn unit(&mut self, t: &Turn<'_>) -> bool {
        let Some(list) = self.listing().map(|listing| listing.list) else { return false };
        let start = self.at;
        let read = self.read(t, start, Some(list));
        let len = match &read {
            Read::More => return false,
            Read::Strict(len) => Some(*len),
            Read::Repaired(done) => Some(done.len),
            _ => None,
        };
        if let Some(len) = len {
            match self.swallowed(t, list, &read, start + len) {
                None => return false,
                Some(whole) if !whole.is_empty() => {
                    self.begin_unit();
                    let why = "it is not closed";
                    let broken = Broken { at: len, why, cut: false, suspect: len, whole };
                    self.broken(t, list, broken);
                    return true;
                }
                Some(_) => {}
            }
        }
        self.begin_unit();
        self.unit_read(t, list, read);
        true
    }

    /// Returns the items that a unit with unclosed brackets includes: the text after it then does
    /// not fit. `None` if that is not known yet.
    fn swallowed(
        &mut self,
        t: &Turn<'_>,
        list: usize,
        read: &Read,
        end: usize,
    ) -> Option<Vec<(usize, usize)>> {
        let rest = t.w.from(end);
        let next = rest.get(lex::blanks(rest, 0));
        if matches!(next, Some(b',' | b']' | b'{' | b'/')) {
            return Some(Vec::new());
        }
        let Read::Strict(len) = read else { return Some(Vec::new()) };
        let Ok(text) = str::from_utf8(t.w.part(end - len, end)) else { return Some(Vec::new()) };
        let sure = &self.p.lists[list].sure;
        let whole = self.tape.objects_led_by(text, |name| sure.has(name));
        if !whole.is_empty() && next.is_none() && !t.w.end {
            return None;
        }
        Some(whole)
    }

    /// Reads a separate item.
    pub(super) fn lone_unit(&mut self, t: &Turn<'_>, list: usize) -> bool {
        let start = self.at;
        let read = self.read(t, start, Some(list));
        if matches!(read, Read::More) {
            return false;
        }
        if let Read::Strict(len) = read
            && self.is_envelope(t.w.part(start, start + len))
        {
            // It begins like an item, and holds a list of the document.
            self.begin_object(start);
            return true;
        }
        if self.draft.is_empty() {
            self.draft.framed = true;
        }
        self.unit_read(t, list, read);
        true
    }

    fn is_envelope(&self, bytes: &[u8]) -> bool {
        let Ok(text) = str::from_utf8(bytes) else { return false };
        self.tape.members(0).any(|(key, value)| {
            self.tape.nodes[value].kind == crate::tape::Kind::Array
                && self.p.list_of(None, &self.tape.text(text, key)).is_some()
        })
    }

    /// Handles the result of reading a unit.
    fn unit_read(&mut self, t: &Turn<'_>, list: usize, read: Read) {
        let start = self.at;
        match read {
            Read::More => {}
            Read::Strict(len) => {
                let bytes = t.w.part(start, start + len);
                let result = t.judge.unit(list, &self.tape, bytes);
                self.settle(list, (start, start + len), result, bytes, true);
                self.at = start + len;
            }
            Read::Repaired(done) => {
                self.repaired_unit(t, list, start, &done);
                self.at = start + done.len;
            }
            Read::Broken(broken) => self.broken(t, list, broken),
            Read::Large(error) => {
                let index = self.next_index(list);
                let gone = Gone { list, index, start, reason: Reason::Bounds, error };
                self.marks.set(start, SpanKind::Quarantined);
                let back = std::mem::replace(&mut self.phase, Phase::Top);
                self.phase = Phase::Skip(Skip::new(start, Some(gone), back));
            }
        }
    }

    /// Judges a repaired unit from its start.
    fn repaired_unit(&mut self, t: &Turn<'_>, list: usize, start: usize, done: &Repaired) {
        let result = match self.tape.read(&done.text) {
            Ok(len) if len == done.text.len() => t.judge.unit(list, &self.tape, &done.text),
            _ => Err(Refusal { reason: Reason::Malformed, error: "it cannot be repaired".into() }),
        };
        self.draft.truncated |= done.cut;
        let result = result.map_err(|refusal| match refusal.reason {
            Reason::Schema if done.cut => Refusal {
                reason: Reason::Truncated,
                error: format!("the text ends within it: {}", refusal.error),
            },
            _ => refusal,
        });
        done.fixes.iter().for_each(|(fix, at)| self.fix(*fix, start + at));
        let raw = t.w.part(start, start + done.len);
        self.settle(list, (start, start + done.len), result, raw, false);
    }

    /// Keeps or quarantines a judged unit. `strict` is true if its parts stand in the text
    /// unchanged.
    fn settle(
        &mut self,
        list: usize,
        at: (usize, usize),
        result: Result<Judged, Refusal>,
        raw: &[u8],
        strict: bool,
    ) {
        let index = self.next_index(list);
        match result {
            Ok(judged) => {
                for inner in judged.refused {
                    let place = match strict {
                        true => (at.0 + inner.at.0, at.0 + inner.at.1),
                        false => at,
                    };
                    self.note(Quarantined {
                        list: self.p.lists[inner.list].name.clone(),
                        index: inner.index,
                        within: Some(index),
                        reason: inner.refusal.reason,
                        error: inner.refusal.error,
                        raw: inner.raw,
                        at: Extent { start: place.0 as u64, end: place.1 as u64 },
                    });
                }
                let mut item = item(index, at, judged.value);
                item.repaired = !strict;
                item.resynchronised = std::mem::take(&mut self.found_again);
                self.keep(list, judged.rank, item);
            }
            Err(refusal) => {
                self.found_again = false;
                self.quarantine(list, index, refusal, raw, at);
            }
        }
    }

    /// Handles a unit that cannot be parsed: extracts the well-formed items inside it, then
    /// searches for the next unit.
    pub(super) fn broken(&mut self, t: &Turn<'_>, list: usize, broken: Broken) {
        let start = self.at;
        let Broken { at, why, cut, suspect, whole } = broken;
        self.draft.truncated |= cut;
        let reason = if cut { Reason::Truncated } else { Reason::Malformed };
        let error = format!("{why}, at byte {}", start + at);
        let resynchronised = std::mem::take(&mut self.found_again);
        if !self.p.lists[list].nested.is_empty() && t.w.from(start).starts_with(b"{") {
            let index = self.next_index(list);
            let item = Some(list);
            let object = Object {
                item,
                index,
                start,
                attached: true,
                fresh: true,
                resynchronised,
                ..Object::default()
            };
            if self.p.lists[list].within.is_none() {
                self.marks.set(start, SpanKind::Quarantined);
            }
            self.stack.push(Open::Object(Box::new(object)));
            (self.at, self.phase) = (start + 1, Phase::Members);
            return;
        }
        let index = self.next_index(list);
        let gone = Gone { list, index, start, reason, error };
        if whole.is_empty() {
            self.marks.set(start, SpanKind::Quarantined);
            self.look_from(start + suspect.max(1), start, Some(gone));
            self.look_behind(t, start);
            return;
        }
        let first = start + whole[0].0;
        let raw = t.w.part(start, first);
        let Gone { reason, error, .. } = gone;
        self.quarantine(list, index, Refusal { reason, error }, raw, (start, first));
        let mut end = first;
        for (from, to) in whole {
            self.piece(t, list, (start + from, start + to));
            end = start + to;
        }
        self.found_again = true;
        self.look_from(end.max(start + suspect), end, None);
    }

    /// Reads a unit found inside a broken one.
    fn piece(&mut self, t: &Turn<'_>, list: usize, at: (usize, usize)) {
        let bytes = t.w.part(at.0, at.1);
        self.found_again = true;
        match self.tape.read(bytes) {
            Ok(len) if len == bytes.len() => {
                let result = t.judge.unit(list, &self.tape, bytes);
                self.settle(list, at, result, bytes, true);
            }
            _ => {
                let no = |_: &str| false;
                match repair(bytes, true, &Leads { own: &no, sure: &no }) {
                    Outcome::Done(done) if done.len == bytes.len() => {
                        self.repaired_unit(t, list, at.0, &done);
                    }
                    _ => {
                        let error = "it cannot be read".to_owned();
                        let refusal = Refusal { reason: Reason::Malformed, error };
                        self.settle(list, at, Err(refusal), bytes, true);
                    }
                }
            }
        }
        self.marks.set(at.1, SpanKind::Quarantined);
    }

    /// Starts a search for the next position where reading can continue.
    pub(super) fn look_from(&mut self, from: usize, start: usize, gone: Option<Gone>) {
        self.phase = Phase::Search(Search::new(from, start, gone));
    }

    /// Takes the byte directly before the start of a search into account.
    fn look_behind(&mut self, t: &Turn<'_>, start: usize) {
        if let Phase::Search(search) = &mut self.phase {
            search.behind(t.w.from(start).first().copied(), start);
        }
    }
}
