//! Reading of the text outside of documents: prose, fences, reasoning, and the beginnings of
//! documents.

mod asides;
mod beginnings;
mod context;
mod lone_items;

use super::{ContractEngine, StepInput};
use crate::draft::{Draft, IN_SENTENCE};
use asides::LONGEST_TAG;
pub(crate) use asides::TAGS;
use beginnings::{Quote, Start};
pub(super) use context::TopContext;
use context::{LinePlace, LooseCommas, TopComment};
use guard_plan::plan::Root;
use guard_plan::report::{Fix, LISTED, SpanKind};

/// The state when a reasoning tag begins within a line. It holds again after the closing tag.
#[derive(Debug)]
pub(super) struct Aside {
    tag: usize,
    at: usize,
    best: Option<Draft>,
    passed: Vec<guard_plan::report::OtherDocument>,
    around: TopContext,
    cut: bool,
    /// The sentence that continues after `best`, unless the tag is closed.
    doubt: Option<usize>,
}

/// The classification of the text at a `<` or a `/`.
enum Markup {
    Passed,
    /// A tag around reasoning, which was handled.
    Reasoning,
    More,
}

impl ContractEngine {
    pub(super) fn top(&mut self, t: &StepInput<'_>) -> bool {
        if let Some(list) = self.framing.take() {
            return self.frame(t, list);
        }
        let rest = t.w.from(self.at);
        let mut i = 0;
        while let Some(byte) = rest.get(i).copied() {
            if !self.leave_comment(rest, i, t.w.end) {
                return self.stay(i);
            }
            match byte {
                b'\n' => {
                    // The unit before was on separate lines.
                    self.confirm();
                    self.around.end_line();
                }
                b' ' | b'\t' | b'\r' => self.around.blank(),
                b'[' if self.p.contract.root == Root::Items => match self.array(rest, i, t.w.end) {
                    Start::More => return self.stay(i),
                    Start::Object => {
                        self.stay(i);
                        self.begin_array();
                        return true;
                    }
                    _ => self.mark(byte, self.at + i),
                },
                b',' | b']' | b'}' | b'[' | b':' => self.mark(byte, self.at + i),
                b'{' => {
                    let start = match (self.start(rest, i, t.w.end), self.p.contract.root) {
                        // The document is not an object.
                        (Start::Object, Root::Items) => Start::Prose,
                        (start, _) => start,
                    };
                    if !matches!(start, Start::Prose) {
                        return self.begin(t, start, i);
                    }
                    if self.around.place != LinePlace::Prose {
                        self.leftover.get_or_insert(self.at + i);
                    }
                    self.prose_byte(self.at + i);
                }
                b'<' | b'/' => match self.markup(rest, i, t.w.end) {
                    Markup::More => return self.stay(i),
                    Markup::Reasoning => return true,
                    Markup::Passed => {}
                },
                b'`' if !self.around.inked => match self.backtick(rest, i, t.w.end) {
                    Some(passed) => i += passed,
                    None => return self.stay(i),
                },
                b'"' => match self.quote(rest, i, t.w.end) {
                    Quote::More => return self.stay(i),
                    Quote::Headless => {
                        self.stay(i);
                        self.begin_headless();
                        return true;
                    }
                    Quote::Passed => {}
                },
                // A byte order mark is skipped.
                0xEF if self.at + i == 0 && rest.starts_with(b"\xEF\xBB\xBF") => i += 2,
                b'-' | b'*' | b'.' | b')' | b'0'..=b'9'
                    if self.around.place == LinePlace::Start && self.around.wrapped == 0 =>
                {
                    (self.around.inked, self.around.column) = (true, None);
                    self.around.bullet_byte(byte);
                }
                b'`' | b';' if self.around.place == LinePlace::Behind => {
                    self.around.inked = true;
                    // The end of a fence may follow its last item directly.
                    self.around.ever_prose |= byte == b';' || !self.around.fenced;
                }
                _ if byte.is_ascii_alphanumeric() || byte >= 0x80 => {
                    if let Some(found) = self.loose_member(rest, i, t.w.end) {
                        if found {
                            self.leftover.get_or_insert(self.at + i);
                        }
                        self.prose_byte(self.at + i);
                    } else {
                        return self.stay(i);
                    }
                }
                _ => {
                    (self.around.inked, self.around.column) = (true, None);
                    self.other_text(self.at + i);
                }
            }
            self.around.passed(byte);
            i += 1;
        }
        self.stay(i)
    }

    /// Ends a comment at its end. Returns false if more text is needed to decide.
    fn leave_comment(&mut self, rest: &[u8], i: usize, end: bool) -> bool {
        let at = self.at + i;
        let rest = &rest[i..];
        let TopContext { comment, maybe_comment, .. } = &mut self.around;
        if comment.is_none() && maybe_comment.is_none() {
            return true;
        }
        comment.take_if(|comment| comment.ends(at, rest));
        let begun = maybe_comment.take_if(|comment| comment.ends(at, rest));
        let waits = [comment, maybe_comment].into_iter().flatten().any(|c| c.may_end(at, rest));
        let start = begun.map_or(usize::MAX, |comment| comment.start);
        if let Some(draft) = self.answer().filter(|draft| draft.start >= start) {
            draft.doubt.get_or_insert((start, IN_SENTENCE));
        }
        end || !waits
    }

