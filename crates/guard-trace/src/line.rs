//! A line of a trace, read by its fixed format: number, kind and hashes, without parsing its
//! payload.
//!
//! `guard_plan::record::Chain` writes every line as
//! `{"seq":N,"time":"…","kind":"…",…,"prev":"…","hash":"…"}`, so the chain can be checked at the
//! speed of SHA-256. `Record::parse` parses the whole record.

use guard_plan::encode::Hash;
use guard_plan::hex;
use sha2::{Digest, Sha256};

const SEQ: &[u8] = b"{\"seq\":";
const TIME: &[u8] = b",\"time\":\"";
const KIND: &[u8] = b"\",\"kind\":\"";
const PREV: &[u8] = b",\"prev\":\"";
const HASH: &[u8] = b"\",\"hash\":\"";
const END: &[u8] = b"\"}";
const DIGITS: usize = 64;

/// The number of bytes from `,"prev"` to the end of a line.
const TAIL: usize = PREV.len() + DIGITS + HASH.len() + DIGITS + END.len();

/// The fixed fields of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineFields<'l> {
    /// The number of the record.
    pub seq: u64,
    /// The session's clock, as written.
    pub time: &'l str,
    /// The kind of record, as written.
    pub kind: &'l str,
    /// The hash of the record before it.
    pub prev: Hash,
    /// The record's own hash, as written.
    pub hash: Hash,
    /// The hashed bytes.
    pub body: &'l [u8],
}

/// A format error of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineFlaw {
    /// The line does not end like a record: it was cut off, or is not a record.
    Cut,
    /// The line does not begin like a record.
    NoRecord,
    /// The line is not UTF-8.
    NotText,
}

impl<'l> LineFields<'l> {
    /// Reads the fixed fields of a line without its line break.
    ///
    /// # Errors
    ///
    /// Returns an error if the format differs. [`LineFields::is_intact`] checks the hash.
    pub fn read(line: &'l [u8]) -> Result<LineFields<'l>, LineFlaw> {
        let text = std::str::from_utf8(line).map_err(|_| LineFlaw::NotText)?;
        let tail = line.len().checked_sub(TAIL).ok_or(LineFlaw::Cut)?;
        let (prev, hash) = ends(&line[tail..]).ok_or(LineFlaw::Cut)?;
        let rest = line.strip_prefix(SEQ).ok_or(LineFlaw::NoRecord)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let from = SEQ.len();
        let seq = text[from..from + digits].parse().map_err(|_| LineFlaw::NoRecord)?;
        let (time, at) = quoted(text, from + digits, TIME).ok_or(LineFlaw::NoRecord)?;
        let (kind, _) = quoted(text, at, KIND).ok_or(LineFlaw::NoRecord)?;
        // The hashed bytes end before the hash, so that it does not cover itself.
        let body = &line[..line.len() - DIGITS - END.len() - HASH.len() + 1];
        Ok(LineFields { seq, time, kind, prev, hash, body })
    }

    /// Returns true if the hash matches the content.
    pub fn is_intact(&self) -> bool {
        Hash::from(Sha256::digest(self.body)) == self.hash
    }
}

/// Returns the hashes at the end of a line.
fn ends(tail: &[u8]) -> Option<(Hash, Hash)> {
    let rest = tail.strip_prefix(PREV)?;
    let (prev, rest) = rest.split_at(DIGITS);
    let rest = rest.strip_prefix(HASH)?;
    let (hash, end) = rest.split_at(DIGITS);
    (end == END).then_some(())?;
    Some((hex::decode_lower(prev)?, hex::decode_lower(hash)?))
}

/// Returns the text between `before` and the next quotation mark, and the position of that mark.
fn quoted<'l>(text: &'l str, at: usize, before: &[u8]) -> Option<(&'l str, usize)> {
    let from = at + before.len();
    if text.as_bytes().get(at..from)? != before {
        return None;
    }
    let length = text.as_bytes()[from..].iter().position(|byte| *byte == b'"')?;
    Some((&text[from..from + length], from + length))
}

/// The head of a chain: its first record, its next number, and the hash of its last record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// The number of the first stored record; earlier records were dropped when a snapshot replaced
    /// them.
    pub first: u64,
    /// The number of the next record, which is the number of records so far.
    pub version: u64,
    /// The hash of the last record; zeros if there is none.
    pub hash: Hash,
}

