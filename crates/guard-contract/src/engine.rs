//! Reading a text, from left to right, into documents, members and units.
//!
//! A machine of small steps. A step decides on what surely follows from the text up to some point, or asks for more
//! of it; so a text read in pieces gives what the whole gives. What a unit is worth is `judge`'s to say.

mod elements;
mod keeping;
mod members;
mod search;
mod skip;
mod top;
mod unit;
mod value;

use crate::draft::Draft;
use crate::judge::Judge;
use crate::marks::Marks;
use crate::shape::Prepared;
use crate::tape::Tape;
use guard_plan::json::Json;
use guard_plan::report::{Fix, Item, LISTED, PassedOver, Problem, Reason, SpanKind};
use search::Search;
use skip::Skip;
use std::sync::Arc;
use top::Around;
use unit::HEAD;

/// The part of the text that is at hand.
#[derive(Clone, Copy)]
pub(crate) struct Window<'a> {
    pub bytes: &'a [u8],
    /// Its place in the text.
    pub base: usize,
    /// The text ends with it.
    pub end: bool,
}

impl<'a> Window<'a> {
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

/// What a step works with.
#[derive(Clone, Copy)]
pub(crate) struct Turn<'a> {
    pub w: Window<'a>,
    pub judge: Judge<'a>,
}

/// An object that is read member by member: the envelope, or an item that holds lists and does not read as a whole.
#[derive(Debug, Default)]
struct Object {
    /// The list whose item it is; none for the envelope.
    item: Option<usize>,
    index: u64,
    start: usize,
    /// The document knows of it; of an item it always does.
    attached: bool,
    /// Of an item: what it holds so far.
    values: Vec<(Box<str>, Json)>,
    /// Of an envelope, by field.
    members: Vec<(usize, Json)>,
    seen: Vec<Box<str>>,
    /// How many of its members the contract knows.
    known: usize,
    problems: Vec<Problem>,
    fixes: Vec<(Fix, usize)>,
    /// Why it does not survive; only of an item.
    refused: Option<(Reason, String)>,
    /// A comma stands before what follows, here.
    comma: Option<usize>,
    /// No comma is due yet.
    fresh: bool,
    /// Where the last value begins, if it is a string: it may have swallowed what follows.
    last: Option<usize>,
    /// The member whose value follows, and where its key stands.
    key: Option<(Box<str>, usize)>,
    resynchronised: bool,
    repaired: bool,
    /// Of an item: how it begins, once there is enough of it.
    head: Option<Vec<u8>>,
}

/// A list that is read item by item.
#[derive(Debug)]
struct Listing {
    list: usize,
    /// It occurs a second time in its object: nothing of it counts.
    twice: bool,
    comma: Option<usize>,
    fresh: bool,
    /// Of a list within an item: what is kept, and how many there were.
    inner: Option<(crate::keep::Keep, u64)>,
}

#[derive(Debug)]
enum Open {
    Object(Box<Object>),
    List(Box<Listing>),
}

#[derive(Debug)]
enum Phase {
    /// Outside of documents.
    Top,
    /// In what the producer thinks, until this closing tag.
    Reasoning(usize),
    /// In an object, between members.
    Members,
    /// In a list, between items.
    Elements,
    /// In a unit that is too large to be read.
    Skip(Skip),
    /// Behind something unreadable.
    Search(Search),
}

/// The machine.
pub(crate) struct Engine {
    p: Arc<Prepared>,
    /// All before is decided.
    at: usize,
    phase: Phase,
    stack: Vec<Open>,
    draft: Draft,
    best: Option<Draft>,
    passed: Vec<PassedOver>,
    marks: Marks,
    tape: Tape,
    around: Around,
    /// An item of this list that stands by itself begins here, and waits for more of its text.
    framing: Option<usize>,
    /// The next unit was found by looking for it.
    found_again: bool,
    /// The text ends within the document that comes next.
    cut: bool,
    /// Items are handed out as they come.
    pub emit: bool,
    pub out: Vec<Item>,
}

/// What the machine has read.
pub(crate) struct Finished {
    pub draft: Option<Draft>,
    pub passed: Vec<PassedOver>,
    pub marks: Marks,
    /// The text ends within something.
    pub cut: bool,
}

impl Engine {
    pub fn new(p: Arc<Prepared>) -> Engine {
        Engine {
            at: 0,
            phase: Phase::Top,
            stack: Vec::new(),
            draft: Draft::new(&p),
            best: None,
            passed: Vec::new(),
            marks: Marks::default(),
            tape: Tape::default(),
            around: Around::default(),
            framing: None,
            found_again: false,
            cut: false,
            emit: false,
            out: Vec::new(),
            p,
        }
    }

    /// Goes as far as the text at hand allows.
    pub fn run(&mut self, t: &Turn<'_>) {
        self.take_heads(t);
        while self.step(t) {}
        self.take_heads(t);
    }

