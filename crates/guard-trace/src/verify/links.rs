//! The check of a chain, line by line. Each break is reported, and the check continues after it.

use super::finding::{TraceFinding, TraceTrouble};
use super::pieces::{LineFact, LineLinks, MAX_LINE};
use super::{Against, MAX_FINDINGS, VerifiedTrace};
use crate::checkpoint::{CheckpointEntry, SessionTree};
use crate::line::Head;
use guard_plan::encode::Hash;
use guard_plan::hex;

/// An alternative continuation of the chain, and its findings.
struct Other {
    head: Head,
    /// The index of a finding, and its replacement if the chain continues from here.
    instead: Option<(usize, Option<u64>, TraceTrouble)>,
    /// An additional finding in that case.
    besides: Option<TraceFinding>,
}

/// The problem of the previous line, which the next line may be affected by.
#[derive(Clone, Copy, PartialEq)]
enum PreviousDefect {
    None,
    /// The line was not a record, and may replace one.
    NoRecord,
    /// The hash did not match, so the next record may name another hash.
    Hash,
}

/// A chain that is being checked.
pub struct Links<'a> {
    against: &'a Against,
    /// The head of the chain, actual or expected.
    head: Head,
    /// After a record that did not follow, the alternative continuation.
    other: Option<Other>,
    /// The deviation that the next line may have without a finding.
    excuse: PreviousDefect,
    begun: bool,
    /// The Merkle tree, if everything so far is linked.
    growing: Option<SessionTree>,
    /// True once the checkpoint's session was compared with these records.
    compared: bool,
    snapshot_seen: bool,
    session: Option<String>,
    records: u64,
    lines: u64,
    offset: u64,
    findings: Vec<TraceFinding>,
    more: u64,
}

impl<'a> Links<'a> {
    /// Returns a chain without records.
    pub fn new(against: &'a Against) -> Links<'a> {
        Links {
            against,
            head: Head::default(),
            other: None,
            excuse: PreviousDefect::None,
            begun: false,
            growing: (against.tree || against.entry.is_some()).then(SessionTree::default),
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

    /// Processes the next lines.
    pub fn take(&mut self, facts: Vec<LineFact>) {
        for fact in facts {
            self.lines += 1;
            self.line(&fact);
            self.offset += fact.len as u64;
        }
    }

    fn found(&mut self, record: Option<u64>, trouble: TraceTrouble) {
        // The root of a chain with a finding would vouch for it.
        self.growing = None;
        self.add(self.here(record, trouble));
    }

    fn here(&self, record: Option<u64>, trouble: TraceTrouble) -> TraceFinding {
        TraceFinding { line: Some(self.lines), offset: Some(self.offset), record, trouble }
    }

    fn add(&mut self, finding: TraceFinding) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding)
        } else {
            self.more += 1;
        }
    }

    fn line(&mut self, fact: &LineFact) {
        let link = match fact.links {
            _ if !fact.ended => {
                let long = fact.len > MAX_LINE;
                let trouble = if long { TraceTrouble::TooLong } else { TraceTrouble::Torn };
                return self.found(None, trouble);
            }
            Ok(link) => link,
            Err(flaw) => {
                self.found(None, TraceTrouble::Form(flaw));
                return self.excuse = PreviousDefect::NoRecord;
            }
        };
        self.records += 1;
        // Later lines may name a session too, but only the first one stands for the trace.
        if let (1, Some(named)) = (self.lines, &fact.session) {
            if self.against.session.as_ref().is_some_and(|expected| expected != named) {
                self.found(Some(link.seq), TraceTrouble::Session(named.clone()));
            }
            self.session = Some(named.clone());
        }
        self.follow(&link);
    }

    fn follow(&mut self, link: &LineLinks) {
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
        let excuse = std::mem::replace(&mut self.excuse, PreviousDefect::None);
        if link.seq < expected.version {
            return self.again(link);
        }
        let skipped = expected.version + u64::from(excuse == PreviousDefect::NoRecord);
        if link.seq > skipped {
            self.doubt(link, skipped, TraceTrouble::Missing(link.seq - 1));
        } else if link.seq == expected.version && excuse == PreviousDefect::None {
            self.doubt(link, expected.version - 1, TraceTrouble::Replaced);
        }
        self.accept(link);
    }

    /// Handles a record that does not follow. Either an earlier record is wrong, or this one does
    /// not belong here: then the next record continues the current chain.
    fn doubt(&mut self, link: &LineLinks, record: u64, trouble: TraceTrouble) {
        let place = self.findings.len();
        self.found(Some(record), trouble);
        let kept = place < self.findings.len();
        let instead = kept.then_some((place, Some(link.seq), TraceTrouble::Misplaced));
        self.other = Some(Other { head: self.head, instead, besides: None });
    }

    /// Switches to the alternative chain. The earlier finding is replaced; if the chain later
    /// switches back, this record does not belong here.
    fn turn(&mut self, link: &LineLinks, other: Other) {
        let instead = other.instead.map(|(place, record, trouble)| {
            let finding = &mut self.findings[place];
            let record = std::mem::replace(&mut finding.record, record);
            (place, record, std::mem::replace(&mut finding.trouble, trouble))
        });
        if let Some(besides) = other.besides {
            self.add(besides);
        }
        let besides = instead.as_ref().map(|_| self.here(Some(link.seq), TraceTrouble::Misplaced));
        let head = std::mem::replace(&mut self.head, other.head);
        self.other = Some(Other { head, instead, besides });
        self.accept(link);
    }

