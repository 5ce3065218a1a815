//! Instants and durations as text: RFC 3339, simple formats, the language's notation, plain
//! English.
//!
//! All values are in milliseconds, in UTC, on the proleptic Gregorian calendar. This module does
//! not read a clock.

use crate::words::count;
use std::fmt::Write as _;

/// The length of an hour, in milliseconds.
pub const HOUR: i64 = 3_600_000;

/// The length of a day, in milliseconds.
pub const DAY: i64 = 24 * HOUR;

/// The units of the duration notation, in ascending order.
const UNITS: [(&str, i64); 6] =
    [("ms", 1), ("s", 1000), ("m", 60_000), ("h", HOUR), ("d", DAY), ("w", 7 * DAY)];

/// A date and a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Civil {
    /// The year, for instance 2026.
    pub year: i64,
    /// The month, 1 to 12.
    pub month: i64,
    /// The day, 1 to 31.
    pub day: i64,
    /// The hour, 0 to 23.
    pub hour: i64,
    /// The minute, 0 to 59.
    pub minute: i64,
    /// The second, 0 to 59.
    pub second: i64,
    /// The millisecond, 0 to 999.
    pub millisecond: i64,
}

impl Civil {
    /// Returns the date and time at an instant.
    pub fn from_millis(time: i64) -> Civil {
        let days = time.div_euclid(DAY);
        let rest = time.rem_euclid(DAY);
        // Eras of 400 years start on 1 March, so that the leap day is the last day of its year.
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let march_month = (5 * of_year + 2) / 153;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        Civil {
            year: year + era * 400 + i64::from(month <= 2),
            month,
            day: of_year - (153 * march_month + 2) / 5 + 1,
            hour: rest / HOUR,
            minute: rest / 60_000 % 60,
            second: rest / 1000 % 60,
            millisecond: rest % 1000,
        }
    }

    /// Returns the instant; `None` if the fields are out of range.
    pub fn to_millis(self) -> Option<i64> {
        let valid = (0..=9999).contains(&self.year)
            && (1..=12).contains(&self.month)
            && (1..=days_in_month(self.year, self.month)).contains(&self.day)
            && (0..24).contains(&self.hour)
            && (0..60).contains(&self.minute)
            && (0..60).contains(&self.second)
            && (0..1000).contains(&self.millisecond);
        if !valid {
            return None;
        }
        let year = self.year - i64::from(self.month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let march_month = if self.month > 2 { self.month - 3 } else { self.month + 9 };
        let of_year = (153 * march_month + 2) / 5 + self.day - 1;
        let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
        let days = era * 146_097 + of_era - 719_468;
        let seconds = self.hour * 3600 + self.minute * 60 + self.second;
        Some(days * DAY + seconds * 1000 + self.millisecond)
    }
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Returns the day of the week, 0 for Monday.
pub fn weekday(time: i64) -> u32 {
    (time.div_euclid(DAY) + 3).rem_euclid(7) as u32
}

struct TimeScanner<'a>(&'a [u8]);

impl TimeScanner<'_> {
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        digits.iter().try_fold(0, |number, byte| {
            byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
        })
    }

    fn one_of(&mut self, bytes: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        bytes.contains(first).then(|| self.0 = rest)?;
        Some(*first)
    }

    /// Parses `Z`, `+hh:mm` or `+hhmm`, in milliseconds.
    fn offset(&mut self) -> Option<i64> {
        let sign = match self.one_of(b"Zz+-")? {
            b'+' => 1,
            b'-' => -1,
            _ => return Some(0),
        };
        let hours = self.digits(2)?;
        let _ = self.one_of(b":");
        let minutes = self.digits(2)?;
        (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60_000)
    }

    /// Parses the digits after a decimal point, in milliseconds; further digits are truncated.
    fn fraction(&mut self) -> Option<i64> {
        let length = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at(length);
        self.0 = rest;
        let place = |i: usize| digits.get(i).map_or(0, |byte| i64::from(byte - b'0'));
        (length > 0).then(|| place(0) * 100 + place(1) * 10 + place(2))
    }
}

/// Parses `Z`, `+hh:mm` or `-hh:mm`; returns minutes to the east of UTC.
pub fn parse_offset(text: &str) -> Option<i16> {
    let mut scan = TimeScanner(text.as_bytes());
    let offset = scan.offset()?;
    let whole = scan.0.is_empty() && (text == "Z" || text.as_bytes().get(3) == Some(&b':'));
    whole.then_some((offset / 60_000) as i16)
}

