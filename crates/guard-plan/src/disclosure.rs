//! Private content: the comparison of texts, and the search for pieces of a private text in another
//! text (semantics §8).
//!
//! This module only compares texts. The session stores the pieces and their readers.

mod fold;

pub use fold::fold;

use crate::decimal;
use crate::json::Json;
use crate::origin::parts_at;
use crate::render::cut;
use crate::value::Value;

/// The maximum length of the private texts that a session keeps, and of the prompts beside them, in bytes each.
pub const MAX_PRIVATE: usize = 1 << 20;

/// The maximum number of characters that a record keeps of a result that could not be parsed.
pub const MAX_UNREADABLE: usize = 4000;

/// The number of consecutive words that counts as a repetition when two texts share it.
pub const RUN: usize = 4;

/// The minimum number of characters of a code.
pub const MIN_CODE: usize = 8;

/// The minimum number of characters of a code in several parts without a letter; a date is shorter.
pub const MIN_LONG_NUMBER: usize = 10;

/// The maximum number of words in which a code is written.
pub const MAX_CODE_WORDS: usize = 8;

/// The maximum number of characters of a code in several parts.
pub const MAX_CODE: usize = 64;

/// The minimum number of digits of a number that counts as a text.
pub const MIN_DIGITS: usize = 4;

/// Returns the number of words of a folded text.
pub fn word_count(folded: &str) -> usize {
    words(folded).count()
}

/// Returns the words of a folded text.
pub fn words(folded: &str) -> impl Iterator<Item = &str> {
    folded.split([' ', '-']).filter(|word| !word.is_empty())
}

/// Returns true if a word is a code: an id, a number or a key that is unlikely to occur by chance.
pub fn is_code(word: &str) -> bool {
    word.chars().count() >= MIN_CODE && has_digit(word)
}

/// Returns true if the parts of a word with punctuation in it are a code when they are joined.
fn is_code_in_parts(joined: &str, parts: usize) -> bool {
    let length = joined.chars().count();
    let long = length >= MIN_CODE && joined.chars().any(char::is_alphabetic);
    let fits = (2..=MAX_CODE_WORDS).contains(&parts) && length <= MAX_CODE;
    fits && has_digit(joined) && (long || length >= MIN_LONG_NUMBER)
}

fn has_digit(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
}

/// Calls `visit` with each piece of a folded private text. Each run of [`RUN`] words is a piece; a
/// shorter text is one piece; each code is a piece.
pub fn pieces(folded: &str, visit: &mut dyn FnMut(&str)) {
    let flat = folded.replace('-', " ");
    let spans = spans(&flat);
    match spans.len() {
        0 => return,
        1..RUN => visit(&flat),
        _ => spans.windows(RUN).for_each(|run| visit(&flat[run[0].0..run[RUN - 1].1])),
    }
    for word in words(folded).filter(|word| is_code(word)) {
        visit(word);
    }
    for word in folded.split(' ') {
        let joined = word.replace('-', "");
        if is_code_in_parts(&joined, word.split('-').count()) {
            visit(&joined);
        }
    }
}

/// Calls `visit` with every part of a folded text that may be a piece of a private text, in order,
/// until `visit` returns false: each run of up to [`RUN`] words, and up to [`MAX_CODE_WORDS`] words
/// joined to one code.
pub fn candidates(folded: &str, visit: &mut dyn FnMut(&str) -> bool) {
    let flat = folded.replace('-', " ");
    let spans = spans(&flat);
    for (at, (start, _)) in spans.iter().enumerate() {
        for (_, end) in spans[at..].iter().take(RUN) {
            if !visit(&flat[*start..*end]) {
                return;
            }
        }
        let mut joined = String::new();
        let mut length = 0;
        for (parts, (start, end)) in spans[at..].iter().take(MAX_CODE_WORDS).enumerate() {
            let word = &flat[*start..*end];
            length += word.chars().count();
            if length > MAX_CODE {
                break;
            }
            joined.push_str(word);
            // A single word was visited with the runs above.
            if parts > 0 && length >= MIN_CODE && has_digit(&joined) && !visit(&joined) {
                return;
            }
        }
    }
}

/// Returns the start and end of each word of a text.
fn spans(flat: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut start = 0;
    for word in flat.split(' ') {
        if !word.is_empty() {
            spans.push((start, start + word.len()));
        }
        start += word.len() + 1;
    }
    spans
}

/// Adds the words of a prompt to the words of the user's earlier prompts. Returns false, and adds
/// nothing, if they would exceed the limit.
pub fn hear(told: &mut String, prompt: &str) -> bool {
    let folded = fold(prompt);
    let fits = told.len() + folded.len() + 3 <= MAX_PRIVATE;
    if fits && !folded.is_empty() {
        told.push(' ');
        told.push_str(&folded.replace('-', " "));
        // No word contains a line break, so a piece lies within one prompt.
        told.push_str(" \n");
    }
    fits
}

/// Returns true if one of the user's prompts contains the piece.
pub fn is_told(told: &str, piece: &str) -> bool {
    told.contains(&format!(" {piece} "))
        // The user may have divided the code in another way.
        || (!piece.contains(' ') && is_code(piece) && told.replace(' ', "").contains(piece))
}

