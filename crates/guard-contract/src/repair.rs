//! Rewrites one malformed value as JSON: the lossless repairs.
//!
//! One pass with its own stack. The end of a string is never guessed: a text with more than one
//! possible reading is refused. The strict reader parses the result again from the start.
//! Independent of types; the names that begin an item are given.

mod member;
mod string;

use crate::gap::{NoGap, gap};
use crate::lex::{self, Stop};
use guard_plan::json::MAX_DEPTH;
use guard_plan::report::Fix;

/// The result of a repair.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Repaired {
    /// The value as JSON, except for duplicate keys.
    pub text: Vec<u8>,
    /// The length of the value in the text, in bytes.
    pub len: usize,
    /// The repairs and their positions.
    pub fixes: Vec<(Fix, usize)>,
    /// True if the text ends within the value.
    pub cut: bool,
}

/// The reason why a value cannot be repaired.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// The position where it cannot be read.
    pub at: usize,
    /// The reason.
    pub why: &'static str,
    /// True if the text ends there.
    pub cut: bool,
    /// The last token before: an unclosed string may include the text after the value.
    pub suspect: usize,
    /// The well-formed objects inside the value that begin like items.
    pub whole: Vec<(usize, usize)>,
}

/// The outcome of a repair.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done(Repaired),
    Broken(Broken),
    /// The bytes end within the value.
    More,
    /// It nests deeper than any reader supports.
    Deep,
}

/// The keys that begin an item, by the contract.
pub(crate) struct Leads<'a> {
    /// In an object, in the place of a key.
    pub own: &'a dyn Fn(&str) -> bool,
    /// Wherever an object may stand.
    pub sure: &'a dyn Fn(&str) -> bool,
}

/// An array or object that is still open.
struct Frame {
    object: bool,
    start: usize,
    /// The output length when its first key began, and the end of that key.
    first: Option<(usize, usize)>,
}

/// The tokens that may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// The first element, or the end.
    First,
    /// An element after the comma at this position, or the end.
    Next(usize),
    /// A value.
    Value,
    /// A comma or the end.
    Separator,
}

/// The reason why a pass stopped.
enum Halt {
    Bad(usize, &'static str),
    /// The text ends within a token.
    Cut(&'static str),
    More,
    Deep,
    /// The value is complete.
    Done,
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Halt {
        match stop {
            Stop::More => Halt::More,
            Stop::Bad(at, why) => Halt::Bad(at, why),
            Stop::Deep => Halt::Deep,
        }
    }
}

struct Repairer<'a> {
    bytes: &'a [u8],
    /// True if no bytes follow.
    end: bool,
    leads: &'a Leads<'a>,
    at: usize,
    out: Vec<u8>,
    fixes: Vec<(Fix, usize)>,
    stack: Vec<Frame>,
    /// True if a comma is expected before the next element.
    comma: bool,
    /// True if the last value was a string and no line has ended since.
    string: bool,
    suspect: usize,
    whole: Vec<(usize, usize)>,
    cut: bool,
}

/// Repairs the value at the beginning of some bytes. `end` is true if no bytes follow.
pub(crate) fn repair(bytes: &[u8], end: bool, leads: &Leads<'_>) -> Outcome {
    let mut repairer = Repairer {
        bytes,
        end,
        leads,
        at: 0,
        out: Vec::new(),
        fixes: Vec::new(),
        stack: Vec::new(),
        comma: false,
        string: false,
        suspect: 0,
        whole: Vec::new(),
        cut: false,
    };
    let halt = repairer.run();
    let Repairer { at, out, fixes, suspect, whole, cut, .. } = repairer;
    match halt {
        Halt::Done => Outcome::Done(Repaired { text: out, len: at, fixes, cut }),
        Halt::Bad(at, why) => Outcome::Broken(Broken { at, why, cut: false, suspect, whole }),
        Halt::More if end => {
            let why = "the text ends within a token";
            Outcome::Broken(Broken { at: bytes.len(), why, cut: true, suspect, whole })
        }
        Halt::Cut(why) => {
            Outcome::Broken(Broken { at: bytes.len(), why, cut: true, suspect, whole })
        }
        Halt::More => Outcome::More,
        Halt::Deep => Outcome::Deep,
    }
}

impl Repairer<'_> {
    fn run(&mut self) -> Halt {
        let mut need = Need::Value;
        loop {
            need = match self.step(need) {
                Ok(need) => need,
                Err(halt) => return halt,
            };
        }
    }

    fn step(&mut self, need: Need) -> Result<Need, Halt> {
        if need == Need::Separator && self.stack.is_empty() {
            return Err(Halt::Done);
        }
        let found = gap(self.bytes, self.at, |fix, at| self.fixes.push((fix, at)));
        let found = found.map_err(|no| match no {
            NoGap::More(_) => Halt::More,
            NoGap::Bad(at) => Halt::Bad(at, "a comment in a comment"),
        })?;
        self.at = found.end;
        self.string &= !found.line;
        let Some(byte) = self.bytes.get(self.at).copied() else { return self.ends(need) };
        match need {
            Need::Value => self.value(byte),
            Need::Separator => self.separator(byte),
            Need::First | Need::Next(_) => self.element(byte, need),
        }
    }

