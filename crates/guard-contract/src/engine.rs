//! The reader of a text, from left to right, into documents, members and units.
//!
//! The reader is a state machine of small steps. A step decides only on the certain consequences of
//! the text so far, or asks for more text. So a text that is read in pieces gives the same result
//! as the whole text. `judge` decides whether a unit is valid.

mod elements;
mod keeping;
mod members;
mod search;
mod skip;
mod top;
mod unit;
mod value;

use crate::coerce::MemberPlaces;
use crate::draft::{Draft, Fixes};
use crate::judge::UnitJudge;
use crate::keep::Rank;
use crate::lex::LONGEST_BLANK;
use crate::marks::Marks;
use crate::shape::PreparedContract;
use crate::tape::Tape;
use guard_plan::json::Json;
use guard_plan::report::{
    Fix, KeptItem, LISTED, OtherDocument, Problem, QuarantineReason, SpanKind,
};
use search::EngineSearch;
use search::HEAD;
use skip::Skip;
use std::sync::Arc;
pub(crate) use top::TAGS;
use top::{Aside, TopContext};

/// The available part of the text.
#[derive(Clone, Copy)]
pub(crate) struct TextWindow<'a> {
    pub bytes: &'a [u8],
    /// The offset in the text.
    pub base: usize,
    /// True if it is the last part of the text.
    pub end: bool,
}

impl<'a> TextWindow<'a> {
    pub fn stop(&self) -> usize {
        self.base + self.bytes.len()
    }

    pub fn from(&self, at: usize) -> &'a [u8] {
        &self.bytes[at - self.base..]
    }

    pub fn part(&self, start: usize, end: usize) -> &'a [u8] {
        &self.bytes[start - self.base..end - self.base]
    }
}

/// The inputs of a step.
#[derive(Clone, Copy)]
pub(crate) struct StepInput<'a> {
    pub w: TextWindow<'a>,
    pub judge: UnitJudge<'a>,
}

/// The state of the commas between the members of an object, or the items of a list.
#[derive(Debug, Default)]
struct Separators {
    /// The position of the comma before the next part, if any.
    comma: Option<usize>,
    /// True if a part was read and a comma must follow it.
    is_due: bool,
    /// The indentation of the parts, if they begin lines.
    column: Option<usize>,
}

