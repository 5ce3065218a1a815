//! Lines and records from any reader, one at a time. Only the current line is held in memory.
//!
//! Hostile input is bounded: a line that is too long is skipped to its end, and reported.

use guard_plan::encode::Hash;
use guard_plan::hex;
use guard_plan::lines::{LineEnd, read_line_into, rest_of_line};
use guard_plan::record::{Kind, Record};
use sha2::{Digest, Sha256};
use std::fmt;
use std::io::{self, BufRead};

/// The maximum length of a line, in bytes: larger than any record with its files and arguments.
pub const LINE_BYTES: usize = 64 << 20;

/// Lines of bytes, without line breaks.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    line: Vec<u8>,
    number: u64,
    bytes: u64,
    max: usize,
}

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceLine<'l> {
    /// A line that ends with a line break.
    Whole(&'l [u8]),
    /// The last line, without its line break.
    Open(&'l [u8]),
    /// A line beyond the maximum length.
    TooLong,
}

impl<R: BufRead> Lines<R> {
    /// Returns the lines of a reader.
    pub fn new(reader: R) -> Lines<R> {
        Lines { reader, line: Vec::new(), number: 0, bytes: 0, max: LINE_BYTES }
    }

    /// The number of the last line, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The number of bytes read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the next line; `None` at the end.
    ///
    /// # Errors
    ///
    /// Returns the error of the reader.
    pub fn next_line(&mut self) -> io::Result<Option<TraceLine<'_>>> {
        let end = read_line_into(&mut self.reader, self.max, &mut self.line)?;
        if end == LineEnd::End {
            return Ok(None);
        }
        self.number += 1;
        self.bytes += self.line.len() as u64;
        match end {
            LineEnd::Feed => {
                self.bytes += 1;
                if self.line.last() == Some(&b'\r') {
                    self.line.pop();
                }
                Ok(Some(TraceLine::Whole(&self.line)))
            }
            LineEnd::TooLong => {
                // The buffer is given back, since one hostile line would otherwise hold its memory
                // to the end.
                self.line = Vec::new();
                rest_of_line(&mut self.reader, |piece| self.bytes += piece.len() as u64)?;
                Ok(Some(TraceLine::TooLong))
            }
            LineEnd::Open | LineEnd::End => Ok(Some(TraceLine::Open(&self.line))),
        }
    }

    /// Returns the input after the last line.
    pub fn rest(&mut self) -> &mut R {
        &mut self.reader
    }
}

/// A problem with a line of a trace.
#[derive(Debug)]
pub enum Flaw {
    /// The line cannot be read.
    Io(io::Error),
    /// The line is longer than [`LINE_BYTES`].
    TooLong,
    /// The line was cut off: it is the last line, and has no line break.
    Cut,
    /// The line is not a record. Contains the reason.
    NoRecord(String),
    /// The line was changed: its hash does not match.
    Changed,
    /// The line does not follow the record before it.
    Prev,
    /// The number of the line is wrong.
    Seq {
        /// The number found.
        found: u64,
        /// The number expected.
        expected: u64,
    },
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::Io(error) => write!(f, "it cannot be read: {error}"),
            Flaw::TooLong => f.write_str("it is longer than 64 MiB"),
            Flaw::Cut => f.write_str("it is cut"),
            Flaw::NoRecord(why) => write!(f, "it is not a record: {why}"),
            Flaw::Changed => f.write_str("it was changed: the hash does not match"),
            Flaw::Prev => f.write_str("it does not follow the record before it"),
            Flaw::Seq { found, expected } => write!(f, "its number is {found}, not {expected}"),
        }
    }
}

impl std::error::Error for Flaw {}

/// The records of a trace, of one session after another.
#[derive(Debug)]
pub struct Records<R> {
    lines: Lines<R>,
    /// The hash of the last record and the number of the next, if the chain is checked.
    chain: Option<(Hash, u64)>,
    /// True if a broken chain was already reported.
    said: bool,
}

