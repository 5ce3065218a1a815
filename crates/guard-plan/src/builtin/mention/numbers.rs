//! The numbers that a prompt names (expressions, "Dates and numbers in prompts"): in digits, in
//! English words, or both (`2.5 million`, `10k`, `12 dollars and 50 cents`).
//!
//! A phrase is a run of numerals and words of numbers. It is read as a whole, with the cents after
//! it. A phrase with a part that is not understood names nothing: `two thirds of a million` is not 2
//! and not a million.

use super::number_parts::{NumberPart, numbers};
use super::numerals::{self, CURRENCY_WORDS};
use super::phrases::{Phrase, PhraseReader};
use super::scales::{DOZEN, ONE, Units};
use super::tokens::PromptToken;

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

impl PhraseReader<'_, '_> {
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