    /// Handles a backtick at the beginning of a line: a fence, or prose. Returns the number of bytes
    /// after it that are passed; `None` if more text is needed.
    fn backtick(&mut self, rest: &[u8], i: usize, end: bool) -> Option<usize> {
        if rest.len() - i < 3 && !end {
            return None;
        }
        if !rest[i..].starts_with(b"```") {
            self.prose_byte(self.at + i);
            return Some(0);
        }
        let around = &mut self.around;
        around.fenced = !around.fenced;
        (around.fence_line, around.inked, around.words) = (true, true, 0);
        around.place = LinePlace::Prose;
        Some(2)
    }

    /// Handles a `<` or a `/`: the tags around reasoning, and the beginnings of comments.
    fn markup(&mut self, rest: &[u8], i: usize, end: bool) -> Markup {
        let is_slash = rest[i] == b'/';
        if rest.len() - i < if is_slash { 2 } else { LONGEST_TAG } && !end {
            return Markup::More;
        }
        if !is_slash && self.tag(&rest[i..], i) {
            return Markup::Reasoning;
        }
        let start = self.at + i;
        let around = &mut self.around;
        if around.comment.is_some() {
            // Comments do not nest.
        } else if rest[i..].starts_with(b"<!--") {
            around.comment = Some(TopComment { start, close: b"-->" });
        } else if rest[i..].starts_with(b"/*") {
            let comment = TopComment { start, close: b"*/" };
            if around.inked {
                // This may be a part of a path: `src/*.rs`.
                around.maybe_comment.get_or_insert(comment);
            } else {
                around.comment = Some(comment);
            }
        }
        self.prose_byte(self.at + i);
        Markup::Passed
    }

    /// Handles a comma, colon or bracket outside of documents. After a document or at the beginning
    /// of a line, it is a remainder of a document.
    fn mark(&mut self, byte: u8, at: usize) {
        let around = &mut self.around;
        let inked = std::mem::replace(&mut around.inked, true);
        (around.comma, around.column) = (byte == b',', None);
        if around.place == LinePlace::Prose {
            return;
        }
        if byte == b'[' && around.place == LinePlace::Start && around.is_glued() {
            return self.other_text(at);
        }
        let closes = byte == b']' && around.wrapped > 0;
        let empty = inked && around.place == LinePlace::Start && around.commas.comma.is_none();
        if closes && empty {
            // A mark such as `[]` contains no document.
            return self.other_text(at);
        }
        let lone_items = self.draft.framed || self.draft.loose;
        match byte {
            b'[' if around.place == LinePlace::Start || lone_items => around.open_bracket(),
            b']' if around.wrapped > 0 => {
                around.wrapped -= 1;
                if let Some(comma) = around.commas.comma.take() {
                    around.place = LinePlace::Behind;
                    self.fix(Fix::Comma, comma);
                }
            }
            b',' if around.wrapped > 0 || lone_items => {
                around.place = LinePlace::Start;
                self.loose_comma(at);
                if self.draft.envelope && !lone_items {
                    // The document is not the only element of its list.
                    self.leftover.get_or_insert(at);
                }
            }
            _ => {
                self.reject("more follows its brace");
                self.leftover.get_or_insert(at);
            }
        }
    }

    /// Reads a comma between items without their list.
    fn loose_comma(&mut self, at: usize) {
        let is_early = self.draft.is_empty();
        let commas = &mut self.around.commas;
        if commas.behind && commas.comma.is_none() {
            commas.comma = Some(at);
        } else if !is_early {
            self.fix(Fix::Comma, at);
        } else if commas.early.len() < LISTED {
            commas.early.push(at);
        }
    }

    /// Handles text that is not a document. A unit before it on the same line is within a sentence.
    pub(super) fn leave_place(&mut self, at: usize) {
        if self.around.fence_line {
            return;
        }
        if self.around.place == LinePlace::Behind {
            if !self.draft.envelope {
                self.reject("a sentence continues after its brace");
            }
            if let Some(draft) = self.answer() {
                draft.doubt.get_or_insert((at, IN_SENTENCE));
            } else if let Some(aside) = &mut self.aside {
                aside.doubt.get_or_insert(at);
            }
        }
        if let Some(comma) = self.around.commas.comma
            && self.around.wrapped > 0
            && self.draft.envelope
        {
            // An element that is no item follows.
            self.leftover.get_or_insert(comma);
        }
        self.around.place = LinePlace::Prose;
        self.around.wrapped = 0;
        self.around.commas = LooseCommas::default();
    }

    /// Handles text that is not a document. Beside items without their list, it may stand for one.
    fn other_text(&mut self, at: usize) {
        self.around.ever_prose |= !self.around.fence_line;
        self.leave_place(at);
    }

    /// Returns the last document.
    pub(super) fn answer(&mut self) -> Option<&mut Draft> {
        if self.draft.is_empty() { self.best.as_mut() } else { Some(&mut self.draft) }
    }

    fn prose_byte(&mut self, at: usize) {
        let around = &mut self.around;
        (around.inked, around.comma, around.column) = (true, false, None);
        around.prose |= !around.fence_line;
        self.other_text(at);
    }

    /// Marks everything up to here as decided.
    fn stay(&mut self, len: usize) -> bool {
        if len > 0 {
            self.marks.set(self.at, SpanKind::Text);
        }
        self.at += len;
        false
    }
}
