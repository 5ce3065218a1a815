//! Reading of the members of an object. An envelope is always read member by member; an item only
//! if it holds lists and cannot be parsed as a whole.

use super::unit::HIDES;
use super::{ContractEngine, Listing, Object, PartialValue, Phase, Separators, StepInput};
use crate::boundary::{self, LONGEST_NAME, Lead};
use crate::gap::{NoGap, gap, hides};
use crate::keep::Refusal;
use crate::keep::{KeptUnits, item};
use crate::lex::{self, LexStop};
use guard_plan::json::Json;
use guard_plan::report::{Fix, QuarantineReason, SpanKind};

/// The distance after the envelope's brace within which more of the document is searched for, in
/// bytes.
const TAIL: usize = 256;

/// A key with its colon.
pub(super) enum MemberKey {
    /// The name, the length with the colon, and the repair of the key.
    Named(Box<str>, usize, Option<Fix>),
    None,
    More,
}

impl ContractEngine {
    /// Skips a gap; returns false if its end is not known yet. `Err` for an invalid comment.
    pub(super) fn over_gap(&mut self, t: &StepInput<'_>) -> Result<bool, ()> {
        let mut fixes = Vec::new();
        let bytes = t.w.from(self.at);
        let found = gap(bytes, 0, |fix, at| fixes.push((fix, at)));
        for (fix, at) in fixes {
            self.fix(fix, self.at + at);
            if fix == Fix::Comment && hides(bytes, at) {
                self.doubt(self.at + at, HIDES);
            }
        }
        match found {
            Ok(found) => {
                self.go_over(t, found.end);
                Ok(true)
            }
            Err(NoGap::Bad(comment)) => {
                self.go_over(t, comment);
                Err(())
            }
            Err(NoGap::More(pending)) => {
                // The text before the gap is already consumed.
                self.go_over(t, pending);
                if t.w.end {
                    self.cut(t, t.w.stop());
                }
                Ok(false)
            }
        }
    }

    /// Skips a gap of this length, and records the indentation after it.
    fn go_over(&mut self, t: &StepInput<'_>, len: usize) {
        let gap = t.w.part(self.at, self.at + len);
        let column = match memchr::memrchr(b'\n', gap) {
            Some(at) => Some(len - at - 1),
            None => self.column().map(|column| column + len),
        };
        self.at += len;
        self.line = (column, self.at);
    }

    /// Returns the indentation of the current line, if it is empty so far.
    pub(super) fn column(&self) -> Option<usize> {
        self.line.0.filter(|_| self.line.1 == self.at)
    }

    pub(super) fn members(&mut self, t: &StepInput<'_>) -> bool {
        match self.over_gap(t) {
            Ok(true) => {}
            Ok(false) => return self.stack.is_empty() && t.w.end,
            Err(()) => return self.lose_members(t, "a comment that does not end"),
        }
        let Some(byte) = t.w.from(self.at).first().copied() else {
            if t.w.end {
                if let Some((key, _)) = self.object().and_then(|object| object.key.take()) {
                    self.problem(
                        &key,
                        QuarantineReason::Truncated,
                        "the text ends before its value",
                    );
                }
                self.cut(t, self.at);
            }
            return t.w.end;
        };
        if self.object().is_some_and(|object| object.key.is_some()) {
            return self.member_value(t, byte);
        }
        match byte {
            b',' => {
                self.read_comma();
                true
            }
            b'}' => {
                if self.stack.len() == 1 {
                    match self.document_ends(t) {
                        None => return false,
                        Some(false) => {
                            // The brace is superfluous: members of the envelope follow.
                            self.fix(Fix::Closer, self.at);
                            self.at += 1;
                            return true;
                        }
                        Some(true) => {}
                    }
                }
                self.trailing_comma();
                self.at += 1;
                self.end_object(t, self.at);
                true
            }
            b']' => {
                self.fix(Fix::Closer, self.at);
                match self.stack.len() {
                    // The bracket closes nothing.
                    1 => {
                        self.reject("a bracket too many follows");
                        self.forget_latest();
                        self.at += 1;
                    }
                    _ => {
                        self.refuse("its brace is missing");
                        self.end_object(t, self.at);
                    }
                }
                true
            }
            b'{' => self.lost_list(t),
            b'`' if t.w.from(self.at).starts_with(b"```") => {
                self.close_all(t, self.at);
                true
            }
            b'`' if t.w.from(self.at).len() < 3 && !t.w.end => false,
            _ => self.member_key(t),
        }
    }