/// A record with its line.
#[derive(Debug)]
pub struct Entry<'l> {
    /// The record.
    pub record: Record,
    /// The line.
    pub line: &'l [u8],
    /// The number of the line, from 1.
    pub number: u64,
    /// The problem of the chain at this record, if any.
    pub flaw: Option<Flaw>,
}

impl<R: BufRead> Records<R> {
    /// Returns the records of a trace.
    pub fn new(reader: R) -> Records<R> {
        Records { lines: Lines::new(reader), chain: Some(([0; 32], 0)), said: false }
    }

    /// Disables the check of the hash chain.
    #[must_use]
    pub fn unchecked(self) -> Records<R> {
        Records { chain: None, ..self }
    }

    /// The number of the last line, from 1.
    pub fn number(&self) -> u64 {
        self.lines.number()
    }

    /// The number of bytes read.
    pub fn bytes(&self) -> u64 {
        self.lines.bytes()
    }

    /// Returns the next record; `None` at the end. A broken chain is reported once, with the record
    /// at which it breaks.
    ///
    /// # Errors
    ///
    /// Returns an error if the line is not a record. The next line may be a record again.
    pub fn next_record(&mut self) -> Result<Option<Entry<'_>>, Flaw> {
        let (line, open) = loop {
            match self.lines.next_line().map_err(Flaw::Io)? {
                None => return Ok(None),
                Some(TraceLine::TooLong) => return Err(Flaw::TooLong),
                Some(TraceLine::Whole([]) | TraceLine::Open([])) => {}
                Some(TraceLine::Whole(_)) => break (&self.lines.line, false),
                Some(TraceLine::Open(_)) => break (&self.lines.line, true),
            }
        };
        let text = std::str::from_utf8(line);
        let record = text.map_err(|_| "it is not UTF-8".into()).and_then(Record::parse);
        let record = match record {
            Ok(record) => record,
            Err(_) if open => return Err(Flaw::Cut),
            Err(why) => return Err(Flaw::NoRecord(why)),
        };
        let mut flaw = None;
        if let Some(chain) = &mut self.chain {
            flaw = follow(chain, &record, line).filter(|_| !self.said);
            self.said |= flaw.is_some();
        }
        Ok(Some(Entry { record, line, number: self.lines.number, flaw }))
    }
}

/// The text before the hash of a line.
const HASH: &[u8] = b",\"hash\":\"";

/// Follows the chain, and returns its problem, if any.
fn follow(chain: &mut (Hash, u64), record: &Record, line: &[u8]) -> Option<Flaw> {
    // Another session may follow in the same file.
    if record.seq == 0 && record.kind() == Kind::Open && chain.1 > 0 {
        *chain = ([0; 32], 0);
    }
    // The records before a snapshot may have been dropped: a trace may begin with a snapshot.
    let begins = chain.1 == 0 && record.kind() == Kind::Snapshot;
    let (prev, expected) = *chain;
    let end = line.len().saturating_sub(HASH.len() + 64 + 2);
    let (body, tail) = line.split_at(end);
    let hash: Hash = Sha256::digest(body).into();
    // The chain continues from the record as it is, so that one change is not reported at every
    // record.
    *chain = (hex::decode(&record.hash).unwrap_or_default(), record.seq.saturating_add(1));
    if !tail.starts_with(HASH) || !tail.ends_with(b"\"}") || chain.0 != hash {
        return Some(Flaw::Changed);
    }
    if begins {
        return None;
    }
    if hex::decode(&record.prev) != Some(prev) {
        return Some(Flaw::Prev);
    }
    (record.seq != expected).then_some(Flaw::Seq { found: record.seq, expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded() {
        let mut lines = Lines { max: 4, ..Lines::new(&b"abcd\r\n\nabcdefgh\nxy"[..]) };
        let mut seen = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            seen.push(match line {
                TraceLine::Whole(line) => format!("{}.", String::from_utf8_lossy(line)),
                TraceLine::Open(line) => String::from_utf8_lossy(line).into_owned(),
                TraceLine::TooLong => "too long".into(),
            });
        }
        assert_eq!(seen, ["too long", ".", "too long", "xy"]);
        assert_eq!((lines.number(), lines.bytes()), (4, 18));
    }
}
