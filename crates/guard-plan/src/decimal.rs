//! Exact decimals: 64-bit integers in units of 10⁻⁶.

use crate::value::DECIMAL_ONE;

/// The number of decimal places.
pub const PLACES: i64 = 6;

/// Parses a JSON number, or a literal of the same form. Returns `None` unless the number is an
/// exact multiple of 10⁻⁶ in range.
pub fn parse(text: &str) -> Option<i64> {
    let Number { negative, whole, fraction, exponent } = Number::read(text)?;
    let digits = || whole.bytes().chain(fraction.bytes());
    // The value is `significant * 10^(exponent - fraction.len() + trailing)`, in units `+ PLACES`.
    let leading = digits().take_while(|byte| *byte == b'0').count();
    let total = whole.len() + fraction.len();
    if leading == total {
        return Some(0);
    }
    let trailing = digits().rev().take_while(|byte| *byte == b'0').count();
    let scale = exponent
        .checked_sub(fraction.len() as i64)?
        .checked_add(trailing as i64)?
        .checked_add(PLACES)?;
    // More than 19 digits do not fit 64 bits, and with this bound no step leaves 128 bits.
    if !(0..=19).contains(&scale) || total - leading - trailing > 19 {
        return None;
    }
    let mut units: i128 = 0;
    for digit in digits().skip(leading).take(total - leading - trailing) {
        units = units * 10 + i128::from(digit - b'0');
    }
    units *= 10_i128.pow(scale as u32);
    i64::try_from(if negative { -units } else { units }).ok()
}

/// Parses a number in the JSON notation, rounded half to even, and returns units of 10^-places.
/// Returns `None` for text that is not a number, and for numbers out of range.
pub fn half_even(text: &str, places: i64) -> Option<i64> {
    let Number { negative, whole, fraction, exponent } = Number::read(text)?;
    let digits = whole.bytes().chain(fraction.bytes());
    let digits: Vec<u8> = digits.skip_while(|digit| *digit == b'0').collect();
    if digits.is_empty() {
        return Some(0);
    }
    // The digits before the rounding position. After them are zeros, or digits that are dropped.
    let kept = exponent
        .checked_add(places)?
        .checked_add(digits.len() as i64)?
        .checked_sub(fraction.len() as i64)?;
    if kept > 19 {
        return None;
    }
    let kept_digits = usize::try_from(kept).unwrap_or(0);
    let digit = |at: usize| digits.get(at).map_or(0, |digit| i128::from(digit - b'0'));
    let units = (0..kept_digits).fold(0_i128, |units, at| units * 10 + digit(at));
    let rest = digits.get(kept_digits..).unwrap_or_default();
    let more = match rest.split_first() {
        // The first dropped digit is a zero before these.
        _ if kept < 0 => false,
        None | Some((b'0'..=b'4', _)) => false,
        Some((b'5', rest)) if rest.iter().all(|digit| *digit == b'0') => units % 2 == 1,
        Some(_) => true,
    };
    let units = units + i128::from(more);
    i64::try_from(if negative { -units } else { units }).ok()
}

/// The parts of a number in the JSON notation.
struct Number<'a> {
    negative: bool,
    /// The digits before the decimal point, at least one.
    whole: &'a str,
    /// The digits after the decimal point.
    fraction: &'a str,
    exponent: i64,
}

impl Number<'_> {
    fn read(text: &str) -> Option<Number<'_>> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], exponent(&text[at + 1..])?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits = whole.bytes().chain(fraction.bytes());
        let is_number = !whole.is_empty() && digits.all(|digit| digit.is_ascii_digit());
        is_number.then_some(Number { negative, whole, fraction, exponent })
    }
}

/// Parses an exponent. An exponent out of range saturates.
fn exponent(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // A quarter of the range leaves room for what the callers add.
    let size = digits.parse().unwrap_or(i64::MAX / 4);
    Some(if negative { -size } else { size }.clamp(-(i64::MAX / 4), i64::MAX / 4))
}

/// Formats a decimal as its shortest text: `12.5`, `3`, `-0.000001`.
pub fn format(units: i64) -> String {
    let size = units.unsigned_abs();
    let unit = DECIMAL_ONE.unsigned_abs();
    let sign = if units < 0 { "-" } else { "" };
    let mut text = format!("{sign}{}", size / unit);
    let fraction = size % unit;
    if fraction != 0 {
        let digits = format!("{fraction:06}");
        text.push('.');
        text.push_str(digits.trim_end_matches('0'));
    }
    text
}

