//! Verification: checks that a trace is unchanged, and names the records that are not.
//!
//! Traces are read as a stream. Hashing needs no order, so pieces of one trace are hashed on
//! several cores; following the chain needs order, and is cheap. Replay checks whether a verdict is
//! right.

mod finding;
mod links;
mod pieces;

pub use finding::{TraceFinding, TraceTrouble};
pub use pieces::{MAX_LINE, Pieces};

use crate::checkpoint::CheckpointEntry;
use crate::line::Head;
use crate::store::{SessionSnapshot, Store, StoreError};
use links::Links;
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The maximum number of findings kept per trace; further ones are only counted.
pub const MAX_FINDINGS: usize = 50;

/// The references that a trace is verified against.
#[derive(Debug, Clone, Default)]
pub struct Against {
    /// The expected session id.
    pub session: Option<String>,
    /// True if its Merkle root is needed.
    pub tree: bool,
    /// The session's entry in a checkpoint.
    pub entry: Option<CheckpointEntry>,
    /// The store's snapshot of the session.
    pub snapshot: Option<SessionSnapshot>,
    /// True if the store's snapshot was rejected.
    pub distrusted: bool,
}

/// The progress of a verification, for observers.
#[derive(Debug, Default)]
pub struct Watch {
    /// The number of bytes read.
    pub bytes: AtomicU64,
    /// Set to end the verification early; the findings so far are reported.
    pub stop: AtomicBool,
}

/// The result of verifying one trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedTrace {
    /// The number of records.
    pub records: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// The head of its chain.
    pub head: Head,
    /// The session that its first record names.
    pub session: Option<String>,
    /// The session's entry for a checkpoint, if its root was requested, its id is known and there
    /// are no findings.
    pub entry: Option<CheckpointEntry>,
    /// The findings, in the order of the trace; at most [`MAX_FINDINGS`].
    pub findings: Vec<TraceFinding>,
    /// The number of further findings.
    pub more: u64,
    /// True if the verification was ended early.
    pub interrupted: bool,
}

impl VerifiedTrace {
    /// Returns true if there are no findings.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty() && !self.interrupted
    }
}

/// Verifies a trace from a file or from standard input.
///
/// # Errors
///
/// Returns an error if the input cannot be read. Problems in readable input are findings.
pub fn reader(
    from: &mut (dyn Read + Send),
    against: &Against,
    threads: usize,
    watch: &Watch,
) -> std::io::Result<VerifiedTrace> {
    let mut pieces = Pieces::new(from);
    verify(&mut || pieces.read(), against, threads, watch)
}

/// Verifies a session in a store.
///
/// # Errors
///
/// Returns an error if the store cannot be read.
pub fn stored(
    store: &dyn Store,
    session: &str,
    against: &Against,
    threads: usize,
    watch: &Watch,
) -> Result<VerifiedTrace, StoreError> {
    let expected = store.head(session)?;
    let mut records = store.records(session, 0)?;
    // Concurrent commits by others are not verified.
    let mut left = expected.map_or(0, |head| head.version - head.first);
    let mut failed = None;
    let mut next = || {
        let mut piece = Vec::with_capacity(pieces::SIZE + (4 << 10));
        while left > 0 && piece.len() < pieces::SIZE {
            match records.next() {
                Some(Ok(line)) => {
                    piece.extend_from_slice(line.as_bytes());
                    piece.push(b'\n');
                    left -= 1;
                }
                Some(Err(error)) => {
                    failed = Some(error);
                    break;
                }
                None => break,
            }
        }
        Ok(Some(piece).filter(|piece| !piece.is_empty()))
    };
    let verified = verify(&mut next, against, threads, watch);
    if let Some(error) = failed {
        return Err(error);
    }
    // More records than the head says, without a concurrent commit: they were added outside of the
    // store.
    let added = left == 0 && records.next().is_some() && store.head(session)? == expected;
    // INVARIANT: no piece above is an error.
    let mut verified = verified.unwrap_or_else(|_| Links::new(against).end(false, 0));
    if let Some(expected) = expected.filter(|_| !verified.interrupted) {
        links::ends_as_said(&mut verified, &expected, added);
    }
    Ok(verified)
}

fn verify(
    next: &mut dyn FnMut() -> std::io::Result<Option<Vec<u8>>>,
    against: &Against,
    threads: usize,
    watch: &Watch,
) -> std::io::Result<VerifiedTrace> {
    let mut links = Links::new(against);
    let mut bytes = 0;
    let mut more = || {
        if watch.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let piece = next()?;
        let read = piece.as_ref().map_or(0, |piece| piece.len() as u64);
        bytes += read;
        watch.bytes.fetch_add(read, Ordering::Relaxed);
        Ok(piece)
    };
    pieces::hash(&mut more, threads, &mut |facts| links.take(facts))?;
    Ok(links.end(watch.stop.load(Ordering::Relaxed), bytes))
}
