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
        Json::parse(text).map_err(|error| error.to_string())?;
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
