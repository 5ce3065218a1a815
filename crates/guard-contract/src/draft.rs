//! One document as read so far: its envelope, its items, the refused units and the repairs.

use crate::keep::KeptUnits;
use crate::shape::PreparedContract;
use guard_plan::json::Json;
use guard_plan::plan::{Field, TypeDef};
use guard_plan::report::{Fix, LISTED, Problem, QuarantineReason, Quarantined, Repair};

/// The doubt about a document within a sentence.
pub(crate) const IN_SENTENCE: &str = "the document is inside a sentence";
/// The doubt about a document with a mark directly before it: `-{`.
pub(crate) const GLUED: &str = "a character directly precedes its brace";

/// The repairs of a document. Their number and the doubt do not depend on how many are listed.
#[derive(Debug, Default)]
pub(crate) struct Fixes {
    /// The first repairs.
    pub listed: Vec<Repair>,
    pub count: u64,
    /// The first repair that may hide a loss, and the reason.
    pub doubt: Option<(usize, &'static str)>,
}

impl Fixes {
    pub fn add(&mut self, fix: Fix, at: usize) {
        self.count += 1;
        let why = match fix {
            Fix::Comma => Some("a comma is missing or too many: text next to it may be missing"),
            Fix::Colon => Some("a colon is missing: text next to it may be missing"),
            Fix::Closer => Some("a bracket is missing or too many: text may be missing"),
            Fix::Control => Some("a string contains a control character: it may be damaged"),
            Fix::Escape => Some("an escape that JSON does not have: a quote may be damaged"),
            // These repairs change only the notation of a value.
            Fix::Comment | Fix::Blank | Fix::Key | Fix::Quotes | Fix::Literal => None,
            // The author of the contract permits it, and nothing is lost.
            Fix::Coercion => None,
        };
        if let Some(why) = why {
            self.doubt.get_or_insert((at, why));
        }
        if self.listed.len() < LISTED {
            self.listed.push(Repair { at: at as u64, fix });
        }
    }

    /// Appends the repairs of a part of the document.
    fn append(&mut self, mut part: Fixes) {
        self.count += part.count;
        self.doubt = self.doubt.or(part.doubt);
        part.listed.truncate(LISTED.saturating_sub(self.listed.len()));
        self.listed.append(&mut part.listed);
    }
}

/// A document.
#[derive(Debug)]
pub(crate) struct Draft {
    pub start: usize,
    pub end: usize,
    /// True if the document has an envelope.
    pub envelope: bool,
    /// True if the items are separate rather than in lists.
    pub framed: bool,
    /// True if items are outside of their list, after an envelope or without one.
    pub loose: bool,
    /// True if the items are in a code fence.
    pub fenced: bool,
    /// The members, by field of the document.
    pub members: Vec<Option<Json>>,
    /// The members that were seen, valid or not.
    pub seen: Vec<bool>,
    pub problems: Vec<Problem>,
    pub lists: Vec<KeptUnits>,
    /// The number of units of each list.
    pub units: Vec<u64>,
    pub quarantined: Vec<Quarantined>,
    pub quarantined_count: u64,
    pub repairs: Fixes,
    pub truncated: bool,
    /// True if reading resumed after unreadable text.
    pub resynchronised: bool,
    /// The first reason why something may be missing in the document, or the document may not be
    /// meant, and its position.
    pub doubt: Option<(usize, &'static str)>,
}

impl Draft {
    pub fn new(prepared: &PreparedContract) -> Draft {
        Draft {
            start: usize::MAX,
            end: 0,
            envelope: false,
            framed: false,
            loose: false,
            fenced: false,
            members: vec![None; prepared.fields.len()],
            seen: vec![false; prepared.fields.len()],
            problems: Vec::new(),
            lists: prepared.lists.iter().map(KeptUnits::new).collect(),
            units: vec![0; prepared.lists.len()],
            quarantined: Vec::new(),
            quarantined_count: 0,
            repairs: Fixes::default(),
            truncated: false,
            resynchronised: false,
            doubt: None,
        }
    }

    /// Returns true if nothing was found yet.
    pub fn is_empty(&self) -> bool {
        !self.envelope && !self.framed
    }

    /// Extends the document's range to include this part.
    pub fn takes(&mut self, start: usize, end: usize) {
        self.start = self.start.min(start);
        self.end = self.end.max(end);
    }

    pub fn fix(&mut self, fix: Fix, at: usize) {
        self.repairs.add(fix, at);
        self.doubt = self.doubt.or(self.repairs.doubt);
    }

    /// Moves the repairs of a part to the document.
    pub fn join(&mut self, part: Fixes) {
        self.repairs.append(part);
        self.doubt = self.doubt.or(self.repairs.doubt);
    }

    pub fn problem(&mut self, member: &str, reason: QuarantineReason, error: impl Into<String>) {
        if self.problems.len() < LISTED {
            let member = guard_plan::render::cut(member, 100);
            self.problems.push(Problem { member, reason, error: error.into() });
        }
    }

    /// Returns the number of kept items.
    pub fn kept(&self) -> usize {
        self.lists.iter().map(KeptUnits::len).sum()
    }

    /// Returns the total number of units.
    pub fn total(&self) -> u64 {
        self.units.iter().sum()
    }

    /// Records the missing members.
    pub fn finish(&mut self, prepared: &PreparedContract) {
        for (at, field) in prepared.fields.iter().enumerate() {
            let list = prepared.list_of(None, &field.name);
            let there = self.seen[at] || list.is_some_and(|list| self.units[list] > 0);
            if !there && !optional(prepared, field) {
                let reason = if self.truncated {
                    QuarantineReason::Truncated
                } else {
                    QuarantineReason::Schema
                };
                self.problem(&field.name, reason, "is missing");
            }
        }
    }

    /// Rates how well the document qualifies as the answer. Among equal ones, the last one is
    /// chosen. A document within a sentence may be quoted or negated.
    pub fn grade(&self) -> u8 {
        let useful = self.kept() > 0 || (self.envelope && self.problems.is_empty());
        let quoted = self.doubt.is_some_and(|(_, why)| [IN_SENTENCE, GLUED].contains(&why));
        match (useful, self.envelope && !self.framed, self.fenced) {
            (true, true, _) if quoted => 2,
            (true, true, _) => 5,
            (true, false, true) => 4,
            (true, false, false) => 3,
            (false, ..) if self.envelope => 1,
            (false, ..) => 0,
        }
    }
}

fn optional(prepared: &PreparedContract, field: &Field) -> bool {
    matches!(prepared.types.get(field.ty as usize), Some(TypeDef::Option { .. }))
}
