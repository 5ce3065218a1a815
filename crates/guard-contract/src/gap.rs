//! The gap between tokens: whitespace, whitespace that JSON does not allow, and comments.

use crate::lex::all_blanks;
use crate::unwrap::SEAM;
use guard_plan::report::Fix;

/// The maximum length of a comment, in bytes.
pub(crate) const LONGEST_COMMENT: usize = 64 * 1024;

/// A gap between two tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    /// The start of the next token.
    pub end: usize,
    /// True if the gap contains the end of a line.
    pub line: bool,
    /// True if a comment in the gap may contain a part of the document.
    pub hides: bool,
}

/// The reason why there is no next token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoGap {
    /// The bytes end within a comment or whitespace character that begins here.
    More(usize),
    /// An invalid comment begins here: it is too long, or another one begins inside it.
    Bad(usize),
}

/// Reads the gap that begins here. Its removed parts are reported to `fixed`.
pub(crate) fn gap(
    bytes: &[u8],
    start: usize,
    mut fixed: impl FnMut(Fix, usize),
) -> Result<Gap, NoGap> {
    let mut at = start;
    let mut line = false;
    let mut hides = false;
    loop {
        let from = at;
        at = all_blanks(bytes, at);
        line |= bytes[from..at].contains(&b'\n');
        match bytes.get(at) {
            Some(b'/') => {
                let end = comment(bytes, at)?;
                if end == at {
                    return Ok(Gap { end: at, line, hides });
                }
                fixed(Fix::Comment, at);
                hides |= holds_json(&bytes[at..end]);
                line |= bytes[at..end].contains(&b'\n');
                at = end;
            }
            Some(0x80..) => match strange(&bytes[at..]) {
                0 => return Ok(Gap { end: at, line, hides }),
                1 => return Err(NoGap::More(at)),
                len => {
                    fixed(Fix::Blank, at);
                    at += len;
                }
            },
            _ => return Ok(Gap { end: at, line, hides }),
        }
    }
}

/// Returns true if the comment that begins here may hold a part of the document.
pub(crate) fn hides(bytes: &[u8], at: usize) -> bool {
    comment(bytes, at).is_ok_and(|end| holds_json(&bytes[at..end]))
}

/// Returns the end of a comment that begins here; the same position if there is none.
fn comment(bytes: &[u8], at: usize) -> Result<usize, NoGap> {
    let near = &bytes[at..bytes.len().min(at + LONGEST_COMMENT)];
    let no_end = || if near.len() < LONGEST_COMMENT { NoGap::More(at) } else { NoGap::Bad(at) };
    match near.get(1) {
        None => Err(NoGap::More(at)),
        Some(b'/') => Ok(at + memchr::memchr(b'\n', near).ok_or_else(no_end)?),
        Some(b'*') => {
            let mut from = 2;
            loop {
                // Comments do not nest, so no text is read twice because of an unclosed comment.
                let slash = memchr::memchr(b'/', &near[from..]).ok_or_else(no_end)? + from;
                if near[slash - 1] == b'*' && slash > 2 {
                    return Ok(at + slash + 1);
                }
                match near.get(slash + 1) {
                    None => return Err(no_end()),
                    Some(b'*') => return Err(NoGap::Bad(at)),
                    Some(_) => from = slash + 1,
                }
            }
        }
        Some(_) => Ok(at),
    }
}

/// Returns true if a comment may contain a part of the document: two accidental slashes would hide
/// a line.
fn holds_json(comment: &[u8]) -> bool {
    let inner = comment[2..].trim_ascii();
    let inner = inner.strip_suffix(b"*/").unwrap_or(inner).trim_ascii();
    let mark = |b: Option<&u8>| matches!(b, Some(b',' | b':'));
    mark(inner.first())
        || mark(inner.last())
        || inner.iter().any(|b| matches!(b, b'"' | b'`' | b'{' | b'}' | b'[' | b']' | &SEAM))
        || holds_other_quote(inner)
}

/// Returns true if a text has a single or typographic quote. An apostrophe between two letters is
/// none.
fn holds_other_quote(text: &[u8]) -> bool {
    let letter = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphabetic() || *b >= 0x80);
    text.iter().enumerate().any(|(at, byte)| {
        let len = match (byte, text.get(at + 1..at + 3)) {
            (b'\'', _) => 1,
            (0xE2, Some([0x80, 0x99])) => 3,
            (0xE2, Some([0x80, 0x98..=0x9E])) => return true,
            _ => return false,
        };
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        !letter(before) || !letter(text.get(at + len))
    })
}

/// Returns the length of the non-JSON whitespace character here; 0 if there is none.
fn strange(bytes: &[u8]) -> usize {
    match bytes {
        [0xC2, 0xA0, ..] => 2,
        // The bytes may end within such a character.
        [0xC2 | 0xE1 | 0xE2 | 0xE3 | 0xEF] => 1,
        [0xE1, 0xA0] | [0xE2, 0x80 | 0x81] | [0xE3, 0x80] | [0xEF, 0xBB] => 1,
        [0xE1, 0xA0, 0x8E, ..] | [0xE2, 0x80, 0x80..=0x8B | 0xA8 | 0xA9 | 0xAF, ..] => 3,
        [0xE2, 0x81, 0x9F, ..] | [0xE3, 0x80, 0x80, ..] | [0xEF, 0xBB, 0xBF, ..] => 3,
        _ => 0,
    }
}
