//! The numbers that a prompt names (expressions, "Dates and numbers of prompts"): in digits, in
//! English words, or both (`2.5 million`, `10k`, `12 dollars and 50 cents`).
//!
//! Each number is read once, as a whole: `two hundred and fifty` is not 200. Digits that belong to
//! something else (a time, a version, a range, a name) are no number.

use super::super::extract::UNITS;
use super::tokens::Token;
use crate::decimal;
use crate::value::DECIMAL_ONE;

/// A number in units of 10⁻⁶.
type Units = i128;

const ONE: Units = DECIMAL_ONE as Units;
const HUNDRED: Units = 100;
const THOUSAND: Units = 1000;
const MILLION: Units = 1_000_000;
const BILLION: Units = 1_000_000_000;

/// Emits the numbers that a text names, in units of 10⁻⁶. Tokens that are `taken` are no numbers.
pub(super) fn each(tokens: &[Token<'_>], taken: &[bool], emit: &mut dyn FnMut(i64)) {
    let text = NumberReader { tokens };
    let mut at = 0;
    while at < tokens.len() {
        let found = if taken[at] { None } else { text.with_cents(at) };
        match found {
            Some((units, next)) => {
                i64::try_from(units).into_iter().for_each(&mut *emit);
                at = next;
            }
            None if taken[at] => at += 1,
            None => {
                text.listed(at).into_iter().for_each(&mut *emit);
                at += 1;
            }
        }
    }
}

/// A number, and the token after it.
type Found<T = Units> = Option<(T, usize)>;

struct NumberReader<'a, 't> {
    tokens: &'a [Token<'t>],
}

