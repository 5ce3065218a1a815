//! Literals: the values of numbers, durations, sizes and typed texts.

use guard_plan::value::DECIMAL_ONE;

pub(crate) use guard_plan::time::read_duration as duration;

/// Returns the value of `1MiB` in bytes; `None` if it is a plain number.
pub(crate) fn size(text: &str) -> Result<Option<u64>, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let scale: u64 = match unit {
        "" => return Ok(None),
        _ if unit.starts_with('.') => return Err("is not a whole number".into()),
        "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => {
            return Err(format!("has the unknown unit `{unit}`; the units are B, KiB, MiB, GiB"));
        }
    };
    let number: u64 = number.parse().map_err(|_| "is too large".to_string())?;
    number.checked_mul(scale).map(Some).ok_or_else(|| "is too large".into())
}

/// Returns the value of `50.00` in units of 10⁻⁶.
pub(crate) fn decimal(text: &str) -> Result<i64, String> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 6 {
        return Err("has more than six decimal places".into());
    }
    let too_large = "does not fit a decimal, which is less than 9.2 million million";
    // 128 bits hold every intermediate value, because the smallest decimal has no positive
    // counterpart.
    let whole: i128 = whole.parse().map_err(|_| too_large.to_string())?;
    let micros: i128 =
        if fraction.is_empty() { 0 } else { format!("{fraction:0<6}").parse().unwrap_or(0) };
    let value = whole
        .checked_mul(i128::from(DECIMAL_ONE))
        .and_then(|w| w.checked_add(micros))
        .ok_or(too_large)?;
    i64::try_from(if negative { -value } else { value }).map_err(|_| too_large.into())
}

/// Returns the value of `5`.
pub(crate) fn int(text: &str) -> Result<i64, String> {
    if text.contains('.') {
        return Err("is not an int: it has a fraction".into());
    }
    text.parse().map_err(|_| "does not fit 64 bits".into())
}

#[cfg(test)]
mod tests {
    use super::{decimal, duration, size};

    fn check<T: std::fmt::Debug>(got: Result<T, String>, expected: &str) {
        let got = got.map_or_else(|e| format!("error: {e}"), |v| format!("{v:?}"));
        assert_eq!(got, expected);
    }

    #[test]
    fn literals() {
        check(duration("1h30m"), "5400000");
        check(duration("250ms"), "250");
        check(duration("30m1h"), "error: must have larger units first, each once");
        check(duration("3y"), "error: has the unknown unit `y`; the units are w, d, h, m, s, ms");
        check(duration("99999999999999999999s"), "error: is too large");
        check(size("1MiB"), "Some(1048576)");
        check(size("7"), "None");
        check(decimal("50.00"), "50000000");
        check(decimal("-0.1"), "-100000");
        check(decimal("0.1234567"), "error: has more than six decimal places");
        check(
            decimal("9300000000000"),
            "error: does not fit a decimal, which is less than 9.2 million million",
        );
    }
}
