//! The parts of a phrase, and the numbers that they give: `two million three hundred thousand and
//! five`.

use super::scales::{DOZEN, ONE, Units};

/// A part of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberPart {
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

/// Reads the numbers of a phrase. Returns `None` if a part of it is not understood.
pub(super) fn numbers(parts: &[NumberPart]) -> Option<Vec<Units>> {
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
