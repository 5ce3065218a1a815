//! The extraction of e-mail addresses, for `emails`.
//!
//! The extractor reads a text that is an address by the strict rule and stands alone. Every other
//! `@` where a lenient reader may find an address gives an unreadable element.

use super::unreadable::{has_any, is_dot, is_hidden};
use super::{address, is_address_char};

/// A result of [`each`].
pub(super) enum FoundAddress<'t> {
    Address(&'t str),
    Unreadable(&'t str),
}

/// Calls `visit` with every address of a text, in order.
pub(super) fn each<'t>(text: &'t str, visit: &mut dyn FnMut(FoundAddress<'t>)) {
    let mut before_token: Option<&str> = None;
    let mut tokens = text.split_whitespace().peekable();
    while let Some(token) = tokens.next() {
        of_token(token, before_token, tokens.peek().copied(), visit);
        before_token = Some(token);
    }
}

/// Visits the results in one token, given the tokens before and after it.
fn of_token<'t>(
    token: &'t str,
    last: Option<&str>,
    next: Option<&str>,
    visit: &mut dyn FnMut(FoundAddress<'t>),
) {
    let mut doubtful_from = 0;
    super::runs(token, is_address_char, |run, before, after| {
        let start = run.as_ptr() as usize - token.as_ptr() as usize;
        let plain = run.trim_end_matches(['.', '-', '_']).trim_start_matches(['.', '-', '%']);
        let alone = ![before, after].into_iter().flatten().any(char::is_alphanumeric);
        if !(alone && address(plain).is_some()) {
            return;
        }
        doubts(&token[doubtful_from..start], false, None, None, visit);
        visit(FoundAddress::Address(plain));
        let end = start + run.len();
        let led = run.trim_start_matches('.').len() < run.len() || run.starts_with(['%', '-']);
        let goes_on = token[end..].is_empty() && next.is_some_and(|next| continues(run, next));
        if led || goes_on || extends(&token[..start], &token[end..]) {
            visit(FoundAddress::Unreadable(run));
        }
        doubtful_from = end;
    });
    let first = doubtful_from == 0;
    doubts(&token[doubtful_from..], first, last.filter(|_| first), next, visit);
    // Readers decode these spellings of `@`.
    if has_any(token, &["&#64;", "&#x40;", "&commat;", "%40"]) {
        visit(FoundAddress::Unreadable(token));
    }
}

/// Returns true if a reader that permits whitespace around the dots of a domain continues with the
/// next token.
fn continues(run: &str, next: &str) -> bool {
    let after_dot = |text: &str| text.trim_start_matches('.').starts_with(char::is_alphanumeric);
    next.starts_with('.') && after_dot(next) || run.ends_with('.') && is_domain(next)
}

/// Returns true if a lenient reader may read more than the strict address. `before` and `after` are
/// the texts on its two sides.
fn extends(before: &str, after: &str) -> bool {
    let mut back = before.chars().rev();
    let left = back.next().is_some_and(|c| {
        let atom = matches!(
            c,
            '!' | '#' | '$' | '&' | '\'' | '*' | '/' | '=' | '?' | '^' | '{' | '|' | '}' | '~'
        );
        is_hidden(c) || (atom && back.next().is_some_and(char::is_alphanumeric))
    });
    // A comment may precede a dot.
    let comment = after.starts_with('(')
        && after
            .match_indices(')')
            .any(|(at, _)| after[at + 1..].starts_with(|c: char| is_dot(c) || c.is_alphanumeric()));
    let mut on = after.chars();
    let right = on.next().is_some_and(|c| {
        let joined = on.next().is_some_and(|c| c.is_ascii_alphanumeric() || is_dot(c));
        is_hidden(c) || (joined && (is_dot(c) || c.is_control()))
    });
    left || right || comment
}

/// Visits every `@` of a piece that may belong to an address.
fn doubts<'t>(
    piece: &'t str,
    first: bool,
    last: Option<&str>,
    next: Option<&str>,
    visit: &mut dyn FnMut(FoundAddress<'t>),
) {
    let mut from = 0;
    let mut ats = piece.char_indices().filter(|(_, c)| is_at(*c)).peekable();
    while let Some((at, c)) = ats.next() {
        let left = &piece[from..at];
        let end = ats.peek().map_or(piece.len(), |(next, _)| *next);
        let right = &piece[at + c.len_utf8()..end];
        let local = match left.chars().next_back() {
            Some(c) => !matches!(c, '(' | '[' | '{' | '<' | ',' | ';' | ':' | '>' | '/'),
            None => from > 0 || !first,
        };
        let more = ats.peek().is_some();
        let spaced = left.is_empty() && from == 0 && last.is_some() && is_domain(right)
            || right.is_empty()
                && !more
                && next.is_some_and(is_domain)
                && (local || last.is_some());
        let domain = right
            .starts_with(|c: char| c.is_alphanumeric() || "[(\\\"-_.".contains(c) || is_hidden(c));
        if spaced || (local && (domain || more)) {
            visit(FoundAddress::Unreadable(&piece[from..end]));
        }
        from = end;
    }
}

fn is_at(c: char) -> bool {
    matches!(c, '@' | '\u{ff20}' | '\u{fe6b}')
}

/// Returns true if the text begins with a domain name: at least two labels that are separated by a dot.
fn is_domain(text: &str) -> bool {
    let name: &str = text
        .split(|c: char| !(c.is_alphanumeric() || is_dot(c) || c == '-'))
        .next()
        .unwrap_or_default();
    let mut labels = name.trim_end_matches(is_dot).split(is_dot);
    labels.next().is_some_and(|label| !label.is_empty()) && labels.next().is_some()
}
