//! Programs of `awk`. Its versions differ in what a `/` begins, so a program is in doubt where two
//! of them could read different code.

use super::brackets_close;

/// Returns true if an `awk` program neither runs commands nor writes files.
pub(crate) fn awk_is_harmless(program: &str) -> bool {
    let Some(code) = awk_code(program) else { return false };
    if ["system", "getline", "@", "|&", "ENVIRON", "ARGV", "fflush", "close"]
        .iter()
        .any(|word| code.contains(word))
    {
        return false;
    }
    let code = code.replace("||", "  ");
    if code.contains('|') {
        return false;
    }
    // After `print`, a `>` names a file, in any statement.
    code.split([';', '{', '}', '\n'])
        .all(|statement| !(statement.contains("print") && statement.contains('>')))
}

/// The reading of a `/` after a token.
#[derive(Clone, Copy, PartialEq)]
enum Slash {
    Pattern,
    Division,
    Doubt,
}

/// Returns the program without its strings, regular expressions and continued lines; `None` if
/// that is in doubt.
fn awk_code(program: &str) -> Option<String> {
    let mut reader = CodeReader {
        rest: program,
        code: String::with_capacity(program.len()),
        slash: Slash::Pattern,
        ended: true,
        heads: Vec::new(),
    };
    while let Some(c) = reader.rest.chars().next() {
        reader.token(c)?;
    }
    Some(reader.code)
}

/// A program, and what was read of it.
struct CodeReader<'t> {
    rest: &'t str,
    code: String,
    slash: Slash,
    /// True where a statement may begin.
    ended: bool,
    /// For each open parenthesis, true if it belongs to an `if` or a loop.
    heads: Vec<bool>,
}

impl CodeReader<'_> {
    fn token(&mut self, c: char) -> Option<()> {
        let is_blank = matches!(c, ' ' | '\t' | '\r' | '\n' | '\\' | '#');
        self.ended = if is_blank { self.ended } else { matches!(c, ';' | '{' | '}') };
        match c {
            '"' => {
                self.rest = &self.rest[1..];
                self.until('"')?;
                self.code.push_str("\"\"");
                self.slash = Slash::Division;
            }
            '/' if self.slash == Slash::Doubt => return None,
            '/' if self.slash == Slash::Pattern => {
                self.rest = &self.rest[1..];
                let pattern = self.until('/')?;
                if !brackets_close(pattern) {
                    return None;
                }
                self.code.push_str("//");
                self.slash = Slash::Doubt;
            }
            '#' => self.rest = &self.rest[self.rest.find('\n').unwrap_or(self.rest.len())..],
            '\\' => {
                self.rest = self.rest.strip_prefix("\\\n")?;
                // Versions differ in whether a name continues on the next line.
                if self.code.ends_with(is_letter) && self.rest.starts_with(is_letter) {
                    return None;
                }
                self.code.push(' ');
            }
            '\n' => {
                // After `,` and other operators, a statement continues on the next line.
                self.ended |= self.slash != Slash::Pattern;
                self.push(c, if self.ended { '\n' } else { ' ' });
                self.slash = Slash::Pattern;
            }
            ' ' | '\t' | '\r' => self.push(c, ' '),
            c if is_letter(c) => self.name(),
            c if c.is_ascii() && c != '\'' => self.sign(c)?,
            _ => return None,
        }
        Some(())
    }

    fn push(&mut self, c: char, as_code: char) {
        self.rest = &self.rest[c.len_utf8()..];
        self.code.push(as_code);
    }

    /// Reads a keyword, another name, or a number.
    fn name(&mut self) {
        let end = self.rest.find(|c| !is_letter(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.slash = match name {
            "print" | "printf" | "return" | "exit" | "case" | "else" | "do" | "in" => {
                Slash::Pattern
            }
            "length" | "getline" | "next" | "nextfile" | "break" | "continue" | "delete" | "if"
            | "while" | "for" | "switch" | "BEGIN" | "END" => Slash::Doubt,
            _ => Slash::Division,
        };
        self.code.push_str(name);
        self.rest = rest;
    }

    fn sign(&mut self, c: char) -> Option<()> {
        self.slash = match c {
            '(' => {
                let before = self.code.trim_end();
                let head = ["if", "while", "for", "switch"].iter().any(|word| {
                    before.strip_suffix(word).is_some_and(|rest| !rest.ends_with(is_letter))
                });
                self.heads.push(head);
                Slash::Pattern
            }
            // After a head comes a statement, which some versions cannot tell from a division.
            ')' if self.heads.pop()? => Slash::Doubt,
            ')' | ']' => Slash::Division,
            '+' | '-' if self.code.ends_with(c) => Slash::Doubt,
            _ => Slash::Pattern,
        };
        self.push(c, c);
        Some(())
    }

    /// Returns the text up to `end`, and skips both.
    fn until(&mut self, end: char) -> Option<&str> {
        let mut chars = self.rest.char_indices();
        loop {
            match chars.next()? {
                (_, '\\') => {
                    chars.next()?;
                }
                // A string or a regular expression cannot span lines, so something was not
                // understood.
                (_, '\n') => return None,
                (at, c) if c == end => {
                    let text = &self.rest[..at];
                    self.rest = &self.rest[at + 1..];
                    return Some(text);
                }
                _ => {}
            }
        }
    }
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.')
}
