//! Problems with clauses: `G03`.

use super::words::{chain, grouped, meant, suggest};
use crate::analysis::verify;
use crate::lower::CostliestRule;
use guard_syntax::ast::Ident;
use guard_syntax::diagnostic::Diagnostic;
use guard_syntax::span::Span;

pub(crate) fn written_twice(var: &str, second: Span, first: Span, tool: &str) -> Diagnostic {
    Diagnostic::error("G0301", second, format!("`{tool}` writes `{var}` twice"))
        .label("written again here")
        .also(first, "first written here")
        .help("effects are simultaneous, so a tool writes a place at most once: join the two into one")
}

pub(crate) fn transformed_twice(name: &str, second: Span, first: Span, tool: &str) -> Diagnostic {
    Diagnostic::error("G0301", second, format!("`{tool}` changes `{name}` twice"))
        .label("changed again here")
        .also(first, "first changed here")
        .help("all transforms read the call as it was proposed: join the two into one")
}

pub(crate) fn transform_of_part(span: Span, param: &str) -> Diagnostic {
    Diagnostic::error("G0201", span, format!("a part of `{param}` cannot be transformed"))
        .label("only whole arguments can")
        .help(format!("write the whole value: `transform {param} = …`"))
}

pub(crate) fn because_of_result(span: Span) -> Diagnostic {
    Diagnostic::error("G0212", span, "the `because` of a changed result is never shown")
        .label("the agent is not told that it reads another value")
        .help("leave it out, or write it in a `///` comment")
}

pub(crate) fn requirement_cycle(cycle: &[(&str, Span)]) -> Diagnostic {
    let names: Vec<&str> =
        cycle.iter().map(|(n, _)| *n).chain(cycle.first().map(|(n, _)| *n)).collect();
    let first = cycle.first().map(|(_, s)| *s).unwrap_or_default();
    let mut d =
        Diagnostic::error("G0302", first, format!("circular requirements: {}", chain(&names)))
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
        .label("a cost below zero would refill the budget")
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
        format!("the policy `{policy}` refers to `{name}`, which `{tool}` does not have"),
    )
    .also(declared, format!("`{tool}` is declared here, without a parameter or `let` `{name}`"))
    .help(format!("a policy may name only parameters and `let`s that every tool it governs has; leave the tool out, or add one, such as `let {name} = …`"))
}

/// Returns the problem with a parameter that a tool does not have, for an argument that a transform
/// changes. A `let` is not valid there.
pub(crate) fn of_transform(missing: Diagnostic) -> Diagnostic {
    missing.help("a transform changes an argument: leave the tool out, or add the parameter")
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
        format!("the policy `{policy}` refers to `{name}`, which `{tool}` does not have"),
    )
    .also(asked, "the library uses it here")
    .help(format!(
        "call the parameter `{name}`, write `let {name} = …` in the tool, or remove the tag that puts the tool under the policy"
    ))
}

/// A name in a policy that is a parameter or a `let` of a governed tool, and also has another
/// meaning.
pub(crate) fn two_meanings(
    at: Span,
    name: &str,
    policy: &str,
    kind: &str,
    (what, tool): (&str, &str),
) -> Diagnostic {
    let message =
        format!("`{name}` in the policy `{policy}` is a {kind}, and a {what} of `{tool}`");
    Diagnostic::error("G0321", at, message)
        .help("rename one of them, or leave the tool out of the policy")
}

pub(crate) fn unreachable_block(span: Span, by: Span) -> Diagnostic {
    Diagnostic::error("G0307", span, "this block is never reached")
        .also(by, "this one is always delivered first")
        .help("only the first block whose condition holds is delivered: put the unconditional one last")
}

pub(crate) fn empty_any(span: Span) -> Diagnostic {
    Diagnostic::error("G0308", span, "an empty `any` can never pass")
        .help("name at least one check, or remove it")
}

