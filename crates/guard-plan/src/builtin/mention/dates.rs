//! The days that a prompt names (expressions, "Dates and numbers in prompts"): in digits, with the
//! English name of the month, or as a holiday with a fixed date.
//!
//! Each reading of digits that can be read in two ways is a day. Days that only a calendar knows
//! (`tomorrow`, `next Friday`) are not read.

use super::numerals::{CURRENCY_CODES, CURRENCY_WORDS, SIGNS};
use super::tokens::{ORDINALS, PromptToken, digits, is_number_word};
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
    has_year: bool,
    start: usize,
    next: usize,
}

/// Emits the days that a text names. Returns for each token whether it is part of a date with a
/// year: then it is no number.
pub(super) fn each(tokens: &[PromptToken<'_>], emit: &mut dyn FnMut(Day)) -> Vec<bool> {
    let mut places: Vec<DatePlace> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let text = Cursor { tokens, at };
        let mut readers = [numeric, year_month_day, days_month, month_days, holiday]
            .iter()
            .map(|read| read(text));
        match readers.find_map(|place| place) {
            Some(place) => {
                at = place.next;
                places.push(DatePlace { start: text.at, ..place });
            }
            None => at += 1,
        }
    }
    // `15 Nov to 20 Nov 2026`: the year is of both.
    for later in (1..places.len()).rev() {
        let (before, after) = places.split_at_mut(later);
        if let (Some(first), Some(second)) = (before.last_mut(), after.first()) {
            first.take_year_of(second, tokens);
        }
    }
    let mut taken = vec![false; tokens.len()];
    for place in places {
        // Eight digits may be a number, too.
        let is_number = tokens[place.start].digits(8).is_some_and(|n| n >= 10_000_000);
        taken[place.start..place.next].fill(place.has_year && !is_number);
        place.days.into_iter().for_each(&mut *emit);
    }
    taken
}

/// The words between two days of one list or range.
const LINKS: [&str; 7] = ["and", "or", "to", "through", "until", "till", "thru"];

impl DatePlace {
    /// Takes the year of the next place, if both are of one list or range.
    fn take_year_of(&mut self, next: &DatePlace, tokens: &[PromptToken<'_>]) {
        let between = &tokens[self.next..next.start];
        let (is_linked, is_range) = match between {
            [] => {
                let gap = tokens[next.start].gap.trim();
                let is_range = matches!(gap, "-" | "–" | "—");
                (is_range || matches!(gap, "," | "&"), is_range)
            }
            [link] if link.follows_blank() => {
                let is_list = link.is("and") || link.is("or");
                (LINKS.iter().any(|word| link.is(word)), !is_list)
            }
            _ => return,
        };
        if self.has_year || !is_linked || !next.has_year {
            return;
        }
        self.has_year = true;
        let pairs = self.days.len() == next.days.len();
        for (at, day) in self.days.iter_mut().enumerate() {
            let Some(other) = next.days.get(if pairs { at } else { 0 }) else { continue };
            // `28 Dec to 3 Jan 2027`.
            let is_earlier = is_range && day.month > other.month;
            day.year = other.year.map(|year| year - i64::from(is_earlier));
        }
        self.days.retain(|day| Day::checked(day.year, day.month, day.day).is_some());
    }
}

/// A place in a text.
#[derive(Clone, Copy)]
struct Cursor<'a, 't> {
    tokens: &'a [PromptToken<'t>],
    at: usize,
}