/// Parses RFC 3339 with its offset, to the millisecond. A leap second equals the following second.
pub fn parse_rfc3339(text: &str) -> Option<i64> {
    parse_rfc3339_at(text, None)
}

/// Parses like [`parse_rfc3339`]. A text without an offset has this offset, in milliseconds.
pub fn parse_rfc3339_at(text: &str, offset: Option<i64>) -> Option<i64> {
    let mut scan = TimeScanner(text.as_bytes());
    let year = scan.digits(4)?;
    scan.one_of(b"-")?;
    let month = scan.digits(2)?;
    scan.one_of(b"-")?;
    let day = scan.digits(2)?;
    scan.one_of(b"Tt ")?;
    let hour = scan.digits(2)?;
    scan.one_of(b":")?;
    let minute = scan.digits(2)?;
    scan.one_of(b":")?;
    let second = scan.digits(2)?;
    let millisecond = if scan.one_of(b".").is_some() { scan.fraction()? } else { 0 };
    // RFC 3339 requires a colon in the offset, and `+0100` without one has five characters.
    let colon = scan.0.len() != 5;
    let offset = match offset {
        Some(offset) if scan.0.is_empty() => offset,
        _ => scan.offset()?,
    };
    let leap = i64::from(second == 60);
    let civil = Civil { year, month, day, hour, minute, second: second - leap, millisecond };
    (scan.0.is_empty() && colon).then(|| civil.to_millis())?.map(|t| t + leap * 1000 - offset)
}

/// Formats an instant as RFC 3339 in UTC, with milliseconds only if they are not zero.
pub fn format_rfc3339(time: i64) -> String {
    let mut out = String::with_capacity(24);
    write_rfc3339(time, &mut out);
    out
}

/// The instants that a record can hold, in milliseconds since 1970: RFC 3339 has the years 0 to 9999.
pub const RECORDED: std::ops::RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;

/// Appends an instant as RFC 3339 in UTC.
pub fn write_rfc3339(time: i64, out: &mut String) {
    let at = Civil::from_millis(time);
    push_year(out, at.year);
    for (lead, number) in
        [('-', at.month), ('-', at.day), ('T', at.hour), (':', at.minute), (':', at.second)]
    {
        out.push(lead);
        push_digits(out, number, 2);
    }
    if at.millisecond != 0 {
        out.push('.');
        push_digits(out, at.millisecond, 3);
    }
    out.push('Z');
}

fn push_digits(out: &mut String, number: i64, places: usize) {
    // Callers request at most four digits; longer years have a function of their own.
    let mut digits = [b'0'; 4];
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit += (rest % 10).unsigned_abs() as u8;
        rest /= 10;
    }
    // INVARIANT: digits are ASCII.
    out.push_str(std::str::from_utf8(&digits[4 - places..]).expect("digits are text"));
}

/// Appends a year: four digits, or a sign and all digits outside of the years 0 to 9999.
fn push_year(out: &mut String, year: i64) {
    if (0..=9999).contains(&year) {
        push_digits(out, year, 4);
    } else {
        let _ = write!(out, "{year:+}");
    }
}

/// Returns true if a format contains only `%Y %m %d %H %M %S %z %%` and text, contains at least the
/// date, and contains no field twice.
pub fn valid_format(format: &str) -> bool {
    let mut seen = Vec::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            continue;
        }
        match chars.next() {
            Some('%') => {}
            Some(c @ ('Y' | 'm' | 'd' | 'H' | 'M' | 'S' | 'z')) if !seen.contains(&c) => {
                seen.push(c)
            }
            _ => return false,
        }
    }
    ['Y', 'm', 'd'].iter().all(|c| seen.contains(c))
}

/// Parses an instant in a format. Missing fields are zero, and the default offset is UTC.
pub fn parse_format(format: &str, text: &str) -> Option<i64> {
    parse_format_at(format, text, 0)
}