pub(crate) fn said_twice(what: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("G0309", span, format!("{what} is given twice"))
        .also(first, "first given here")
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

pub(crate) fn too_many_ranges(span: Span, most: usize) -> Diagnostic {
    Diagnostic::error("G0316", span, format!("a clause iterates over at most {most} collections"))
        .help("write it in several steps, or use a flat list")
}

pub(crate) fn limit_of_nothing(span: Span) -> Diagnostic {
    Diagnostic::error("G0313", span, "a limit must be at least 1")
        .help("to forbid a tool altogether write `deny when true because \"…\"`")
}

pub(crate) fn success_in_flight(span: Span) -> Diagnostic {
    Diagnostic::error("G0313", span, "a call in flight has not succeeded yet")
        .help("write `limit N in flight`, or `limit N success per session`")
}

/// A limit of calls in flight that asks a role: such a call only has to wait.
pub(crate) fn ask_in_flight(span: Span, role: &str) -> Diagnostic {
    let message = "a call over a limit `in flight` waits until another one has settled";
    Diagnostic::error("G0332", span, message).label("there is nothing to approve").help(format!(
        "remove `else ask {role}`, or count calls with `limit N per session else ask {role}`"
    ))
}

pub(crate) fn count_of_nothing(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("G0313", span, format!("{what} must be at least 1"))
        .help("write a larger one, or remove the clause")
}

pub(crate) fn contract(span: Span, why: String, help: &str) -> Diagnostic {
    Diagnostic::error("G0314", span, why).help(help)
}

pub(crate) fn one_json_name(wire: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("G0323", span, format!("two members have the name `{wire}` in JSON"))
        .also(first, "the other one")
        .help("a producer can write each name once: give one of them another")
}

pub(crate) fn contract_form(span: Span, what: &str, form: &str) -> Diagnostic {
    Diagnostic::error("G0324", span, format!("{what} with {form}, outside of a contract"))
        .help("what a tool is given or gives is made of plain records: use a record of its own")
}

pub(crate) fn inexact(span: Span, what: &str, form: &str) -> Diagnostic {
    Diagnostic::error("G0324", span, format!("{what} with {form}, outside of a result"))
        .help("what a tool is given is taken exactly as it is written: use a record of its own")
}

pub(crate) fn lossy_contract(span: Span, form: &str) -> Diagnostic {
    Diagnostic::error("G0324", span, format!("a contract with {form}"))
        .help("a contract takes nothing of which something is lost: use a record of its own")
}

pub(crate) fn untold(span: Span, why: &str, help: &str) -> Diagnostic {
    Diagnostic::error("G0325", span, why).help(help)
}

pub(crate) fn misfit(span: Span, why: String, help: &str) -> Diagnostic {
    Diagnostic::error("G0326", span, why).help(help)
}

pub(crate) fn json_name(span: Span, why: &str, help: &str) -> Diagnostic {
    Diagnostic::error("G0327", span, format!("{why} is not a name in JSON")).help(help)
}

pub(crate) fn unknown_test<'a>(title: &Ident, known: impl Iterator<Item = &'a str>) -> Diagnostic {
    let why = format!("there is no test `{}`", title.node);
    let diagnostic = Diagnostic::error("G0315", title.span, why);
    match meant(&title.node, known) {
        Some(near) => {
            diagnostic.help(format!("did you mean `{near}`?")).fix(title.span, format!("{near:?}"))
        }
        None => diagnostic.help("write the title of another test of this guard"),
    }
}

pub(crate) fn not_in_flight<'a>(name: &Ident, known: impl Iterator<Item = &'a str>) -> Diagnostic {
    let why = format!("no call named `{}` is in flight here", name.node);
    let diagnostic = Diagnostic::error("G0315", name.span, why);
    suggest(diagnostic, name.span, meant(&name.node, known), "begin it with `start NAME = CALL`")
}

pub(crate) fn too_many_steps(test: Span, most: usize) -> Diagnostic {
    let why = format!("the beginnings of the tests add more than {} steps", grouped(most as u64));
    Diagnostic::error("G0315", test, why).help(
        "the steps of a beginning count for each test that begins after it: let fewer tests do so",
    )
}

pub(crate) fn test_after_itself(after: &Ident, title: &str) -> Diagnostic {
    let why = format!("the test `{title}` begins after itself");
    Diagnostic::error("G0315", after.span, why).help("one of these tests must begin by itself")
}

pub(crate) fn scenario(span: Span, why: String, help: &str) -> Diagnostic {
    Diagnostic::error("G0315", span, why).help(help)
}

/// The maximum length of a collection in a message, in characters.
const MAX_COLLECTION: usize = 60;

