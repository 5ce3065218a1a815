//! The context of a position in the text outside of documents.

/// The context of the current position.
#[derive(Debug, Default, Clone)]
pub(in crate::engine) struct TopContext {
    /// True if the line has a non-whitespace character.
    pub inked: bool,
    /// True if the line has a double quote.
    pub(super) quoted: bool,
    /// True if there is prose since the last document.
    pub prose: bool,
    /// True if there is prose anywhere.
    pub ever_prose: bool,
    /// True in a fence.
    pub(super) fenced: bool,
    /// True in the line that begins or ends a fence.
    pub(super) fence_line: bool,
    /// The number of words on that line.
    pub(super) words: u8,
    /// The bullet at the beginning of the line.
    pub(super) bullet: Bullet,
    /// True if the last non-whitespace byte is a comma.
    pub(super) comma: bool,
    /// The commas between items without their list.
    pub commas: LooseCommas,
    /// The position on the line.
    pub(super) place: LinePlace,
    /// True inside of double quotes in prose.
    pub(super) open_quote: bool,
    /// The last byte.
    pub(super) last: u8,
    /// The indentation, if the line is empty so far.
    pub(super) column: Option<usize>,
    /// The number of brackets that are open around documents.
    pub wrapped: usize,
    /// The current comment around documents, if there is one.
    pub(super) comment: Option<TopComment>,
    /// The text that is a comment if its end follows.
    pub(super) maybe_comment: Option<TopComment>,
}

/// The commas between items without their list. Items on lines of their own need none outside of
/// brackets.
#[derive(Debug, Default, Clone)]
pub(in crate::engine) struct LooseCommas {
    /// True if an item or document comes before.
    pub(super) behind: bool,
    /// True if its line has ended.
    line: bool,
    /// The comma since then.
    pub comma: Option<usize>,
    /// The commas before the first item, which are surplus.
    pub(super) early: Vec<usize>,
}

impl LooseCommas {
    /// Begins an item or document. Returns the surplus commas before the first one, and true if a
    /// comma is missing.
    pub(super) fn begin(&mut self, wrapped: bool) -> (Vec<usize>, bool) {
        let before = std::mem::take(self);
        let is_missing = before.behind && before.comma.is_none() && (wrapped || !before.line);
        (before.early, is_missing)
    }

    /// Begins a list of items.
    fn open(&mut self) {
        let is_apart = self.comma.take().is_some() || self.line;
        self.behind &= !is_apart;
    }
}

/// A comment around documents.
#[derive(Debug, Clone, Copy)]
pub(super) struct TopComment {
    pub start: usize,
    /// The text that ends it.
    pub close: &'static [u8],
}

impl TopComment {
    /// Returns true if it ends with the text at this position, which is no part of its beginning.
    pub fn ends(&self, at: usize, rest: &[u8]) -> bool {
        at >= self.start + 2 && rest.starts_with(self.close)
    }

    /// Returns true if more text could end it at this position.
    pub fn may_end(&self, at: usize, rest: &[u8]) -> bool {
        at >= self.start + 2 && rest.len() < self.close.len() && self.close.starts_with(rest)
    }
}

/// The kind of a position on its line.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinePlace {
    /// Only marks that may precede a unit come before it.
    #[default]
    Start,
    /// A document or unit that began the line ends before it.
    Behind,
    /// The position is within a sentence.
    Prose,
}

/// The bullet before a unit on its line: `-`, `*`, `1.` or `1)`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bullet {
    #[default]
    None,
    Number,
    Whole,
}

impl TopContext {
    pub fn behind_document(&mut self) {
        self.ever_prose |= std::mem::take(&mut self.bullet) == Bullet::Number;
        (self.inked, self.prose, self.column) = (true, false, None);
        (self.last, self.place) = (b'}', LinePlace::Behind);
        (self.commas.behind, self.commas.line) = (true, false);
    }

    /// Returns true if a document or unit ends before, on the same line.
    pub fn is_behind(&self) -> bool {
        self.place == LinePlace::Behind
    }

    /// Records that other JSON ends here.
    pub fn in_prose(&mut self) {
        (self.place, self.ever_prose) = (LinePlace::Prose, true);
    }

    /// Records that a document or unit begins here.
    pub fn begin_line(&mut self) {
        (self.inked, self.quoted, self.open_quote) = (false, false, false);
        (self.place, self.column, self.bullet) = (LinePlace::Start, None, Bullet::None);
        self.commas = LooseCommas::default();
    }

    pub(super) fn end_line(&mut self) {
        // A quote at the end of a line may include the following lines.
        self.open_quote &= self.last == b'"';
        (self.inked, self.quoted, self.fence_line) = (false, false, false);
        self.end_bullet();
        self.commas.line = true;
        // No line of a comment is meant as a document.
        self.place = if self.comment.is_some() { LinePlace::Prose } else { LinePlace::Start };
        self.column = Some(0);
    }

    /// Records that reasoning ends here.
    pub(super) fn behind_reasoning(&mut self) {
        (self.inked, self.column) = (true, None);
    }

    /// Returns true if a mark is directly before a brace: `- {` is an entry of a list, but `-{` and
    /// `0{` are not.
    pub(super) fn is_glued(&self) -> bool {
        matches!(self.last, b'-' | b'*' | b'.' | b')' | b'0'..=b'9')
    }

    /// Opens a bracket around documents.
    pub(super) fn open_bracket(&mut self) {
        self.wrapped += 1;
        self.place = LinePlace::Start;
        self.commas.open();
    }

    pub(super) fn blank(&mut self) {
        self.column = self.column.map(|column| column + 1);
        self.ever_prose |= self.bullet == Bullet::Number;
    }

    /// Reads a byte that may belong to a bullet. More than a bullet may stand for a lost item.
    pub(super) fn bullet_byte(&mut self, byte: u8) {
        self.bullet = match (self.bullet, byte) {
            (Bullet::None, b'-' | b'*') | (Bullet::Number, b'.' | b')') => Bullet::Whole,
            (Bullet::None | Bullet::Number, b'0'..=b'9') => Bullet::Number,
            _ => {
                self.ever_prose = true;
                Bullet::Whole
            }
        };
    }

    /// Ends the line or the text. A bullet without a unit may stand for a lost one.
    pub fn end_bullet(&mut self) {
        self.ever_prose |= std::mem::take(&mut self.bullet) != Bullet::None;
    }

    /// Records that a byte was read. Only one word may follow the beginning of a fence, and none its
    /// end.
    pub(super) fn passed(&mut self, byte: u8) {
        let last = std::mem::replace(&mut self.last, byte);
        if !self.fence_line || matches!(byte, b' ' | b'\t' | b'\r' | b'`') {
            return;
        }
        if matches!(last, b' ' | b'\t' | b'\r' | b'`') {
            self.words = self.words.saturating_add(1);
        }
        self.ever_prose |= !self.fenced || self.words > 1;
    }
}
