//! The extraction of file names and paths, for `paths`.

use super::unreadable::has_any;
use super::{is_word_char, trimmed};

/// A result of [`each`].
pub(super) enum FoundFile<'t> {
    Path(&'t str),
    Unreadable(&'t str),
}

/// Words with a dot that are not file names.
const ABBREVIATIONS: [&str; 8] = ["e.g", "i.e", "a.m", "p.m", "u.s", "u.k", "vs.", "a.k.a"];

/// Schemes whose URLs are not paths.
const WEB: [&str; 7] = ["http", "https", "ftp", "ftps", "ws", "wss", "mailto"];

/// Calls `visit` with every path of a text, in order.
pub(super) fn each<'t>(text: &'t str, visit: &mut dyn FnMut(FoundFile<'t>)) {
    for token in text.split_whitespace() {
        super::runs(token, is_word_char, |word, before, after| {
            let cut = [before, after].into_iter().flatten().any(char::is_control);
            of_word(word, cut, visit);
        });
    }
    quoted_with_blanks(text, visit);
}

fn of_word<'t>(word: &'t str, cut: bool, visit: &mut dyn FnMut(FoundFile<'t>)) {
    let plain = trimmed_path(word);
    let scheme = plain.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    if scheme.is_some_and(|scheme| WEB.contains(&&*scheme)) {
        return;
    }
    let encoded = has_any(plain, &["%2f", "%5c", "%2e%2e"])
        || plain.contains(['\\', '\u{ff0f}', '\u{2044}', '\u{2215}', '\u{29f8}', '\u{ff3c}']);
    let url = plain.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme));
    if !plain.is_empty() && (encoded || url || plain.to_ascii_lowercase().starts_with("file:")) {
        return visit(FoundFile::Unreadable(word));
    }
    if is_path(plain) {
        visit(FoundFile::Path(plain));
        if cut {
            visit(FoundFile::Unreadable(word));
        }
    } else if holds_path(plain) {
        visit(FoundFile::Unreadable(word));
    }
}

/// Returns true if a part of the word is a file name. Marks of a table or a list may surround it
/// (`|x.txt|`, `**x.txt**`).
fn holds_path(word: &str) -> bool {
    let is_mark = |c: char| !c.is_alphanumeric() && !matches!(c, '.' | '_' | '-' | '~');
    let mut parts = word.split(is_mark).flat_map(|part| [part, part.trim_matches(['_', '-', '~'])]);
    !word.contains('@') && parts.any(is_path)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Returns the word without the punctuation around it. `..` is a path, not punctuation.
fn trimmed_path(word: &str) -> &str {
    let dots = word.trim_matches(['(', ')', '[', ']', '{', '}', '\'', ',', ';', ':', '!', '?']);
    if dots == ".." { dots } else { trimmed(word) }
}

fn is_path(word: &str) -> bool {
    if word.contains('/') {
        return word == "/" || word.chars().any(char::is_alphanumeric) || word.contains("..");
    }
    if word == ".." || word.starts_with('~') && word.len() > 1 {
        return true;
    }
    if word.contains('@') {
        return false;
    }
    let hidden = word.strip_prefix('.').is_some_and(|name| name.starts_with(char::is_alphanumeric));
    let line = word.split_once(':').map_or(word, |(file, _)| file);
    hidden && !is_number(word) || has_extension(line) || has_extension(word)
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Returns true if the name ends with a dot and a possible file extension of 1 to 16 characters.
fn has_extension(name: &str) -> bool {
    if ABBREVIATIONS.contains(&&*name.to_ascii_lowercase()) {
        return false;
    }
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        let short = (1..=16).contains(&extension.chars().count());
        let plain = extension.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        let worded = extension.chars().any(char::is_alphabetic)
            || stem.chars().filter(|c| c.is_alphabetic()).count() > 1;
        let both = stem.chars().count() > 1 || extension.chars().count() > 1;
        !stem.is_empty() && short && plain && worded && both
    })
}

/// Visits quoted paths that contain spaces, so that each word is only a part.
fn quoted_with_blanks<'t>(text: &'t str, visit: &mut dyn FnMut(FoundFile<'t>)) {
    let mut see = |inner: &'t str| {
        let leads = inner.starts_with(['/', '~', '.']) || inner.as_bytes().get(1) == Some(&b':');
        if leads && inner.contains(char::is_whitespace) && inner.contains(['/', '\\']) {
            visit(FoundFile::Unreadable(inner));
        }
    };
    for mark in ['"', '\'', '`'] {
        let mut pieces = text.split(mark).skip(1).peekable();
        while let Some(inner) = pieces.next() {
            // The last piece has no closing quote.
            if pieces.peek().is_some() {
                see(inner);
            }
        }
    }
}
