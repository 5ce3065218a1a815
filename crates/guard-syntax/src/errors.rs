//! The syntax errors: one constructor per problem, and the list of their codes.
//!
//! Each code has a page in `docs/codes/`. This module defines the messages; other modules decide
//! when to report them.

use crate::diagnostic::Diagnostic;
use crate::limits::{MAX_BYTES, MAX_DEPTH};
use crate::span::Span;

/// Every code this crate reports, with its title, sorted.
pub const CODES: &[(&str, &str)] = &[
    ("G0001", "file too large"),
    ("G0002", "control character"),
    ("G0003", "unterminated string"),
    ("G0004", "unterminated regular expression"),
    ("G0005", "unknown character"),
    ("G0006", "string in single quotes"),
    ("G0007", "block comment"),
    ("G0008", "unknown escape"),
    ("G0009", "unclosed bracket"),
    ("G0010", "closing bracket without an opening one"),
    ("G0011", "nested too deeply"),
    ("G0012", "unknown unit"),
    ("G0013", "not an item"),
    ("G0014", "not a clause"),
    ("G0015", "unexpected text"),
    ("G0016", "reserved word as a name"),
    ("G0017", "operator that Guard does not have"),
    ("G0018", "single `=` in a condition"),
    ("G0019", "chained comparison"),
    ("G0020", "missing operand"),
    ("G0021", "whitespace before an opening bracket"),
    ("G0022", "null"),
    ("G0023", "`if` after `deny`"),
    ("G0024", "missing message"),
    ("G0025", "unclosed brace in a message"),
    ("G0026", "lone closing brace in a message"),
    ("G0027", "empty braces in a message"),
    ("G0028", "header that is not first"),
    ("G0029", "second header"),
    ("G0030", "documentation without an item"),
];

