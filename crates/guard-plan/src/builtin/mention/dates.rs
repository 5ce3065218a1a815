//! The days that a prompt names (expressions, "Dates and numbers in prompts"): in digits, with the
//! English name of the month, or as a holiday with a fixed date.
//!
//! Each reading of digits that can be read in two ways is a day. Days that only a calendar knows
//! (`tomorrow`, `next Friday`) are not read.

use super::date_cursor::{Cursor, LINKS};
use super::date_parts::{Day, DayOfMonth, YEARS, YearRead, days_of_month, in_century, month, year};
use super::numerals::SIGNS;
use super::tokens::{PromptToken, digits};

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

impl Cursor<'_, '_> {
    /// Returns the days of a place that ends here.
    fn place(self, has_year: bool, days: impl IntoIterator<Item = Option<Day>>) -> DatePlace {
        DatePlace { days: days.into_iter().flatten().collect(), has_year, start: 0, next: self.at }
    }
}

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