impl<'t> NumberReader<'_, 't> {
    fn token(&self, at: usize) -> Option<Token<'t>> {
        self.tokens.get(at).copied()
    }

    /// Returns the word at this place, if only blanks stand before it.
    fn word(&self, at: usize) -> Option<&'t str> {
        let token = self.token(at).filter(|token| !token.is_numeral && token.follows_blank())?;
        Some(token.text)
    }

    /// Returns true if a number may begin at this place with one of these words.
    fn begins(&self, at: usize, words: &[&str]) -> bool {
        let token = self.token(at).filter(|token| at == 0 || !token.gap.is_empty());
        token.is_some_and(|token| words.iter().any(|word| token.is(word)))
    }

    fn is_word(&self, at: usize, words: &[&str]) -> bool {
        self.word(at).is_some_and(|word| words.iter().any(|known| word.eq_ignore_ascii_case(known)))
    }

    /// Reads `12 dollars and 50 cents`, or a number.
    fn with_cents(&self, at: usize) -> Found {
        let (whole, end) = self.number(at)?;
        if !self.is_word(end, &CURRENCY_WORDS) {
            return Some((whole, end));
        }
        let cents = self.number(end + 1 + usize::from(self.is_word(end + 1, &["and"])));
        match cents {
            Some((cents, last))
                if self.is_word(last, &["cents", "cent", "pence"]) && cents < HUNDRED * ONE =>
            {
                Some((whole + cents / HUNDRED, last + 1))
            }
            _ => Some((whole, end)),
        }
    }

    /// Reads a number with its scales: `two million three hundred thousand and five`.
    fn number(&self, at: usize) -> Found {
        let lone = self.lone_scale(at);
        let (mut group, mut end) = lone.map_or_else(|| self.group(at), |_| Some((ONE, at)))?;
        let mut found = lone.or_else(|| self.scale(end));
        let mut total: Units = 0;
        while let Some((scale, next)) = found {
            total = total.checked_add(group.checked_mul(scale)?)?;
            let Some((lower, next)) = self.lower_group(next, scale) else {
                return Some((total, next));
            };
            (group, end) = (lower, next);
            found = self.scale(end);
        }
        Some((total.checked_add(group)?, end))
    }

    /// Reads a scale that stands for one of it: `thousand`, `a dozen`.
    fn lone_scale(&self, at: usize) -> Found {
        let noun = at + usize::from(self.begins(at, &["a", "the"]));
        let nouns = ["thousand", "million", "billion", "grand", "dozen"];
        let is_next = noun == at || self.is_word(noun, &nouns);
        let token = self.token(noun).filter(|_| is_next && self.begins(noun, &nouns))?;
        Some((scale_of(token.text)?, noun + 1))
    }

    /// Reads the group after a scale, for a lower scale: `three hundred`, `and five`, `and a half`.
    fn lower_group(&self, at: usize, bound: Units) -> Found {
        if let Some(end) = self.and_a_half(at) {
            return Some((bound.checked_mul(ONE / 2)?, end));
        }
        let at = at + usize::from(self.is_word(at, &["and"]));
        let is_numeral = self.token(at).filter(Token::follows_blank)?.is_numeral;
        let (group, end) = self.group(at)?;
        match self.scale(end) {
            Some((scale, _)) => (scale < bound).then_some((group, end)),
            None => (!is_numeral && group < bound.checked_mul(ONE)?).then_some((group, end)),
        }
    }

    /// Reads a number without a scale: a numeral, or words up to `ninety nine hundred`.
    fn group(&self, at: usize) -> Found {
        let (value, end) = self.numeral(at).or_else(|| self.small(at))?;
        match self.and_a_half(end) {
            Some(end) => Some((value + ONE / 2, end)),
            None => Some((value, end)),
        }
    }

    /// Returns the place after `and a half`.
    fn and_a_half(&self, at: usize) -> Option<usize> {
        let words = self.is_word(at, &["and"]) && self.is_word(at + 1, &["a"]);
        (words && self.is_word(at + 2, &["half"])).then_some(at + 3)
    }

    /// Reads words: `seventeen`, `two hundred and five`, `half a`, `a dozen`, `two point five`.
    fn small(&self, at: usize) -> Found {
        if self.begins(at, &["half"]) {
            let end = at + 1 + usize::from(self.is_word(at + 1, &["a"]));
            return self.scale(end).map(|_| (ONE / 2, end));
        }
        let noun = at + usize::from(self.begins(at, &["a", "the"]));
        if noun > at && self.is_word(noun, &["couple", "pair"]) {
            let end = noun + 1 + usize::from(self.is_word(noun + 1, &["of"]));
            let is_hundred = self.is_word(end, &["hundred"]);
            return if is_hundred { self.hundreds(2, end) } else { Some((2 * ONE, end)) };
        }
        if self.begins(noun, &["hundred"]) {
            return self.hundreds(1, noun);
        }
        let (value, end) = self.below_hundred(at)?;
        if self.is_word(end, &["hundred"]) {
            return self.hundreds(value, end);
        }
        Some(self.fraction(value, end).unwrap_or((value * ONE, end)))
    }

    /// Reads `hundred`, `hundred five`, `hundred and five` after a count.
    fn hundreds(&self, count: Units, at: usize) -> Found {
        let rest = at + 1;
        let and = usize::from(self.is_word(rest, &["and"]));
        let more = self.word(rest + and).and_then(|_| self.below_hundred(rest + and));
        match more {
            // `one hundred and two hundred` are two numbers.
            Some((value, end)) if !self.is_word(end, &["hundred"]) => {
                Some(((count * HUNDRED + value) * ONE, end))
            }
            _ => Some((count * HUNDRED * ONE, rest)),
        }
    }

    /// Reads `point` and the digits after it.
    fn fraction(&self, whole: Units, at: usize) -> Found {
        if !self.is_word(at, &["point"]) {
            return None;
        }
        let (mut value, mut end, mut place) = (whole * ONE, at + 1, ONE / 10);
        while let Some(digit) = self.word(end).and_then(below_twenty).filter(|digit| *digit < 10) {
            value += digit * place;
            place /= 10;
            end += 1;
        }
        (end > at + 1).then_some((value, end))
    }

    /// Reads `zero` to `ninety nine`, with a blank or a hyphen between tens and units.
    fn below_hundred(&self, at: usize) -> Found {
        let token = self.token(at).filter(|token| !token.is_numeral)?;
        if token.gap.is_empty() && at > 0 {
            return None;
        }
        if let Some(value) = below_twenty(token.text) {
            return Some((value, at + 1));
        }
        let tens = TENS.iter().position(|word| token.is(word))? as Units * 10 + 20;
        let unit = self.token(at + 1).filter(|unit| unit.follows_blank() || unit.gap == "-");
        match unit.and_then(|unit| below_twenty(unit.text)) {
            Some(unit @ 1..=9) => Some((tens + unit, at + 2)),
            _ => Some((tens, at + 1)),
        }
    }

    /// Reads a word or a letter that multiplies: `million`, `k`, `dozen`.
    fn scale(&self, at: usize) -> Found {
        let token = self.token(at).filter(|token| !token.is_numeral)?;
        let before = at.checked_sub(1).and_then(|before| self.token(before))?;
        let is_glued = token.gap.is_empty();
        let is_joined = is_glued && before.is_numeral;
        if !is_joined && (is_glued || !token.follows_blank() && token.gap != "-") {
            return None;
        }
        let is_money = is_glued && before.gap.ends_with(CURRENCY_SIGNS);
        let scale = match token.text {
            // A small `m` may be metres.
            "M" if is_glued => MILLION,
            "m" | "b" if !is_money => return None,
            "m" => MILLION,
            "b" | "B" if is_money => BILLION,
            word if word.eq_ignore_ascii_case("hundred") && before.is_numeral => HUNDRED,
            word => scale_of(word)?,
        };
        Some((scale, at + 1))
    }

    /// Reads a numeral that stands for itself.
    fn numeral(&self, at: usize) -> Found {
        let token = self.token(at).filter(|token| token.is_numeral)?;
        let (is_negative, is_money) = self.sign(at, token)?;
        let groups = self.spaced_groups(at);
        let (end, is_money) = self.unit(at + groups.len(), is_money)?;
        let units =
            Units::from(decimal::parse(&(plain(token.text, is_money)? + &groups.concat()))?);
        Some((if is_negative { -units } else { units }, end))
    }

    /// Returns the groups of three digits that belong to the numeral: `10 000`. Between other groups
    /// than `000`, an ordinary blank divides two numbers.
    fn spaced_groups(&self, at: usize) -> Vec<&'t str> {
        const THIN: [&str; 3] = ["\u{a0}", "\u{202f}", "\u{2009}"];
        let is_group = |token: &&Token<'_>| {
            let is_thin = THIN.contains(&token.gap);
            let is_whole = token.is_numeral && token.text.len() == 3 && token.digits(3).is_some();
            is_whole && (is_thin || token.gap == " " && token.text == "000")
        };
        let starts = self.token(at).is_some_and(|token| token.digits(3).is_some());
        let rest = self.tokens.get(at + 1..).unwrap_or_default();
        rest.iter()
            .take_while(is_group)
            .take(6)
            .filter(|_| starts)
            .map(|token| token.text)
            .collect()
    }

    /// Returns whether the numeral is negative, and whether a currency stands before it. Returns
    /// `None` if the characters before it make it a part of something else.
    fn sign(&self, at: usize, token: Token<'_>) -> Option<(bool, bool)> {
        let before = at.checked_sub(1).and_then(|before| self.token(before));
        let gap = token.gap.strip_suffix(CURRENCY_SIGNS).unwrap_or(token.gap);
        let is_money = gap.len() < token.gap.len();
        let signs = ['-', '\u{2212}'];
        let is_joined = |gap: &str| before.is_some() && gap.is_empty();
        if let Some(outer) = gap.strip_suffix(signs) {
            // In `order-5` and `2-5`, the hyphen is no sign.
            let outer = outer.strip_suffix(CURRENCY_SIGNS).unwrap_or(outer);
            return (!is_joined(outer)).then_some((true, is_money));
        }
        if is_joined(gap) {
            let currency = before.filter(|word| CURRENCY_CODES.iter().any(|code| word.is(code)));
            return (is_money || currency.is_some()).then_some((false, true));
        }
        let after_numeral = before.is_some_and(|token| token.is_numeral);
        let is_tied = match gap {
            ":" => after_numeral,
            // `100@20` is a price each.
            "@" => !after_numeral && !is_money,
            "'" | "’" => before.is_some(),
            _ => gap.ends_with(['/', '_', '@', '.', '\\']),
        };
        (!is_tied).then_some((false, is_money))
    }

    /// Returns the place after the numeral and its unit, and whether it is money. Returns `None` if
    /// the characters after the numeral make it a part of something else.
    fn unit(&self, at: usize, is_money: bool) -> Option<(usize, bool)> {
        let end = at + 1;
        let Some(next) = self.token(end) else { return Some((end, is_money)) };
        if next.gap.is_empty() {
            let is = |word: &&str| next.is(word);
            if CURRENCY_CODES.iter().chain(&CURRENCY_WORDS).any(is) {
                return Some((end + 1, true));
            }
            if UNITS.iter().chain(&COUNTS).any(is) {
                return Some((end + 1, is_money));
            }
            return self.scale(end).map(|_| (end, is_money));
        }
        let is_tied = match next.gap {
            _ if next.text.is_empty() => false,
            "-" | "/" | ":" => next.is_numeral,
            "@" => !next.is_numeral,
            "_" | "." | "\\" => true,
            _ => false,
        };
        let is_money = is_money
            || next.gap.trim_start().starts_with(CURRENCY_SIGNS)
            || self.is_word(end, &CURRENCY_WORDS)
            || self.is_word(end, &CURRENCY_CODES);
        (!is_tied).then_some((end, is_money))
    }

    /// Reads numerals in a list without blanks: `1,2,3`.
    fn listed(&self, at: usize) -> Vec<i64> {
        let Some(token) = self.token(at).filter(|token| token.is_numeral) else {
            return Vec::new();
        };
        let is_list = self.sign(at, token) == Some((false, false))
            && self.unit(at, false) == Some((at + 1, false))
            && token.text.matches(',').count() > 1
            && token.text.bytes().all(|b| b.is_ascii_digit() || b == b',');
        let pieces = token.text.split(',').filter(|_| is_list);
        pieces.filter_map(decimal::parse).collect()
    }
}

