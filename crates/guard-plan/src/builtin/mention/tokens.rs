//! The tokens of a prompt for the readers of dates and numbers: words and numerals, each with the
//! characters before it.

/// A word, or a numeral with its marks.
#[derive(Debug, Clone, Copy)]
pub(super) struct PromptToken<'t> {
    /// The characters between the previous token and this one. Empty between the parts of `15th`.
    pub gap: &'t str,
    /// A run of letters, or digits with `,`, `.` or an apostrophe between two of them.
    pub text: &'t str,
    pub is_numeral: bool,
}

impl PromptToken<'_> {
    /// Returns true if the token is this word, in any case.
    pub fn is(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }

    /// Returns true if only blanks, or nothing, stand before the token on its line.
    pub fn follows_blank(&self) -> bool {
        self.gap.trim().is_empty() && !self.gap.contains('\n')
    }

    /// Returns the number that the token writes with 1 to `most` digits and nothing else.
    pub fn digits(&self, most: usize) -> Option<i64> {
        digits(self.text, 1, most)
    }
}

/// Returns the number that a text of `least` to `most` digits writes.
pub(super) fn digits(text: &str, least: usize, most: usize) -> Option<i64> {
    let written = (least..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| written)
}

/// Returns the tokens of a text. An empty word at the end carries the last gap.
pub(super) fn tokens(text: &str) -> Vec<PromptToken<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        let (gap, from) = rest.split_at(start);
        let is_numeral = from.starts_with(|c: char| c.is_ascii_digit());
        let end = if is_numeral { numeral_end(from) } else { word_end(from) };
        let (text, after) = from.split_at(end);
        tokens.push(PromptToken { gap, text, is_numeral });
        rest = after;
    }
    if !rest.is_empty() {
        tokens.push(PromptToken { gap: rest, text: "", is_numeral: false });
    }
    tokens
}

fn word_end(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() || c.is_ascii_digit()).unwrap_or(text.len())
}

fn numeral_end(text: &str) -> usize {
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let after = &text[at + c.len_utf8()..];
        let joins = matches!(c, ',' | '.' | '\'' | '’')
            && after.starts_with(|c: char| c.is_ascii_digit())
            // The year in `May 3,2024` is a numeral of its own.
            && !(c == ',' && digits_at(after) == 4);
        if !c.is_ascii_digit() && !joins {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}

/// Returns the number of digits at the start of a text.
pub(super) fn digits_at(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// The words from 0 to 19.
pub(super) const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];

/// The words from 20 to 90.
pub(super) const TENS: [&str; 8] =
    ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// The ordinals from 1 to 20.
pub(super) const ORDINALS: [&str; 20] = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
];

/// Returns true for `zero` to `ninety`.
pub(super) fn is_number_word(word: &str) -> bool {
    let is = |known: &&str| word.eq_ignore_ascii_case(known);
    SMALL.iter().chain(&TENS).any(is)
}