/// The reason why a line does not continue the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// The format of the line is invalid.
    Form(LineFlaw),
    /// The hash does not match the content: the line was changed.
    Changed,
    /// The line names another record as its predecessor.
    Prev,
    /// The number of the line is wrong.
    Seq {
        /// The number found.
        found: u64,
        /// The number expected.
        expected: u64,
    },
    /// The trace begins in the middle, without a snapshot. Contains the first number.
    Begins(u64),
}

impl std::fmt::Display for Break {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Break::Form(LineFlaw::Cut) => f.write_str("it is cut"),
            Break::Form(LineFlaw::NoRecord) => f.write_str("it is not a record of a trace"),
            Break::Form(LineFlaw::NotText) => f.write_str("it is not UTF-8"),
            Break::Changed => f.write_str("it was changed: the hash does not match"),
            Break::Prev => f.write_str("it does not follow the record before it"),
            Break::Seq { found, expected } => write!(f, "its number is {found}, not {expected}"),
            Break::Begins(seq) => {
                write!(f, "the trace begins with record {seq}, which is not a snapshot")
            }
        }
    }
}

impl Head {
    /// Returns true if there are no records.
    pub fn is_empty(&self) -> bool {
        self.version == self.first
    }

    /// Returns the chain with one more line.
    ///
    /// # Errors
    ///
    /// Returns an error if the line is not intact or does not follow.
    pub fn follow(&self, line: &[u8]) -> Result<Head, Break> {
        let line = LineFields::read(line).map_err(Break::Form)?;
        if !line.is_intact() {
            return Err(Break::Changed);
        }
        self.follow_intact(&line)
    }

    /// Returns the chain with one more line, whose own hash was checked elsewhere.
    ///
    /// # Errors
    ///
    /// Returns an error if the line does not follow.
    pub fn follow_intact(&self, line: &LineFields<'_>) -> Result<Head, Break> {
        let next = |first| Head { first, version: line.seq.saturating_add(1), hash: line.hash };
        // The records before a snapshot may have been dropped: a trace may begin with a snapshot.
        if self.version == 0 && line.seq > 0 && line.kind == "snapshot" {
            return Ok(next(line.seq));
        }
        if line.prev != self.hash {
            return Err(match self.version {
                0 if line.seq > 0 => Break::Begins(line.seq),
                _ => Break::Prev,
            });
        }
        if line.seq != self.version || line.seq == u64::MAX {
            return Err(Break::Seq { found: line.seq, expected: self.version });
        }
        Ok(next(self.first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use guard_plan::record::{Chain, Kind, Resume};

    fn lines() -> Vec<String> {
        let mut chain = Chain::default();
        let resume = |by: &'static str| Resume { role: "boss".into(), by: by.into() };
        let mut line = |by, call| {
            String::from_utf8(chain.append(0, Kind::Resume, call, &resume(by)).to_vec()).unwrap()
        };
        vec![line("ann", None), line("\"prev\":\"", Some("c\"1")), line("bob", None)]
    }

    fn check(lines: &[String], expected: &str) {
        let mut head = Head::default();
        let broken = lines.iter().find_map(|line| match head.follow(line.as_bytes()) {
            Ok(next) => {
                head = next;
                None
            }
            Err(broken) => Some(broken.to_string()),
        });
        assert_eq!(broken.unwrap_or_else(|| format!("{} records", head.version)), expected);
    }

    #[test]
    fn what_follows_follows() {
        let all = lines();
        check(&all, "3 records");
        check(&[], "0 records");
        check(&all[1..], "the trace begins with record 1, which is not a snapshot");
        check(&[all[0].clone(), all[2].clone()], "it does not follow the record before it");
        check(&[all[0].replace("ann", "amy")], "it was changed: the hash does not match");
        check(&[all[0][..40].into()], "it is cut");
        check(&[all[0][1..].into()], "it is not a record of a trace");
        check(&[all[0].replace("\"hash\":\"", "\"hash\":\"A")], "it is cut");
    }

    #[test]
    fn every_single_change_is_noticed() {
        let line = lines().remove(0).into_bytes();
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut other = line.clone();
                other[at] ^= 1 << bit;
                assert!(Head::default().follow(&other).is_err(), "byte {at}, bit {bit}");
            }
        }
    }
}
