//! Commands as they are found in a text, before their files are worked out.

use crate::word::Word;
use crate::{MAX_COMMANDS, paths};

/// The text has something that the reader does not understand.
#[derive(Debug)]
pub(crate) struct UnreadableText;

pub(crate) type Read<T> = Result<T, UnreadableText>;

/// The folders in which a command may run; none where only the shell knows.
pub(crate) type Folders = Option<Vec<String>>;

/// A simple command as read, before its files are worked out.
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
    /// True if it is certain what runs.
    pub known: bool,
    /// It runs the text on its standard input, which is all that is not known.
    pub waits: bool,
    /// True if a word that is not among the arguments is unknown.
    pub hidden_unknown: bool,
    pub folders: Folders,
    pub text: String,
}

impl Raw {
    /// The last component of the program, if it is known: a program is taken apart wherever it lies.
    pub fn name(&self) -> Option<&str> {
        let text = self.program.as_ref()?.known()?;
        Some(text.trim_end_matches('/').rsplit('/').next().unwrap_or(text))
    }
}

/// The finds in a text so far.
pub(crate) struct FoundCommands {
    pub base: String,
    pub commands: Vec<Raw>,
    /// Names of functions that the text defines.
    pub functions: Vec<String>,
    /// A variable is set that changes which programs run.
    pub tainted: bool,
    pub folders: Folders,
    /// Variables of loops around the place, with the files that they may name.
    pub loops: Vec<(String, Option<Vec<String>>)>,
    /// The files that the command before a pipe lists, for `xargs`.
    pub listed: Option<Vec<String>>,
    /// Bytes read in all, inner texts too.
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

/// Something that a command runs.
pub(crate) enum InnerCommand {
    /// A command by its words.
    Words(Vec<Word>),
    /// A text that a shell reads.
    Text(String),
}

/// Notes the script at this place among the words.
pub(crate) fn script(raw: &mut Raw, at: usize) {
    let Some(word) = raw.args.get(at).cloned() else {
        raw.known = false;
        return;
    };
    raw.known &= word.known().is_some_and(|text| text != "-" && !is_device(text));
    raw.scripts.push(word);
}

/// Files whose content is whatever a process hands over.
pub(crate) fn is_device(text: &str) -> bool {
    let normal = paths::join("/", text);
    text.starts_with('/') && (normal.starts_with("/dev/") || normal.starts_with("/proc/"))
}
