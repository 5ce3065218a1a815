//! The calls in a guard's tests, with the patterns that they match.

use super::conditions::CallPattern;
use guard_plan::builtin::commands_of;
use guard_plan::json::Json;
use guard_plan::path;
use guard_plan::url::Url;
use guard_plan::value::Value;

/// The workspace of every test.
const WORKSPACE: &str = "/workspace";

/// A call of a guard's tests.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportExample {
    /// The tool, by the host's name.
    pub tool: String,
    /// The arguments.
    pub args: Json,
    /// True if the guard allows the call.
    pub runs: bool,
}

impl ExportExample {
    /// Returns true if the call matches a pattern of its tool.
    pub(super) fn meets(&self, pattern: &CallPattern) -> bool {
        let text = |param: &str| self.args.get(param).and_then(Json::as_str);
        let path = |param: &str| path::normalise(WORKSPACE, text(param)?).ok();
        let last = |param: &str| {
            path(param).map(|path| path.rsplit('/').next().unwrap_or_default().to_owned())
        };
        match pattern {
            CallPattern::Every => true,
            CallPattern::Words { param, words } => text(param).is_some_and(|line| {
                simple_commands(line).iter().any(|command| command.starts_with(words))
            }),
            CallPattern::FileName { param, name } => last(param).is_some_and(|last| last == *name),
            CallPattern::FileEnding { param, ending } => {
                last(param).is_some_and(|last| last.ends_with(ending))
            }
            CallPattern::Below { param, folder } => {
                let folder = path::normalise(WORKSPACE, folder).ok();
                path(param).zip(folder).is_some_and(|(path, folder)| path::within(&path, &folder))
            }
            CallPattern::Host { param, host } => text(param)
                .and_then(|url| Url::parse(url).ok())
                .is_some_and(|url| *url.host == **host),
            CallPattern::Text { param, text: wanted } => text(param) == Some(wanted),
        }
    }

    /// Returns the words of the call's command line, if it is one literal simple command.
    pub(super) fn words(&self, param: &str) -> Option<Vec<String>> {
        let line = self.args.get(param).and_then(Json::as_str)?;
        let Value::List(commands) = commands_of(line, WORKSPACE) else { return None };
        let [Value::Record(fields)] = &commands[..] else { return None };
        let literal = fields.get(10) == Some(&Value::Bool(true));
        let assigns = matches!(fields.get(5), Some(Value::Map(assigns)) if assigns.is_empty());
        let whole = matches!(fields.get(11), Some(Value::String(text)) if **text == *line.trim());
        // A redirect or a background mark belongs to the line, but not to the words of the command.
        (literal && assigns && whole && !line.contains(['<', '>', '&'])).then(|| words_of(fields))
    }
}

/// Returns the words of each simple command that a line could run.
fn simple_commands(line: &str) -> Vec<Vec<String>> {
    let Value::List(commands) = commands_of(line, WORKSPACE) else { return Vec::new() };
    let words = commands.iter().filter_map(|command| match command {
        Value::Record(fields) => Some(words_of(fields)),
        _ => None,
    });
    words.collect()
}

/// Returns the program as written, and the words after it.
fn words_of(fields: &[Value]) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.to_string()),
        _ => None,
    };
    let rest = match fields.get(3) {
        Some(Value::List(words)) => &words[..],
        _ => &[],
    };
    fields.get(1).into_iter().chain(rest).filter_map(text).collect()
}
