//! A place in the tokens of a prompt, and the questions about it that the readers of dates ask.

use super::tokens::PromptToken;

/// A place in a text.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a, 't> {
    pub tokens: &'a [PromptToken<'t>],
    pub at: usize,
}

impl<'t> Cursor<'_, 't> {
    pub fn token(self) -> Option<PromptToken<'t>> {
        self.tokens.get(self.at).copied()
    }

    pub fn after(self, count: usize) -> Self {
        Cursor { at: self.at + count, ..self }
    }

    /// Returns the place after this word, or this place.
    pub fn past(self, word: &str) -> Self {
        let stands = self.token().is_some_and(|token| token.follows_blank() && token.is(word));
        self.after(usize::from(stands))
    }

    /// Returns true if a word stands at once before this place, without a blank.
    pub fn is_glued(self) -> bool {
        self.at > 0 && self.token().is_some_and(|token| token.gap.is_empty())
    }

    /// Returns true if a numeral before this place is joined to the numeral here.
    pub fn is_chained(self) -> bool {
        let joined = |token: PromptToken<'_>| token.is_numeral && DATE_MARKS.contains(&token.gap);
        self.at > 0 && self.tokens[self.at - 1].is_numeral && self.token().is_some_and(joined)
    }

    /// Returns true if the characters before this place, without blanks, are one of these.
    pub fn follows(self, gaps: &[&str]) -> bool {
        self.token()
            .is_some_and(|token| !token.gap.contains('\n') && gaps.contains(&token.gap.trim()))
    }

    /// Returns true if the digits or the word here are a part of nothing before them.
    pub fn is_free(self) -> bool {
        let opens = |c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '“' | '‘' | '\'');
        self.token().is_some_and(|token| {
            token.gap.ends_with(opens) || (self.at == 0 && token.gap.is_empty())
        })
    }

    /// Returns true for a month in lower case that is also a verb.
    pub fn is_verb(self) -> bool {
        self.token().is_some_and(|token| matches!(token.text, "may" | "march"))
    }

    /// Returns true if a date in digits may begin here: also after a comma of a list.
    pub fn begins(self) -> bool {
        self.is_free() || self.token().is_some_and(|token| token.gap.ends_with([',', ';']))
    }

    /// Returns the place after the words that may stand between two days: `and the`.
    pub fn past_link(self) -> Self {
        let linked = LINKS.iter().map(|word| self.past(word)).find(|past| past.at > self.at);
        linked.unwrap_or(self).past("the")
    }

    /// Returns true if a list of days ends here: no noun follows that is counted.
    pub fn ends_list(self) -> bool {
        self.token().is_none_or(|token| {
            let is_year = token.text.len() == 4 && token.digits(4).is_some();
            !token.follows_blank() || token.text.is_empty() || is_year
        })
    }
}

/// The words between two days of one list or range.
pub(super) const LINKS: [&str; 7] = ["and", "or", "to", "through", "until", "till", "thru"];

/// The characters between the numbers of a date: slashes, and hyphens of all kinds.
const DATE_MARKS: [&str; 6] = ["-", "/", " / ", "–", "\u{2011}", "\u{2212}"];
