//! A parser of Bash's grammar: lists, pipelines, compound commands and simple commands, in order.
//!
//! No tree is built. Each simple command is passed on where it occurs, with the folders in which it
//! may run.

mod compound;
mod expansions;
mod simple;
mod words;

use crate::raw_commands::{Folders, FoundCommands, Read, UnreadableText};
use crate::word::{Word, ends_word};
use crate::{MAX_COMMANDS, MAX_DEPTH, MAX_TEXT, MAX_WORDS, interpreters, roles, runs};

/// The maximum number of folders in which a command may run before they count as unknown.
const MAX_FOLDERS: usize = 4;

/// Parses a text as a shell would.
pub(crate) fn text(source: &str, found: &mut FoundCommands, depth: usize) -> Read<()> {
    found.bytes += source.len();
    // Inner texts are parsed again, so their bytes count again, and the total stays linear.
    if depth > MAX_DEPTH || found.bytes > 2 * MAX_TEXT {
        return Err(UnreadableText);
    }
    let mut reader = ShellReader { source, pos: 0, depth, found, here: Vec::new() };
    match reader.list(&[])? {
        "" => Ok(()),
        _ => Err(UnreadableText),
    }
}

/// A here-document whose text follows after the line.
struct Here {
    end: String,
    literal: bool,
    strip: bool,
    /// The command that reads it, after it was added to `FoundCommands`.
    command: Option<usize>,
}

/// A text and the current position in it.
pub(crate) struct ShellReader<'s, 'f> {
    pub source: &'s str,
    pub pos: usize,
    depth: usize,
    found: &'f mut FoundCommands,
    here: Vec<Here>,
}

