//! The text extractors: linear scanners that are simple rather than complete.
//!
//! The strict results of `emails`, `urls`, `hosts` and `paths` may fill a fact, so in doubt they
//! extract less: a part of a longer word is never an address. A text that they cannot read
//! strictly, but that another program might follow, becomes an unreadable element ([`unreadable`]).
//! The other extractors omit doubtful text.

mod addresses;
mod files;
mod links;
mod tops;
pub(crate) mod unreadable;

use crate::time::parse_format;
use unreadable::element;

/// Receives the results of an extractor.
pub(crate) type EmitText<'a> = &'a mut dyn FnMut(&str);

/// The maximum length of an IBAN, in characters.
const MAX_IBAN: usize = 34;

/// Calls `visit` for each maximal run of characters that satisfy `is`, with the characters before
/// and after it.
fn runs<'t>(
    text: &'t str,
    is: fn(char) -> bool,
    mut visit: impl FnMut(&'t str, Option<char>, Option<char>),
) {
    let mut start = None;
    let mut before = None;
    let mut last = None;
    for (at, c) in text.char_indices() {
        match (is(c), start) {
            (true, None) => (start, before) = (Some(at), last),
            (false, Some(from)) => {
                visit(&text[from..at], before, Some(c));
                start = None;
            }
            _ => {}
        }
        last = Some(c);
    }
    if let Some(from) = start {
        visit(&text[from..], before, None);
    }
}

fn is_address_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '%' | '+' | '-' | '@')
}

/// Returns the local part and the domain if the whole text is an e-mail address.
pub(super) fn address(text: &str) -> Option<(&str, &str)> {
    let (local, domain) = text.split_once('@')?;
    let dotted = |part: &str| !part.is_empty() && part.split('.').all(|label| !label.is_empty());
    let label = |label: &str| {
        !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let (_, top) = domain.rsplit_once('.')?;
    let valid = dotted(local)
        && local.chars().all(|c| is_address_char(c) && c != '@')
        && dotted(domain)
        && domain.split('.').all(label)
        && top.len() >= 2
        && top.bytes().all(|byte| byte.is_ascii_alphabetic());
    valid.then_some((local, domain))
}

pub(crate) fn emails(text: &str, emit: EmitText) {
    addresses::each(text, &mut |found| match found {
        addresses::FoundAddress::Address(address) => emit(address),
        addresses::FoundAddress::Unreadable(piece) => emit(&element(piece)),
    });
}

fn is_word_char(c: char) -> bool {
    !c.is_whitespace()
        && !c.is_control()
        && !matches!(c, '<' | '>' | '"' | '`' | '“' | '”' | '«' | '»')
}

/// Returns a word without the punctuation around it. A closing bracket is kept if the word opens
/// it.
fn trimmed(word: &str) -> &str {
    let mut word = word.trim_start_matches(['(', '[', '{', '\'', ',', ';', ':']);
    let surplus = |open: char, close: char| {
        let count = |c: char| word.matches(c).count();
        count(close).saturating_sub(count(open))
    };
    let mut surplus =
        [(')', surplus('(', ')')), (']', surplus('[', ']')), ('}', surplus('{', '}'))];
    while let Some(last) = word.chars().next_back() {
        let unopened = surplus.iter_mut().find(|(close, left)| *close == last && *left > 0);
        match unopened {
            Some((_, left)) => *left -= 1,
            None if matches!(last, '.' | ',' | ';' | ':' | '!' | '?' | '\'') => {}
            None => break,
        }
        // Every character that is removed here is ASCII, so it has one byte.
        word = &word[..word.len() - 1];
    }
    word
}

pub(crate) fn urls(text: &str, emit: EmitText) {
    links::each(text, &mut |link| match link {
        links::FoundLink::Url(url) => emit(&url.text),
        links::FoundLink::Bare(piece)
        | links::FoundLink::Unreadable(piece)
        | links::FoundLink::LongerPath(piece) => emit(&element(piece)),
    });
}

pub(crate) fn links(text: &str, emit: EmitText) {
    links::each(text, &mut |link| match link {
        // For such an address, `mentions` would compare only its digits.
        links::FoundLink::Url(url)
            if url.host.starts_with('[') || links::is_one_number(&url.host) =>
        {
            emit(&element(&url.text));
        }
        links::FoundLink::Url(url) => emit(links::without_web_scheme(&url.text)),
        links::FoundLink::Bare(piece) => match links::bare(piece) {
            Some(url) => emit(links::without_web_scheme(&url.text)),
            None => emit(&element(piece)),
        },
        links::FoundLink::Unreadable(piece) | links::FoundLink::LongerPath(piece) => {
            emit(&element(piece))
        }
    });
}

pub(crate) fn hosts(text: &str, emit: EmitText) {
    links::each(text, &mut |link| match link {
        links::FoundLink::Url(url) if url.host.is_empty() => {}
        links::FoundLink::Url(url) => emit(&url.host),
        links::FoundLink::Bare(piece) | links::FoundLink::Unreadable(piece) => {
            emit(&element(piece))
        }
        // The host of such a link is known; only its rest is in doubt.
        links::FoundLink::LongerPath(_) => {}
    });
}

pub(crate) fn paths(text: &str, emit: EmitText) {
    files::each(text, &mut |found| match found {
        files::FoundFile::Path(path) => emit(path),
        files::FoundFile::Unreadable(piece) => emit(&element(piece)),
    });
}

pub(crate) fn ibans(text: &str, emit: EmitText) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let starts_word = at == 0 || !text[..at].ends_with(char::is_alphanumeric);
        match starts_word.then(|| iban(&bytes[at..])).flatten() {
            Some((iban, length)) => {
                emit(&iban);
                at += length;
            }
            None => at += 1,
        }
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
}