    /// Refuses the open item.
    pub(super) fn refuse(&mut self, why: &str) {
        let error = format!("{why}, at byte {}", self.at);
        if let Some(object) = self.object()
            && object.item.is_some()
        {
            object.refused.get_or_insert((QuarantineReason::Malformed, error));
        }
    }

    /// Examines the text after the envelope's brace. A comma or another bracket shows that the
    /// document continues, so that the brace would move members. Returns false if another member of
    /// the envelope follows, and none if more text is needed.
    pub(super) fn document_ends(&mut self, t: &StepInput<'_>) -> Option<bool> {
        let rest = t.w.from(self.at);
        let near = &rest[1..rest.len().min(1 + TAIL)];
        let next = lex::blanks(near, 0);
        if next == near.len() && near.len() < TAIL && !t.w.end {
            return None;
        }
        let quote = match near.get(next) {
            Some(b',') => lex::blanks(rest, 1 + next + 1),
            _ => 1 + next,
        };
        let member = match rest.get(quote) {
            None if !t.w.end => return None,
            Some(b'"') => match boundary::key(rest, quote) {
                Err(()) if !t.w.end => return None,
                Ok(Some((name, _))) => self.p.envelope.has(&name),
                _ => false,
            },
            _ => false,
        };
        let wrapped = self.around.wrapped > 0;
        let goes_on = match near.get(next) {
            Some(b',' | b']') => !wrapped,
            Some(b'}' | b':' | b'"') => true,
            Some(byte) => {
                next == 0 && (byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
            }
            None => false,
        };
        // One extra bracket at the end of the text moves nothing.
        if let (true, Some(b'}' | b']')) = (goes_on, near.get(next)) {
            let end = lex::blanks(near, next + 1);
            if end == near.len() && near.len() < TAIL && !t.w.end {
                return None;
            }
            if end == near.len() && t.w.end && 1 + near.len() == rest.len() {
                self.confirm();
                self.doubt(self.at, "a bracket too many follows the document");
                return Some(true);
            }
        }
        if goes_on {
            self.reject("the document continues after its brace");
            self.forget_latest();
            self.doubt(self.at, "the document continues after its brace");
        }
        Some(!member)
    }

    /// Handles an item in place of a key: its list was closed too soon, or its beginning was lost.
    fn lost_list(&mut self, t: &StepInput<'_>) -> bool {
        let within = self.object().and_then(|object| object.item);
        match boundary::lead(t.w.from(self.at), 0) {
            Lead::More if !t.w.end => false,
            Lead::Key(name) if within.is_none() => {
                let list = self.p.top.iter().copied().find(|list| {
                    let seen = |object: &Object| {
                        object.seen.contains(&self.p.lists[*list].member[..].into())
                    };
                    let closed =
                        matches!(self.stack.last(), Some(PartialValue::Object(object)) if seen(object));
                    self.p.lists[*list].own.has(&name) && (closed || !self.p.roomy)
                });
                match list {
                    Some(list) => {
                        self.confirm();
                        self.doubt(self.at, "an item is outside of its list");
                        self.found_again = true;
                        self.open_list(list, self.at);
                        true
                    }
                    None => self.lose_members(t, "expected a key"),
                }
            }
            _ => self.lose_members(t, "expected a key"),
        }
    }

    /// Reads a key at this position.
    pub(super) fn read_key(&self, t: &StepInput<'_>, at: usize) -> MemberKey {
        let rest = t.w.from(at);
        let near = &rest[..rest.len().min(2 * LONGEST_NAME)];
        let more = |all: bool| if all || t.w.end { MemberKey::None } else { MemberKey::More };
        if near.first() != Some(&b'"') {
            return match boundary::loose_key(rest, 0) {
                Ok(Some((name, len))) => {
                    let quoted = matches!(rest[0], b'\'' | b'`' | 0x80..);
                    let fix = if quoted { Fix::Quotes } else { Fix::Key };
                    MemberKey::Named(name.into(), len, Some(fix))
                }
                Ok(None) => MemberKey::None,
                Err(()) => more(false),
            };
        }
        let end = match lex::string(near, 0) {
            Ok((end, _)) => end,
            Err(LexStop::More) => return more(near.len() < rest.len()),
            Err(_) => return MemberKey::None,
        };
        let colon = lex::blanks(rest, end);
        // A text that may end within the key is undecided until more text follows.
        let Some(follows) = rest.get(colon) else { return more(false) };
        let Ok(name) = str::from_utf8(&near[1..end - 1]) else { return MemberKey::None };
        let name = lex::unescape(name).into();
        match follows {
            b':' => MemberKey::Named(name, colon + 1, None),
            b'[' | b'{' => MemberKey::Named(name, colon, Some(Fix::Colon)),
            _ => MemberKey::None,
        }
    }

    /// Returns true if the contract has such a name.
    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.p.envelope.has(name) || self.p.declared.has(name)
    }

