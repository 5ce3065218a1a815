//! The days that a prompt names (expressions, "Dates and numbers of prompts"): in digits, with the
//! English name of the month, or as a holiday with a fixed date.
//!
//! Each reading of digits that can be read in two ways is a day. Days that only a calendar knows
//! (`tomorrow`, `next Friday`) are not read.

use super::tokens::{Token, digits};
use crate::time::Civil;

/// A day that a text names. Without a year, it is that day of every year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Day {
    pub year: Option<i64>,
    pub month: i64,
    pub day: i64,
}

impl Day {
    /// Returns the day if it exists in that year, or in any year.
    fn checked(year: Option<i64>, month: i64, day: i64) -> Option<Day> {
        const LEAP_YEAR: i64 = 2000;
        let civil = Civil {
            year: year.unwrap_or(LEAP_YEAR),
            month,
            day,
            hour: 0,
            minute: 0,
            second: 0,
            millisecond: 0,
        };
        civil.to_millis().map(|_| Day { year, month, day })
    }
}

/// The days of a place in a text, and the token after it.
struct DatePlace {
    days: Vec<Day>,
    next: usize,
}

/// Emits the days that a text names. Returns for each token whether it is part of a date with a
/// year: then it is no number.
pub(super) fn each(tokens: &[Token<'_>], emit: &mut dyn FnMut(Day)) -> Vec<bool> {
    let mut taken = vec![false; tokens.len()];
    let mut at = 0;
    while at < tokens.len() {
        let text = Cursor { tokens, at };
        let readers = [numeric, year_month_day, days_month, month_days, holiday]
            .iter()
            .map(|read| read(text));
        let found = readers.flatten().find(|place| !place.days.is_empty() && place.next > at);
        let Some(place) = found else {
            at += 1;
            continue;
        };
        // Eight digits may be a number, too.
        let has_year = place.days.iter().any(|day| day.year.is_some());
        taken[at..place.next].fill(has_year && tokens[at].digits(8).is_none_or(|n| n < 10_000_000));
        place.days.into_iter().for_each(&mut *emit);
        at = place.next;
    }
    taken
}

/// A place in a text.
#[derive(Clone, Copy)]
struct Cursor<'a, 't> {
    tokens: &'a [Token<'t>],
    at: usize,
}

impl<'t> Cursor<'_, 't> {
    fn token(self) -> Option<Token<'t>> {
        self.tokens.get(self.at).copied()
    }

    fn after(self, count: usize) -> Self {
        Cursor { at: self.at + count, ..self }
    }

    /// Returns the place after this word, or this place.
    fn past(self, word: &str) -> Self {
        let stands = self.token().is_some_and(|token| token.follows_blank() && token.is(word));
        self.after(usize::from(stands))
    }

    /// Returns true if a word stands at once before this place, without a blank.
    fn is_glued(self) -> bool {
        self.at > 0 && self.token().is_some_and(|token| token.gap.is_empty())
    }

    /// Returns true if a numeral before this place is joined to the numeral here.
    fn is_chained(self) -> bool {
        let joined = |token: Token<'_>| token.is_numeral && matches!(token.gap, "-" | "/");
        self.at > 0 && self.tokens[self.at - 1].is_numeral && self.token().is_some_and(joined)
    }

    /// Returns true if the characters before this place, without blanks, are one of these.
    fn follows(self, gaps: &[&str]) -> bool {
        self.token().is_some_and(|token| gaps.contains(&token.gap.trim()))
    }

    fn place(self, days: impl IntoIterator<Item = Option<Day>>) -> DatePlace {
        DatePlace { days: days.into_iter().flatten().collect(), next: self.at }
    }
}

