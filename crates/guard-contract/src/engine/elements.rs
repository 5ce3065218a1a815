//! Reading of the units of a list.

use super::members::MemberKey;
use super::{ContractEngine, PartialValue, Phase, StepInput};
use crate::boundary::{self, Lead};
use crate::lex;
use crate::nest::Nest;
use crate::repair::Irreparable;
use guard_plan::json::Json;
use guard_plan::plan::Root;
use guard_plan::report::{Fix, SpanKind};

impl ContractEngine {
    pub(super) fn elements(&mut self, t: &StepInput<'_>) -> bool {
        match self.over_gap(t) {
            Ok(true) => {}
            Ok(false) => return self.stack.is_empty() && t.w.end,
            Err(()) => return self.lose_unit(t, "a comment that does not end"),
        }
        let rest = t.w.from(self.at);
        let Some(byte) = rest.first().copied() else {
            if t.w.end {
                self.cut(t, self.at);
            }
            return t.w.end;
        };
        match byte {
            b',' => {
                self.read_comma();
                true
            }
            b']' => {
                let whole = self.stack.len() == 2 && self.p.contract.root == Root::Items;
                if whole && self.document_ends(t).is_none() {
                    return false;
                }
                self.trailing_comma();
                if self.stack.len() == 2 {
                    self.marks.set(self.at, SpanKind::Envelope);
                }
                self.at += 1;
                self.end_list();
                if whole {
                    self.end_object(t, self.at);
                }
                true
            }
            b'}' => self.stray_brace(t),
            b'`' if rest.starts_with(b"```") => {
                self.close_all(t, self.at);
                true
            }
            b'`' if rest.len() < 3 && !t.w.end => false,
            b'"' => match self.read_key(t, self.at) {
                MemberKey::More => false,
                MemberKey::Named(name, ..) if self.is_member(&name) => {
                    // A member of the object around the list: the list's closing bracket is
                    // missing.
                    let list = self.listing().map(|listing| listing.list);
                    if list.is_some_and(|list| self.p.lists[list].own.has(&name)) {
                        self.reject("a member of it may follow its brace");
                    }
                    self.fix(Fix::Closer, self.at);
                    self.refuse("a bracket is missing");
                    self.trailing_comma();
                    self.end_list();
                    true
                }
                MemberKey::Named(name, ..) => {
                    if self.may_continue(&name) {
                        self.reject("a member follows its brace");
                    }
                    // The brace of an item is missing.
                    let mut nest = Nest::default();
                    nest.open(true);
                    self.lose_unit_in(t, "expected an item", nest)
                }
                MemberKey::None => self.lone_scalar(t),
            },
            b'{' => self.unit(t),
            _ => self.lone_scalar(t),
        }
    }

    /// Returns true if a member after the last item may belong to that item, which would then have
    /// been closed too soon.
    pub(super) fn may_continue(&self, name: &str) -> bool {
        self.pending.as_ref().is_some_and(|(list, _, item)| {
            let list = &self.p.lists[*list];
            (list.any || list.own.has(name)) && item.value.get(name).is_none()
        })
    }

    /// Returns true if the object around the list has such a member.
    fn is_member(&mut self, name: &str) -> bool {
        match self.object().and_then(|object| object.item) {
            None => self.p.envelope.has(name),
            Some(list) => self.p.lists[list].own.has(name),
        }
    }

    /// Begins a unit, an object or another value. Records a missing comma before it.
    pub(super) fn begin_unit(&mut self, object: bool) {
        let is_missing = self.begin_part();
        if is_missing && !object {
            self.reject("more follows its brace");
        }
        self.confirm();
    }

