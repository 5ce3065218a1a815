//! Tokens of JSON in bytes that may end anywhere. This module does not know about nesting.

/// The reason why reading stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LexStop {
    /// The bytes end; reading could continue with more bytes.
    More,
    /// The text is not JSON from this offset on. Contains the offset and the reason.
    Bad(usize, &'static str),
    /// The value nests deeper than any reader supports at this offset.
    Deep(usize),
}

/// The maximum length of the whitespace that is looked past, in bytes. Without it, a text in pieces
/// would be held without bound.
pub(crate) const LONGEST_BLANK: usize = 64 * 1024;

/// Returns the end of the whitespace from here on, for a look ahead: if it is longer than
/// [`LONGEST_BLANK`], a position in it, where no token begins.
#[inline]
pub(crate) fn blanks(bytes: &[u8], at: usize) -> usize {
    all_blanks(&bytes[..bytes.len().min(at + LONGEST_BLANK)], at)
}

/// Returns the end of the whitespace from here on, however long it is.
#[inline]
pub(crate) fn all_blanks(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Returns the end of a string that begins with a quote here, and whether it has escapes.
#[inline]
pub(crate) fn string(bytes: &[u8], at: usize) -> Result<(usize, bool), LexStop> {
    let mut at = at + 1;
    let mut escaped = false;
    loop {
        at = plain(bytes, at);
        match bytes.get(at) {
            None => return Err(LexStop::More),
            Some(b'"') => return Ok((at + 1, escaped)),
            Some(b'\\') => {
                escaped = true;
                at = escape(bytes, at)?.1;
            }
            Some(_) => return Err(LexStop::Bad(at, "a control character in a string")),
        }
    }
}

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);

/// Returns the position of the next quote, backslash or control character, or the end; reads eight
/// bytes at a time.
#[inline]
pub(crate) fn plain(bytes: &[u8], mut at: usize) -> usize {
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
    while let Some(chunk) = bytes.get(at..at + 8).and_then(|chunk| chunk.try_into().ok()) {
        let word = u64::from_le_bytes(chunk);
        let quote = zeros(word ^ (ONES * u64::from(b'"')));
        let slash = zeros(word ^ (ONES * u64::from(b'\\')));
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let special = (quote | slash | control) & HIGHS;
        if special != 0 {
            // The lowest mark is exact. Only marks above it may be wrong.
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = &bytes[at.min(bytes.len())..];
    let special = |byte: &u8| *byte == b'"' || *byte == b'\\' || *byte < 0x20;
    at + rest.iter().position(special).unwrap_or(rest.len())
}

/// Returns the character that an escape stands for, and its end.
pub(crate) fn escape(bytes: &[u8], at: usize) -> Result<(char, usize), LexStop> {
    let plain = match bytes.get(at + 1) {
        None => return Err(LexStop::More),
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode(bytes, at),
        Some(_) => return Err(LexStop::Bad(at, "unknown escape")),
    };
    Ok((plain, at + 2))
}

fn unicode(bytes: &[u8], at: usize) -> Result<(char, usize), LexStop> {
    let lone = LexStop::Bad(at, "a lone surrogate");
    let first = hex4(bytes, at + 2)?;
    if !(0xD800..0xDC00).contains(&first) {
        return char::from_u32(first).map(|c| (c, at + 6)).ok_or(lone);
    }
    for (offset, expected) in [(6, b'\\'), (7, b'u')] {
        match bytes.get(at + offset) {
            None => return Err(LexStop::More),
            Some(byte) if *byte == expected => {}
            Some(_) => return Err(lone),
        }
    }
    let second = hex4(bytes, at + 8)?;
    if !(0xDC00..0xE000).contains(&second) {
        return Err(lone);
    }
    let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    char::from_u32(code).map(|c| (c, at + 12)).ok_or(lone)
}

fn hex4(bytes: &[u8], at: usize) -> Result<u32, LexStop> {
    let mut code = 0;
    for at in at..at + 4 {
        let byte = *bytes.get(at).ok_or(LexStop::More)?;
        let digit = (byte as char).to_digit(16);
        code = code * 16 + digit.ok_or(LexStop::Bad(at, "expected four hexadecimal digits"))?;
    }
    Ok(code)
}

/// Returns the text of a valid string, without its quotes.
pub(crate) fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut at = 0;
    while let Some(slash) = raw[at..].find('\\') {
        out.push_str(&raw[at..at + slash]);
        at += slash;
        match escape(raw.as_bytes(), at) {
            Ok((character, end)) => {
                out.push(character);
                at = end;
            }
            Err(_) => break,
        }
    }
    out.push_str(&raw[at..]);
    out
}

/// Returns the end of a number that begins here; `LexStop::More` also if it could continue.
pub(crate) fn number(bytes: &[u8], start: usize) -> Result<usize, LexStop> {
    let digit = LexStop::Bad(start, "expected a digit");
    let mut at = start + usize::from(bytes[start] == b'-');
    at = match bytes.get(at) {
        None => return Err(LexStop::More),
        Some(b'0') => at + 1,
        Some(b'1'..=b'9') => digits(bytes, at),
        Some(_) => return Err(digit),
    };
    if bytes.get(at) == Some(&b'.') {
        at = some_digits(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = bytes.get(at) {
            at += 1;
        }
        at = some_digits(bytes, at)?;
    }
    match bytes.get(at) {
        None => Err(LexStop::More),
        Some(b'0'..=b'9') => Err(LexStop::Bad(start, "a number has no leading zeros")),
        Some(_) => Ok(at),
    }
}

fn digits(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    at
}

fn some_digits(bytes: &[u8], at: usize) -> Result<usize, LexStop> {
    match bytes.get(at) {
        None => Err(LexStop::More),
        Some(b'0'..=b'9') => Ok(digits(bytes, at)),
        Some(_) => Err(LexStop::Bad(at, "expected a digit")),
    }
}

/// Returns the end of a keyword that is expected here.
pub(crate) fn word(bytes: &[u8], at: usize, word: &str) -> Result<usize, LexStop> {
    let found = &bytes[at..bytes.len().min(at + word.len())];
    match word.as_bytes().strip_prefix(found) {
        Some(b"") => Ok(at + word.len()),
        Some(_) => Err(LexStop::More),
        None => Err(LexStop::Bad(at, "expected a value")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_skipped_exactly() {
        for (text, expected) in [
            ("abc\"", 3),
            ("", 0),
            ("0123456789abcdef\\", 16),
            ("01234567\u{1f}", 8),
            ("ééééééééé\"", 18),
            ("!!!!!!!!!\"", 9),
            ("]]]]]]]]]]\\", 10),
            ("\u{7f}\u{80}       \n", 10),
            ("no end at all", 13),
        ] {
            assert_eq!(plain(text.as_bytes(), 0), expected, "{text:?}");
        }
    }
}
