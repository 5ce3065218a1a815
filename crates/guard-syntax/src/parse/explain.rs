//! The explanation, in one diagnostic, why a text does not parse.
//!
//! The module parses the text again to find the position of the failure and the possible tokens
//! there, looks for a common mistake, and otherwise reports the found and the expected text in the
//! terms of the reference.

use super::elements;
use super::grammar::{self, Rule};
use super::habits::{self, ErrorContext};
use super::site::Site;
use crate::diagnostic::Diagnostic;
use crate::errors;
use crate::lexical::TokenKind;
use crate::lexical::is_reserved;
use crate::nearest::nearest;

/// Explains why the text of `site` does not match `rule`; `next` describes the text that may follow
/// it.
pub(super) fn explain(site: Site, rule: Rule, next: &str) -> Diagnostic {
    explain_text(site, rule, site.slice(), next)
}

/// Like [`explain`], for a text that replaces the one at `site`.
pub(super) fn explain_text(site: Site, rule: Rule, text: &str, next: &str) -> Diagnostic {
    let stop = grammar::stop(rule, text);
    let (at, expected) = stop.map_or((0, Vec::new()), |stop| (stop.at, stop.expected));
    let place = site.start() + at;
    let index = site.first + site.tokens[site.first..].partition_point(|t| t.end as usize <= place);
    if let Some(diagnostic) = slip(&site, index, &expected) {
        return diagnostic;
    }
    let found = site.token(index).map(|t| t.text(site.text));
    let span = match site.token(index) {
        Some(token) => token.span(site.file),
        None => site.span(index.saturating_sub(1)),
    };
    let wanted = phrase(&expected, next);
    let mut diagnostic = errors::unexpected(span, found, &wanted);
    let keyword = || match rule {
        // A member may have the name of a keyword: `command: string`.
        Rule::only_field => None,
        Rule::only_variable => Some(
            "write `name: type = value`; a variable without a value is an option: `name: type? = none`",
        ),
        _ => elements::usage(site.word(site.first)),
    };
    if let Some(help) = help(&expected).or_else(keyword) {
        diagnostic = diagnostic.help(help);
    }
    diagnostic
}

const OPERATORS: [&str; 21] = [
    "and", "or", "implies", "==", "!=", "<", "<=", ">", ">=", "in", "contains", "within", "since",
    "+", "-", "*", "/", "%", "else", "not", "matches",
];

/// Detects common mistakes.
fn slip(site: &Site, index: usize, expected: &[Rule]) -> Option<Diagnostic> {
    let inside = index < site.last;
    let found = if inside { site.word(index) } else { "" };
    let before = index.checked_sub(1).filter(|&i| i >= site.first).map_or("", |i| site.word(i));
    let at = site.span(index);
    let wants = |rule| expected.contains(&rule);
    let wants_value = wants(Rule::expr)
        || wants(Rule::branch)
        || wants(Rule::counted)
        || expected.iter().any(|r| is_value(*r));
    let after_value =
        wants(Rule::infix) || wants(Rule::connective) || wants(Rule::index) || wants(Rule::access);
    let place = ErrorContext { index, inside, wants_name: wants(Rule::name), after_value };
    if let Some(diagnostic) = habits::habit(site, place) {
        return Some(diagnostic);
    }
    if found == "=" && after_value {
        return Some(errors::single_equals(at));
    }
    if found == "if" && (wants(Rule::guard) || wants(Rule::when_word)) {
        return Some(errors::if_for_when(at));
    }
    if (wants(Rule::message) || wants(Rule::string)) && before == "because" {
        return Some(errors::missing_message(if inside { at } else { site.span(index - 1) }));
    }
    let swallowed =
        after_value && is_reserved(before) && !matches!(before, "none" | "true" | "false");
    if swallowed && index > site.first + 1 {
        return Some(errors::reserved_word(site.span(index - 1), before));
    }
    if let Some(diagnostic) = habits::separated_bracket(site, index, inside) {
        return Some(diagnostic);
    }
    if after_value && site.kind(index) == Some(TokenKind::Word) && site.word(index + 1) == ":" {
        return Some(errors::missing_comma(at, found));
    }
    if wants_value
        && OPERATORS.contains(&before)
        && !(inside && site.kind(index) == Some(TokenKind::Junk))
    {
        return Some(errors::missing_operand(site.span(index - 1), before));
    }
    // A misspelled mark of a column is read as the name of the next column.
    if wants(Rule::colon)
        && !before.is_empty()
        && let Some(meant) = nearest(before, &["key", "caseless"])
    {
        return Some(errors::misspelled_word(site.span(index - 1), before, meant));
    }
    // `else` itself is correct, but the text after it is not.
    if wants(Rule::else_halt) && found == "else" && index + 1 < site.last {
        let word = site.word(index + 1);
        if nearest(word, &["halt"]).is_some() {
            return Some(errors::misspelled_word(site.span(index + 1), word, "halt"));
        }
    }
    if inside && site.kind(index) == Some(TokenKind::Word) && !found.is_empty() {
        if let Some(meant) = nearest(found, &words(expected)) {
            return Some(errors::misspelled_word(at, found, meant));
        }
        if is_reserved(found) && expected.iter().any(|r| names(*r)) {
            return Some(errors::reserved_word(at, found));
        }
    }
    None
}

