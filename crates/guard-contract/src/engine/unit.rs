//! One unit or member value: read, repaired, judged, and kept or quarantined.

use super::search::{EngineSearch, Gone};
use super::skip::Skip;
use super::{ContractEngine, Object, PartialValue, Phase, StepInput};
use crate::judge::ValidUnit;
use crate::keep::Refusal;
use crate::keep::item;
use crate::lex::{self, LexStop};
use crate::nest::Nest;
use crate::repair::{Irreparable, Leads, RepairOutcome, Repaired, place, repair};
use guard_plan::report::{Extent, Fix, QuarantineReason, Quarantined, SpanKind};

/// The doubt about a comment that may hide a part of the document.
pub(super) const HIDES: &str = "a comment holds what may belong to the document";

/// The result of reading a value.
pub(super) enum UnitReading {
    /// Valid JSON of this length.
    Strict(usize),
    Repaired(Repaired),
    Broken(Irreparable),
    /// Too long or too deeply nested to be parsed: the reason, and the length that was read.
    Large(String, usize),
    More,
}

impl ContractEngine {
    /// The maximum length of a value, in bytes.
    pub(super) fn cap(&self) -> usize {
        usize::try_from(self.p.contract.bounds.bytes).unwrap_or(usize::MAX).clamp(1, 1 << 31)
    }

    /// Reads the value that begins here, as an item of a list or as a member.
    pub(super) fn read(
        &mut self,
        t: &StepInput<'_>,
        at: usize,
        list: Option<usize>,
    ) -> UnitReading {
        let rest = t.w.from(at);
        let cap = self.cap();
        let near = &rest[..rest.len().min(cap)];
        let end = t.w.end && rest.len() <= cap;
        let large = || format!("it is longer than {cap} bytes");
        let deep = || "it nests deeper than 128".to_owned();
        match self.tape.read(near) {
            Ok(len) => return UnitReading::Strict(len),
            Err(LexStop::Deep(at)) => return UnitReading::Large(deep(), at),
            Err(LexStop::More) if rest.len() > cap => return UnitReading::Large(large(), cap),
            Err(LexStop::More) if !end => return UnitReading::More,
            Err(_) => {}
        }
        let list = list.map(|list| &self.p.lists[list]);
        let own = |name: &str| list.is_some_and(|list| list.own.has(name));
        let sure = |name: &str| list.is_some_and(|list| list.sure.has(name));
        let partial = list.is_some_and(|list| list.partial);
        match repair(near, end, &Leads { own: &own, sure: &sure, partial }) {
            RepairOutcome::Done(done) => UnitReading::Repaired(done),
            RepairOutcome::Broken(broken) => UnitReading::Broken(broken),
            RepairOutcome::Deep(at) => UnitReading::Large(deep(), at),
            RepairOutcome::More if rest.len() > cap => UnitReading::Large(large(), cap),
            RepairOutcome::More => UnitReading::More,
        }
    }

    /// Reads the unit of the open list that begins here.
    pub(super) fn unit(&mut self, t: &StepInput<'_>) -> bool {
        let Some(list) = self.listing().map(|listing| listing.list) else { return false };
        let start = self.at;
        let read = self.read(t, start, Some(list));
        if matches!(read, UnitReading::More) {
            return false;
        }
        if let UnitReading::Strict(len) = read
            && self.holds_items(list, t.w.part(start, start + len))
            && t.judge.unit(list, &self.tape, t.w.part(start, start + len)).is_err()
        {
            // A missing bracket may make the unit include the text after it.
            let rest = t.w.from(start + len);
            match rest.get(lex::blanks(rest, 0)) {
                None if !t.w.end => return false,
                Some(b',' | b']' | b'{' | b'/') => {}
                _ => {
                    self.begin_unit(t.w.from(start).first() == Some(&b'{'));
                    let why = "it is not closed";
                    self.broken(t, list, Irreparable { at: len, why, ..Irreparable::default() });
                    return true;
                }
            }
        }
        self.begin_unit(t.w.from(start).first() == Some(&b'{'));
        self.unit_read(t, list, read);
        true
    }