    /// The items that are read member by member keep how they begin.
    fn take_heads(&mut self, t: &Turn<'_>) {
        for open in &mut self.stack {
            if let Open::Object(object) = open
                && object.item.is_some()
                && object.head.is_none()
                && t.w.stop() >= object.start + HEAD
            {
                object.head = Some(t.w.part(object.start, object.start + HEAD).to_vec());
            }
        }
    }

    /// The first byte that must stay at hand.
    pub fn hold(&self) -> usize {
        let headless = self.stack.iter().find_map(|open| match open {
            Open::Object(object) if object.item.is_some() && object.head.is_none() => {
                Some(object.start)
            }
            _ => None,
        });
        let here = match &self.phase {
            Phase::Search(search) => search.hold(),
            Phase::Skip(skip) => skip.hold(self.at),
            Phase::Members => match self.stack.last() {
                Some(Open::Object(object)) => object.last.unwrap_or(self.at).min(self.at),
                _ => self.at,
            },
            _ => self.at,
        };
        headless.map_or(here, |start| start.min(here))
    }

    /// Where the step that waits for more text began.
    pub fn waits_at(&self) -> usize {
        self.at
    }

    /// Whether a whole value could let the next step go on.
    pub fn in_unit(&self) -> bool {
        matches!(self.phase, Phase::Members | Phase::Elements | Phase::Top)
    }

    /// One step; false where more text is needed, or the text has ended.
    fn step(&mut self, t: &Turn<'_>) -> bool {
        match self.phase {
            Phase::Top => self.top(t),
            Phase::Reasoning(tag) => self.reasoning(t, tag),
            Phase::Members => self.members(t),
            Phase::Elements => self.elements(t),
            Phase::Skip(_) => self.skip(t),
            Phase::Search(_) => self.search(t),
        }
    }

    /// Notes a repair with the document, or with an object that may turn out to be none of its.
    fn fix(&mut self, fix: Fix, at: usize) {
        match self.stack.first_mut() {
            Some(Open::Object(object)) if !object.attached => {
                if object.fixes.len() < LISTED {
                    object.fixes.push((fix, at));
                }
            }
            _ => self.draft.fix(fix, at),
        }
    }

    /// A problem of the envelope that is open.
    fn problem(&mut self, member: &str, reason: Reason, error: impl Into<String>) {
        match self.stack.first_mut() {
            Some(Open::Object(object)) if !object.attached => {
                if object.problems.len() < LISTED {
                    let member = guard_plan::render::cut(member, 100);
                    object.problems.push(Problem { member, reason, error: error.into() });
                }
            }
            _ => self.draft.problem(member, reason, error),
        }
    }

    /// The innermost object.
    fn object(&mut self) -> Option<&mut Object> {
        self.stack.iter_mut().rev().find_map(|open| match open {
            Open::Object(object) => Some(&mut **object),
            Open::List(_) => None,
        })
    }

    /// The innermost list.
    fn listing(&mut self) -> Option<&mut Listing> {
        self.stack.iter_mut().rev().find_map(|open| match open {
            Open::List(list) => Some(&mut **list),
            Open::Object(_) => None,
        })
    }

    /// The current document is over: it is the answer so far, or passed over.
    fn finish_draft(&mut self) {
        if self.draft.is_empty() {
            self.draft = Draft::new(&self.p);
            return;
        }
        let mut draft = std::mem::replace(&mut self.draft, Draft::new(&self.p));
        draft.finish(&self.p);
        let better = self.best.as_ref().is_none_or(|best| draft.grade() >= best.grade());
        let passed = if better { self.best.replace(draft) } else { Some(draft) };
        if let Some(draft) = passed {
            self.pass_over(&draft);
        }
    }

    fn pass_over(&mut self, draft: &Draft) {
        let (start, end) = (draft.start.min(draft.end), draft.end);
        self.marks.cover(start, end, SpanKind::PassedOver);
        if self.passed.len() < LISTED {
            let at = guard_plan::report::Extent { start: start as u64, end: end as u64 };
            self.passed.push(PassedOver { at, units: draft.total() });
        }
    }

    /// The text has ended within what is open; all of it is closed.
    fn cut(&mut self, t: &Turn<'_>, at: usize) {
        self.cut = true;
        self.close_all(t, at);
    }

    /// Everything that is open ends here, without anything to close it.
    fn close_all(&mut self, t: &Turn<'_>, at: usize) {
        while let Some(open) = self.stack.last() {
            match open {
                Open::List(_) => {
                    self.fix(Fix::Closer, at);
                    self.end_list();
                }
                Open::Object(_) => {
                    self.fix(Fix::Closer, at);
                    self.end_object(t, at);
                }
            }
        }
        self.phase = Phase::Top;
        self.at = at;
    }

    /// All is read.
    pub fn finish(mut self) -> Finished {
        self.finish_draft();
        Finished { draft: self.best, passed: self.passed, marks: self.marks, cut: self.cut }
    }
}
