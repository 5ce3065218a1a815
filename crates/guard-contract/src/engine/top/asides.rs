//! Reasoning between tags, which is separate from the answer.

use super::{Aside, TopContext};
use crate::draft::{Draft, IN_SENTENCE};
use crate::engine::{ContractEngine, Phase, StepInput};
use guard_plan::report::{LISTED, SpanKind};

/// The tags around reasoning text.
pub(crate) const TAGS: [(&str, &str); 7] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reflection>", "</reflection>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<analysis>", "</analysis>"),
];
pub(super) const LONGEST_TAG: usize = 13;

impl ContractEngine {
    /// Skips a reasoning tag at the beginning of some bytes. Returns true if there is one.
    pub(super) fn tag(&mut self, bytes: &[u8], i: usize) -> bool {
        let is = |tag: &str| {
            bytes.get(..tag.len()).is_some_and(|b| b.eq_ignore_ascii_case(tag.as_bytes()))
        };
        let opening = TAGS.iter().position(|tag| is(tag.0));
        if let Some(tag) = opening.filter(|_| self.around.inked && self.aside.is_none()) {
            self.finish_draft();
            let at = self.at + i;
            let best = self.best.take();
            let passed = std::mem::take(&mut self.passed);
            let (around, cut) = (self.around.clone(), self.cut);
            self.aside = Some(Box::new(Aside { tag, at, best, passed, around, cut, doubt: None }));
            self.stay(i);
            self.stay(TAGS[tag].0.len());
            return true;
        }
        if let Some(tag) = opening.filter(|_| !self.around.inked) {
            self.stay(i);
            self.marks.set(self.at, SpanKind::Reasoning);
            self.phase = Phase::Reasoning(tag);
            self.at += TAGS[tag].0.len();
            return true;
        }
        let Some(tag) = TAGS.iter().position(|tag| is(tag.1)) else { return false };
        self.stay(i);
        let end = self.at + TAGS[tag].1.len();
        match self.aside.take() {
            Some(aside) if aside.tag == tag => {
                self.draft = Draft::new(&self.p);
                (self.best, self.passed, self.cut) = (aside.best, aside.passed, aside.cut);
                self.around = aside.around;
                self.around.behind_reasoning();
                self.leftover = self.leftover.filter(|at| *at < aside.at);
                self.pending = None;
                self.marks.cover(aside.at, end, SpanKind::Reasoning);
            }
            _ => self.all_was_thought(self.at),
        }
        self.stay(end - self.at);
        true
    }

    /// Joins the documents before and after a tag that is never closed, and therefore begins no
    /// reasoning.
    pub(in crate::engine) fn close_aside(&mut self) {
        let Some(aside) = self.aside.take() else { return };
        let later = std::mem::replace(&mut self.best, aside.best);
        if let (Some(before), Some(at)) = (&mut self.best, aside.doubt) {
            before.doubt.get_or_insert((at, IN_SENTENCE));
        }
        let passed = std::mem::replace(&mut self.passed, aside.passed);
        self.passed.extend(passed);
        self.passed.truncate(LISTED);
        if let Some(later) = later {
            self.offer_draft(later);
        }
    }

    /// Marks the text so far as reasoning. It ends with a closing tag whose opening tag is not part
    /// of the text.
    fn all_was_thought(&mut self, end: usize) {
        self.draft = Draft::new(&self.p);
        self.best = None;
        self.passed.clear();
        (self.pending, self.leftover, self.aside, self.cut) = (None, None, None, false);
        self.marks.cover(0, end, SpanKind::Reasoning);
        // A comment that ends behind the reasoning began before it.
        let maybe_comment = self.around.comment.or(self.around.maybe_comment);
        self.around = TopContext { maybe_comment, ..TopContext::default() };
    }

    pub(in crate::engine) fn reasoning(&mut self, t: &StepInput<'_>, tag: usize) -> bool {
        let rest = t.w.from(self.at);
        let close = TAGS[tag].1.as_bytes();
        let mut i = 0;
        while let Some(found) = memchr::memchr(b'<', &rest[i..]) {
            i += found;
            match rest.get(i..i + close.len()) {
                Some(bytes) if bytes.eq_ignore_ascii_case(close) => {
                    self.at += i + close.len();
                    self.around.behind_reasoning();
                    self.phase = Phase::Top;
                    return true;
                }
                None if !t.w.end => {
                    self.at += i;
                    return false;
                }
                _ => i += 1,
            }
        }
        self.at += rest.len();
        false
    }
}
