//! The file of one session: locked, read from an offset, appended to.

use super::super::StoreError;
use super::super::place::{CUT, GONE, OVERWRITTEN, REPLACED, is_absent, is_same, refuse_link};
use crate::line::{Head, LineFields as RecordLine};
use crate::reading::LINE_BYTES;
use guard_plan::lines::{NextLine, read_line};
use std::cmp::Ordering;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The block size for reading backwards from the end of a file, in bytes.
const CHUNK: u64 = 64 << 10;

/// The maximum number of attempts to open a file that is being replaced.
const TRIES: usize = 100;

/// The text after the hash of a line.
const END: &[u8] = b"\"}\n";

/// A file that only this process uses.
#[derive(Debug)]
pub struct Held {
    pub file: File,
    pub path: PathBuf,
    pub head: Head,
    /// The length of the complete records, in bytes.
    pub len: u64,
    /// True after a failed write: the file differs from its session's memory.
    pub broken: bool,
}

impl Drop for Held {
    fn drop(&mut self) {
        // Closing is not enough: a child process that is being started shares the lock until it
        // runs its own program.
        let _ = self.file.unlock();
    }
}

/// An offset in a file, and the head of the chain before it.
#[derive(Debug, Clone, Copy, Default)]
pub struct FilePosition {
    pub offset: u64,
    pub head: Head,
}

impl Held {
    /// Opens and locks a file, or creates it.
    pub fn open(path: &Path) -> Result<Held, StoreError> {
        // `is_at` detects a link that is created here later, before anything is written.
        refuse_link(path)?;
        for _ in 0..TRIES {
            let held = Held::lock(path, OpenOptions::new().read(true).append(true).create(true))?;
            // The previous owner may have replaced the file. Then the locked file is no longer at
            // this path.
            if is_at(&held.file, path) {
                return Ok(held);
            }
        }
        Err(StoreError::Locked(path.to_owned()))
    }

    /// Creates an empty file that will replace another.
    pub fn draft(path: &Path) -> Result<Held, StoreError> {
        // A draft is left over from a crash, or was put there to be written through.
        let _ = std::fs::remove_file(path);
        Held::lock(path, OpenOptions::new().read(true).append(true).create_new(true))
    }

    fn lock(path: &Path, how: &OpenOptions) -> Result<Held, StoreError> {
        let fail = |error| StoreError::io(path, &error);
        let file = how.open(path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::Locked(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(fail(error)),
        }
        Ok(Held { file, path: path.to_owned(), head: Head::default(), len: 0, broken: false })
    }

    /// Reads the records from an offset. A record at the end that was cut off by a crash is
    /// removed.
    pub fn read(&mut self, session: &str, from: FilePosition) -> Result<Vec<String>, StoreError> {
        let path = self.path.clone();
        let fail = |error| StoreError::io(&path, &error);
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(from.offset)).map_err(fail)?;
        self.file.read_to_end(&mut bytes).map_err(fail)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let len = from.offset + whole as u64;
        if whole < bytes.len() {
            self.file.set_len(len).and_then(|()| self.file.sync_all()).map_err(fail)?;
        }
        bytes.truncate(whole);
        let mut head = from.head;
        let mut records = Vec::new();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let line = &line[..line.len() - 1];
            head = head.follow(line).map_err(|broken| StoreError::Damaged {
                path: path.clone(),
                session: Some(session.to_owned()),
                record: Some(head.version),
                why: broken.to_string(),
            })?;
            // The text was checked to be UTF-8 above, so nothing is replaced.
            records.push(String::from_utf8_lossy(line).into_owned());
        }
        if from.offset > 0 {
            // The records before the offset were not read, so the first number is looked up.
            head.first = first(&self.path)?.unwrap_or_default();
        }
        (self.head, self.len, self.broken) = (head, len, false);
        Ok(records)
    }

    /// Returns true if the record before an offset is the expected one.
    pub fn ends_at(&mut self, at: &FilePosition) -> bool {
        let mut expected = guard_plan::hex::encode(&at.head.hash).into_bytes();
        expected.extend_from_slice(END);
        let mut found = vec![0; expected.len()];
        let Some(from) = at.offset.checked_sub(found.len() as u64) else { return false };
        let read = self.file.seek(SeekFrom::Start(from));
        read.and_then(|_| self.file.read_exact(&mut found)).is_ok() && found == expected
    }

    /// Checks that the file at the path is this one, has the expected length, and ends with the
    /// last record.
    pub fn check_place(&mut self) -> Result<(), StoreError> {
        self.check_file(self.len)?;
        let end = FilePosition { offset: self.len, head: self.head };
        if self.len == 0 || self.ends_at(&end) {
            Ok(())
        } else {
            Err(StoreError::lost(&self.path, OVERWRITTEN))
        }
    }

    /// Returns true if the file at the path is this one.
    pub fn is_in_place(&self) -> bool {
        is_at(&self.file, &self.path)
    }

    /// Checks that the file at the path is this one, and has this length.
    fn check_file(&self, len: u64) -> Result<(), StoreError> {
        let lost = |why| Err(StoreError::lost(&self.path, why));
        let there = match std::fs::symlink_metadata(&self.path) {
            Ok(there) => there,
            Err(error) if is_absent(&error) => return lost(GONE),
            Err(error) => return Err(StoreError::io(&self.path, &error)),
        };
        let ours = self.file.metadata().map_err(|error| StoreError::io(&self.path, &error))?;
        if !is_same(&ours, &there) {
            return lost(REPLACED);
        }
        match there.len().cmp(&len) {
            Ordering::Less => lost(CUT),
            Ordering::Equal => Ok(()),
            Ordering::Greater => lost(OVERWRITTEN),
        }
    }

    /// Appends complete records. On return they are in the file at the path. After a failure no
    /// further records are accepted, because the session's memory and the file differ.
    pub fn append(&mut self, lines: &[u8], head: Head, sync: bool) -> Result<(), StoreError> {
        // It is marked before the first byte is written, so that an error at any place leaves it
        // broken.
        self.broken = true;
        let written = self
            .file
            .write_all(lines)
            .and_then(|()| if sync { self.file.sync_data() } else { Ok(()) });
        if let Err(error) = written {
            // The next reader sees complete records; if this fails too, the reader truncates the
            // file itself.
            let _ = self.file.set_len(self.len);
            return Err(StoreError::io(&self.path, &error));
        }
        let len = self.len + lines.len() as u64;
        // The descriptor writes to a deleted file as well, so the file at the path is checked
        // afterwards.
        self.check_file(len)?;
        (self.len, self.head, self.broken) = (len, head, false);
        Ok(())
    }
}

