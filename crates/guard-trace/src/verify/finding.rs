//! The findings on a trace, as text.

use crate::line::LineFlaw;
use std::fmt;

/// A problem of a trace, and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceFinding {
    /// The line, from 1; `None` if the finding is about a missing record.
    pub line: Option<u64>,
    /// The offset of the line, in bytes.
    pub offset: Option<u64>,
    /// The number of the wrong or missing record, if known.
    pub record: Option<u64>,
    /// The problem.
    pub trouble: TraceTrouble,
}

/// A problem of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceTrouble {
    /// The line is not a record: it was cut off, or is something else.
    Form(LineFlaw),
    /// The last line has no line break: it was cut off.
    Torn,
    /// The line is longer than any record; the lines after it are not read.
    TooLong,
    /// The record does not match its hash.
    Changed,
    /// The next record names another predecessor: this record was replaced, with its hash.
    Replaced,
    /// The records from here up to this one, inclusive, are missing.
    Missing(u64),
    /// Two records have this number: one of them was inserted.
    Twice,
    /// The record does not belong here: it was moved or inserted.
    Misplaced,
    /// The trace begins in the middle, and not with a snapshot.
    Beheaded,
    /// The record names another session.
    Session(String),
    /// The trace ends before the last record of a checkpoint.
    Truncated,
    /// A checkpoint has another record here: the trace before it differs.
    Forked,
    /// The Merkle root of these records differs from that of a checkpoint.
    Root,
    /// The records of the checkpoint were replaced by a snapshot; they cannot be compared.
    Compacted,
    /// The store's head of the chain differs.
    End,
    /// There is no record.
    Empty,
    /// The stored snapshot was changed, or is not from this session at this record.
    Snapshot,
}

impl TraceTrouble {
    /// Returns an identifier for programs.
    pub fn word(&self) -> &'static str {
        match self {
            TraceTrouble::Form(_) => "no_record",
            TraceTrouble::Torn => "torn",
            TraceTrouble::TooLong => "too_long",
            TraceTrouble::Changed => "changed",
            TraceTrouble::Replaced => "replaced",
            TraceTrouble::Missing(_) => "missing",
            TraceTrouble::Twice => "twice",
            TraceTrouble::Misplaced => "misplaced",
            TraceTrouble::Beheaded => "beheaded",
            TraceTrouble::Session(_) => "session",
            TraceTrouble::Truncated => "truncated",
            TraceTrouble::Forked => "forked",
            TraceTrouble::Root => "root",
            TraceTrouble::Compacted => "compacted",
            TraceTrouble::End => "end",
            TraceTrouble::Empty => "empty",
            TraceTrouble::Snapshot => "snapshot",
        }
    }
}

impl fmt::Display for TraceFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.record.unwrap_or_default();
        match &self.trouble {
            TraceTrouble::Form(LineFlaw::Cut) => {
                f.write_str("the line is cut, or no record of a trace")
            }
            TraceTrouble::Form(LineFlaw::NoRecord) => {
                f.write_str("the line is not a record of a trace")
            }
            TraceTrouble::Form(LineFlaw::NotText) => f.write_str("the line is not UTF-8"),
            TraceTrouble::Torn => f.write_str("the last line is cut: it has no end"),
            TraceTrouble::TooLong => {
                f.write_str("the line is longer than 64 MiB; the text after it was not read")
            }
            TraceTrouble::Changed => write!(f, "record {n} was changed: the hash does not match"),
            TraceTrouble::Replaced => {
                write!(f, "record {n} was replaced: record {} follows another one", n + 1)
            }
            TraceTrouble::Missing(to) if *to == n => {
                write!(f, "record {n} is missing before this line")
            }
            TraceTrouble::Missing(to) => {
                write!(f, "records {n} to {to} are missing before this line")
            }
            TraceTrouble::Twice => write!(f, "record {n} appears twice: one was inserted"),
            TraceTrouble::Misplaced => {
                write!(f, "record {n} does not belong here: it was moved or inserted")
            }
            TraceTrouble::Beheaded => {
                write!(f, "the trace begins with record {n}, which is not a snapshot")
            }
            TraceTrouble::Session(found) => {
                write!(f, "it belongs to another session, `{found}`")
            }
            TraceTrouble::Truncated => {
                write!(f, "the trace was cut: the checkpoint contains record {n}")
            }
            TraceTrouble::Forked => {
                write!(f, "record {n} differs from the one in the checkpoint")
            }
            TraceTrouble::Root => {
                write!(f, "the checkpoint has another root for the records up to {n}")
            }
            TraceTrouble::Compacted => write!(
                f,
                "the checkpoint ends with record {n}, which a snapshot has replaced: nothing can be compared"
            ),
            TraceTrouble::End => {
                write!(f, "the store names record {n} as the last one, but it is not")
            }
            TraceTrouble::Empty => {
                f.write_str("there is no record, and every session begins with one")
            }
            TraceTrouble::Snapshot => f.write_str("the stored snapshot was changed"),
        }
    }
}
