//! Words that several constructors share: suggestions, lists, counts.

use guard_plan::near::nearest;
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;

pub(super) fn suggest(
    diagnostic: Diagnostic,
    span: Span,
    near: Option<&str>,
    otherwise: &str,
) -> Diagnostic {
    match near {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")).fix(span, near),
        None if otherwise.is_empty() => diagnostic,
        None => diagnostic.help(otherwise),
    }
}

/// The maximum number of names that a misspelt name is compared with. It limits the cost of
/// thousands of mistakes.
const COMPARED: usize = 256;

/// Returns the name that was probably meant: it begins or ends like the misspelt name and has about
/// the same length.
pub(super) fn meant<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let alike = |x: Option<char>, y: Option<char>| {
        x.zip(y).is_some_and(|(x, y)| x.eq_ignore_ascii_case(&y))
    };
    let first = name.chars().next();
    let last = name.chars().next_back();
    let plausible = known.take(COMPARED * 64).filter(|k| {
        *k != name
            && k.len().abs_diff(name.len()) <= 12
            && (alike(k.chars().next(), first) || alike(k.chars().next_back(), last))
    });
    nearest(name, plausible.take(COMPARED))
}

/// The names of other languages, each with the name in Guard.
const FOREIGN: &[(&str, &str)] = &[
    ("str", "string"),
    ("text", "string"),
    ("integer", "int"),
    ("number", "decimal"),
    ("float", "decimal"),
    ("double", "decimal"),
    ("boolean", "bool"),
    ("datetime", "time"),
    ("timestamp", "time"),
    ("date", "time"),
    ("object", "json"),
    ("any", "json"),
    ("uri", "url"),
    ("length", "len"),
    ("size", "len"),
    ("lowercase", "lower"),
    ("to_lower", "lower"),
    ("uppercase", "upper"),
    ("to_upper", "upper"),
    ("strip", "trim"),
    ("basename", "file_name"),
    ("dirname", "parent"),
];

pub(super) fn foreign(name: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(theirs, _)| name.eq_ignore_ascii_case(theirs)).map(|(_, ours)| *ours)
}

/// Formats a chain as `a → b → a`, with the middle left out if it is long.
pub(crate) fn chain(names: &[&str]) -> String {
    if names.len() <= 16 {
        return names.join(" → ");
    }
    let head = &names[..8];
    let tail = &names[names.len() - 7..];
    let between = names.len() - head.len() - tail.len();
    format!("{} → ({between} more) → {}", head.join(" → "), tail.join(" → "))
}

pub(crate) use guard_plan::words::{count, grouped};

pub(super) fn list<'a>(mut names: impl Iterator<Item = &'a str>) -> String {
    let shown: Vec<String> = names.by_ref().take(12).map(|n| format!("`{n}`")).collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