/// Multiplies, rounding half to even. Returns `None` if the result does not fit 64 bits.
pub fn multiply(a: i64, b: i64) -> Option<i64> {
    divide_half_even(i128::from(a) * i128::from(b), i128::from(DECIMAL_ONE))
}

/// Divides, rounding half to even. Returns `None` for division by zero or if the result does not
/// fit 64 bits.
pub fn divide(a: i64, b: i64) -> Option<i64> {
    if b == 0 {
        return None;
    }
    divide_half_even(i128::from(a) * i128::from(DECIMAL_ONE), i128::from(b))
}

/// Rounds to the nearest int, halves to even.
pub fn round(units: i64) -> i64 {
    // A quotient by 10⁶ always fits.
    divide_half_even(i128::from(units), i128::from(DECIMAL_ONE)).unwrap_or_default()
}

/// Returns the greatest int that is not greater than the decimal.
pub fn floor(units: i64) -> i64 {
    units.div_euclid(DECIMAL_ONE)
}

fn divide_half_even(a: i128, b: i128) -> Option<i64> {
    let quotient = a / b;
    let remainder = a % b;
    let twice = remainder.unsigned_abs() * 2;
    let size = b.unsigned_abs();
    let away = twice > size || (twice == size && quotient % 2 != 0);
    let step = if (a < 0) == (b < 0) { 1 } else { -1 };
    i64::try_from(if away { quotient + step } else { quotient }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsing() {
        for (text, expected) in [
            ("1", Some(1_000_000)),
            ("-0.1", Some(-100_000)),
            ("0.0000010", Some(1)),
            ("0.0000001", None),
            ("1e-6", Some(1)),
            ("1.5E+2", Some(150_000_000)),
            ("1e-7", None),
            ("10e-7", Some(1)),
            ("0e999999999999999999999", Some(0)),
            ("1e999999999999999999999", None),
            ("9223372036854.775807", Some(i64::MAX)),
            ("-9223372036854.775808", Some(i64::MIN)),
            ("9223372036854.775808", None),
            ("", None),
            (".5", None),
            ("1e", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }

    #[test]
    fn rounding_is_half_to_even() {
        for (text, places, expected) in [
            ("0.30000000000000004", 6, Some(300_000)),
            ("19.999999999", 2, Some(2_000)),
            ("0.125", 2, Some(12)),
            ("0.135", 2, Some(14)),
            ("0.1250000000000000000000001", 2, Some(13)),
            ("-0.5", 0, Some(0)),
            ("-1.5", 0, Some(-2)),
            ("2.5", 0, Some(2)),
            ("0.05", 0, Some(0)),
            ("0.6", 0, Some(1)),
            ("9.5", 0, Some(10)),
            ("1.5e3", 2, Some(150_000)),
            ("1e-400", 6, Some(0)),
            ("7e-999999999999999999999", 6, Some(0)),
            ("1e400", 6, None),
            ("9223372036854775807.4", 0, Some(i64::MAX)),
            ("9223372036854775807.5", 0, None),
            ("-9223372036854775808.5", 0, Some(i64::MIN)),
            ("0e999999999999999999999", 6, Some(0)),
            ("000", 6, Some(0)),
            ("", 6, None),
            ("1.2.3", 6, None),
            ("NaN", 6, None),
        ] {
            assert_eq!(half_even(text, places), expected, "{text}");
        }
        // Rounds in the same way as a quotient.
        for units in -12_345..12_345 {
            let quotient = divide(units, 1_000 * DECIMAL_ONE);
            assert_eq!(half_even(&format(units), 3), quotient, "{units}");
        }
    }

    #[test]
    fn formatting() {
        for text in ["0", "12.5", "-0.000001", "-9223372036854.775808", "7"] {
            assert_eq!(parse(text).map(format).as_deref(), Some(text));
        }
    }

    #[test]
    fn rounding_is_half_even() {
        assert_eq!(multiply(500_000, 1), Some(0));
        assert_eq!(multiply(1_500_000, 1), Some(2));
        assert_eq!(multiply(-1_500_000, 1), Some(-2));
        assert_eq!(divide(1_000_000, 3_000_000), Some(333_333));
        assert_eq!(divide(5, 10_000_000), Some(0));
        assert_eq!(divide(15, 10_000_000), Some(2));
        assert_eq!(divide(1, 0), None);
        assert_eq!(divide(i64::MAX, 1), None);
        assert_eq!((round(2_500_000), round(-3_500_000), floor(-1)), (2, -4, -1));
    }
}
