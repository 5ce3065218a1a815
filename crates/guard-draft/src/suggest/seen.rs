//! Observed values of one parameter over all calls: their kinds, bounds and forms.

use super::secrets::{is_listable, is_secret_name, is_secret_text};
use guard_plan::builtin::commands_of;
use guard_plan::json::Json;
use guard_plan::url::Url;
use guard_plan::value::{DECIMAL_ONE, Value};
use guard_plan::{decimal, path, time};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum depth to which values are inspected. A deeper value counts as any JSON.
const MAX_DEPTH: usize = 5;
/// The maximum number of members of an object that becomes a record.
const MAX_FIELDS: usize = 64;
/// The maximum number of different texts that are remembered.
const MAX_CHOICES: usize = 40;
/// The maximum number of elements of a list type, which applies to every list of an argument.
const MAX_ELEMENTS: usize = 10_000;
/// The maximum length of a text that counts as a path or URL, in bytes.
const MAX_NAME: usize = 4096;

/// Names of parameters that hold a command line.
const COMMAND_NAMES: [&str; 3] = ["command", "cmd", "command_line"];
/// Endings of the names of parameters that hold a path.
const PATH_ENDINGS: [&str; 7] = ["path", "file", "filename", "dir", "directory", "folder", "cwd"];

/// The different texts, if they are few and may be listed.
#[derive(Debug, Default)]
pub(super) struct Choices {
    seen: BTreeSet<String>,
    too_many: bool,
}

impl Choices {
    fn add(&mut self, text: &str) {
        if self.too_many || self.seen.contains(text) {
            return;
        }
        if is_listable(text) && self.seen.len() < MAX_CHOICES {
            self.seen.insert(text.to_owned());
        } else {
            self.too_many = true;
            self.seen.clear();
        }
    }

    /// Returns the texts, if they are at most this many and all may be listed.
    pub fn listed(&self, most: usize) -> Option<&BTreeSet<String>> {
        let few = !self.too_many && !self.seen.is_empty() && self.seen.len() <= most;
        few.then_some(&self.seen)
    }

    /// Returns true if there was more than one text.
    pub fn vary(&self) -> bool {
        self.too_many || self.seen.len() > 1
    }
}

/// The observed texts of a parameter.
#[derive(Debug, Default)]
pub(super) struct TextsSeen {
    pub count: u64,
    /// The number of marks of secrets, and of keys.
    pub secrets: u64,
    pub urls: u64,
    pub times: u64,
    pub paths: u64,
    /// The number of paths that begin with a slash or dots.
    pub rooted: u64,
    /// The number of paths below the workspace.
    pub inside: u64,
    /// The number of command lines for which it is certain what runs.
    pub certain: u64,
    /// The number of command lines in which every word is known.
    pub literal: u64,
    pub values: Choices,
    pub hosts: Choices,
    pub schemes: Choices,
    pub programs: Choices,
    /// The programs with words that only the shell can determine.
    pub open_programs: Choices,
}

impl TextsSeen {
    fn see(&mut self, name: &str, text: &str, workspace: &str) {
        self.count += 1;
        if is_secret_text(text) {
            self.secrets += 1;
        }
        self.values.add(text);
        if text.len() <= MAX_NAME {
            self.see_name(text, workspace);
        }
        if is_command_name(name) {
            self.see_command(text, workspace);
        }
    }

    fn see_name(&mut self, text: &str, workspace: &str) {
        if text.contains("://")
            && let Ok(url) = Url::parse(text)
        {
            self.urls += 1;
            self.hosts.add(&url.host);
            self.schemes.add(&url.scheme);
        }
        self.times += u64::from(time::parse_rfc3339(text).is_some());
        if text.contains(|c: char| c.is_control()) {
            return;
        }
        if let Ok(normal) = path::normalise(workspace, text) {
            self.paths += 1;
            let rooted = ["/", "./", "../"].iter().any(|start| text.starts_with(start));
            self.rooted += u64::from(rooted);
            self.inside += u64::from(path::within(&normal, workspace));
        }
    }

