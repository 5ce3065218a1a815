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

/// Returns one spelling for all texts of a number. An exponent that is too large to compute with
/// stays as it is written.
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
    let point = i64::try_from(zeros).ok().zip(i64::try_from(fraction.len()).ok());
    let power = exponent.parse::<i64>().ok().zip(point);
    match power.and_then(|(power, (zeros, places))| power.checked_add(zeros)?.checked_sub(places)) {
        Some(power) => format!("{sign}{kept}e{power}"),
        None => text.to_owned(),
    }
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
            (&["1e99999999999999999999"], "1e99999999999999999999"),
        ] {
            for text in texts {
                assert_eq!(normal(text), expected, "{text}");
            }
        }
    }
}
