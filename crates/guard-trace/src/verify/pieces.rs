//! Splits a trace into pieces of complete lines, and hashes them on several threads.

use crate::line::{LineFields, LineFlaw};
use guard_plan::encode::Hash;
use guard_plan::record::{Payload, Record};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};

/// The approximate size of a piece, in bytes.
pub const SIZE: usize = 1 << 20;

/// The maximum length of a line, in bytes; a session's records are far shorter.
pub const MAX_LINE: usize = 64 << 20;

/// The facts about a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineFact {
    /// The length with its line break, in bytes.
    pub len: usize,
    /// The links of the line, or its format error.
    pub links: Result<LineLinks, LineFlaw>,
    /// The session that it names, if it opens one or is a snapshot at the start of a piece.
    pub session: Option<String>,
    /// True if it has a line break.
    pub ended: bool,
}

/// The links of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineLinks {
    pub seq: u64,
    pub prev: Hash,
    pub hash: Hash,
    /// True if the hash matches the content.
    pub intact: bool,
    pub snapshot: bool,
}

/// Reads complete lines, about a piece at a time.
pub struct Pieces<'r> {
    from: &'r mut (dyn Read + Send),
    /// The beginning of an incomplete line.
    rest: Vec<u8>,
    done: bool,
}

impl<'r> Pieces<'r> {
    /// Returns the pieces of a reader.
    pub fn new(from: &'r mut (dyn Read + Send)) -> Pieces<'r> {
        Pieces { from, rest: Vec::new(), done: false }
    }

    /// Returns the next piece; `None` at the end. The last line may have no line break.
    ///
    /// # Errors
    ///
    /// Returns an error if the input cannot be read. A line beyond [`MAX_LINE`] ends the reading.
    pub fn read(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut piece = std::mem::take(&mut self.rest);
        while !self.done {
            let before = piece.len();
            piece.reserve(SIZE);
            let read = (&mut *self.from).take(SIZE as u64).read_to_end(&mut piece)?;
            self.done = read < SIZE;
            if let Some(at) = memchr::memrchr(b'\n', &piece[before..]) {
                self.rest = piece.split_off(before + at + 1);
                return Ok(Some(piece));
            }
            self.done |= piece.len() > MAX_LINE;
        }
        Ok(Some(piece).filter(|piece| !piece.is_empty()))
    }
}

/// Passes on the facts of all lines in order. Pieces are hashed on several threads, and only a few
/// pieces are held in memory.
pub fn hash(
    next: &mut dyn FnMut() -> io::Result<Option<Vec<u8>>>,
    threads: usize,
    take: &mut dyn FnMut(Vec<LineFact>),
) -> io::Result<()> {
    if threads < 2 {
        while let Some(piece) = next()? {
            take(facts(&piece));
        }
        return Ok(());
    }
    let (work, pieces) = sync_channel::<(u64, Vec<u8>)>(threads);
    let pieces = Mutex::new(pieces);
    let (done, results) = channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let pieces = &pieces;
            let done = done.clone();
            scope.spawn(move || {
                while let Some((index, piece)) = received(pieces) {
                    if done.send((index, facts(&piece))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(done);
        in_order(next, work, &results, threads * 2, take)
    })
}

fn received(pieces: &Mutex<Receiver<(u64, Vec<u8>)>>) -> Option<(u64, Vec<u8>)> {
    let pieces = pieces.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    pieces.recv().ok()
}

/// Hands out pieces while few are pending, and receives the results in order.
fn in_order(
    next: &mut dyn FnMut() -> io::Result<Option<Vec<u8>>>,
    work: SyncSender<(u64, Vec<u8>)>,
    results: &Receiver<(u64, Vec<LineFact>)>,
    most: usize,
    take: &mut dyn FnMut(Vec<LineFact>),
) -> io::Result<()> {
    let mut given = 0_u64;
    let mut taken = 0_u64;
    let mut early: BTreeMap<u64, Vec<LineFact>> = BTreeMap::new();
    let mut work = Some(work);
    loop {
        // Results that arrive early are kept, so the number of pieces in work bounds the memory.
        while let Some(out) = work.as_ref().filter(|_| given - taken < most as u64) {
            match next()?.map(|piece| out.send((given, piece))) {
                Some(Ok(())) => given += 1,
                Some(Err(_)) | None => work = None,
            }
        }
        if taken == given {
            return Ok(());
        }
        let Ok((index, facts)) = results.recv() else {
            return Err(io::Error::other("a thread that hashes has ended"));
        };
        early.insert(index, facts);
        while let Some(facts) = early.remove(&taken) {
            take(facts);
            taken += 1;
        }
    }
}

/// Returns the facts about the lines of a piece.
pub fn facts(piece: &[u8]) -> Vec<LineFact> {
    let mut facts = Vec::with_capacity(piece.len() / 400 + 1);
    let mut from = 0;
    for end in memchr::memchr_iter(b'\n', piece) {
        facts.push(fact(&piece[from..=end], from == 0));
        from = end + 1;
    }
    if from < piece.len() {
        facts.push(fact(&piece[from..], from == 0));
    }
    facts
}

fn fact(whole: &[u8], first: bool) -> LineFact {
    let line = whole.strip_suffix(b"\n");
    let ended = line.is_some();
    let line = line.unwrap_or(whole);
    let read = LineFields::read(line);
    let session = match &read {
        Ok(line) if line.kind == "open" || (first && line.kind == "snapshot") => named(whole),
        _ => None,
    };
    let links = read.map(|line| LineLinks {
        seq: line.seq,
        prev: line.prev,
        hash: line.hash,
        intact: line.is_intact(),
        snapshot: line.kind == "snapshot",
    });
    LineFact { len: whole.len(), links, session, ended }
}

/// Returns the session that a record names.
fn named(line: &[u8]) -> Option<String> {
    match Record::parse(std::str::from_utf8(line).ok()?.trim_end()).ok()?.payload {
        Payload::Open(open) => Some(open.session.into_owned()),
        Payload::Snapshot(snapshot) => Some(snapshot.session.into_owned()),
        _ => None,
    }
}
