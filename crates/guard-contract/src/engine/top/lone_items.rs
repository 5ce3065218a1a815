//! Separate items: objects outside of any list that look like an item of one.

use super::context::LinePlace;
use crate::draft::Draft;
use crate::engine::unit::UnitReading;
use crate::engine::{ContractEngine, StepInput};
use guard_plan::report::{Fix, SpanKind};

impl ContractEngine {
    /// Reads a separate item.
    pub(super) fn frame(&mut self, t: &StepInput<'_>, list: usize) -> bool {
        let in_sentence = self.around.place == LinePlace::Prose || self.around.open_quote;
        if in_sentence || self.around.is_glued() || self.has_list() {
            return self.pass_unit(t, list);
        }
        let near = !self.around.prose || self.around.comma;
        let continues = self.draft.envelope && !self.draft.framed && near;
        let joins = self.draft.framed && self.draft.fenced == self.around.fenced;
        let header = self.draft.envelope && self.draft.total() == 0;
        if !(continues || joins || header) {
            self.finish_draft();
        }
        let start = self.at;
        if !self.lone_unit(t, list) {
            self.framing = Some(list);
            return false;
        }
        self.begin_loose(start, true);
        self.draft.loose = true;
        if !continues {
            self.draft.framed = true;
            self.draft.fenced = self.around.fenced;
        }
        self.around.behind_document();
        true
    }

    /// Records the commas before an item or document that are surplus, or missing before an item.
    pub(super) fn begin_loose(&mut self, start: usize, item: bool) {
        let (early, is_missing) = self.around.commas.begin(self.around.wrapped > 0);
        early.into_iter().for_each(|at| self.fix(Fix::Comma, at));
        if is_missing && item {
            self.fix(Fix::Comma, start);
        }
    }

    /// Returns true if a document with an envelope has a list already.
    fn has_list(&self) -> bool {
        let in_draft = |draft: &Draft| {
            let seen = |list: &usize| {
                self.p
                    .fields
                    .iter()
                    .zip(&draft.seen)
                    .any(|(field, seen)| *seen && field.name == self.p.lists[*list].member)
            };
            draft.envelope && self.p.top.iter().any(seen)
        };
        in_draft(&self.draft) || self.best.as_ref().is_some_and(in_draft)
    }

    /// Passes over an object that looks like an item, within a sentence or after a document with a
    /// list.
    fn pass_unit(&mut self, t: &StepInput<'_>, list: usize) -> bool {
        let start = self.at;
        let len = if self.passed_to > start {
            if self.passed.is_empty() {
                // The text around it was reasoning up to a tag within it.
                self.pass_over(start, self.passed_to, 1);
            }
            None
        } else {
            match self.read(t, start, Some(list)) {
                UnitReading::More => {
                    self.framing = Some(list);
                    return false;
                }
                UnitReading::Strict(len) => Some(len),
                UnitReading::Repaired(done) => Some(done.len),
                UnitReading::Broken(broken) => {
                    self.cut |= broken.cut;
                    self.pass_unreadable(start, broken.at);
                    None
                }
                UnitReading::Large(_, len) => {
                    self.pass_unreadable(start, len);
                    None
                }
            }
        };
        self.marks.set(start, SpanKind::PassedOver);
        if let Some(len) = len {
            self.pass_over(start, start + len, 1);
        }
        self.at = start + len.unwrap_or(1);
        self.marks.set(self.at, SpanKind::Text);
        (self.around.inked, self.around.prose, self.around.ever_prose) = (true, true, true);
        self.around.last = b'}';
        self.leave_place(start);
        true
    }

    /// Passes over an item that can be read only up to this length. The objects in that part are
    /// not items by themselves; other documents are still looked for.
    fn pass_unreadable(&mut self, start: usize, len: usize) {
        self.passed_to = start + len;
        self.pass_over(start, start + len.max(1), 1);
    }
}
