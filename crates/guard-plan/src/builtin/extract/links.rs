//! The extraction of links, for `urls` and `hosts`.
//!
//! A link is a URL that our strict parser accepts, or a piece of text that another reader might
//! follow: with user information, in another script, with an incomplete scheme or none, with an
//! address in brackets, or with quoting that another reader ignores.

use super::tops::TOPS;
use super::unreadable::{has_any, is_dot, is_hidden};
use super::{is_word_char, trimmed};
use crate::url::Url;

/// One link of a text.
pub(super) enum FoundLink<'t> {
    /// A URL that the strict parser accepts.
    Url(Box<Url>),
    /// A word without a scheme that some readers follow, and whose end is not in doubt.
    Bare(&'t str),
    /// A piece that may lead to an unknown host.
    Unreadable(&'t str),
    /// A piece with a known host and an uncertain rest.
    LongerPath(&'t str),
}

/// Schemes that need no `//` and have no host.
const HOSTLESS: [&str; 5] = ["mailto", "tel", "sms", "urn", "cid"];

/// Schemes that readers follow, each with its colon.
const SCHEMES: [&str; 44] = [
    "http:",
    "https:",
    "ftp:",
    "ftps:",
    "ws:",
    "wss:",
    "file:",
    "javascript:",
    "vbscript:",
    "data:",
    "blob:",
    "view-source:",
    "gopher:",
    "bitcoin:",
    "callto:",
    "ethereum:",
    "facetime:",
    "facetime-audio:",
    "feed:",
    "geo:",
    "git:",
    "intent:",
    "irc:",
    "ircs:",
    "itms:",
    "itms-apps:",
    "ldap:",
    "magnet:",
    "market:",
    "ms-settings:",
    "news:",
    "nntp:",
    "search-ms:",
    "sftp:",
    "sip:",
    "sips:",
    "skype:",
    "smb:",
    "ssh:",
    "steam:",
    "tg:",
    "webcal:",
    "xmpp:",
    "zoommtg:",
];

/// Spellings of `:`, `/`, `@` and `.` that readers decode.
const ENTITIES: [&str; 10] =
    ["&#", "&colon;", "&sol;", "&bsol;", "&commat;", "&period;", "%2e", "%3a%2f", "%2f%2f", "%40"];

/// Calls `visit` with every link of a text, in order.
pub(super) fn each<'t>(text: &'t str, visit: &mut dyn FnMut(FoundLink<'t>)) {
    broken_attributes(text, visit);
    let mut tokens = tokens(text).peekable();
    while let Some(token) = tokens.next() {
        let joined = tokens.peek().filter(|next| {
            let between = &text[token.0 + token.1.len()..next.0];
            between.chars().all(|c| matches!(c, '\t' | '\n' | '\r'))
        });
        let tail = joined.map_or("", |next| next.1);
        let last_at = token.1.rfind(['@', '\\']);
        super::runs(token.1, is_word_char, |word, _, _| {
            let start = word.as_ptr() as usize - token.1.as_ptr() as usize;
            let end = start + word.len();
            let after = TextAfter {
                rest: &token.1[end..],
                user_follows: last_at.is_some_and(|at| at >= end),
                tail: if end == token.1.len() { tail } else { "" },
            };
            of_word(word, &after, visit);
        });
    }
}

/// The maximum length of an attribute's value, in bytes.
const ATTRIBUTE_BYTES: usize = 4096;

/// Visits the values of attributes with a tab or a line break in an address, because a browser
/// drops these characters.
fn broken_attributes<'t>(text: &'t str, visit: &mut dyn FnMut(FoundLink<'t>)) {
    // The next quote of each kind is searched for only once.
    let mut next = [0, 0];
    for (at, _) in text.match_indices('=') {
        let rest = text[at + 1..].trim_start();
        let kind = match rest.as_bytes().first() {
            Some(b'"') => 0,
            Some(b'\'') => 1,
            _ => continue,
        };
        let begin = text.len() - rest.len() + 1;
        if next[kind] < begin {
            let found = text[begin..].find(['"', '\''][kind]);
            next[kind] = found.map_or(text.len(), |found| begin + found);
        }
        let value = &text[begin..next[kind]];
        if value.len() > ATTRIBUTE_BYTES || next[kind] == text.len() {
            continue;
        }
        let mut plain = value.replace(['\t', '\n', '\r'], "");
        for entity in ["&Tab;", "&NewLine;"] {
            plain = plain.replace(entity, "");
        }
        if plain.len() < value.len() && (plain.contains("://") || is_link_like(&plain)) {
            visit(FoundLink::Unreadable(value));
        }
    }
}

/// Returns the whitespace-separated tokens of a text, with their byte offsets.
fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_whitespace()
        .map(move |token| (token.as_ptr() as usize - text.as_ptr() as usize, token))
}

/// The text after a word, as far as another reader may read it as a part of the word.
struct TextAfter<'t> {
    /// The rest of the token, which starts with a quote, an angle bracket or a control character.
    rest: &'t str,
    /// True if the rest contains an `@` or a backslash.
    user_follows: bool,
    /// The next token, if only tabs and line breaks separate the two: some readers drop these.
    tail: &'t str,
}