/// Returns a numeral as JSON writes it. Returns `None` for one that can be read in two ways.
fn plain(text: &str, is_money: bool) -> Option<String> {
    let thousands = |text: &str, mark: &[char]| {
        let mut groups = text.split(mark);
        let first = groups.next().is_some_and(|group| group.len() <= 3);
        (first && groups.all(|group| group.len() == 3)).then(|| text.replace(mark, ""))
    };
    let (points, commas) = (text.matches('.').count(), text.matches(',').count());
    match (points, commas) {
        (0 | 1, 0) if !text.contains(['\'', '’']) => Some(text.to_string()),
        // `1.250.000` and `1.250,50`.
        (2.., 0) => thousands(text, &['.']),
        (1.., 1) if text.rfind(',') > text.rfind('.') => {
            let (whole, fraction) = text.split_once(',')?;
            Some(format!("{}.{fraction}", thousands(whole, &['.'])?))
        }
        // `12,50`.
        (0, 1) if is_money && text.len() >= 3 && text.as_bytes()[text.len() - 3] == b',' => {
            Some(text.replace(',', "."))
        }
        (0 | 1, _) => {
            let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
            let is_fraction = fraction.bytes().all(|b| b.is_ascii_digit());
            let whole = thousands(whole, &[',', '\'', '’'])?;
            is_fraction.then(|| format!("{whole}.{fraction}"))
        }
        _ => None,
    }
}