/// A tool over the bound; with the place of its costliest rule.
pub(crate) fn over_bound(
    span: Span,
    tool: &str,
    (steps, bound): (u64, u64),
    costliest: Option<(String, CostliestRule)>,
) -> Diagnostic {
    let mut help = String::new();
    if let Some((place, rule)) = costliest {
        let walks = rule.walks.iter().map(|(collection, most)| {
            let collection = guard_plan::render::cut(collection, MAX_COLLECTION);
            let elements = guard_plan::words::count(grouped(*most), "element");
            format!("`{collection}` with up to {elements}")
        });
        let walks = walks.collect::<Vec<_>>().join(", for each of these ");
        let walks = if walks.is_empty() { walks } else { format!(": it walks {walks}") };
        help = format!("the rule at {place} takes {} of them{walks}; ", grouped(rule.steps));
    }
    help += "bound the collections and texts with `max N`, or nest fewer quantifiers";
    Diagnostic::error(
        "G0316",
        span,
        format!(
            "deciding `{tool}` may take {} steps, more than the bound of {}",
            grouped(steps),
            grouped(bound)
        ),
    )
    .help(help)
}

pub(crate) fn too_many_patterns(span: Span, bound: usize) -> Diagnostic {
    Diagnostic::error("G0316", span, format!("the guard has more than {bound} regular expressions"))
        .label("this one and those after it are not checked")
        .help("write alternatives of one expression, `a|b`, or compare with a list")
}

pub(crate) fn too_many_clauses(span: Span, bound: usize) -> Diagnostic {
    let bound = grouped(bound as u64);
    let message = format!("up to here the policies put more than {bound} clauses on tools");
    Diagnostic::error("G0316", span, message)
        .label("this policy and those after it are not checked")
        .help("name fewer tools in `for`, or say in one clause what several say")
}

pub(crate) fn untrusted_learn(span: Span, tool: &str, declared: Span, partly: bool) -> Diagnostic {
    if partly {
        let message = format!("this reads parts of the result of `{tool}` that are not trusted");
        return Diagnostic::error("G0317", span, message).also(declared, "declared here").help(
            "learn from trusted parts only. A `for` reads the list itself, too: `trusted m.PART for m in LIST` trusts it with a part of each element, `… when CONDITION` with a part of some; parts can be told apart with `returns TYPE`",
        );
    }
    Diagnostic::error("G0317", span, format!("`{tool}` is not trusted, so nothing can be learned from its result"))
        .also(declared, "declared here, without `trusted`")
        .help("add `trusted` if nobody outside can choose what it returns; otherwise learn from something else")
}

pub(crate) fn part_of_other(name: &Ident, begin: &str) -> Diagnostic {
    let message = format!("the part begins with `{begin}`, not with `{}`", name.node);
    Diagnostic::error("G0110", name.span, message)
        .label("another part of the result")
        .help(format!("write `{begin}`, or a part of it: `{begin}.FIELD`"))
}

pub(crate) fn range_elsewhere(span: Span, begin: &str) -> Diagnostic {
    Diagnostic::error("G0201", span, format!("expected a list in `{begin}`, found something else"))
        .label("the elements of this are not parts of the result")
        .help(format!("name the list by its fields: `{begin}`, or `{begin}.FIELD`"))
}

pub(crate) fn untrusted_condition(span: Span, what: &str) -> Diagnostic {
    let message = format!("{what} is not trusted, and the condition of this `trusted` reads it");
    Diagnostic::error("G0317", span, message).help(
        "add `trusted result.PART` if nobody outside can choose the part that is read, or ask for something else",
    )
}

pub(crate) fn learn_of_untrusted(span: Span, what: &str, origin: Span) -> Diagnostic {
    Diagnostic::error(
        "G0317",
        span,
        format!("{what} may hold untrusted values, and this learns from it"),
    )
    .also(origin, "the untrusted value comes from here")
    .help("learn from trusted results only, directly or through variables that nothing else writes or clears (`undecoded keep`)")
}

/// A lesson whose condition asks if a tool has not succeeded.
pub(crate) fn learn_of_failure(span: Span, tool: &str, declared: Span) -> Diagnostic {
    let message = format!("this learns where `{tool}` has not succeeded");
    Diagnostic::error("G0317", span, message)
        .label("a call whose result does not decode has not succeeded")
        .also(declared, "not everything that this returns is trusted")
        .help(format!("ask for `called({tool})`, or add `trusted` if nobody outside can choose what it returns"))
}

pub(crate) fn learn_of_argument(span: Span, what: &str) -> Diagnostic {
    let message = format!("the agent chooses {what}, and this learns it");
    Diagnostic::error("G0317", span, message)
        .label("no column of this row, and no `when`, reads the result alone")
        .help("learn a part of the result as well as the argument, or add a `when` that compares the argument with the result")
}

