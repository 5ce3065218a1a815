//! Mentions: the tests whether the user's messages contain the words of a text, a date or a number
//! (expressions, "Mentions").
//!
//! The kernel and the reference evaluator keep what the prompts name as one text, which this module
//! writes and searches. It has a line for the words of each prompt, and marks for its dates and
//! numbers: `@2024-05-03`, `@--05-03` for a day without a year, `#1250.5`.

mod date_cursor;
mod date_parts;
mod dates;
mod number_parts;
mod numbers;
mod numerals;
mod phrases;
mod scales;
mod tokens;

use super::eval::{BuiltinResult, confused, two_texts};
use super::is_unreadable;
use crate::decimal;
use crate::time::{parse_format, parse_offset};
use crate::value::Value;
use std::collections::BTreeSet;

/// The maximum length of the words, dates and numbers that a session keeps, in bytes.
pub const MAX_SAID: usize = 1 << 20;

/// Adds what a prompt names to what earlier prompts name. Returns false, and adds nothing, if it
/// would exceed [`MAX_SAID`].
pub fn hear(said: &mut String, prompt: &str) -> bool {
    let words = words(prompt);
    let marks = marks(prompt);
    // Lower-case letters may be longer than the original ones; the limit applies to the stored
    // text.
    let fits = said.len() + words.len() + marks.len() + 1 < MAX_SAID;
    if fits {
        said.push_str(&words);
        // No word contains a line break, so a mention lies within one prompt.
        said.push('\n');
        said.push_str(&marks);
    }
    fits
}

/// Returns the marks of the dates and numbers of a text, with a line break after each.
fn marks(text: &str) -> String {
    let text = without_links(text);
    let tokens = tokens::tokens(&text);
    let mut marks = BTreeSet::new();
    let taken = dates::each(&tokens, &mut |day| {
        let year = day.year.map_or("-".into(), |year| format!("{year:04}"));
        marks.insert(format!("@{year}-{:02}-{:02}\n", day.month, day.day));
    });
    numbers::each(&tokens, &taken, &mut |units| {
        marks.insert(number_mark(units));
    });
    marks.into_iter().collect()
}

/// Returns the text with `|` for each link: the digits in it name nothing.
fn without_links(text: &str) -> String {
    let chunks = text.split_inclusive(char::is_whitespace).map(|chunk| {
        let is_link = chunk.contains("://") || chunk.starts_with("www.");
        if is_link { " | " } else { chunk }
    });
    chunks.collect()
}

fn number_mark(units: i64) -> String {
    format!("#{}\n", decimal::format(units))
}

/// Returns the runs of letters and digits of a text in lower case, with a space before and after
/// each; empty if there are none.
fn words(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 2);
    for word in runs(text) {
        if words.is_empty() {
            words.push(' ');
        }
        words.extend(word.chars().flat_map(char::to_lowercase));
        words.push(' ');
    }
    words
}

/// Returns the runs of letters and digits of a text.
pub(super) fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Asks what the user named: `mentions(x)`, `mentions_date(x)`, `mentions_code(x)`.
pub(super) fn asked(args: &[&Value], is_named: fn(&str, &str) -> bool) -> BuiltinResult {
    let (named, said) = two_texts(args)?;
    Ok(Value::Bool(is_named(named, said)))
}

/// Returns true if the words of a text stand next to one another in one of the user's prompts.
pub fn is_mentioned(named: &str, said: &str) -> bool {
    if is_unreadable(named) {
        return false;
    }
    let named = words(named);
    !named.is_empty() && said.contains(&named)
}

/// Returns true if one of the user's prompts names this day. The text is `YYYY-MM-DD`, or an
/// instant that starts with it.
pub fn is_date_mentioned(date: &str, said: &str) -> bool {
    const LENGTH: usize = "YYYY-MM-DD".len();
    let Some((day, time)) = date.split_at_checked(LENGTH) else { return false };
    parse_format("%Y-%m-%d", day).is_some()
        && (time.is_empty() || is_time(time))
        && (said.contains(&format!("@{day}\n")) || said.contains(&format!("@-{}\n", &day[4..])))
}

/// Returns true for the rest of an instant: `T10:00`, ` 10:00:30.5`, `T10:00Z`, `T10:00+01:00`.
fn is_time(text: &str) -> bool {
    let Some(text) = text.strip_prefix(['T', ' ']) else { return false };
    let end = text.find(['Z', '+', '-']).unwrap_or(text.len());
    let (time, zone) = text.split_at(end);
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| text.len() == 2);
    let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut parts = whole.split(':').map(number);
    let is_hour = matches!(parts.next(), Some(Some(0..24)));
    let rest: Vec<Option<u32>> = parts.collect();
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit());
    let is_whole = rest.len() == 2 || !time.contains('.');
    is_hour
        && is_whole
        && is_fraction
        && matches!(rest.len(), 1 | 2)
        && rest.iter().all(|part| matches!(part, Some(0..60)))
        && (zone.is_empty() || zone == "Z" || parse_offset(zone).is_some())
}

/// The letters and digits of a code.
const CODE_LENGTH: std::ops::RangeInclusive<usize> = 4..=64;

/// Returns true if one of the user's prompts names this code: its letters and digits are those of
/// whole words that stand next to one another. A text without a digit, or of another length, is
/// compared word by word.
pub fn is_code_mentioned(named: &str, said: &str) -> bool {
    let letters = named.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
    let code: Vec<char> = letters.take(CODE_LENGTH.end() + 1).collect();
    let is_code = CODE_LENGTH.contains(&code.len()) && code.iter().any(char::is_ascii_digit);
    if !is_code || is_unreadable(named) {
        return is_mentioned(named, said);
    }
    // A mark is a line of one word, and the first line of a prompt begins with a blank.
    let begins = |words: &&str| {
        let mut rest = words.chars();
        code.iter().all(|c| rest.by_ref().find(|said| *said != ' ') == Some(*c))
            && rest.next() == Some(' ')
    };
    let mut starts = said.match_indices(' ').map(|(at, _)| &said[at + 1..]);
    starts.any(|words| begins(&words))
}

/// `mentions_number(x)`.
pub(super) fn mentions_number(args: &[&Value]) -> BuiltinResult {
    match args {
        [Value::Decimal(units), Value::String(said)] => {
            Ok(Value::Bool(is_number_mentioned(*units, said)))
        }
        _ => Err(confused()),
    }
}

/// Returns true if one of the user's prompts names this number, in units of 10⁻⁶.
pub fn is_number_mentioned(units: i64, said: &str) -> bool {
    said.contains(&number_mark(units))
}

#[cfg(test)]
mod tests;
