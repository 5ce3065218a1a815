//! Habits of other notations, found at the place where a text does not parse. Mistakes in the
//! language itself are in `explain`.

use super::site::Site;
use crate::diagnostic::Diagnostic;
use crate::errors;
use crate::lexical::TokenKind;
use crate::lexical::is_reserved;
use crate::span::Span;

/// The place of a failure, and what the grammar expects there.
#[derive(Clone, Copy)]
pub(super) struct ErrorContext {
    pub index: usize,
    /// True if the place is within the text, and not behind it.
    pub inside: bool,
    pub wants_name: bool,
    /// True if a value ends before the place.
    pub after_value: bool,
}

/// Returns the explanation of a habit, if the text at a place shows one.
pub(super) fn habit(site: &Site, place: ErrorContext) -> Option<Diagnostic> {
    let ErrorContext { index, inside, .. } = place;
    let before = index.checked_sub(1).filter(|&i| i >= site.first).map_or("", |i| site.word(i));
    if !inside {
        let lacks_role = place.wants_name && matches!(before, "approval" | "ask" | "tags");
        return lacks_role.then(|| errors::missing_role(site.span(index - 1), before));
    }
    let found = site.word(index);
    let next = site.word(index + 1);
    let at = site.span(index);
    if let Some(meant) = foreign(found) {
        return Some(errors::foreign_operator(at, found, meant));
    }
    if found == "not" && next == "in" {
        return Some(errors::foreign_operator(at.to(site.span(index + 1)), "not in", ""));
    }
    if place.wants_name && site.kind(index) == Some(TokenKind::String) {
        return Some(errors::quoted_name(at, found));
    }
    if before == "per" && is_unit(found) {
        return Some(errors::unit_for_duration(at, found));
    }
    if !place.after_value && found == "[" && next == "]" {
        return Some(errors::list_type(at.to(site.span(index + 1)), before));
    }
    let typed = index.checked_sub(2).is_some_and(|at| site.word(at) == ":");
    if !place.after_value && typed && found == "<" && !is_number(before) {
        return Some(errors::collection_type(site.span(index - 1), before));
    }
    if !place.after_value && typed && (found == "|" || before == "enum" && found == "{") {
        return Some(errors::unnamed_enum(at));
    }
    if place.wants_name && site.word(site.first) == "tool" && found == "=" {
        return Some(errors::default_argument(at));
    }
    if !place.after_value && bounds_a_type(site, index) {
        return Some(errors::bounds_without_in(at, found));
    }
    // The first `when` is read as the name of a variable.
    let condition = if before == "when" && index == site.first + 2 { index - 1 } else { index };
    (site.word(site.first) == "effect" && site.word(condition) == "when")
        .then(|| errors::conditional_effect(site.span(condition)))
}

/// Returns the Guard equivalent of an operator of another language.
fn foreign(found: &str) -> Option<&'static str> {
    Some(match found {
        "&&" | "&" => "and",
        "||" | "|" => "or",
        "!" => "not",
        "===" => "==",
        "=>" => "implies",
        _ => return None,
    })
}

/// Returns the item of Guard for a word that begins an item elsewhere.
pub(super) fn foreign_item(found: &str) -> Option<&'static str> {
    Some(match found {
        "import" | "include" | "from" => "use",
        "fn" | "func" | "function" | "action" => "tool NAME(param: type)",
        "rule" | "rules" | "permit" | "forbid" => "policy NAME for TOOLS { … }",
        "var" | "vars" | "variable" | "variables" => "state { name: type = value }",
        "struct" | "object" | "class" => "record NAME { field: type }",
        "const" | "let" | "def" => "define NAME: type = VALUE",
        "assert" | "always" => "invariant NAME { CONDITION }",
        _ => return None,
    })
}

/// Returns a suggestion for a word that begins a rule of a tool elsewhere.
pub(super) fn foreign_clause(found: &str) -> Option<&'static str> {
    Some(match found {
        "allow" | "permit" => {
            "a call is allowed unless a clause refuses it: write `deny unless CONDITION`"
        }
        "forbid" | "block" | "reject" => "write `deny when CONDITION`",
        "assert" | "ensure" | "check" => "write `deny unless CONDITION`",
        "rate_limit" | "max_calls" | "rate" | "throttle" => {
            "write `limit 5 per 1h` or `limit 5 per session`"
        }
        "confirm" | "ask" | "approve_by" => {
            "write `approval ROLE`, with `when CONDITION` as needed"
        }
        "cost" | "budget" => {
            "declare the budget outside of tools, as in `budget usd = 5`; a tool `costs 2.00 usd`"
        }
        "set" | "update" => "write `effect x = e`",
        "after" | "depends" => "write `requires TOOL`",
        _ => return None,
    })
}

/// Returns true for a unit of time that is written as a word.
fn is_unit(word: &str) -> bool {
    let singular = word.strip_suffix('s').unwrap_or(word);
    matches!(singular, "second" | "minute" | "hour" | "day" | "week")
}

/// Returns true for the types that have bounds.
fn is_number(ty: &str) -> bool {
    matches!(ty, "int" | "decimal" | "duration")
}

/// Detects the bounds of a type without `in`: `int 1..5`, `decimal >= 0`, `int(1..5)`.
fn bounds_a_type(site: &Site, index: usize) -> bool {
    let has_bounds = |at: usize| is_number(site.word(at));
    let follows_type = index.checked_sub(1).filter(|&at| at >= site.first).is_some_and(|at| {
        has_bounds(at) || site.word(at) == "?" && at.checked_sub(1).is_some_and(has_bounds)
    });
    let begins_bounds = matches!(site.word(index), "<" | "<=" | ">" | ">=" | "-" | "(" | "[");
    follows_type && (begins_bounds || site.kind(index) == Some(TokenKind::Literal))
}

/// Detects a separated bracket: `f (x)`, `xs [0]`.
pub(super) fn separated_bracket(site: &Site, index: usize, inside: bool) -> Option<Diagnostic> {
    let open = site.word(index);
    let before = index.checked_sub(1).filter(|&i| inside && i >= site.first)?;
    let name = site.token(before)?;
    let bracket = site.token(index)?;
    let gap = site.text.get(name.end as usize..bracket.start as usize)?;
    let word = name.text(site.text);
    let separated = !gap.is_empty()
        && !gap.contains('\n')
        && name.kind == TokenKind::Word
        && !is_reserved(word);
    (separated && matches!(open, "(" | "[")).then(|| {
        let blank = Span { file: site.file, start: name.end, end: bracket.start };
        errors::blank_before_bracket(bracket.span(site.file), blank, word, open)
    })
}