fn of_word<'t>(word: &'t str, after: &TextAfter, visit: &mut dyn FnMut(FoundLink<'t>)) {
    let mut marks = word.match_indices("://").map(|(at, _)| scheme_start(word, at)).peekable();
    let Some(first) = marks.peek().copied() else {
        return without_mark(word, after, visit);
    };
    if is_link_like(&word[..first]) {
        visit(FoundLink::Unreadable(&word[..first]));
    }
    marks.next();
    let whole = &word[first..];
    let empty = whole.ends_with("://") && after.rest.is_empty() && after.tail.is_empty();
    match Url::parse(trimmed(whole)) {
        Ok(url) => visit(FoundLink::Url(Box::new(url))),
        Err(_) if empty && !whole[..whole.len() - 3].contains("://") => {}
        Err(_) => visit(FoundLink::Unreadable(whole)),
    }
    // A reader that searches for schemes inside of words finds further URLs there.
    while let Some(start) = marks.next() {
        let end = marks.peek().copied().unwrap_or(word.len());
        visit(FoundLink::Unreadable(&word[start..end.max(start)]));
    }
    match continuation(whole, after) {
        Continues::Host => visit(FoundLink::Unreadable(word)),
        Continues::Path => visit(FoundLink::LongerPath(word)),
        Continues::No => {}
    }
}

/// Returns true for an address of one to three numbers, which readers interpret differently.
pub(super) fn is_one_number(host: &str) -> bool {
    let labels: Vec<&str> = host.split('.').collect();
    let is_number = |label: &&str| {
        let digits = label.strip_prefix("0x").unwrap_or(label);
        let radix = if digits.len() < label.len() { 16 } else { 10 };
        !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix))
    };
    labels.len() < 4 && labels.iter().all(is_number)
}

/// Returns the byte offset at which the scheme before a `://` begins. `mark` is the offset of the `://`.
fn scheme_start(word: &str, mark: usize) -> usize {
    let other = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '-' | '.');
    let before = &word[..mark];
    before.rfind(other).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8))
}

/// The part of a URL that a lenient reader may continue beyond its strict end.
enum Continues {
    No,
    Host,
    Path,
}

fn continuation(url: &str, after: &TextAfter) -> Continues {
    let authority = url.split_once("://").map_or("", |(_, rest)| rest);
    let open = !authority.contains(['/', '?', '#']);
    let mut rest = after.rest.chars();
    let quote = rest.next().is_some_and(|c| !matches!(c, '<' | '>'));
    let goes_on =
        |c: char| c.is_alphanumeric() || is_dot(c) || matches!(c, '-' | '_' | '%' | '?' | '/');
    let reads_on = quote && rest.next().is_some_and(goes_on);
    let head = after.tail.split(['/', '?', '#']).next().unwrap_or_default();
    let broken = head.contains('@')
        || head.contains('\\')
        || head.starts_with([':', '-', '%'])
        || head.split(is_dot).skip(1).any(|label| label.starts_with(char::is_alphanumeric));
    match (open, reads_on || (open && after.user_follows) || (open && broken)) {
        (true, true) => Continues::Host,
        (false, true) => Continues::Path,
        _ => Continues::No,
    }
}

