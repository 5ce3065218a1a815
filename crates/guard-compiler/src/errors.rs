//! One constructor per problem with names, types and clauses.
//!
//! Codes: `G01` names, `G02` types, `G03` clauses, `G05` warnings. Each has its page in `docs/codes/`.
//! A constructor decides code, words, places and help; whoever calls it only says what it found.

use crate::verify;
use guard_plan::near::nearest;
use guard_syntax::ast::Ident;
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;

/// Every code of this crate with its title, sorted.
pub const CODES: &[(&str, &str)] = &[
    ("G0101", "no `guard NAME` line"),
    ("G0102", "name declared twice"),
    ("G0103", "used file cannot be read"),
    ("G0104", "files use one another in a circle"),
    ("G0105", "used file is a guard of its own"),
    ("G0106", "unknown library"),
    ("G0107", "used path leaves the project"),
    ("G0110", "unknown name"),
    ("G0111", "unknown tool"),
    ("G0112", "unknown type"),
    ("G0113", "unknown field"),
    ("G0114", "unknown function"),
    ("G0115", "unknown unit"),
    ("G0116", "unknown parameter"),
    ("G0117", "unknown variant"),
    ("G0118", "unknown word"),
    ("G0119", "variant of several enums"),
    ("G0120", "unknown edition"),
    ("G0201", "type mismatch"),
    ("G0202", "operator does not fit its operands"),
    ("G0203", "membership the wrong way round"),
    ("G0204", "value may be missing"),
    ("G0205", "json cannot be computed with"),
    ("G0206", "int and decimal mixed"),
    ("G0207", "wrong arguments of a function"),
    ("G0208", "literal that does not fit"),
    ("G0209", "impossible type"),
    ("G0210", "refinement that does not fit"),
    ("G0211", "invalid regular expression"),
    ("G0212", "question asked in the wrong place"),
    ("G0213", "not a thing with parts"),
    ("G0215", "initial value is not constant"),
    ("G0216", "text is no such value"),
    ("G0217", "a secret would leave its place"),
    ("G0301", "variable written twice"),
    ("G0302", "requirements in a circle"),
    ("G0304", "cost may be negative"),
    ("G0305", "effect does not fit its variable"),
    ("G0306", "policy names a parameter that a tool lacks"),
    ("G0307", "block that is never reached"),
    ("G0308", "empty `any`"),
    ("G0309", "said twice"),
    ("G0311", "clause that belongs in a tool"),
    ("G0312", "incomplete lifecycle"),
    ("G0313", "count of nothing"),
    ("G0314", "contract that does not fit"),
    ("G0315", "scenario that does not fit"),
    ("G0316", "guard over its step bound"),
    ("G0317", "learning from an untrusted result"),
    ("G0318", "initial state is not allowed"),
    ("G0319", "an invariant that must be proved is not"),
    ("G0501", "undeclared tools are allowed"),
    ("G0502", "declared and never used"),
    ("G0503", "regular expression is not anchored"),
    ("G0504", "negated class that spells a word"),
    ("G0505", "nested repetition"),
    ("G0506", "policy governs no tool"),
    ("G0508", "parameter hides a variable"),
    ("G0509", "comparison that never varies"),
    ("G0510", "tool that can never be called"),
    ("G0511", "rule that never fires"),
    ("G0512", "rule that another one covers"),
    ("G0513", "limit that a budget makes moot"),
    ("G0514", "end that cannot be reached"),
    ("G0515", "advice that is never given"),
    ("G0516", "fact that nobody teaches"),
    ("G0517", "irreversible and nobody is asked"),
    ("G0518", "approval that is never asked for"),
];

fn suggest(diagnostic: Diagnostic, span: Span, near: Option<&str>, otherwise: &str) -> Diagnostic {
    match near {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")).fix(span, near),
        None if otherwise.is_empty() => diagnostic,
        None => diagnostic.help(otherwise),
    }
}

/// How many names a misspelt one is compared with, so that thousands of mistakes stay cheap.
const COMPARED: usize = 256;

