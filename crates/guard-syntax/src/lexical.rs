//! The lexical pre-pass: one scan over the bytes of a file.
//!
//! The scan finds words, literals, strings, regular expressions, punctuation and comments, and the
//! faults that are visible from characters alone. It does not know items; see `structure`.

use crate::diagnostic::Diagnostic;
use crate::errors;
use crate::limits::MAX_ERRORS;
use crate::span::{FileId, Span};

/// The kind of a token, by its characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Word,
    Literal,
    String,
    Regex,
    Open,
    Close,
    Punct,
    /// Characters without a meaning in the language.
    Junk,
}

/// Returns true if a word is reserved.
pub(crate) fn is_reserved(word: &str) -> bool {
    matches!(
        word,
        "and"
            | "or"
            | "not"
            | "implies"
            | "in"
            | "is"
            | "if"
            | "then"
            | "else"
            | "true"
            | "false"
            | "none"
            | "all"
            | "any"
            | "contains"
            | "matches"
            | "within"
            | "since"
            | "known"
            | "once"
            | "historically"
            | "previous"
            | "when"
            | "unless"
            | "because"
    )
}

/// A range of bytes with a kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub start: u32,
    pub end: u32,
}

/// The kind of a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommentKind {
    /// `//`
    Plain,
    /// `///`
    Doc,
    /// `//!`
    FileDoc,
}

/// One comment, without its line break.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comment {
    pub kind: CommentKind,
    pub start: u32,
    pub end: u32,
    /// Index of the token that follows it.
    pub next: u32,
}

/// A fault at a byte; no second error is reported for the text around it.
#[derive(Debug, Clone)]
pub(crate) struct LexFault {
    pub at: u32,
    /// The diagnostic; absent if an earlier one covers this fault.
    pub diagnostic: Option<Box<Diagnostic>>,
}

/// The result of a scan.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub tokens: Vec<Token>,
    pub comments: Vec<Comment>,
    pub faults: Vec<LexFault>,
}

impl Token {
    pub fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start as usize..self.end as usize).unwrap_or("")
    }

    pub fn span(&self, file: FileId) -> Span {
        Span { file, start: self.start, end: self.end }
    }
}

/// Scans `text`.
pub(crate) fn scan(file: FileId, text: &str) -> Scan {
    let mut scanner = Lexer {
        file,
        text,
        bytes: text.as_bytes(),
        pos: if text.starts_with('\u{feff}') { 3 } else { 0 },
        after_matches: false,
        control_reported: false,
        no_block_end: false,
        scan: Scan::default(),
    };
    scanner.scan.tokens.reserve(text.len() / 5);
    while scanner.step() {}
    scanner.hidden();
    scanner.scan
}

struct Lexer<'t> {
    file: FileId,
    text: &'t str,
    bytes: &'t [u8],
    pos: usize,
    after_matches: bool,
    control_reported: bool,
    /// True if no `*/` follows. It is searched only once, so that many `/*` take linear time.
    no_block_end: bool,
    scan: Scan,
}

/// Punctuation of more than one character, longest first.
const LONG_PUNCT: [&[u8]; 13] =
    [b"..=", b"===", b"..", b"==", b"!=", b"<=", b">=", b"->", b"=>", b"+=", b"-=", b"*=", b"&&"];

