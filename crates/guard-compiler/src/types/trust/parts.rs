//! Parts of results, and the endorsements that cover them.

use super::MemberPath;
use crate::hir::{self, Trust};
use guard_plan::builtin::Builtin;
use guard_plan::trust::ELEMENT;

/// The call whose result a part belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartRoot {
    /// The result of the call itself.
    Result,
    /// The last success of a tool.
    Last(hir::ToolId),
}

/// A part of a result.
#[derive(Debug, Clone)]
pub(super) struct TrustedPart {
    pub root: PartRoot,
    pub path: MemberPath,
    /// The elements that it is part of, from the outermost: the slot of each, and the length of the
    /// path to it.
    pub elements: Vec<(u32, usize)>,
    /// True if an index selects it from a list or map.
    pub picked: bool,
}

impl TrustedPart {
    /// Returns the members on the path to it from a bound element, or from the result; `None` if it
    /// is not part of that element.
    pub(super) fn members_from(&self, element: Option<u32>) -> Option<Vec<&String>> {
        let from = match element {
            Some(slot) => self.elements.iter().find(|(own, _)| *own == slot)?.1,
            None => 0,
        };
        Some(members(&self.path[from..]))
    }

    /// Returns true if a range over it binds each element of a list in an element, or in the result.
    pub(super) fn is_list_of(&self, element: Option<u32>, path: &[String]) -> bool {
        self.root == PartRoot::Result
            && !self.picked
            && self.elements.last().map(|(slot, _)| *slot) == element
            && self.members_from(element) == Some(members(path))
    }
}

/// Returns the members on a path, without the elements.
pub(super) fn members(path: &[String]) -> Vec<&String> {
    path.iter().filter(|step| *step != ELEMENT).collect()
}

/// An endorsement that a lesson may depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reliance {
    /// The position of its clause in the tool.
    pub clause: usize,
    /// Each slot of the endorsement, with the slot of the lesson that binds the same element.
    pub slots: Vec<(u32, u32)>,
}

/// An endorsement of the tool whose elements a lesson binds.
pub(super) struct Endorsed {
    /// The slot in the lesson of the element that contains its part.
    pub element: Option<u32>,
    /// The members on the path from there to the part.
    pub path: MemberPath,
    /// The number of members on the path from the result to the part.
    pub depth: usize,
    pub extractor: Option<Builtin>,
    /// The ranges of the lesson that bind its elements.
    pub ranges: Vec<usize>,
    pub reliance: Reliance,
}

/// Returns the endorsements of a tool whose elements a lesson also binds.
pub(super) fn endorsed(
    tool: &hir::Tool,
    learn: &hir::Learn,
    ranged: &[Option<TrustedPart>],
) -> Vec<Endorsed> {
    let mut all = Vec::new();
    for (at, clause) in tool.clauses.iter().enumerate() {
        let hir::ClauseKind::Endorse { part, extractor, .. } = &clause.kind else { continue };
        let mut steps = part.path.as_slice();
        let mut element = None;
        let mut ranges = Vec::new();
        let mut slots = Vec::new();
        for own in &part.ranges {
            let Some(end) = steps.iter().position(|step| step == ELEMENT) else { break };
            let is_same = |part: &Option<TrustedPart>| {
                part.as_ref().is_some_and(|part| part.is_list_of(element, &steps[..end]))
            };
            let Some(nth) = ranged.iter().position(is_same) else { break };
            let binders = &learn.ranges[nth].binders;
            // An index that the lesson does not bind cannot be used.
            if own.binders.len() > binders.len() {
                break;
            }
            // The element is the last binder, and an index is before it only if it is bound.
            slots.extend(own.binders.iter().copied().rev().zip(binders.iter().copied().rev()));
            element = binders.last().copied();
            ranges.push(nth);
            steps = &steps[end + 1..];
        }
        if ranges.len() == part.ranges.len() {
            all.push(Endorsed {
                element,
                path: members(steps).into_iter().cloned().collect(),
                depth: members(&part.path).len(),
                extractor: *extractor,
                ranges,
                reliance: Reliance { clause: at, slots },
            });
        }
    }
    all
}

impl Endorsed {
    /// Returns true if it covers everything that is read: a part, or the values that a function
    /// finds in a part.
    pub(super) fn covers(&self, trust: &Trust, part: &TrustedPart, by: Option<Builtin>) -> bool {
        let within = part.members_from(self.element).is_some_and(|members| {
            members.len() >= self.path.len() && members.iter().zip(&self.path).all(|(a, b)| *a == b)
        });
        within
            && part.root == PartRoot::Result
            && (self.extractor.is_none() || self.extractor == by)
            && !trust.denies_within(self.depth, &part.path)
    }
}