impl<'t> Cursor<'_, 't> {
    fn token(self) -> Option<PromptToken<'t>> {
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
        let joined = |token: PromptToken<'_>| token.is_numeral && DATE_MARKS.contains(&token.gap);
        self.at > 0 && self.tokens[self.at - 1].is_numeral && self.token().is_some_and(joined)
    }

    /// Returns true if the characters before this place, without blanks, are one of these.
    fn follows(self, gaps: &[&str]) -> bool {
        self.token()
            .is_some_and(|token| !token.gap.contains('\n') && gaps.contains(&token.gap.trim()))
    }

    /// Returns true if the digits or the word here are a part of nothing before them.
    fn is_free(self) -> bool {
        let opens = |c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“' | '‘' | '\'');
        self.token().is_some_and(|token| {
            token.gap.ends_with(opens) || (self.at == 0 && token.gap.is_empty())
        })
    }

    /// Returns true for a month in lower case that is also a verb.
    fn is_verb(self) -> bool {
        self.token().is_some_and(|token| matches!(token.text, "may" | "march"))
    }

    /// Returns true if a date in digits may begin here: also after a comma of a list.
    fn begins(self) -> bool {
        self.is_free() || self.token().is_some_and(|token| token.gap.ends_with([',', ';']))
    }

    /// Returns the place after the words that may stand between two days: `and the`.
    fn past_link(self) -> Self {
        let linked = LINKS.iter().map(|word| self.past(word)).find(|past| past.at > self.at);
        linked.unwrap_or(self).past("the")
    }

    /// Returns true if a list of days ends here: no noun follows that is counted.
    fn ends_list(self) -> bool {
        self.token().is_none_or(|token| {
            let is_year = token.text.len() == 4 && token.digits(4).is_some();
            !token.follows_blank() || token.text.is_empty() || is_year
        })
    }

    fn place(self, has_year: bool, days: impl IntoIterator<Item = Option<Day>>) -> DatePlace {
        DatePlace { days: days.into_iter().flatten().collect(), has_year, start: 0, next: self.at }
    }
}

/// The characters between the numbers of a date: slashes, and hyphens of all kinds.
const DATE_MARKS: [&str; 6] = ["-", "/", " / ", "–", "\u{2011}", "\u{2212}"];

/// Reads `2024-05-03`, `5/3/2024`, `03.05.24`, `20240503` and `5/3`.
fn numeric(text: Cursor<'_, '_>) -> Option<DatePlace> {
    let first = text.token().filter(|token| token.is_numeral && text.begins())?;
    let next_gap = text.after(1).token().map_or("", |token| token.gap);
    let mark = if first.text.contains('.') { "." } else { next_gap };
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
    let is_amount =
        first.gap.ends_with(SIGNS) || end.token().is_some_and(|t| t.gap.starts_with('%'));
    if is_word || is_amount || text.is_chained() {
        return None;
    }
    Some(match &pieces[..] {
        [one] => {
            let one = digits(one, 8, 8)?;
            let year = Some(one / 10_000).filter(|year| CENTURIES.contains(year))?;
            end.place(true, [Day::checked(Some(year), one / 100 % 100, one % 100)])
        }
        // An idiom.
        ["24", "7"] => return None,
        [a, b] if mark == "/" => {
            let (a, b) = (digits(a, 1, 2)?, digits(b, 1, 2)?);
            let days = |year| either(year, a, b);
            match year(end) {
                YearRead::Year(year, end) => end.place(true, days(Some(year))),
                YearRead::Nothing => end.place(false, days(None)),
                YearRead::Unknown => end.place(false, []),
            }
        }
        [a, b, c] => {
            let b = digits(b, 1, 2)?;
            if let Some(year) = digits(a, 4, 4) {
                end.place(true, [Day::checked(Some(year), b, digits(c, 1, 2)?)])
            } else {
                // `20.11.26` may be a version, `20-11-26` another code.
                let short = digits(c, 2, 2).filter(|_| mark == "/").map(in_century);
                let year = Some(digits(c, 4, 4).or(short)?);
                end.place(true, either(year, digits(a, 1, 2)?, b))
            }
        }
        _ => return None,
    })
}

/// Returns both readings of a day and a month in unknown order.
fn either(year: Option<i64>, a: i64, b: i64) -> [Option<Day>; 2] {
    [Day::checked(year, a, b), Day::checked(year, b, a)]
}

/// The years of eight digits.
const CENTURIES: std::ops::RangeInclusive<i64> = 1900..=2099;

/// The numbers of four digits that are read as years beside the name of a month.
const YEARS: std::ops::RangeInclusive<i64> = 1000..=2999;

/// Returns the year that two digits write: 1950 to 2049.
fn in_century(year: i64) -> i64 {
    if year < 50 { 2000 + year } else { 1900 + year }
}

