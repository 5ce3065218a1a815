//! The search for positions where an item can begin and a list can end, in text of unknown
//! structure.
//!
//! Only JSON's own quotes count here. They cannot occur inside a well-formed string, so no text
//! inside a string is mistaken for a boundary.

use crate::gap::{NoGap, gap};
use crate::lex::{self, blanks};
use std::borrow::Cow;

/// The longest name that is considered, in bytes.
pub(crate) const LONGEST_NAME: usize = 256;

/// The longest comment skipped before an object's first key, in bytes.
const SHORT_COMMENT: usize = 512;

/// The beginning of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lead<'a> {
    /// An object whose first key is this one.
    Key(Cow<'a, str>),
    /// An object without members.
    Empty,
    /// Text that is not an object in JSON's quotes.
    Other,
    /// The bytes end too soon to decide.
    More,
}

/// Classifies the text at a brace.
pub(crate) fn lead(bytes: &[u8], brace: usize) -> Lead<'_> {
    first(bytes, blanks(bytes, brace + 1))
}

/// Returns the position of the first key after a brace: after whitespace, short comments and an
/// extra comma. `Err` if the bytes end too soon to decide.
pub(crate) fn opening(bytes: &[u8], brace: usize) -> Result<usize, ()> {
    let near = &bytes[..bytes.len().min(brace + 1 + SHORT_COMMENT)];
    let more = near.len() < brace + 1 + SHORT_COMMENT;
    let mut at = brace + 1;
    let mut comma = false;
    loop {
        match gap(near, at, |_, _| {}) {
            Ok(found) => at = found.end,
            Err(NoGap::More(_)) if more => return Err(()),
            Err(_) => return Ok(blanks(bytes, brace + 1)),
        }
        if comma || near.get(at) != Some(&b',') {
            // The rest of the whitespace may be longer than a short comment.
            return Ok(blanks(bytes, at));
        }
        (comma, at) = (true, at + 1);
    }
}

/// Classifies the text at the position of an object's first key.
pub(crate) fn first(bytes: &[u8], at: usize) -> Lead<'_> {
    match bytes.get(at) {
        None => Lead::More,
        Some(b'}') => Lead::Empty,
        Some(b'"') => match key(bytes, at) {
            Ok(Some((name, _))) => Lead::Key(name),
            Ok(None) => Lead::Other,
            Err(()) => Lead::More,
        },
        Some(_) => Lead::Other,
    }
}

/// Reads a key in JSON's quotes, with its colon; returns it with the position where its value may
/// begin. `Err` if the bytes end.
pub(crate) fn key(bytes: &[u8], quote: usize) -> Result<Option<(Cow<'_, str>, usize)>, ()> {
    let start = quote + 1;
    let near = &bytes[..bytes.len().min(start + LONGEST_NAME)];
    let (end, escaped) = match lex::string(near, quote) {
        Ok(found) => found,
        Err(lex::LexStop::More) if near.len() < start + LONGEST_NAME => return Err(()),
        Err(_) => return Ok(None),
    };
    let at = blanks(bytes, end);
    match bytes.get(at) {
        None => Err(()),
        Some(b':') => {
            let Ok(raw) = str::from_utf8(&near[start..end - 1]) else { return Ok(None) };
            let name = if escaped { lex::unescape(raw).into() } else { Cow::Borrowed(raw) };
            Ok(Some((name, at + 1)))
        }
        Some(_) => Ok(None),
    }
}

/// The quotes around a key besides JSON's.
const QUOTES: [(&str, &str); 4] = [("'", "'"), ("`", "`"), ("“", "”"), ("‘", "’")];

/// Reads a key in other quotes or without quotes, with its colon; returns it with the position
/// where its value may begin. `Err` if the bytes end.
pub(crate) fn loose_key(bytes: &[u8], at: usize) -> Result<Option<(&str, usize)>, ()> {
    let rest = &bytes[at.min(bytes.len())..];
    if rest.len() < 3 {
        return Err(());
    }
    let quotes = QUOTES.iter().find(|quotes| rest.starts_with(quotes.0.as_bytes()));
    let start = at + quotes.map_or(0, |quotes| quotes.0.len());
    let window = &bytes[start..bytes.len().min(start + LONGEST_NAME)];
    let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'-');
    let len = match quotes {
        None => window.iter().position(|b| !part(b)),
        Some((_, close)) => memchr::memmem::find(window, close.as_bytes()),
    };
    let Some(len) = len else {
        return if window.len() < LONGEST_NAME { Err(()) } else { Ok(None) };
    };
    if len == 0 {
        return Ok(None);
    }
    let at = blanks(bytes, start + len + quotes.map_or(0, |quotes| quotes.1.len()));
    match bytes.get(at) {
        None => Err(()),
        Some(b':') => Ok(str::from_utf8(&window[..len]).ok().map(|name| (name, at + 1))),
        Some(_) => Ok(None),
    }
}
