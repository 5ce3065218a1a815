//! Scripts of `sed`. The versions of GNU and BSD read some texts in different ways, so a script must
//! be harmless in all of them.

use super::brackets_close;

/// Returns true if a `sed` script only edits its input.
pub(crate) fn sed_is_harmless(script: &str) -> bool {
    ScriptReader { chars: script.chars().peekable(), labelled: false }.commands().is_some()
}

/// A script and the current position in it. Its methods return `None` for what is in doubt.
struct ScriptReader<'t> {
    chars: std::iter::Peekable<std::str::Chars<'t>>,
    /// True after a label on this line. BSD takes the rest of the line for a part of the label.
    labelled: bool,
}

impl ScriptReader<'_> {
    fn commands(&mut self) -> Option<()> {
        loop {
            while let Some(c) =
                self.chars.next_if(|c| c.is_ascii_whitespace() || *c == ';' || *c == '}')
            {
                self.labelled &= c != '\n';
            }
            if self.chars.peek().is_none() {
                return Some(());
            }
            self.address()?;
            while self.chars.next_if(|c| matches!(c, ' ' | '\t' | '!')).is_some() {}
            match self.chars.next()? {
                's' => {
                    let delimiter = self.delimiter()?;
                    self.pattern(delimiter)?;
                    self.until(delimiter)?;
                    // The flags `e` and `w` run a command and write a file, so they are not among
                    // these.
                    while self
                        .chars
                        .next_if(|c| c.is_ascii_digit() || "gpiIM".contains(*c))
                        .is_some()
                    {}
                }
                'y' => {
                    let delimiter = self.delimiter()?;
                    self.until(delimiter)?;
                    self.until(delimiter)?;
                }
                'a' | 'i' | 'c' => self.text_lines()?,
                // A `;` does not end a comment.
                '#' => while self.chars.next_if(|c| *c != '\n').is_some() {},
                'b' | 't' | 'T' | ':' => {
                    self.label()?;
                    continue;
                }
                'q' | 'Q' | 'l' | 'L' => {
                    while self.chars.next_if(|c| c.is_ascii_digit() || *c == ' ').is_some() {}
                }
                '{' => continue,
                'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | '='
                | 'F' => {}
                _ => return None,
            }
            self.end_of_command(|c| matches!(c, '\n' | ';' | '}'))?;
        }
    }

    fn end_of_command(&mut self, ends: impl Fn(&char) -> bool) -> Option<()> {
        while self.chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
        self.chars.peek().is_none_or(ends).then_some(())
    }

    /// Skips a label. GNU ends it at a blank, after which another command begins, and some versions
    /// at `}`, which others take for a part of it.
    fn label(&mut self) -> Option<()> {
        self.labelled = true;
        while self.chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
        let letter = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        while self.chars.next_if(letter).is_some() {}
        while self.chars.next_if(|c| matches!(c, ' ' | '\t' | '}')).is_some() {}
        self.end_of_command(|c| matches!(c, '\n' | ';'))
    }

    /// Skips the text of `a`, `i` and `c`, to the end of a line that no backslash continues.
    fn text_lines(&mut self) -> Option<()> {
        while let Some(c) = self.chars.next_if(|c| *c != '\n') {
            if c == '\\' {
                self.escaped();
            }
        }
        (!self.labelled).then_some(())
    }

    fn address(&mut self) -> Option<()> {
        loop {
            match self.chars.peek() {
                Some(c) if c.is_ascii_digit() || matches!(c, '$' | ',' | '~' | '+' | ' ') => {
                    self.chars.next();
                }
                Some('/') => {
                    self.chars.next();
                    self.pattern('/')?;
                    while self.chars.next_if(|c| matches!(c, 'I' | 'M')).is_some() {}
                }
                Some('\\') => {
                    self.chars.next();
                    let delimiter = self.delimiter()?;
                    self.pattern(delimiter)?;
                    while self.chars.next_if(|c| matches!(c, 'I' | 'M')).is_some() {}
                }
                _ => return Some(()),
            }
        }
    }

    /// Reads a delimiter. Without a UTF-8 locale, `sed` takes the first byte of a character.
    fn delimiter(&mut self) -> Option<char> {
        self.chars.next().filter(|c| c.is_ascii() && !matches!(c, '\\' | '\n'))
    }

    fn escaped(&mut self) -> Option<char> {
        self.chars.next().filter(|c| !(self.labelled && *c == '\n'))
    }

    /// Skips a regular expression and the delimiter after it. A delimiter in brackets ends it in
    /// some versions only.
    fn pattern(&mut self, delimiter: char) -> Option<()> {
        let text = self.until(delimiter)?;
        brackets_close(&text).then_some(())
    }

    /// Returns the text up to a delimiter, and skips both.
    fn until(&mut self, delimiter: char) -> Option<String> {
        let mut text = String::new();
        loop {
            match self.chars.next()? {
                c if c == delimiter => return Some(text),
                '\\' => {
                    text.push('\\');
                    text.push(self.escaped()?);
                }
                '\n' => return None,
                c => text.push(c),
            }
        }
    }
}
