//! The parser of a word: it removes quotes and escapes, and marks text that only the shell can
//! determine.

use super::ShellReader;
use crate::raw_commands::UnreadableText;
use crate::word::{Word, ends_word};

/// The word under construction.
#[derive(Default)]
struct WordDraft {
    word: Word,
    /// The offset of the first unknown piece, glob or brace in the text.
    unknown_at: Option<usize>,
    pattern_at: Option<usize>,
    /// The variable, if it is the only piece of the word and in double quotes.
    variable: Option<String>,
    pieces: usize,
    /// True if the only piece is a process substitution, which is a pipe.
    pipe: bool,
}

impl WordDraft {
    fn unknown(&mut self, source: &str) {
        self.unknown_at.get_or_insert(self.word.text.len());
        self.word.text.push_str(source);
        self.pieces += 1;
    }

    fn push(&mut self, c: char) {
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

    fn escape(&mut self, draft: &mut WordDraft) {
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

    fn single_quotes(&mut self, draft: &mut WordDraft) -> Result<(), UnreadableText> {
        draft.word.quoted = true;
        let rest = &self.source[self.pos + 1..];
        let end = rest.find('\'').ok_or(UnreadableText)?;
        draft.word.text.push_str(&rest[..end]);
        draft.pieces += 2;
        self.pos += end + 2;
        Ok(())
    }

    /// Parses the rest of a text in double quotes, after the opening quote.
    fn double_quotes(&mut self, draft: &mut WordDraft) -> Result<(), UnreadableText> {
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

    /// Parses an expansion, which begins with `$` or a backtick.
    fn expansion(&mut self, draft: &mut WordDraft, quoted: bool) -> Result<(), UnreadableText> {
        let from = self.pos;
        if self.peek() == Some(b'`') {
            self.backticks()?;
            draft.unknown(self.since(from));
            return Ok(());
        }
        match self.peek_at(1) {
            Some(b'\'') if !quoted => return self.ansi_quotes(draft),
            Some(b'"') if !quoted => {
                draft.word.quoted = true;
                self.pos += 2;
                return self.double_quotes(draft);
            }
            Some(b'(') if self.peek_at(2) == Some(b'(') => {
                self.pos += 3;
                self.arithmetic()?;
            }
            Some(b'(') => {
                self.pos += 2;
                self.nested_list()?;
            }
            Some(b'[') => return Err(UnreadableText),
            Some(b'{') => {
                self.pos += 2;
                self.parameter()?;
            }
            Some(byte) if byte.is_ascii_alphanumeric() || b"_@*#?$!-".contains(&byte) => {
                self.pos += 2;
                if byte.is_ascii_alphabetic() || byte == b'_' {
                    while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
                        self.pos += 1;
                    }
                }
            }
            _ => {
                self.pos += 1;
                draft.push('$');
                return Ok(());
            }
        }
        let source = self.since(from);
        let name = source.trim_start_matches(['$', '{']).trim_end_matches('}');
        match name {
            "HOME" if draft.word.text.is_empty() && draft.unknown_at.is_none() => {
                draft.word.home = true;
                draft.push('~');
            }
            // Numbers that the shell computes do not name another file and are not options.
            _ if is_number(source) => draft.push('0'),
            "PWD" if draft.word.text.is_empty() && self.folder().is_some() => {
                let folder = self.folder().unwrap_or_default().to_owned();
                draft.word.text.push_str(&folder);
                draft.pieces += 1;
            }
            _ => {
                if quoted && draft.pieces == 0 {
                    draft.variable = Some(name.to_owned());
                }
                draft.unknown(source);
            }
        }
        Ok(())
    }

    /// Parses `$'…'` with the escapes of C. Bytes that are not text, and a NUL, which ends the
    /// string, make the text unreadable.
    fn ansi_quotes(&mut self, draft: &mut WordDraft) -> Result<(), UnreadableText> {
        draft.word.quoted = true;
        draft.pieces += 2;
        self.pos += 2;
        loop {
            match self.peek().ok_or(UnreadableText)? {
                b'\'' => {
                    self.pos += 1;
                    return Ok(());
                }
                b'\\' => {
                    self.pos += 1;
                    let c = self.ansi_escape()?;
                    draft.word.text.push(c);
                }
                _ => {
                    let c = self.next_char();
                    draft.word.text.push(c);
                }
            }
        }
    }

    fn ansi_escape(&mut self) -> Result<char, UnreadableText> {
        let byte = self.peek().ok_or(UnreadableText)?;
        let code = match byte {
            b'0'..=b'7' => self.digits(8, 3),
            b'x' | b'u' | b'U' => {
                self.pos += 1;
                let code = self
                    .digits(16, [2, 4, 8][usize::from(byte != b'x') + usize::from(byte == b'U')]);
                // A byte over 0x7f is only a part of a character.
                if byte == b'x' && code > 0x7f { 0 } else { code }
            }
            b'n' | b't' | b'r' | b'a' | b'b' | b'e' | b'E' | b'f' | b'v' => {
                self.pos += 1;
                match byte {
                    b'n' => 10,
                    b't' => 9,
                    b'r' => 13,
                    b'a' => 7,
                    b'b' => 8,
                    b'f' => 12,
                    b'v' => 11,
                    _ => 27,
                }
            }
            b'\\' | b'\'' | b'"' | b'?' => {
                self.pos += 1;
                u32::from(byte)
            }
            _ => 0,
        };
        char::from_u32(code).filter(|c| *c != '\0').ok_or(UnreadableText)
    }

    fn digits(&mut self, radix: u32, most: usize) -> u32 {
        let mut code = 0_u32;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|byte| (byte as char).to_digit(radix)) else {
                break;
            };
            code = code.wrapping_mul(radix).wrapping_add(digit);
            self.pos += 1;
        }
        code
    }

