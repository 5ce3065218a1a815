//! The comparison of JSON numbers by value: `1`, `1.0` and `1e0` are the same number in three
//! spellings.

use super::Json;

impl Json {
    /// Returns the same JSON with every number in one spelling: its digits without zeros at either
    /// end, and a power of ten. Two normalised values are equal if their texts and structure are
    /// equal, and their numbers are equal by value.
    pub fn normalised(&self) -> Json {
        match self {
            Json::Int(number) => Json::Number(normal(&number.to_string()).into()),
            Json::Number(text) => Json::Number(normal(text).into()),
            Json::Array(items) => Json::Array(items.iter().map(Json::normalised).collect()),
            Json::Object(members) => Json::Object(
                members.iter().map(|(name, json)| (name.clone(), json.normalised())).collect(),
            ),
            other => other.clone(),
        }
    }
}

/// Returns one spelling for all texts of a number.
fn normal(text: &str) -> String {
    let (sign, plain) = text.strip_prefix('-').map_or(("", text), |plain| ("-", plain));
    let (mantissa, exponent) = plain.split_once(['e', 'E']).unwrap_or((plain, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let kept = digits.trim_start_matches('0').trim_end_matches('0');
    if kept.is_empty() {
        return "0".into();
    }
    let zeros = digits.len() - digits.trim_end_matches('0').len();
    // INVARIANT: lengths of texts in memory fit an i64.
    let shift = zeros as i64 - fraction.len() as i64;
    format!("{sign}{kept}e{}", sum(exponent, shift))
}

/// Returns the sum of an integer of any length, as JSON writes exponents, and a number. An exponent
/// beyond 64 bits is still a number: otherwise two of its spellings would count as two calls.
fn sum(exponent: &str, shift: i64) -> String {
    if let Some(sum) = exponent.parse::<i64>().ok().and_then(|power| power.checked_add(shift)) {
        return sum.to_string();
    }
    let (sign, magnitude) = match exponent.strip_prefix('-') {
        Some(magnitude) => ("-", magnitude),
        None => ("", exponent.strip_prefix('+').unwrap_or(exponent)),
    };
    // The magnitude is so much larger than the shift that the sign stays.
    let mut carry = if sign == "-" { -i128::from(shift) } else { i128::from(shift) };
    let mut reversed = String::with_capacity(magnitude.len() + 1);
    for digit in magnitude.trim_start_matches('0').bytes().rev() {
        carry += i128::from(digit - b'0');
        reversed.push(char::from(b'0' + carry.rem_euclid(10) as u8));
        carry = carry.div_euclid(10);
    }
    if carry > 0 {
        reversed.extend(carry.to_string().chars().rev());
    }
    let digits: String = reversed.chars().rev().collect();
    format!("{sign}{}", digits.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::normal;

    #[test]
    fn spellings_of_one_number() {
        for (texts, expected) in [
            (&["1", "1.0", "1e0", "1E+0", "10e-1", "0.1e1", "100e-2"][..], "1e0"),
            (&["0", "-0", "0.0", "0e5", "-0.00E-9"], "0"),
            (&["-1200", "-1.2e3", "-12E2"], "-12e2"),
            (&["0.001", "1e-3"], "1e-3"),
            (
                &[
                    "1e99999999999999999999",
                    "10e+99999999999999999998",
                    "0.1e0100000000000000000000",
                ],
                "1e99999999999999999999",
            ),
            (
                &["1e-99999999999999999999", "0.001e-99999999999999999996"],
                "1e-99999999999999999999",
            ),
            (&["1e9223372036854775808", "10e9223372036854775807"], "1e9223372036854775808"),
            (&["1e-9223372036854775809", "0.1e-9223372036854775808"], "1e-9223372036854775809"),
            (&["1e9223372036854775807", "0.1e9223372036854775808"], "1e9223372036854775807"),
        ] {
            for text in texts {
                assert_eq!(normal(text), expected, "{text}");
            }
        }
    }
}
