//! Keys of maps that are not strings. Each bool, int and variant has exactly one text, which is the
//! key in the map.

use crate::plan::{TypeDef, TypeId};
use crate::value::Value;

/// Returns the text of a key: `true`, `-5`, or the name of a variant. Returns `None` for a value
/// that is not of the type.
pub fn text(types: &[TypeDef], ty: TypeId, key: &Value) -> Option<Box<str>> {
    match (types.get(ty as usize)?, key) {
        (TypeDef::Bool, Value::Bool(truth)) => Some(if *truth { "true" } else { "false" }.into()),
        (TypeDef::Int { .. }, Value::Int(number)) => Some(number.to_string().into()),
        (TypeDef::Enum { variants, .. }, Value::Enum(at)) => {
            variants.get(*at as usize).map(|name| name.as_str().into())
        }
        _ => None,
    }
}

/// Returns the key with this text. Returns `None` for a text that no key has, such as `05`.
pub fn value(types: &[TypeDef], ty: TypeId, text: &str) -> Option<Value> {
    match types.get(ty as usize)? {
        TypeDef::Bool => match text {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        TypeDef::Int { .. } => {
            let number: i64 = text.parse().ok()?;
            (number.to_string() == text).then_some(Value::Int(number))
        }
        TypeDef::Enum { variants, .. } => {
            let at = variants.iter().position(|name| name == text)?;
            u32::try_from(at).ok().map(Value::Enum)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_one_text() {
        let variants = vec!["small".to_owned(), "very large".to_owned()];
        let types = [
            TypeDef::Bool,
            TypeDef::Int { min: None, max: None },
            TypeDef::Enum { name: "Size".into(), variants },
            TypeDef::Path,
        ];
        let keys = [
            (0, Value::Bool(true), "true"),
            (0, Value::Bool(false), "false"),
            (1, Value::Int(0), "0"),
            (1, Value::Int(i64::MIN), "-9223372036854775808"),
            (2, Value::Enum(1), "very large"),
        ];
        for (ty, key, expected) in keys {
            assert_eq!(text(&types, ty, &key).as_deref(), Some(expected));
            assert_eq!(value(&types, ty, expected), Some(key));
        }
        for (ty, other) in [(0, "True"), (0, ""), (1, "+1"), (1, "01"), (1, "-0"), (1, "1.0")] {
            assert_eq!(value(&types, ty, other), None, "{other}");
        }
        for (ty, other) in [(1, "9223372036854775808"), (2, "medium"), (3, "a"), (9, "a")] {
            assert_eq!(value(&types, ty, other), None, "{other}");
        }
        assert_eq!(text(&types, 2, &Value::Enum(2)), None);
        assert_eq!(text(&types, 1, &Value::Bool(true)), None);
    }
}
