//! `commands`: the simple commands of a text that a shell runs, as values.
//!
//! The reader is `guard-command`. A text or file that only the shell could know is an element that cannot be read
//! (see `extract::unreadable`), so that no allow-list holds for it.

use super::eval::confused;
use super::extract::unreadable::{element, is_unreadable};
use crate::value::{Fault, Value};
pub use guard_command::{MAX_COMMANDS, MAX_WORDS};
use guard_command::{ShellText, SimpleCommand, read};
use std::cell::RefCell;

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

/// The last text with its folder, and its commands: the rules of a tool ask about one text after the other.
type Memo = Option<(Box<str>, Box<str>, Value)>;

thread_local! {
    static MEMO: RefCell<Memo> = const { RefCell::new(None) };
}

pub(super) fn commands(args: &[&Value]) -> Result<Value, Fault> {
    let (Value::String(text), Value::Path(folder)) = (args[0], args[1]) else {
        return Err(confused());
    };
    MEMO.with_borrow_mut(|memo| {
        if let Some((known, base, value)) = memo
            && known == text
            && base == folder
        {
            return Ok(value.clone());
        }
        let value = Value::List(read(text, folder).iter().map(record).collect());
        *memo = Some((text.clone(), folder.clone(), value.clone()));
        Ok(value)
    })
}

fn record(command: &SimpleCommand) -> Value {
    let strings = |texts: &[ShellText]| Value::List(texts.iter().map(string).collect());
    let paths = |texts: &[ShellText]| Value::List(texts.iter().map(path).collect());
    let assigns = command.assigns.iter().map(|(name, value)| (name.as_str().into(), string(value)));
    Value::Record(vec![
        string(&command.program),
        string(&command.written),
        command.words.first().map_or(Value::String("".into()), string),
        strings(&command.words),
        strings(&command.options),
        Value::Map(assigns.collect()),
        paths(&command.reads),
        paths(&command.writes),
        paths(&command.removes),
        Value::Bool(command.known),
        Value::Bool(command.literal),
        Value::String(command.text.as_str().into()),
    ])
}

fn readable(text: &ShellText) -> String {
    match text {
        ShellText::Known(text) if !is_unreadable(text) => text.clone(),
        ShellText::Known(text) | ShellText::Unknown(text) => element(text),
    }
}

fn string(text: &ShellText) -> Value {
    Value::String(readable(text).into())
}

fn path(text: &ShellText) -> Value {
    Value::Path(readable(text).into())
}
