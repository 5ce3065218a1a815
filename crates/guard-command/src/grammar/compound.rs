//! Compound commands: groups, conditions, loops, `case`, tests and functions.

use super::{ShellReader, cut, union};
use crate::raw_commands::{Raw, Read, UnreadableText};
use crate::runs;
use crate::word::{Word, ends_word, is_name};

impl ShellReader<'_, '_> {
    /// Parses a compound command, if one begins here.
    pub(super) fn compound(&mut self) -> Read<bool> {
        if self.starts("((") {
            self.pos += 2;
            self.arithmetic()?;
            return Ok(true);
        }
        if self.peek() == Some(b'(') {
            self.pos += 1;
            self.nested_list()?;
            return Ok(true);
        }
        let Some(word) = self.reserved() else { return Ok(false) };
        self.pos += word.len();
        match word {
            "{" => self.expect(&["}"])?,
            "if" => {
                self.expect(&["then"])?;
                while self.some_of(&["elif", "else", "fi"])? != "fi" {
                    if self.source[..self.pos].ends_with("elif") {
                        self.expect(&["then"])?;
                    }
                }
            }
            "while" | "until" => self.looped(|reader| {
                reader.expect(&["do"])?;
                reader.expect(&["done"])
            })?,
            "for" | "select" => self.for_loop()?,
            "case" => self.case()?,
            "function" => {
                self.skip_blanks();
                let name = self.word()?;
                self.skip_blanks();
                if self.starts("()") {
                    self.pos += 2;
                }
                self.function_body(name)?;
            }
            "[[" => self.test()?,
            "!" | "time" => {
                self.skip_blanks();
                if self.starts("-p ") {
                    self.pos += 2;
                }
                self.command()?;
                // The redirects were already parsed.
            }
            "coproc" => self.command()?,
            _ => return Err(UnreadableText),
        }
        Ok(true)
    }

    fn some_of(&mut self, until: &[&'static str]) -> Read<&'static str> {
        match self.list(until)? {
            "" | ")" | ";;" => Err(UnreadableText),
            word => Ok(word),
        }
    }

    fn expect(&mut self, until: &[&'static str]) -> Read<()> {
        self.some_of(until).map(drop)
    }

    /// Parses a part that may run more than once. A folder that changes in it is unknown.
    fn looped(&mut self, read: impl FnOnce(&mut Self) -> Read<()>) -> Read<()> {
        let before = self.found.folders.clone();
        let first = self.found.commands.len();
        read(self)?;
        // The second pass would begin in the folder where the first one ended.
        if self.found.folders != before {
            self.found.folders = None;
            for raw in &mut self.found.commands[first..] {
                raw.folders = None;
            }
        }
        Ok(())
    }

    fn for_loop(&mut self) -> Read<()> {
        self.skip_blanks();
        if self.starts("((") {
            self.pos += 2;
            self.arithmetic()?;
            self.end_of_head()?;
            return self.looped(|reader| reader.expect(&["done"]));
        }
        let name = self.word()?;
        let name = name.known().filter(|name| is_name(name)).ok_or(UnreadableText)?.to_owned();
        self.found.tainted |= runs::is_sensitive(&name);
        self.skip_lines()?;
        let mut values = None;
        if self.starts("in") && self.peek_at(2).is_none_or(ends_word) {
            self.pos += 2;
            values = self.loop_words()?;
        }
        self.end_of_head()?;
        self.found.loops.push((name, values));
        let read = self.looped(|reader| reader.expect(&["done"]));
        self.found.loops.pop();
        read
    }

    /// Parses the words of `for NAME in …`. Returns the files that they may name, if all of them
    /// are known to that extent.
    fn loop_words(&mut self) -> Read<Option<Vec<String>>> {
        let mut values = Some(Vec::new());
        loop {
            self.skip_blanks();
            match self.peek() {
                None | Some(b';' | b'\n') => return Ok(values),
                Some(byte) if ends_word(byte) && !self.starts("<(") => return Err(UnreadableText),
                _ => {}
            }
            let word = self.word()?;
            let more = match (word.known(), word.under.clone()) {
                // A value that begins with a dash could become an option of the command in the
                // loop.
                (Some(text), _) if !word.home && !text.starts_with('-') => Some(vec![text.into()]),
                (None, Some(under)) => Some(under),
                _ => None,
            };
            values = values.zip(more).map(|(mut values, more)| {
                values.extend(more);
                values
            });
        }
    }

    /// Skips `; do`.
    fn end_of_head(&mut self) -> Read<()> {
        self.skip_blanks();
        if self.peek() == Some(b';') {
            self.pos += 1;
        }
        self.skip_lines()?;
        match self.reserved() {
            Some("do") => {
                self.pos += 2;
                Ok(())
            }
            _ => Err(UnreadableText),
        }
    }

    fn case(&mut self) -> Read<()> {
        self.skip_blanks();
        self.word()?;
        self.skip_lines()?;
        if !self.starts("in") || !self.peek_at(2).is_none_or(ends_word) {
            return Err(UnreadableText);
        }
        self.pos += 2;
        loop {
            self.skip_lines()?;
            if self.reserved() == Some("esac") {
                self.pos += 4;
                return Ok(());
            }
            if self.peek() == Some(b'(') {
                self.pos += 1;
            }
            loop {
                self.skip_blanks();
                self.word()?;
                self.skip_blanks();
                match self.peek() {
                    Some(b'|') => self.pos += 1,
                    Some(b')') => break,
                    _ => return Err(UnreadableText),
                }
            }
            self.pos += 1;
            let before = self.found.folders.clone();
            let end = self.list(&["esac"])?;
            // No branch need run.
            let here = self.found.folders.take();
            self.found.folders = union(here, before);
            match end {
                "esac" => return Ok(()),
                ";;" => {
                    while matches!(self.peek(), Some(b';' | b'&')) {
                        self.pos += 1;
                    }
                }
                _ => return Err(UnreadableText),
            }
        }
    }

    /// Parses `[[ … ]]`. A word that contains a substitution as text could be run by an arithmetic
    /// test.
    fn test(&mut self) -> Read<()> {
        loop {
            self.skip_lines()?;
            if self.starts("]]") && self.peek_at(2).is_none_or(ends_word) {
                self.pos += 2;
                return Ok(());
            }
            match self.peek().ok_or(UnreadableText)? {
                b'(' | b')' | b'<' | b'>' | b'|' | b'&' if !self.starts("<(") => self.pos += 1,
                b';' => return Err(UnreadableText),
                _ => {
                    let word = self.word()?;
                    if word.known && runs::holds_substitution(&word.text) {
                        return Err(UnreadableText);
                    }
                }
            }
        }
    }

    pub(super) fn function_body(&mut self, name: Word) -> Read<()> {
        let name = name.known().ok_or(UnreadableText)?.to_owned();
        self.found.functions.push(name);
        self.skip_lines()?;
        // A function runs when it is called, from whatever folder; its own commands are judged
        // here.
        let folders = self.found.folders.clone();
        self.command()?;
        self.found.folders = folders;
        Ok(())
    }

    pub(super) fn redirects_of_compound(&mut self, from: usize) -> Read<()> {
        let mut raw = Raw { known: true, folders: self.found.folders.clone(), ..Raw::default() };
        let mut any = false;
        loop {
            self.skip_blanks();
            if !self.redirect(&mut raw)? {
                break;
            }
            any = true;
        }
        if any {
            raw.text = cut(self.since(from)).to_owned();
            raw.program = Some(Word::literal(":"));
            self.emit(raw)?;
        }
        Ok(())
    }
}
