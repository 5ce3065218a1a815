//! The texts of a first guard: names that a guard can declare, comments, literals, the declaration of a tool.
//!
//! External texts become comments or strings here, never code.

use guard_plan::naming::to_name;
use guard_plan::render::is_invisible;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Words that begin an item, which a tool should not have as its name in the guard.
const ITEM_WORDS: [&str; 22] = [
    "tool",
    "policy",
    "invariant",
    "test",
    "fact",
    "enum",
    "record",
    "state",
    "budget",
    "use",
    "type",
    "group",
    "deadline",
    "default",
    "source",
    "lifecycle",
    "probe",
    "feedback",
    "completion",
    "attest",
    "goal",
    "statement",
];

/// Names of parameters that have another meaning in a rule.
pub(crate) const UNSAYABLE: [&str; 2] = ["null", "each"];

/// The maximum length of a line of documentation, in characters.
const MAX_DOC: usize = 110;

/// The maximum number of lines of documentation that are kept.
const MAX_DOC_LINES: usize = 20;

/// Returns a name for a guard, derived from a file or program.
pub(crate) fn guard_name(text: &str) -> String {
    let name = to_name(text).trim_matches('_').to_lowercase();
    let name = if name.is_empty() { "imported".to_owned() } else { to_name(&name) };
    if ITEM_WORDS.contains(&name.as_str()) { format!("{name}_guard") } else { name }
}

/// Returns a name that no other tool has.
pub(crate) fn tool_name(wire: &str, names: &mut BTreeSet<String>) -> String {
    let mut name = to_name(wire);
    if ITEM_WORDS.contains(&name.as_str()) {
        name = format!("_{name}");
    }
    unique(name, "_", |name| names.insert(name.to_owned()))
}

/// Returns a name, with a number behind it if the name is taken.
pub(crate) fn unique(base: String, before: &str, mut take: impl FnMut(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{base}{before}{number}"));
    let mut names = std::iter::once(base.clone()).chain(numbered);
    names.find(|name| take(name)).unwrap_or(base)
}

/// Returns the documentation comments of a text.
pub(crate) fn documentation(text: &str, indent: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let mut open = String::new();
        for word in one_line(line).split_whitespace() {
            if !open.is_empty() && open.chars().count() + word.chars().count() >= MAX_DOC {
                lines.push(std::mem::take(&mut open));
            }
            if !open.is_empty() {
                open.push(' ');
            }
            open.push_str(word);
        }
        if !open.is_empty() {
            lines.push(open);
        }
    }
    if lines.len() > MAX_DOC_LINES {
        lines.truncate(MAX_DOC_LINES);
        lines.push("(cut)".into());
    }
    lines.iter().map(|line| format!("{indent}/// {line}\n")).collect()
}

/// Returns a text on one line, without control characters and without characters that reorder or
/// hide text.
pub(crate) fn one_line(text: &str) -> String {
    let hidden = |c: char| c.is_control() || is_invisible(c);
    text.chars().map(|c| if hidden(c) { ' ' } else { c }).collect::<String>().trim().to_owned()
}

/// Returns a string literal of the language.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", one_line(text).replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns a unique name for a type: `CreateIssueState`, from the words of a tool and of the path
/// to the value.
pub(crate) fn type_name(tool: &str, path: &str, names: &mut BTreeSet<String>) -> String {
    let words = format!("{tool}_{path}");
    let words = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut base: String = words
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_uppercase() + rest
        })
        .collect();
    if !base.starts_with(|c: char| c.is_ascii_alphabetic()) {
        base.insert(0, 'T');
    }
    unique(base, "", |name| names.insert(name.to_owned()))
}

/// The declaration of one tool, in parts.
#[derive(Debug, Default)]
pub(crate) struct ToolDraft {
    /// The name that the host uses.
    pub wire: String,
    /// The name in the guard.
    pub name: String,
    /// The description from the source.
    pub description: String,
    /// The enums and records that its types use.
    pub items: Vec<String>,
    /// The comments above the tool.
    pub notes: Vec<String>,
    /// The parameters with their types.
    pub params: Vec<String>,
    /// The clauses. A line break begins another line of the body.
    pub clauses: Vec<String>,
}

impl ToolDraft {
    /// Returns the declaration as text.
    pub fn text(&self) -> String {
        let mut out: String = self.items.iter().map(|item| format!("{item}\n")).collect();
        for note in &self.notes {
            let _ = writeln!(out, "// {}", one_line(note));
        }
        out.push_str(&documentation(&self.description, ""));
        let real = if self.wire == self.name {
            String::new()
        } else {
            format!("{} as ", quoted(&self.wire))
        };
        let _ = write!(out, "tool {real}{}({})", self.name, self.params.join(", "));
        if self.clauses.is_empty() {
            out.push('\n');
            return out;
        }
        out.push_str(" {\n");
        for line in self.clauses.iter().flat_map(|clause| clause.lines()) {
            let _ = writeln!(out, "  {line}");
        }
        out.push_str("}\n");
        out
    }
}
