//! The parts of a date in a prompt: days of a month, months by their names, and years.

use super::date_cursor::Cursor;
use super::numerals::{CURRENCY_CODES, CURRENCY_WORDS, SIGNS};
use super::tokens::{ORDINALS, PromptToken, is_number_word};
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
    pub fn checked(year: Option<i64>, month: i64, day: i64) -> Option<Day> {
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

/// A day within a month.
#[derive(Clone, Copy)]
pub(super) enum DayOfMonth {
    Nth(i64),
    Last,
}

impl DayOfMonth {
    /// Returns the day, or the days that it may be, in a month.
    pub fn of(self, year: Option<i64>, month: i64) -> [Option<Day>; 2] {
        match self {
            DayOfMonth::Nth(day) => [Day::checked(year, month, day), None],
            DayOfMonth::Last if month == 2 && year.is_none() => {
                [Day::checked(None, 2, 28), Day::checked(None, 2, 29)]
            }
            DayOfMonth::Last => {
                [(28..=31).rev().find_map(|day| Day::checked(year, month, day)), None]
            }
        }
    }
}

/// The days that one list may have. It bounds the work at each place of a text.
const MAX_DAYS: usize = 31;

/// Reads days of a month: `3`, `3rd`, `third`, `3-5`, `3rd and 5th`, `14, 15 and 16`. After the
/// month, a number that may count something else ends the list: `May 3 and 5 people`.
pub(super) fn days_of_month<'a, 't>(
    text: Cursor<'a, 't>,
    precedes_month: bool,
) -> Option<(Vec<DayOfMonth>, Cursor<'a, 't>)> {
    let (first, _, mut end) = day_of_month(text)?;
    let mut days = vec![first];
    while days.len() < MAX_DAYS {
        // `Nov 15 - 20 guests` is not a range of days.
        let is_range = end.token().is_some_and(|token| matches!(token.gap, "-" | "–"));
        let is_listed = end.follows(&[",", "&", "-", "–"]);
        let then = if is_range { end } else { end.past_link() };
        if !is_range && !is_listed && then.at == end.at {
            break;
        }
        let Some((day, is_ordinal, next)) = day_of_month(then) else { break };
        let goes_on = next.past_link();
        let ends = next.ends_list()
            || (goes_on.at > next.at
                && day_of_month(goes_on).is_some_and(|(.., end)| end.ends_list()));
        if !(is_range || is_ordinal || precedes_month || ends) {
            break;
        }
        days.push(day);
        end = next;
    }
    Some((days, end))
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
    let ordinal = |token: PromptToken<'_>| ORDINALS.iter().position(|word| token.is(word));
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

/// The text after a day and a month.
pub(super) enum YearRead<'a, 't> {
    /// No year: the day is of every year.
    Nothing,
    Year(i64, Cursor<'a, 't>),
    /// A year that is not read: the day is of no year.
    Unknown,
}

/// Reads the year after a day: `2024`, `, 2024`, `of 2024`, `(2024)`, `'24`, `-24`, `10:00:00 2024`.
pub(super) fn year<'a, 't>(text: Cursor<'a, 't>) -> YearRead<'a, 't> {
    let mut place = text.past("of").past("in").past("the").past("year");
    // A time of day stands between.
    let mut time = place.after(1);
    while time.token().is_some_and(|token| token.is_numeral && token.gap == ":")
        && time.at < place.at + 3
    {
        time = time.after(1);
    }
    if time.at > place.at + 1 {
        place = time;
    }
    let Some(token) = place.token() else { return YearRead::Nothing };
    let next = place.after(1).token();
    let is_amount = token.gap.ends_with(SIGNS)
        || next.is_some_and(|next| {
            let mut currencies = CURRENCY_WORDS.iter().chain(&CURRENCY_CODES);
            let is_word = next.follows_blank() && currencies.any(|word| next.is(word));
            is_word || next.gap.trim_start().starts_with(SIGNS)
        });
    let is_word = place.after(1).is_glued() || is_amount;
    let long = token.digits(4).filter(|year| token.text.len() == 4 && YEARS.contains(year));
    let long = long.filter(|_| place.follows(&["", ",", "-", "/", "'", "’", "("]));
    // Before a noun, a number that is not a year of today is a count.
    let long = long.filter(|year| (1990..=2099).contains(year) || place.after(1).ends_list());
    let is_glued = place.at == text.at && place.is_glued();
    let short = token.digits(2).filter(|_| token.text.len() == 2);
    let has_mark = place.follows(&["'", "’", ",'", ",’", ", '"]) || matches!(token.gap, "-" | "/");
    let short = short.filter(|_| has_mark || is_glued);
    if let Some(year) = long.or(short.map(in_century)).filter(|_| !is_word) {
        return YearRead::Year(year, place.after(1));
    }
    let says = |words: &[&str]| words.iter().any(|word| token.is(word));
    let then = |words: &[&str]| next.is_some_and(|next| words.iter().any(|word| next.is(word)));
    let is_relative = says(&["last", "next", "this", "previous", "coming"]) && then(&["year"]);
    let in_words = (says(&["two"]) && then(&["thousand"]))
        || (says(&["twenty", "nineteen"])
            && next.is_some_and(|next| !next.is_numeral && is_number_word(next.text)));
    if is_relative || in_words { YearRead::Unknown } else { YearRead::Nothing }
}

/// Returns the month that a word names, 1 to 12.
pub(super) fn month(text: Cursor<'_, '_>) -> Option<i64> {
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

/// Returns the year that two digits write: 1950 to 2049.
pub(super) fn in_century(year: i64) -> i64 {
    if year < 50 { 2000 + year } else { 1900 + year }
}

/// The numbers of four digits that are read as years beside the name of a month.
pub(super) const YEARS: std::ops::RangeInclusive<i64> = 1000..=2999;
