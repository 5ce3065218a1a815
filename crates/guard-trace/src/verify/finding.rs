//! What can be wrong with a trace, in words.

use crate::line::Flaw;
use std::fmt;

/// Something that is wrong with a trace, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The line, from 1; none where it is about something that is not there.
    pub line: Option<u64>,
    /// Where the line begins, in bytes.
    pub offset: Option<u64>,
    /// The number of the record that lies or is missing, where it is known.
    pub record: Option<u64>,
    /// What is wrong.
    pub trouble: Trouble,
}

/// What is wrong with a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The line is no record: it was cut, or is something else.
    Form(Flaw),
    /// The last line has no end: it was cut.
    Torn,
    /// What the record says is not what was hashed.
    Changed,
    /// The record that follows names another one in its place: it was replaced, with its hash.
    Replaced,
    /// Records from here up to this one, which is missing too, are not there.
    Missing(u64),
    /// There are two records with this number: one of them was inserted.
    Twice,
    /// It does not belong where it stands: it was moved or inserted.
    Misplaced,
    /// The trace begins in the middle, and not with a snapshot.
    Beheaded,
    /// The session that it names is another.
    Session(String),
    /// The trace ends before the record that a checkpoint has seen last.
    Truncated,
    /// A checkpoint has seen another record here: the trace before it is another.
    Forked,
    /// The root that a checkpoint has is not that of these records.
    Root,
    /// What a checkpoint has seen went when a snapshot took its place; nothing here can be compared.
    Compacted,
    /// The store says that the chain ends elsewhere.
    End,
    /// The stored snapshot is not what was stored, or not of this session at this record.
    Snapshot,
}

impl Trouble {
    /// A word for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Trouble::Form(_) => "no_record",
            Trouble::Torn => "torn",
            Trouble::Changed => "changed",
            Trouble::Replaced => "replaced",
            Trouble::Missing(_) => "missing",
            Trouble::Twice => "twice",
            Trouble::Misplaced => "misplaced",
            Trouble::Beheaded => "beheaded",
            Trouble::Session(_) => "session",
            Trouble::Truncated => "truncated",
            Trouble::Forked => "forked",
            Trouble::Root => "root",
            Trouble::Compacted => "compacted",
            Trouble::End => "end",
            Trouble::Snapshot => "snapshot",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.record.unwrap_or_default();
        match &self.trouble {
            Trouble::Form(Flaw::Cut) => f.write_str("the line is cut, or no record of a trace"),
            Trouble::Form(Flaw::NoRecord) => f.write_str("the line is no record of a trace"),
            Trouble::Form(Flaw::NotText) => f.write_str("the line is not UTF-8"),
            Trouble::Torn => f.write_str("the last line is cut: it has no end"),
            Trouble::Changed => write!(f, "record {n} was changed: its hash is another"),
            Trouble::Replaced => {
                write!(f, "record {n} was replaced: record {} follows another one", n + 1)
            }
            Trouble::Missing(to) if *to == n => write!(f, "record {n} is missing before this line"),
            Trouble::Missing(to) => write!(f, "records {n} to {to} are missing before this line"),
            Trouble::Twice => write!(f, "record {n} is there twice: one was inserted"),
            Trouble::Misplaced => {
                write!(f, "record {n} does not belong here: it was moved or inserted")
            }
            Trouble::Beheaded => {
                write!(f, "the trace begins with record {n}, and not with a snapshot")
            }
            Trouble::Session(found) => write!(f, "it is the trace of another session, `{found}`"),
            Trouble::Truncated => {
                write!(f, "the trace was cut: the checkpoint has seen record {n}")
            }
            Trouble::Forked => write!(f, "record {n} is not the one that the checkpoint has seen"),
            Trouble::Root => write!(f, "the checkpoint has another root for the records up to {n}"),
            Trouble::Compacted => write!(
                f,
                "the checkpoint ends with record {n}, which was dropped for a snapshot: nothing can be compared"
            ),
            Trouble::End => {
                write!(f, "the store says that record {n} is the last one, and it is not")
            }
            Trouble::Snapshot => f.write_str("the stored snapshot is not what was stored"),
        }
    }
}
