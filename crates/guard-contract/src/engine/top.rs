//! Reading of the text outside of documents: prose, fences, reasoning, and the beginnings of
//! documents.

mod asides;

use super::unit::UnitReading;
use super::{ContractEngine, Object, PartialValue, Phase, StepInput};
use crate::boundary::{self, Lead};
use crate::draft::{Draft, GLUED, IN_SENTENCE};
use asides::LONGEST_TAG;
pub(crate) use asides::TAGS;
use guard_plan::plan::Root;
use guard_plan::report::SpanKind;

/// The context of the current position.
#[derive(Debug, Default)]
pub(super) struct TopContext {
    /// True if the line has a non-whitespace character.
    pub inked: bool,
    /// True if the line has a double quote.
    quoted: bool,
    /// True if there is prose since the last document.
    pub prose: bool,
    /// True if there is prose anywhere.
    pub ever_prose: bool,
    /// True in a fence.
    fenced: bool,
    /// True in the line that begins or ends a fence.
    fence_line: bool,
    /// True if the last non-whitespace byte is a comma.
    comma: bool,
    /// The position on the line.
    place: LinePlace,
    /// True inside of double quotes in prose.
    open_quote: bool,
    /// The last byte.
    last: u8,
    /// The indentation, if the line is empty so far.
    column: Option<usize>,
    /// The number of brackets that are open around documents.
    pub wrapped: usize,
    /// The end of the current comment around documents, if there is one.
    comment: Option<&'static [u8]>,
}

/// The kind of a position on its line.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum LinePlace {
    /// Only marks that may precede a unit come before it.
    #[default]
    Start,
    /// A document or unit that began the line ends before it.
    Behind,
    /// The position is within a sentence.
    Prose,
}

impl TopContext {
    pub fn behind_document(&mut self) {
        (self.inked, self.prose, self.column) = (true, false, None);
        (self.last, self.place) = (b'}', LinePlace::Behind);
    }

    /// Records that other JSON ends here.
    pub fn in_prose(&mut self) {
        (self.place, self.ever_prose) = (LinePlace::Prose, true);
    }

    /// Records that a document or unit begins here.
    pub fn begin_line(&mut self) {
        (self.inked, self.quoted, self.open_quote) = (false, false, false);
        (self.place, self.column) = (LinePlace::Start, None);
    }

    fn end_line(&mut self) {
        // A quote at the end of a line may include the following lines.
        self.open_quote &= self.last == b'"';
        (self.inked, self.quoted, self.fence_line) = (false, false, false);
        // No line of a comment is meant as a document.
        let place = if self.comment.is_some() { LinePlace::Prose } else { LinePlace::Start };
        (self.place, self.column) = (place, Some(0));
    }

    /// Returns true if a mark is directly before a brace: `- {` is an entry of a list, but `-{` and
    /// `0{` are not.
    fn is_glued(&self) -> bool {
        matches!(self.last, b'-' | b'*' | b'.' | b')' | b'0'..=b'9')
    }
}

/// The document so far, when a reasoning tag begins within a line.
#[derive(Debug)]
pub(super) struct Aside {
    tag: usize,
    at: usize,
    best: Option<Draft>,
    passed: Vec<guard_plan::report::OtherDocument>,
}

/// The classification of the text at a `<` or a `/`.
enum Markup {
    Passed,
    /// A tag around reasoning, which was handled.
    Reasoning,
    More,
}

/// The classification of the text after a double quote.
enum Quote {
    Passed,
    /// A document without its first brace.
    Headless,
    More,
}