/// An object that is read member by member: the envelope, or an item that holds lists and cannot be
/// parsed as a whole.
#[derive(Debug, Default)]
struct Object {
    /// The list that the item belongs to; `None` for the envelope.
    item: Option<usize>,
    index: u64,
    start: usize,
    /// True if the object belongs to the document; always true for an item.
    attached: bool,
    /// The members so far, for an item.
    values: Vec<(Box<str>, Json)>,
    /// The positions of their values, if the contract permits other forms.
    places: Vec<MemberPlaces>,
    /// The members of an envelope, by field.
    members: Vec<(usize, Json)>,
    seen: Vec<Box<str>>,
    /// The number of members that the contract declares.
    known: usize,
    /// True if it may hold a name of the contract, at any depth.
    related: bool,
    problems: Vec<Problem>,
    fixes: Fixes,
    /// The reason why the object is refused; only for an item.
    refused: Option<(QuarantineReason, String)>,
    separators: Separators,
    /// The start of the last value if it is a string: an unclosed string may include the text after
    /// it.
    last: Option<usize>,
    /// The member whose value follows, and the position of its key.
    key: Option<(Box<str>, usize)>,
    resynchronised: bool,
    repaired: bool,
    /// The first bytes of an item, once enough are read.
    head: Option<Vec<u8>>,
    /// The indentation of the object, if it begins a line.
    begun: Option<usize>,
    /// The envelope's last accepted member, while nothing shows that its value has ended.
    latest: Option<usize>,
    /// The reason to doubt that the whole object was found and meant.
    doubt: Option<(usize, &'static str)>,
}

impl Object {
    /// Records that a member was seen. A name is stored once, so that their number is bounded.
    fn saw(&mut self, name: &str) {
        if !self.seen.iter().any(|seen| **seen == *name) {
            self.seen.push(name.into());
        }
    }
}

/// A list that is read item by item.
#[derive(Debug)]
struct Listing {
    list: usize,
    /// True if the list occurs a second time in its object. It is then ignored.
    twice: bool,
    separators: Separators,
    /// For a list within an item: its kept units, and their total number.
    inner: Option<(crate::keep::KeptUnits, u64)>,
}

#[derive(Debug)]
enum PartialValue {
    Object(Box<Object>),
    List(Box<Listing>),
}

#[derive(Debug)]
enum Phase {
    /// Outside of documents.
    Top,
    /// In reasoning text, until this closing tag.
    Reasoning(usize),
    /// In an object, between members.
    Members,
    /// In a list, between items.
    Elements,
    /// In a unit that is too large to be parsed.
    Skip(Skip),
    /// After unreadable text.
    Search(EngineSearch),
}

/// The state machine.
pub(crate) struct ContractEngine {
    p: Arc<PreparedContract>,
    /// All text before this offset is decided.
    at: usize,
    phase: Phase,
    stack: Vec<PartialValue>,
    draft: Draft,
    best: Option<Draft>,
    passed: Vec<OtherDocument>,
    marks: Marks,
    tape: Tape,
    around: TopContext,
    /// The item read last, until the text behind it shows that it has ended.
    pending: Option<(usize, Rank, KeptItem)>,
    /// The indentation of the current line, if it is empty so far, and the offset for which it is
    /// known.
    line: (Option<usize>, usize),
    /// The end of the text that was already read without success, and is not read again.
    passed_to: usize,
    /// The document before a reasoning tag that began within a line.
    aside: Option<Box<Aside>>,
    /// The first text outside of documents that may belong to one.
    leftover: Option<usize>,
    /// The list of a separate item that begins here and waits for more text.
    framing: Option<usize>,
    /// True if the document's units are found by search from here on.
    found_again: bool,
    /// True if the text ends within the next document.
    cut: bool,
    /// True if items are emitted as they are completed.
    pub emit: bool,
    pub out: Vec<KeptItem>,
}

/// The result of reading.
pub(crate) struct Finished {
    pub draft: Option<Draft>,
    pub passed: Vec<OtherDocument>,
    pub marks: Marks,
    /// True if the text ends within a unit or document.
    pub cut: bool,
    /// The first text outside of documents that may belong to one.
    pub leftover: Option<usize>,
    /// True if there is prose outside of documents and reasoning.
    pub prose: bool,
    /// The length of the text that was read.
    pub length: usize,
}

impl ContractEngine {
    pub fn new(p: Arc<PreparedContract>) -> ContractEngine {
        ContractEngine {
            at: 0,
            phase: Phase::Top,
            stack: Vec::new(),
            draft: Draft::new(&p),
            best: None,
            passed: Vec::new(),
            marks: Marks::default(),
            tape: Tape::default(),
            around: TopContext::default(),
            pending: None,
            line: (Some(0), 0),
            passed_to: 0,
            aside: None,
            leftover: None,
            framing: None,
            found_again: false,
            cut: false,
            emit: false,
            out: Vec::new(),
            p,
        }
    }

    /// Runs as many steps as the available text allows.
    pub fn run(&mut self, t: &StepInput<'_>) {
        self.take_heads(t);
        while self.step(t) {}
        self.take_heads(t);
    }

    /// Stores the beginnings of the items that are read member by member.
    fn take_heads(&mut self, t: &StepInput<'_>) {
        for open in &mut self.stack {
            if let PartialValue::Object(object) = open
                && object.item.is_some()
                && object.head.is_none()
                && t.w.stop() >= object.start + HEAD
            {
                object.head = Some(t.w.part(object.start, object.start + HEAD).to_vec());
            }
        }
    }

