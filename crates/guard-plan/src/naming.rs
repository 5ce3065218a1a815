//! Arguments of a call under names that a guard can declare.

use crate::json::Json;

/// Words that are not names in a guard.
const RESERVED: [&str; 20] = [
    "and", "or", "not", "implies", "in", "is", "if", "then", "else", "true", "false", "none",
    "all", "any", "contains", "matches", "within", "since", "known", "once",
];

/// Renames the parameters of a call whose names a guard cannot declare: each other character becomes `_` (`-n` is
/// `_n`). All else stays exactly as the agent wrote it.
///
/// # Errors
///
/// Returns an error if two parameters would have the same name.
pub fn named_arguments(text: &str) -> Result<String, String> {
    // Text that cannot be read is a verdict of the kernel.
    let Ok(json) = Json::parse(text) else { return Ok(text.to_owned()) };
    match renamed(&json)? {
        Some(json) => Ok(json.to_string()),
        None => Ok(text.to_owned()),
    }
}

/// Returns the arguments with names that a guard can declare; `None` if they have such names already.
///
/// # Errors
///
/// Returns an error if two parameters would have the same name.
pub fn renamed(args: &Json) -> Result<Option<Json>, String> {
    let Json::Object(members) = args else { return Ok(None) };
    if members.iter().all(|(name, _)| is_name(name)) {
        return Ok(None);
    }
    let mut renamed: Vec<(Box<str>, Json)> = Vec::with_capacity(members.len());
    for (name, value) in members {
        let name = to_name(name);
        if renamed.iter().any(|(known, _)| **known == *name) {
            return Err(format!("two arguments would be called `{name}`"));
        }
        renamed.push((name.into(), value.clone()));
    }
    Ok(Some(Json::Object(renamed)))
}

/// Returns true if a guard can declare a parameter with this name.
pub fn is_name(name: &str) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    plain && !name.is_empty() && !name.as_bytes()[0].is_ascii_digit() && !RESERVED.contains(&name)
}

/// Returns the name under which a guard declares a parameter.
pub fn to_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let plain: String = name.chars().map(plain).collect();
    if is_name(&plain) { plain } else { format!("_{plain}") }
}

#[cfg(test)]
mod tests {
    use super::named_arguments as named;

    #[test]
    fn names_that_a_guard_cannot_declare() {
        assert_eq!(named(r#"{"-n": true, "path": "x"}"#).unwrap(), r#"{"_n":true,"path":"x"}"#);
        assert_eq!(named(r#"{"in": 1, "1st": 2}"#).unwrap(), r#"{"_in":1,"_1st":2}"#);
        assert_eq!(named(r#"{"a": 5.0 }"#).unwrap(), r#"{"a": 5.0 }"#);
        assert!(named(r#"{"-n": 1, "_n": 2}"#).is_err());
        assert_eq!(named(r#"{"-n": 1, "-n": 2}"#).unwrap(), r#"{"-n": 1, "-n": 2}"#);
    }
}
