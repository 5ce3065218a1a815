//! The fingerprint of a call.

use guard_plan::hex;
use guard_plan::json::Json;
use sha2::{Digest, Sha256};

/// Returns a text that is the same for the same call: tool and arguments, whatever their order and
/// whitespace.
pub(crate) fn fingerprint(tool: &str, args: &str) -> String {
    let mut canonical = String::new();
    match Json::parse(args) {
        Ok(json) => json.sorted().write(&mut canonical),
        Err(_) => canonical.push_str(args),
    }
    let mut hash = Sha256::new();
    hash.update(tool.as_bytes());
    // The separator keeps the tool `ab` with `c` apart from the tool `a` with `bc`.
    hash.update([0]);
    hash.update(canonical.as_bytes());
    hex::encode(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::fingerprint;

    #[test]
    fn one_call_has_one_fingerprint() {
        let first = fingerprint("Bash", r#"{"a": 1, "b": {"d": 1, "c": 2}}"#);
        assert_eq!(first, fingerprint("Bash", r#"{"b":{"c":2,"d":1},"a":1}"#));
        assert_ne!(first, fingerprint("Bash", r#"{"b":{"c":2,"d":1},"a":2}"#));
        assert_ne!(first, fingerprint("Bashb", r#"{"b":{"c":2,"d":1},"a":1}"#));
    }
}
