//! Regular expressions: they must compile, and the usual mistakes are pointed out (reference §4).

use super::Checker;
use crate::errors;
use guard_syntax::span::Span;

/// The most memory a compiled expression may take, so that no plan is a bomb.
const SIZE_LIMIT: usize = 1 << 20;

/// Whether the pattern compiles; what is wrong or doubtful about it is reported.
pub(crate) fn check(checker: &mut Checker, pattern: &str, span: Span) -> bool {
    if let Some(known) = checker.patterns.get(pattern) {
        return *known;
    }
    let compiled = regex::RegexBuilder::new(pattern).size_limit(SIZE_LIMIT).build();
    let ok = compiled.is_ok();
    checker.patterns.insert(pattern.to_string(), ok);
    if let Err(why) = compiled {
        let why = why.to_string();
        let last = why.lines().last().unwrap_or("it does not parse").trim_start_matches("error: ");
        checker.report(errors::bad_regex(span, last));
        return false;
    }
    lint(checker, pattern, span);
    true
}

fn lint(checker: &mut Checker, pattern: &str, span: Span) {
    let begins = pattern.starts_with('^') || pattern.starts_with(".*");
    let ends = (pattern.ends_with('$') && !pattern.ends_with("\\$")) || pattern.ends_with(".*");
    if !begins || !ends {
        checker.report(errors::unanchored(span, pattern));
    }
    if let Some(class) = word_in_negated_class(pattern) {
        checker.report(errors::word_class(span, class));
    }
    if ["+)+", "*)*", "+)*", "*)+"].iter().any(|nested| pattern.contains(nested)) {
        checker.report(errors::nested_repetition(span));
    }
}

/// The inside of a `[^…]` that spells a word of three letters or more, as in `[^ourcompany.com]`.
fn word_in_negated_class(pattern: &str) -> Option<&str> {
    pattern
        .split("[^")
        .skip(1)
        .filter_map(|rest| rest.split_once(']'))
        .map(|(class, _)| class)
        .find(|class| {
            let letters =
                class.split(|c: char| !c.is_ascii_alphabetic()).map(str::len).max().unwrap_or(0);
            letters >= 3 && !class.contains('-')
        })
}
