//! JSON Schemas from elsewhere as the shape of a contract's items (semantics §14).
//!
//! A leaf: it knows contracts' trait and the `jsonschema` crate, and nothing else. Nothing is fetched from anywhere, and
//! patterns are matched in linear time; a schema that needs either otherwise is refused when it is made ready.

use guard_contract::{Schema, Schemas};
use guard_plan::json::Json;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// The maximum size of a compiled pattern, in bytes.
const PATTERN_SIZE: usize = 1 << 20;
/// The maximum number of errors that are reported for one value.
const TOLD: usize = 3;

/// Makes JSON Schemas ready, of any draft that `jsonschema` knows; 2020-12 where a schema says none.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonSchemas;

impl Schemas for JsonSchemas {
    fn prepare(&self, _file: &str, text: &str) -> Result<Box<dyn Schema>, String> {
        // Read strictly first: a key that occurs twice would be read by some as one and by others as the other.
        let exact = Json::parse(text).map_err(|error| error.to_string())?;
        check_numbers(&exact)?;
        let schema: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let patterns =
            PatternOptions::regex().size_limit(PATTERN_SIZE).dfa_size_limit(PATTERN_SIZE);
        let options = jsonschema::options().offline().with_pattern_options(patterns);
        let validator = options.build(&schema).map_err(|error| error.to_string())?;
        Ok(Box::new(PreparedSchema(validator)))
    }
}

struct PreparedSchema(Validator);

impl Schema for PreparedSchema {
    fn check(&self, value: &Json) -> Result<(), String> {
        check_numbers(value)?;
        let value: Value = serde_json::from_str(&value.to_string())
            .map_err(|error| format!("a number that cannot be compared: {error}"))?;
        if self.0.is_valid(&value) {
            return Ok(());
        }
        let told = self.0.iter_errors(&value).take(TOLD).map(|error| {
            let place = error.instance_path().to_string();
            if place.is_empty() { error.to_string() } else { format!("`{place}`: {error}") }
        });
        Err(told.collect::<Vec<_>>().join("; "))
    }
}

/// Refuses numbers that a comparison would round: a value just beyond a bound would equal it.
fn check_numbers(value: &Json) -> Result<(), String> {
    match value {
        Json::Number(text) if !is_comparable(text) => {
            Err(format!("a number that cannot be compared exactly: {text}"))
        }
        Json::Array(items) => items.iter().try_for_each(check_numbers),
        Json::Object(members) => members.iter().try_for_each(|(_, member)| check_numbers(member)),
        _ => Ok(()),
    }
}

/// Returns true if a number is a 64-bit integer, or the shortest form of a binary number has the
/// same value. Different numbers of this kind stay different and in order.
fn is_comparable(text: &str) -> bool {
    let is_integer = text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok();
    let is_kept = |rounded: f64| {
        let exact = decimal_parts(text);
        exact.is_some() && exact == decimal_parts(&format!("{rounded:e}"))
    };
    is_integer || text.parse::<f64>().is_ok_and(is_kept)
}

/// Returns the sign, the digits and the exponent of a number, the same for each of its forms.
fn decimal_parts(text: &str) -> Option<(bool, String, i64)> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let is_negative = mantissa.starts_with('-');
    let magnitude = mantissa.trim_start_matches('-');
    let (whole, fraction) = magnitude.split_once('.').unwrap_or((magnitude, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some((false, String::new(), 0));
    }
    let dropped = i64::try_from(digits.len() - significant.len()).ok()?;
    let places = i64::try_from(fraction.len()).ok()?;
    let exponent = exponent.parse::<i64>().ok()?.checked_sub(places)?.checked_add(dropped)?;
    Some((is_negative, significant.to_owned(), exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepare(text: &str) -> Result<Box<dyn Schema>, String> {
        JsonSchemas.prepare("test.schema.json", text)
    }

    fn check(schema: &str, value: &str) -> Result<(), String> {
        let value = Json::parse(value).expect("it is JSON");
        prepare(schema).expect("it can be made ready").check(&value)
    }

    const FINDING: &str = r##"{
        "$defs": {"severity": {"enum": ["low", "high"]}},
        "type": "object", "required": ["id"], "additionalProperties": false,
        "properties": {"id": {"type": "string", "pattern": "^[a-z]+$"}, "severity": {"$ref": "#/$defs/severity"}}
    }"##;

    #[test]
    fn values_are_judged() {
        assert_eq!(check(FINDING, r#"{"id": "a", "severity": "low"}"#), Ok(()));
        let error = check(FINDING, r#"{"id": "A", "severity": "none"}"#).expect_err("it is wrong");
        assert!(error.contains("`/id`") && error.contains("`/severity`"), "{error}");
        assert!(check(FINDING, "{}").is_err());
        assert!(check("{\"type\": \"number\"}", "1e999").is_err());
    }

    #[test]
    fn numbers_are_compared_as_written() {
        for (schema, accepted, refused) in [
            (
                r#"{"maximum": 100}"#,
                &["100", "100.0", "1e2", "1000e-1", "-1E+2", "99.99999999999999"][..],
                &["100.00000000000000001", "101", "1e-99999999999999999999"][..],
            ),
            (
                r#"{"minimum": 0}"#,
                &["0", "-0.0", "0e99999999999999999999", "1e-300", "18446744073709551615"],
                &["-1e-400", "1e-400", "1e999", "18446744073709551616", "-1"],
            ),
            (
                r#"{"multipleOf": 0.01}"#,
                &["0.01", "0.010", "12.5"],
                &["0.010000000000000000001", "0.011"],
            ),
            (
                r#"{"properties": {"a": {"items": {"const": 0.3}}}}"#,
                &[r#"{"a": [0.3, 3e-1]}"#],
                &[r#"{"a": [0.30000000000000001]}"#],
            ),
            (
                r#"{"exclusiveMinimum": 9007199254740992}"#,
                &["9007199254740993"],
                &["9007199254740992"],
            ),
        ] {
            for value in accepted {
                assert_eq!(check(schema, value), Ok(()), "{schema} {value}");
            }
            for value in refused {
                assert!(check(schema, value).is_err(), "{schema} {value}");
            }
        }
        assert!(prepare(r#"{"maximum": 0.30000000000000001}"#).is_err());
    }

    #[test]
    fn the_draft_decides_about_formats() {
        for (draft, is_checked) in [
            ("http://json-schema.org/draft-07/schema#", true),
            ("https://json-schema.org/draft/2020-12/schema", false),
        ] {
            let schema = format!(r#"{{"$schema": "{draft}", "format": "ipv4"}}"#);
            assert_eq!(check(&schema, r#""x""#).is_err(), is_checked, "{draft}");
        }
    }

    #[test]
    fn what_is_no_schema_is_refused() {
        for text in ["", "{", "[]", "{\"type\": 1}", "{\"type\": \"object\", \"type\": \"array\"}"]
        {
            assert!(prepare(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nothing_is_fetched_and_patterns_are_linear() {
        assert!(prepare(r#"{"$ref": "https://example.com/other.json"}"#).is_err());
        assert!(prepare(r#"{"$ref": "file:///etc/passwd"}"#).is_err());
        assert!(prepare(r#"{"type": "string", "pattern": "^(a+)\\1$"}"#).is_err());
        assert!(prepare(r#"{"type": "string", "pattern": "^(?=a)"}"#).is_err());
        let slow = format!("\"{}b\"", "a".repeat(100_000));
        assert!(check(r#"{"pattern": "^(a+)+$"}"#, &slow).is_err());
    }
}