/// Truncates user text for a message.
fn shown(text: &str) -> String {
    let line = text.lines().next().unwrap_or("");
    match line.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

pub(crate) fn too_large(at: Span, length: usize) -> Diagnostic {
    Diagnostic::error(
        "G0001",
        at,
        format!("the file has {length} bytes; at most {MAX_BYTES} are read"),
    )
    .help("split the guard into files and join them with `use`")
}

pub(crate) fn control_character(at: Span, found: char) -> Diagnostic {
    let message = format!("control character U+{:04X} in a guard", u32::from(found));
    Diagnostic::error("G0002", at, message)
        .help("remove it; in a string write it as an escape such as `\\n` or `\\u{7}`; if the file is full of them, it is not a text file")
}

pub(crate) fn unterminated_string(at: Span) -> Diagnostic {
    Diagnostic::error("G0003", at, "this string has no closing quote on its line")
        .label("begins here")
        .help("close it with `\"`; write a line break inside a string as `\\n`")
}

pub(crate) fn unterminated_regex(at: Span) -> Diagnostic {
    Diagnostic::error("G0004", at, "this regular expression has no closing slash on its line")
        .label("begins here")
        .help("write it between slashes, as in `matches /^[a-z]+$/`; a slash inside it is `\\/`")
}

pub(crate) fn unknown_character(at: Span, text: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("G0005", at, format!("`{}` has no meaning here", shown(text)));
    match text.chars().next() {
        Some('#') => diagnostic.help("a comment begins with `//`"),
        Some('\u{201c}' | '\u{201d}' | '\u{201e}' | '`') => {
            diagnostic.help("strings are enclosed in plain double quotes: `\"…\"`")
        }
        Some('\'') => diagnostic.help("strings are enclosed in double quotes: `\"…\"`"),
        _ => diagnostic.help(
            "remove it, or put it into a string; names consist of ASCII letters, digits and `_`",
        ),
    }
}

pub(crate) fn single_quotes(at: Span, inner: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error("G0006", at, "strings are written in double quotes")
        .help(format!("write `\"{}\"`", shown(inner)));
    if inner.contains(['"', '\\']) {
        diagnostic
    } else {
        diagnostic.fix(at, format!("\"{inner}\""))
    }
}

pub(crate) fn block_comment(at: Span) -> Diagnostic {
    Diagnostic::error("G0007", at, "there are no block comments")
        .help("begin each line of the comment with `//`")
}

pub(crate) fn unknown_escape(at: Span, text: &str) -> Diagnostic {
    Diagnostic::error("G0008", at, format!("unknown escape `{text}`"))
        .help("the escapes are `\\\"`, `\\\\`, `\\n`, `\\t`, `\\r` and `\\u{1F600}`; a backslash itself is `\\\\`")
}

pub(crate) fn unclosed(
    place: Span,
    found: Option<&str>,
    opener: Span,
    bracket: &str,
) -> Diagnostic {
    let close = match bracket {
        "(" => ")",
        "[" => "]",
        _ => "}",
    };
    let message = match found {
        Some(found) => format!("`{bracket}` is not closed before `{}`", shown(found)),
        None => format!("`{bracket}` is not closed before the end of the file"),
    };
    Diagnostic::error("G0009", place, message)
        .label(format!("a `{close}` is missing before this point"))
        .also(opener, format!("this `{bracket}` is never closed"))
        .help(format!("write the missing `{close}`"))
}

pub(crate) fn stray_close(at: Span, bracket: &str) -> Diagnostic {
    Diagnostic::error("G0010", at, format!("`{bracket}` has no opening bracket"))
        .help("remove it, or write the opening bracket that belongs to it")
}

pub(crate) fn too_deep(at: Span) -> Diagnostic {
    Diagnostic::error("G0011", at, format!("this nests more than {MAX_DEPTH} levels deep"))
        .help("name a part of it: a `state` variable, a `group`, or a clause of its own; long chains of `or` read better as `x in {a, b}`")
}

pub(crate) fn unknown_unit(at: Span, text: &str) -> Diagnostic {
    let number = text.trim_start_matches('-');
    let unit = number.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let diagnostic = Diagnostic::error(
        "G0012",
        at,
        format!("`{}` is not a number, a duration or a size", shown(text)),
    );
    if unit.starts_with('_') {
        return diagnostic.help("write the digits without `_`");
    }
    let near = match unit.to_ascii_lowercase().as_str() {
        "sec" | "secs" | "second" | "seconds" => Some("s"),
        "min" | "mins" | "minute" | "minutes" => Some("m"),
        "hr" | "hrs" | "hour" | "hours" | "h" => Some("h"),
        "day" | "days" => Some("d"),
        "week" | "weeks" => Some("w"),
        "b" => Some("B"),
        "k" | "kb" | "kib" => Some("KiB"),
        "mb" | "mib" => Some("MiB"),
        "g" | "gb" | "gib" => Some("GiB"),
        _ => None,
    };
    let digits = &text[..text.len() - unit.len()];
    match near {
        Some(_) if digits.contains('.') => diagnostic.help(
            "amounts with a unit are whole: write `90s` for 1.5 minutes, `1536KiB` for 1.5 MiB",
        ),
        Some(near) => {
            diagnostic.help(format!("write `{digits}{near}`")).fix(at, format!("{digits}{near}"))
        }
        None => {
            diagnostic.help("units of time are `ms s m h d w`, units of size `B KiB MiB GiB TiB`")
        }
    }
}

pub(crate) fn not_an_item(at: Span, found: &str) -> Diagnostic {
    Diagnostic::error("G0013", at, format!("expected an item, found `{}`", shown(found)))
        .help("a guard is made of items such as `tool`, `policy`, `invariant`, `state`, `budget`, `feedback`, `completion` and `test`")
}

pub(crate) fn foreign_item(at: Span, found: &str, meant: &str) -> Diagnostic {
    Diagnostic::error("G0013", at, format!("there is no item `{found}`"))
        .help(format!("in Guard this is `{meant}`"))
}

pub(crate) fn misspelled_item(at: Span, found: &str, meant: &str) -> Diagnostic {
    Diagnostic::error("G0013", at, format!("there is no item `{found}`"))
        .help(format!("did you mean `{meant}`?"))
        .fix(at, meant)
}

pub(crate) fn clause_outside(at: Span, found: &str) -> Diagnostic {
    Diagnostic::error("G0013", at, format!("`{found}` is outside a tool or a policy")).help(
        format!("move it into the braces of the tool it governs: `tool NAME(…) {{ {found} … }}`"),
    )
}

pub(crate) fn not_a_clause(at: Span, found: &str, place: &str, examples: &str) -> Diagnostic {
    Diagnostic::error("G0014", at, format!("expected {place}, found `{}`", shown(found)))
        .help(format!("expected here: {examples}"))
}

pub(crate) fn foreign_clause(at: Span, found: &str, help: &'static str) -> Diagnostic {
    Diagnostic::error("G0014", at, format!("there is no clause `{}`", shown(found))).help(help)
}

pub(crate) fn misspelled_clause(at: Span, found: &str, meant: &str) -> Diagnostic {
    Diagnostic::error("G0014", at, format!("nothing can begin with `{found}` here"))
        .help(format!("did you mean `{meant}`?"))
        .fix(at, meant)
}

pub(crate) fn unexpected(at: Span, found: Option<&str>, expected: &str) -> Diagnostic {
    let message = match found {
        Some(found) => format!("expected {expected}, found `{}`", shown(found)),
        None => format!("expected {expected}, found the end of the file"),
    };
    Diagnostic::error("G0015", at, message)
}

pub(crate) fn misspelled_word(at: Span, found: &str, meant: &str) -> Diagnostic {
    Diagnostic::error("G0015", at, format!("expected `{meant}`, found `{found}`"))
        .help(format!("did you mean `{meant}`?"))
        .fix(at, meant)
}

pub(crate) fn reserved_word(at: Span, word: &str) -> Diagnostic {
    let help = match word {
        "contains" | "within" | "since" => {
            format!("`{word}` is an operator: write `x {word} y`; a name can be `{word}_`")
        }
        "matches" => {
            "`matches` is an operator: write `x matches /regex/`; a name can be `matches_`".into()
        }
        _ => format!(
            "choose another name, such as `{word}_`; if a name or a value is missing before `{word}`, write it"
        ),
    };
    Diagnostic::error("G0016", at, format!("`{word}` is a reserved word and cannot be a name here"))
        .help(help)
}

pub(crate) fn foreign_operator(at: Span, found: &str, meant: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("G0017", at, format!("`{found}` is not an operator of Guard"));
    match meant {
        "" => diagnostic.help("the opposite of `x in xs` is `not (x in xs)`"),
        "not" => diagnostic.help("write `not`").fix(at, "not "),
        _ => diagnostic.help(format!("write `{meant}`")).fix(at, meant),
    }
}

pub(crate) fn single_equals(at: Span) -> Diagnostic {
    Diagnostic::error("G0018", at, "`=` does not compare")
        .help("write `==` to compare; `=` is used only in `effect`, `observe` and declarations")
        .fix(at, "==")
}

pub(crate) fn missing_role(at: Span, keyword: &str) -> Diagnostic {
    let name = if keyword == "tags" { "tag" } else { "role" };
    Diagnostic::error("G0015", at, format!("`{keyword}` has no {name}"))
        .help(format!("write `{keyword} {}`", name.to_uppercase()))
}

pub(crate) fn clause_as_name(at: Span, name: &str, meant: Option<&str>) -> Diagnostic {
    let meant = meant.map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
    Diagnostic::error("G0015", at, format!("`{name}` would be the name that the line before lacks"))
        .help(format!("{meant}Write a role or a tag on the line of its keyword"))
}

pub(crate) fn quoted_name(at: Span, found: &str) -> Diagnostic {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = found.trim_matches('"').chars().map(letter).collect();
    let diagnostic = unexpected(at, Some(found), "a name");
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return diagnostic.help("a name is a word without quotes: letters, digits and `_`");
    }
    diagnostic.help(format!("a name has no quotes: write `{name}`")).fix(at, name)
}

