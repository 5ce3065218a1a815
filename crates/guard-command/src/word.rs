//! One word of shell text: quotes and escapes are removed, and text that only the shell can
//! determine is marked.

/// A parsed word.
#[derive(Debug, Clone, Default)]
pub(crate) struct Word {
    /// The text without quotes. Unknown pieces are as in the source.
    pub text: String,
    /// True if the program gets exactly this text.
    pub known: bool,
    /// True if a part was quoted or escaped, so that the word is not a reserved word.
    pub quoted: bool,
    /// True if `text` begins with `~` for the home folder.
    pub home: bool,
    /// For a word with unknown text: files and folders that contain every path to which it can expand.
    pub under: Option<Vec<String>>,
}

impl Word {
    /// Returns a known word.
    pub fn literal(text: impl Into<String>) -> Word {
        Word { text: text.into(), known: true, ..Word::default() }
    }

    /// Returns a word about which nothing is known.
    pub fn unknown(source: impl Into<String>) -> Word {
        Word { text: source.into(), ..Word::default() }
    }

    /// Returns the text, if it is known.
    pub fn known(&self) -> Option<&str> {
        self.known.then_some(self.text.as_str())
    }

    /// Returns the same word with another text, for example without an option's name.
    pub fn part(&self, text: &str) -> Word {
        Word {
            text: text.into(),
            known: self.known,
            quoted: self.quoted,
            home: text.starts_with('~') && (self.home || !self.quoted),
            under: None,
        }
    }
}

/// The characters that end a word.
pub(crate) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>')
}

/// Returns true if a text is the name of a variable.
pub(crate) fn is_name(text: &str) -> bool {
    text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