/// Reads `May 3`, `May the 3rd, 2024`, `Nov. 3-5`.
fn month_days(text: Cursor<'_, '_>) -> Option<DatePlace> {
    if text.is_glued() {
        return None;
    }
    let month = month(text)?;
    let then = text.after(1).past("the");
    let (days, end) = days_of_month(then, false).filter(|_| then.follows(&["", "-", "/", "."]))?;
    let place = with_year(month, &days, end);
    // `you may 3 times`.
    let is_verb = text.is_verb() && !place.has_year && !end.ends_list();
    (!is_verb).then_some(place)
}

/// Reads `3 May`, `the 3rd day of May 2024`, `3-5 May`, `the last day of May`.
fn days_month(text: Cursor<'_, '_>) -> Option<DatePlace> {
    let (days, end) = days_of_month(text, true).filter(|_| text.is_free())?;
    let of = end.past("day").past("of");
    let may_be_verb = of.token().is_some_and(|token| token.is("may") || token.is("march"));
    // `Order 3. May I pay?`
    let marks = if may_be_verb { &["", "-", "/"][..] } else { &["", "-", "/", "."] };
    let month = month(of).filter(|_| of.follows(marks))?;
    let after = of.after(1);
    let mut place = with_year(month, &days, after);
    // `2 may` with a verb.
    if of.is_verb() && of.at == end.at && !place.has_year {
        return None;
    }
    // `20 Dec 1` is either day.
    if !place.has_year && place.next == after.at && after.follows(&[""]) {
        let other = after.token().and_then(|token| token.digits(2));
        place.days.extend(other.and_then(|day| Day::checked(None, month, day)));
    }
    Some(place)
}

/// Reads `2024 May 3`, `2024, May 3rd`, `2024: May 3`.
fn year_month_day(text: Cursor<'_, '_>) -> Option<DatePlace> {
    let year = text.token()?.digits(4).filter(|year| YEARS.contains(year) && text.is_free())?;
    let then = text.after(1);
    let month = month(then).filter(|_| then.follows(&["", ",", "-", "/", ":"]))?;
    let (days, end) = days_of_month(then.after(1).past("the"), false)?;
    Some(end.place(true, days.iter().flat_map(|day| day.of(Some(year), month))))
}

fn with_year(month: i64, days: &[DayOfMonth], end: Cursor<'_, '_>) -> DatePlace {
    let of = |year: Option<i64>| days.iter().flat_map(move |day| day.of(year, month));
    match year(end) {
        YearRead::Year(year, end) => end.place(true, of(Some(year))),
        YearRead::Nothing => end.place(false, of(None)),
        YearRead::Unknown => end.place(false, []),
    }
}

/// A day within a month.
#[derive(Clone, Copy)]
enum DayOfMonth {
    Nth(i64),
    Last,
}

impl DayOfMonth {
    fn of(self, year: Option<i64>, month: i64) -> [Option<Day>; 2] {
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
fn days_of_month<'a, 't>(
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
enum YearRead<'a, 't> {
    /// No year: the day is of every year.
    Nothing,
    Year(i64, Cursor<'a, 't>),
    /// A year that is not read: the day is of no year.
    Unknown,
}

/// Reads the year after a day: `2024`, `, 2024`, `of 2024`, `(2024)`, `'24`, `-24`, `10:00:00 2024`.
fn year<'a, 't>(text: Cursor<'a, 't>) -> YearRead<'a, 't> {
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
const HOLIDAYS: [(&[&str], i64, i64); 13] = [
    (&["xmas"], 12, 25),
    (&["boxing", "day"], 12, 26),
    (&["nye"], 12, 31),
    (&["valentines", "day"], 2, 14),
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
        let is_joined =
            |token: &PromptToken<'_>| token.follows_blank() || matches!(token.gap, "'" | "’");
        words.len() <= rest.len()
            && words.iter().zip(rest).all(|(word, token)| token.is(word))
            && rest[1..words.len()].iter().all(is_joined)
    };
    let (words, month, day) = HOLIDAYS.iter().find(|(words, ..)| stands(words))?;
    Some(with_year(*month, &[DayOfMonth::Nth(*day)], text.after(words.len())))
}
