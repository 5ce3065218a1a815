//! Regular expressions: they must compile, and common mistakes are reported (reference §4).

use super::TypeChecker;
use crate::errors;
use guard_syntax::span::Span;

/// The maximum memory of a compiled expression, so that no plan uses too much memory.
const SIZE_LIMIT: usize = 1 << 20;

/// The maximum number of patterns of a guard.
const MOST: usize = 500;

/// Returns true if the pattern compiles. Reports errors and doubtful parts of it.
pub(crate) fn check(checker: &mut TypeChecker, pattern: &str, span: Span) -> bool {
    if let Some(known) = checker.patterns.get(pattern) {
        return *known;
    }
    if checker.patterns.len() >= MOST {
        if checker.patterns.len() == MOST {
            checker.report(errors::too_many_patterns(span, MOST));
            // This entry exceeds the maximum, so that the problem is reported once.
            checker.patterns.insert(pattern.to_string(), false);
        }
        return false;
    }
    let compiled = regex::RegexBuilder::new(pattern).size_limit(SIZE_LIMIT).build();
    let ok = compiled.is_ok();
    checker.patterns.insert(pattern.to_string(), ok);
    if let Err(why) = compiled {
        let why = why.to_string();
        let last = match why.lines().last() {
            _ if why.contains("size limit") => "it takes more than 1 MiB of memory",
            Some(line) => line.trim_start_matches("error: "),
            None => "it does not parse",
        };
        checker.report(errors::bad_regex(span, last));
        return false;
    }
    lint(checker, pattern, span);
    true
}

fn lint(checker: &mut TypeChecker, pattern: &str, span: Span) {
    let alternatives = alternatives(pattern);
    let begins = alternatives.iter().all(|alternative| begins(alternative));
    let ends = alternatives.iter().all(|alternative| ends(alternative));
    if !begins || !ends {
        checker.report(errors::unanchored(span, pattern, begins, ends));
    }
    if let Some(class) = word_in_negated_class(pattern) {
        checker.report(errors::word_class(span, class));
    }
    if ["+)+", "*)*", "+)*", "*)+"].iter().any(|nested| pattern.contains(nested)) {
        checker.report(errors::nested_repetition(span));
    }
}

/// Returns true if the expression is anchored at its beginning, by `^` or `.*`. Flags before the
/// anchor are ignored.
fn begins(pattern: &str) -> bool {
    let flags = pattern.strip_prefix("(?").and_then(|rest| rest.split_once(')'));
    let pattern = match flags {
        Some((flags, rest)) if flags.chars().all(|c| c.is_ascii_lowercase() || c == '-') => rest,
        _ => pattern,
    };
    pattern.starts_with('^') || pattern.starts_with(".*")
}

/// Returns true if the expression is anchored at its end, by `$` or `.*`.
fn ends(pattern: &str) -> bool {
    // An escaped `$` is a character and not an anchor.
    let escapes = pattern.trim_end_matches('$').chars().rev().take_while(|c| *c == '\\').count();
    (pattern.ends_with('$') && escapes % 2 == 0) || pattern.ends_with(".*")
}

/// Returns the alternatives of the whole expression. An anchor belongs to the alternative that
/// contains it.
fn alternatives(pattern: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut groups = 0usize;
    let mut class = false;
    let mut escaped = false;
    for (at, c) in pattern.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '(' if !class => groups += 1,
            ')' if !class => groups = groups.saturating_sub(1),
            '|' if !class && groups == 0 => {
                found.push(&pattern[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(&pattern[from..]);
    found
}

/// Returns the content of a `[^…]` that spells a word of three letters or more, as in
/// `[^ourcompany.com]`.
fn word_in_negated_class(pattern: &str) -> Option<&str> {
    pattern
        .split("[^")
        .skip(1)
        .filter_map(|rest| rest.split_once(']'))
        .map(|(class, _)| class)
        .find(|class| {
            let letters =
                class.split(|c: char| !c.is_ascii_alphabetic()).map(str::len).max().unwrap_or(0);
            // A range, as `a-zA-Z`, does not spell a word.
            letters >= 3 && !class.contains('-')
        })
}