/// Reads `2024-05-03`, `5/3/2024`, `03.05.24`, `20240503` and `5/3`.
fn numeric(text: Cursor<'_, '_>) -> Option<DatePlace> {
    let first = text.token().filter(|token| token.is_numeral && !text.is_glued())?;
    let mark = text.after(1).token().map_or("", |token| token.gap);
    let mut end = text.after(1);
    let mut pieces: Vec<&str> = first.text.split('.').collect();
    while let Some(piece) = end.token().filter(|_| end.is_chained()) {
        pieces.push(piece.text);
        if piece.gap != mark || first.text.contains('.') || pieces.len() > 3 {
            return None;
        }
        end = end.after(1);
    }
    // An instant continues with its time of day.
    let is_word = end.is_glued() && !end.token().is_some_and(|token| token.is("T"));
    if is_word || text.is_chained() {
        return None;
    }
    Some(end.place(match &pieces[..] {
        [one] => {
            let one = digits(one, 8, 8)?;
            let year = Some(one / 10_000).filter(|year| YEARS.contains(year))?;
            [Day::checked(Some(year), one / 100 % 100, one % 100), None]
        }
        [a, b] if mark == "/" => either(None, digits(a, 1, 2)?, digits(b, 1, 2)?),
        [a, b, c] => {
            let b = digits(b, 1, 2)?;
            if let Some(year) = digits(a, 4, 4) {
                [Day::checked(Some(year), b, digits(c, 1, 2)?), None]
            } else {
                let year = digits(c, 4, 4).or(digits(c, 2, 2).map(|year| CENTURY + year))?;
                either(Some(year), digits(a, 1, 2)?, b)
            }
        }
        _ => return None,
    }))
}

/// Returns both readings of a day and a month in unknown order.
fn either(year: Option<i64>, a: i64, b: i64) -> [Option<Day>; 2] {
    [Day::checked(year, a, b), Day::checked(year, b, a)]
}

/// The numbers of four digits that are read as years beside the name of a month.
const YEARS: std::ops::RangeInclusive<i64> = 1900..=2099;

/// The century of a year of two digits.
const CENTURY: i64 = 2000;

/// Reads `May 3`, `May the 3rd, 2024`, `Nov. 3-5`.
fn month_days(text: Cursor<'_, '_>) -> Option<DatePlace> {
    if text.is_glued() {
        return None;
    }
    let month = month(text)?;
    let then = text.after(1).past("the");
    let (days, end) = days_of_month(then).filter(|_| then.follows(&["", "-", "/", "."]))?;
    Some(with_year(month, &days, end))
}

/// Reads `3 May`, `the 3rd day of May 2024`, `3-5 May`, `the last day of May`.
fn days_month(text: Cursor<'_, '_>) -> Option<DatePlace> {
    if text.is_glued() {
        return None;
    }
    let (days, end) = days_of_month(text)?;
    let end = end.past("day").past("of");
    let month = month(end).filter(|_| end.follows(&["", "-", "/", "."]))?;
    Some(with_year(month, &days, end.after(1)))
}

/// Reads `2024 May 3`, `2024, May 3rd`.
fn year_month_day(text: Cursor<'_, '_>) -> Option<DatePlace> {
    let year = text.token()?.digits(4).filter(|year| YEARS.contains(year) && !text.is_glued())?;
    let then = text.after(1);
    let month = month(then).filter(|_| then.follows(&["", ",", "-", "/"]))?;
    let (days, end) = days_of_month(then.after(1).past("the"))?;
    Some(end.place(days.iter().map(|day| day.of(Some(year), month))))
}

fn with_year(month: i64, days: &[DayOfMonth], end: Cursor<'_, '_>) -> DatePlace {
    match year(end) {
        Some((year, end)) => end.place(days.iter().map(|day| day.of(Some(year), month))),
        None => end.place(days.iter().map(|day| day.of(None, month))),
    }
}

/// A day within a month.
#[derive(Clone, Copy)]
enum DayOfMonth {
    Nth(i64),
    Last,
}

impl DayOfMonth {
    fn of(self, year: Option<i64>, month: i64) -> Option<Day> {
        match self {
            DayOfMonth::Nth(day) => Day::checked(year, month, day),
            DayOfMonth::Last => (28..=31).rev().find_map(|day| Day::checked(year, month, day)),
        }
    }
}

/// The days that one list may have. It bounds the work at each place of a text.
const MAX_DAYS: usize = 31;

/// Reads days of a month: `3`, `3rd`, `third`, `3-5`, `3rd and 5th`.
fn days_of_month<'a, 't>(text: Cursor<'a, 't>) -> Option<(Vec<DayOfMonth>, Cursor<'a, 't>)> {
    let (first, mut is_ordinal, mut end) = day_of_month(text)?;
    let mut days = vec![first];
    loop {
        let ranged = end.follows(&["-", "–"]);
        let joined = ["and", "or", "to", "through"].map(|word| end.past(word));
        let joined = joined.into_iter().find(|past| past.at > end.at);
        let listed = end.follows(&[",", "&"]).then_some(end);
        let then = if ranged { Some(end) } else { joined.or(listed).filter(|_| is_ordinal) };
        match then.and_then(day_of_month) {
            Some((day, ordinal, next)) if (ranged || ordinal) && days.len() < MAX_DAYS => {
                days.push(day);
                (is_ordinal, end) = (ordinal, next);
            }
            _ => return Some((days, end)),
        }
    }
}

