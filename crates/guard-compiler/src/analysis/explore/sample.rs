//! Texts of a shape: one that a pattern matches, one in which an extractor finds something.

use regex_syntax::hir::{Class, Hir, HirKind};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Longest text that is made.
const MOST: usize = 500;

/// The texts of patterns that were asked for, since a search asks for the same few again and again.
#[derive(Default)]
pub(crate) struct Samples(RefCell<HashMap<SampleKey, SampleTexts>>);

/// The kind of texts that is asked for, and the pattern.
type SampleKey = (SampleKind, Box<str>);

type SampleTexts = Rc<[String]>;

/// The texts that are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SampleKind {
    /// One that the pattern matches, if a plain one does.
    One,
    /// Two that it matches, if plain ones do.
    Two,
    /// One of each of its outermost alternatives.
    Alternatives,
}

impl Samples {
    /// Returns texts that a pattern matches.
    pub fn texts(&self, kind: SampleKind, pattern: &str) -> SampleTexts {
        let key = (kind, pattern.into());
        if let Some(known) = self.0.borrow().get(&key) {
            return known.clone();
        }
        let texts: SampleTexts = match kind {
            SampleKind::One => sample(pattern).into_iter().collect(),
            SampleKind::Two => two(pattern).into(),
            SampleKind::Alternatives => alternatives(pattern).into(),
        };
        self.0.borrow_mut().insert(key, texts.clone());
        texts
    }
}

/// A text that the pattern matches, if a plain one does.
fn sample(pattern: &str) -> Option<String> {
    let hir = regex_syntax::parse(pattern).ok()?;
    let mut text = String::new();
    write(&hir, &mut text)?;
    regex::Regex::new(pattern).ok()?.is_match(&text).then_some(text)
}

/// Two texts that the pattern matches, if plain ones do.
fn two(pattern: &str) -> Vec<String> {
    let Some(first) = sample(pattern) else { return Vec::new() };
    let second = first.replace('1', "2").replace('a', "b");
    let matches = regex::Regex::new(pattern).is_ok_and(|regex| regex.is_match(&second));
    let more = (matches && second != first).then_some(second);
    std::iter::once(first).chain(more).collect()
}

/// Texts that the pattern matches, of each of its outermost alternatives.
fn alternatives(pattern: &str) -> Vec<String> {
    let Ok(hir) = regex_syntax::parse(pattern) else { return Vec::new() };
    let Ok(regex) = regex::Regex::new(pattern) else { return Vec::new() };
    let mut texts = vec![String::new()];
    choices(&hir, &mut texts);
    texts.retain(|text| regex.is_match(text));
    texts
}

/// Appends to every text each alternative of a part.
fn choices(hir: &Hir, texts: &mut Vec<String>) {
    const MOST_TEXTS: usize = 12;
    match hir.kind() {
        HirKind::Capture(capture) => choices(&capture.sub, texts),
        HirKind::Concat(parts) => parts.iter().for_each(|part| choices(part, texts)),
        HirKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                let mut more = texts.clone();
                choices(part, &mut more);
                all.append(&mut more);
            }
            // Alternatives in a row multiply, so their texts are cut after each of them.
            all.truncate(MOST_TEXTS);
            *texts = all;
        }
        _ => {
            let mut text = String::new();
            if write(hir, &mut text).is_some() {
                texts.iter_mut().for_each(|known| known.push_str(&text));
            }
        }
    }
}

fn write(hir: &Hir, out: &mut String) -> Option<()> {
    if out.len() > MOST {
        return None;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges();
            let plain = ['a', '1', 'A'].into_iter();
            let mut plain =
                plain.filter(|c| ranges.iter().any(|r| r.start() <= *c && *c <= r.end()));
            out.push(plain.next().or(ranges.first().map(|r| r.start()))?);
        }
        HirKind::Class(Class::Bytes(class)) => out.push(class.ranges().first()?.start() as char),
        HirKind::Repetition(repetition) => {
            for _ in 0..repetition.min {
                write(&repetition.sub, out)?;
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, out)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| write(part, out))?,
        HirKind::Alternation(parts) => write(parts.first()?, out)?,
    }
    Some(())
}

/// A text in which an extractor finds something.
pub(crate) fn found(extractor: &str) -> &'static str {
    match extractor {
        "Emails" => "a@example.org",
        "Urls" | "Hosts" => "https://a.example/a",
        "Paths" => "a/b.txt",
        "Ibans" => "DE89370400440532013000",
        "Phones" => "+4930123456",
        "Numbers" => "1",
        "Dates" => "2026-01-05",
        "Quoted" => "\"a\"",
        _ => "x Ada Lovelace",
    }
}

/// A text in which an extractor finds this.
pub(crate) fn wrapped(extractor: &str, text: &str) -> String {
    match extractor {
        "Hosts" => format!("https://{text}/"),
        "Quoted" => format!("\"{text}\""),
        _ => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn patterns_have_samples() {
        let check =
            |pattern: &str, text: &str| assert_eq!(super::sample(pattern).as_deref(), Some(text));
        check("^[0-9]{6}$", "111111");
        check(r"^[0-9]+\.[0-9]+\.[0-9]+$", "1.1.1");
        check("^(ab|cd)[a-z-]*$", "ab");
    }
}