fn is_value(rule: Rule) -> bool {
    matches!(rule, Rule::reference | Rule::literal | Rule::paren | Rule::prefix_op | Rule::list)
}

/// Returns true if a rule begins with a name.
fn names(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::name
            | Rule::reference
            | Rule::expr
            | Rule::branch
            | Rule::counted
            | Rule::field
            | Rule::variable
            | Rule::variant
            | Rule::member
            | Rule::tool_set
            | Rule::ty
            | Rule::requirement
            | Rule::alternatives
            | Rule::target
            | Rule::binders
            | Rule::call
            | Rule::dimension
    )
}

/// Returns the keywords among the expected rules.
fn words(expected: &[Rule]) -> Vec<&'static str> {
    expected.iter().flat_map(|rule| keywords(*rule)).copied().collect()
}

fn keywords(rule: Rule) -> &'static [&'static str] {
    match rule {
        Rule::guard => &["when", "unless"],
        Rule::each_when | Rule::when_word => &["when"],
        Rule::because | Rule::saying => &["because"],
        Rule::within => &["within"],
        Rule::since => &["since"],
        Rule::latest => &["latest"],
        Rule::limit_scope => &["per", "identical"],
        Rule::success => &["success"],
        Rule::per_session => &["per"],
        Rule::by | Rule::by_key | Rule::by_word | Rule::denied_by | Rule::waits_by => &["by"],
        Rule::on_break => &["halt", "warn"],
        Rule::calls_word => &["calls"],
        Rule::then_word => &["then"],
        Rule::max => &["max"],
        Rule::else_word | Rule::else_ask | Rule::else_halt => &["else"],
        Rule::begins_after => &["after"],
        Rule::connective => &["and", "or", "implies", "contains", "within", "since", "else"],
        Rule::pattern => &["matches"],
        Rule::mode => &["monitor", "proved", "shadow"],
        Rule::claim => &["monitor", "proved"],
        Rule::shadow => &["shadow"],
        Rule::except => &["except"],
        Rule::edition => &["edition"],
        Rule::for_word => &["for"],
        Rule::trigger => &["every", "on"],
        Rule::severity => &["info", "caution", "warning"],
        Rule::otherwise => &["otherwise"],
        Rule::note => &["observe", "suggest"],
        Rule::returning => &["returns"],
        Rule::unread => &["undecoded"],
        Rule::having | Rule::ck_contains => &["contains"],
        Rule::ck_conforms => &["conforms"],
        Rule::exits_word => &["exits"],
        Rule::evidence => &["requires"],
        Rule::judged => &["when"],
        Rule::outcome => &["pass", "fail"],
        Rule::allow_word => &["allow"],
        Rule::boolean => &["true", "false"],
        Rule::rejections => &["rejections"],
        Rule::after_word => &["after"],
        Rule::approval => &["approval"],
        Rule::from_word => &["from"],
        Rule::format => &["format"],
        Rule::probe_word => &["probe"],
        Rule::secret => &["secret"],
        Rule::blocks_word => &["blocks"],
        Rule::feedback_word => &["feedback"],
        _ => &[],
    }
}