/// Returns the longest valid IBAN at the start of these bytes, and its length in bytes.
fn iban(bytes: &[u8]) -> Option<(String, usize)> {
    if !bytes.first()?.is_ascii_uppercase() {
        return None;
    }
    let mut digits = String::new();
    let mut found = None;
    let mut remainders = [0_u32; 2];
    for (i, byte) in bytes.iter().enumerate().take(MAX_IBAN + 12) {
        // IBANs are written in groups with single blanks between them.
        let blank = *byte == b' ' && i > 0 && bytes[i - 1] != b' ';
        if blank {
            continue;
        }
        let kind = match digits.len() {
            0 | 1 => byte.is_ascii_uppercase(),
            2 | 3 => byte.is_ascii_digit(),
            _ => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        };
        if !kind || digits.len() == MAX_IBAN {
            break;
        }
        // The first four characters are processed last, so there are two running remainders.
        let part = usize::from(digits.len() < 4);
        remainders[part] = step(remainders[part], *byte);
        digits.push(*byte as char);
        let ends_word =
            bytes.get(i + 1).is_none_or(|next| next.is_ascii() && !next.is_ascii_alphanumeric());
        if digits.len() >= 15 && ends_word {
            let last = digits.bytes().take(4).fold(remainders[0], step);
            // The check digits are right if the remainder modulo 97 is 1 (ISO 13616).
            if last == 1 {
                found = Some((digits.clone(), i + 1));
            }
        }
    }
    found
}

/// Returns the remainder modulo 97 after one more character.
fn step(remainder: u32, byte: u8) -> u32 {
    match byte {
        b'0'..=b'9' => (remainder * 10 + u32::from(byte - b'0')) % 97,
        _ => (remainder * 100 + u32::from(byte - b'A') + 10) % 97,
    }
}

fn is_phone_char(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '+' | ' ' | '-' | '.' | '(' | ')' | '/')
}

pub(crate) fn phones(text: &str, emit: EmitText) {
    runs(text, is_phone_char, |run, before, after| {
        let start = run.find(|c: char| c == '+' || c.is_ascii_digit()).unwrap_or(run.len());
        let run_text = run[start..].trim_end_matches(|c: char| !c.is_ascii_digit());
        let joined = (start == 0 && before.is_some_and(char::is_alphanumeric))
            || (run.ends_with(|c: char| c.is_ascii_digit())
                && after.is_some_and(char::is_alphanumeric));
        let plus = run_text.starts_with('+');
        let digits: String = run_text.chars().filter(char::is_ascii_digit).collect();
        let leads = plus || run_text.starts_with('0');
        if joined || !leads || run_text.rfind('+').is_some_and(|at| at > 0) {
            return;
        }
        if (7..=15).contains(&digits.len()) {
            emit(&if plus { format!("+{digits}") } else { digits });
        }
    });
}

fn is_number_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '-' | '_')
}

/// Returns true for a mark that joins digits: thousands, a decimal comma, a list, a time, a date, a
/// fraction.
fn ties_digits(c: char) -> bool {
    matches!(c, ',' | '\'' | '’' | ':' | '/')
}

/// Emits the numbers that can be read in only one way. Marks between groups of three digits are
/// omitted. Digits that other marks join are not a number.
pub(crate) fn numbers(text: &str, emit: EmitText) {
    runs(
        text,
        |c| is_number_char(c) || ties_digits(c),
        |run, _, _| {
            let mut start = 0;
            for (at, mark) in run.char_indices().filter(|(_, c)| ties_digits(*c)) {
                let after = at + mark.len_utf8();
                let between = run[..at].ends_with(is_digit) && run[after..].starts_with(is_digit);
                if !between {
                    number(&run[start..at], emit);
                    start = after;
                }
            }
            number(&run[start..], emit);
        },
    );
}

