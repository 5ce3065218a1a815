//! The elements of block items: the kind of element of each block, and the boundaries between
//! elements if the block as a whole does not parse.

use super::grammar::Rule;
use super::site::Site;
use crate::lexical::TokenKind;
use crate::lexical::is_reserved;

/// The elements of a kind of block.
#[derive(Clone, Copy)]
pub(super) struct ElementKind {
    /// The rule for one element.
    pub rule: Rule,
    /// The rule for one element followed by the end.
    pub only: Rule,
    /// The name of an element in messages.
    pub called: &'static str,
    /// Some examples.
    pub examples: &'static str,
    /// The keywords that begin an element; empty if names do.
    pub keywords: &'static [&'static str],
}

const fn kind(
    rule: Rule,
    only: Rule,
    called: &'static str,
    examples: &'static str,
    keywords: &'static [&'static str],
) -> ElementKind {
    ElementKind { rule, only, called, examples, keywords }
}

/// The clauses of tools and policies.
pub(super) const CLAUSES: [&str; 22] = [
    "requires",
    "deny",
    "limit",
    "costs",
    "risk",
    "irreversible",
    "approval",
    "ready",
    "effect",
    "observe",
    "learn",
    "reconcile",
    "prior",
    "returns",
    "tags",
    "name",
    "trusted",
    "untrusted",
    "shadow",
    "let",
    "transform",
    "private",
];
const STEPS: [&str; 31] = [
    "ok", "fails", "allowed", "denied", "asks", "waits", "start", "finish", "approve", "revoke",
    "after", "at", "exists", "missing", "file", "probe", "usage", "prompt", "expect", "halted",
    "resume", "feedback", "stop", "data", "command", "git", "verify", "move", "item", "advice",
    "shows",
];
const LIFECYCLE: [&str; 7] =
    ["fields", "initial", "final", "agent", "harness", "criteria", "escalate"];
const PROBE: [&str; 8] =
    ["returns", "command", "file", "host", "every", "backoff", "timeout", "within"];
const CHECKS: [&str; 8] = ["file", "command", "git", "every", "attest", "all", "any", "at"];

/// Returns the kind of elements of an item that is a block.
pub(super) fn kind_of(rule: Rule) -> Option<ElementKind> {
    Some(match rule {
        Rule::tool | Rule::policy | Rule::property => kind(
            Rule::clause,
            Rule::only_clause,
            "a clause",
            "`requires`, `deny when`, `limit`, `costs`, `approval`, `effect` and the other clauses",
            &CLAUSES,
        ),
        Rule::state => kind(
            Rule::variable,
            Rule::only_variable,
            "`name: type = value`",
            "variables, as in `done: bool = false`",
            &[],
        ),
        Rule::record => kind(
            Rule::field,
            Rule::only_field,
            "`name: type`",
            "fields, as in `price: decimal`",
            &[],
        ),
        Rule::enum_item => {
            kind(Rule::variant, Rule::only_variant, "a variant", "names and strings", &[])
        }
        Rule::union_item => kind(
            Rule::union_case,
            Rule::only_case,
            "a record",
            "names of records, as in `Run as \"run\"`",
            &[],
        ),
        Rule::source => {
            kind(Rule::learn, Rule::only_learn, "`learn`", "`learn FACT(…)`", &["learn"])
        }
        Rule::lifecycle => kind(
            Rule::lifecycle_clause,
            Rule::only_lifecycle,
            "a clause of a lifecycle",
            "`fields`, `initial`, `final`, `agent`, `harness`, `criteria` and `escalate`",
            &LIFECYCLE,
        ),
        Rule::probe => kind(
            Rule::probe_clause,
            Rule::only_probe,
            "a clause of a probe",
            "`returns`, `command`, `file`, `host`, `every`, `backoff`, `timeout` and `within`",
            &PROBE,
        ),
        _ => return kind_of_judging(rule),
    })
}

/// The rest of [`kind_of`]: items for advice, completion and tests.
fn kind_of_judging(rule: Rule) -> Option<ElementKind> {
    Some(match rule {
        Rule::feedback => kind(
            Rule::block,
            Rule::only_block,
            "a block such as `warning: \"…\"`",
            "`info`, `caution` and `warning`",
            &["info", "caution", "warning"],
        ),
        Rule::completion => kind(
            Rule::check,
            Rule::only_check,
            "a check",
            "`file`, `command`, `git committed`, `every`, `attest`, `all`, `any` and conditions",
            &CHECKS,
        ),
        Rule::attest => kind(
            Rule::dimension,
            Rule::only_dimension,
            "`name: check`",
            "dimensions, as in `tests: file \"report.md\"`",
            &[],
        ),
        Rule::goal => kind(Rule::expr, Rule::only_expr, "a condition", "conditions", &[]),
        Rule::contract => kind(
            Rule::contract_clause,
            Rule::only_contract,
            "a clause of a contract",
            "`name: type`, `items`, `bounds` and `reference`",
            &["items", "bounds", "reference"],
        ),
        Rule::test => kind(
            Rule::step,
            Rule::only_step,
            "a step",
            "`ok`, `denied`, `allowed`, `after`, `expect` and the other steps",
            &STEPS,
        ),
        _ => return None,
    })
}