/// Returns the reference's name of a rule; empty if it is obvious.
fn called(rule: Rule) -> &'static str {
    match rule {
        Rule::expr | Rule::branch | Rule::counted | Rule::reference => "a value",
        Rule::infix
        | Rule::connective
        | Rule::index
        | Rule::element
        | Rule::access
        | Rule::is_test
        | Rule::pattern => "an operator",
        Rule::name | Rule::binders | Rule::target => "a name",
        Rule::literal | Rule::bound => "a number",
        Rule::string => "a string in double quotes",
        Rule::message => "a message in double quotes",
        Rule::regex => "a regular expression between slashes",
        Rule::ty | Rule::item_ty => "a type",
        Rule::field => "`name: type`",
        Rule::variable => "`name: type = value`",
        Rule::dimension => "`name: check`",
        Rule::params => "parameters in parentheses",
        Rule::args => "arguments in parentheses",
        Rule::clauses | Rule::fields | Rule::open => "`{`",
        Rule::close => "`}`",
        Rule::colon => "`:`",
        Rule::equals => "`=`",
        Rule::assign_op => "`=`, `+=`, `-=` or `*=`",
        Rule::arrow => "`->`",
        Rule::range => "a range",
        Rule::limit_scope => "`per DURATION`, `per session`, `in flight` or `identical`",
        Rule::success => "`success`",
        Rule::else_ask => "`else ask ROLE`",
        Rule::else_halt => "`else halt`",
        Rule::begins_after => "`after \"TITLE\"`",
        Rule::per_window => "a duration or `session`",
        Rule::to_word => "`to`",
        Rule::up_to => "`up to`",
        Rule::is_word => "`is`",
        Rule::in_word => "`in`",
        Rule::is_what => "`none` or `some`",
        Rule::statement => "an effect such as `x = e`",
        Rule::variant => "a variant",
        Rule::member | Rule::tool_set => "a tool",
        Rule::requirement | Rule::alternatives => "a tool",
        Rule::call => "a call",
        Rule::trigger => "`every …` or `on …`",
        Rule::severity => "`info`, `caution` or `warning`",
        Rule::block => "a block such as `warning: \"…\"`",
        Rule::clause => "a clause",
        Rule::check => "a check",
        Rule::step => "a step",
        Rule::arg => "an argument",
        Rule::entry => "`key: value`",
        Rule::actor | Rule::transition => "a transition",
        Rule::std_name => "`std.NAME`",
        Rule::succeeds => "`ok` or `fails`",
        _ => "",
    }
}

/// Lists the expected texts, at most four.
fn phrase(expected: &[Rule], next: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut push = |name: String| {
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    };
    for &rule in expected {
        match (called(rule), keywords(rule)) {
            ("", words) if rule != Rule::EOI => words.iter().for_each(|w| push(format!("`{w}`"))),
            (name, _) => push(name.to_owned()),
        }
    }
    // Anything may follow a value, so operators are not listed.
    if names.len() > 1 || expected.contains(&Rule::EOI) {
        names.retain(|name| name != "an operator" || next.is_empty());
    }
    names.truncate(4);
    if expected.contains(&Rule::EOI) || names.is_empty() {
        names.push(next.to_owned());
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => next.to_owned(),
    }
}

/// Returns a suggestion, if the expectation alone is not enough.
fn help(expected: &[Rule]) -> Option<&'static str> {
    let wants = |rule| expected.contains(&rule);
    if wants(Rule::then_word) || wants(Rule::else_word) {
        return Some("a choice is written `if CONDITION then VALUE else VALUE`");
    }
    if wants(Rule::limit_scope) || wants(Rule::per_window) {
        return Some(
            "a limit is written `limit 5 per 1h`, `limit 5 per session`, `limit 1 in flight` or `limit 3 identical`",
        );
    }
    if wants(Rule::approval) && !wants(Rule::clause) && !wants(Rule::deny) {
        return Some(
            "a statement is written `statement NAME(key: type, value: type) approval ROLE`",
        );
    }
    if wants(Rule::trigger) {
        return Some(
            "feedback is triggered by `every 3 calls`, `every 30s`, `on created(\"file\")`, `on denied` or `on CONDITION`",
        );
    }
    if wants(Rule::in_word) {
        return Some("a quantifier is written `all x in xs: CONDITION`");
    }
    if wants(Rule::params) && !wants(Rule::colon) {
        return Some(
            "a tool is written `tool NAME(param: type, …)`; one without parameters `tool NAME()`",
        );
    }
    if wants(Rule::regex) {
        return Some("write it without quotes, as in `matches /^[a-z]+$/`");
    }
    if wants(Rule::ty) {
        return Some("a field is written `name: type`, as in `count: int in 1..=5`");
    }
    None
}