    fn see_command(&mut self, text: &str, workspace: &str) {
        let Value::List(commands) = commands_of(text, workspace) else { return };
        let mut certain = true;
        let mut literal = true;
        for command in &commands {
            let Value::Record(fields) = command else { return };
            let (Some(Value::String(program)), Some(Value::Bool(known)), Some(Value::Bool(whole))) =
                (fields.first(), fields.get(9), fields.get(10))
            else {
                return;
            };
            (certain, literal) = (certain && *known, literal && *whole);
            self.programs.add(program);
            if !whole {
                self.open_programs.add(program);
            }
        }
        self.certain += u64::from(certain);
        self.literal += u64::from(literal);
    }
}

/// The observed values of a parameter, a field or an element.
#[derive(Debug, Default)]
pub(super) struct ValuesSeen {
    /// The number of values that are not null.
    pub count: u64,
    pub bools: u64,
    pub ints: u64,
    /// The number of decimals that are not ints.
    pub decimals: u64,
    /// The minimum and the maximum int.
    pub int_range: Option<(i64, i64)>,
    /// The minimum and the maximum number, in units of 10⁻⁶.
    pub range: Option<(i64, i64)>,
    /// True if there are numbers that are not decimals.
    pub inexact: bool,
    pub texts: TextsSeen,
    pub lists: u64,
    pub elements: Option<Box<ValuesSeen>>,
    pub objects: u64,
    pub fields: BTreeMap<Box<str>, ValuesSeen>,
    /// True if there are objects or lists that cannot be declared: they have too many parts, or are
    /// too deep.
    pub opaque: bool,
    /// True if a list contains null.
    pub nulls: bool,
}

impl ValuesSeen {
    /// Adds a value of the parameter `name`. Null counts as missing.
    pub fn see(&mut self, name: &str, value: &Json, workspace: &str, depth: usize) {
        if *value == Json::Null {
            self.nulls = true;
            return;
        }
        self.count += 1;
        match value {
            Json::Null => {}
            Json::Bool(_) => self.bools += 1,
            Json::Int(number) => {
                self.ints += 1;
                self.int_range = Some(widened(self.int_range, *number));
                self.number(number.checked_mul(DECIMAL_ONE));
            }
            Json::Number(text) => {
                self.decimals += 1;
                self.number(decimal::parse(text));
            }
            Json::String(text) => self.texts.see(name, text, workspace),
            Json::Array(items) => {
                self.lists += 1;
                if depth >= MAX_DEPTH || items.len() > MAX_ELEMENTS {
                    self.opaque = true;
                    return;
                }
                let elements = self.elements.get_or_insert_default();
                items.iter().for_each(|item| elements.see(name, item, workspace, depth + 1));
            }
            Json::Object(members) => {
                self.objects += 1;
                for (member, value) in members {
                    let full = self.fields.len() >= MAX_FIELDS && !self.fields.contains_key(member);
                    if self.opaque || full || depth >= MAX_DEPTH {
                        self.opaque = true;
                        self.fields.clear();
                        return;
                    }
                    let field = self.fields.entry(member.clone()).or_default();
                    field.see(member, value, workspace, depth + 1);
                }
            }
        }
    }

    fn number(&mut self, exact: Option<i64>) {
        match exact {
            Some(number) => self.range = Some(widened(self.range, number)),
            None => self.inexact = true,
        }
    }

    /// Returns true if the name or the observed texts suggest that the value is a secret.
    pub fn is_secret(&self, name: &str) -> bool {
        let inner = self.elements.as_ref().is_some_and(|elements| elements.is_secret(name));
        let has_value = self.texts.count + self.ints + self.decimals > 0;
        self.texts.secrets > 0 || has_value && is_secret_name(name) || inner
    }
}

fn widened(range: Option<(i64, i64)>, number: i64) -> (i64, i64) {
    let (low, high) = range.unwrap_or((number, number));
    (low.min(number), high.max(number))
}

/// Returns true if a parameter of this name holds a command line.
fn is_command_name(name: &str) -> bool {
    COMMAND_NAMES.contains(&name)
}

/// Returns true if a parameter of this name holds a path.
pub(super) fn is_path_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PATH_ENDINGS.iter().any(|ending| name.ends_with(ending))
}