/// Returns true if an element certainly begins here.
pub(super) fn begins(kind: ElementKind, site: &Site, index: usize) -> bool {
    let word = site.word(index);
    let next = site.kind(index + 1);
    let named = next == Some(TokenKind::Word);
    let colon = site.word(index + 1) == ":";
    match kind.rule {
        Rule::clause => begins_clause(site, index),
        Rule::step => match word {
            "after" | "usage" => next == Some(TokenKind::Literal),
            "at" | "exists" | "missing" | "file" | "prompt" => next == Some(TokenKind::String),
            "expect" | "halted" => true,
            "no" => site.word(index + 1) == "feedback",
            // `finish a ok returns 1` contains the word `ok`, which does not begin a step there.
            "ok" | "fails" | "allowed" | "denied" | "asks" | "waits" | "approve" | "revoke" => {
                named && site.word(index + 2) == "("
            }
            _ => STEPS.contains(&word) && named,
        },
        Rule::variable | Rule::field | Rule::dimension => {
            site.kind(index) == Some(TokenKind::Word) && colon
        }
        Rule::contract_clause => {
            colon
                || (word == "bounds" && site.word(index + 1) == "{")
                || (matches!(word, "items" | "reference") && named)
        }
        Rule::union_case => site.kind(index) == Some(TokenKind::Word) && word != "as",
        Rule::variant => matches!(site.kind(index), Some(TokenKind::Word | TokenKind::String)),
        Rule::block => {
            kind.keywords.contains(&word)
                && (colon || matches!(site.word(index + 1), "when" | "unless" | "otherwise"))
        }
        Rule::check => match word {
            "file" | "command" => next == Some(TokenKind::String),
            "git" | "every" | "attest" => named,
            "all" | "any" => site.word(index + 1) == "{",
            _ => false,
        },
        Rule::expr => false,
        _ => kind.keywords.contains(&word) && next != Some(TokenKind::Punct),
    }
}

/// Returns true if a keyword on a new line begins an element, even after an invalid one.
pub(super) fn begins_afresh(kind: ElementKind, site: &Site, index: usize) -> bool {
    matches!(kind.rule, Rule::clause | Rule::step | Rule::block)
        && site.fresh_line(index)
        && kind.keywords.contains(&site.word(index))
        && !matches!(site.word(index - 1), "," | "or" | "shadow")
        && !matches!(site.kind(index + 1), Some(TokenKind::Close))
        && (site.kind(index + 1) != Some(TokenKind::Punct) || site.word(index + 1) == ":")
        && (kind.rule != Rule::clause || site.word(index + 1) != ":")
}

