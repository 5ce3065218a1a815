//! A conservative parser of shell text: it finds every simple command that the text could run, as
//! far as that is known without running it.
//!
//! The grammar is Bash's, applied strictly. ShellText that the parser does not understand is
//! *unreadable*, never skipped: the whole line is then one command about which nothing is known.
//! The crate expands no variables, reads no files and decides nothing. The time is linear in the
//! length of the text; length, depth and the number of commands are bounded.

#![forbid(unsafe_code)]

mod finish;
mod grammar;
mod interpreters;
mod operands;
mod paths;
mod raw_commands;
mod roles;
mod runs;
mod scripts;
mod word;

/// The maximum length of a text, in bytes. A longer one is unreadable.
pub const MAX_TEXT: usize = 256 * 1024;
/// The maximum depth of nested lists, substitutions and commands run by others.
pub const MAX_DEPTH: usize = 24;
/// The maximum number of simple commands of a text.
pub const MAX_COMMANDS: usize = 64;
/// The maximum number of words, files or options of a simple command.
pub const MAX_WORDS: usize = 100;

/// A piece of text that is known, or that only the shell can determine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellText {
    /// The text after quotes and escapes are removed.
    Known(String),
    /// The source of a text that depends on the state in which the shell runs.
    Unknown(String),
}

impl ShellText {
    /// Returns the text, if it is known.
    pub fn known(&self) -> Option<&str> {
        match self {
            ShellText::Known(text) => Some(text),
            ShellText::Unknown(_) => None,
        }
    }
}

/// One simple command that a text could run, directly or through another command in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The program: a bare name, also for a file of a system folder; `./PATH` for a file below the base folder; else a path.
    pub program: ShellText,
    /// The program as written, without quotes.
    pub written: ShellText,
    /// The words after the program.
    pub words: Vec<ShellText>,
    /// The options among the words: each as written up to a `=`, and each letter of a cluster (`-rf` is also `-r` and `-f`).
    pub options: Vec<ShellText>,
    /// The variables that the command sets, before the program or by `export` and similar builtins.
    pub assigns: Vec<(String, ShellText)>,
    /// The files that it may read, as absolute paths. `~` is the folder `/~`.
    pub reads: Vec<ShellText>,
    /// The files that it may create or change.
    pub writes: Vec<ShellText>,
    /// The files that it may remove or move away.
    pub removes: Vec<ShellText>,
    /// True if it is certain which program runs.
    pub known: bool,
    /// True if every word, redirect and assignment is known.
    pub literal: bool,
    /// The source text.
    pub text: String,
}

/// Returns every simple command that a shell in the folder `base`, a normalised absolute path,
/// could run for this text. A text that cannot be parsed gives one command about which nothing is
/// known.
pub fn read(text: &str, base: &str) -> Vec<SimpleCommand> {
    let mut found = raw_commands::FoundCommands::new(base);
    let hidden = |c: char| c == '\0' || (c.is_control() && !matches!(c, '\n' | '\t' | '\r'));
    if text.len() > MAX_TEXT || text.chars().any(hidden) {
        return vec![unreadable(text)];
    }
    match grammar::text(text, &mut found, 0) {
        Ok(()) => {
            let commands = finish::commands(found);
            if commands.iter().all(is_bounded) { commands } else { vec![unreadable(text)] }
        }
        Err(raw_commands::UnreadableText) => vec![unreadable(text)],
    }
}

fn is_bounded(command: &SimpleCommand) -> bool {
    let lists =
        [&command.words, &command.options, &command.reads, &command.writes, &command.removes];
    lists.iter().all(|list| list.len() <= MAX_WORDS) && command.assigns.len() <= MAX_WORDS
}

/// Returns the command about which nothing is known.
fn unreadable(text: &str) -> SimpleCommand {
    let unknown = || ShellText::Unknown(text.to_owned());
    SimpleCommand {
        program: unknown(),
        written: unknown(),
        words: vec![unknown()],
        options: vec![unknown()],
        assigns: Vec::new(),
        reads: vec![unknown()],
        writes: vec![unknown()],
        removes: vec![unknown()],
        known: false,
        literal: false,
        text: text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