    /// Parses the rest of `${…}`. `@P` would run the content of a variable.
    fn parameter(&mut self) -> Result<(), UnreadableText> {
        let from = self.pos;
        self.enter()?;
        let mut scrap = WordDraft::default();
        loop {
            match self.peek().ok_or(UnreadableText)? {
                b'}' => {
                    let inside = self.since(from);
                    self.pos += 1;
                    self.leave();
                    return if inside.contains('@') && inside.ends_with(['P', 'E']) {
                        Err(UnreadableText)
                    } else {
                        Ok(())
                    };
                }
                b'\\' => self.escape(&mut scrap),
                b'\'' => self.single_quotes(&mut scrap)?,
                b'"' => {
                    self.pos += 1;
                    self.double_quotes(&mut scrap)?;
                }
                b'`' | b'$' => self.expansion(&mut scrap, true)?,
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                    self.pos += 2;
                    self.nested_list()?;
                }
                _ => {
                    self.next_char();
                }
            }
        }
    }

    /// Parses the rest of `((…))`. Only substitutions in it run commands.
    pub fn arithmetic(&mut self) -> Result<(), UnreadableText> {
        self.enter()?;
        let mut open = 0_usize;
        let mut scrap = WordDraft::default();
        loop {
            match self.peek().ok_or(UnreadableText)? {
                b'(' => {
                    open += 1;
                    self.pos += 1;
                }
                b')' if open > 0 => {
                    open -= 1;
                    self.pos += 1;
                }
                b')' => {
                    if self.peek_at(1) != Some(b')') {
                        return Err(UnreadableText);
                    }
                    self.pos += 2;
                    self.leave();
                    return Ok(());
                }
                b'`' | b'$' => self.expansion(&mut scrap, true)?,
                b'\\' | b'\'' | b'"' | b';' | b'\n' => {
                    // `;` belongs to the head of a loop.
                    if self.peek() != Some(b';') {
                        return Err(UnreadableText);
                    }
                    self.pos += 1;
                }
                _ => {
                    self.next_char();
                }
            }
        }
    }

    /// Parses `` `…` ``. The inner text is parsed as a separate text.
    fn backticks(&mut self) -> Result<(), UnreadableText> {
        let bytes = self.source.as_bytes();
        let start = self.pos + 1;
        let mut inside = String::new();
        let mut at = start;
        loop {
            match bytes.get(at).ok_or(UnreadableText)? {
                b'`' => break,
                b'\\' if matches!(bytes.get(at + 1), Some(b'`' | b'\\' | b'$')) => {
                    inside.push(bytes[at + 1] as char);
                    at += 2;
                }
                // In double quotes a quote may be escaped once more. Shells differ here.
                b'\\' if bytes.get(at + 1) == Some(&b'"') => return Err(UnreadableText),
                _ => {
                    let c = self.source[at..].chars().next().ok_or(UnreadableText)?;
                    inside.push(c);
                    at += c.len_utf8();
                }
            }
        }
        self.pos = at + 1;
        self.inner_text(&inside)
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

/// Returns true for expansions that give a number, or a date in a plain format.
fn is_number(source: &str) -> bool {
    let date = source.strip_prefix("$(date +").and_then(|rest| rest.strip_suffix(')'));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '%' | '_' | '-' | '\'' | '"');
    matches!(
        source,
        "$?" | "$#" | "$$" | "$!" | "$(nproc)" | "$(nproc --all)" | "$(id -u)" | "$(id -g)"
    ) || source.starts_with("$((")
        || date.is_some_and(|format| format.chars().all(plain))
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
