//! The structural pre-pass: brackets and item boundaries over the tokens of a file.
//!
//! The pass splits a file into one chunk per item, so that an invalid item does not affect its
//! neighbours, and limits nesting before any recursion. A chunk ends where an item keyword begins
//! the next one. An unclosed bracket ends at an item at the start of a line.

use crate::diagnostic::Diagnostic;
use crate::errors;
use crate::lexical::{LexFault, Scan, Token, TokenKind};
use crate::limits::{MAX_DEPTH, MAX_ERRORS};
use crate::span::FileId;

/// A range of tokens that is parsed as one item.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunk {
    /// The first token.
    pub first: usize,
    /// The index after its last token.
    pub last: usize,
}

/// The items and brackets of a file.
#[derive(Debug, Default)]
pub(crate) struct Structure {
    pub chunks: Vec<Chunk>,
    /// Nesting faults and bracket mismatches; sorted by position when merged with those of the
    /// scan.
    pub faults: Vec<LexFault>,
    /// For each opening token, the index of its closing one, sorted by opening token.
    pub partners: Vec<(u32, u32)>,
}

/// The keywords that begin an item.
pub(crate) const ITEM_KEYWORDS: [&str; 27] = [
    "guard",
    "use",
    "default",
    "enum",
    "record",
    "union",
    "type",
    "define",
    "state",
    "budget",
    "deadline",
    "tool",
    "group",
    "policy",
    "property",
    "invariant",
    "fact",
    "statement",
    "source",
    "lifecycle",
    "probe",
    "feedback",
    "completion",
    "attest",
    "goal",
    "contract",
    "test",
];

/// Words that continue an item on a new line.
const CONTINUATIONS: [&str; 56] = [
    "for",
    "max",
    "halt",
    "after",
    "approval",
    "because",
    "as",
    "on",
    "every",
    "when",
    "unless",
    "edition",
    "shadow",
    "except",
    "monitor",
    "proved",
    "within",
    "and",
    "or",
    "implies",
    "not",
    "in",
    "is",
    "contains",
    "matches",
    "if",
    "then",
    "else",
    "since",
    "none",
    "some",
    "true",
    "false",
    "all",
    "any",
    "key",
    "caseless",
    "format",
    "std",
    "allow",
    "tag",
    "calls",
    "call",
    "known",
    "once",
    "historically",
    "previous",
    "probe",
    "secret",
    "by",
    "partial",
    "host",
    "of",
    "to",
    "from",
    "per",
];

/// Finds the items and brackets of a scanned file.
pub(crate) fn structure(file: FileId, text: &str, scan: &Scan) -> Structure {
    let mut pass = StructurePass {
        file,
        text,
        tokens: &scan.tokens,
        open: Vec::new(),
        counts: [0; 3],
        deep: false,
        out: Structure::default(),
    };
    let mut start = None;
    let mut block_seen = false;
    for index in 0..pass.tokens.len() {
        if pass.begins_item(index, start, block_seen) {
            pass.close_all(index);
            if let Some(first) = start {
                pass.out.chunks.push(Chunk { first, last: index });
            }
            start = Some(index);
            block_seen = false;
        }
        start = start.or(Some(index));
        block_seen |= pass.char(index) == b'{'
            && matches!(pass.word(index + 1), "info" | "caution" | "warning");
        pass.nest(index);
    }
    pass.close_all(pass.tokens.len());
    if let Some(first) = start {
        pass.out.chunks.push(Chunk { first, last: pass.tokens.len() });
    }
    pass.out.partners.sort_unstable();
    pass.out
}

struct StructurePass<'t> {
    file: FileId,
    text: &'t str,
    tokens: &'t [Token],
    /// The open brackets and, as `i`, `t`, `q` and `<`, the open `if`s, `then`s, quantifiers and
    /// type arguments.
    open: Vec<(u8, u32)>,
    /// The numbers of open `(`, `[` and `{`.
    counts: [usize; 3],
    /// True if nesting is over the limit and has been reported.
    deep: bool,
    out: Structure,
}

