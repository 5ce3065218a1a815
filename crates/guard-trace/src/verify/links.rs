//! The links of a chain, followed line by line: what breaks it is named, and the chain is taken up behind it.

use super::pieces::{Fact, Link};
use super::{Against, MAX_FINDINGS, Verified};
use crate::checkpoint::{Entry, Growing};
use crate::line::{Flaw, Head};
use guard_plan::encode::Hash;
use guard_plan::hex;
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

/// The chain as it may also be, and what is wrong then.
struct Other {
    head: Head,
    /// The place of a finding, and what it is in truth where the chain goes on from here.
    instead: Option<(usize, Option<u64>, Trouble)>,
    /// What then is wrong besides.
    besides: Option<Finding>,
}

/// What was wrong with the line before.
#[derive(Clone, Copy, PartialEq)]
enum Excuse {
    None,
    /// It was no record, and may stand for one.
    NoRecord,
    /// Its hash is not its own; the next record may name another.
    Hash,
}

/// A chain that is being followed.
pub struct Links<'a> {
    against: &'a Against,
    /// Where the chain stands, or should.
    head: Head,
    /// Where a record did not follow, the chain may yet go on from here.
    other: Option<Other>,
    /// What the next line may do without being wrong itself.
    excuse: Excuse,
    begun: bool,
    /// Everything so far is linked: a Merkle root means something.
    growing: Option<Growing>,
    /// The checkpoint's session as these records have it.
    compared: bool,
    snapshot_seen: bool,
    session: Option<String>,
    records: u64,
    lines: u64,
    offset: u64,
    findings: Vec<Finding>,
    more: u64,
}

