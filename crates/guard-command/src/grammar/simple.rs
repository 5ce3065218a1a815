//! Simple commands: assignments, words and redirections.

use super::{Here, ShellReader, cut, is_descriptor};
use crate::raw_commands::{Raw, Read, UnreadableText};
use crate::runs;
use crate::word::{Word, ends_word, is_name};

impl ShellReader<'_, '_> {
    /// Parses a redirect, if one begins here.
    pub(super) fn redirect(&mut self, raw: &mut Raw) -> Read<bool> {
        let start = self.pos;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.pos += 1;
        }
        // Bash writes the number of the descriptor to a variable: `{fd}>file`.
        if self.pos == start && self.starts("{") {
            let name = self.source[start + 1..].split('}').next().unwrap_or_default();
            let after = self.source.as_bytes().get(start + name.len() + 2);
            if is_name(name) && matches!(after, Some(b'<' | b'>')) {
                self.pos = start + name.len() + 2;
            }
        }
        let operators = ["&>>", "<<<", "<<-", "&>", ">>", "<<", ">&", "<&", "<>", ">|", ">", "<"];
        let operator = operators.into_iter().find(|operator| self.starts(operator));
        let process = self.starts("<(") || self.starts(">(");
        let Some(operator) = operator.filter(|_| !process) else {
            self.pos = start;
            return Ok(false);
        };
        // Before `&>` a number is a word of its own.
        if operator.starts_with('&') && self.pos != start {
            self.pos = start;
            return Ok(false);
        }
        self.pos += operator.len();
        self.skip_blanks();
        if self.peek().is_none_or(ends_word) && !self.starts("<(") && !self.starts(">(") {
            return Err(UnreadableText);
        }
        let from = self.pos;
        let target = self.word()?;
        match operator {
            "<<" | "<<-" => self.announce(self.since(from), &target, operator == "<<-")?,
            "<<<" => {
                raw.hidden_unknown |= !target.known;
                raw.input = Some(target);
            }
            ">&" | "<&" if is_descriptor(&target) => {}
            "<" | "<&" => raw.reads.push(target),
            "<>" => {
                raw.reads.push(target.clone());
                raw.writes.push(target);
            }
            _ => raw.writes.push(target),
        }
        Ok(true)
    }

    fn announce(&mut self, source: &str, target: &Word, strip: bool) -> Read<()> {
        // Bash does not expand the end word, so it would differ from the parsed one.
        if source.contains(['$', '`']) {
            return Err(UnreadableText);
        }
        let here = Here { end: target.text.clone(), literal: target.quoted, strip, command: None };
        self.here.push(here);
        if self.here.len() > 16 { Err(UnreadableText) } else { Ok(()) }
    }

    pub(super) fn simple(&mut self) -> Read<()> {
        let start = self.pos;
        let documents = self.here.len();
        let mut raw = Raw { known: true, folders: self.found.folders.clone(), ..Raw::default() };
        loop {
            self.skip_blanks();
            if self.redirect(&mut raw)? {
                continue;
            }
            let process = self.starts("<(") || self.starts(">(");
            match self.peek() {
                Some(b'(') if self.pos > start => return self.function(raw),
                Some(byte) if ends_word(byte) && !process => break,
                None => break,
                _ => {}
            }
            if raw.program.is_none() && self.assignment(&mut raw)? {
                continue;
            }
            let word = self.word()?;
            match &raw.program {
                None => raw.program = Some(word),
                Some(_) => raw.args.push(word),
            }
        }
        if self.pos == start {
            return Err(UnreadableText);
        }
        raw.text = cut(self.since(start).trim_end()).to_owned();
        if raw.program.is_none() {
            raw.program = Some(Word::literal(":"));
        }
        let at = self.emit(raw)?;
        for here in self.here.get_mut(documents..).ok_or(UnreadableText)? {
            here.command = Some(at);
        }
        Ok(())
    }

    /// Parses `name ()`. The name was already parsed as a program.
    fn function(&mut self, raw: Raw) -> Read<()> {
        if !raw.args.is_empty() || !raw.assigns.is_empty() {
            return Err(UnreadableText);
        }
        self.pos += 1;
        self.skip_blanks();
        if self.peek() != Some(b')') {
            return Err(UnreadableText);
        }
        self.pos += 1;
        self.function_body(raw.program.ok_or(UnreadableText)?)
    }

    /// Parses `NAME=…`, if it is here.
    fn assignment(&mut self, raw: &mut Raw) -> Read<bool> {
        let rest = &self.source[self.pos..];
        let name_end = rest
            .bytes()
            .position(|byte| !byte.is_ascii_alphanumeric() && byte != b'_')
            .unwrap_or(rest.len());
        let name = &rest[..name_end];
        if !is_name(name) {
            return Ok(false);
        }
        let tail = &rest[name_end..];
        if tail.starts_with('[') && tail.contains("]=") {
            // An index is arithmetic, which may run commands.
            return Err(UnreadableText);
        }
        let value_at = match tail.as_bytes() {
            [b'=', ..] => name_end + 1,
            [b'+', b'=', ..] => name_end + 2,
            _ => return Ok(false),
        };
        self.pos += value_at;
        let value = match self.peek() {
            Some(b'(') => self.array()?,
            None => Word::literal(""),
            Some(byte) if ends_word(byte) && !self.starts("<(") => Word::literal(""),
            Some(_) => self.word()?,
        };
        raw.known &= runs::harmless_assignment(name, &value, self.found);
        raw.assigns.push((name.to_owned(), value));
        Ok(true)
    }

    fn array(&mut self) -> Read<Word> {
        let from = self.pos;
        self.pos += 1;
        loop {
            self.skip_lines()?;
            match self.peek().ok_or(UnreadableText)? {
                b')' => {
                    self.pos += 1;
                    return Ok(Word::unknown(self.since(from)));
                }
                byte if ends_word(byte) && !self.starts("<(") => return Err(UnreadableText),
                _ => {
                    self.word()?;
                }
            }
        }
    }

    /// Passes a command on, with the commands that it runs. Returns its index.
    pub(super) fn emit(&mut self, raw: Raw) -> Read<usize> {
        runs::emit(raw, self.found, self.depth)
    }
}
