//! Phrases of numbers in a text: where each begins and ends, and its parts.

use super::number_parts::NumberPart;
use super::numerals::{self, CURRENCY_CODES, CURRENCY_WORDS, SIGNS};
use super::scales::{BILLION, DOZEN, MILLION, Units, scale_of};
use super::tokens::{ORDINALS, PromptToken, SMALL, TENS, is_number_word};

/// A run of parts, and the token after it.
pub(super) struct Phrase {
    pub parts: Vec<NumberPart>,
    pub next: usize,
}

/// A text, and the tokens of it that are no numbers.
pub(super) struct PhraseReader<'a, 't> {
    pub tokens: &'a [PromptToken<'t>],
    pub taken: &'a [bool],
}

impl PhraseReader<'_, '_> {
    pub fn token(&self, at: usize) -> Option<PromptToken<'_>> {
        self.tokens.get(at).copied().filter(|_| !self.taken[at])
    }

    pub fn is_word(&self, at: usize, words: &[&str]) -> bool {
        let token = self.token(at).filter(PromptToken::follows_blank);
        token.is_some_and(|token| words.iter().any(|word| token.is(word)))
    }

    /// Returns the phrase that begins at a token. It has no parts if none begins there.
    pub fn phrase(&self, first: usize) -> Phrase {
        let mut phrase = Phrase { parts: Vec::new(), next: first };
        // Words that only join parts wait for the next part.
        let mut joints = Vec::new();
        let mut at = first;
        while let Some((part, next)) = self.part(at, at > first, phrase.parts.last()) {
            at = next;
            if matches!(part, NumberPart::And | NumberPart::Article | NumberPart::Minus) {
                joints.push(part);
                if joints.len() > 2 {
                    break;
                }
                continue;
            }
            let takes_article = matches!(
                part,
                NumberPart::Hundred
                    | NumberPart::Scale(_)
                    | NumberPart::Couple
                    | NumberPart::Half
                    | NumberPart::Unknown
            );
            if !takes_article && joints.contains(&NumberPart::Article) {
                if !phrase.parts.is_empty() {
                    break;
                }
                joints.retain(|joint| *joint != NumberPart::Article);
            }
            phrase.parts.append(&mut joints);
            phrase.parts.push(part);
            phrase.next = next;
        }
        phrase
    }

    /// Reads a part of a phrase; `is_inner` if another part may stand before it.
    fn part(
        &self,
        at: usize,
        is_inner: bool,
        last: Option<&NumberPart>,
    ) -> Option<(NumberPart, usize)> {
        use NumberPart as P;
        let token = self.token(at)?;
        let is_glued = token.gap.is_empty() && at > 0;
        let is_linked = token.follows_blank() || matches!(token.gap, "-" | "‑");
        // `one thousand, two hundred` may be one number, or two.
        if is_inner
            && token.gap.trim() == ","
            && is_number_word(token.text)
            && self.may_go_on(at, last)
        {
            return Some((P::Unknown, at + 1));
        }
        if is_inner && !is_linked && !token.is_numeral {
            return None;
        }
        if token.is_numeral {
            if is_inner && !token.gap.trim_end_matches(['.', '$', '€', '£', '-']).trim().is_empty()
            {
                return None;
            }
            return Some(match numerals::read(self.tokens, at) {
                Some(numeral) => (P::Numeral(numeral.units.into(), numeral.is_money), numeral.next),
                None => (P::Unknown, at + 1),
            });
        }
        let after_numeral = matches!(last, Some(P::Numeral(..) | P::Unknown)) && is_inner;
        if after_numeral && let Some(part) = self.suffix(at, token, last) {
            return Some((part, at + 1));
        }
        // A word within another word, or after a hyphen of another one.
        if (is_glued && !after_numeral)
            || (!is_inner && token.gap.ends_with(['-', '_', '.', '/', '@', '\'', '’']) && at > 0)
        {
            return None;
        }
        let word = token.text.to_ascii_lowercase();
        let position = |words: &[&str]| words.iter().position(|known| *known == word);
        let part = if let Some(small) = position(&SMALL) {
            P::Small(small as Units)
        } else if let Some(tens) = position(&TENS) {
            P::Tens(tens as Units * 10 + 20)
        } else if let Some(scale) = scale_of(&word).filter(|_| token.text != "Grand") {
            P::Scale(scale)
        } else if UNKNOWN.iter().chain(&ORDINALS).any(|known| *known == word) {
            P::Unknown
        } else {
            match word.as_str() {
                "hundred" => P::Hundred,
                "and" if is_inner => P::And,
                "half" => P::Half,
                "point" if is_inner => P::Point,
                "minus" | "negative" => P::Minus,
                "couple" | "pair" if self.is_word(at + 1, &["of"]) => {
                    return Some((P::Couple, at + 2));
                }
                "couple" | "pair" => P::Couple,
                // `a quarter of a million`.
                "of" if matches!(last, Some(P::Unknown | P::Half)) => P::Unknown,
                "a" | "an" if self.is_word(at + 1, &CURRENCY_WORDS) => P::Small(1),
                "a" | "an" => P::Article,
                _ => return None,
            }
        };
        Some((part, at + 1))
    }

    /// Returns true if a number with this last part may go on after a comma: no scale follows that
    /// is as high.
    fn may_go_on(&self, at: usize, last: Option<&NumberPart>) -> bool {
        let scale = match last {
            Some(NumberPart::Scale(scale)) if *scale > DOZEN => *scale,
            Some(NumberPart::Hundred) => 100,
            _ => return false,
        };
        // `nine hundred ninety nine thousand` has the most words before a scale.
        let scales =
            (at + 1..at + 6).map_while(|at| self.token(at).filter(PromptToken::follows_blank));
        !scales.into_iter().any(|word| {
            let hundred = Some(100).filter(|_| word.is("hundred"));
            hundred.or(scale_of(&word.text.to_ascii_lowercase())).is_some_and(|next| next >= scale)
        })
    }

    /// Reads a letter or word after a numeral that may change what the numeral means.
    fn suffix(
        &self,
        at: usize,
        token: PromptToken<'_>,
        last: Option<&NumberPart>,
    ) -> Option<NumberPart> {
        use NumberPart as P;
        let follows_money = matches!(last, Some(P::Numeral(_, true)));
        let next = self.tokens.get(at + 1);
        let is_money = follows_money
            || self.is_word(at + 1, &CURRENCY_WORDS)
            || self.is_word(at + 1, &CURRENCY_CODES)
            || next.is_some_and(|next| next.gap.trim().starts_with(SIGNS));
        let is_glued = token.gap.is_empty();
        match token.text {
            "M" if is_glued => return Some(P::Scale(MILLION)),
            "m" | "M" if is_money => return Some(P::Scale(MILLION)),
            "b" | "B" if is_money => return Some(P::Scale(BILLION)),
            _ => {}
        }
        let is_unknown = SUFFIXES.iter().any(|suffix| token.is(suffix))
            // `5 a.m.`, `5 o'clock`.
            || (["a", "p", "o"].iter().any(|letter| token.is(letter))
                && next.is_some_and(|next| {
                    (next.gap == "." && next.is("m")) || next.is("clock")
                }));
        is_unknown.then_some(P::Unknown)
    }
}

/// The words of fractions and ordinals, and of vague or foreign scales. A phrase with one of them
/// names nothing.
const UNKNOWN: [&str; 31] = [
    "thirtieth",
    "fortieth",
    "fiftieth",
    "sixtieth",
    "seventieth",
    "eightieth",
    "ninetieth",
    "hundredth",
    "thousandth",
    "millionth",
    "thirds",
    "quarter",
    "quarters",
    "fourths",
    "fifths",
    "sixths",
    "eighths",
    "tenths",
    "hundredths",
    "halves",
    "several",
    "few",
    "some",
    "many",
    "mrd",
    "milliard",
    "milliards",
    "milliarden",
    "millionen",
    "mld",
    "hundreds",
];

/// The letters and words after a numeral that make it something else: a scale that may be meant, a
/// time of day.
const SUFFIXES: [&str; 16] = [
    "m",
    "b",
    "mm",
    "l",
    "t",
    "tn",
    "cr",
    "mill",
    "quadrillion",
    "am",
    "pm",
    "oclock",
    "½",
    "¼",
    "¾",
    "⅓",
];