    fn member_key(&mut self, t: &StepInput<'_>) -> bool {
        let start = self.at;
        match self.read_key(t, start) {
            MemberKey::More => return false,
            MemberKey::None if t.w.end && self.ends_in_key(t) => {
                self.problem("", QuarantineReason::Truncated, "the text ends within a key");
                self.cut(t, t.w.stop());
            }
            MemberKey::None => {
                // A string that is followed by another string has ended.
                if let Some(object) =
                    self.object().filter(|_| t.w.from(start).first() == Some(&b'"'))
                {
                    object.last = None;
                }
                return self.lose_members(t, "expected a key");
            }
            MemberKey::Named(name, len, fix) => {
                if self.begin_part() {
                    self.refuse("a comma is missing");
                }
                let related = self.is_declared(&name);
                let Some(object) = self.object() else { return false };
                object.related |= related;
                (object.last, object.latest) = (None, None);
                object.key = Some((name.clone(), start));
                self.key_behind_item(&name);
                if let Some(fix) = fix {
                    self.fix(fix, start);
                }
                self.at += len;
            }
        }
        true
    }

    /// Handles a member of the envelope after an item. It shows that the list has ended, unless it
    /// is also a member of an item: then the item was closed too soon.
    fn key_behind_item(&mut self, name: &str) {
        if self.stack.len() != 1 {
            return;
        }
        // The end of the document may still show that the item was not closed.
        if self.may_continue(name) && !self.p.envelope.has(name) {
            self.reject("a member of it follows its brace");
        }
    }

    /// Returns true if the text ends within the key that begins here, or before its value.
    fn ends_in_key(&self, t: &StepInput<'_>) -> bool {
        let rest = t.w.from(self.at);
        match lex::string(rest, 0) {
            _ if rest.first() != Some(&b'"') || rest.len() > LONGEST_NAME => false,
            Ok((end, _)) => lex::blanks(rest, end) == rest.len(),
            Err(stop) => stop == LexStop::More,
        }
    }

    /// Reads the value of the member whose key was read.
    fn member_value(&mut self, t: &StepInput<'_>, byte: u8) -> bool {
        let Some(object) = self.object() else { return false };
        let Some((name, key)) = object.key.clone() else { return false };
        let within = object.item;
        let twice = object.seen.contains(&name);
        let list = self.p.list_of(within, &name);
        let field = match within {
            None => self.p.fields.iter().position(|field| *field.name == *name),
            Some(_) => None,
        };
        if let Some(list) = list.filter(|_| byte == b'[') {
            if let Some(object) = self.object() {
                object.key = None;
                object.known += 1;
                object.saw(&name);
            }
            if twice && within.is_none() {
                self.problem(&name, QuarantineReason::Malformed, "it occurs twice");
            } else if twice {
                self.refuse("a list within it occurs twice");
            }
            self.open_list(list, self.at + 1);
            if let Some(listing) = self.listing() {
                listing.twice = twice;
            }
            return true;
        }
        let read = self.read(t, self.at, None);
        self.member_read(t, name, key, field, twice, read)
    }

    /// Begins a list after its bracket.
    pub(super) fn open_list(&mut self, list: usize, at: usize) {
        self.attach();
        if let Some(object) = self.object() {
            object.last = None;
        }
        let nested = self.stack.len() > 1;
        let inner = nested.then(|| (KeptUnits::new(&self.p.lists[list]), 0));
        let listing = Listing { list, twice: false, separators: Separators::default(), inner };
        self.stack.push(PartialValue::List(Box::new(listing)));
        self.at = at;
        self.phase = Phase::Elements;
    }