    /// Returns the first offset that must stay available.
    pub fn hold(&self) -> usize {
        let headless = self.stack.iter().find_map(|open| match open {
            PartialValue::Object(object) if object.item.is_some() && object.head.is_none() => {
                Some(object.start)
            }
            _ => None,
        });
        let here = match &self.phase {
            Phase::Search(search) => search.hold(),
            Phase::Skip(skip) => skip.hold(self.at),
            Phase::Members => match self.stack.last() {
                Some(PartialValue::Object(object)) => {
                    object.last.filter(|last| self.is_near(*last)).unwrap_or(self.at).min(self.at)
                }
                _ => self.at,
            },
            _ => self.at,
        };
        headless.map_or(here, |start| start.min(here))
    }

    /// Returns true if the text since the start of a string is short enough to be held.
    fn is_near(&self, string: usize) -> bool {
        self.at.saturating_sub(string) <= self.cap() + LONGEST_BLANK
    }

    /// Returns the offset where the step that waits for more text began.
    pub fn waits_at(&self) -> usize {
        match &self.phase {
            Phase::Search(search) => search.reached(),
            _ => self.at,
        }
    }

    /// Returns true if a complete value could let the next step proceed.
    pub fn in_unit(&self) -> bool {
        matches!(self.phase, Phase::Members | Phase::Elements | Phase::Top | Phase::Search(_))
    }

    /// Runs one step; returns false if more text is needed or the text has ended.
    fn step(&mut self, t: &StepInput<'_>) -> bool {
        match self.phase {
            Phase::Top => self.top(t),
            Phase::Reasoning(tag) => self.reasoning(t, tag),
            Phase::Members => self.members(t),
            Phase::Elements => self.elements(t),
            Phase::Skip(_) => self.skip(t),
            Phase::Search(_) => self.search(t),
        }
    }

    /// Records a repair of the document, or of an object that may turn out not to belong to it.
    fn fix(&mut self, fix: Fix, at: usize) {
        match self.stack.first_mut() {
            Some(PartialValue::Object(object)) if !object.attached => {
                object.fixes.add(fix, at);
            }
            _ => self.draft.fix(fix, at),
        }
    }

    /// Records the reason to doubt that the whole document was found and meant.
    fn doubt(&mut self, at: usize, why: &'static str) {
        match self.stack.first_mut() {
            Some(PartialValue::Object(object)) if !object.attached => {
                object.doubt.get_or_insert((at, why));
            }
            _ => {
                self.draft.doubt.get_or_insert((at, why));
            }
        }
    }

    /// Records a problem of the open envelope.
    fn problem(&mut self, member: &str, reason: QuarantineReason, error: impl Into<String>) {
        match self.stack.first_mut() {
            Some(PartialValue::Object(object)) if !object.attached => {
                if object.problems.len() < LISTED {
                    let member = guard_plan::render::cut(member, 100);
                    object.problems.push(Problem { member, reason, error: error.into() });
                }
            }
            _ => self.draft.problem(member, reason, error),
        }
    }

    /// Returns the innermost object.
    fn object(&mut self) -> Option<&mut Object> {
        self.stack.iter_mut().rev().find_map(|open| match open {
            PartialValue::Object(object) => Some(&mut **object),
            PartialValue::List(_) => None,
        })
    }

    /// Returns the commas of the innermost object or list.
    fn separators(&mut self) -> Option<&mut Separators> {
        self.stack.last_mut().map(|open| match open {
            PartialValue::Object(object) => &mut object.separators,
            PartialValue::List(list) => &mut list.separators,
        })
    }

    /// Reads a comma between members or items.
    fn read_comma(&mut self) {
        let at = self.at;
        self.at += 1;
        if let Some(separators) = self.separators() {
            let is_extra = separators.comma.is_some() || !separators.is_due;
            separators.comma = Some(at);
            if is_extra {
                self.fix(Fix::Comma, at);
            }
        }
    }

