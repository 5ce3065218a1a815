//! Warnings: `G05`.

use super::grouped;
use guard_syntax::ast::Ident;
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;

pub(crate) fn default_allow(span: Span) -> Diagnostic {
    Diagnostic::warning("G0501", span, "tools that this guard does not declare are allowed")
        .help("declare the tools and remove `default allow`, unless other guards govern the rest")
}

pub(crate) fn unused(what: &str, name: &Ident) -> Diagnostic {
    Diagnostic::warning("G0502", name.span, format!("the {what} `{}` is never used", name.node))
        .help("remove it or use it")
}

pub(crate) fn shadow_let(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(
        "G0309",
        span,
        format!("`let {name}` has no effect that `shadow` could take away"),
    )
    .help("remove `shadow`; write it before the clauses that use the name")
}

pub(crate) fn shadow_description(span: Span) -> Diagnostic {
    Diagnostic::error("G0311", span, "only a rule can be in shadow, and this describes a tool")
        .help("remove `shadow`, or write it where nothing is in shadow")
}

pub(crate) fn unanchored(span: Span, pattern: &str, begins: bool, ends: bool) -> Diagnostic {
    let (what, help) = match (begins, ends) {
        (true, _) => (
            "any text may follow what",
            "end each alternative with `$`, or with `(?s:.*)$` if any text may follow",
        ),
        (_, true) => (
            "any text may precede what",
            "begin each alternative with `^`, or with `^(?s:.*)` if any text may precede",
        ),
        _ => (
            "any text may precede and follow what",
            "write `^…$` around each alternative; to match anywhere, use `contains`, or `^(?s:.*)` before and `(?s:.*)$` after",
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

/// A parameter or bound variable with the name of a define, or a parameter of a define with the
/// name of a variable.
pub(crate) fn hidden_name(
    what: &str,
    name: &str,
    span: Span,
    hidden: &str,
    declared: Option<Span>,
) -> Diagnostic {
    let message = format!("the {what} `{name}` hides the {hidden} of the same name");
    let d = Diagnostic::warning("G0508", span, message);
    let d = declared.into_iter().fold(d, |d, at| d.also(at, format!("the {hidden}")));
    d.help("rename one of them")
}

pub(crate) fn hidden_variable(param: &str, span: Span, var: Span) -> Diagnostic {
    Diagnostic::warning("G0508", span, format!("the parameter `{param}` hides the variable of the same name"))
        .also(var, "the variable")
        .help("rename one of them: inside the tool, `effect` writes the variable and expressions read the parameter")
}

/// A comparison that always has the same result. If the comparison may fault, it still refuses
/// calls then, so the help does not suggest removing it.
pub(crate) fn never_varies(span: Span, outcome: bool, why: &str, is_total: bool) -> Diagnostic {
    let help = if is_total {
        "correct the bound or the operator, or remove the condition"
    } else {
        "correct the bound or the operator; the rule refuses only calls for which it cannot be evaluated"
    };
    Diagnostic::warning("G0509", span, format!("this comparison is always {outcome}: {why}"))
        .help(help)
}

pub(crate) fn never_called(span: Span, tool: &str, at: Span, why: &str) -> Diagnostic {
    let found =
        Diagnostic::warning("G0510", span, format!("the tool `{tool}` can never be called: {why}"))
            .help(
                "repair what prevents it, or remove the tool: undeclared tools are refused anyway",
            );
    if at == span { found } else { found.also(at, "this prevents it") }
}

pub(crate) fn never_fires(span: Span, why: &str) -> Diagnostic {
    Diagnostic::warning("G0511", span, format!("this rule never fires: {why}"))
        .help("write what it should refuse, or remove it: it protects nothing")
}

pub(crate) fn only_faults(span: Span) -> Diagnostic {
    let message = "the condition of this rule is never true: it refuses only calls for which it cannot be evaluated";
    Diagnostic::warning("G0511", span, message)
        .help("write what it should refuse, as in `deny when n == 0` before a division by `n`")
}

pub(crate) fn shadowed_rule(span: Span, by: Span) -> Diagnostic {
    Diagnostic::warning("G0512", span, "another rule refuses everything that this refuses")
        .also(by, "by this one")
        .help("remove one of the two, or write here what the other one does not refuse")
}

pub(crate) fn moot_limit(span: Span, limit: &str, unit: &str, budget: Span) -> Diagnostic {
    let message = format!("`{limit}` is never reached: the budget of {unit} is used up first");
    let found = Diagnostic::warning("G0513", span, message)
        .help("lower the limit, raise the budget, or remove one of the two");
    if budget == Span::default() { found } else { found.also(budget, "the budget") }
}

pub(crate) fn unreachable(span: Span, what: &str, why: &str) -> Diagnostic {
    Diagnostic::warning("G0514", span, format!("{what} cannot be reached: {why}"))
        .help("let some call make it true, or require less")
}

pub(crate) fn silent_feedback(span: Span, provider: &str, why: &str) -> Diagnostic {
    Diagnostic::warning("G0515", span, format!("the feedback `{provider}` is never given: {why}"))
        .help("write a trigger that can happen, or remove it")
}

pub(crate) fn untaught(span: Span, fact: &str) -> Diagnostic {
    let message = format!("rules use the fact `{fact}`, but nothing teaches it");
    Diagnostic::warning("G0516", span, message)
        .help(format!("add `learn {fact}(…)` to a trusted tool or a source"))
}

pub(crate) fn ungated(span: Span, tool: &str) -> Diagnostic {
    let message = format!("`{tool}` is irreversible, and no approval is required");
    Diagnostic::warning("G0517", span, message)
        .help("add `approval ROLE when …`, or `risk critical`, which asks for an authorisation of each call")
}

pub(crate) fn old_success(span: Span, tool: &str) -> Diagnostic {
    let message = format!("a call of `{tool}` that fails later does not end what this requires");
    Diagnostic::warning("G0519", span, message)
        .help(format!("write `requires latest {tool} …`, or read `failed({tool})` somewhere"))
}

pub(crate) fn any_call(span: Span, tool: &str, param: &str) -> Diagnostic {
    let message = format!("a call of `{tool}` with any `{param}` meets this requirement");
    Diagnostic::warning("G0520", span, message).help(format!(
        "write `{tool}({param})` for a call with the same `{param}`; where any call will do, write `deny unless called({tool})`"
    ))
}

pub(crate) fn swallowed(span: Span, is_any: bool) -> Diagnostic {
    let (quantifier, operator) = if is_any { ("any", "or") } else { ("all", "and") };
    let message = format!(
        "this belongs to the body of `{quantifier}`, and is not asked where the collection is empty"
    );
    Diagnostic::warning("G0521", span, message)
        .help(format!("write `({quantifier} … in …: …) {operator} …`"))
}

pub(crate) fn private_unasked(span: Span) -> Diagnostic {
    let message = "no rule asks who may read this, so it has no effect";
    Diagnostic::warning("G0522", span, message)
        .help("add `deny unless may_read(READER, TEXT)` to the tools that send")
}

pub(crate) fn nothing_private(span: Span) -> Diagnostic {
    Diagnostic::warning("G0522", span, "no result is private, so everybody may read everything")
        .help("add `private result` to the tools whose results not everybody may read")
}

pub(crate) fn chosen_trust(span: Span) -> Diagnostic {
    let message = "the agent decides whom this trusts: it chooses what is compared here";
    Diagnostic::warning("G0523", span, message).help(
        "compare with a constant or with what a trusted source teaches; or add `and known FACT(…)` about what the agent chose, or an \
         `approval` to the tool that writes the variable",
    )
}

/// `requires T since A or B`, in which the alternative `B` has no `since`.
pub(crate) fn bare_alternative(span: Span, bare: &str, first: &str) -> Diagnostic {
    let message =
        format!("a call of `{bare}` alone meets this requirement, with or without `{first}`");
    Diagnostic::warning("G0524", span, message).help(format!(
        "for `{first}` after both write two requirements, each with its own `since`; if `{bare}` alone is meant to be enough, write it first"
    ))
}

/// A column in lower case that is compared with a text in its original case.
pub(crate) fn cased(span: Span, column: &str) -> Diagnostic {
    let message = format!("`{column}` is in lower case, and the other side may not be");
    Diagnostic::warning("G0526", span, message).help("compare with `lower(…)`")
}

/// A rule that replaces the denial that every command has by default.
pub(crate) fn command_default(span: Span, flag: &str, param: &str) -> Diagnostic {
    let message = format!(
        "this rule replaces the default denial of commands that are not `{flag}`: those that it does not mention pass"
    );
    Diagnostic::warning("G0528", span, message).help(format!(
        "add `deny unless all c in commands({param}): c.{flag}`, or leave `{flag}` out of this rule"
    ))
}

pub(crate) fn accepts_nothing(span: Span, code: &str) -> Diagnostic {
    let message = format!("there is no warning `{code}` here");
    Diagnostic::warning("G0527", span, message)
        .help("remove the comment, or write it before the element that the warning is about")
}

pub(crate) fn accepts_no_warning(span: Span, code: &str) -> Diagnostic {
    let message = format!("`{code}` is not the code of a warning");
    Diagnostic::warning("G0527", span, message)
        .help("only warnings are accepted: their codes begin with `G05`")
}

pub(crate) fn accepts_without_reason(span: Span, code: &str) -> Diagnostic {
    Diagnostic::warning("G0527", span, "this accepts a warning without a reason")
        .help(format!("give a reason: `// accept {code}: …`"))
}

/// A rule that no longer refuses anything once a row is evicted.
pub(crate) fn lifted_by_eviction(span: Span, fact: &str, max: u64, teacher: Span) -> Diagnostic {
    let message = format!("this refuses nothing once a row of `{fact}` is forgotten");
    Diagnostic::warning("G0525", span, message)
        .also(teacher, format!("once there are {} rows, each new one replaces the oldest", grouped(max)))
        .help(format!("ask for what is allowed (`deny unless known …`), limit the calls that teach rows (`limit N per session`), or let a full fact halt the session (`max {max} else halt`)"))
}

/// A rule that no longer refuses anything once a variable is cleared.
pub(crate) fn lifted_by_clearing(span: Span, var: &str, observer: Span) -> Diagnostic {
    let message = format!("this refuses nothing once `{var}` is cleared");
    Diagnostic::warning("G0525", span, message)
        .also(observer, "a result that does not decode clears it")
        .help(format!("write `undecoded keep` (or `halt`) where `{var}` is observed, or also refuse when it is missing"))
}

/// A rule that no longer refuses anything after a call whose result does not decode.
pub(crate) fn lifted_by_undecoded(span: Span, tool: &str, declared: Span) -> Diagnostic {
    let message =
        format!("this refuses nothing after a call of `{tool}` whose result does not decode");
    Diagnostic::warning("G0529", span, message)
        .also(declared, "such a call has run but has not succeeded")
        .help(format!("count the calls that have run (`calls({tool}) > 0`, `limit 1 per session`), or write `undecoded halt` in `{tool}`"))
}

/// A rule of a tool that refuses nothing if the tool's own result teaches nothing.
pub(crate) fn lifted_by_no_lesson(span: Span, tool: &str, fact: &str, lesson: Span) -> Diagnostic {
    let message =
        format!("this refuses nothing after a call of `{tool}` whose result does not decode");
    Diagnostic::warning("G0529", span, message)
        .also(lesson, format!("such a call has run but teaches nothing to `{fact}`"))
        .help(format!("write `undecoded halt` in `{tool}`, count its calls (`calls({tool}) > 0`), or refuse by a variable that an `effect` writes"))
}

pub(crate) fn never_asked(span: Span, why: &str) -> Diagnostic {
    Diagnostic::warning("G0518", span, format!("this approval is never requested: {why}"))
        .help("write a condition that can be true, or remove it: nobody reviews these calls")
}