pub(crate) fn learn_of_private(span: Span) -> Diagnostic {
    let message =
        "this learns from an answer of `may_read`, which depends on what others have written";
    Diagnostic::error("G0317", span, message).help(
        "whoever writes a private text decides what it contains: learn from trusted results only",
    )
}

pub(crate) fn initial_state(span: Span, why: String, other: Option<(Span, &str)>) -> Diagnostic {
    let d = Diagnostic::error("G0318", span, why).help("a session must begin in an allowed state");
    match other {
        Some((span, text)) => d.also(span, text),
        None => d,
    }
}

pub(crate) fn secret_leaves(span: Span) -> Diagnostic {
    Diagnostic::error("G0217", span, "a secret would be written to a place that is not secret")
        .label("reads something marked `secret`")
        .help("write it to a record field or a fact column marked `secret`, or write only whether it is the right one")
}

/// The code of an invariant that must be proved and is not proved.
pub(crate) const NOT_PROVED: &str = "G0319";

/// `left` is what remains to be checked, with a sufficient condition if there is one.
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
    let needs: Vec<&str> = left.iter().filter_map(|residue| residue.needs.as_deref()).collect();
    let hard = left.iter().any(|residue| residue.why == verify::UnprovedReason::Exhausted);
    match (observed, &needs[..]) {
        (false, [first, ..]) => d.help(format!("add `deny unless {first}` to `{tool}`")),
        (true, _) => d.help(
            "an observation cannot be refused: give the variable a type that keeps it in bounds",
        ),
        (false, []) if hard => d.help("the prover gave up: use simpler or fewer conditions"),
        (false, []) => d.help(
            "add conditions from which it follows, or drop `proved`: then each call is checked",
        ),
    }
}

/// A clause of a property that does more than refuse calls.
pub(crate) fn not_a_claim(span: Span) -> Diagnostic {
    Diagnostic::error("G0322", span, "a property claims that it never refuses a call, and this does something else")
        .help("a property has the clauses `requires`, `deny`, `limit`, `approval` and `let`; write this in a tool or a policy")
}

pub(crate) fn shadow_in_property(span: Span) -> Diagnostic {
    Diagnostic::error("G0322", span, "no clause of a property refuses a call, so none is in shadow")
        .help("remove `shadow`; `property NAME monitor` reports the calls that break it")
}

/// A property that must be proved and is not proved. `left` contains the clauses, each with the
/// tool and its declaration.
pub(crate) fn property_not_proved(
    (name, span): (&str, Span),
    left: &[(String, String, Span)],
) -> Diagnostic {
    let mut d = Diagnostic::error(
        NOT_PROVED,
        span,
        format!("the property `{name}` must be proved, but is not"),
    );
    for (tool, text, clause) in left.iter().take(3) {
        d = d.also(*clause, format!("`{text}` does not follow for `{tool}`"));
    }
    d.help("`guardc verify` looks for a session that breaks it; add the rule from which it follows, or drop `proved`")
}

pub(crate) fn budget_never_charged(span: Span, unit: &str) -> Diagnostic {
    Diagnostic::error("G0320", span, format!("nothing charges the budget `{unit}`"))
        .label("it can never be used up")
        .help(format!(
            "say with `costs … {unit}` what a call costs, or write `budget {unit} = … host` if the host \
             reports what is spent"
        ))
}

pub(crate) fn statement_without_key(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("G0333", span, format!("the statement `{name}` has no key")).help(format!(
        "give it a key to be read by, as in `statement {name}(id: string) approval ROLE`"
    ))
}

pub(crate) fn statement_left_open(span: Span, param: &str) -> Diagnostic {
    Diagnostic::error(
        "G0333",
        span,
        format!("every parameter of a statement must have a value, and `{param}` may be missing"),
    )
    .help("remove the `?`, or write two statements")
}

pub(crate) fn stated_elsewhere(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("G0333", span, format!("only an approved call of `{name}` writes this"))
        .help("write to another variable; a stated value may only be removed")
}

pub(crate) fn secret_statement(span: Span, param: &str) -> Diagnostic {
    Diagnostic::error(
        "G0333",
        span,
        format!("statements are recorded in the clear, and `{param}` is secret"),
    )
    .help("remove `secret`, or leave it out of the statement")
}

pub(crate) fn calls_by_host(span: Span) -> Diagnostic {
    Diagnostic::error("G0320", span, "the host does not charge `calls`")
        .label("every allowed call costs one")
        .help("remove `host`, or give the host's unit another name")
}
