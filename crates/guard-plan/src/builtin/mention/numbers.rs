//! The numbers that a prompt names (expressions, "Dates and numbers in prompts"): in digits, in
//! English words, or both (`2.5 million`, `10k`, `12 dollars and 50 cents`).
//!
//! A phrase is a run of numerals and words of numbers. It is read as a whole. A phrase with a part
//! that is not understood names nothing: `two thirds of a million` is not 2 and not a million.

use super::numerals::{self, CURRENCY_CODES, CURRENCY_WORDS, SIGNS};
use super::tokens::{ORDINALS, PromptToken, SMALL, TENS, is_number_word};
use crate::value::DECIMAL_ONE;

/// A number in units of 10⁻⁶.
type Units = i128;

const ONE: Units = DECIMAL_ONE as Units;
const DOZEN: Units = 12;

/// Emits the numbers that a text names, in units of 10⁻⁶. Tokens that are `taken` are no numbers.
pub(super) fn each(tokens: &[PromptToken<'_>], taken: &[bool], emit: &mut dyn FnMut(i64)) {
    let mut emit = |units: Units| i64::try_from(units).into_iter().for_each(&mut *emit);
    let text = PhraseReader { tokens, taken };
    let mut at = 0;
    while at < tokens.len() {
        let phrase = text.phrase(at);
        match text.with_cents(&phrase) {
            Some((units, next)) => {
                units.into_iter().for_each(&mut emit);
                at = next.max(at + 1);
            }
            None => {
                if let ([_], [NumberPart::Unknown]) =
                    (&tokens[at..phrase.next.max(at)], &phrase.parts[..])
                {
                    let listed = numerals::listed(tokens, at).into_iter();
                    listed.for_each(|units| emit(units.into()));
                }
                at = phrase.next.max(at + 1);
            }
        }
    }
}

/// A part of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberPart {
    /// A numeral, and whether it is money.
    Numeral(Units, bool),
    /// `zero` to `nineteen`.
    Small(Units),
    /// `twenty` to `ninety`.
    Tens(Units),
    Hundred,
    /// `thousand`, `k`, `dozen`.
    Scale(Units),
    And,
    /// `a` before another part.
    Article,
    Half,
    /// `couple`, `pair`, with the `of` after it.
    Couple,
    Point,
    Minus,
    /// A numeral that is a part of something else, a fraction, an ordinal, a scale that is not known.
    Unknown,
}

/// A run of parts, and the token after it.
struct Phrase {
    parts: Vec<NumberPart>,
    next: usize,
}

struct PhraseReader<'a, 't> {
    tokens: &'a [PromptToken<'t>],
    taken: &'a [bool],
}

impl PhraseReader<'_, '_> {
    fn token(&self, at: usize) -> Option<PromptToken<'_>> {
        self.tokens.get(at).copied().filter(|_| !self.taken[at])
    }

    fn is_word(&self, at: usize, words: &[&str]) -> bool {
        let token = self.token(at).filter(PromptToken::follows_blank);
        token.is_some_and(|token| words.iter().any(|word| token.is(word)))
    }

    /// Returns the phrase that begins at a token. It has no parts if none begins there.
    fn phrase(&self, first: usize) -> Phrase {
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

    /// Reads the numbers of a phrase, with the cents after it: `12 dollars and 50 cents`, `50 cents`.
    /// Returns `None` if it is not understood.
    fn with_cents(&self, phrase: &Phrase) -> Option<(Vec<Units>, usize)> {
        let numbers = numbers(&phrase.parts)?;
        let end = phrase.next;
        let is_money = matches!(phrase.parts.first(), Some(NumberPart::Numeral(_, true)));
        let has_sign = self.token(end).is_some_and(|next| next.gap.starts_with('¢'));
        match numbers[..] {
            [cents] if has_sign => Some((vec![hundredth(cents)?], end)),
            [cents] if self.counts_cents(cents, end) => Some((vec![hundredth(cents)?], end + 1)),
            // `$42 and 50 cents` is one phrase.
            [whole, cents] if is_money && self.counts_cents(cents, end) => {
                Some((plus_cents(whole, cents), end + 1))
            }
            [whole] if is_money || self.is_word(end, &CURRENCY_WORDS) => {
                Some(self.after_currency(whole, end))
            }
            [_] if self.shares_scale(phrase) => None,
            _ => Some((numbers, end)),
        }
    }

    /// Returns true if a word for cents follows the number. `20 cent stamps` are stamps.
    fn counts_cents(&self, number: Units, at: usize) -> bool {
        self.is_word(at, &["cents", "pence", "pennies", "paise", "rappen"])
            || (number == ONE && self.is_word(at, &["cent", "penny"]))
    }

    /// Returns true for the `two` of `two or three million`, which may be millions.
    fn shares_scale(&self, phrase: &Phrase) -> bool {
        let is_scale =
            |part: &NumberPart| matches!(part, NumberPart::Scale(scale) if *scale > DOZEN);
        let is_range = self.is_word(phrase.next, &["or", "to"]);
        is_range
            && !phrase.parts.iter().any(is_scale)
            && self.phrase(phrase.next + 1).parts.iter().any(is_scale)
    }

    /// Reads the cents after an amount in a currency.
    fn after_currency(&self, whole: Units, end: usize) -> (Vec<Units>, usize) {
        let names_currency = self.is_word(end, &CURRENCY_WORDS);
        let end = end + usize::from(names_currency);
        let has_and = self.is_word(end, &["and"]);
        let start = end + usize::from(has_and);
        let alone = (vec![whole], end);
        if !self.token(start).is_some_and(|token| token.follows_blank()) {
            return alone;
        }
        let rest = self.phrase(start);
        let Some(&[cents]) = numbers(&rest.parts).as_deref() else { return alone };
        if self.counts_cents(cents, rest.next) {
            return (plus_cents(whole, cents), rest.next + 1);
        }
        // `12 euros 50` may be 12.50.
        let may_be_cents = (10 * ONE..100 * ONE).contains(&cents) && cents % ONE == 0;
        if names_currency && !has_and && may_be_cents { (Vec::new(), rest.next) } else { alone }
    }
}

