//! Problems with types: `G02`.

use super::words::count;
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;

pub(crate) fn mismatch(span: Span, expected: &str, found: &str) -> Diagnostic {
    Diagnostic::error("G0201", span, format!("expected {expected}, found {found}"))
        .label(format!("this is {found}"))
        .help("there are no implicit conversions: change this value or the declared type")
}

pub(crate) fn operator(
    span: Span,
    op: &str,
    left: (Span, &str),
    right: Option<(Span, &str)>,
    help: &str,
) -> Diagnostic {
    let operands = match right {
        Some((_, right)) => format!("{} and {right}", left.1),
        None => left.1.to_string(),
    };
    let mut d = Diagnostic::error("G0202", span, format!("`{op}` does not apply to {operands}"))
        .also(left.0, format!("this is {}", left.1));
    if let Some((span, ty)) = right {
        d = d.also(span, format!("this is {ty}"));
    }
    d.help(help)
}

pub(crate) fn membership(span: Span, op: &str, repaired: &str) -> Diagnostic {
    let why = match op {
        "in" | "contains" => format!("the operands of `{op}` are swapped"),
        _ => format!("`{op}` compares one value with a whole collection of them"),
    };
    Diagnostic::error("G0203", span, why).help(format!("write `{repaired}`")).fix(span, repaired)
}

/// `condition`: true if it is part of a condition that would let the call pass if the value is
/// missing.
pub(crate) fn may_be_missing(span: Span, text: &str, condition: bool) -> Diagnostic {
    Diagnostic::error("G0204", span, format!("{text} may be missing here"))
        .label(if condition {
            "if it is missing, the rule would not refuse the call"
        } else {
            "if it is missing, the rule cannot be evaluated"
        })
        .help(
            "say what a missing value means with `else`, test it with `is some`, or establish it with a \
             `requires` or another `deny`",
        )
}

/// The help if the missing value is within a define.
pub(crate) const MISSING_IN_DEFINE: &str = "say within the `define` what a missing value means with `else`, or give the \
     `define` a type with `?`: then each use says it, with `else` or `is some`";

pub(crate) fn missing_entry(
    span: Span,
    entry: &str,
    form: Option<&str>,
    of_each: bool,
) -> Diagnostic {
    let establish = if of_each {
        format!(
            "`when {entry} is some` leaves such elements out; `deny unless all …: {entry} is some` refuses them"
        )
    } else {
        format!("`deny unless {entry} is some` establishes it")
    };
    Diagnostic::error("G0204", span, format!("`{entry}` may be missing here"))
        .label("if it is missing, there is nothing to change, and the call would be denied")
        .help(match form {
            Some(form) => format!("write `{form}`; {establish}"),
            None => establish,
        })
}

pub(crate) fn empty_needle(span: Span) -> Diagnostic {
    Diagnostic::error("G0218", span, "search for an empty text")
        .label("no text contains the empty text")
        .help("write the text to search for, or compare with `x == \"\"`")
}

pub(crate) fn json_value(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("G0205", span, format!("{what}, and `json` has no operators")).help(
        "declare the type of the tool's result with `returns TYPE`, or observe it into a typed variable",
    )
}

pub(crate) fn mixed_numbers(
    span: Span,
    op: &str,
    left: Span,
    right: Span,
    left_is_int: bool,
) -> Diagnostic {
    let (l, r) = if left_is_int { ("an int", "a decimal") } else { ("a decimal", "an int") };
    Diagnostic::error("G0206", span, format!("`{op}` mixes int and decimal"))
        .also(left, format!("this is {l}"))
        .also(right, format!("this is {r}"))
        .help("there are no implicit conversions: write `decimal(…)` around the int")
}

pub(crate) fn arguments(span: Span, message: String, signature: &str) -> Diagnostic {
    Diagnostic::error("G0207", span, message).help(format!("it is written `{signature}`"))
}

pub(crate) fn literal(span: Span, text: &str, why: &str) -> Diagnostic {
    Diagnostic::error("G0208", span, format!("`{text}` {why}"))
}

