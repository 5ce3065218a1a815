//! The arguments of a call under names that a guard can declare, and a call's fingerprint.

use guard_plan::hex;
use guard_plan::json::Json;
use sha2::{Digest, Sha256};

/// Words that are no names in a guard.
const RESERVED: [&str; 20] = [
    "and", "or", "not", "implies", "in", "is", "if", "then", "else", "true", "false", "none",
    "all", "any", "contains", "matches", "within", "since", "known", "once",
];

/// The arguments as the guard reads them. A parameter whose name is no name in a guard gets one: each other character
/// becomes `_` (`-n` is `_n`). All else stays exactly as the agent wrote it.
///
/// # Errors
///
/// Returns an error if two parameters would have one name.
pub(crate) fn named(text: &str) -> Result<String, String> {
    // Text that cannot be read is a verdict of the kernel.
    let Ok(Json::Object(members)) = Json::parse(text) else { return Ok(text.to_owned()) };
    if members.iter().all(|(name, _)| is_name(name)) {
        return Ok(text.to_owned());
    }
    let mut renamed: Vec<(Box<str>, Json)> = Vec::with_capacity(members.len());
    for (name, value) in members {
        let name = to_name(&name);
        if renamed.iter().any(|(known, _)| **known == *name) {
            return Err(format!("two arguments would be called `{name}`"));
        }
        renamed.push((name.into(), value));
    }
    Ok(Json::Object(renamed).to_string())
}

fn is_name(name: &str) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    plain && !name.is_empty() && !name.as_bytes()[0].is_ascii_digit() && !RESERVED.contains(&name)
}

fn to_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let plain: String = name.chars().map(plain).collect();
    if is_name(&plain) { plain } else { format!("_{plain}") }
}

/// A text that is the same for the same call: tool and arguments, whatever their order and whitespace.
pub(crate) fn fingerprint(tool: &str, args: &str) -> String {
    let mut canonical = String::new();
    match Json::parse(args) {
        Ok(json) => json.sorted().write(&mut canonical),
        Err(_) => canonical.push_str(args),
    }
    let mut hash = Sha256::new();
    hash.update(tool.as_bytes());
    hash.update([0]);
    hash.update(canonical.as_bytes());
    hex::encode(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::{fingerprint, named};

    #[test]
    fn names_that_a_guard_cannot_declare() {
        assert_eq!(named(r#"{"-n": true, "path": "x"}"#).unwrap(), r#"{"_n":true,"path":"x"}"#);
        assert_eq!(named(r#"{"in": 1, "1st": 2}"#).unwrap(), r#"{"_in":1,"_1st":2}"#);
        assert_eq!(named(r#"{"a": 5.0 }"#).unwrap(), r#"{"a": 5.0 }"#);
        assert!(named(r#"{"-n": 1, "_n": 2}"#).is_err());
        assert_eq!(named(r#"{"-n": 1, "-n": 2}"#).unwrap(), r#"{"-n": 1, "-n": 2}"#);
    }

    #[test]
    fn one_call_has_one_fingerprint() {
        let first = fingerprint("Bash", r#"{"a": 1, "b": {"d": 1, "c": 2}}"#);
        assert_eq!(first, fingerprint("Bash", r#"{"b":{"c":2,"d":1},"a":1}"#));
        assert_ne!(first, fingerprint("Bash", r#"{"b":{"c":2,"d":1},"a":2}"#));
        assert_ne!(first, fingerprint("Bashb", r#"{"b":{"c":2,"d":1},"a":1}"#));
    }
}