/// Reads a day of a month. Returns whether it is written as an ordinal, and the place after it.
fn day_of_month<'a, 't>(text: Cursor<'a, 't>) -> Option<(DayOfMonth, bool, Cursor<'a, 't>)> {
    const SUFFIXES: [&str; 4] = ["st", "nd", "rd", "th"];
    let token = text.token()?;
    let then = text.after(1);
    if let Some(day) = token.digits(2).filter(|day| (1..=31).contains(day)) {
        let glued = then.token().filter(|_| then.is_glued());
        return match glued {
            Some(word) if SUFFIXES.iter().any(|suffix| word.is(suffix)) => {
                Some((DayOfMonth::Nth(day), true, then.after(1)))
            }
            Some(_) if month(then).is_none() => None,
            _ => Some((DayOfMonth::Nth(day), false, then)),
        };
    }
    if token.is("last") && then.token().is_some_and(|word| word.is("day")) {
        return Some((DayOfMonth::Last, true, then.after(1)));
    }
    let ordinal = |token: Token<'_>| ORDINALS.iter().position(|word| token.is(word));
    if let Some(at) = ordinal(token) {
        return Some((DayOfMonth::Nth(at as i64 + 1), true, then));
    }
    let tens = if token.is("twenty") {
        20
    } else if token.is("thirty") {
        30
    } else {
        return None;
    };
    let unit = then.token().filter(|_| then.follows(&["", "-"])).and_then(ordinal)?;
    let day = tens + unit as i64 + 1;
    (unit < 9).then(|| (DayOfMonth::Nth(day), true, then.after(1)))
}

const ORDINALS: [&str; 20] = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
];

/// Reads the year after a day: `2024`, `, 2024`, `of 2024`, `'24`, `-24`.
fn year<'a, 't>(text: Cursor<'a, 't>) -> Option<(i64, Cursor<'a, 't>)> {
    let named = text.past("of").past("in").past("the").past("year");
    let token = named.token()?;
    let is_word = named.after(1).is_glued();
    let long = token.digits(4).filter(|year| token.text.len() == 4 && YEARS.contains(year));
    let long = long.filter(|_| named.follows(&["", ",", "-", "/", ".", "'", "’"]));
    let short = token.digits(2).filter(|_| token.text.len() == 2);
    let short = short.filter(|_| named.follows(&["'", "’", ",'", ",’", ", '", "-", "/"]));
    let year = long.or(short.map(|year| CENTURY + year)).filter(|_| !is_word)?;
    Some((year, named.after(1)))
}

/// Returns the month that a word names, 1 to 12.
fn month(text: Cursor<'_, '_>) -> Option<i64> {
    const NAMES: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let word = text.token().filter(|token| !token.is_numeral)?;
    let names = |name: &&str| word.is(name) || word.is(&name[..3]);
    let at = NAMES.iter().position(names).or(word.is("sept").then_some(8))?;
    Some(at as i64 + 1)
}

/// The holidays with a fixed date, by their words: month, day.
const HOLIDAYS: [(&[&str], i64, i64); 9] = [
    (&["christmas", "eve"], 12, 24),
    (&["christmas", "day"], 12, 25),
    (&["christmas"], 12, 25),
    (&["new", "year", "s", "eve"], 12, 31),
    (&["new", "years", "eve"], 12, 31),
    (&["new", "year", "s", "day"], 1, 1),
    (&["new", "years", "day"], 1, 1),
    (&["valentine", "s", "day"], 2, 14),
    (&["halloween"], 10, 31),
];

/// Reads a holiday.
fn holiday(text: Cursor<'_, '_>) -> Option<DatePlace> {
    let rest = text.tokens.get(text.at..)?;
    let stands = |words: &[&str]| {
        words.len() <= rest.len() && words.iter().zip(rest).all(|(word, token)| token.is(word))
    };
    let (words, month, day) = HOLIDAYS.iter().find(|(words, ..)| stands(words))?;
    Some(with_year(*month, &[DayOfMonth::Nth(*day)], text.after(words.len())))
}