/// The structure that begins at a brace.
enum Start {
    Prose,
    /// An object that is read member by member.
    Object,
    /// An item of this list.
    Frame(usize),
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
            if !self.leave_comment(&rest[i..], t.w.end) {
                return self.stay(i);
            }
            match byte {
                b'\n' => {
                    // The unit before was on separate lines.
                    self.confirm();
                    self.around.end_line();
                }
                b' ' | b'\t' | b'\r' => {
                    self.around.column = self.around.column.map(|column| column + 1);
                }
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
                b'`' if !self.around.inked => {
                    if rest.len() - i < 3 && !t.w.end {
                        return self.stay(i);
                    }
                    if rest[i..].starts_with(b"```") {
                        self.around.fenced = !self.around.fenced;
                        (self.around.fence_line, self.around.inked) = (true, true);
                        self.around.place = LinePlace::Prose;
                        i += 2;
                    } else {
                        self.prose_byte(self.at + i);
                    }
                }
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
                    // The mark begins an entry in a list of prose.
                    (self.around.inked, self.around.column) = (true, None);
                }
                b'`' | b';' if self.around.place == LinePlace::Behind => self.around.inked = true,
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
                    self.leave_place(self.at + i);
                }
            }
            self.around.last = byte;
            i += 1;
        }
        self.stay(i)
    }

    /// Ends a comment at its end. Returns false if more text is needed to decide.
    fn leave_comment(&mut self, rest: &[u8], end: bool) -> bool {
        let Some(close) = self.around.comment else { return true };
        if rest.starts_with(close) {
            self.around.comment = None;
        }
        end || rest.len() >= close.len() || !close.starts_with(rest)
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
        if rest[i..].starts_with(b"<!--") {
            self.around.comment = Some(b"-->");
        } else if rest[i..].starts_with(b"/*") && !self.around.inked {
            self.around.comment = Some(b"*/");
        }
        self.prose_byte(self.at + i);
        Markup::Passed
    }

    /// Classifies a bracket: the document, if it is a list, may begin here.
    fn array(&self, rest: &[u8], i: usize, end: bool) -> Start {
        if self.around.inked || self.around.open_quote || self.around.wrapped > 0 {
            return Start::Prose;
        }
        let empty = self.draft.is_empty() && self.best.is_none();
        let nothing_yet = empty && !self.around.prose;
        let next = crate::lex::blanks(rest, i + 1);
        let leads = match rest.get(next) {
            None if !end => return Start::More,
            None => nothing_yet,
            // An empty list on separate lines retracts the list before.
            Some(b']') => nothing_yet || (!empty && self.around.place == LinePlace::Start),
            Some(b'{') => match boundary::lead(rest, next) {
                Lead::More if !end => return Start::More,
                Lead::Key(name) => nothing_yet || self.p.frame_of(&name).is_some(),
                _ => nothing_yet,
            },
            Some(_) => nothing_yet,
        };
        if leads { Start::Object } else { Start::Prose }
    }

    /// Begins the document, which is a list, in an object that is not in the text.
    fn begin_array(&mut self) {
        let start = self.at;
        self.begin_object(start);
        if let Some(object) = self.object() {
            object.known = 1;
            object.seen.push("items".into());
        }
        self.open_list(0, start + 1);
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
        if byte == b']' && inked && around.place == LinePlace::Start {
            // A mark such as `[1]` contains no document.
            return self.leave_place(at);
        }
        let lone_items = self.draft.framed;
        match byte {
            b'[' if around.place == LinePlace::Start || lone_items => {
                around.wrapped += 1;
                around.place = LinePlace::Start;
            }
            b']' if around.wrapped > 0 => around.wrapped -= 1,
            b',' if around.wrapped > 0 || lone_items => {
                around.place = LinePlace::Start;
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

    /// Handles text that is not a document. A unit before it on the same line is within a sentence.
    fn leave_place(&mut self, at: usize) {
        if self.around.fence_line {
            return;
        }
        if self.around.place == LinePlace::Behind {
            if !self.draft.envelope {
                self.reject("a sentence continues after its brace");
            }
            if let Some(draft) = self.answer() {
                draft.doubt.get_or_insert((at, IN_SENTENCE));
            }
        }
        self.around.place = LinePlace::Prose;
        self.around.wrapped = 0;
    }

    /// Returns the last document.
    fn answer(&mut self) -> Option<&mut Draft> {
        if self.draft.is_empty() { self.best.as_mut() } else { Some(&mut self.draft) }
    }

    fn prose_byte(&mut self, at: usize) {
        let around = &mut self.around;
        (around.inked, around.comma, around.column) = (true, false, None);
        if !around.fence_line {
            (around.prose, around.ever_prose) = (true, true);
        }
        self.leave_place(at);
    }

    /// Handles a double quote outside of documents. If a member of the contract follows it, the
    /// quote is a remainder of a document, or begins a document whose brace is missing.
    fn quote(&mut self, rest: &[u8], i: usize, end: bool) -> Quote {
        if self.around.place != LinePlace::Prose {
            match boundary::key(rest, i) {
                Err(()) if !end => return Quote::More,
                Ok(Some((name, _))) if self.p.envelope.has(&name) || self.p.declared.has(&name) => {
                    let nothing_yet = self.draft.is_empty() && self.best.is_none();
                    if nothing_yet && self.p.envelope.has(&name) && !self.around.prose {
                        return Quote::Headless;
                    }
                    self.reject("a member follows its brace");
                    self.leftover.get_or_insert(self.at + i);
                }
                _ => {}
            }
        }
        self.around.open_quote = !self.around.open_quote;
        (self.around.quoted, self.around.inked, self.around.column) = (true, true, None);
        self.leave_place(self.at + i);
        Quote::Passed
    }

    /// Returns true if a line begins with a member of the contract without quotes; `None` if more
    /// text is needed.
    fn loose_member(&self, rest: &[u8], i: usize, end: bool) -> Option<bool> {
        if self.around.place == LinePlace::Prose || self.around.fence_line {
            return Some(false);
        }
        match boundary::loose_key(rest, i) {
            Ok(Some((name, _))) => Some(self.p.envelope.has(name) || self.p.declared.has(name)),
            Err(()) if !end => None,
            _ => Some(false),
        }
    }

    /// Begins a document whose first brace is missing.
    fn begin_headless(&mut self) {
        let at = self.at;
        self.begin_object(at);
        self.at = at;
        self.doubt(at, "the first brace of the document is missing");
    }

    /// Marks everything up to here as decided.
    fn stay(&mut self, len: usize) -> bool {
        if len > 0 {
            self.marks.set(self.at, SpanKind::Text);
        }
        self.at += len;
        false
    }

    /// Classifies a brace. Objects in JSON's quotes always count; others only if they are certainly
    /// not inside a string.
    fn start(&self, rest: &[u8], i: usize, end: bool) -> Start {
        // The object is quoted from elsewhere.
        let quoted =
            self.around.inked && matches!(self.around.last, b'"' | b'\'' | b'`' | 0x98..=0x9E);
        let nothing_yet = self.draft.is_empty() && self.best.is_none();
        let at = match boundary::opening(rest, i) {
            Ok(at) => at,
            Err(()) if !end => return Start::More,
            Err(()) => crate::lex::blanks(rest, i + 1),
        };
        match boundary::first(rest, at) {
            Lead::Key(name) if quoted => self.p.frame_of(&name).map_or(Start::Prose, Start::Frame),
            Lead::More if !end => Start::More,
            _ if quoted => Start::Prose,
            Lead::Key(name) if self.p.envelope.has(&name) => Start::Object,
            Lead::Key(name) => {
                self.p.frame_of(&name).or(self.neighbour()).map_or(Start::Object, Start::Frame)
            }
            Lead::Empty if nothing_yet && !self.around.prose => Start::Object,
            Lead::Empty => Start::Prose,
            Lead::More if !end => Start::More,
            // The text ends within the object's first key.
            Lead::More if nothing_yet => Start::Object,
            Lead::More => Start::Prose,
            // The document has a damaged first key.
            Lead::Other
                if nothing_yet
                    && !self.around.prose
                    && self.around.place == LinePlace::Start
                    && self.may_be_key(rest, at) =>
            {
                Start::Object
            }
            Lead::Other if self.around.quoted => Start::Prose,
            Lead::Other => match boundary::loose_key(rest, at) {
                Ok(Some((name, _))) if self.p.envelope.has(name) => Start::Object,
                Ok(Some((name, _))) => self.p.frame_of(name).map_or(Start::Prose, Start::Frame),
                Err(()) if !end => Start::More,
                _ => Start::Prose,
            },
        }
    }

    /// Returns true if a damaged key of the envelope may begin here.
    fn may_be_key(&self, rest: &[u8], at: usize) -> bool {
        let near = &rest[at..rest.len().min(at + boundary::LONGEST_NAME)];
        let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        let end = near.iter().position(|b| !part(b)).unwrap_or(near.len());
        near.first() == Some(&b'"')
            || str::from_utf8(&near[..end]).is_ok_and(|name| self.p.envelope.has(name))
    }

    /// Returns the list of the separate items directly before. An object with an unknown key
    /// belongs to it.
    fn neighbour(&self) -> Option<usize> {
        let among = self.draft.framed || (self.draft.envelope && self.draft.total() == 0);
        let list = self.p.top.iter().copied().max_by_key(|list| self.draft.units[*list]);
        list.filter(|_| among && !self.around.prose)
    }

    fn begin(&mut self, t: &StepInput<'_>, start: Start, i: usize) -> bool {
        self.stay(i);
        match start {
            Start::Prose | Start::More => false,
            Start::Object => {
                self.begin_object(self.at);
                true
            }
            Start::Frame(list) => self.frame(t, list),
        }
    }

    pub(super) fn begin_object(&mut self, start: usize) {
        self.confirm();
        self.marks.set(start, SpanKind::Envelope);
        let doubt = if self.around.place == LinePlace::Prose || self.around.open_quote {
            Some((start, IN_SENTENCE))
        } else {
            self.around.is_glued().then_some((start, GLUED))
        };
        let begun = self.around.column;
        let object = Object { start, begun, doubt, ..Object::default() };
        self.stack.push(PartialValue::Object(Box::new(object)));
        self.at = start + 1;
        self.phase = Phase::Members;
    }

    /// Reads a separate item.
    fn frame(&mut self, t: &StepInput<'_>, list: usize) -> bool {
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
        if !self.lone_unit(t, list) {
            self.framing = Some(list);
            return false;
        }
        self.draft.loose = true;
        if !continues {
            self.draft.framed = true;
            self.draft.fenced = self.around.fenced;
        }
        self.around.behind_document();
        true
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
                    self.passed_to = start + broken.at;
                    None
                }
                UnitReading::Large(_) => {
                    self.passed_to = start + self.cap().min(t.w.from(start).len());
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
}