/// The name that was probably meant: it begins or ends alike and has about the same length.
fn meant<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let alike = |x: Option<char>, y: Option<char>| {
        x.zip(y).is_some_and(|(x, y)| x.eq_ignore_ascii_case(&y))
    };
    let (first, last) = (name.chars().next(), name.chars().next_back());
    let plausible = known.take(COMPARED * 64).filter(|k| {
        *k != name
            && k.len().abs_diff(name.len()) <= 12
            && (alike(k.chars().next(), first) || alike(k.chars().next_back(), last))
    });
    nearest(name, plausible.take(COMPARED))
}

/// What others call it: names of other languages, and ours.
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

fn foreign(name: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(theirs, _)| name.eq_ignore_ascii_case(theirs)).map(|(_, ours)| *ours)
}

/// `a → b → a`, its middle left out where it is long.
pub(crate) fn chain(names: &[&str]) -> String {
    if names.len() <= 16 {
        return names.join(" → ");
    }
    let (head, tail) = (&names[..8], &names[names.len() - 7..]);
    let between = names.len() - head.len() - tail.len();
    format!("{} → ({between} more) → {}", head.join(" → "), tail.join(" → "))
}

/// `1 argument`, `2 arguments`.
pub(crate) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// `12,345,678`.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn list<'a>(mut names: impl Iterator<Item = &'a str>) -> String {
    let shown: Vec<String> = names.by_ref().take(12).map(|n| format!("`{n}`")).collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

// Names.

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

