//! Strings in quotes other than JSON's, and with raw control characters.

use super::{PassEnd, Repairer};
use crate::lex;
use guard_plan::report::Fix;

/// The opening quotes of a string, and the closing quotes.
const QUOTES: [(&str, &str); 6] =
    [("\"", "\""), ("'", "'"), ("`", "`"), ("“", "”"), ("‘", "’"), ("„", "“")];

impl Repairer<'_> {
    /// Repairs the string that begins here.
    pub(super) fn string(&mut self, byte: u8) -> Result<(), PassEnd> {
        let rest = &self.bytes[self.at..];
        if byte >= 0x80 && rest.len() < 3 && !self.end {
            return Err(PassEnd::More);
        }
        let Some((open, close)) = QUOTES.into_iter().find(|q| rest.starts_with(q.0.as_bytes()))
        else {
            return self.bad("expected a value");
        };
        self.suspect = (self.at, self.nest);
        let other = byte != b'"';
        if other {
            self.fix(Fix::Quotes);
        }
        self.at += open.len();
        self.out.push(b'"');
        self.here();
        self.content(close.as_bytes(), other)?;
        self.out.push(b'"');
        if other { self.ended() } else { Ok(()) }
    }

    /// Reads up to and including the closing quote.
    fn content(&mut self, close: &[u8], other: bool) -> Result<(), PassEnd> {
        loop {
            let from = self.at;
            self.at = if other { self.ordinary() } else { lex::plain(self.bytes, self.at) };
            self.out.extend_from_slice(&self.bytes[from..self.at]);
            let Some(byte) = self.bytes.get(self.at).copied() else { return Err(PassEnd::More) };
            if self.bytes[self.at..].starts_with(close) {
                self.at += close.len();
                return Ok(());
            }
            match byte {
                b'\\' => self.escape()?,
                // It may be the quote of another string, so that the text between them is JSON.
                b'"' if self.beside_mark() => {
                    return self.bad("it is unclear where the string ends");
                }
                b'"' => {
                    self.out.extend_from_slice(b"\\\"");
                    self.at += 1;
                }
                // A string in other quotes must end on its line, so a stray quote includes little
                // text.
                b'\n' if other => return self.bad("the string is not closed on its line"),
                b'\n' => self.control(b"\\n"),
                b'\r' => self.control(b"\\r"),
                b'\t' => self.control(b"\\t"),
                0x08 => self.control(b"\\b"),
                0x0C => self.control(b"\\f"),
                0..0x20 => return self.bad("a control character in a string"),
                _ if self.bytes.len() - self.at < close.len() && !self.end => {
                    return Err(PassEnd::More);
                }
                _ => {
                    self.out.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    /// Returns true if a comma, colon or bracket is next to a quote of another kind.
    fn beside_mark(&self) -> bool {
        let mark = |b: &u8| matches!(b, b',' | b':' | b'{' | b'}' | b'[' | b']');
        let blank = |b: &&u8| !matches!(b, b' ' | b'\t');
        let before = self.bytes[..self.at].iter().rev().take(64).find(blank);
        let behind = self.bytes[self.at + 1..].iter().take(64).find(blank);
        before.is_some_and(mark) || behind.is_some_and(mark)
    }

    /// Returns the position of the next byte with a meaning in other quotes.
    fn ordinary(&self) -> usize {
        let rest = &self.bytes[self.at..];
        let plain = |b: &u8| matches!(b, 0x20..=0x7E) && !matches!(b, b'"' | b'\'' | b'\\' | b'`');
        self.at + rest.iter().position(|b| !plain(b)).unwrap_or(rest.len())
    }

    fn control(&mut self, escape: &[u8]) {
        self.fix(Fix::Control);
        self.out.extend_from_slice(escape);
        self.at += 1;
    }

    fn escape(&mut self) -> Result<(), PassEnd> {
        if self.bytes.get(self.at + 1) == Some(&b'\'') {
            self.fix(Fix::Escape);
            self.out.push(b'\'');
            self.at += 2;
            return Ok(());
        }
        let (_, end) = lex::escape(self.bytes, self.at)?;
        self.out.extend_from_slice(&self.bytes[self.at..end]);
        self.at = end;
        Ok(())
    }

    /// Checks that the text after other quotes shows that the string has ended.
    fn ended(&mut self) -> Result<(), PassEnd> {
        let at = lex::all_blanks(self.bytes, self.at);
        match self.bytes.get(at) {
            None if self.end => Ok(()),
            None => Err(PassEnd::More),
            Some(b',' | b':' | b'}' | b']' | b'/') => Ok(()),
            Some(_) => self.bad("it is unclear where the string ends"),
        }
    }
}
