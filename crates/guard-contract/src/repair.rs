//! Rewrites one malformed value as JSON: the lossless repairs.
//!
//! One pass with its own stack. The end of a string is never guessed: a text with more than one
//! possible reading is refused. The strict reader parses the result again from the start.
//! Independent of types; the names that begin an item are given.

mod member;
mod string;

use crate::gap::{NoGap, gap};
use crate::lex::{self, Stop};
use crate::nest::Nest;
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
    /// True if a comment in it holds what may belong to the value.
    pub hides: bool,
}

/// The reason why a value cannot be repaired.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Broken {
    /// The position where it cannot be read.
    pub at: usize,
    /// The reason.
    pub why: &'static str,
    /// True if the text ends there.
    pub cut: bool,
    /// The last token before: an unclosed string may include the text after the value.
    pub suspect: usize,
    /// The arrays and objects of the value that are open at `suspect`.
    pub nest: Nest,
    /// The position where the next item begins if the value lacks only its brace, and the value
    /// with it.
    pub next: Option<(usize, Vec<u8>)>,
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
    /// Names of an item's members.
    pub own: &'a dyn Fn(&str) -> bool,
    /// Those that nothing inside an item can have.
    pub sure: &'a dyn Fn(&str) -> bool,
    /// True if an item whose end is missing counts when every member is complete.
    pub partial: bool,
}

/// The kind of the value before the current token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// None yet, or an array or object.
    Nested,
    String,
    /// Digits could be missing behind it.
    Number,
    Word,
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
    nest: Nest,
    /// True if a comma is expected before the next element.
    comma: bool,
    last: Last,
    /// True if a line has ended since the last token.
    line: bool,
    /// The last string or key, and what is open around it.
    suspect: (usize, Nest),
    next: Option<(usize, Vec<u8>)>,
    cut: bool,
    hides: bool,
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
        nest: Nest::default(),
        comma: false,
        last: Last::Nested,
        line: false,
        suspect: (0, Nest::default()),
        next: None,
        cut: false,
        hides: false,
    };
    let halt = repairer.run();
    let Repairer { at, out, fixes, suspect: (suspect, nest), next, cut, hides, .. } = repairer;
    let broken = |at, why, cut| Outcome::Broken(Broken { at, why, cut, suspect, nest, next });
    match halt {
        Halt::Done => Outcome::Done(Repaired { text: out, len: at, fixes, cut, hides }),
        Halt::Bad(at, why) => broken(at, why, false),
        Halt::More if end => broken(bytes.len(), "the text ends within a token", true),
        Halt::Cut(why) => broken(bytes.len(), why, true),
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
        if need == Need::Separator && self.nest.depth == 0 {
            return Err(Halt::Done);
        }
        let found = gap(self.bytes, self.at, |fix, at| self.fixes.push((fix, at)));
        let found = found.map_err(|no| match no {
            NoGap::More(_) => Halt::More,
            NoGap::Bad(at) => Halt::Bad(at, "a comment in a comment"),
        })?;
        self.at = found.end;
        self.line = found.line;
        self.hides |= found.hides;
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

    /// Handles the end of the text between two tokens: an object without nested values may be
    /// complete but for its brace.
    fn ends(&mut self, need: Need) -> Result<Need, Halt> {
        if !self.end {
            return Err(Halt::More);
        }
        let complete = self.nest.depth == 1 && self.in_object() && self.leads.partial;
        // Nothing follows that would show that a string in other quotes has ended.
        let open_string = matches!(self.fixes.last(), Some((Fix::Quotes, _)));
        if need == Need::Value || need == Need::First || !complete || open_string {
            return Err(Halt::Cut("the text ends within it"));
        }
        self.drop_comma(need);
        self.fix(Fix::Closer);
        self.cut = true;
        self.close(true);
        Err(Halt::Done)
    }

    fn drop_comma(&mut self, need: Need) {
        if let Need::Next(comma) = need {
            self.fixes.push((Fix::Comma, comma));
        }
        self.comma = false;
    }

    /// Closes the innermost array or object.
    fn close(&mut self, object: bool) {
        self.nest.close(object, false);
        self.out.push(if object { b'}' } else { b']' });
        self.last = Last::Nested;
    }

    /// Reads a closing bracket. A missing or superfluous one is never supplied or left out: members
    /// could move into another object.
    fn closer(&mut self, byte: u8, need: Need) -> Result<Need, Halt> {
        let object = byte == b'}';
        if self.nest.object() != Some(object) {
            return self.bad("a bracket that closes nothing here");
        }
        self.drop_comma(need);
        self.at += 1;
        self.close(object);
        Ok(Need::Separator)
    }

    fn in_object(&self) -> bool {
        self.nest.object() == Some(true)
    }

    fn separator(&mut self, byte: u8) -> Result<Need, Halt> {
        match byte {
            b',' => {
                self.at += 1;
                self.comma = true;
                Ok(Need::Next(self.at - 1))
            }
            b'}' | b']' => self.closer(byte, Need::Separator),
            b'{' if self.in_object() => self.element(byte, Need::Separator),
            // A comma is supplied at the end of a line only, where no value can have lost its end:
            // elsewhere the text may be the rest of the value before.
            _ if !self.line || self.last == Last::Number => {
                self.bad("expected `,` or a closing bracket")
            }
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
            // Something is missing between two commas.
            b',' => self.bad("expected a value or a key"),
            b'}' | b']' => self.closer(byte, need),
            b'{' if self.in_object() => {
                if self.item_begins(need)? {
                    let closers = std::iter::repeat_n(b'}', self.nest.depth as usize);
                    let closed = std::mem::take(&mut self.out).into_iter().chain(closers);
                    self.next = Some((self.at, closed.collect()));
                }
                self.bad("expected a key")
            }
            _ if self.in_object() => self.key(byte),
            _ => self.value(byte),
        }
    }

    /// Returns whether the next item certainly begins at a brace in the place of a key.
    fn item_begins(&self, need: Need) -> Result<bool, Halt> {
        let lead = match crate::boundary::lead(self.bytes, self.at) {
            crate::boundary::Lead::Key(key) => key,
            crate::boundary::Lead::More if !self.end => return Err(Halt::More),
            _ => return Ok(false),
        };
        // Behind an array or object, the brace may belong to an array whose bracket is missing.
        let own = self.nest.depth == 1 && self.last != Last::Nested;
        let lead = (self.leads.sure)(&lead) || (own && (self.leads.own)(&lead));
        Ok(lead && matches!(need, Need::Next(_)) && !self.nest.has(false))
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
                if self.nest.depth as usize == MAX_DEPTH {
                    return Err(Halt::Deep);
                }
                self.nest.open(byte == b'{');
                self.last = Last::Nested;
                self.out.push(byte);
                self.at += 1;
                return Ok(Need::First);
            }
            b'-' | b'0'..=b'9' => {
                let end = lex::number(self.bytes, self.at)?;
                self.out.extend_from_slice(&self.bytes[self.at..end]);
                self.at = end;
                self.last = Last::Number;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.word()?;
                self.last = Last::Word;
            }
            _ => {
                self.string(byte)?;
                self.last = Last::String;
            }
        }
        Ok(Need::Separator)
    }
}

#[cfg(test)]
mod tests;