/// Words with a meaning at the position where a command may begin.
const RESERVED: [&str; 20] = [
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function", "{", "}", "[[", "!", "time", "coproc",
];

impl<'s> ShellReader<'s, '_> {
    pub fn peek(&self) -> Option<u8> {
        self.source.as_bytes().get(self.pos).copied()
    }

    pub fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.source.as_bytes().get(self.pos + ahead).copied()
    }

    pub fn since(&self, from: usize) -> &'s str {
        &self.source[from..self.pos]
    }

    /// Returns the next character, which must exist, and advances.
    pub fn next_char(&mut self) -> char {
        let c = self.source[self.pos..].chars().next().unwrap_or(' ');
        self.pos += c.len_utf8();
        c
    }

    pub fn enter(&mut self) -> Read<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(UnreadableText) } else { Ok(()) }
    }

    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    pub fn count_word(&mut self) -> Read<()> {
        self.found.words += 1;
        if self.found.words > 2 * MAX_WORDS * MAX_COMMANDS { Err(UnreadableText) } else { Ok(()) }
    }

    /// Returns the only folder in which the next command may run, if there is only one.
    pub fn folder(&self) -> Option<&str> {
        match self.found.folders.as_deref() {
            Some([folder]) => Some(folder),
            _ => None,
        }
    }

    /// Returns the files that a loop's variable may name.
    pub fn loop_values(&self, name: &str) -> Option<Vec<String>> {
        let variable = self.found.loops.iter().rev().find(|(known, _)| known == name)?;
        variable.1.clone()
    }

    /// Parses the rest of `$(…)`, `<(…)` or `(…)`.
    pub fn nested_list(&mut self) -> Read<()> {
        self.enter()?;
        // A subshell cannot change the folder of the shell around it.
        let folders = self.found.folders.clone();
        let outer = std::mem::take(&mut self.here);
        let from = self.pos;
        let end = self.list(&[])?;
        // The text of a here-document would then begin inside of the substitution.
        let splits = !outer.is_empty() && self.since(from).contains('\n');
        if end != ")" || !self.here.is_empty() || splits {
            return Err(UnreadableText);
        }
        self.pos += 1;
        self.here = outer;
        self.found.folders = folders;
        self.leave();
        Ok(())
    }

    pub fn inner_text(&mut self, source: &str) -> Read<()> {
        let folders = self.found.folders.clone();
        text(source, self.found, self.depth + 1)?;
        self.found.folders = folders;
        Ok(())
    }

    fn starts(&self, text: &str) -> bool {
        self.source[self.pos..].starts_with(text)
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.pos += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.pos += 2,
                Some(b'#') => {
                    while self.peek().is_some_and(|byte| byte != b'\n') {
                        self.pos += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn skip_lines(&mut self) -> Read<()> {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.pos += 1;
            self.here_documents()?;
        }
    }

    /// Reads the here-documents that the previous line announced.
    fn here_documents(&mut self) -> Read<()> {
        for here in std::mem::take(&mut self.here) {
            let mut body = String::new();
            loop {
                let rest = &self.source[self.pos..];
                if rest.is_empty() {
                    return Err(UnreadableText);
                }
                let line = rest.split('\n').next().unwrap_or_default();
                self.pos = (self.pos + line.len() + 1).min(self.source.len());
                let plain = if here.strip { line.trim_start_matches('\t') } else { line };
                if plain == here.end {
                    break;
                }
                body.push_str(plain);
                body.push('\n');
            }
            let word = if here.literal {
                Word::literal(body)
            } else {
                self.enter()?;
                let folders = self.found.folders.clone();
                let mut inner = ShellReader {
                    source: &body,
                    pos: 0,
                    depth: self.depth,
                    found: self.found,
                    here: Vec::new(),
                };
                let word = inner.here_text()?;
                self.found.folders = folders;
                self.leave();
                word
            };
            self.give_input(here.command, word)?;
        }
        Ok(())
    }

    /// Passes a here-document to its command, which may be a shell that runs it.
    fn give_input(&mut self, command: Option<usize>, word: Word) -> Read<()> {
        let Some(raw) = command.and_then(|at| self.found.commands.get_mut(at)) else {
            return Ok(());
        };
        raw.hidden_unknown |= !word.known;
        raw.input = Some(word);
        let raw = raw.clone();
        let folders = self.found.folders.clone();
        self.found.folders = raw.folders.clone();
        let known = runs::fed(&raw, self.found, self.depth)?;
        self.found.folders = folders;
        if let Some(raw) = command.and_then(|at| self.found.commands.get_mut(at)) {
            raw.known = known;
        }
        Ok(())
    }

    /// Returns the reserved word that begins here, if it is a whole word.
    fn reserved(&self) -> Option<&'static str> {
        let rest = &self.source.as_bytes()[self.pos..];
        let end = rest.iter().position(|byte| ends_word(*byte)).unwrap_or(rest.len());
        RESERVED.into_iter().find(|word| word.as_bytes() == &rest[..end])
    }

    /// Parses commands up to one of the reserved words, which is consumed, or up to `)`, `;;` or
    /// the end.
    pub fn list(&mut self, until: &[&'static str]) -> Read<&'static str> {
        loop {
            self.skip_lines()?;
            match self.peek() {
                None if self.here.is_empty() => return Ok(""),
                None => return Err(UnreadableText),
                Some(b')') => return Ok(")"),
                Some(b';') => {
                    return if self.peek_at(1) == Some(b';') || self.peek_at(1) == Some(b'&') {
                        Ok(";;")
                    } else {
                        Err(UnreadableText)
                    };
                }
                _ => {}
            }
            if let Some(word) = self.reserved().filter(|word| until.contains(word)) {
                self.pos += word.len();
                return Ok(word);
            }
            let before = self.found.folders.clone();
            let after_failure = self.and_or()?;
            self.skip_blanks();
            match self.peek() {
                Some(b'&') => {
                    self.pos += 1;
                    // A command in the background changes the folder of its own shell only.
                    self.found.folders = before;
                }
                other => {
                    let here = self.found.folders.take();
                    self.found.folders = union(here, after_failure);
                    match other {
                        None | Some(b'\n' | b')') => {}
                        Some(b';') if matches!(self.peek_at(1), Some(b';' | b'&')) => {}
                        Some(b';') => self.pos += 1,
                        _ => return Err(UnreadableText),
                    }
                }
            }
        }
    }

    /// Parses pipelines joined by `&&` and `||`. Returns the folders in which the shell may be
    /// after one of them failed.
    fn and_or(&mut self) -> Read<Folders> {
        let mut failed: Folders = self.found.folders.clone();
        loop {
            let before = self.found.folders.clone();
            self.pipeline()?;
            self.skip_blanks();
            let and = self.starts("&&");
            if !and && !self.starts("||") {
                // Only the last pipeline determines whether its change of folder happened.
                failed = union(failed, before);
                return Ok(failed);
            }
            failed = union(failed, before);
            if !and {
                let here = self.found.folders.take();
                self.found.folders = union(here, failed.clone());
            }
            self.pos += 2;
            self.skip_lines()?;
        }
    }

    fn pipeline(&mut self) -> Read<()> {
        let before = self.found.folders.clone();
        let mut several = false;
        let outer = self.found.listed.take();
        loop {
            let first = self.found.commands.len();
            self.command()?;
            if several {
                self.found.commands[first..].iter_mut().for_each(interpreters::behind_pipe);
            }
            self.found.listed = match &self.found.commands[first..] {
                [raw] => roles::listed(raw),
                _ => None,
            };
            self.skip_blanks();
            if self.peek() != Some(b'|') || self.peek_at(1) == Some(b'|') {
                break;
            }
            several = true;
            self.pos += 1 + usize::from(self.peek_at(1) == Some(b'&'));
            self.skip_lines()?;
        }
        self.found.listed = outer;
        // Whether the last command of a pipe runs in the shell itself depends on an option.
        if several {
            let here = self.found.folders.take();
            self.found.folders = union(here, before);
        }
        Ok(())
    }

    fn command(&mut self) -> Read<()> {
        self.enter()?;
        self.skip_blanks();
        let from = self.pos;
        let compound = self.compound()?;
        if compound {
            self.redirects_of_compound(from)?;
        } else {
            self.simple()?;
        }
        self.leave();
        Ok(())
    }
}

/// Returns the source of a command, truncated to the length of a message.
fn cut(text: &str) -> &str {
    let end = (0..=text.len().min(400)).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// Returns true if the word after `>&` is a descriptor rather than a file.
fn is_descriptor(word: &Word) -> bool {
    word.known().is_some_and(|text| {
        let digits = text.strip_suffix('-').unwrap_or(text);
        !text.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Returns all folders of both.
pub(crate) fn union(a: Folders, b: Folders) -> Folders {
    let (mut all, more) = a.zip(b)?;
    for folder in more {
        if !all.contains(&folder) {
            all.push(folder);
        }
    }
    (all.len() <= MAX_FOLDERS).then_some(all)
}