fn without_mark<'t>(word: &'t str, after: &TextAfter, visit: &mut dyn FnMut(FoundLink<'t>)) {
    let plain = trimmed(word);
    let scheme = plain.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    if scheme.is_some_and(|scheme| HOSTLESS.contains(&&*scheme))
        && let Ok(url) = Url::parse(plain)
    {
        return visit(FoundLink::Url(Box::new(url)));
    }
    if is_link_like(word) {
        visit(match continuation(word, after) {
            Continues::No => FoundLink::Bare(word),
            _ => FoundLink::Unreadable(word),
        });
    }
}

/// Returns the URL of a host and path without a scheme; `None` if two readers might see two hosts.
pub(super) fn bare(piece: &str) -> Option<Url> {
    let plain = trimmed(piece);
    let host = plain.split(['/', '?', '#']).next().unwrap_or_default();
    let is_plain = !host.is_empty()
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
        && plain
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'@' | b'\\' | b':' | b'%'));
    is_plain.then(|| Url::parse(&format!("https://{plain}")).ok()).flatten()
}

/// Returns a URL without the scheme of the web and without the slash of an empty path.
pub(super) fn without_web_scheme(url: &str) -> &str {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or(url);
    match rest.strip_suffix('/') {
        Some(host) if !host.contains(['/', '?', '#']) => host,
        _ => rest,
    }
}

/// Returns true if a reader may take a piece of text without `://` for a link.
fn is_link_like(word: &str) -> bool {
    let visible: String = word.chars().filter(|c| !is_hidden(*c)).collect();
    has_scheme(&visible)
        || has_any(&visible, &ENTITIES)
        || has_double_slash(&visible)
        || has_address(&visible)
        || has_port(trimmed(&visible))
        || is_numbered(trimmed(&visible))
        || has_host(trimmed(&visible))
}

fn has_scheme(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    SCHEMES.iter().any(|scheme| {
        lower.match_indices(scheme).any(|(at, _)| {
            let before = lower[..at].chars().next_back();
            let joined =
                before.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-'));
            !joined && at + scheme.len() < lower.len()
        })
    })
}

/// Returns true if the word has two slashes of either kind before a name: `//host`, `/\host`, or
/// `\\host` at its start.
fn has_double_slash(word: &str) -> bool {
    let named = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '[');
    let plain = trimmed(word);
    if plain.strip_prefix("\\\\").is_some_and(named) {
        return true;
    }
    let is_slash = |c: char| matches!(c, '/' | '\\');
    let mut rest = word;
    while let Some(at) = rest.find(is_slash) {
        let after = rest[at..].trim_start_matches(is_slash);
        let slashes = &rest[at..rest.len() - after.len()];
        if slashes.len() > 1 && slashes.contains('/') && named(after) {
            return true;
        }
        rest = after;
    }
    false
}

/// Returns true if the word contains an IPv6 address in brackets.
fn has_address(word: &str) -> bool {
    word.match_indices('[').any(|(at, _)| {
        // The search is bounded, so that many brackets take linear time.
        let inner = &word.as_bytes()[at + 1..word.len().min(at + 60)];
        let end = inner.iter().position(|byte| *byte == b']');
        let text = end.and_then(|end| std::str::from_utf8(&inner[..end]).ok());
        let address = text.and_then(|text| text.split('%').next());
        address.is_some_and(|text| text.parse::<std::net::Ipv6Addr>().is_ok())
    })
}

/// Returns true for a character that may be in a name. Signs are included, because some readers
/// count them as a part of a host. Punctuation ends a name.
fn is_name_char(c: char) -> bool {
    let is_sign = c > '\u{a1}'
        && !c.is_whitespace()
        && !matches!(c, '«' | '»' | '·' | '¿' | '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}');
    c.is_alphanumeric() || is_dot(c) || matches!(c, '-' | '_') || is_sign
}

