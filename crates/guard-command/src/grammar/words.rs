//! The parser of a word: it removes quotes and escapes, and marks patterns and text that only the
//! shell can determine. What `$` and a backtick begin is in `expansions`.

use super::ShellReader;
use crate::raw_commands::UnreadableText;
use crate::word::{Word, ends_word};

/// The word under construction.
#[derive(Default)]
pub(super) struct WordDraft {
    pub word: Word,
    /// The offset of the first unknown piece, glob or brace in the text.
    pub unknown_at: Option<usize>,
    pattern_at: Option<usize>,
    /// The variable, if it is the only piece of the word and in double quotes.
    pub variable: Option<String>,
    pub pieces: usize,
    /// True if the only piece is a process substitution, which is a pipe.
    pipe: bool,
}

impl WordDraft {
    pub fn unknown(&mut self, source: &str) {
        self.unknown_at.get_or_insert(self.word.text.len());
        self.word.text.push_str(source);
        self.pieces += 1;
    }

    pub fn push(&mut self, c: char) {
        self.word.text.push(c);
        self.pieces += 1;
    }

    fn pattern(&mut self, c: char) {
        self.pattern_at.get_or_insert(self.word.text.len());
        self.push(c);
    }
}

impl ShellReader<'_, '_> {
    /// Parses a word that begins here.
    pub fn word(&mut self) -> Result<Word, UnreadableText> {
        let mut draft = WordDraft::default();
        let start = self.pos;
        self.tilde(&mut draft);
        while let Some(byte) = self.peek() {
            match byte {
                b'<' | b'>' if self.peek_at(1) == Some(b'(') && self.pos == start => {
                    let from = self.pos;
                    self.pos += 2;
                    self.nested_list()?;
                    draft.unknown(self.since(from));
                    draft.pipe = true;
                }
                _ if ends_word(byte) => break,
                b'\r' => return Err(UnreadableText),
                b'\\' => self.escape(&mut draft),
                b'\'' => self.single_quotes(&mut draft)?,
                b'"' => {
                    draft.word.quoted = true;
                    self.pos += 1;
                    self.double_quotes(&mut draft)?;
                }
                b'`' | b'$' => self.expansion(&mut draft, false)?,
                b'[' if !self.bracket_closes() => {
                    self.pos += 1;
                    draft.push('[');
                }
                b'*' | b'?' | b'[' => {
                    self.pos += 1;
                    draft.pattern(byte as char);
                }
                b'{' => {
                    self.pos += 1;
                    if self.is_brace_expansion() { draft.pattern('{') } else { draft.push('{') }
                }
                _ => {
                    let c = self.next_char();
                    draft.push(c);
                }
            }
        }
        self.count_word()?;
        Ok(self.made(draft))
    }

    fn made(&self, mut draft: WordDraft) -> Word {
        let text = &draft.word.text;
        draft.word.known = draft.unknown_at.is_none() && draft.pattern_at.is_none();
        if draft.pipe && draft.pieces == 1 {
            draft.word.under = Some(vec!["/dev/fd/63".into()]);
        } else if let (Some(name), 1) = (&draft.variable, draft.pieces) {
            draft.word.under = self.loop_values(name);
        } else if let (None, Some(at)) = (draft.unknown_at, draft.pattern_at) {
            draft.word.under = under(text, at).map(|folder| vec![folder]);
        } else if let (Some(at), None) = (draft.unknown_at, draft.pattern_at)
            && text[..at].starts_with("--")
        {
            // The name of a long option is known only if the unknown text follows its `=`.
            draft.word.under = None;
        }
        draft.word
    }

    /// Parses `~` and `~/` at the start. `~name` depends on the machine.
    fn tilde(&mut self, draft: &mut WordDraft) {
        if self.peek() != Some(b'~') {
            return;
        }
        match self.peek_at(1) {
            None | Some(b'/') => draft.word.home = true,
            Some(byte) if ends_word(byte) => draft.word.home = true,
            Some(_) => {
                self.pos += 1;
                draft.unknown("~");
                return;
            }
        }
        self.pos += 1;
        draft.push('~');
    }

    pub(super) fn escape(&mut self, draft: &mut WordDraft) {
        self.pos += 1;
        match self.peek() {
            Some(b'\n') => self.pos += 1,
            Some(_) => {
                draft.word.quoted = true;
                let c = self.next_char();
                draft.push(c);
            }
            None => draft.push('\\'),
        }
    }

