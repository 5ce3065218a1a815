//! Verification: whether a trace is what was written, and if not, which record lies.
//!
//! Traces are read as a stream. Hashing needs no order, so pieces of one trace are hashed on several cores; following
//! the chain needs it, and costs next to nothing. Whether a record's verdict is right is for replay to say.

mod links;
mod pieces;

pub use links::{Finding, Trouble};
pub use pieces::{MAX_LINE, Pieces};

use crate::checkpoint::Entry;
use crate::line::Head;
use crate::store::{Store, StoreError, Taken};
use links::Links;
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The most findings that are kept of one trace; the rest is counted.
pub const MAX_FINDINGS: usize = 50;

/// What a trace is held against, beside itself.
#[derive(Debug, Clone, Default)]
pub struct Against {
    /// The id that its session should have.
    pub session: Option<String>,
    /// Its Merkle root is wanted.
    pub tree: bool,
    /// How far it had come when a checkpoint was made.
    pub entry: Option<Entry>,
    /// A snapshot that the store has of it.
    pub snapshot: Option<Taken>,
    /// Whether the snapshot that the store has of it is not to be trusted.
    pub distrusted: bool,
}

/// How far a verification has come, for whoever watches it or ends it.
#[derive(Debug, Default)]
pub struct Watch {
    /// Bytes that were read.
    pub bytes: AtomicU64,
    /// Set by whoever wants it to end; what was found until then is reported.
    pub stop: AtomicBool,
}

/// What verification found of one trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// How many records it holds.
    pub records: u64,
    /// How many bytes.
    pub bytes: u64,
    /// Where its chain stands.
    pub head: Head,
    /// The session that its first record names.
    pub session: Option<String>,
    /// The session as a checkpoint would have it, where its root was wanted, its id is known and nothing is wrong.
    pub entry: Option<Entry>,
    /// What is wrong, in the order of the trace; at most [`MAX_FINDINGS`].
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub more: u64,
    /// It was not read to its end: somebody wanted no more.
    pub interrupted: bool,
}

impl Verified {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty() && !self.interrupted
    }
}

/// Verifies a trace that is read from a file or from standard input.
///
/// # Errors
///
/// Where it cannot be read. What is wrong with what can be read is a finding.
pub fn reader(
    from: &mut (dyn Read + Send),
    against: &Against,
    threads: usize,
    watch: &Watch,
) -> std::io::Result<Verified> {
    let mut pieces = Pieces::new(from);
    verify(&mut || pieces.next(), against, threads, watch)
}

/// Verifies a session in a store.
///
/// # Errors
///
/// Where it cannot be read.
pub fn stored(
    store: &dyn Store,
    session: &str,
    against: &Against,
    threads: usize,
    watch: &Watch,
) -> Result<Verified, StoreError> {
    let expected = store.head(session)?;
    let mut records = store.records(session, 0)?;
    // What others commit meanwhile is theirs.
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
    // More than it says, and nobody has committed meanwhile: somebody has put them there.
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
) -> std::io::Result<Verified> {
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
