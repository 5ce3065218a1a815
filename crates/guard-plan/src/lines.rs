//! Lines of bytes, bounded: whoever sends a line without end must not fill our memory.

use std::io::{self, BufRead};

/// The next line of a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextLine {
    /// A line, without the line feed that ended it.
    Whole(Vec<u8>),
    /// The last line, whose line feed is missing.
    Open(Vec<u8>),
    /// A longer line than allowed. The rest of it was not read: [`skip_line`] passes over it.
    TooLong,
    /// The reader has ended.
    End,
}

/// Reads the next line, and of a longer one no more than `max` bytes and what the reader has buffered.
///
/// ```
/// use guard_plan::lines::{Line, read_line, skip_line};
/// let mut input = &b"short\nmuch too long\nlast"[..];
/// assert_eq!(read_line(&mut input, 8)?, Line::Whole(b"short".to_vec()));
/// assert_eq!(read_line(&mut input, 8)?, Line::TooLong);
/// skip_line(&mut input)?;
/// assert_eq!(read_line(&mut input, 8)?, Line::Open(b"last".to_vec()));
/// assert_eq!(read_line(&mut input, 8)?, Line::End);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Those of the reader; a read that was interrupted is tried again.
pub fn read_line(reader: &mut (impl BufRead + ?Sized), max: usize) -> io::Result<NextLine> {
    let mut line = Vec::new();
    loop {
        let available = fill(reader)?;
        if available.is_empty() {
            return Ok(if line.is_empty() { NextLine::End } else { NextLine::Open(line) });
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        if line.len() + part.len() > max {
            // The line feed stays, so that the end of this line is found.
            let used = part.len();
            reader.consume(used);
            return Ok(NextLine::TooLong);
        }
        line.extend_from_slice(part);
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Ok(NextLine::Whole(line));
        }
    }
}

/// Passes over the rest of a line, with its line feed.
///
/// # Errors
///
/// As [`read_line`].
pub fn skip_line(reader: &mut (impl BufRead + ?Sized)) -> io::Result<()> {
    loop {
        let available = fill(reader)?;
        let end = available.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(available.len(), |end| end + 1);
        reader.consume(used);
        if end.is_some() || used == 0 {
            return Ok(());
        }
    }
}

fn fill(reader: &mut (impl BufRead + ?Sized)) -> io::Result<&[u8]> {
    loop {
        match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
            Ok(_) => break,
        }
    }
    // The buffer is filled: this reads nothing more.
    reader.fill_buf()
}
