//! Parts of results: where each is, and the endorsements of a tool that may vouch for it.

use super::EndorsementNeed;
use super::paths::{Path, members};
use crate::builtin::Builtin;
use crate::plan::{Endorsement, Learn, Tool, ToolId, Trust, TypeId};

/// The call to whose result a part belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultCall {
    /// The call itself.
    Result,
    /// The last successful call of a tool.
    Last(ToolId),
}

/// A part of a result.
#[derive(Debug, Clone)]
pub(super) struct ReadPlace {
    pub root: ResultCall,
    pub path: Path,
    /// The type of the part, if one is declared.
    pub ty: Option<TypeId>,
    /// The elements that contain the part, from the outermost: the slot of each, and the length of
    /// the path to it.
    pub within: Vec<(u32, usize)>,
    /// True if an index selects the part from a list or map.
    pub picked: bool,
}

impl ReadPlace {
    /// Returns the slot of the innermost element that contains the part.
    pub fn base(&self) -> Option<u32> {
        self.within.last().map(|(slot, _)| *slot)
    }

    /// Returns the members on the path from an element, or from the result; `None` if the part is
    /// not in that element.
    pub fn members_from(&self, base: Option<u32>) -> Option<impl Iterator<Item = &String>> {
        let from = match base {
            None => 0,
            Some(base) => self.within.iter().find(|(slot, _)| *slot == base)?.1,
        };
        Some(members(&self.path[from..]))
    }
}

/// An endorsed part, as a lesson reaches it.
pub(super) struct EndorsedPlace {
    /// The slot of its element; `None` if it is a part of the whole result.
    base: Option<u32>,
    /// The members on the path from there.
    members: Path,
    extractor: Option<Builtin>,
    /// The number of members on the path from the result.
    depth: usize,
    /// The ranges of the lesson that bind its elements.
    pub ranges: Vec<usize>,
    pub need: EndorsementNeed,
}

impl EndorsedPlace {
    /// Returns true if the endorsement vouches for a part, or for the strings that a function
    /// extracts from it.
    pub fn covers(&self, trust: &Trust, place: &ReadPlace, by: Option<Builtin>) -> bool {
        place.root == ResultCall::Result
            && !trust.denies_within(self.depth, &place.path)
            && self.extractor.is_none_or(|extractor| Some(extractor) == by)
            && place.members_from(self.base).is_some_and(|mut members| {
                self.members.iter().all(|own| members.next() == Some(own))
            })
    }
}

/// Returns the endorsements of a tool whose elements the lesson also binds.
pub(super) fn endorsed(
    tool: &Tool,
    learn: &Learn,
    places: &[Option<ReadPlace>],
) -> Vec<EndorsedPlace> {
    let reached = |(at, endorsement): (usize, &Endorsement)| {
        let (lists, rest) = endorsement.part.steps();
        let mut base = None;
        let mut ranges = Vec::new();
        let mut slots = Vec::new();
        for (own, list) in endorsement.part.ranges.iter().zip(lists) {
            let binds = |place: &ReadPlace| {
                place.root == ResultCall::Result
                    && !place.picked
                    && place.base() == base
                    && place.members_from(base).is_some_and(|own| own.eq(members(list)))
            };
            let nth = places.iter().position(|place| place.as_ref().is_some_and(binds))?;
            let theirs = &learn.ranges[nth].binders;
            // The element is the last name, and the name before it is its index.
            if own.binders.len() > theirs.len() {
                return None;
            }
            slots.extend(own.binders.iter().rev().copied().zip(theirs.iter().rev().copied()));
            base = theirs.last().copied();
            ranges.push(nth);
        }
        let members = members(rest).cloned().collect();
        let extractor = endorsement.extractor;
        let depth = self::members(&endorsement.part.path).count();
        let need = EndorsementNeed { endorsement: at, slots };
        Some(EndorsedPlace { base, members, extractor, depth, ranges, need })
    };
    tool.endorsements.iter().enumerate().filter_map(reached).collect()
}
