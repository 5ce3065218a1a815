//! Lossless repairs: the conversion of one malformed value to JSON.
//!
//! The repair is one pass with its own stack. The end of a string is never guessed: a text with
//! more than one possible reading is refused. The strict reader parses the result again from the
//! start. The module does not know the types; the names that begin an item are given.

mod member;
mod string;

use crate::gap::{NoGap, gap};
use crate::lex::{self, LexStop};
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
    /// True if a comment in the value may contain a part of it.
    pub hides: bool,
    /// The positions of its scalars and keys, without quotes: as JSON, and in the text.
    pub places: Vec<(usize, usize)>,
}

/// Returns the position in the text of a scalar of a repaired value.
pub(crate) fn place(places: &[(usize, usize)], spot: usize) -> usize {
    let found = places.binary_search_by_key(&spot, |place| place.0);
    found.map_or(0, |found| places[found].1)
}

/// The reason why a value cannot be repaired.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Irreparable {
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
    /// The position of the next item, if the value lacks only its brace, and the value with that
    /// brace.
    pub next: Option<(usize, Vec<u8>)>,
}

/// The outcome of a repair.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RepairOutcome {
    Done(Repaired),
    Broken(Irreparable),
    /// The bytes end within the value.
    More,
    /// It nests deeper than any reader supports at this offset.
    Deep(usize),
}

/// The keys that begin an item, by the contract.
pub(crate) struct Leads<'a> {
    /// Names of an item's members.
    pub own: &'a dyn Fn(&str) -> bool,
    /// The names that nothing inside an item can have.
    pub sure: &'a dyn Fn(&str) -> bool,
    /// True if an item whose end is missing counts when every member is complete.
    pub partial: bool,
}

/// The kind of the value before the current token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastValue {
    /// No value yet, or an array or object.
    Nested,
    String,
    /// A number, after which digits could be missing.
    Number,
    Word,
}