/// Returns true if readers would take a name in the word for a host.
fn has_host(word: &str) -> bool {
    let mut found = false;
    super::runs(word, is_name_char, |name, before, after| {
        found = found || is_host(name, before, after);
    });
    found
}

fn is_host(name: &str, before: Option<char>, after: Option<char>) -> bool {
    // Emphasis and escape marks may surround a name. Only a slash makes the name a part of a path.
    let name = name.trim_matches(|c| is_dot(c) || matches!(c, '_' | '-'));
    let labels: Vec<&str> = name.split(is_dot).collect();
    if before == Some('/') || labels.iter().any(|label| label.is_empty()) {
        return false;
    }
    let followed = matches!(after, Some('/' | '?' | '#' | '\\' | ':'));
    if labels.len() == 1 {
        return followed && name.eq_ignore_ascii_case("localhost");
    }
    let numeric = |label: &&str| label.bytes().all(|byte| byte.is_ascii_digit());
    if labels.iter().all(numeric) {
        return labels.len() == 4 || (labels.len() > 1 && after == Some(':'));
    }
    // An address with hexadecimal parts: `0x7f.1/x`.
    let hexadecimal = |label: &&str| {
        let digits = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
        numeric(label)
            || digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    if labels.iter().all(hexadecimal) {
        return labels.len() == 4 || followed;
    }
    let top = labels[labels.len() - 1].to_lowercase();
    let named = top.chars().count() >= 2
        && (top.chars().all(char::is_alphabetic) || top.starts_with("xn--"));
    if !named || FILES.contains(&&*top) {
        return labels[0].eq_ignore_ascii_case("www");
    }
    let user = before == Some('@');
    let mail = after == Some('@') || (user && !followed);
    let www = labels[0].eq_ignore_ascii_case("www");
    let ambiguous = labels.len() == 2 && BOTH.contains(&&*top);
    !mail && (followed || www || (!ambiguous && is_common(&top)))
}

/// Returns true if the word is an IPv4 address written as one number, as some readers accept it,
/// with a port or a path.
fn is_numbered(word: &str) -> bool {
    let end = word.find([':', '/']).unwrap_or(word.len());
    let (number, rest) = word.split_at(end);
    let hexadecimal = number.strip_prefix("0x").or_else(|| number.strip_prefix("0X"));
    let address = match hexadecimal {
        Some(digits) => u32::from_str_radix(digits, 16).is_ok(),
        None => number.len() >= 8 && number.parse::<u32>().is_ok(),
    };
    address && rest.len() > 1
}

/// Returns true if the word is a name without dots, a port and a path: `db:5432/x`.
fn has_port(word: &str) -> bool {
    word.split_once(':').is_some_and(|(name, rest)| {
        let path = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        name.starts_with(char::is_alphabetic)
            && name.chars().all(is_name_char)
            && path.len() < rest.len()
            && path.starts_with(['/', '?', '#'])
    })
}

/// Returns true for top-level names, which readers link without a scheme.
fn is_common(top: &str) -> bool {
    !top.is_ascii() || top.len() == 2 || top.starts_with("xn--") || TOPS.binary_search(&top).is_ok()
}

/// File extensions that are not top-level names.
const FILES: [&str; 42] = [
    "txt", "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "csv", "tsv", "json", "jsonl",
    "yaml", "yml", "toml", "xml", "html", "htm", "css", "js", "ts", "tsx", "jsx", "log", "lock",
    "cfg", "conf", "ini", "env", "bak", "tmp", "gz", "tar", "tgz", "png", "jpg", "jpeg", "gif",
    "svg", "rb", "go", "guard",
];

/// File extensions that are also top-level names.
const BOTH: [&str; 13] =
    ["bz", "md", "rs", "py", "sh", "pl", "ps", "cc", "zip", "mov", "so", "ml", "mk"];
