//! Elements for text that a lenient reader may follow and our strict parsers reject.
//!
//! An allow-list must not accept a text because a link in it was not seen, so the extractors emit
//! one such element for each doubtful piece. The text of the element contains only a hash of the
//! piece: no prefix, suffix or pattern that fits the piece fits the element, and no readable
//! element contains a space.

use sha2::{Digest, Sha256};

const HEAD: &str = "(unreadable ";
const DIGITS: usize = 16;

/// Returns the element for a piece of text that cannot be read strictly.
pub(crate) fn element(piece: &str) -> String {
    let hash = Sha256::digest(piece.as_bytes());
    format!("{HEAD}{})", crate::hex::encode(&hash[..DIGITS / 2]))
}

/// Returns true if the text is an element that stands for an unreadable piece.
pub fn is_unreadable(text: &str) -> bool {
    let digits = text.strip_prefix(HEAD).and_then(|rest| rest.strip_suffix(')'));
    digits.is_some_and(|digits| {
        digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Returns true if the text contains, in any case, an element that stands for an unreadable piece.
pub fn holds_unreadable(text: &str) -> bool {
    let length = HEAD.len() + DIGITS + 1;
    let ends = |start: usize| text.get(start..start + length);
    text.match_indices('(')
        .filter_map(|(start, _)| ends(start))
        .any(|piece| is_unreadable(&piece.to_ascii_lowercase()))
}

/// Returns true if readers drop this character.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Returns true for the dots that name resolution treats as the ASCII dot (UTS 46).
pub(super) fn is_dot(c: char) -> bool {
    matches!(c, '.' | '\u{2024}' | '\u{3002}' | '\u{fe52}' | '\u{ff0e}' | '\u{ff61}')
}

/// Returns true if the text contains one of `words`. The comparison ignores the case of the text;
/// `words` are in lower case.
pub(super) fn has_any(text: &str, words: &[&str]) -> bool {
    let lower = text.to_ascii_lowercase();
    words.iter().any(|word| lower.contains(word))
}