pub(crate) fn unit_for_duration(at: Span, found: &str) -> Diagnostic {
    let duration = format!("1{}", &found[..1]);
    unexpected(at, Some(found), "a duration or `session`")
        .help(format!("write `{duration}`"))
        .fix(at, duration)
}

pub(crate) fn list_type(at: Span, element: &str) -> Diagnostic {
    let list = if element.is_empty() { "T" } else { element };
    Diagnostic::error("G0015", at, "`[]` does not make a type a list")
        .help(format!("write `list<{list}>`, with `max N` after it as needed"))
}

pub(crate) fn collection_type(at: Span, found: &str) -> Diagnostic {
    Diagnostic::error("G0015", at, format!("`{found}` has no element type"))
        .help("the types of collections are `list<T>`, `set<T>` and `map<K, T>`")
}

pub(crate) fn default_argument(at: Span) -> Diagnostic {
    Diagnostic::error("G0015", at, "a parameter has no default")
        .help("write `name: type?`, and where it is read `name else VALUE`")
}

pub(crate) fn unnamed_enum(at: Span) -> Diagnostic {
    Diagnostic::error("G0015", at, "an enum has a name")
        .help("declare it as `enum NAME { a, b }`, and write `NAME` as the type")
}

pub(crate) fn bounds_without_in(at: Span, found: &str) -> Diagnostic {
    let message = format!("expected `in` before the bounds of a type, found `{}`", shown(found));
    Diagnostic::error("G0015", at, message)
        .help("write `in 1..=5` for 1 to 5, `in 0..` for 0 and more, or `in ..10` for less than 10")
}

