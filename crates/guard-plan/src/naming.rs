//! Renaming of call arguments to names that a guard can declare.

use crate::json::Json;

/// Words that are not names in a guard.
const RESERVED: [&str; 25] = [
    "and",
    "or",
    "not",
    "implies",
    "in",
    "is",
    "if",
    "then",
    "else",
    "true",
    "false",
    "none",
    "all",
    "any",
    "contains",
    "matches",
    "within",
    "since",
    "known",
    "once",
    "historically",
    "previous",
    "when",
    "unless",
    "because",
];

/// Renames the parameters of a call whose names a guard cannot declare: `-n` becomes `_n`, `in`
/// becomes `_in`, `1st` becomes `_1st`. Everything else stays exactly as the agent wrote it.
///
/// # Errors
///
/// The errors of [`renamed`].
pub fn named_arguments(text: &str) -> Result<String, String> {
    // Text that cannot be parsed leads to a verdict of the kernel.
    let Ok(json) = Json::parse(text) else { return Ok(text.to_owned()) };
    match renamed(&json, &[])? {
        Some(json) => Ok(json.to_string()),
        None => Ok(text.to_owned()),
    }
}

/// Returns the arguments with names that a guard can declare; `None` if they have such names
/// already. `properties` are the known parameter names of the tool; empty if they are not known.
///
/// A name that the tool does not read must not satisfy a rule, so each name in a guard stands for
/// exactly one spelling: that of the property, or else the one that [`named_arguments`] defines.
///
/// # Errors
///
/// Returns an error if a name could be another spelling of a parameter, or two parameters would
/// have the same name.
pub fn renamed(args: &Json, properties: &[&str]) -> Result<Option<Json>, String> {
    let Json::Object(members) = args else { return Ok(None) };
    if properties.is_empty() && members.iter().all(|(name, _)| is_name(name) && is_certain(name)) {
        return Ok(None);
    }
    let mut renamed: Vec<(Box<str>, Json)> = Vec::with_capacity(members.len());
    for (written, value) in members {
        let name = to_name(written);
        let mut spellings = properties.iter().filter(|property| to_name(property) == name);
        match (spellings.next(), spellings.next()) {
            (Some(_), Some(_)) => {
                return Err(format!("two parameters of the tool would be called `{name}`"));
            }
            (Some(known), None) if *known != &**written => {
                return Err(format!("the tool has no `{written}`: write `{known}`"));
            }
            (None, _) if !is_certain(written) => {
                return Err(if name == **written {
                    format!("the guard uses `{name}` for another parameter")
                } else {
                    format!("`{written}` may be another spelling of `{name}`")
                });
            }
            _ => {}
        }
        // The kernel refuses a duplicate key.
        if name != **written && renamed.iter().any(|(known, _)| **known == *name) {
            return Err(format!("two arguments would be called `{name}`"));
        }
        renamed.push((name.into(), value.clone()));
    }
    let same = renamed.iter().zip(members).all(|((name, _), (written, _))| name == written);
    Ok((!same).then_some(Json::Object(renamed)))
}

/// Returns arguments with the guard's names under the names of the tool: those of `written`, or
/// else those of the tool's properties.
pub fn restored(args: &Json, written: &Json, properties: &[&str]) -> Json {
    let Json::Object(members) = args else { return args.clone() };
    let spelled = |name: &str| -> Box<str> {
        let written = match written {
            Json::Object(written) => written.as_slice(),
            _ => &[],
        };
        let written = written.iter().map(|(written, _)| &**written);
        let mut known = written.chain(properties.iter().copied());
        known.find(|known| to_name(known) == name).unwrap_or(name).into()
    };
    Json::Object(members.iter().map(|(name, value)| (spelled(name), value.clone())).collect())
}

/// Returns true if a spelling is the only one that the guard's name stands for, if nothing is known
/// about the tool.
fn is_certain(written: &str) -> bool {
    let begins_with_digit = |name: &str| name.starts_with(|c: char| c.is_ascii_digit());
    let is_letter = |name: &str| name.len() == 1 && name.as_bytes()[0].is_ascii_alphabetic();
    let cannot_be_declared = |name: &str| RESERVED.contains(&name) || begins_with_digit(name);
    if is_name(written) {
        let rest = written.strip_prefix('_').unwrap_or_default();
        return !is_letter(rest) && !cannot_be_declared(rest);
    }
    let plain = written.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    written.strip_prefix('-').is_some_and(is_letter) || plain && cannot_be_declared(written)
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
    use super::{named_arguments as named, renamed};
    use crate::json::Json;

    #[test]
    fn names_that_a_guard_cannot_declare() {
        assert_eq!(named(r#"{"-n": true, "path": "x"}"#).unwrap(), r#"{"_n":true,"path":"x"}"#);
        assert_eq!(named(r#"{"in": 1, "1st": 2}"#).unwrap(), r#"{"_in":1,"_1st":2}"#);
        assert_eq!(named(r#"{"a": 5.0 }"#).unwrap(), r#"{"a": 5.0 }"#);
        assert!(named(r#"{"-n": 1, "_n": 2}"#).is_err());
        assert_eq!(named(r#"{"-n": 1, "-n": 2}"#).unwrap(), r#"{"-n": 1, "-n": 2}"#);
    }

    #[test]
    fn a_name_has_one_spelling() {
        for other in
            ["dry-run", "dry run", "dry\u{2010}run", "-in", "-1st", "_n", "_in", "_1st", " n", ""]
        {
            let text = Json::Object(vec![(other.into(), Json::Null)]).to_string();
            assert!(named(&text).is_err(), "{other}");
        }
        for own in ["dry_run", "_", "_private", "-n", "in", "1st"] {
            let text = Json::Object(vec![(own.into(), Json::Null)]).to_string();
            assert!(named(&text).is_ok(), "{own}");
        }
        let args = Json::parse(r#"{"dry-run": true}"#).unwrap();
        assert!(renamed(&args, &["dry-run", "max"]).unwrap().is_some());
        assert!(renamed(&args, &["dry_run", "max"]).is_err());
        assert!(renamed(&args, &["dry-run", "dry_run"]).is_err());
    }
}
