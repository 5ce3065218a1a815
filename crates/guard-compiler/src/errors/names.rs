//! Problems with names: `G01`.

use super::words::{chain, foreign, grouped, list, meant, suggest};
use crate::limits::{MAX_ALL_NODES, MAX_DEPTH, MAX_NODES};
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

pub(crate) fn built_in_name(what: &str, name: &Ident) -> Diagnostic {
    let message = format!("the {what} `{}` has a name of the language", name.node);
    Diagnostic::error("G0102", name.span, message).label("this name is built in").help("rename it")
}

pub(crate) fn own_variant(what: &str, name: &Ident, owner: &str) -> Diagnostic {
    let message =
        format!("the {what} `{}` has the name of a variant of its type `{owner}`", name.node);
    Diagnostic::error("G0102", name.span, message)
        .label("this name is a variant")
        .help("rename it: rules that mean the variant would read this")
}

pub(crate) fn define_cycle(what: &str, cycle: &[(&str, Span)]) -> Diagnostic {
    let mut names: Vec<&str> = cycle.iter().map(|(name, _)| *name).collect();
    names.extend(cycle.first().map(|(name, _)| *name));
    let (_, last) = cycle[cycle.len() - 1];
    let message = format!("a `{what}` refers to itself: {}", chain(&names));
    let mut d = Diagnostic::error("G0121", last, message).label("this closes the cycle");
    for (name, span) in cycle.iter().take(cycle.len() - 1).take(8) {
        d = d.also(*span, format!("`{name}` refers to the next one here"));
    }
    d.help("expressions cannot be recursive: iterate over a collection with `all`, `any`, `count` or `sum`")
}

pub(crate) fn define_too_large(name: &Ident, nodes: u64, depth: u64) -> Diagnostic {
    let message = format!("`{}` expands to too much", name.node);
    written_out_too_large(name.span, message, nodes, depth)
}

pub(crate) fn use_too_large(span: Span, shown: &str, nodes: u64, depth: u64) -> Diagnostic {
    written_out_too_large(span, format!("`{shown}` expands to too much"), nodes, depth)
}

fn written_out_too_large(span: Span, message: String, nodes: u64, depth: u64) -> Diagnostic {
    let why = if depth > MAX_DEPTH {
        format!("{} levels when it is written out; {MAX_DEPTH} are allowed", grouped(depth))
    } else {
        format!(
            "{} nodes when it is written out; {} are allowed",
            grouped(nodes),
            grouped(MAX_NODES)
        )
    };
    Diagnostic::error("G0122", span, message)
        .label(why)
        .help("each use of a define is replaced by its whole expression: use an operand once, or keep a value in state")
}

pub(crate) fn uses_too_large(span: Span) -> Diagnostic {
    let message = "together, the uses of defines expand to too much";
    Diagnostic::error("G0122", span, message)
        .label(format!("with this use it is more than {} nodes", grouped(MAX_ALL_NODES)))
        .help("use large tables in fewer places, or keep them in state")
}

pub(crate) fn cannot_use(span: Span, path: &str, why: &str) -> Diagnostic {
    Diagnostic::error("G0103", span, format!("cannot use `{path}`: {why}"))
        .help("paths are relative to the file that uses them")
}

pub(crate) fn use_cycle<'a>(span: Span, files: impl Iterator<Item = &'a str>) -> Diagnostic {
    let cycle: Vec<&str> = files.collect();
    Diagnostic::error("G0104", span, format!("files use one another in a cycle: {}", chain(&cycle)))
        .label("this closes the cycle")
        .help("move what both need into a third file")
}

pub(crate) fn used_guard(span: Span, path: &str, header: Span) -> Diagnostic {
    Diagnostic::error("G0105", span, format!("`{path}` is a guard itself"))
        .also(header, "named here")
        .help("a used file contains only items: remove its `guard` line, or move the shared items into a file without one")
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
    in_define: bool,
) -> Diagnostic {
    let d = Diagnostic::error("G0110", span, format!("unknown name `{name}`"))
        .label("no parameter, variable or variant of this name");
    let literals = ["true", "false", "none"];
    if let Some(literal) = literals.into_iter().find(|word| word.eq_ignore_ascii_case(name)) {
        return d.help(format!("write `{literal}`")).fix(span, literal);
    }
    let declare = if in_define {
        "declare it in `state { … }`, or as a parameter of the define"
    } else {
        "declare it in `state { … }`, or as a parameter of the tool"
    };
    suggest(d, span, meant(name, known), declare)
}

pub(crate) fn unknown_tool<'a>(name: &Ident, known: impl Iterator<Item = &'a str>) -> Diagnostic {
    let d = Diagnostic::error("G0111", name.span, format!("unknown tool `{}`", name.node));
    if name.node == "approval" {
        return d.help("a person approves by a clause of its own: write `approval ROLE`");
    }
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
    owner: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Diagnostic {
    let d = Diagnostic::error("G0113", name.span, format!("{owner} has no field `{}`", name.node));
    let all = format!("it has {}", list(known.clone()));
    suggest(d, name.span, meant(&name.node, known), &all)
}

pub(crate) fn unknown_function<'a>(
    name: &Ident,
    known: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    let d = Diagnostic::error("G0114", name.span, format!("unknown function `{}`", name.node));
    if matches!(name.node.as_str(), "pairs" | "zip") {
        return d
            .label("it is part of a quantifier")
            .help(format!("write `all a, b in {}(…): …`", name.node));
    }
    suggest(
        d,
        name.span,
        foreign(&name.node).or_else(|| meant(&name.node, known)),
        &format!(
            "define it: `define {}(…): type = …`; the functions of the language are in the reference",
            name.node
        ),
    )
}

pub(crate) fn unknown_extractor<'a>(
    name: &Ident,
    extractors: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    let extractors: Vec<&str> = extractors.collect();
    let message = format!("`{}` is not a function that finds texts in a text", name.node);
    let d = Diagnostic::error("G0114", name.span, message);
    let help = format!("write {}", list(extractors.iter().copied()));
    suggest(d, name.span, meant(&name.node, extractors.into_iter()), &help)
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
    owner: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Diagnostic {
    let all = format!("its variants are {}", list(known.clone()));
    let d = Diagnostic::error("G0117", span, format!("`{owner}` has no variant `{name}`"));
    let is_name = |v: &str| v.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match meant(name, known) {
        // A variant that is not a valid name is written as a string.
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
    .help("compare it with a value of the intended enum, or put such a value first")
}

pub(crate) fn unknown_edition(span: Span, edition: &str) -> Diagnostic {
    Diagnostic::error("G0120", span, format!("there is no edition `{edition}`"))
        .help("write `edition 1`, or leave it out")
}

pub(crate) fn fact_as_target(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("G0110", span, format!("the fact `{name}` is not a state variable"))
        .label("facts are taught by results and sources only")
        .help("keep values that calls change in a state variable, and ask for both; or `learn` the row again from a result")
}

pub(crate) fn fact_as_value(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("G0110", span, format!("the fact `{name}` is not a value"))
        .label("facts are asked for, row by row")
        .help(format!("ask `known {name}(…)` of a value, or `any row in {name}: …` of its rows"))
}