/// Returns a hundredth of a number, if that is a decimal.
fn hundredth(cents: Units) -> Option<Units> {
    (cents % 100 == 0).then_some(cents / 100)
}

/// Adds cents to an amount with its sign. Cents after a fraction, and a hundred cents and more, are
/// an amount of their own.
fn plus_cents(whole: Units, cents: Units) -> Vec<Units> {
    let is_one_amount = whole % ONE == 0 && cents % ONE == 0 && (0..100 * ONE).contains(&cents);
    match hundredth(cents) {
        Some(part) if is_one_amount => vec![if whole < 0 { whole - part } else { whole + part }],
        Some(part) => vec![whole, part],
        None => vec![whole],
    }
}

/// Reads the numbers of a phrase. Returns `None` if a part of it is not understood.
fn numbers(parts: &[NumberPart]) -> Option<Vec<Units>> {
    let mut numbers = Vec::new();
    let mut at = 0;
    let is_scale = |part: &NumberPart| matches!(part, NumberPart::Scale(scale) if *scale > DOZEN);
    while at < parts.len() {
        if parts[at] == NumberPart::And && at > 0 {
            // The `two` of `between two and three thousand` may be thousands.
            if !parts[..at].iter().any(is_scale) && parts[at..].iter().any(is_scale) {
                return None;
            }
            at += 1;
        }
        let is_negative = parts.get(at) == Some(&NumberPart::Minus);
        let (number, next) = number(parts, at + usize::from(is_negative))?;
        numbers.push(if is_negative { -number } else { number });
        at = next;
    }
    (!numbers.is_empty()).then_some(numbers)
}

/// A number, and the part after it.
type NumberReading = Option<(Units, usize)>;

/// Reads a number with its scales: `two million three hundred thousand and five`.
fn number(parts: &[NumberPart], at: usize) -> NumberReading {
    use NumberPart as P;
    let (group, mut at) = group(parts, at)?;
    let sign = if group < 0 { -1 } else { 1 };
    let Some(P::Scale(first)) = parts.get(at) else {
        return and_a_half(parts, at, group, ONE).or(Some((group, at)));
    };
    at += 1;
    let mut total = group.checked_mul(*first)?;
    if *first == DOZEN {
        return Some((total, at));
    }
    if let Some(found) = and_a_half(parts, at, total, *first * ONE).filter(|_| group == ONE) {
        return Some(found);
    }
    let mut bound = *first;
    let is_whole = group % ONE == 0;
    loop {
        let start = at + usize::from(parts.get(at) == Some(&P::And));
        // A numeral after a scale may be a part of it, or a number of its own.
        let is_numeral = matches!(parts.get(start), Some(P::Numeral(..)));
        let Some((lower, next)) = self::group(parts, start) else { return Some((total, at)) };
        match parts.get(next) {
            Some(P::Scale(scale)) if *scale < bound && *scale != DOZEN && is_whole => {
                total = total.checked_add(sign * lower.checked_mul(*scale)?)?;
                (bound, at) = (*scale, next + 1);
            }
            Some(P::Scale(_)) => return Some((total, at)),
            _ if is_numeral => return None,
            _ if is_whole && lower < bound.checked_mul(ONE)? && lower % ONE == 0 => {
                return Some((total.checked_add(sign * lower)?, next));
            }
            _ => return Some((total, at)),
        }
    }
}

