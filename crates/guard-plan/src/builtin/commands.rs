//! `commands`: the simple commands of a text that a shell runs, as values.
//!
//! The parser is `guard-command`. A text or file that only the shell can determine is replaced by
//! an unreadable element (see `extract::unreadable`), so that no allow-list accepts it.

use super::eval::confused;
use super::extract::unreadable::{element, is_unreadable};
use crate::value::{Fault, Value};
pub use guard_command::{MAX_COMMANDS, MAX_WORDS};
use guard_command::{ShellText, SimpleCommand, read};
use std::cell::LazyCell;
use std::ops::Deref;

/// The fields of the record `SimpleCommand`, with their types as written.
pub const SIMPLE_COMMAND: &[(&str, &str)] = &[
    ("program", "string"),
    ("written", "string"),
    ("subcommand", "string"),
    ("words", "list<string>"),
    ("options", "list<string>"),
    ("assigns", "map<string, string>"),
    ("reads", "list<path>"),
    ("writes", "list<path>"),
    ("removes", "list<path>"),
    ("certain", "bool"),
    ("literal", "bool"),
    ("text", "string"),
];

pub(super) fn commands(args: &[&Value]) -> Result<Value, Fault> {
    match (args[0], args[1]) {
        (Value::String(text), Value::Path(folder)) => Ok(commands_of(text, folder)),
        _ => Err(confused()),
    }
}

/// Returns the simple commands of a text that a shell runs in a folder: a list of records.
pub fn commands_of(text: &str, folder: &str) -> Value {
    let whole = LazyCell::new(|| element(text));
    let record = |(at, command)| CommandPlace { text: &whole, at }.record(command);
    Value::List(read(text, folder).iter().enumerate().map(record).collect())
}

/// The position of a simple command. Values that only the shell can determine are different at each
/// position.
struct CommandPlace<'w> {
    /// The unreadable element of the whole text; computed only if something in the text is unknown.
    text: &'w dyn Deref<Target = String>,
    /// The index among the commands.
    at: usize,
}

impl CommandPlace<'_> {
    fn record(&self, command: &SimpleCommand) -> Value {
        let string = |text: &ShellText| Value::String(self.readable(text).into());
        let strings = |texts: &[ShellText]| Value::List(texts.iter().map(string).collect());
        let path = |text: &ShellText| Value::Path(self.readable(text).into());
        let paths = |texts: &[ShellText]| Value::List(texts.iter().map(path).collect());
        let assign = |(name, value): &(String, ShellText)| (name.as_str().into(), string(value));
        Value::Record(vec![
            string(&command.program),
            string(&command.written),
            command.words.first().map_or(Value::String("".into()), string),
            strings(&command.words),
            strings(&command.options),
            Value::Map(command.assigns.iter().map(assign).collect()),
            paths(&command.reads),
            paths(&command.writes),
            paths(&command.removes),
            Value::Bool(command.known),
            Value::Bool(command.literal),
            Value::String(command.text.as_str().into()),
        ])
    }

    fn readable(&self, text: &ShellText) -> String {
        match text {
            ShellText::Known(text) if !is_unreadable(text) => text.clone(),
            // A known text that imitates an unreadable element is hidden as well, so no rule
            // mistakes it.
            ShellText::Known(piece) | ShellText::Unknown(piece) => {
                element(&format!("{} {} {piece}", **self.text, self.at))
            }
        }
    }
}