/// Returns what a word multiplies by.
fn scale_of(word: &str) -> Option<Units> {
    match word.to_ascii_lowercase().as_str() {
        "dozen" => Some(12),
        "k" | "grand" | "thousand" | "thousands" => Some(THOUSAND),
        "mn" | "mio" | "mil" | "million" | "millions" => Some(MILLION),
        "bn" | "billion" | "billions" => Some(BILLION),
        _ => None,
    }
}

const TENS: [&str; 8] =
    ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

fn below_twenty(word: &str) -> Option<Units> {
    const WORDS: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    let at = WORDS.iter().position(|known| word.eq_ignore_ascii_case(known))?;
    Some(at as Units)
}

const CURRENCY_SIGNS: [char; 7] = ['$', '€', '£', '¥', '₹', '₩', '₿'];

/// The words of money that may stand beside a number, with a blank or without one.
const CURRENCY_WORDS: [&str; 9] =
    ["dollars", "dollar", "bucks", "buck", "euros", "euro", "pounds", "francs", "rupees"];

/// The codes of currencies that may touch a number on either side.
const CURRENCY_CODES: [&str; 12] =
    ["usd", "eur", "gbp", "chf", "jpy", "cny", "rmb", "inr", "cad", "aud", "us", "rs"];

/// The words that may touch a count.
const COUNTS: [&str; 8] = ["x", "shares", "sh", "pcs", "gal", "gallons", "l", "pct"];
