//! A numeral with the characters around it: its value, or that it is a part of something else (a
//! time, a range, a version, a name, a url).

use super::super::extract::UNITS;
use super::scales::scale_of;
use super::tokens::PromptToken;
use crate::decimal;

/// A numeral that stands for a number of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numeral {
    /// The value in units of 10⁻⁶.
    pub units: i64,
    /// A currency stands beside it.
    pub is_money: bool,
    /// The token after the numeral and its unit.
    pub next: usize,
}

/// Reads the numeral at a place. Returns `None` if it is a part of something else, or can be read
/// in two ways.
pub(super) fn read(tokens: &[PromptToken<'_>], at: usize) -> Option<Numeral> {
    let before = before(tokens, at)?;
    let groups = spaced_groups(tokens, at, before.is_money)?;
    let last = at + groups.len();
    let (next, is_money) = after(tokens, last, before.is_money)?;
    let is_scaled = tokens.get(next).is_some_and(|token| {
        let word = token.text.to_ascii_lowercase();
        token.follows_blank() && (scale_of(&word).is_some() || matches!(&*word, "m" | "b"))
    });
    let text = tokens[at].text.to_owned() + &groups.concat();
    let text = match before.kind {
        BeforeKind::Point => format!("0.{}", tokens[at].digits(18).map(|_| text)?),
        _ => plain(&text, is_money || is_scaled)?,
    };
    let units = decimal::parse(&text)?;
    let units = if before.kind == BeforeKind::Minus { -units } else { units };
    Some(Numeral { units, is_money, next })
}

/// Reads numerals in a list without blanks: `1,2,3`.
pub(super) fn listed(tokens: &[PromptToken<'_>], at: usize) -> Vec<i64> {
    let text = tokens[at].text;
    if !tokens[at].is_numeral {
        return Vec::new();
    }
    let stands_alone = before(tokens, at).is_some_and(|before| before.kind == BeforeKind::Nothing)
        && after(tokens, at, false).is_some();
    let is_list = text.matches(',').count() > 1
        && text.split(',').all(|piece| super::tokens::digits(piece, 1, 2).is_some());
    let pieces = text.split(',').filter(|_| stands_alone && is_list);
    pieces.filter_map(decimal::parse).collect()
}

/// The characters before a numeral.
#[derive(Clone, Copy)]
struct Before {
    kind: BeforeKind,
    is_money: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BeforeKind {
    Nothing,
    Minus,
    /// The decimal point of `.50`.
    Point,
}

pub(super) const SIGNS: [char; 7] = ['$', '€', '£', '¥', '₹', '₩', '₿'];

/// Reads what stands before a numeral. Returns `None` if it makes the numeral a part of something
/// else.
fn before(tokens: &[PromptToken<'_>], at: usize) -> Option<Before> {
    let gap = tokens[at].gap;
    let previous = at.checked_sub(1).map(|before| tokens[before]);
    let is_open = |gap: &str| {
        let opens = |c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“' | '\'' | '‘');
        gap.ends_with(opens) || (gap.is_empty() && previous.is_none())
    };
    let bare = gap.strip_suffix(SIGNS).unwrap_or(gap);
    let mut is_money = gap.trim_end().ends_with(SIGNS);
    if let Some(outer) = bare.strip_suffix(['-', '\u{2212}']) {
        let sign = outer.strip_suffix(SIGNS).unwrap_or(outer);
        is_money |= sign.len() < outer.len();
        let is_range = previous.is_some_and(|token| token.is_numeral)
            && bare.trim().len() < 4
            && outer.trim().is_empty();
        return (is_open(sign) && !is_range)
            .then_some(Before { kind: BeforeKind::Minus, is_money });
    }
    if let Some(outer) = bare.strip_suffix('.') {
        let is_rupees = outer.is_empty() && previous.is_some_and(|token| token.is("rs"));
        let outer_bare = outer.strip_suffix(SIGNS).unwrap_or(outer);
        is_money |= outer_bare.len() < outer.len() || is_rupees;
        let kind = if is_rupees { BeforeKind::Nothing } else { BeforeKind::Point };
        return (is_rupees || is_open(outer_bare)).then_some(Before { kind, is_money });
    }
    let is_code = |token: PromptToken<'_>| {
        token.text == "Rs" || CURRENCY_CODES.iter().any(|code| token.is(code))
    };
    is_money |= bare.trim().is_empty() && previous.is_some_and(is_code);
    is_money |= bare.trim() == "." && previous.is_some_and(|token| token.text == "Rs");
    let is_joined = !bare.contains(char::is_whitespace) && previous.is_some();
    let is_tied = match bare.chars().next_back() {
        None => is_joined && !is_money && !is_times(tokens, at),
        // `100@20` is a price each.
        Some('@') => is_joined && !is_money && previous.is_some_and(|token| !token.is_numeral),
        Some('+') => true,
        Some('\'' | '’') => is_joined,
        Some(':' | '–' | '—' | '‑') => {
            previous.is_some_and(|token| token.is_numeral) && is_joined
        }
        Some('/' | '_' | '.' | '\\' | '=' | '&' | '^' | '%') => true,
        Some(_) => is_joined && previous.is_some_and(|token| token.is_numeral) && bare != ";",
    };
    (!is_tied).then_some(Before { kind: BeforeKind::Nothing, is_money })
}

/// Returns true for the `3` of `x3`.
fn is_times(tokens: &[PromptToken<'_>], at: usize) -> bool {
    tokens[at - 1].is("x") && !(at > 1 && tokens[at - 1].gap.is_empty())
}

/// Returns the place after a numeral and its unit, and whether it is money. Returns `None` if what
/// follows makes the numeral a part of something else.
fn after(tokens: &[PromptToken<'_>], at: usize, is_money: bool) -> Option<(usize, bool)> {
    let Some(next) = tokens.get(at + 1) else { return Some((at + 1, is_money)) };
    let is = |word: &&str| next.is(word);
    let is_currency = CURRENCY_CODES.iter().chain(&CURRENCY_WORDS).any(is);
    if !next.gap.is_empty() || next.is_numeral {
        let is_money = is_money || next.gap.trim_start().starts_with(SIGNS);
        let is_money = is_money || (is_currency && next.follows_blank());
        return (!is_tied_to_next(tokens, at)).then_some((at + 1, is_money));
    }
    // `$5mm` is an amount in millions.
    let is_unit = |word: &str| !(is_money && word == "mm");
    let has_unit = is_currency || UNITS.iter().chain(&COUNTS).filter(|word| is_unit(word)).any(is);
    if has_unit && is_tied_to_next(tokens, at + 1) {
        return None;
    }
    // A scale without a blank is read with the words.
    let is_scale = GLUED_SCALES.contains(&next.text) && !is_tied_to_next(tokens, at + 1);
    if has_unit {
        Some((at + 2, is_money || is_currency))
    } else {
        is_scale.then_some((at + 1, is_money))
    }
}

/// Returns true if the token after this one is joined to it, so that this one is not a number.
fn is_tied_to_next(tokens: &[PromptToken<'_>], at: usize) -> bool {
    let Some(next) = tokens.get(at + 1).filter(|next| !next.gap.contains(char::is_whitespace))
    else {
        return false;
    };
    match next.gap {
        _ if next.text.is_empty() => false,
        ";" | "|" => false,
        "@" | "@$" | "@€" | "@£" => !next.is_numeral,
        "_" | "." | "\\" => true,
        _ => next.is_numeral,
    }
}

/// Returns the groups of three digits after a numeral: `10 000`. Returns `None` if they may be
/// numbers of their own: `2 500`.
fn spaced_groups<'t>(
    tokens: &[PromptToken<'t>],
    at: usize,
    is_money: bool,
) -> Option<Vec<&'t str>> {
    if tokens[at].digits(3).is_none() {
        return Some(Vec::new());
    }
    let is_thin = |token: &PromptToken<'_>| matches!(token.gap, "\u{a0}" | "\u{202f}" | "\u{2009}");
    let is_group = |token: &&PromptToken<'_>| {
        let digits = super::tokens::digits_at(token.text);
        token.is_numeral && digits == 3 && (is_thin(token) || token.gap == " ")
    };
    let rest = tokens.get(at + 1..).unwrap_or_default();
    let groups: Vec<&PromptToken<'t>> = rest.iter().take_while(is_group).take(6).collect();
    let has_fraction = groups.last().is_some_and(|group| group.text.len() > 3);
    let is_sure = (is_money && (groups.len() > 1 || has_fraction))
        || groups.iter().all(|group| is_thin(group) || group.text == "000");
    is_sure.then(|| groups.iter().map(|group| group.text).collect())
}

/// Returns a numeral as JSON writes it. Returns `None` for one that can be read in two ways.
fn plain(text: &str, is_money: bool) -> Option<String> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if digits(text) {
        return Some(text.to_owned());
    }
    let at = text.rfind(|c: char| !c.is_ascii_digit())?;
    let last = text[at..].chars().next()?;
    let (whole, fraction) = (&text[..at], &text[at + last.len_utf8()..]);
    // The mark of groups before the last mark.
    let mark = whole.chars().find(|c| !c.is_ascii_digit());
    match (last, mark) {
        // `1.250` is 1.25 or 1250.
        ('.', None) => {
            let is_sure = fraction.len() != 3 || whole == "0" || whole.len() > 3;
            is_sure.then(|| text.to_owned())
        }
        (',', None) if is_money && fraction.len() < 3 => Some(format!("{whole}.{fraction}")),
        ('.', Some(',' | '\'' | '’')) | (',', Some('.')) => {
            Some(format!("{}.{fraction}", grouped(whole, mark?, is_money)?))
        }
        _ => grouped(text, last, is_money),
    }
}

/// Returns the digits of groups of three: `1,250`. With a currency, groups may be those of India:
/// `12,34,567`.
fn grouped(text: &str, mark: char, is_money: bool) -> Option<String> {
    let sizes: Vec<usize> = text.split(mark).map(str::len).collect();
    let is_grouped = match &sizes[..] {
        [1..=3, others @ ..] if !text.starts_with('0') => others.iter().all(|size| *size == 3),
        _ => false,
    };
    let is_indian = is_money
        && matches!(&sizes[..], [1..=2, middle @ .., 3] if middle.iter().all(|size| *size == 2));
    let digits = text.replace(mark, "");
    let is_one_mark = digits.bytes().all(|b| b.is_ascii_digit());
    (is_one_mark && (is_grouped || (is_indian && !text.starts_with('0')))).then_some(digits)
}

/// The words of money that may stand beside a number, with a blank or without one.
pub(super) const CURRENCY_WORDS: [&str; 12] = [
    "dollars", "dollar", "bucks", "buck", "euros", "euro", "pounds", "pound", "francs", "franc",
    "rupees", "quid",
];

/// The codes of currencies that may touch a number on either side.
pub(super) const CURRENCY_CODES: [&str; 11] =
    ["usd", "eur", "gbp", "chf", "jpy", "cny", "rmb", "inr", "cad", "aud", "sek"];

/// The words that may touch a count.
const COUNTS: [&str; 7] = ["x", "shares", "sh", "pcs", "gal", "gallons", "pct"];

/// The scales that may touch a numeral.
const GLUED_SCALES: [&str; 11] = ["k", "K", "M", "m", "B", "b", "bn", "mn", "mio", "mil", "Mio"];
