//! Mentions: the test whether the user's messages contain the words of a text (expressions,
//! "Questions about the session").
//!
//! The kernel and the reference evaluator keep the words of the prompts as one text, which this module writes and searches.

use super::eval::{BuiltinResult, two_texts};
use super::is_unreadable;
use crate::value::Value;

/// The maximum length of the words that a session keeps, in bytes.
pub const MAX_SAID: usize = 1 << 20;

/// Adds the words of a prompt to the words of earlier prompts. Returns false, and adds nothing, if
/// they would exceed [`MAX_SAID`].
pub fn hear(said: &mut String, prompt: &str) -> bool {
    let words = words(prompt);
    // Lower-case letters may be longer than the original ones; the limit applies to the stored
    // text.
    let fits = said.len() + words.len() < MAX_SAID;
    if fits {
        said.push_str(&words);
        // No word contains a line break, so a mention lies within one prompt.
        said.push('\n');
    }
    fits
}

/// Returns the runs of letters and digits of a text in lower case, with a space before and after
/// each; empty if there are none.
fn words(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 2);
    for word in runs(text) {
        if words.is_empty() {
            words.push(' ');
        }
        words.extend(word.chars().flat_map(char::to_lowercase));
        words.push(' ');
    }
    words
}

/// Returns the runs of letters and digits of a text.
pub(super) fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// `mentions(x)`: a text without words is never mentioned.
pub(super) fn mentions(args: &[&Value]) -> BuiltinResult {
    let (named, said) = two_texts(args)?;
    Ok(Value::Bool(is_mentioned(named, said)))
}

/// Returns true if the words of a text stand next to one another in one of the user's prompts.
pub fn is_mentioned(named: &str, said: &str) -> bool {
    if is_unreadable(named) {
        return false;
    }
    let named = words(named);
    !named.is_empty() && said.contains(&named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_and_of_one_prompt() {
        let mut said = String::new();
        assert!(hear(&mut said, "Mail the Q3-report to  ÉMILE (emile@example.org),"));
        assert!(hear(&mut said, "please!"));
        for named in ["report", "q3 REPORT", "émile", "emile@example.org", "to Émile", "please"] {
            assert!(is_mentioned(named, &said), "{named}");
        }
        for named in ["", " - ", "repo", "port to", "example.organ", "org please", "to\nplease"] {
            assert!(!is_mentioned(named, &said), "{named}");
        }
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut said = String::new();
        assert!(hear(&mut said, "first"));
        assert!(!hear(&mut said, &"x ".repeat(MAX_SAID / 2)));
        assert!(hear(&mut said, "last"));
        assert!(is_mentioned("first", &said) && is_mentioned("last", &said));
        assert!(!is_mentioned("x x", &said));
    }
}