/// Returns true if a file is the one at a path.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(ours), Ok(there)) => is_same(&ours, &there),
        _ => false,
    }
}

fn damaged(path: &Path, why: &str) -> StoreError {
    let why = why.to_owned();
    StoreError::Damaged { path: path.to_owned(), session: None, record: None, why }
}

/// Returns the complete lines of a file, without line breaks; a missing file has none.
pub fn lines(
    path: &Path,
) -> Result<impl Iterator<Item = Result<String, StoreError>> + use<>, StoreError> {
    let path = path.to_owned();
    let mut file = match File::open(&path) {
        Ok(file) => Some(BufReader::with_capacity(1 << 18, file)),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(StoreError::io(&path, &error)),
    };
    Ok(std::iter::from_fn(move || {
        let line = match read_line(file.as_mut()?, LINE_BYTES) {
            Ok(NextLine::Whole(line)) => line,
            // A line without its end is still being written, or was cut off.
            Ok(NextLine::Open(_) | NextLine::End) => return None,
            Ok(NextLine::TooLong) => return Some(Err(damaged(&path, "a record is too long"))),
            Err(error) => {
                file = None;
                return Some(Err(StoreError::io(&path, &error)));
            }
        };
        Some(String::from_utf8(line).map_err(|_| damaged(&path, "a record is not UTF-8")))
    }))
}

/// Returns the number of the first record.
fn first(path: &Path) -> Result<Option<u64>, StoreError> {
    match lines(path)?.next().transpose()? {
        None => Ok(None),
        Some(line) => match RecordLine::read(line.as_bytes()) {
            Ok(line) => Ok(Some(line.seq)),
            Err(_) => Err(damaged(path, "its first line is not a record")),
        },
    }
}

/// Returns the head of a file's chain, from its first and its last complete line.
pub fn head(path: &Path) -> Result<Option<Head>, StoreError> {
    let Some(first) = first(path)? else { return Ok(None) };
    let Some(last) = last(path).map_err(|error| StoreError::io(path, &error))? else {
        return Ok(None);
    };
    match RecordLine::read(&last) {
        Ok(line) => Ok(Some(Head { first, version: line.seq + 1, hash: line.hash })),
        Err(_) => Err(damaged(path, "its last line is not a record")),
    }
}

/// Returns the last complete line of a file, without its line break.
pub fn last(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let mut file = File::open(path)?;
    let mut from = file.seek(SeekFrom::End(0))?;
    let mut tail: Vec<u8> = Vec::new();
    loop {
        // The step grows with the text read so far, so that a long last line takes linear time.
        let step = from.min(CHUNK.max(tail.len() as u64));
        from -= step;
        let mut chunk = vec![0; usize::try_from(step).unwrap_or_default()];
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(&mut chunk)?;
        chunk.extend_from_slice(&tail);
        tail = chunk;
        let Some(end) = tail.iter().rposition(|byte| *byte == b'\n') else {
            if from == 0 {
                return Ok(None);
            }
            continue;
        };
        let begin = tail[..end].iter().rposition(|byte| *byte == b'\n');
        match begin {
            Some(at) => return Ok(Some(tail[at + 1..end].to_vec())),
            None if from == 0 => return Ok(Some(tail[..end].to_vec())),
            None => {}
        }
    }
}

/// Copies the complete lines of a file to which others may append.
pub fn copy(from: &Path, to: &Path) -> Result<(), StoreError> {
    let fail = |error| StoreError::io(to, &error);
    let file = OpenOptions::new().write(true).create_new(true).open(to).map_err(fail)?;
    let mut out = std::io::BufWriter::with_capacity(1 << 18, file);
    for line in lines(from)? {
        let line = line?;
        out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n")).map_err(fail)?;
    }
    let file = out.into_inner().map_err(|error| fail(error.into_error()))?;
    file.sync_all().map_err(fail)
}