/// Parses like [`parse_format`], with another default offset, in milliseconds.
pub fn parse_format_at(format: &str, text: &str, mut offset: i64) -> Option<i64> {
    let mut scan = TimeScanner(text.as_bytes());
    let mut civil =
        Civil { year: 0, month: 1, day: 1, hour: 0, minute: 0, second: 0, millisecond: 0 };
    let mut bytes = format.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            scan.one_of(&[byte])?;
            continue;
        }
        match bytes.next()? {
            b'Y' => civil.year = scan.digits(4)?,
            b'm' => civil.month = scan.digits(2)?,
            b'd' => civil.day = scan.digits(2)?,
            b'H' => civil.hour = scan.digits(2)?,
            b'M' => civil.minute = scan.digits(2)?,
            b'S' => civil.second = scan.digits(2)?,
            b'z' => offset = scan.offset()?,
            b'%' => _ = scan.one_of(b"%")?,
            _ => return None,
        }
    }
    if scan.0.is_empty() { civil.to_millis().map(|time| time - offset) } else { None }
}

/// Formats an instant in a format, in UTC.
pub fn format_with(format: &str, time: i64) -> String {
    let at = Civil::from_millis(time);
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('Y') => push_year(&mut out, at.year),
            Some('m') => push_digits(&mut out, at.month, 2),
            Some('d') => push_digits(&mut out, at.day, 2),
            Some('H') => push_digits(&mut out, at.hour, 2),
            Some('M') => push_digits(&mut out, at.minute, 2),
            Some('S') => push_digits(&mut out, at.second, 2),
            Some('z') => out.push('Z'),
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

/// Parses the language's notation: digits and a unit, units descending and distinct (`1h30m`).
pub fn parse_duration(text: &str) -> Option<i64> {
    read_duration(text).ok()
}

/// Parses a duration that is longer than zero, for a timer.
pub fn parse_span(text: &str) -> Option<std::time::Duration> {
    let millis = u64::try_from(parse_duration(text)?).ok()?;
    (millis > 0).then(|| std::time::Duration::from_millis(millis))
}

/// Parses like [`parse_duration`], and reports what is wrong with the text.
///
/// ```
/// assert_eq!(guard_plan::time::read_duration("1h30m"), Ok(5_400_000));
/// let error = guard_plan::time::read_duration("5q").unwrap_err();
/// assert_eq!(error, "has the unknown unit `q`; the units are w, d, h, m, s, ms");
/// ```
///
/// # Errors
///
/// The problem, as the end of a sentence about the text.
pub fn read_duration(text: &str) -> Result<i64, String> {
    let mut rest = text;
    let mut total: i64 = 0;
    let mut bound = i64::MAX;
    // An empty text enters the loop once, which reports the missing unit.
    while !rest.is_empty() || bound == i64::MAX {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let letters = rest[digits..].bytes().take_while(u8::is_ascii_alphabetic).count();
        let unit = &rest[digits..digits + letters];
        if unit.is_empty() {
            return Err("needs a unit: w, d, h, m, s or ms".into());
        }
        let Some((_, size)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(format!("has the unknown unit `{unit}`; the units are w, d, h, m, s, ms"));
        };
        if *size >= bound {
            return Err("must have larger units first, each once".into());
        }
        if digits == 0 {
            return Err("needs a number".into());
        }
        let number: i64 = rest[..digits].parse().map_err(|_| "is too large".to_owned())?;
        let part = number.checked_mul(*size).ok_or("is too large")?;
        total = total.checked_add(part).ok_or("is too large")?;
        bound = *size;
        rest = &rest[digits + letters..];
    }
    Ok(total)
}

/// Formats a duration in plain English: `5 minutes`, `1 hour 30 minutes`, `250 milliseconds`.
pub fn describe_duration(millis: i64) -> String {
    const NAMES: [(&str, u64); 4] =
        [("day", DAY as u64), ("hour", HOUR as u64), ("minute", 60_000), ("second", 1000)];
    let mut rest = millis.unsigned_abs();
    let mut parts = Vec::new();
    for (name, size) in NAMES {
        if rest >= size {
            parts.push(count(rest / size, name));
            rest %= size;
        }
    }
    // Milliseconds are shown only in short durations.
    if rest > 0 && millis.unsigned_abs() < 60_000 {
        parts.push(count(rest, "millisecond"));
    }
    if parts.is_empty() {
        parts.push("0 seconds".into());
    }
    let sign = if millis < 0 { "minus " } else { "" };
    format!("{sign}{}", parts.join(" "))
}

/// Formats the largest unit and the next one, rounded down: `5 minutes`, `1 hour 30 minutes`.
pub fn speak_duration(millis: i64) -> String {
    const NAMES: [(&str, u64); 4] =
        [("day", DAY as u64), ("hour", HOUR as u64), ("minute", 60_000), ("second", 1000)];
    let size = millis.unsigned_abs();
    let Some(first) = NAMES.iter().position(|(_, part)| size >= *part) else {
        return "0 seconds".into();
    };
    let (name, part) = NAMES[first];
    let mut out = String::from(if millis < 0 { "minus " } else { "" });
    out.push_str(&count(size / part, name));
    if let Some((name, next)) = NAMES.get(first + 1)
        && size % part >= *next
    {
        out.push(' ');
        out.push_str(&count(size % part / next, name));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc3339() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2026-01-05T09:00:00.250+01:00", Some(1_767_600_000_250)),
            ("2000-02-29t12:00:00z", Some(951_825_600_000)),
            ("1969-12-31T23:59:59Z", Some(-1000)),
            ("2016-12-31T23:59:60Z", Some(1_483_228_800_000)),
            ("2026-02-29T00:00:00Z", None),
            ("2026-01-05T09:00:00", None),
            ("2026-01-05T09:00:00+0100", None),
            ("2026-01-05T24:00:00Z", None),
            ("2026-01-05T09:00:00.Z", None),
            ("2026-01-05T09:00:00Zx", None),
        ] {
            assert_eq!(parse_rfc3339(text), expected, "{text}");
        }
        for time in
            [0, 951_825_600_000, -1000, 1_767_600_000_250, *RECORDED.start(), *RECORDED.end()]
        {
            assert_eq!(parse_rfc3339(&format_rfc3339(time)), Some(time));
        }
        for time in [*RECORDED.start() - 1, *RECORDED.end() + 1] {
            assert_eq!(parse_rfc3339(&format_rfc3339(time)), None);
        }
        assert_eq!(weekday(1_767_600_000_250), 0);
    }

    #[test]
    fn formats() {
        let format = "%Y-%m-%d %H:%M:%S";
        assert_eq!(parse_format(format, "1970-01-02 00:00:01"), Some(DAY + 1000));
        assert_eq!(parse_format("%d.%m.%Y", "02.01.1970"), Some(DAY));
        assert_eq!(parse_format("%d.%m.%Y", "2.1.1970"), None);
        assert_eq!(parse_format("%Y%m%d%z", "19700102+0100"), Some(DAY - 3_600_000));
        assert_eq!(format_with(format, DAY + 1000), "1970-01-02 00:00:01");
        assert_eq!(format_with("%Y-%m-%d", 253_402_300_800_000), "+10000-01-01");
        assert!(valid_format(format));
        assert!(!valid_format("%Y-%m") && !valid_format("%Y%Y%m%d") && !valid_format("%Y%m%d%j"));
    }

    #[test]
    fn durations() {
        for (text, expected) in [
            ("1h30m", Some(5_400_000)),
            ("250ms", Some(250)),
            ("1w2d", Some(9 * DAY)),
            ("0s", Some(0)),
            ("", None),
            ("1", None),
            ("1m1h", None),
            ("1m1m", None),
            ("-1m", None),
            ("1h 30m", None),
            ("99999999999999999999w", None),
            ("1µ", None),
        ] {
            assert_eq!(parse_duration(text), expected, "{text}");
        }
        for (millis, expected) in [
            (0, "0 seconds"),
            (300_000, "5 minutes"),
            (5_400_000, "1 hour 30 minutes"),
            (1250, "1 second 250 milliseconds"),
            (60_001, "1 minute"),
            (-1000, "minus 1 second"),
            (DAY, "1 day"),
        ] {
            assert_eq!(describe_duration(millis), expected);
        }
    }

    #[test]
    fn durations_are_spoken() {
        let check = |millis, expected: &str| assert_eq!(speak_duration(millis), expected);
        check(300_000, "5 minutes");
        check(5_400_000, "1 hour 30 minutes");
        check(45_999, "45 seconds");
        check(3_605_000, "1 hour");
        check(90_061_000, "1 day 1 hour");
        check(999, "0 seconds");
        check(-60_000, "minus 1 minute");
        check(i64::MIN, "minus 106751991167 days 7 hours");
    }
}