/// Returns the syntax of an element, by its keyword.
pub(super) fn usage(keyword: &str) -> Option<&'static str> {
    Some(match keyword {
        "requires" => {
            "write `requires TOOL, TOOL`, with `latest`, `(key)`, `since TOOL`, `within D` and `when CONDITION` as needed"
        }
        "deny" => {
            "write `deny when CONDITION because \"…\"` or `deny unless CONDITION because \"…\"`"
        }
        "limit" => {
            "write `limit 5 per 1h`, `limit 5 per session`, `limit 1 in flight` or `limit 3 identical`, with `by VALUE` and `else ask ROLE` as needed"
        }
        "costs" => {
            "write the amount and the unit, as in `costs 2.00 usd` or `costs (if free then 0 else 2) usd`"
        }
        "budget" => "write `budget UNIT = AMOUNT`, as in `budget usd = 5`",
        "deadline" => "write `deadline D`, as in `deadline 2h`",
        "state" => "write `state { name: type = value }`",
        "policy" => {
            "write `policy NAME for TOOLS { … }`; TOOLS is `all`, a tool, a group, `tag NAME` or several of these in braces"
        }
        "invariant" => {
            "write `invariant NAME { CONDITION }`, with `because \"…\"` after it as needed"
        }
        "returns" => {
            "write `returns TYPE`; a record has a name: `record NAME { field: type }`, then `returns NAME`"
        }
        "risk" => "write `risk low`, `risk medium`, `risk high` or `risk critical`",
        "approval" => "write `approval ROLE`, with `within D` and `when CONDITION` as needed",
        "ready" => "write `ready when probe NAME`",
        "effect" => {
            "write `effect x = e`, `x += e`, `append e to xs`, `add e to s`, `remove e from xs` or `delete x`, several in braces"
        }
        "learn" => {
            "write `learn FACT(VALUE, …)`, with `for x in xs` and `when CONDITION` as needed"
        }
        "prior" => "write `prior Beta(2, 1)`",
        "let" => "write `let NAME = VALUE`",
        "transform" => {
            "write `transform PARAM = VALUE` or `transform result.FIELD = VALUE`, with `when CONDITION` as needed"
        }
        "private" => {
            "write `private result` or `private result.FIELD`, with `to READERS`, `for x in result` and `when CONDITION` as needed"
        }
        "test" => "write `test \"TITLE\" { … }` or `test \"TITLE\" after \"OTHER\" { … }`",
        "fact" => {
            "write `fact NAME(COLUMN: type key, COLUMN: type)`, with `max N` or `max N else halt` as needed"
        }
        "define" => {
            "write `define NAME(param: type, …): type = VALUE`, or `define NAME: type = VALUE`"
        }
        "ok" | "fails" => {
            "write `ok TOOL(param: value)`, with `as NAME`, `returns VALUE` and then `undecoded` as needed"
        }
        "allowed" => "write `allowed TOOL(param: value)`",
        "denied" => "write `denied TOOL(param: value) by CODE(NAME)`",
        "asks" => "write `asks TOOL(param: value) of ROLE`",
        "approve" => "write `approve TOOL(param: value) by ROLE`",
        "revoke" => "write `revoke TOOL(param: value) by ROLE`",
        "start" => "write `start NAME = TOOL(param: value)`",
        "finish" => {
            "write `finish NAME ok` or `finish NAME fails`, with `returns VALUE` and then `undecoded` as needed"
        }
        "info" | "caution" | "warning" => {
            "write `warning when CONDITION: \"…\"`, `info otherwise: \"…\"` or `info: \"…\"`"
        }
        "agent" | "harness" => "write `agent NAME: STATE -> STATE`",
        "command" => "write `command \"cargo\" \"test\" exits 0 within 5m`",
        _ => return None,
    })
}

fn begins_clause(site: &Site, index: usize) -> bool {
    let next = site.kind(index + 1);
    let named = next == Some(TokenKind::Word);
    match site.word(index) {
        "requires" | "risk" | "approval" | "learn" | "returns" | "tags" | "observe" | "prior"
        | "shadow" | "let" | "transform" | "private" => named,
        "deny" => matches!(site.word(index + 1), "when" | "unless" | "if"),
        "limit" => next == Some(TokenKind::Literal),
        "costs" | "reconcile" => next != Some(TokenKind::Punct) && next != Some(TokenKind::Close),
        "effect" => named || site.word(index + 1) == "{",
        "ready" => site.word(index + 1) == "when",
        "name" => next == Some(TokenKind::String),
        "irreversible" | "trusted" | "untrusted" => true,
        _ => false,
    }
}

/// Returns true if an element may end with this token.
pub(super) fn ends(site: &Site, index: usize) -> bool {
    match site.kind(index) {
        Some(TokenKind::Open) | None => false,
        Some(TokenKind::Punct) => matches!(site.word(index), "," | ";" | "?" | ">" | ".."),
        Some(TokenKind::Word) => {
            let word = site.word(index);
            let ending = matches!(word, "none" | "true" | "false" | "some");
            ending
                || !(is_reserved(word)
                    || matches!(
                        word,
                        "expect" | "returns" | "by" | "for" | "to" | "from" | "shadow" | "per"
                    ))
        }
        _ => true,
    }
}

/// Returns true if a word on a new line probably begins an element.
pub(super) fn may_begin(site: &Site, index: usize) -> bool {
    let word = site.word(index);
    let goes_on = matches!(
        word,
        "for"
            | "by"
            | "to"
            | "from"
            | "per"
            | "halt"
            | "warn"
            | "max"
            | "key"
            | "format"
            | "of"
            | "some"
            | "exits"
            | "suggest"
            | "observe"
    );
    site.kind(index) == Some(TokenKind::Word)
        && site.fresh_line(index)
        && !goes_on
        && (!is_reserved(word) || matches!(word, "not" | "true" | "false"))
        && site.word(index - 1) != ","
}