/// Emits every run of digits, for a text that is not trusted: every number that the text contains
/// in any reading is seen.
pub(crate) fn figures(text: &str, emit: EmitText) {
    runs(text, is_number_char, |run, _, _| number(run, emit));
}

/// The units that may follow a number without a space. None of them changes the number, as `k` and
/// `m` may, and none is a single letter, because `5G` is a name.
pub(super) const UNITS: [&str; 30] = [
    "kb", "mb", "gb", "tb", "kib", "mib", "gib", "tib", "mg", "kg", "lb", "lbs", "oz", "mm", "cm",
    "km", "ft", "ml", "ms", "sec", "min", "hr", "hrs", "px", "kwh", "usd", "eur", "gbp", "chf",
    "jpy",
];

/// Returns a number without the unit after it.
fn without_unit(word: &str) -> &str {
    let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &word[number.len()..];
    let is_unit = UNITS.iter().any(|known| unit.eq_ignore_ascii_case(known));
    if is_unit { number } else { word }
}

/// Emits a word that is a number, without its unit and the marks between groups of three digits.
fn number(word: &str, emit: EmitText) {
    let word = without_unit(word.trim_end_matches(['.', '-']));
    let digits = word.strip_prefix('-').unwrap_or(word);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let numeric = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !numeric(fraction) {
        return;
    }
    if numeric(whole) {
        return emit(word);
    }
    let mut groups = whole.split([',', '\'', '’']);
    let first = groups.next().is_some_and(|group| numeric(group) && group.len() <= 3);
    if first && groups.all(|group| numeric(group) && group.len() == 3) {
        emit(&word.replace([',', '\'', '’'], ""));
    }
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

pub(super) fn dates(text: &str, emit: EmitText) {
    runs(text, is_number_char, |run, _, _| {
        let run = run.trim_end_matches('.');
        // An instant starts with its date.
        let date = run.split_once('T').map_or(run, |(date, _)| date);
        if date.len() == 10 && parse_format("%Y-%m-%d", date).is_some() {
            emit(date);
        }
    });
}

pub(crate) fn words(text: &str, emit: EmitText) {
    for word in super::mention::runs(text) {
        // Converted letter by letter, as `mentions` does: a final sigma is not a separate letter.
        let word: String = word.chars().flat_map(char::to_lowercase).collect();
        emit(&word);
    }
}

pub(crate) fn quoted(text: &str, emit: EmitText) {
    const PAIRS: [(char, char); 4] = [('"', '"'), ('“', '”'), ('«', '»'), ('`', '`')];
    let mut unclosed = [false; PAIRS.len()];
    let mut rest = text;
    while let Some(at) = rest.find(|c| PAIRS.iter().any(|(open, _)| *open == c)) {
        let Some(open) = rest[at..].chars().next() else {
            return;
        };
        let inner = &rest[at + open.len_utf8()..];
        rest = inner;
        for (i, (_, close)) in PAIRS.iter().enumerate().filter(|(_, pair)| pair.0 == open) {
            // After a closing mark was not found ahead, it is not searched for again.
            match (!unclosed[i]).then(|| inner.find(*close)).flatten() {
                Some(end) => {
                    if end > 0 {
                        emit(&inner[..end]);
                    }
                    rest = &inner[end + close.len_utf8()..];
                }
                None => unclosed[i] = true,
            }
        }
    }
}

pub(super) fn names(text: &str, emit: EmitText) {
    let mut begins = true;
    for line in text.lines() {
        begins = names_in(line, begins, emit);
    }
}

/// Emits the names of a line. Returns true if the next line begins a sentence.
fn names_in(line: &str, mut begins: bool, emit: EmitText) -> bool {
    let mut run: Vec<&str> = Vec::new();
    let mut run_begins = begins;
    let mut flush = |run: &mut Vec<&str>, begins: bool| {
        if run.len() > 1 || (run.len() == 1 && !begins) {
            emit(&run.join(" "));
        }
        run.clear();
    };
    for word in line.split_whitespace() {
        let plain = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_capital = plain.starts_with(char::is_uppercase)
            && plain.chars().any(char::is_lowercase)
            && plain.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’'));
        if !is_capital || word.starts_with(|c: char| !c.is_alphanumeric()) {
            flush(&mut run, run_begins);
        }
        if is_capital {
            if run.is_empty() {
                run_begins = begins;
            }
            run.push(plain);
            if word.ends_with(|c: char| !c.is_alphanumeric()) {
                flush(&mut run, run_begins);
            }
        }
        begins = word.ends_with(['.', '!', '?', ':']);
    }
    flush(&mut run, run_begins);
    begins
}
