//! The value of a member, of an envelope or of an item read member by member: accepted or lost.

use super::skip::Skip;
use super::unit::{HIDES, UnitReading, located};
use super::{ContractEngine, PartialValue, Phase, StepInput};
use crate::coerce::MemberPlaces;
use crate::keep::Refusal;
use crate::lex;
use crate::nest::Nest;
use crate::repair::{Irreparable, Repaired, place};
use guard_plan::report::{Fix, QuarantineReason};

impl ContractEngine {
    /// Returns the reading if the text after a member's value shows that the value has ended;
    /// `None` if that is not known yet.
    fn delimited(&self, t: &StepInput<'_>, start: usize, read: UnitReading) -> Option<UnitReading> {
        let len = match &read {
            UnitReading::Strict(len) => *len,
            UnitReading::Repaired(done) => done.len,
            _ => return Some(read),
        };
        let rest = t.w.from(start);
        let next = lex::blanks(rest, len);
        let line = rest[len..next].contains(&b'\n');
        let first = rest.first().copied().unwrap_or_default();
        let string = matches!(first, b'"' | b'\'' | b'`' | 0x80..);
        let number = matches!(first, b'-' | b'0'..=b'9');
        let ended = match rest.get(next) {
            None if !t.w.end => return None,
            Some(b'/') if rest.len() < next + 2 && !t.w.end => return None,
            None => !number,
            Some(b',' | b'}') => true,
            Some(b'/') => matches!(rest.get(next + 1), Some(b'/' | b'*')),
            // A comma is missing, so digits of a number could be missing, too.
            Some(b'"' | b'\'') => line && !number,
            Some(byte) => {
                line && !number
                    && (byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'`' | 0x80..))
            }
        };
        if ended {
            return Some(read);
        }
        let why = "it is unclear where its value ends";
        let cut = rest.len() == next;
        let suspect = if string { 0 } else { len };
        Some(UnitReading::Broken(Irreparable {
            at: next,
            why,
            cut,
            suspect,
            ..Irreparable::default()
        }))
    }

    /// Handles the result of reading a member's value.
    pub(super) fn member_read(
        &mut self,
        t: &StepInput<'_>,
        name: Box<str>,
        key: usize,
        field: Option<usize>,
        twice: bool,
        read: UnitReading,
    ) -> bool {
        let start = self.at;
        let read = match self.delimited(t, start, read) {
            Some(read) => read,
            None => return false,
        };
        let (len, repaired) = match read {
            UnitReading::More => return false,
            UnitReading::Strict(len) => (len, None),
            UnitReading::Repaired(done) => (done.len, Some(done)),
            UnitReading::Broken(broken) => {
                let reason = if broken.cut {
                    QuarantineReason::Truncated
                } else {
                    QuarantineReason::Malformed
                };
                let error = format!("{}, at byte {}", broken.why, start + broken.at);
                self.cut |= broken.cut;
                self.lose_member(&name, reason, error, field);
                self.look_into(t, start, (broken.suspect, broken.nest), key, None);
                return true;
            }
            UnitReading::Large(error, _) => {
                if let Some(object) = self.object() {
                    object.related = true;
                }
                self.lose_member(&name, QuarantineReason::Bounds, error, field);
                self.phase = Phase::Skip(Skip::new(start, None, Phase::Members));
                return true;
            }
        };
        if let Some(done) = &repaired {
            if !matches!(self.tape.read(&done.text), Ok(len) if len == done.text.len()) {
                let error = "it cannot be repaired".to_owned();
                self.lose_member(&name, QuarantineReason::Malformed, error, field);
                self.at = start + len;
                return true;
            }
            self.cut |= done.cut;
            if done.hides {
                self.doubt(start, HIDES);
            }
            done.fixes.iter().for_each(|(fix, at)| self.fix(*fix, start + at));
        }
        let bytes = match &repaired {
            Some(done) => &done.text,
            None => t.w.part(start, start + len),
        };
        self.at = start + len;
        if let Some(object) = self.object() {
            object.last = (bytes.first() == Some(&b'"')).then_some(start);
        }
        if twice {
            self.lose_member(&name, QuarantineReason::Malformed, "it occurs twice".into(), field);
            return true;
        }
        self.take_member(t, name, field, (start, bytes), repaired.as_ref());
        true
    }

    /// Accepts a member whose value is on the tape.
    fn take_member(
        &mut self,
        t: &StepInput<'_>,
        name: Box<str>,
        field: Option<usize>,
        (start, bytes): (usize, &[u8]),
        repaired: Option<&Repaired>,
    ) {
        let within = self.object().and_then(|object| object.item);
        if within.is_some_and(|list| !self.p.lists[list].own.has(&name)) {
            let error = "is not a member of an item".to_owned();
            return self.lose_member(&name, QuarantineReason::Schema, error, None);
        }
        let value = match (within, field) {
            (Some(list), _) => {
                let read = t.judge.plain(list, &self.tape, bytes);
                Some(read.map(|value| (value, Vec::new())))
            }
            (None, Some(field)) => Some(t.judge.member(field, &self.tape, bytes)),
            (None, None) => None,
        };
        match value {
            None => {
                let holds = |text| self.tape.holds_key(text, |name| self.is_declared(name));
                let related = str::from_utf8(bytes).is_ok_and(holds);
                if let Some(object) = self.object() {
                    object.related |= related;
                }
                let error = t.judge.unknown_member(&name);
                self.lose_member(&name, QuarantineReason::Schema, error, None);
            }
            Some(Err(refusal)) => {
                let Refusal { reason, error } = match repaired {
                    Some(_) => refusal,
                    None => located(refusal, bytes, start),
                };
                self.lose_member(&name, reason, error, field);
            }
            Some(Ok((value, coerced))) => {
                let placed = |spot| repaired.map_or(spot, |done| place(&done.places, spot));
                coerced.into_iter().for_each(|spot| self.fix(Fix::Coercion, start + placed(spot)));
                let tape = (within.is_some() && !self.p.coercions.is_empty())
                    .then(|| self.tape.moved(placed));
                let Some(object) = self.object() else { return };
                object.key = None;
                object.latest = field;
                object.repaired |= repaired.is_some();
                object.saw(&name);
                match field {
                    _ if within.is_some() => {
                        let nth = object.values.len();
                        object.places.extend(tape.map(|tape| MemberPlaces { nth, start, tape }));
                        object.values.push((name, value));
                    }
                    Some(field) => {
                        object.known += 1;
                        object.members.push((field, value));
                    }
                    None => {}
                }
                self.flush_late();
            }
        }
    }

    /// Drops an invalid member of the open object. An envelope loses only the member; an item is
    /// lost with its member.
    fn lose_member(
        &mut self,
        name: &str,
        reason: QuarantineReason,
        error: String,
        field: Option<usize>,
    ) {
        let p = self.p.clone();
        let Some(object) = self.object() else { return };
        object.key = None;
        // Unknown names are not stored: their number is unbounded.
        if field.is_some() || object.item.is_some_and(|list| p.lists[list].own.has(name)) {
            object.saw(name);
        }
        object.known += usize::from(field.is_some());
        if let Some(field) = field {
            object.members.retain(|(at, _)| *at != field);
        }
        if object.item.is_some() {
            object.refused.get_or_insert((reason, format!("`{name}`: {error}")));
        } else {
            if let Some(field) = field {
                self.draft_forget(field);
            }
            self.problem(name, reason, error);
            self.flush_late();
        }
    }

    /// Drops the envelope's last accepted member: the text after it shows that its value has not
    /// ended there.
    pub(super) fn forget_latest(&mut self) {
        let Some(field) = self.object().and_then(|object| object.latest.take()) else { return };
        let name = self.p.fields[field].name.clone();
        if let Some(object) = self.object() {
            object.members.retain(|(at, _)| *at != field);
        }
        self.draft_forget(field);
        self.problem(&name, QuarantineReason::Malformed, "it is unclear where its value ends");
    }

    /// Drops a member that occurs twice: neither occurrence is valid.
    fn draft_forget(&mut self, field: usize) {
        if let Some(PartialValue::Object(object)) = self.stack.first()
            && object.attached
        {
            self.draft.members[field] = None;
        }
    }

    /// Skips the rest of the open object, and searches for the next position where reading can
    /// continue.
    pub(super) fn lose_members(&mut self, t: &StepInput<'_>, why: &str) -> bool {
        let start = self.at;
        self.forget_latest();
        let error = format!("{why}, at byte {start}");
        let last = self.object().and_then(|object| object.last.take());
        let from = last.filter(|last| self.is_near(*last)).unwrap_or(start);
        let Some(object) = self.object() else { return false };
        object.key = None;
        if object.item.is_some() {
            object.refused.get_or_insert((QuarantineReason::Malformed, error));
        } else {
            self.problem("", QuarantineReason::Malformed, error);
        }
        self.look_into(t, from, (0, Nest::default()), start, None);
        true
    }
}