pub(crate) fn use_cycle<'a>(span: Span, chain: impl Iterator<Item = &'a str>) -> Diagnostic {
    let circle: Vec<&str> = chain.collect();
    Diagnostic::error(
        "G0104",
        span,
        format!("files use one another in a circle: {}", self::chain(&circle)),
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

// Types.

pub(crate) fn mismatch(span: Span, expected: &str, found: &str) -> Diagnostic {
    Diagnostic::error("G0201", span, format!("expected {expected}, found {found}"))
        .label(format!("this is {found}"))
        .help("nothing converts silently: change this, or what is declared")
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
        "in" | "contains" => format!("`{op}` has its sides the wrong way round"),
        _ => format!("`{op}` compares one value with a whole collection of them"),
    };
    Diagnostic::error("G0203", span, why).help(format!("write `{repaired}`")).fix(span, repaired)
}

/// `condition`: it is part of a condition, which would then let the call pass.
pub(crate) fn may_be_missing(span: Span, text: &str, condition: bool) -> Diagnostic {
    Diagnostic::error("G0204", span, format!("{text} may be missing here"))
        .label(if condition {
            "where it is missing, the rule would not hold the call back"
        } else {
            "where it is missing, there is nothing to go on with"
        })
        .help(
            "say what a missing value means with `else`, test it with `is some`, or establish it with a \
             `requires` or another `deny`",
        )
}

pub(crate) fn json_value(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("G0205", span, format!("{what}, and `json` cannot be computed with")).help(
        "declare what the tool gives with `returns TYPE`, or observe it into a typed variable",
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
        .help("nothing converts silently: write `decimal(…)` around the int")
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

pub(crate) fn too_deep(span: Span, levels: usize) -> Diagnostic {
    impossible_type(
        span,
        &format!("values of this type would nest more than {levels} levels deep"),
        "no argument nests that deep: refer to parts by an id instead",
    )
}

pub(crate) fn refinement(span: Span, why: &str, help: &str) -> Diagnostic {
    Diagnostic::error("G0210", span, why).help(help)
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
    Diagnostic::error("G0212", span, format!("{what} cannot be asked in {place}")).help(help)
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

pub(crate) fn no_rows(span: Span, fact: &str, keys: usize) -> Diagnostic {
    let columns = count(keys, "column");
    Diagnostic::error(
        "G0213",
        span,
        format!(
            "rows of `{fact}` cannot be looked up: its key has {columns} and nothing is beside it"
        ),
    )
    .help(format!("ask `known {fact}(…)`, or mark one column `key` and have others beside it"))
}

pub(crate) fn not_constant(span: Span) -> Diagnostic {
    Diagnostic::error("G0215", span, "this initial value is not constant")
        .help("write literals only: a session begins with the same state everywhere")
}

pub(crate) fn bad_text(span: Span, text: &str, what: &str, why: &str) -> Diagnostic {
    let shown = if text.is_empty() { "an empty text".into() } else { format!("`{text}`") };
    Diagnostic::error("G0216", span, format!("{shown} is no {what}: {why}"))
}

// Clauses.

pub(crate) fn written_twice(var: &str, second: Span, first: Span, tool: &str) -> Diagnostic {
    Diagnostic::error("G0301", second, format!("`{tool}` writes `{var}` twice"))
        .label("written again here")
        .also(first, "first written here")
        .help("effects are simultaneous, so a tool writes a variable at most once: join the two into one")
}

pub(crate) fn requirement_cycle(cycle: &[(&str, Span)]) -> Diagnostic {
    let names: Vec<&str> =
        cycle.iter().map(|(n, _)| *n).chain(cycle.first().map(|(n, _)| *n)).collect();
    let first = cycle.first().map(|(_, s)| *s).unwrap_or_default();
    let mut d =
        Diagnostic::error("G0302", first, format!("requirements in a circle: {}", chain(&names)))
            .label(format!("`{}` requires `{}`", names[0], names.get(1).unwrap_or(&names[0])));
    for (at, (name, span)) in cycle.iter().enumerate().take(16).skip(1) {
        d = d.also(*span, format!("`{name}` requires `{}`", names[at + 1]));
    }
    d.help(match cycle.len() {
        1 => "the tool could never be called: remove the requirement, or say with `when` which calls it is for",
        _ => "none of these tools could ever be called: remove one of the requirements",
    })
}

pub(crate) fn negative_cost(span: Span, text: &str) -> Diagnostic {
    Diagnostic::error("G0304", span, format!("the cost `{text}` may be negative"))
        .label("spending is never undone, so a cost is never negative")
        .help(
            "narrow what it reads, for instance `amount: decimal in 0..`, or write `max(0.00, …)`",
        )
}

pub(crate) fn effect_misfit(
    span: Span,
    op: &str,
    var: &str,
    ty: &str,
    declared: Span,
    help: &str,
) -> Diagnostic {
    Diagnostic::error("G0305", span, format!("`{op}` does not fit `{var}`, which is {ty}"))
        .also(declared, "declared here")
        .help(help)
}

pub(crate) fn policy_parameter(
    span: Span,
    policy: &str,
    name: &str,
    tool: &str,
    declared: Span,
) -> Diagnostic {
    Diagnostic::error(
        "G0306",
        span,
        format!("the policy `{policy}` speaks of `{name}`, which `{tool}` does not have"),
    )
    .also(declared, format!("`{tool}` is declared here, without a parameter `{name}`"))
    .help("a policy may name only parameters that every tool it governs has; leave the tool out, or add the parameter")
}

pub(crate) fn library_parameter(
    tool_span: Span,
    policy: &str,
    name: &str,
    tool: &str,
    asked: Span,
) -> Diagnostic {
    Diagnostic::error(
        "G0306",
        tool_span,
        format!("the policy `{policy}` speaks of `{name}`, which `{tool}` does not have"),
    )
    .also(asked, "the library asks here")
    .help(format!(
        "call the parameter `{name}`, or remove the tag that puts the tool under the policy"
    ))
}

pub(crate) fn unreachable_block(span: Span, by: Span) -> Diagnostic {
    Diagnostic::error("G0307", span, "this block is never reached")
        .also(by, "this one always speaks first")
        .help("the first block whose condition holds speaks: put the unconditional one last")
}

pub(crate) fn empty_any(span: Span) -> Diagnostic {
    Diagnostic::error("G0308", span, "an empty `any` can never pass")
        .help("name at least one check, or remove it")
}

pub(crate) fn said_twice(what: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("G0309", span, format!("{what} is said twice"))
        .also(first, "first said here")
        .help("keep one of them")
}

pub(crate) fn tool_only(what: &str, span: Span, policy: &str) -> Diagnostic {
    Diagnostic::error(
        "G0311",
        span,
        format!("`{what}` describes one tool, and `{policy}` is a policy"),
    )
    .help("write it in the body of each tool")
}

pub(crate) fn lifecycle(span: Span, why: String, help: &str) -> Diagnostic {
    Diagnostic::error("G0312", span, why).help(help)
}

pub(crate) fn limit_of_nothing(span: Span) -> Diagnostic {
    Diagnostic::error("G0313", span, "a limit must be at least 1")
        .help("to forbid a tool altogether write `deny when true because \"…\"`")
}

pub(crate) fn count_of_nothing(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("G0313", span, format!("{what} must be at least 1"))
        .help("write a greater one, or remove the clause")
}

pub(crate) fn contract(span: Span, why: String, help: &str) -> Diagnostic {
    Diagnostic::error("G0314", span, why).help(help)
}

pub(crate) fn scenario(span: Span, why: String, help: &str) -> Diagnostic {
    Diagnostic::error("G0315", span, why).help(help)
}

pub(crate) fn over_bound(span: Span, tool: &str, steps: u64, bound: u64) -> Diagnostic {
    Diagnostic::error(
        "G0316",
        span,
        format!(
            "deciding `{tool}` may take {} steps, more than the bound of {}",
            grouped(steps),
            grouped(bound)
        ),
    )
    .help("bound the collections it walks with `max N`, or nest fewer quantifiers")
}

pub(crate) fn untrusted_learn(span: Span, tool: &str, declared: Span, partly: bool) -> Diagnostic {
    if partly {
        let message = format!("not everything that this reads of `{tool}` is trusted");
        return Diagnostic::error("G0317", span, message).also(declared, "declared here").help(
            "learn from trusted parts only; with `returns TYPE` the parts of a list and of an object can be told apart",
        );
    }
    Diagnostic::error("G0317", span, format!("`{tool}` is not trusted, so its result teaches nothing"))
        .also(declared, "declared here, without `trusted`")
        .help("add `trusted` if nobody outside can choose what it returns; otherwise learn from something else")
}

pub(crate) fn initial_state(span: Span, why: String, other: Option<(Span, &str)>) -> Diagnostic {
    let d = Diagnostic::error("G0318", span, why).help("a session must begin in an allowed state");
    match other {
        Some((span, text)) => d.also(span, text),
        None => d,
    }
}

pub(crate) fn secret_leaves(span: Span) -> Diagnostic {
    Diagnostic::error("G0217", span, "a secret would be written where nothing hides it")
        .label("reads something marked `secret`")
        .help("write it to a record field or a fact column marked `secret`, or write only whether it is the right one")
}

/// The code of an invariant that must be proved and is not.
pub(crate) const NOT_PROVED: &str = "G0319";

/// `left` is what is left to check, with a condition that would do where one can be said.
pub(crate) fn not_proved(
    invariant: (&str, Span),
    (tool, declared): (&str, Span),
    observed: bool,
    left: &[verify::Residue],
) -> Diagnostic {
    let (name, span) = invariant;
    let what = if observed { "what it observes" } else { "a call of it" };
    let message = format!("`{name}` must be proved, but `{tool}` may break it");
    let d = Diagnostic::error(NOT_PROVED, span, message)
        .label(format!("not after {what}"))
        .also(declared, "this tool");
    let needs: Vec<&str> = left.iter().filter_map(|one| one.needs.as_deref()).collect();
    let hard = left.iter().any(|one| one.why == verify::Why::Exhausted);
    match (observed, &needs[..]) {
        (false, [first, ..]) => d.help(format!("add `deny unless {first}` to `{tool}`")),
        (true, _) => d.help(
            "an observation cannot be refused: give the variable a type that keeps it in bounds",
        ),
        (false, []) if hard => {
            d.help("the prover gave up: simpler conditions, or fewer of them, may do")
        }
        (false, []) => d.help(
            "add conditions from which it follows, or drop `proved`: then each call is checked",
        ),
    }
}

// Warnings.

pub(crate) fn default_allow(span: Span) -> Diagnostic {
    Diagnostic::warning("G0501", span, "tools that this guard does not declare are allowed")
        .help("declare the tools and remove `default allow`, unless other guards govern the rest")
}

pub(crate) fn unused(what: &str, name: &Ident) -> Diagnostic {
    Diagnostic::warning("G0502", name.span, format!("the {what} `{}` is never used", name.node))
        .help("remove it, or use it")
}

pub(crate) fn unanchored(span: Span, pattern: &str, begins: bool, ends: bool) -> Diagnostic {
    let (what, help) = match (begins, ends) {
        (true, _) => (
            "anything may follow what",
            "end each alternative with `$`, or with `.*` where that is meant",
        ),
        (_, true) => (
            "anything may precede what",
            "begin each alternative with `^`, or with `.*` where that is meant",
        ),
        _ => (
            "anything may precede and follow what",
            "write `^…$` around each alternative, or `.*` at both ends where that is meant",
        ),
    };
    Diagnostic::warning("G0503", span, format!("{what} `/{pattern}/` matches")).help(help)
}

pub(crate) fn word_class(span: Span, class: &str) -> Diagnostic {
    Diagnostic::warning(
        "G0504",
        span,
        format!("`[^{class}]` excludes single characters, not a word"),
    )
    .help("exclude a word with `not x contains \"…\"`, a host with `url.host`, an ending with `ends_with`")
}

pub(crate) fn nested_repetition(span: Span) -> Diagnostic {
    Diagnostic::warning("G0505", span, "a repetition inside a repetition")
        .help("one of the two is enough")
}

pub(crate) fn governs_nothing(name: &Ident) -> Diagnostic {
    Diagnostic::warning("G0506", name.span, format!("the policy `{}` governs no tool", name.node))
        .help("its tags or patterns match nothing that is declared; its rules were not checked")
}

pub(crate) fn hidden_variable(param: &str, span: Span, var: Span) -> Diagnostic {
    Diagnostic::warning("G0508", span, format!("the parameter `{param}` hides the variable of the same name"))
        .also(var, "the variable")
        .help("rename one of them: inside the tool, `effect` writes the variable and expressions read the parameter")
}

pub(crate) fn never_varies(span: Span, outcome: bool, why: &str) -> Diagnostic {
    Diagnostic::warning("G0509", span, format!("this comparison is always {outcome}: {why}"))
        .help("correct the bound or the operator, or remove the condition")
}

pub(crate) fn never_called(span: Span, tool: &str, at: Span, why: &str) -> Diagnostic {
    let found = Diagnostic::warning(
        "G0510",
        span,
        format!("the tool `{tool}` can never be called: {why}"),
    )
    .help("repair what is in the way, or remove the tool: what is not declared is refused anyway");
    if at == span { found } else { found.also(at, "this is in the way") }
}

pub(crate) fn never_fires(span: Span, why: &str) -> Diagnostic {
    Diagnostic::warning("G0511", span, format!("this rule never fires: {why}"))
        .help("say what it is to refuse, or remove it: it protects nothing")
}

pub(crate) fn shadowed_rule(span: Span, by: Span) -> Diagnostic {
    Diagnostic::warning("G0512", span, "all that this refuses is refused by another rule")
        .also(by, "by this one")
        .help("remove one of the two, or say here what the other one does not")
}

pub(crate) fn moot_limit(span: Span, limit: &str, unit: &str, budget: Span) -> Diagnostic {
    let message = format!("`{limit}` is never reached: the budget of {unit} is used up before");
    let found = Diagnostic::warning("G0513", span, message)
        .help("lower the limit, raise the budget, or remove one of the two");
    if budget == Span::default() { found } else { found.also(budget, "the budget") }
}

pub(crate) fn unreachable(span: Span, what: &str, why: &str) -> Diagnostic {
    Diagnostic::warning("G0514", span, format!("{what} cannot be reached: {why}"))
        .help("give the agent a way there, or ask for less")
}

pub(crate) fn silent_feedback(span: Span, provider: &str, why: &str) -> Diagnostic {
    Diagnostic::warning("G0515", span, format!("the feedback `{provider}` is never given: {why}"))
        .help("say when it is due, or remove it")
}

pub(crate) fn untaught(span: Span, fact: &str) -> Diagnostic {
    let message = format!("the fact `{fact}` is asked for, and nothing teaches it");
    Diagnostic::warning("G0516", span, message)
        .help(format!("add `learn {fact}(…)` to a trusted tool or a source"))
}

pub(crate) fn ungated(span: Span, tool: &str) -> Diagnostic {
    let message = format!("`{tool}` cannot be undone, and nobody is asked before");
    Diagnostic::warning("G0517", span, message)
        .help("add `approval ROLE when …`, or `risk critical`, which asks for an authorisation of each call")
}

pub(crate) fn never_asked(span: Span, why: &str) -> Diagnostic {
    Diagnostic::warning("G0518", span, format!("this approval is never asked for: {why}"))
        .help("say when somebody is to be asked, or remove it: nobody looks at these calls")
}
