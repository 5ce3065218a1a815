//! Commands as they are found in a text, before their files are determined.

use crate::word::Word;
use crate::{MAX_COMMANDS, paths};

/// The error that the text contains something that the parser does not understand.
#[derive(Debug)]
pub(crate) struct UnreadableText;

pub(crate) type Read<T> = Result<T, UnreadableText>;

/// The folders in which a command may run; `None` if only the shell knows them.
pub(crate) type Folders = Option<Vec<String>>;

/// A simple command as parsed, before its files are determined.
#[derive(Debug, Clone, Default)]
pub(crate) struct Raw {
    pub program: Option<Word>,
    pub args: Vec<Word>,
    pub assigns: Vec<(String, Word)>,
    pub reads: Vec<Word>,
    pub writes: Vec<Word>,
    /// Files that it changes without giving them new content.
    pub touches: Vec<Word>,
    pub removes: Vec<Word>,
    /// Files whose content it runs.
    pub scripts: Vec<Word>,
    /// The text on its standard input, from a here-document or a here-string.
    pub input: Option<Word>,
    /// True if it is certain which program runs.
    pub known: bool,
    /// True if the command runs the text on its standard input, and only that text is unknown.
    pub waits: bool,
    /// True if a word that is not among the arguments is unknown.
    pub hidden_unknown: bool,
    pub folders: Folders,
    pub text: String,
}

impl Raw {
    /// Returns the last component of the program, if it is known. A program is recognised in any
    /// folder.
    pub fn name(&self) -> Option<&str> {
        let text = self.program.as_ref()?.known()?;
        Some(text.trim_end_matches('/').rsplit('/').next().unwrap_or(text))
    }
}

/// The commands and facts found in a text so far.
pub(crate) struct FoundCommands {
    pub base: String,
    pub commands: Vec<Raw>,
    /// Names of functions that the text defines.
    pub functions: Vec<String>,
    /// True if a variable is set that changes which programs run.
    pub tainted: bool,
    pub folders: Folders,
    /// The variables of the enclosing loops, with the files that they may name.
    pub loops: Vec<(String, Option<Vec<String>>)>,
    /// The files that the command before a pipe lists, for `xargs`.
    pub listed: Option<Vec<String>>,
    /// The number of bytes parsed in total, including inner texts.
    pub bytes: usize,
    pub words: usize,
}

impl FoundCommands {
    pub fn new(base: &str) -> FoundCommands {
        FoundCommands {
            base: base.to_owned(),
            commands: Vec::new(),
            functions: Vec::new(),
            tainted: false,
            folders: Some(vec![base.to_owned()]),
            loops: Vec::new(),
            listed: None,
            bytes: 0,
            words: 0,
        }
    }

    pub fn push(&mut self, raw: Raw) -> Read<()> {
        if self.commands.len() >= MAX_COMMANDS {
            return Err(UnreadableText);
        }
        self.commands.push(raw);
        Ok(())
    }
}

/// A command that another command runs.
pub(crate) enum InnerCommand {
    /// A command, as words.
    Words(Vec<Word>),
    /// A text that a shell parses.
    Text(String),
}

/// Records the script at this index among the words.
pub(crate) fn script(raw: &mut Raw, at: usize) {
    let Some(word) = raw.args.get(at).cloned() else {
        raw.known = false;
        return;
    };
    raw.known &= word.known().is_some_and(|text| text != "-" && !is_device(text));
    raw.scripts.push(word);
}

/// Returns true for files whose content comes from another process.
pub(crate) fn is_device(text: &str) -> bool {
    let normal = paths::join("/", text);
    text.starts_with('/') && (normal.starts_with("/dev/") || normal.starts_with("/proc/"))
}
