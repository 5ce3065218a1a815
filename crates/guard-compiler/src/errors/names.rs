//! Problems with names: `G01`.

use super::words::{chain, foreign, list, meant, suggest};
use guard_syntax::ast::Ident;
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;

pub(crate) fn no_header(span: Span) -> Diagnostic {
    Diagnostic::error("G0101", span, "the file has no `guard NAME` line")
        .label("a guard begins with its name")
        .help("write `guard my_agent` as the first line; a file without it can only be used by another")
}

pub(crate) fn duplicate(what: &str, name: &Ident, first: Span) -> Diagnostic {
    Diagnostic::error("G0102", name.span, format!("the {what} `{}` is declared twice", name.node))
        .label("declared again here")
        .also(first, "first declared here")
        .help("rename one of them, or remove it")
}

pub(crate) fn cannot_use(span: Span, path: &str, why: &str) -> Diagnostic {
    Diagnostic::error("G0103", span, format!("cannot use `{path}`: {why}"))
        .help("paths are relative to the file that uses them")
}

pub(crate) fn use_cycle<'a>(span: Span, files: impl Iterator<Item = &'a str>) -> Diagnostic {
    let cycle: Vec<&str> = files.collect();
    Diagnostic::error(
        "G0104",
        span,
        format!("files use one another in a circle: {}", chain(&cycle)),
    )
    .label("this closes the circle")
    .help("move what both need into a third file")
}

pub(crate) fn used_guard(span: Span, path: &str, header: Span) -> Diagnostic {
    Diagnostic::error("G0105", span, format!("`{path}` is a guard of its own"))
        .also(header, "named here")
        .help("a used file brings items only: remove its `guard` line, or move what is shared into a file without one")
}

pub(crate) fn unknown_library<'a>(
    name: &Ident,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Diagnostic {
    let all = format!("the bundled libraries are {}", list(known.clone()));
    let d =
        Diagnostic::error("G0106", name.span, format!("there is no library `std.{}`", name.node));
    suggest(d, name.span, meant(&name.node, known), &all)
}

pub(crate) fn use_outside(path: &Ident) -> Diagnostic {
    let message = match path.node.as_str() {
        "" => "an empty path names no file".into(),
        path => format!("`{path}` is not a path inside the project"),
    };
    Diagnostic::error("G0107", path.span, message)
        .help("use a relative path with `/` that stays inside the project")
}

pub(crate) fn unknown_name<'a>(
    name: &str,
    span: Span,
    known: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    let d = Diagnostic::error("G0110", span, format!("unknown name `{name}`"))
        .label("no parameter, variable or variant of this name");
    let literals = ["true", "false", "none"];
    if let Some(literal) = literals.into_iter().find(|word| word.eq_ignore_ascii_case(name)) {
        return d.help(format!("write `{literal}`")).fix(span, literal);
    }
    suggest(
        d,
        span,
        meant(name, known),
        "declare it in `state { … }`, or as a parameter of the tool",
    )
}

pub(crate) fn unknown_tool<'a>(name: &Ident, known: impl Iterator<Item = &'a str>) -> Diagnostic {
    let d = Diagnostic::error("G0111", name.span, format!("unknown tool `{}`", name.node));
    suggest(d, name.span, meant(&name.node, known), &format!("declare it: `tool {}()`", name.node))
}

pub(crate) fn unknown_type<'a>(
    name: &Ident,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Diagnostic {
    let d = Diagnostic::error("G0112", name.span, format!("unknown type `{}`", name.node));
    let all = "types are bool, int, decimal, string, path, url, duration, time, json, list<T>, set<T>, \
               map<string, T>, and declared enums, records and types";
    suggest(d, name.span, foreign(&name.node).or_else(|| meant(&name.node, known)), all)
}

pub(crate) fn unknown_field<'a>(
    name: &Ident,
    of: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Diagnostic {
    let d = Diagnostic::error("G0113", name.span, format!("{of} has no field `{}`", name.node));
    let all = format!("it has {}", list(known.clone()));
    suggest(d, name.span, meant(&name.node, known), &all)
}

pub(crate) fn unknown_function<'a>(
    name: &Ident,
    known: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    let d = Diagnostic::error("G0114", name.span, format!("unknown function `{}`", name.node));
    suggest(
        d,
        name.span,
        foreign(&name.node).or_else(|| meant(&name.node, known)),
        "guards define no functions; those of the language are in the reference, builtins",
    )
}

pub(crate) fn unknown_unit<'a>(
    name: &Ident,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Diagnostic {
    let d =
        Diagnostic::error("G0115", name.span, format!("no budget of `{}` is declared", name.node));
    let declare = format!("declare it: `budget {} = 100`", name.node);
    let all = match known.clone().next() {
        Some(_) => format!("there are budgets of {}; or {declare}", list(known.clone())),
        None => declare,
    };
    suggest(d, name.span, meant(&name.node, known), &all)
}

pub(crate) fn no_deadline(span: Span) -> Diagnostic {
    Diagnostic::error("G0115", span, "no deadline is declared").help("declare one: `deadline 30m`")
}

pub(crate) fn unknown_parameter<'a>(
    name: &Ident,
    tool: &str,
    declared: Span,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Diagnostic {
    let all = match known.clone().next() {
        Some(_) => format!("it has {}", list(known.clone())),
        None => "it has no parameters".into(),
    };
    let d =
        Diagnostic::error("G0116", name.span, format!("`{tool}` has no parameter `{}`", name.node))
            .also(declared, format!("`{tool}` is declared here"));
    suggest(d, name.span, meant(&name.node, known), &all)
}

pub(crate) fn unknown_variant<'a>(
    name: &str,
    span: Span,
    of: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Diagnostic {
    let all = format!("its variants are {}", list(known.clone()));
    let d = Diagnostic::error("G0117", span, format!("`{of}` has no variant `{name}`"));
    let is_name = |v: &str| v.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match meant(name, known) {
        // A variant that is no name is written as a string.
        Some(near) if !is_name(near) => {
            d.help(format!("did you mean `\"{near}\"`?")).fix(span, format!("{near:?}"))
        }
        near => suggest(d, span, near, &all),
    }
}

pub(crate) fn unknown_word<'a>(
    what: &str,
    name: &Ident,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Diagnostic {
    let all = match known.clone().next() {
        Some(_) => format!("choose from {}", list(known.clone())),
        None => format!("no {what} is declared"),
    };
    let d = Diagnostic::error("G0118", name.span, format!("unknown {what} `{}`", name.node));
    suggest(d, name.span, meant(&name.node, known), &all)
}

pub(crate) fn ambiguous_variant<'a>(
    name: &str,
    span: Span,
    enums: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    Diagnostic::error(
        "G0119",
        span,
        format!("`{name}` is a variant of several enums: {}", list(enums)),
    )
    .help("compare it with a value of the enum that is meant, or put such a value first")
}

pub(crate) fn unknown_edition(span: Span, edition: &str) -> Diagnostic {
    Diagnostic::error("G0120", span, format!("there is no edition `{edition}`"))
        .help("write `edition 1`, or leave it out")
}

pub(crate) fn fact_as_value(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("G0110", span, format!("the fact `{name}` is no value"))
        .label("facts are asked for, row by row")
        .help(format!("ask `known {name}(…)` of a value, as in `any x in xs: known {name}(x)`"))
}
