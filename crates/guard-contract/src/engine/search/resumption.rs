//! The positions where reading can continue: at an item, a member, the end of a list, or outside of documents.

use super::EngineSearch;
use crate::boundary::{self, Lead};
use crate::engine::{ContractEngine, PartialValue, Phase, StepInput};
use crate::lex::blanks;
use guard_plan::plan::Root;

/// The position where reading continues.
pub(super) enum Next {
    /// An item of the list at this position on the stack.
    Item(usize),
    /// A member of the object at this position on the stack.
    Member(usize),
    /// An item of a list that is not open, in the object at this position. Contains the list.
    Lost(usize, usize),
    /// The end of the innermost list.
    ListEnd,
    /// Outside of documents.
    Top,
}

/// The classification of a position.
pub(super) enum PositionClass {
    Nothing,
    More,
    Here(Next),
}

impl ContractEngine {
    /// Classifies a brace, quote or bracket.
    pub(super) fn place(&self, t: &StepInput<'_>, bytes: &[u8], at: usize) -> PositionClass {
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