    pub(super) fn single_quotes(&mut self, draft: &mut WordDraft) -> Result<(), UnreadableText> {
        draft.word.quoted = true;
        let rest = &self.source[self.pos + 1..];
        let end = rest.find('\'').ok_or(UnreadableText)?;
        draft.word.text.push_str(&rest[..end]);
        draft.pieces += 2;
        self.pos += end + 2;
        Ok(())
    }

    /// Parses the rest of a text in double quotes, after the opening quote.
    pub(super) fn double_quotes(&mut self, draft: &mut WordDraft) -> Result<(), UnreadableText> {
        loop {
            match self.peek().ok_or(UnreadableText)? {
                b'"' => {
                    self.pos += 1;
                    return Ok(());
                }
                b'\\' => match self.peek_at(1) {
                    Some(b'\n') => self.pos += 2,
                    Some(byte @ (b'$' | b'`' | b'"' | b'\\')) => {
                        self.pos += 2;
                        draft.push(byte as char);
                    }
                    _ => {
                        self.pos += 1;
                        draft.push('\\');
                    }
                },
                b'`' | b'$' => self.expansion(draft, true)?,
                _ => {
                    let c = self.next_char();
                    draft.push(c);
                }
            }
        }
    }

    /// Returns true if a bracket here may be a pattern: it is closed before the word ends, or the
    /// end is too far away to see.
    fn bracket_closes(&self) -> bool {
        let bytes = &self.source.as_bytes()[self.pos + 1..];
        let end =
            bytes.iter().take(256).position(|byte| matches!(byte, b']' | b' ' | b'\t' | b'\n'));
        match end {
            Some(end) => bytes[end] == b']',
            None => bytes.len() > 256,
        }
    }

    /// Returns true if the opening brace before this position begins a brace expansion: a comma or
    /// `..` occurs before the matching closing brace.
    fn is_brace_expansion(&self) -> bool {
        let mut open = 1;
        let bytes = &self.source.as_bytes()[self.pos..];
        let mut several = false;
        for (at, byte) in bytes.iter().enumerate() {
            if at >= 256 {
                // In doubt, it counts as an expansion.
                return true;
            }
            match byte {
                b'{' => open += 1,
                b'}' => {
                    open -= 1;
                    if open == 0 {
                        return several;
                    }
                }
                b',' => several = true,
                b'.' => several |= bytes.get(at + 1) == Some(&b'.'),
                b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b'<' | b'>' => break,
                _ => {}
            }
        }
        // A space in quotes may be within a brace expansion; in doubt, it counts as one.
        several
    }

    /// Parses the text of a here-document in which the shell expands.
    pub fn here_text(&mut self) -> Result<Word, UnreadableText> {
        let mut draft = WordDraft::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => match self.peek_at(1) {
                    Some(b'\n') => self.pos += 2,
                    Some(byte @ (b'$' | b'`' | b'\\')) => {
                        self.pos += 2;
                        draft.push(byte as char);
                    }
                    _ => {
                        self.pos += 1;
                        draft.push('\\');
                    }
                },
                b'`' | b'$' => self.expansion(&mut draft, true)?,
                _ => {
                    let c = self.next_char();
                    draft.push(c);
                }
            }
        }
        draft.word.home = false;
        draft.word.known = draft.unknown_at.is_none();
        Ok(draft.word)
    }
}

/// Returns the pattern as a path, if every file that it matches is in the same folder; `None` if a
/// match could be outside of that folder.
fn under(text: &str, at: usize) -> Option<String> {
    let (prefix, rest) = text.split_at(at);
    if text.starts_with(['-', '~']) || dots_lead_up(rest) {
        return None;
    }
    // A component that begins with a dot and continues as a pattern matches `..`.
    let component = prefix.rsplit('/').next().unwrap_or_default();
    if component.starts_with('.') && component.len() <= 2 || rest.contains("/.") {
        return None;
    }
    let alternative_leaves = rest.contains("{/") || rest.contains(",/") || rest.contains("{~");
    if prefix.contains('/') {
        if rest.contains('{') {
            Some(prefix[..=prefix.rfind('/').unwrap_or(0)].to_owned() + "*")
        } else {
            Some(text.to_owned())
        }
    } else if alternative_leaves || [",~", ",-", "{-"].iter().any(|part| rest.contains(part)) {
        None
    } else {
        Some(text.to_owned())
    }
}

/// Returns true if `..` occurs other than in a sequence of numbers or letters.
fn dots_lead_up(text: &str) -> bool {
    let bytes = text.as_bytes();
    text.match_indices("..").any(|(at, _)| {
        let plain = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        !(at > 0 && plain(bytes.get(at - 1)) && plain(bytes.get(at + 2)) && bytes[0] == b'{')
    })
}
