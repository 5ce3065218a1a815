//! Bounded reading of lines of bytes: a sender of an endless line must not fill our memory.

use std::io::{self, BufRead, ErrorKind, Read};

/// The next line of a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextLine {
    /// A line, without its line feed.
    Whole(Vec<u8>),
    /// The last line, without a line feed at its end.
    Open(Vec<u8>),
    /// A line that is longer than allowed. Its rest was not read: [`skip_line`] skips it.
    TooLong,
    /// The reader has ended.
    End,
}

/// The end of a line that was read into a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// A line feed, which is not in the buffer.
    Feed,
    /// The end of the reader, after a line without a line feed.
    Open,
    /// The line is longer than allowed and continues. The buffer has its beginning, and
    /// [`rest_of_line`] reads the rest.
    TooLong,
    /// The reader has ended before the line. The buffer is empty.
    End,
}

/// Reads the next line. Of a line longer than `max` bytes, at most `max + 1` bytes are read.
///
/// ```
/// use guard_plan::lines::{NextLine, read_line, skip_line};
/// let mut input = &b"short\nmuch too long\nlast"[..];
/// assert_eq!(read_line(&mut input, 8)?, NextLine::Whole(b"short".to_vec()));
/// assert_eq!(read_line(&mut input, 8)?, NextLine::TooLong);
/// skip_line(&mut input)?;
/// assert_eq!(read_line(&mut input, 8)?, NextLine::Open(b"last".to_vec()));
/// assert_eq!(read_line(&mut input, 8)?, NextLine::End);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// The errors of the reader. An interrupted read is retried.
pub fn read_line(reader: &mut (impl BufRead + ?Sized), max: usize) -> io::Result<NextLine> {
    let mut line = Vec::new();
    Ok(match read_line_into(reader, max, &mut line)? {
        LineEnd::Feed => NextLine::Whole(line),
        LineEnd::Open => NextLine::Open(line),
        LineEnd::TooLong => NextLine::TooLong,
        LineEnd::End => NextLine::End,
    })
}

/// Reads the next line into a buffer and replaces the buffer's content.
///
/// # Errors
///
/// The errors of [`read_line`].
pub fn read_line_into(
    reader: &mut (impl BufRead + ?Sized),
    max: usize,
    line: &mut Vec<u8>,
) -> io::Result<LineEnd> {
    line.clear();
    let most = (max as u64).saturating_add(1);
    reader.take(most).read_until(b'\n', line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(LineEnd::Feed);
    }
    // If a line is too long, its line feed was not read, so that the end of this line can still be
    // found.
    Ok(match line.len() {
        0 => LineEnd::End,
        length if length > max => LineEnd::TooLong,
        _ => LineEnd::Open,
    })
}

/// Reads the next line as text, without its line break. Returns `None` at the end.
///
/// ```
/// use guard_plan::lines::read_text_line;
/// let mut input = &b"one\r\nmuch too long\n"[..];
/// assert_eq!(read_text_line(&mut input, 8)?.as_deref(), Some("one"));
/// let error = read_text_line(&mut input, 8).unwrap_err();
/// assert_eq!(error.to_string(), "a line is longer than 8 bytes");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// The errors of [`read_line`]; [`ErrorKind::InvalidData`] for a line that is longer than `max`
/// bytes or is not UTF-8.
pub fn read_text_line(
    reader: &mut (impl BufRead + ?Sized),
    max: usize,
) -> io::Result<Option<String>> {
    let bad = |why: String| io::Error::new(ErrorKind::InvalidData, why);
    let mut line = match read_line(reader, max)? {
        NextLine::Whole(line) | NextLine::Open(line) => line,
        NextLine::TooLong => return Err(bad(format!("a line is longer than {max} bytes"))),
        NextLine::End => return Ok(None),
    };
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    String::from_utf8(line).map(Some).map_err(|_| bad("a line is not UTF-8".into()))
}

/// Skips the rest of a line, including its line feed.
///
/// # Errors
///
/// The errors of [`read_line`].
pub fn skip_line(reader: &mut (impl BufRead + ?Sized)) -> io::Result<()> {
    rest_of_line(reader, |_| {})
}

/// Reads the rest of a line including its line feed, piece by piece.
///
/// # Errors
///
/// The errors of [`read_line`].
pub fn rest_of_line(
    reader: &mut (impl BufRead + ?Sized),
    mut take: impl FnMut(&[u8]),
) -> io::Result<()> {
    loop {
        let available = match reader.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            available => available?,
        };
        let end = available.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(available.len(), |end| end + 1);
        take(&available[..used]);
        reader.consume(used);
        if end.is_some() || used == 0 {
            return Ok(());
        }
    }
}
