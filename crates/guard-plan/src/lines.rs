//! Lines of bytes, bounded: whoever sends a line without end must not fill our memory.

use std::io::{self, BufRead};

/// The next line of a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line, without the line feed that ended it.
    Whole(Vec<u8>),
    /// The last line, whose line feed is missing.
    Open(Vec<u8>),
    /// A longer line than allowed. It has been skipped up to its end.
    TooLong,
    /// The reader has ended.
    End,
}

/// Reads the next line and holds at most `max` bytes of it.
///
/// ```
/// use guard_plan::lines::{Line, read_line};
/// let mut input = &b"short\nmuch too long\nlast"[..];
/// assert_eq!(read_line(&mut input, 8)?, Line::Whole(b"short".to_vec()));
/// assert_eq!(read_line(&mut input, 8)?, Line::TooLong);
/// assert_eq!(read_line(&mut input, 8)?, Line::Open(b"last".to_vec()));
/// assert_eq!(read_line(&mut input, 8)?, Line::End);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// Those of the reader; a read that was interrupted is tried again.
pub fn read_line(reader: &mut (impl BufRead + ?Sized), max: usize) -> io::Result<Line> {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let available = match reader.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return Ok(match (too_long, line.is_empty()) {
                (true, _) => Line::TooLong,
                (false, true) => Line::End,
                (false, false) => Line::Open(line),
            });
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        too_long |= line.len() + part.len() > max;
        match too_long {
            true => line = Vec::new(),
            false => line.extend_from_slice(part),
        }
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Ok(if too_long { Line::TooLong } else { Line::Whole(line) });
        }
    }
}
