//! The parser of expansions: variables, substitutions of commands, arithmetic, and `$'…'`. Their
//! results are unknown, but the commands in them are found.

use super::ShellReader;
use super::words::WordDraft;
use crate::raw_commands::UnreadableText;

impl ShellReader<'_, '_> {
    /// Parses an expansion, which begins with `$` or a backtick.
    pub(super) fn expansion(
        &mut self,
        draft: &mut WordDraft,
        quoted: bool,
    ) -> Result<(), UnreadableText> {
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