    /// Begins a member or an item. Returns true if the comma before it is missing.
    fn begin_part(&mut self) -> bool {
        let at = self.at;
        let column = self.column();
        let Some(separators) = self.separators() else { return false };
        let is_missing = separators.is_due && separators.comma.is_none();
        separators.comma = None;
        separators.is_due = true;
        separators.column = column.or(separators.column);
        if is_missing {
            self.fix(Fix::Comma, at);
        }
        is_missing
    }

    /// Drops a comma before the end of the innermost object or list.
    fn trailing_comma(&mut self) {
        if let Some(comma) = self.separators().and_then(|separators| separators.comma.take()) {
            self.fix(Fix::Comma, comma);
        }
    }

    /// Returns the innermost list.
    fn listing(&mut self) -> Option<&mut Listing> {
        self.stack.iter_mut().rev().find_map(|open| match open {
            PartialValue::List(list) => Some(&mut **list),
            PartialValue::Object(_) => None,
        })
    }

    /// Finishes the current document: it becomes the current answer, or is passed over.
    fn finish_draft(&mut self) {
        self.confirm();
        self.found_again = false;
        if self.draft.is_empty() {
            self.draft = Draft::new(&self.p);
            return;
        }
        let mut draft = std::mem::replace(&mut self.draft, Draft::new(&self.p));
        draft.finish(&self.p);
        self.offer_draft(draft);
    }

    /// Accepts a document as the current answer, or passes it over.
    fn offer_draft(&mut self, draft: Draft) {
        let better = self.best.as_ref().is_none_or(|best| draft.grade() >= best.grade());
        let passed = if better { self.best.replace(draft) } else { Some(draft) };
        if let Some(draft) = passed {
            self.pass_over(draft.start.min(draft.end), draft.end, draft.total());
        }
    }

    fn pass_over(&mut self, start: usize, end: usize, units: u64) {
        self.marks.cover(start, end, SpanKind::PassedOver);
        if self.passed.len() < LISTED {
            let at = guard_plan::report::Extent { start: start as u64, end: end as u64 };
            self.passed.push(OtherDocument { at, units });
        }
    }

    /// Closes everything that is open, because the text has ended.
    fn cut(&mut self, t: &StepInput<'_>, at: usize) {
        self.cut = true;
        self.close_all(t, at);
    }

    /// Closes everything that is open, without closing brackets.
    fn close_all(&mut self, t: &StepInput<'_>, at: usize) {
        while let Some(open) = self.stack.last() {
            match open {
                PartialValue::List(_) => {
                    self.fix(Fix::Closer, at);
                    self.end_list();
                }
                PartialValue::Object(object) => {
                    if object.item.is_some() {
                        let why = "the text ends before its brace";
                        let reason = (QuarantineReason::Truncated, format!("{why}, at byte {at}"));
                        if let Some(object) = self.object() {
                            object.refused.get_or_insert(reason);
                        }
                    }
                    self.fix(Fix::Closer, at);
                    self.end_object(t, at);
                }
            }
        }
        self.phase = Phase::Top;
        self.at = at;
    }

    /// Finishes reading.
    pub fn finish(mut self, length: usize) -> Finished {
        self.finish_draft();
        self.close_aside();
        self.around.end_bullet();
        let comma = self.around.commas.comma;
        if let (Some(comma), Some(draft)) = (comma, self.answer()) {
            draft.fix(Fix::Comma, comma);
        }
        if self.around.wrapped > 0 {
            self.leftover.get_or_insert(length);
        }
        let leftover = self.leftover;
        let prose = self.around.ever_prose;
        let ContractEngine { best, passed, marks, cut, .. } = self;
        Finished { draft: best, passed, marks, cut, leftover, prose, length }
    }
}