pub(crate) fn impossible_type(span: Span, why: &str, help: &str) -> Diagnostic {
    Diagnostic::error("G0209", span, why).help(help)
}

/// A map with a key type whose values have no text.
pub(crate) fn keys_of_a_map(span: Span, refined: bool) -> Diagnostic {
    let (why, help) = if refined {
        (
            "the keys of a map have no bounds",
            "write `map<int, …>` or `map<string, …>`, and bound what becomes a key",
        )
    } else {
        (
            "the keys of a map are strings, ints, bools or variants of an enum",
            "write `map<string, …>` with a text for each key, or a fact with key columns",
        )
    };
    impossible_type(span, why, help)
}

/// A key of a map literal.
pub(crate) fn written_key(span: Span, found: &str, wanted: &str, such: &str) -> Diagnostic {
    mismatch(span, &format!("a key that is {wanted}"), &format!("`{found}`"))
        .help(format!("write each key as it is, as in `{{{such}: …}}`"))
}

pub(crate) fn too_deep(span: Span, levels: usize) -> Diagnostic {
    impossible_type(
        span,
        &format!("values of this type would nest more than {levels} levels deep"),
        "arguments cannot nest that deep: refer to parts by an id instead",
    )
}

pub(crate) fn refinement(span: Span, why: &str, help: &str) -> Diagnostic {
    Diagnostic::error("G0210", span, why).help(help)
}

pub(crate) fn time_format(span: Span) -> Diagnostic {
    Diagnostic::error("G0210", span, "no time is written in this format").help(
        "a format has `%Y`, `%m` and `%d`, may have `%H`, `%M`, `%S` and `%z`, each once; `%%` is a percent sign",
    )
}

pub(crate) fn bad_regex(span: Span, why: &str) -> Diagnostic {
    Diagnostic::error("G0211", span, format!("invalid regular expression: {why}")).help(match why {
        _ if why.contains("look-around") || why.contains("backreference") => {
            "expressions run in linear time: write several, joined by `and` and `not`"
        }
        _ if why.contains("memory") => "shorten it: bounded repetitions of classes take the most",
        _ => "write a backslash before a character that is meant literally",
    })
}

pub(crate) fn wrong_place(span: Span, what: &str, place: &str, help: &str) -> Diagnostic {
    Diagnostic::error("G0212", span, format!("{what} cannot be used in {place}")).help(help)
}

pub(crate) fn no_fields(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error("G0213", span, format!("{ty} has no fields"))
        .help("records, urls, `clock` and `json` have fields; functions take apart the rest, as `email_domain(…)`")
}

pub(crate) fn no_elements(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::error("G0213", span, format!("{ty} has no elements to index")).help(
        "lists are indexed by an int, maps by a string, facts with one `key` column by its value",
    )
}

pub(crate) fn no_rows(span: Span, fact: &str, keys: usize, columns: usize) -> Diagnostic {
    let why = if columns == keys {
        "it has no column besides its key".into()
    } else {
        format!("its key has {}", count(keys, "column"))
    };
    Diagnostic::error("G0213", span, format!("rows of `{fact}` cannot be looked up: {why}")).help(
        format!(
            "ask `known {fact}(…)`, or give all key columns: `{fact}[a, b]`; the fact needs a column besides its key"
        ),
    )
}

pub(crate) fn several_keys(span: Span) -> Diagnostic {
    Diagnostic::error("G0213", span, "only a fact has rows with several keys")
        .help("declare `fact NAME(a: T key, b: U key, …)`; of a map of maps write `m[a][b]`")
}

pub(crate) fn not_constant(span: Span) -> Diagnostic {
    Diagnostic::error("G0215", span, "this initial value is not constant")
        .help("write literals only: a session begins with the same state everywhere")
}

pub(crate) fn bad_text(span: Span, text: &str, what: &str, why: &str) -> Diagnostic {
    let shown = if text.is_empty() { "an empty text".into() } else { format!("`{text}`") };
    Diagnostic::error("G0216", span, format!("{shown} is not a {what}: {why}"))
}