impl<'a> Links<'a> {
    /// A chain that has not begun.
    pub fn new(against: &'a Against) -> Links<'a> {
        Links {
            against,
            head: Head::default(),
            other: None,
            excuse: Excuse::None,
            begun: false,
            growing: (against.tree || against.entry.is_some()).then(Growing::default),
            compared: false,
            snapshot_seen: false,
            session: None,
            records: 0,
            lines: 0,
            offset: 0,
            findings: Vec::new(),
            more: 0,
        }
    }

    /// The next lines.
    pub fn take(&mut self, facts: Vec<Fact>) {
        for fact in facts {
            self.lines += 1;
            self.line(&fact);
            self.offset += fact.len as u64;
        }
    }

    fn found(&mut self, record: Option<u64>, trouble: Trouble) {
        self.growing = None;
        self.add(self.here(record, trouble));
    }

    fn here(&self, record: Option<u64>, trouble: Trouble) -> Finding {
        Finding { line: Some(self.lines), offset: Some(self.offset), record, trouble }
    }

    fn add(&mut self, finding: Finding) {
        match self.findings.len() < MAX_FINDINGS {
            true => self.findings.push(finding),
            false => self.more += 1,
        }
    }

    fn line(&mut self, fact: &Fact) {
        let link = match fact.links {
            Ok(link) if fact.ended => link,
            Ok(_) | Err(_) if !fact.ended => return self.found(None, Trouble::Torn),
            Ok(link) => link,
            Err(flaw) => {
                self.found(None, Trouble::Form(flaw));
                return self.excuse = Excuse::NoRecord;
            }
        };
        self.records += 1;
        if let (1, Some(named)) = (self.lines, &fact.session) {
            if self.against.session.as_ref().is_some_and(|expected| expected != named) {
                self.found(Some(link.seq), Trouble::Session(named.clone()));
            }
            self.session = Some(named.clone());
        }
        self.follow(&link);
    }

    fn follow(&mut self, link: &Link) {
        if !self.begun {
            return self.begin(link);
        }
        let expected = self.head;
        let after = |head: &Head| link.seq == head.version && link.prev == head.hash;
        if after(&expected) {
            return self.accept(link);
        }
        if let Some(other) = self.other.take_if(|other| after(&other.head)) {
            return self.turn(link, other);
        }
        let excuse = std::mem::replace(&mut self.excuse, Excuse::None);
        if link.seq < expected.version {
            return self.again(link);
        }
        let skipped = expected.version + u64::from(excuse == Excuse::NoRecord);
        if link.seq > skipped {
            self.doubt(link, skipped, Trouble::Missing(link.seq - 1));
        } else if link.seq == expected.version && excuse == Excuse::None {
            self.doubt(link, expected.version - 1, Trouble::Replaced);
        }
        self.accept(link);
    }

    /// A record that does not follow. Either something before it is wrong, or it does not belong here: then the next one
    /// goes on from where the chain is now.
    fn doubt(&mut self, link: &Link, record: u64, trouble: Trouble) {
        let place = self.findings.len();
        self.found(Some(record), trouble);
        let kept = place < self.findings.len();
        let instead = kept.then_some((place, Some(link.seq), Trouble::Misplaced));
        self.other = Some(Other { head: self.head, instead, besides: None });
    }

    /// The chain goes on from where it also may be. What was found there was something else, and where it turns back,
    /// it is this record that does not belong here.
    fn turn(&mut self, link: &Link, other: Other) {
        let instead = other.instead.map(|(place, record, trouble)| {
            let finding = &mut self.findings[place];
            let record = std::mem::replace(&mut finding.record, record);
            (place, record, std::mem::replace(&mut finding.trouble, trouble))
        });
        if let Some(besides) = other.besides {
            self.add(besides);
        }
        let besides = instead.as_ref().map(|_| self.here(Some(link.seq), Trouble::Misplaced));
        let head = std::mem::replace(&mut self.head, other.head);
        self.other = Some(Other { head, instead, besides });
        self.accept(link);
    }

    /// The first record: the first of the session, or a snapshot in place of those before.
    fn begin(&mut self, link: &Link) {
        self.begun = true;
        let excuse = std::mem::replace(&mut self.excuse, Excuse::None);
        let first = match link.seq {
            0 => 0,
            seq if link.snapshot => seq,
            1 if excuse == Excuse::NoRecord => 0,
            seq => {
                self.found(Some(seq), Trouble::Beheaded);
                seq
            }
        };
        if link.seq == 0 && link.prev != [0; 32] {
            self.found(Some(0), Trouble::Beheaded);
        }
        self.head = Head { first, version: link.seq, hash: link.prev };
        if let Some(entry) = &self.against.entry {
            self.meet_before(entry, link);
        }
        self.accept(link);
    }

    /// A checkpoint that ends before the first record.
    fn meet_before(&mut self, entry: &Entry, link: &Link) {
        if entry.records > link.seq || link.seq == 0 {
            return;
        }
        self.compared = true;
        let record = entry.records.saturating_sub(1);
        if entry.records < link.seq {
            self.found(Some(record), Trouble::Compacted);
        } else if entry.head != hex::encode(&link.prev) {
            self.found(Some(record), Trouble::Forked);
        }
    }

    /// A record with a number that has been.
    fn again(&mut self, link: &Link) {
        let twice = link.seq + 1 == self.head.version;
        if twice {
            self.other = Some(Other { head: self.next(link), instead: None, besides: None });
            self.found(Some(link.seq), Trouble::Twice);
        } else {
            self.found(Some(link.seq), Trouble::Misplaced);
        }
    }

    fn next(&self, link: &Link) -> Head {
        Head { first: self.head.first, version: link.seq.saturating_add(1), hash: link.hash }
    }

    fn accept(&mut self, link: &Link) {
        self.excuse = Excuse::None;
        if !link.intact {
            self.found(Some(link.seq), Trouble::Changed);
            self.excuse = Excuse::Hash;
        }
        self.head = self.next(link);
        if let Some(growing) = self.growing.as_mut() {
            growing.push(link.seq, &link.hash);
        }
        self.compare(link.seq, &link.hash);
    }

    /// Holds a record against what a checkpoint and a snapshot have seen.
    fn compare(&mut self, seq: u64, hash: &Hash) {
        if let Some(taken) = &self.against.snapshot {
            if taken.version == seq + 1 {
                self.snapshot_seen = true;
                if taken.hash != *hash {
                    self.found(Some(seq), Trouble::Snapshot);
                }
            }
        }
        let entry = self.against.entry.as_ref();
        let Some(entry) = entry.filter(|entry| entry.records == seq + 1) else { return };
        self.compared = true;
        if entry.head != hex::encode(hash) {
            return self.found(Some(seq), Trouble::Forked);
        }
        let grown = self.growing.as_ref().map(|growing| growing.entry(&entry.session));
        if grown.is_some_and(|grown| grown.first == entry.first && grown.root != entry.root) {
            self.found(Some(seq), Trouble::Root);
        }
    }

    /// What it came to.
    pub fn end(mut self, interrupted: bool, bytes: u64) -> Verified {
        if !interrupted {
            self.at_end();
        }
        let named = self.against.session.clone().or_else(|| self.session.clone());
        let entry = self.growing.filter(|_| self.begun).zip(named);
        Verified {
            records: self.records,
            bytes,
            head: self.head,
            session: self.session,
            entry: entry.map(|(growing, session)| growing.entry(&session)),
            findings: self.findings,
            more: self.more,
            interrupted,
        }
    }

    fn at_end(&mut self) {
        let nowhere = |record, trouble| Finding { line: None, offset: None, record, trouble };
        if let Some(entry) = self.against.entry.as_ref().filter(|_| !self.compared) {
            let last = entry.records.checked_sub(1);
            let known = self.records > 0 && last.is_some_and(|last| last < self.head.version);
            // Where the record stood is another one, or none; that was said.
            if last.is_some() && !known {
                self.add(nowhere(last, Trouble::Truncated));
            }
        }
        let unseen = self.against.snapshot.as_ref().filter(|taken| {
            taken.version > 0 && !self.snapshot_seen && taken.version > self.head.first
        });
        if self.against.distrusted || unseen.is_some() {
            let record = unseen.map(|taken| taken.version - 1);
            self.add(nowhere(record, Trouble::Snapshot));
        }
    }
}

/// Whether a chain ends where its store says; `added`: there are more records than it says.
pub fn ends_as_said(verified: &mut Verified, expected: &Head, added: bool) {
    let whole = verified.findings.iter().all(|it| it.trouble == Trouble::Snapshot);
    if whole && (verified.head != *expected || added) {
        let record = expected.version.checked_sub(1);
        verified.findings.push(Finding { line: None, offset: None, record, trouble: Trouble::End });
    }
}