/// The tokens that may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExpectedToken {
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
enum PassEnd {
    Bad(usize, &'static str),
    /// The text ends within a token.
    Cut(&'static str),
    More,
    Deep(usize),
    /// The value is complete.
    Done,
}

impl From<LexStop> for PassEnd {
    fn from(stop: LexStop) -> PassEnd {
        match stop {
            LexStop::More => PassEnd::More,
            LexStop::Bad(at, why) => PassEnd::Bad(at, why),
            LexStop::Deep(at) => PassEnd::Deep(at),
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
    last: LastValue,
    /// True if a line has ended since the last token.
    line: bool,
    /// The last string or key, and the brackets that are open around it.
    suspect: (usize, Nest),
    next: Option<(usize, Vec<u8>)>,
    cut: bool,
    hides: bool,
    places: Vec<(usize, usize)>,
}

/// Repairs the value at the beginning of some bytes. `end` is true if no bytes follow.
pub(crate) fn repair(bytes: &[u8], end: bool, leads: &Leads<'_>) -> RepairOutcome {
    let mut repairer = Repairer {
        bytes,
        end,
        leads,
        at: 0,
        out: Vec::new(),
        fixes: Vec::new(),
        nest: Nest::default(),
        comma: false,
        last: LastValue::Nested,
        line: false,
        suspect: (0, Nest::default()),
        next: None,
        cut: false,
        hides: false,
        places: Vec::new(),
    };
    let halt = repairer.run();
    let Repairer { at, out, fixes, suspect: (suspect, nest), next, cut, hides, places, .. } =
        repairer;
    let broken =
        |at, why, cut| RepairOutcome::Broken(Irreparable { at, why, cut, suspect, nest, next });
    match halt {
        PassEnd::Done => {
            RepairOutcome::Done(Repaired { text: out, len: at, fixes, cut, hides, places })
        }
        PassEnd::Bad(at, why) => broken(at, why, false),
        PassEnd::More if end => broken(bytes.len(), "the text ends within a token", true),
        PassEnd::Cut(why) => broken(bytes.len(), why, true),
        PassEnd::More => RepairOutcome::More,
        PassEnd::Deep(at) => RepairOutcome::Deep(at),
    }
}

impl Repairer<'_> {
    fn run(&mut self) -> PassEnd {
        let mut need = ExpectedToken::Value;
        loop {
            need = match self.step(need) {
                Ok(need) => need,
                Err(halt) => return halt,
            };
        }
    }

    /// Reads the gap that begins here. Returns true if it contains the end of a line.
    fn over_gap(&mut self) -> Result<bool, PassEnd> {
        let found = gap(self.bytes, self.at, |fix, at| self.fixes.push((fix, at)));
        let found = found.map_err(|no| match no {
            NoGap::More(_) => PassEnd::More,
            NoGap::Bad(at) => PassEnd::Bad(at, "a comment in a comment"),
        })?;
        self.at = found.end;
        self.hides |= found.hides;
        Ok(found.line)
    }

    fn step(&mut self, need: ExpectedToken) -> Result<ExpectedToken, PassEnd> {
        if need == ExpectedToken::Separator && self.nest.depth == 0 {
            return Err(PassEnd::Done);
        }
        self.line = self.over_gap()?;
        let Some(byte) = self.bytes.get(self.at).copied() else { return self.ends(need) };
        match need {
            ExpectedToken::Value => self.value(byte),
            ExpectedToken::Separator => self.separator(byte),
            ExpectedToken::First | ExpectedToken::Next(_) => self.element(byte, need),
        }
    }

    fn fix(&mut self, fix: Fix) {
        self.fixes.push((fix, self.at));
    }

    fn bad<T>(&self, why: &'static str) -> Result<T, PassEnd> {
        Err(PassEnd::Bad(self.at, why))
    }

    /// Handles the end of the text between two tokens. An object without nested values may be
    /// complete except for its brace.
    fn ends(&mut self, need: ExpectedToken) -> Result<ExpectedToken, PassEnd> {
        if !self.end {
            return Err(PassEnd::More);
        }
        let complete = self.nest.depth == 1 && self.in_object() && self.leads.partial;
        // No following text shows that a string in other quotes has ended.
        let open_string = matches!(self.fixes.last(), Some((Fix::Quotes, _)));
        if need == ExpectedToken::Value || need == ExpectedToken::First || !complete || open_string
        {
            return Err(PassEnd::Cut("the text ends within it"));
        }
        self.drop_comma(need);
        self.fix(Fix::Closer);
        self.cut = true;
        self.close(true);
        Err(PassEnd::Done)
    }

    fn drop_comma(&mut self, need: ExpectedToken) {
        if let ExpectedToken::Next(comma) = need {
            self.fixes.push((Fix::Comma, comma));
        }
        self.comma = false;
    }

    /// Closes the innermost array or object.
    fn close(&mut self, object: bool) {
        self.nest.close(object, false);
        self.out.push(if object { b'}' } else { b']' });
        self.last = LastValue::Nested;
    }

    /// Reads a closing bracket. A missing bracket is never added and a superfluous one never
    /// removed, because members could move into another object.
    fn closer(&mut self, byte: u8, need: ExpectedToken) -> Result<ExpectedToken, PassEnd> {
        let object = byte == b'}';
        if self.nest.object() != Some(object) {
            return self.bad("a closing bracket without an opening one");
        }
        self.drop_comma(need);
        self.at += 1;
        self.close(object);
        Ok(ExpectedToken::Separator)
    }

    fn in_object(&self) -> bool {
        self.nest.object() == Some(true)
    }

    fn separator(&mut self, byte: u8) -> Result<ExpectedToken, PassEnd> {
        match byte {
            b',' => {
                self.at += 1;
                self.comma = true;
                Ok(ExpectedToken::Next(self.at - 1))
            }
            b'}' | b']' => self.closer(byte, ExpectedToken::Separator),
            b'{' if self.in_object() => self.element(byte, ExpectedToken::Separator),
            // A comma is added only at the end of a line, where no value can have lost its end.
            // Elsewhere the text may be the rest of the value before.
            _ if !self.line || self.last == LastValue::Number => {
                self.bad("expected `,` or a closing bracket")
            }
            b':' | b'=' | b';' | b'`' | b')' => self.bad("expected `,` or a closing bracket"),
            _ => {
                self.fix(Fix::Comma);
                self.comma = true;
                self.element(byte, ExpectedToken::First)
            }
        }
    }

    /// Reads an element of an array, a key of an object, or their end.
    fn element(&mut self, byte: u8, need: ExpectedToken) -> Result<ExpectedToken, PassEnd> {
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

    /// Returns true if the next item certainly begins at a brace in place of a key.
    fn item_begins(&self, need: ExpectedToken) -> Result<bool, PassEnd> {
        let lead = match crate::boundary::lead(self.bytes, self.at) {
            crate::boundary::Lead::Key(key) => key,
            crate::boundary::Lead::More if !self.end => return Err(PassEnd::More),
            _ => return Ok(false),
        };
        // After an array or object, the brace may belong to an array whose bracket is missing.
        let own = self.nest.depth == 1 && self.last != LastValue::Nested;
        let lead = (self.leads.sure)(&lead) || (own && (self.leads.own)(&lead));
        Ok(lead && matches!(need, ExpectedToken::Next(_)) && !self.nest.has(false))
    }

    /// Records the position of a scalar or key.
    fn here(&mut self) {
        self.places.push((self.out.len(), self.at));
    }

    fn write_comma(&mut self) {
        if std::mem::take(&mut self.comma) {
            self.out.push(b',');
        }
    }

    fn value(&mut self, byte: u8) -> Result<ExpectedToken, PassEnd> {
        self.write_comma();
        match byte {
            b'{' | b'[' => {
                if self.nest.depth as usize == MAX_DEPTH {
                    return Err(PassEnd::Deep(self.at));
                }
                self.nest.open(byte == b'{');
                self.last = LastValue::Nested;
                self.out.push(byte);
                self.at += 1;
                return Ok(ExpectedToken::First);
            }
            b'-' | b'0'..=b'9' => {
                let end = lex::number(self.bytes, self.at)?;
                self.here();
                self.out.extend_from_slice(&self.bytes[self.at..end]);
                self.at = end;
                self.last = LastValue::Number;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.here();
                self.word()?;
                self.last = LastValue::Word;
            }
            _ => {
                self.string(byte)?;
                self.last = LastValue::String;
            }
        }
        Ok(ExpectedToken::Separator)
    }
}

#[cfg(test)]
mod tests;