    /// Processes the first record: the first of the session, or a snapshot that replaces the
    /// earlier ones.
    fn begin(&mut self, link: &LineLinks) {
        self.begun = true;
        let excuse = std::mem::replace(&mut self.excuse, PreviousDefect::None);
        let first = match link.seq {
            0 => 0,
            seq if link.snapshot => seq,
            1 if excuse == PreviousDefect::NoRecord => 0,
            seq => {
                self.found(Some(seq), TraceTrouble::Beheaded);
                seq
            }
        };
        if link.seq == 0 && link.prev != [0; 32] {
            self.found(Some(0), TraceTrouble::Beheaded);
        }
        self.head = Head { first, version: link.seq, hash: link.prev };
        if let Some(entry) = &self.against.entry {
            self.meet_before(entry, link);
        }
        self.accept(link);
    }

    /// Handles a checkpoint that ends before the first record.
    fn meet_before(&mut self, entry: &CheckpointEntry, link: &LineLinks) {
        if entry.records > link.seq || link.seq == 0 {
            return;
        }
        self.compared = true;
        let record = entry.records.saturating_sub(1);
        if entry.records < link.seq {
            self.found(Some(record), TraceTrouble::Compacted);
        } else if entry.head != hex::encode(&link.prev) {
            self.found(Some(record), TraceTrouble::Forked);
        }
    }

    /// Handles a record with a repeated number.
    fn again(&mut self, link: &LineLinks) {
        let twice = link.seq + 1 == self.head.version;
        if twice {
            self.other = Some(Other { head: self.next(link), instead: None, besides: None });
            self.found(Some(link.seq), TraceTrouble::Twice);
        } else {
            self.found(Some(link.seq), TraceTrouble::Misplaced);
        }
    }

    fn next(&self, link: &LineLinks) -> Head {
        Head { first: self.head.first, version: link.seq.saturating_add(1), hash: link.hash }
    }

    fn accept(&mut self, link: &LineLinks) {
        self.excuse = PreviousDefect::None;
        if !link.intact {
            self.found(Some(link.seq), TraceTrouble::Changed);
            self.excuse = PreviousDefect::Hash;
        }
        self.head = self.next(link);
        if let Some(growing) = self.growing.as_mut() {
            growing.push(link.seq, &link.hash);
        }
        self.compare(link.seq, &link.hash);
    }

    /// Compares a record with a checkpoint and a snapshot.
    fn compare(&mut self, seq: u64, hash: &Hash) {
        let taken = self.against.snapshot.as_ref();
        if let Some(taken) = taken.filter(|taken| taken.version == seq + 1) {
            self.snapshot_seen = true;
            if taken.hash != *hash {
                self.found(Some(seq), TraceTrouble::Snapshot);
            }
        }
        let entry = self.against.entry.as_ref();
        let Some(entry) = entry.filter(|entry| entry.records == seq + 1) else { return };
        self.compared = true;
        if entry.head != hex::encode(hash) {
            return self.found(Some(seq), TraceTrouble::Forked);
        }
        let grown = self.growing.as_ref().map(|growing| growing.entry(&entry.session));
        // The roots are comparable only if both begin at the same record; a compaction moves it.
        if grown.is_some_and(|grown| grown.first == entry.first && grown.root != entry.root) {
            self.found(Some(seq), TraceTrouble::Root);
        }
    }

    /// Returns the result.
    pub fn end(mut self, interrupted: bool, bytes: u64) -> VerifiedTrace {
        if !interrupted {
            self.at_end();
        }
        let named = self.against.session.clone().or_else(|| self.session.clone());
        let entry = self.growing.filter(|_| self.begun).zip(named);
        VerifiedTrace {
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
        let nowhere = |record, trouble| TraceFinding { line: None, offset: None, record, trouble };
        if let Some(entry) = self.against.entry.as_ref().filter(|_| !self.compared) {
            let last = entry.records.checked_sub(1);
            let known = self.records > 0 && last.is_some_and(|last| last < self.head.version);
            // The record there is another one or missing, which was already reported.
            if last.is_some() && !known {
                self.add(nowhere(last, TraceTrouble::Truncated));
            }
        }
        if self.records == 0 && self.findings.is_empty() {
            self.add(nowhere(None, TraceTrouble::Empty));
        }
        let unseen = self.against.snapshot.as_ref().filter(|taken| {
            taken.version > 0 && !self.snapshot_seen && taken.version > self.head.first
        });
        if self.against.distrusted || unseen.is_some() {
            let record = unseen.map(|taken| taken.version - 1);
            self.add(nowhere(record, TraceTrouble::Snapshot));
        }
    }
}

/// Checks that a chain ends at its store's head; `added` is true if there are more records.
pub fn ends_as_said(verified: &mut VerifiedTrace, expected: &Head, added: bool) {
    // Other findings already explain a different end.
    let whole = verified.findings.iter().all(|finding| finding.trouble == TraceTrouble::Snapshot);
    if whole && (verified.head != *expected || added) {
        let record = expected.version.checked_sub(1);
        verified.findings.push(TraceFinding {
            line: None,
            offset: None,
            record,
            trouble: TraceTrouble::End,
        });
    }
}