    /// Begins a document: the open object is an envelope with lists.
    fn attach(&mut self) {
        let Some(PartialValue::Object(object)) = self.stack.first_mut() else { return };
        if object.attached {
            return;
        }
        object.attached = true;
        let lone = self.draft.framed && !self.draft.envelope && self.draft.total() == 0;
        if !self.draft.is_empty() && !lone {
            self.finish_draft();
        }
        self.flush();
    }

    /// Moves the members again, after the object was recognised as an envelope.
    pub(super) fn flush_late(&mut self) {
        if matches!(self.stack.first(), Some(PartialValue::Object(object)) if object.attached) {
            self.flush();
        }
    }

    /// Moves the members of the outermost object to the document.
    fn flush(&mut self) {
        let Some(PartialValue::Object(object)) = self.stack.first_mut() else { return };
        self.draft.truncated |= std::mem::take(&mut self.cut);
        self.draft.envelope = true;
        self.draft.start = self.draft.start.min(object.start);
        if let Some(doubt) = object.doubt.take() {
            self.draft.doubt.get_or_insert(doubt);
        }
        self.draft.join(std::mem::take(&mut object.fixes));
        self.draft.problems.append(&mut object.problems);
        for (field, value) in std::mem::take(&mut object.members) {
            self.draft.members[field] = Some(value);
        }
        for name in &object.seen {
            if let Some(at) = self.p.fields.iter().position(|field| *field.name == **name) {
                self.draft.seen[at] = true;
            }
        }
    }

    /// Ends an object here.
    pub(super) fn end_object(&mut self, t: &StepInput<'_>, end: usize) {
        let Some(PartialValue::Object(object)) = self.stack.last_mut() else { return };
        if let Some(list) = object.item {
            return self.end_item(t, list, end);
        }
        let start = object.start;
        let (known, related) = (object.known, object.related);
        let alone = self.draft.is_empty() && self.best.is_none() && !self.around.prose;
        let other = known == 0 && !alone && !object.attached;
        if other {
            // This is other JSON in the prose.
            self.marks.cover(start, end, SpanKind::Text);
        } else {
            if !object.attached {
                // This is an object without lists: the head of separate items, or a separate
                // document.
                let joins = self.draft.framed && !self.draft.envelope;
                if !self.draft.is_empty() && !joins {
                    self.finish_draft();
                }
            }
            self.flush();
            self.draft.takes(start, end);
        }
        self.stack.pop();
        self.marks.set(end, SpanKind::Text);
        if other && related {
            // It may be an item or document around which something was added.
            self.leftover.get_or_insert(start);
        }
        if other && self.around.is_behind() {
            // The document before is not alone on its line.
            self.leave_place(start);
        }
        self.around.behind_document();
        if other {
            self.around.in_prose();
        }
        (self.at, self.phase) = (end, Phase::Top);
    }

    /// Ends an item that was read member by member, and judges it.
    fn end_item(&mut self, t: &StepInput<'_>, list: usize, end: usize) {
        let Some(PartialValue::Object(object)) = self.stack.pop() else { return };
        let object: Object = *object;
        (self.at, self.phase) = (end, Phase::Elements);
        let mut value = Json::Object(object.values);
        let large = (end - object.start) as u64 > self.p.contract.bounds.bytes;
        let result = match object.refused {
            Some((reason, error)) => Err(Refusal { reason, error }),
            None if large => {
                let error = format!("it is longer than {} bytes", self.p.contract.bounds.bytes);
                Err(Refusal { reason: QuarantineReason::Bounds, error })
            }
            None => t.judge.assembled(list, &mut value, &object.places),
        };
        match result {
            Ok((rank, coerced)) => {
                coerced.iter().for_each(|at| self.fix(Fix::Coercion, *at));
                let mut item = item(object.index, (object.start, end), value);
                item.repaired = object.repaired || !coerced.is_empty();
                item.resynchronised = object.resynchronised;
                self.keep(list, rank, item);
            }
            Err(refusal) => {
                let head = object.head.unwrap_or_else(|| t.w.part(object.start, end).to_vec());
                let head = &head[..head.len().min(end - object.start)];
                self.quarantine(list, object.index, refusal, head, (object.start, end));
            }
        }
    }
}