    fn fix(&mut self, fix: Fix) {
        self.fixes.push((fix, self.at));
    }

    fn bad<T>(&self, why: &'static str) -> Result<T, Halt> {
        Err(Halt::Bad(self.at, why))
    }

    /// Handles the end of the text between two tokens.
    fn ends(&mut self, need: Need) -> Result<Need, Halt> {
        if !self.end {
            return Err(Halt::More);
        }
        if need == Need::Value || self.stack.is_empty() {
            return Err(Halt::Cut("the text ends before a value"));
        }
        self.drop_comma(need);
        self.cut = true;
        self.close_all()
    }

    /// Closes everything that is open, without closing brackets.
    fn close_all(&mut self) -> Result<Need, Halt> {
        while !self.stack.is_empty() {
            self.fix(Fix::Closer);
            self.close(self.at);
        }
        Err(Halt::Done)
    }

    fn drop_comma(&mut self, need: Need) {
        if let Need::Next(comma) = need {
            self.fixes.push((Fix::Comma, comma));
        }
        self.comma = false;
    }

    /// Closes the innermost array or object; its text ends here.
    fn close(&mut self, end: usize) {
        let Some(frame) = self.stack.pop() else { return };
        self.out.push(if frame.object { b'}' } else { b']' });
        if let Some((from, to)) = frame.first.filter(|_| !self.stack.is_empty()) {
            let key = str::from_utf8(&self.out[from..to]).unwrap_or_default();
            if (self.leads.sure)(key) {
                while self.whole.last().is_some_and(|(start, _)| *start > frame.start) {
                    self.whole.pop();
                }
                self.whole.push((frame.start, end));
            }
        }
        self.string = false;
    }

    /// Reads a closing bracket; supplies the expected one if it differs.
    fn closer(&mut self, byte: u8, need: Need) -> Result<Need, Halt> {
        let object = byte == b'}';
        self.drop_comma(need);
        if self.stack.last().is_some_and(|top| top.object == object) {
            self.at += 1;
            self.close(self.at);
            return Ok(Need::Separator);
        }
        if self.stack.iter().any(|frame| frame.object == object) {
            self.fix(Fix::Closer);
            self.close(self.at);
            return Ok(Need::Separator);
        }
        // It closes the structure around the value.
        self.close_all()
    }

    fn in_object(&self) -> bool {
        self.stack.last().is_some_and(|top| top.object)
    }

    fn separator(&mut self, byte: u8) -> Result<Need, Halt> {
        match byte {
            b',' => {
                self.at += 1;
                self.comma = true;
                Ok(Need::Next(self.at - 1))
            }
            b'}' | b']' => self.closer(byte, Need::Separator),
            // After a string without a comma, the text may be the rest of that string.
            _ if self.string => self.bad("expected `,` or a closing bracket"),
            b'{' if self.in_object() => self.element(byte, Need::Separator),
            b':' | b'=' | b';' | b'`' | b')' => self.bad("expected `,` or a closing bracket"),
            _ => {
                self.fix(Fix::Comma);
                self.comma = true;
                self.element(byte, Need::First)
            }
        }
    }

    /// Reads an element of an array, a key of an object, or their end.
    fn element(&mut self, byte: u8, need: Need) -> Result<Need, Halt> {
        match byte {
            b',' => {
                self.fix(Fix::Comma);
                self.at += 1;
                Ok(need)
            }
            b'}' | b']' => self.closer(byte, need),
            b'{' if self.in_object() => match self.lead()? {
                true => {
                    self.drop_comma(need);
                    self.close_all()
                }
                false => self.bad("expected a key"),
            },
            _ if self.in_object() => self.key(byte),
            _ => self.value(byte),
        }
    }

    /// Returns whether an item begins here.
    fn lead(&self) -> Result<bool, Halt> {
        match crate::boundary::lead(self.bytes, self.at) {
            crate::boundary::Lead::Key(key) => Ok((self.leads.own)(key)),
            crate::boundary::Lead::More if !self.end => Err(Halt::More),
            _ => Ok(false),
        }
    }

    fn write_comma(&mut self) {
        if std::mem::take(&mut self.comma) {
            self.out.push(b',');
        }
    }

    fn value(&mut self, byte: u8) -> Result<Need, Halt> {
        self.write_comma();
        match byte {
            b'{' | b'[' => {
                if self.stack.len() == MAX_DEPTH {
                    return Err(Halt::Deep);
                }
                self.stack.push(Frame { object: byte == b'{', start: self.at, first: None });
                self.out.push(byte);
                self.at += 1;
                return Ok(Need::First);
            }
            b'-' | b'0'..=b'9' => {
                let end = lex::number(self.bytes, self.at)?;
                self.out.extend_from_slice(&self.bytes[self.at..end]);
                self.at = end;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word()?,
            _ => {
                self.suspect = self.at;
                self.string(byte)?;
                self.string = true;
            }
        }
        Ok(Need::Separator)
    }
}

#[cfg(test)]
mod tests;