/// Returns all texts in a value, folded, one after the other.
pub fn fold_value(value: &Value) -> String {
    let mut out = String::new();
    texts(value, &mut |text| {
        let folded = fold(text);
        if !out.is_empty() && !folded.is_empty() {
            out.push(' ');
        }
        out.push_str(&folded);
    });
    out
}

fn texts(value: &Value, visit: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) | Value::Path(text) => visit(text),
        Value::Url(url) => visit(&url.text),
        Value::Int(number) => visit(&number.to_string()),
        Value::Decimal(units) => visit(&decimal::format(*units)),
        Value::List(items) | Value::Record(items) => {
            items.iter().for_each(|item| texts(item, visit));
        }
        Value::Set(items) => items.iter().for_each(|item| texts(item, visit)),
        Value::Map(entries) => entries.iter().for_each(|(key, value)| {
            visit(key);
            texts(value, visit);
        }),
        Value::Json(json) => texts_of_json(json, visit),
        _ => {}
    }
}

fn texts_of_json(json: &Json, visit: &mut dyn FnMut(&str)) {
    match json {
        Json::String(text) | Json::Number(text) => visit(text),
        Json::Int(number) => visit(&number.to_string()),
        Json::Array(items) => items.iter().for_each(|item| texts_of_json(item, visit)),
        Json::Object(members) => members.iter().for_each(|(key, value)| {
            visit(key);
            texts_of_json(value, visit);
        }),
        Json::Null | Json::Bool(_) => {}
    }
}

/// Calls `visit` with each private text of a result, folded: those in the part at a path. The path goes through the elements of
/// lists; [`ELEMENT`](crate::trust::ELEMENT) is each element of a list or member of an object.
pub fn private_texts(json: &Json, path: &[String], visit: &mut dyn FnMut(String)) {
    parts_at(json, path, &mut |part| private_content(part, visit));
}

fn private_content(json: &Json, visit: &mut dyn FnMut(String)) {
    match json {
        Json::Array(items) => items.iter().for_each(|item| private_content(item, visit)),
        Json::Object(members) => {
            for (name, member) in members {
                let name = fold(name);
                // The name of a field is not content, but a key of a map may be.
                if word_count(&name) >= RUN || words(&name).any(is_code) {
                    visit(name);
                }
                private_content(member, visit);
            }
        }
        Json::String(text) => visit(fold(text)),
        Json::Number(text) => number(text, visit),
        Json::Int(value) => number(&value.to_string(), visit),
        Json::Null | Json::Bool(_) => {}
    }
}

/// Calls `visit` with each private text of a result that could not be parsed as JSON, folded: the
/// whole text, and each value that it appears to contain. The input is the text that a record keeps
/// of such a result. Returns false if that is not the whole text.
pub fn unreadable_texts(text: &str, visit: &mut dyn FnMut(String)) -> bool {
    let kept = cut(text, MAX_UNREADABLE);
    let parts = quoted_parts(&kept);
    visit(fold(&parts.iter().map(|(_, part)| part.as_str()).collect::<Vec<_>>().join(" ")));
    for (at, (is_quoted, part)) in parts.iter().enumerate() {
        let next = parts.get(at + 1).map_or("", |(_, next)| next.as_str());
        if *is_quoted {
            let is_name = next.trim_start().starts_with(':');
            // The name of a member is not content.
            if !is_name {
                visit(fold(part));
            }
        } else {
            let values = part.split([',', ':', '{', '}', '[', ']', '\n']).map(str::trim);
            let is_word = |value: &&str| !matches!(*value, "true" | "false" | "null");
            values.filter(is_word).for_each(|value| match value.parse::<f64>() {
                Ok(_) => number(value, visit),
                Err(_) => visit(fold(value)),
            });
        }
    }
    kept.chars().count() <= MAX_UNREADABLE
}

/// Returns the parts of a text inside and outside quotation marks, each with true if it was inside.
/// Escaped characters are decoded.
fn quoted_parts(text: &str) -> Vec<(bool, String)> {
    let mut parts = vec![(false, String::new())];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let quoted = parts.last().is_some_and(|(quoted, _)| *quoted);
        if c == '"' {
            parts.push((!quoted, String::new()));
            continue;
        }
        let read = match c {
            '\\' => match chars.next() {
                Some('n' | 'r' | 't' | 'f' | 'b') => Some('\n'),
                Some('u') => {
                    let digits = |c: &char| c.is_ascii_hexdigit() || *c == '{' || *c == '}';
                    let mut code = String::new();
                    while let Some(c) =
                        chars.next_if(|c| digits(c) && code.trim_matches(['{', '}']).len() < 4)
                    {
                        code.push(c);
                    }
                    if code.starts_with('{') {
                        chars.next_if_eq(&'}');
                    }
                    let code = u32::from_str_radix(code.trim_matches(['{', '}']), 16);
                    code.ok().and_then(char::from_u32)
                }
                other => other,
            },
            c => Some(c),
        };
        if let Some((_, part)) = parts.last_mut() {
            part.extend(read);
        }
    }
    parts
}

/// Visits a number, unless it is so short that it occurs in many texts by chance.
fn number(text: &str, visit: &mut dyn FnMut(String)) {
    if text.bytes().filter(u8::is_ascii_digit).count() >= MIN_DIGITS {
        visit(fold(text));
    }
}

#[cfg(test)]
mod tests;