/// Reads `and a half` after a whole number.
fn and_a_half(parts: &[NumberPart], at: usize, number: Units, of: Units) -> NumberReading {
    use NumberPart as P;
    let stands = parts.get(at..at + 3) == Some(&[P::And, P::Article, P::Half]) && number % ONE == 0;
    let half = if number < 0 { -of / 2 } else { of / 2 };
    stands.then_some((number + half, at + 3))
}

/// Reads a number without its scale: a numeral, or words up to `ninety nine hundred ninety nine`.
fn group(parts: &[NumberPart], at: usize) -> NumberReading {
    use NumberPart as P;
    let scaled = |at: usize| matches!(parts.get(at), Some(P::Scale(_)));
    let (value, at) = match (parts.get(at)?, parts.get(at + 1)) {
        (P::Numeral(units, _), _) => (*units, at + 1),
        (P::Half, Some(P::Article)) if scaled(at + 2) => return Some((ONE / 2, at + 2)),
        (P::Half, _) if scaled(at + 1) => return Some((ONE / 2, at + 1)),
        (P::Article, Some(P::Hundred)) => (ONE, at + 1),
        (P::Article, Some(P::Scale(_))) => return Some((ONE, at + 1)),
        (P::Article, Some(P::Couple)) => (2 * ONE, at + 2),
        _ => {
            let (value, at) = below_hundred(parts, at)?;
            if parts.get(at) == Some(&P::Point) {
                return fraction(parts, at + 1, value * ONE);
            }
            (value * ONE, at)
        }
    };
    let value = match and_a_half(parts, at, value, ONE) {
        Some((value, next)) if scaled(next) => return Some((value, next)),
        _ => value,
    };
    if parts.get(at) != Some(&P::Hundred) {
        return Some((value, at));
    }
    let hundreds = value.checked_mul(100)?;
    let rest = at + 1 + usize::from(parts.get(at + 1) == Some(&P::And));
    match below_hundred(parts, rest) {
        // `one hundred and two hundred` are two numbers.
        Some((_, next)) if parts.get(next) == Some(&P::Hundred) => Some((hundreds, at + 1)),
        Some((rest, next)) if value % ONE == 0 => {
            Some((if value < 0 { hundreds - rest * ONE } else { hundreds + rest * ONE }, next))
        }
        _ if matches!(parts.get(rest), Some(P::Numeral(..))) => None,
        _ => Some((hundreds, at + 1)),
    }
}

/// Reads `zero` to `ninety nine`.
fn below_hundred(parts: &[NumberPart], at: usize) -> NumberReading {
    use NumberPart as P;
    match (parts.get(at)?, parts.get(at + 1)) {
        (P::Small(small), _) => Some((*small, at + 1)),
        (P::Tens(tens), Some(P::Small(unit @ 1..=9))) => Some((tens + unit, at + 2)),
        (P::Tens(tens), _) => Some((*tens, at + 1)),
        _ => None,
    }
}

/// Reads the digits after `point`.
fn fraction(parts: &[NumberPart], mut at: usize, mut value: Units) -> NumberReading {
    let start = at;
    let mut place = ONE / 10;
    while let Some(NumberPart::Small(digit @ 0..=9)) = parts.get(at) {
        if place == 0 && *digit > 0 {
            return None;
        }
        value += digit * place;
        place /= 10;
        at += 1;
    }
    (at > start).then_some((value, at))
}

const MILLION: Units = 1_000_000;
const BILLION: Units = 1_000_000_000;

/// Returns what a word multiplies by.
pub(super) fn scale_of(word: &str) -> Option<Units> {
    match word {
        "dozen" => Some(DOZEN),
        "k" | "grand" | "thousand" | "thousands" => Some(1000),
        "lakh" | "lakhs" | "lac" => Some(100_000),
        "mn" | "mio" | "mil" | "million" | "millions" => Some(MILLION),
        "crore" | "crores" => Some(10_000_000),
        "bn" | "billion" | "billions" => Some(BILLION),
        "trillion" | "trillions" => Some(1_000_000_000_000),
        _ => None,
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