impl StructurePass<'_> {
    fn char(&self, index: usize) -> u8 {
        self.tokens
            .get(index)
            .and_then(|t| self.text.as_bytes().get(t.start as usize))
            .copied()
            .unwrap_or(0)
    }

    fn word(&self, index: usize) -> &str {
        match self.tokens.get(index) {
            Some(token) if token.kind == TokenKind::Word => token.text(self.text),
            _ => "",
        }
    }

    fn depth(&self) -> usize {
        self.counts.iter().sum()
    }

    fn begins_item(&self, index: usize, start: Option<usize>, block_seen: bool) -> bool {
        let token = &self.tokens[index];
        if token.kind != TokenKind::Word {
            return false;
        }
        let (Some(start), Some(previous)) = (start, index.checked_sub(1).map(|i| &self.tokens[i]))
        else {
            return true;
        };
        let nested = self.depth() > 0;
        let column_zero =
            token.start == 0 || self.text.as_bytes()[token.start as usize - 1] == b'\n';
        if nested && !column_zero {
            return false;
        }
        let keyword = ITEM_KEYWORDS.contains(&token.text(self.text));
        // This also holds within brackets: an unclosed one must not swallow the items after it.
        if column_zero && keyword && self.looks_like_item(index) {
            return true;
        }
        if nested || !self.ends_item(index - 1) || self.expects_value(start, index - 1) {
            return false;
        }
        let fresh_line = self.text[previous.end as usize..token.start as usize].contains('\n');
        if index == start + 1 {
            return fresh_line && keyword && self.looks_like_item(index);
        }
        // Triggers are not in brackets, and their conditions may contain the keyword of an item.
        let in_feedback_head = self.word(start) == "feedback" && !block_seen;
        if in_feedback_head {
            return false;
        }
        if keyword {
            return fresh_line || self.looks_like_item(index);
        }
        fresh_line && !CONTINUATIONS.contains(&token.text(self.text))
    }

    /// Returns true if the text after an item keyword can follow it in an item.
    fn looks_like_item(&self, index: usize) -> bool {
        let kind = |offset: usize| self.tokens.get(index + offset).map(|t| t.kind);
        let named = kind(1) == Some(TokenKind::Word);
        match self.word(index) {
            "guard" => named,
            "use" => kind(1) == Some(TokenKind::String) || self.word(index + 1) == "std",
            "default" => self.word(index + 1) == "allow",
            "enum" | "record" | "lifecycle" | "probe" | "attest" | "goal" | "source" => {
                named && self.char(index + 2) == b'{'
            }
            "union" => named && self.word(index + 2) == "by",
            "contract" => named && matches!(self.char(index + 2), b'{' | b':'),
            "type" | "budget" | "group" => named && self.char(index + 2) == b'=',
            "state" | "completion" => self.char(index + 1) == b'{',
            "deadline" => kind(1) == Some(TokenKind::Literal),
            "tool" => {
                (named && self.char(index + 2) == b'(')
                    || (kind(1) == Some(TokenKind::String) && self.word(index + 2) == "as")
            }
            "policy" => named && self.word(index + 2) == "for",
            "property" => {
                named
                    && (self.char(index + 2) == b'{'
                        || matches!(self.word(index + 2), "for" | "monitor" | "proved"))
            }
            "invariant" => {
                named
                    && (self.char(index + 2) == b'{'
                        || matches!(self.word(index + 2), "monitor" | "proved" | "shadow"))
            }
            "fact" | "statement" => named && self.char(index + 2) == b'(',
            "define" => named && matches!(self.char(index + 2), b'(' | b':'),
            "feedback" => named && matches!(self.word(index + 2), "every" | "on"),
            "test" => kind(1) == Some(TokenKind::String),
            _ => false,
        }
    }

    /// Returns true if a value or a role must follow this token in the item that begins at `start`:
    /// the expression of a define and the approval of a statement are not in brackets.
    fn expects_value(&self, start: usize, index: usize) -> bool {
        const BEFORE_A_VALUE: [&str; 14] = [
            "if",
            "then",
            "else",
            "contains",
            "matches",
            "within",
            "since",
            "once",
            "historically",
            "previous",
            "known",
            "probe",
            "all",
            "any",
        ];
        let text = |at: usize| self.tokens[at].text(self.text);
        // After these, no type is open, so this `>` is a comparison.
        let compares = || {
            text(index) == ">"
                && (start..index).any(|at| matches!(text(at), "=" | "when" | "unless"))
        };
        let awaits = || {
            BEFORE_A_VALUE.contains(&self.word(index))
                || (self.word(index) == "first" && self.binds(index + 1))
                || compares()
        };
        match self.word(start) {
            "define" => awaits(),
            "statement" => self.word(index) == "approval" || awaits(),
            _ => false,
        }
    }

    /// Returns true if an item can end with this token.
    fn ends_item(&self, index: usize) -> bool {
        let token = &self.tokens[index];
        match token.kind {
            TokenKind::Open => false,
            TokenKind::Punct => matches!(token.text(self.text), "?" | ">" | ";" | ".."),
            TokenKind::Word => !matches!(
                token.text(self.text),
                "for"
                    | "except"
                    | "tag"
                    | "on"
                    | "every"
                    | "in"
                    | "and"
                    | "or"
                    | "not"
                    | "when"
                    | "unless"
                    | "as"
                    | "implies"
                    | "because"
                    | "is"
                    | "by"
                    | "items"
                    | "partial"
            ),
            _ => true,
        }
    }

    fn nest(&mut self, index: usize) {
        match self.tokens[index].kind {
            TokenKind::Open => self.open(self.char(index), index),
            TokenKind::Close => self.close(index),
            TokenKind::Word => self.nest_word(index),
            TokenKind::Punct => match self.char(index) {
                // For the first token the index wraps beyond all tokens, where the word is empty.
                b'<' if matches!(self.word(index.wrapping_sub(1)), "list" | "set" | "map") => {
                    self.open(b'<', index)
                }
                b'>' => self.close_marker(b'<'),
                b':' => self.close_marker(b'q'),
                _ => {}
            },
            _ => {}
        }
    }

    /// Tracks nesting words: `if … then … else` and `all x in …:` nest like brackets.
    fn nest_word(&mut self, index: usize) {
        match self.word(index) {
            "if" => self.open(b'i', index),
            "then" => {
                if let Some(top) = self.open.last_mut().filter(|(c, _)| *c == b'i') {
                    top.0 = b't';
                }
            }
            "else" => self.close_marker(b't'),
            "all" | "any" if !self.word(index + 1).is_empty() => self.open(b'q', index),
            "first" if self.binds(index + 1) => self.open(b'q', index),
            _ => {}
        }
    }

    /// Returns true if names and `in` follow, as after a quantifier.
    fn binds(&self, mut index: usize) -> bool {
        while !self.word(index).is_empty() && self.char(index + 1) == b',' {
            index += 2;
        }
        !matches!(self.word(index), "" | "in") && self.word(index + 1) == "in"
    }

    fn open(&mut self, what: u8, index: usize) {
        if let Some(slot) = slot(what) {
            self.counts[slot] += 1;
        }
        self.open.push((what, index as u32));
        if self.open.len() > MAX_DEPTH {
            let token = &self.tokens[index];
            let at = token.start;
            let span = token.span(self.file);
            let quiet = self.deep;
            self.deep = true;
            self.fault(at, quiet, || errors::too_deep(span));
        }
    }

    fn close_marker(&mut self, what: u8) {
        if self.open.last().is_some_and(|(c, _)| *c == what) {
            self.open.pop();
        }
    }

    /// Closes the bracket of this token and reports the unclosed brackets inside it.
    fn close(&mut self, index: usize) {
        let token = self.tokens[index];
        let (wanted, wanted_slot) = match self.char(index) {
            b')' => (b'(', 0),
            b']' => (b'[', 1),
            _ => (b'{', 2),
        };
        if self.counts[wanted_slot] == 0 {
            let span = token.span(self.file);
            let text = self.text;
            return self
                .fault(token.start, self.deep, || errors::stray_close(span, token.text(text)));
        }
        let mut reported = self.deep;
        while let Some((what, at)) = self.open.pop() {
            if let Some(slot) = slot(what) {
                self.counts[slot] -= 1;
            }
            if what == wanted {
                self.out.partners.push((at, index as u32));
                break;
            }
            if slot(what).is_some() {
                self.unclosed(at, index, &mut reported);
            }
        }
        self.deep &= self.open.len() > MAX_DEPTH;
    }

    /// Reports every open bracket as unclosed: the next item begins, or the file ends, at token
    /// `index`.
    fn close_all(&mut self, index: usize) {
        let mut reported = self.deep;
        while let Some((what, at)) = self.open.pop() {
            if slot(what).is_some() {
                self.unclosed(at, index, &mut reported);
            }
        }
        self.counts = [0; 3];
        self.deep = false;
    }

    /// Records a fault, and reports it unless it follows from a reported one, or there are too
    /// many.
    fn fault(&mut self, at: u32, quiet: bool, diagnostic: impl FnOnce() -> Diagnostic) {
        let diagnostic =
            (!quiet && self.out.faults.len() < MAX_ERRORS).then(|| Box::new(diagnostic()));
        self.out.faults.push(LexFault { at, diagnostic });
    }

    fn unclosed(&mut self, opener: u32, index: usize, reported: &mut bool) {
        let open = self.tokens[opener as usize];
        let place =
            match (self.tokens.get(index), index.checked_sub(1).and_then(|i| self.tokens.get(i))) {
                (Some(token), _) => token.span(self.file),
                (None, Some(last)) => last.span(self.file),
                (None, None) => open.span(self.file),
            };
        let found = self.tokens.get(index).map(|t| t.text(self.text));
        let span = open.span(self.file);
        let bracket = open.text(self.text);
        let quiet = std::mem::replace(reported, true);
        self.fault(open.start, quiet, || errors::unclosed(place, found, span, bracket));
    }
}

fn slot(what: u8) -> Option<usize> {
    match what {
        b'(' => Some(0),
        b'[' => Some(1),
        b'{' => Some(2),
        _ => None,
    }
}