    /// Handles a closing brace. It is superfluous if an item follows; otherwise the closing bracket
    /// of the list is missing.
    fn stray_brace(&mut self, t: &StepInput<'_>) -> bool {
        let rest = t.w.from(self.at);
        let Some(list) = self.listing().map(|listing| listing.list) else { return false };
        let behind = lex::blanks(rest, 1);
        let next = match rest.get(behind) {
            Some(b',') => lex::blanks(rest, behind + 1),
            _ => behind,
        };
        let line = rest[..behind].contains(&b'\n');
        let item = match rest.get(next) {
            None if !t.w.end => return false,
            Some(b'{') => match boundary::lead(rest, next) {
                Lead::More if !t.w.end => return false,
                Lead::Key(name) => self.p.lists[list].own.has(&name),
                _ => false,
            },
            // A member follows, so the list's bracket is missing, not the object's.
            Some(b'"') if next > behind => true,
            Some(b',' | b'}' | b']' | b'`' | b'<') | None => false,
            Some(b'"') => return self.lose_unit(t, "expected `,` or `]`"),
            Some(_) if line => false,
            // Unknown text, from which nothing can be concluded.
            Some(_) => return self.lose_unit(t, "expected `,` or `]`"),
        };
        self.fix(Fix::Closer, self.at);
        // If a list lacks only its bracket before the end of the document, its last item is
        // complete. Elsewhere, an extra brace may be the end of the item itself.
        let ends = matches!(rest.get(next), None | Some(b'`' | b'<'))
            || (line
                && next == behind
                && !matches!(rest.get(next), Some(b',' | b'}' | b']' | b'{' | b'"')));
        let separated = self.listing().is_some_and(|listing| listing.separators.comma.is_some());
        if separated {
            self.confirm();
        } else if !ends {
            self.reject("a bracket too many follows");
        }
        self.refuse("a bracket is missing or too many");
        if item {
            self.at += 1;
        } else {
            self.trailing_comma();
            self.end_list();
        }
        true
    }

    /// Ends the open list; the kept units of a list within an item are moved into the item.
    pub(super) fn end_list(&mut self) {
        if self.stack.len() > 2 {
            self.confirm();
        }
        let Some(PartialValue::List(listing)) = self.stack.pop() else { return };
        let name = self.p.lists[listing.list].member.clone();
        if let (Some((keep, _)), Some(object)) = (listing.inner, self.object())
            && !listing.twice
        {
            let items = keep.finish().into_iter().map(|item| item.value).collect();
            object.values.push((name.into(), Json::Array(items)));
        }
        self.phase = Phase::Members;
    }

    /// Reads a value that is not an object where an object is expected: it is a unit if it is a
    /// complete value.
    fn lone_scalar(&mut self, t: &StepInput<'_>) -> bool {
        let rest = t.w.from(self.at);
        let cap = self.cap();
        let near = &rest[..rest.len().min(cap)];
        let end = match self.tape.read(near) {
            Ok(len) => len,
            Err(lex::LexStop::More) if near.len() == rest.len() && !t.w.end => return false,
            Err(_) => return self.lose_unit(t, "expected an item"),
        };
        let next = lex::blanks(rest, end);
        match rest.get(next) {
            None if !t.w.end => false,
            Some(b',') if rest[0] == b'[' => match rest.get(lex::blanks(rest, next + 1)) {
                None if !t.w.end => false,
                Some(b'"') => match self.read_key(t, self.at + lex::blanks(rest, next + 1)) {
                    MemberKey::More => false,
                    // It includes the list's own closing bracket.
                    MemberKey::Named(name, ..) if self.is_member(&name) => {
                        self.lose_unit(t, "it is not closed")
                    }
                    _ => self.unit(t),
                },
                _ => self.unit(t),
            },
            None | Some(b',' | b']') => self.unit(t),
            Some(_) => self.lose_unit(t, "expected an item"),
        }
    }

    /// Skips unreadable text in place of a unit.
    fn lose_unit(&mut self, t: &StepInput<'_>, why: &'static str) -> bool {
        self.lose_unit_in(t, why, Nest::default())
    }

    /// Skips unreadable text in place of a unit, with the brackets that are open in it.
    fn lose_unit_in(&mut self, t: &StepInput<'_>, why: &'static str, nest: Nest) -> bool {
        self.begin_unit(false);
        let Some(list) = self.listing().map(|listing| listing.list) else { return false };
        self.broken(t, list, Irreparable { why, nest, ..Irreparable::default() });
        true
    }
}