pub(crate) fn conditional_effect(at: Span) -> Diagnostic {
    Diagnostic::error("G0015", at, "only an effect with `for` takes `when`")
        .help("put the condition into the value: `effect x = if CONDITION then VALUE else x`")
}

pub(crate) fn chained_comparison(at: Span, first: Span) -> Diagnostic {
    Diagnostic::error("G0019", at, "comparisons cannot be chained")
        .also(first, "this is already a comparison")
        .help("join two comparisons with `and`, as in `a < b and b < c`, or put parentheses around one of them")
}

pub(crate) fn missing_comma(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("G0015", span, format!("expected `,`, found `{name}`"))
        .help("arguments, entries and elements have commas between them, on lines of their own too")
}

pub(crate) fn missing_operand(at: Span, operator: &str) -> Diagnostic {
    Diagnostic::error("G0020", at, format!("`{operator}` has no right operand"))
        .help(format!("write a value after `{operator}`, or remove it"))
}

pub(crate) fn blank_before_bracket(
    bracket: Span,
    blank: Span,
    name: &str,
    open: &str,
) -> Diagnostic {
    let what = if open == "(" { "the arguments of a call" } else { "an index" };
    Diagnostic::error(
        "G0021",
        bracket,
        format!("{what} must follow `{}` without whitespace", shown(name)),
    )
    .help(format!("write `{}{open}…`", shown(name)))
    .fix(blank, "")
}

pub(crate) fn null(at: Span, found: &str) -> Diagnostic {
    Diagnostic::error("G0022", at, format!("there is no `{found}`"))
        .help("a missing value is `none`; ask for it with `x is none` or `x is some`, or give a default: `x else y`")
}

pub(crate) fn if_for_when(at: Span) -> Diagnostic {
    Diagnostic::error(
        "G0023",
        at,
        "the condition of a clause begins with `when` or `unless`, not with `if`",
    )
    .help("write `when`")
    .fix(at, "when")
}

pub(crate) fn missing_message(at: Span) -> Diagnostic {
    Diagnostic::error("G0024", at, "`because` has no message")
        .help("write the reason as a string: `because \"staging holds at most three replicas\"`")
}

pub(crate) fn open_interpolation(at: Span) -> Diagnostic {
    Diagnostic::error("G0025", at, "this `{` is not closed inside the message")
        .help("close the expression with `}`; a brace that is meant as text is written `{{`")
}

pub(crate) fn lone_brace(at: Span) -> Diagnostic {
    Diagnostic::error("G0026", at, "this `}` has no opening brace")
        .help("a brace that is meant as text is written `}}`")
        .fix(at, "}}")
}

pub(crate) fn empty_interpolation(at: Span) -> Diagnostic {
    Diagnostic::error("G0027", at, "there is no expression between these braces").help(
        "write a value, as in `{path}`; braces that are meant as text are written `{{` and `}}`",
    )
}

pub(crate) fn late_header(at: Span) -> Diagnostic {
    Diagnostic::error("G0028", at, "the header must be the first thing in the file")
        .help("move this line to the top")
}

pub(crate) fn second_header(at: Span, first: Span) -> Diagnostic {
    Diagnostic::error("G0029", at, "a file has one header")
        .also(first, "the first header")
        .help("remove this line; another guard goes into a file of its own")
}

pub(crate) fn lost_documentation(at: Span, marker: Span) -> Diagnostic {
    Diagnostic::warning("G0030", at, "this comment documents nothing")
        .help("`///` goes before an item, a clause, a field or a variable and `//!` at the top of the file; write `//` for an ordinary comment")
        .fix(marker, "//")
}

/// Returns the diagnostic, moved by `by` bytes.
pub(crate) fn shifted(mut diagnostic: Diagnostic, by: u32) -> Diagnostic {
    let shift = |span: Span| Span { start: span.start + by, end: span.end + by, ..span };
    let all = diagnostic.secondary.iter_mut().chain(std::iter::once(&mut diagnostic.primary));
    all.for_each(|label| label.span = shift(label.span));
    if let Some(fix) = &mut diagnostic.fix {
        fix.span = shift(fix.span);
    }
    diagnostic
}