impl Lexer<'_> {
    /// Reads one token, comment or whitespace; returns false at the end.
    fn step(&mut self) -> bool {
        let Some(&byte) = self.bytes.get(self.pos) else { return false };
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => self.pos += 1,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
            b'0'..=b'9' => self.literal(),
            b'"' => self.string(),
            b'/' => self.slash(),
            b'(' | b'[' | b'{' => self.push(TokenKind::Open, self.pos + 1),
            b')' | b']' | b'}' => self.push(TokenKind::Close, self.pos + 1),
            b'\'' => self.quoted(),
            b'=' | b'!' | b'<' | b'>' | b'+' | b'-' | b'*' | b'%' | b'.' | b',' | b';' | b':'
            | b'?' | b'&' | b'|' => {
                self.punct();
            }
            _ => self.junk(),
        }
        true
    }

    fn push(&mut self, kind: TokenKind, end: usize) {
        self.scan.tokens.push(Token { kind, start: self.pos as u32, end: end as u32 });
        self.pos = end;
        self.after_matches = false;
    }

    /// Records a fault. After the maximum number of errors, the fault has no diagnostic.
    fn fault(&mut self, at: usize, diagnostic: Diagnostic) {
        let diagnostic = (self.scan.faults.len() < MAX_ERRORS).then(|| Box::new(diagnostic));
        self.scan.faults.push(LexFault { at: at as u32, diagnostic });
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end)
    }

    fn run(&self, from: usize, belongs: impl Fn(u8) -> bool) -> usize {
        self.bytes[from..].iter().position(|&b| !belongs(b)).map_or(self.bytes.len(), |n| from + n)
    }

    fn word(&mut self) {
        let end = self.run(self.pos, is_word_byte);
        let is_matches = &self.bytes[self.pos..end] == b"matches";
        self.push(TokenKind::Word, end);
        self.after_matches = is_matches;
    }

    /// Reads digits, an optional fraction, a unit: `50.00`, `1h30m`, `4KiB`.
    fn literal(&mut self) {
        let mut end = self.run(self.pos, |b| b.is_ascii_digit());
        // A dot belongs to the number only before a digit: `1..5` is a range.
        let fraction = self.bytes.get(end) == Some(&b'.')
            && self.bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        if fraction {
            end = self.run(end + 1, |b| b.is_ascii_digit());
        }
        end = self.run(end, is_word_byte);
        self.push(TokenKind::Literal, end);
    }

    fn string(&mut self) {
        let start = self.pos;
        match delimited_end(self.bytes, start, b'"') {
            Some(end) => self.push(TokenKind::String, end),
            None => {
                let end = line_end(self.bytes, start);
                self.fault(start, errors::unterminated_string(self.span(start, end)));
                self.push(TokenKind::String, end);
            }
        }
    }

    fn slash(&mut self) {
        let start = self.pos;
        match self.bytes.get(start + 1) {
            Some(b'/') => self.comment(),
            // A slash begins a regular expression only after `matches`; elsewhere it divides.
            _ if self.after_matches => match delimited_end(self.bytes, start, b'/') {
                Some(end) => self.push(TokenKind::Regex, end),
                None => {
                    let end = line_end(self.bytes, start);
                    self.fault(start, errors::unterminated_regex(self.span(start, end)));
                    self.push(TokenKind::Regex, end);
                }
            },
            Some(b'*') => self.block_comment(),
            _ => self.push(TokenKind::Punct, start + 1),
        }
    }

    fn comment(&mut self) {
        let start = self.pos;
        let end = line_end(self.bytes, start);
        let rest = &self.bytes[start + 2..end];
        let kind = match rest {
            [b'/', b'/', ..] => CommentKind::Plain,
            [b'/', ..] => CommentKind::Doc,
            [b'!', ..] => CommentKind::FileDoc,
            _ => CommentKind::Plain,
        };
        let next = self.scan.tokens.len() as u32;
        self.scan.comments.push(Comment { kind, start: start as u32, end: end as u32, next });
        self.pos = end;
    }

    fn block_comment(&mut self) {
        let start = self.pos;
        let close = if self.no_block_end { None } else { self.text[start + 2..].find("*/") };
        self.no_block_end |= close.is_none();
        // Without an end only the mark itself is junk, so that the rest of the file is still
        // parsed.
        let end = close.map_or(start + 2, |n| start + 2 + n + 2);
        self.fault(start, errors::block_comment(self.span(start, end)));
        self.push(TokenKind::Junk, end);
    }

    /// Reads `'…'`: a string in the wrong quotes.
    fn quoted(&mut self) {
        let start = self.pos;
        match delimited_end(self.bytes, start, b'\'') {
            Some(end) => {
                let inner = &self.text[start + 1..end - 1];
                self.fault(start, errors::single_quotes(self.span(start, end), inner));
                self.push(TokenKind::Junk, end);
            }
            None => self.junk(),
        }
    }

    fn punct(&mut self) {
        let rest = &self.bytes[self.pos..];
        let long = LONG_PUNCT.iter().find(|p| rest.starts_with(p)).map(|p| p.len());
        let length = if rest.starts_with(b"||") { 2 } else { long.unwrap_or(1) };
        self.push(TokenKind::Punct, self.pos + length);
    }

    /// Reports the first character, also in a comment or string, that makes a line look different
    /// from the text that is parsed.
    fn hidden(&mut self) {
        let start = if self.text.starts_with('\u{feff}') { 3 } else { 0 };
        let lone = |at: usize, c: char| c == '\r' && self.bytes.get(at + 1) != Some(&b'\n');
        let found = self.text.char_indices().find(|(at, c)| is_hidden(*c) || lone(*at, *c));
        if let Some((at, c)) = found.filter(|(at, _)| *at >= start && !self.control_reported) {
            let span = self.span(at, at + c.len_utf8());
            self.fault(at, errors::control_character(span, c));
        }
    }

    /// Reads a run of characters without a meaning.
    fn junk(&mut self) {
        let start = self.pos;
        let control = is_control(self.bytes[start]);
        let mut end = start;
        for c in self.text[start..].chars() {
            let ascii = u8::try_from(c).ok().filter(u8::is_ascii);
            let same = match ascii {
                Some(b) if control => is_control(b),
                Some(b) => b"'#@$\\`~^".contains(&b),
                None => !control,
            };
            if !same {
                break;
            }
            end += c.len_utf8();
        }
        let end = end.max(start + 1);
        if !control {
            self.fault(
                start,
                errors::unknown_character(self.span(start, end), &self.text[start..end]),
            );
        } else if self.control_reported {
            self.scan.faults.push(LexFault { at: start as u32, diagnostic: None });
        } else {
            self.control_reported = true;
            let first = char::from(self.bytes[start]);
            self.fault(start, errors::control_character(self.span(start, end), first));
        }
        self.push(TokenKind::Junk, end);
    }
}

fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

/// Returns true for controls, separators of lines other than `\n`, and characters that reorder what is shown.
pub(crate) fn is_hidden(c: char) -> bool {
    let allowed = matches!(c, '\t' | '\n' | '\r');
    let reorders = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && !allowed) || matches!(c, '\u{2028}' | '\u{2029}') || reorders
}

fn is_control(b: u8) -> bool {
    (b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r')) || b == 0x7f
}

/// Returns the position after the closing `quote` of the text that opens at `start`, if it closes
/// on the same line.
fn delimited_end(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let mut pos = start + 1;
    while let Some(&b) = bytes.get(pos) {
        match b {
            b'\n' => return None,
            // No literal crosses a line, so a backslash before a line break escapes nothing.
            b'\\' if bytes.get(pos + 1).is_some_and(|&next| next != b'\n') => pos += 2,
            _ if b == quote => return Some(pos + 1),
            _ => pos += 1,
        }
    }
    None
}

/// Returns the end of the line that contains `from`, without a carriage return.
pub(crate) fn line_end(bytes: &[u8], from: usize) -> usize {
    let end = bytes[from..].iter().position(|&b| b == b'\n').map_or(bytes.len(), |n| from + n);
    if end > from && bytes[end - 1] == b'\r' { end - 1 } else { end }
}