    /// Returns true if the value on the tape contains objects that begin like items of a list.
    fn holds_items(&self, list: usize, bytes: &[u8]) -> bool {
        let own = |name: &str| self.p.lists[list].own.has(name);
        let text = str::from_utf8(bytes);
        text.is_ok_and(|text| self.tape.holds_object_led_by(text, own))
    }

    /// Reads a separate item.
    pub(super) fn lone_unit(&mut self, t: &StepInput<'_>, list: usize) -> bool {
        let start = self.at;
        let read = self.read(t, start, Some(list));
        if matches!(read, UnitReading::More) {
            return false;
        }
        if let UnitReading::Strict(len) = read
            && self.is_envelope(t.w.part(start, start + len))
        {
            // The unit begins like an item, and contains a list of the document.
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
            self.tape.nodes[value].kind == crate::tape::TapeNodeKind::Array
                && self.p.list_of(None, &self.tape.text(text, key)).is_some()
        })
    }

    /// Handles the result of reading a unit.
    fn unit_read(&mut self, t: &StepInput<'_>, list: usize, read: UnitReading) {
        let start = self.at;
        match read {
            UnitReading::More => {}
            UnitReading::Strict(len) => {
                let bytes = t.w.part(start, start + len);
                let result = t.judge.unit(list, &self.tape, bytes);
                self.settle(list, (start, start + len), result, bytes, None);
                self.at = start + len;
            }
            UnitReading::Repaired(done) => {
                self.repaired_unit(t, list, start, &done);
                self.at = start + done.len;
            }
            UnitReading::Broken(broken) => self.broken(t, list, broken),
            UnitReading::Large(error, _) => {
                let index = self.next_index(list);
                let gone = Gone { list, index, start, reason: QuarantineReason::Bounds, error };
                self.marks.set(start, SpanKind::Quarantined);
                let back = std::mem::replace(&mut self.phase, Phase::Top);
                self.phase = Phase::Skip(Skip::new(start, Some(gone), back));
            }
        }
    }

    /// Judges a repaired unit from its start.
    fn repaired_unit(&mut self, t: &StepInput<'_>, list: usize, start: usize, done: &Repaired) {
        let result = match self.tape.read(&done.text) {
            Ok(len) if len == done.text.len() => t.judge.unit(list, &self.tape, &done.text),
            _ => Err(Refusal {
                reason: QuarantineReason::Malformed,
                error: "it cannot be repaired".into(),
            }),
        };
        self.draft.truncated |= done.cut;
        if done.hides {
            self.doubt(start, HIDES);
        }
        let result = result.map_err(|refusal| match refusal.reason {
            QuarantineReason::Schema if done.cut => Refusal {
                reason: QuarantineReason::Truncated,
                error: format!("the text ends within it: {}", refusal.error),
            },
            _ => refusal,
        });
        done.fixes.iter().for_each(|(fix, at)| self.fix(*fix, start + at));
        let raw = t.w.part(start, start + done.len);
        self.settle(list, (start, start + done.len), result, raw, Some(done));
    }

    /// Keeps or quarantines a judged unit. If it is not repaired, its parts are in the text
    /// unchanged.
    fn settle(
        &mut self,
        list: usize,
        at: (usize, usize),
        result: Result<ValidUnit, Refusal>,
        raw: &[u8],
        repaired: Option<&Repaired>,
    ) {
        let index = self.next_index(list);
        match result {
            Ok(judged) => {
                for inner in judged.refused {
                    let place = match repaired {
                        None => (at.0 + inner.at.0, at.0 + inner.at.1),
                        Some(_) => at,
                    };
                    self.note(Quarantined {
                        list: self.p.lists[inner.list].name.clone(),
                        index: inner.index,
                        within: Some(index),
                        reason: inner.refusal.reason,
                        error: inner.refusal.error,
                        raw: inner.raw,
                        at: Extent { start: place.0 as u64, end: place.1 as u64 },
                        place: None,
                    });
                }
                for spot in &judged.coerced {
                    let spot = repaired.map_or(*spot, |done| place(&done.places, *spot));
                    self.fix(Fix::Coercion, at.0 + spot);
                }
                let mut item = item(index, at, judged.value);
                item.repaired = repaired.is_some() || !judged.coerced.is_empty();
                item.resynchronised = self.found_again;
                self.keep(list, judged.rank, item);
            }
            Err(refusal) => self.quarantine(list, index, located(refusal, raw, at.0), raw, at),
        }
    }

    /// Handles a unit that cannot be parsed: searches for the next unit. Nothing inside it counts.
    pub(super) fn broken(&mut self, t: &StepInput<'_>, list: usize, broken: Irreparable) {
        let start = self.at;
        let Irreparable { at, why, cut, suspect, nest, next } = broken;
        self.draft.truncated |= cut;
        let reason = if cut { QuarantineReason::Truncated } else { QuarantineReason::Malformed };
        let error = format!("{why}, at byte {}", start + at);
        let resynchronised = self.found_again;
        if !self.p.lists[list].nested.is_empty() && t.w.from(start).starts_with(b"{") {
            let index = self.next_index(list);
            let item = Some(list);
            let object =
                Object { item, index, start, attached: true, resynchronised, ..Object::default() };
            if self.p.lists[list].within.is_none() {
                self.marks.set(start, SpanKind::Quarantined);
            }
            self.stack.push(PartialValue::Object(Box::new(object)));
            (self.at, self.phase) = (start + 1, Phase::Members);
            return;
        }
        let index = self.next_index(list);
        if let Some(next) = next.and_then(|(next, closed)| {
            let read = self.tape.read(&closed) == Ok(closed.len());
            (read && t.judge.unit(list, &self.tape, &closed).is_ok()).then_some(next)
        }) {
            // The text before the next item is an item itself without its brace, so the next item
            // is not the rest of it.
            let raw = t.w.part(start, start + next);
            let at = (start, start + next);
            self.quarantine(list, index, Refusal { reason, error }, raw, at);
            self.found_again = true;
            if let Some(listing) = self.listing() {
                listing.separators.is_due = false;
            }
            self.at = start + next;
            return;
        }
        self.marks.set(start, SpanKind::Quarantined);
        let gone = Gone { list, index, start, reason, error };
        self.look_into(t, start, (suspect, nest), start, Some(gone));
    }

    /// Starts a search after a token of an unreadable value, with the brackets that are open at
    /// that token.
    pub(super) fn look_into(
        &mut self,
        t: &StepInput<'_>,
        value: usize,
        (suspect, mut nest): (usize, Nest),
        start: usize,
        gone: Option<Gone>,
    ) {
        let rest = t.w.from(value);
        let first = rest.first().copied();
        let next = rest.get(lex::blanks(rest, 1));
        match (suspect, first) {
            (0, Some(b'{')) if !matches!(next, Some(b',' | b':' | b'{' | b'[')) => nest.open(true),
            (0, Some(b'[')) if !matches!(next, Some(b',' | b':' | b'}')) => nest.open(false),
            _ => {}
        }
        let mut search = EngineSearch::new(value + suspect.max(1), start, gone, nest);
        search.behind(first.filter(|_| suspect == 0));
        self.phase = Phase::Search(search);
    }
}

/// Returns a refusal whose offset counts from the beginning of the text.
pub(super) fn located(mut refusal: Refusal, raw: &[u8], start: usize) -> Refusal {
    if refusal.reason == QuarantineReason::Malformed
        && let Err(error) = str::from_utf8(raw)
    {
        refusal.error = format!("invalid UTF-8 at byte {}", start + error.valid_up_to());
    }
    refusal
}
