//! A first guard of a server's tools: declarations with the types that their schemas give.
//!
//! Every keyword of a schema is either in the guard or in a comment above its tool. Texts of the server are comments and
//! strings, never code.

mod types;

use guard_plan::json::Json;
use guard_plan::naming::to_name;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use types::SchemaReader;

/// Words that begin an item, which a tool should not have as its name in the guard.
const ITEM_WORDS: [&str; 21] = [
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
];

/// The longest line of documentation, in characters.
const MAX_DOC: usize = 110;

/// The lines of documentation that are kept.
const MAX_DOC_LINES: usize = 20;

/// Returns a guard that declares these tools, in the order of the server. `is_pattern` tells whether a text is a regular
/// expression of the language.
pub fn guard_text(name: &str, definitions: &[Json], is_pattern: &dyn Fn(&str) -> bool) -> String {
    let tools = declarations(definitions, is_pattern);
    let mut out = format!("guard {}\n", guard_name(name));
    for tool in tools {
        let _ = write!(out, "\n{tool}");
    }
    out
}

/// Returns the declaration of each tool, with the enums and records that it uses.
pub fn declarations(definitions: &[Json], is_pattern: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut names = BTreeSet::new();
    let mut types = BTreeSet::new();
    let named = |definition: &&Json| definition.get("name").and_then(Json::as_str).is_some();
    definitions
        .iter()
        .filter(named)
        .map(|definition| declaration(definition, &mut names, &mut types, is_pattern))
        .collect()
}

/// A name for a guard, after a file or program.
fn guard_name(text: &str) -> String {
    let name = to_name(text).trim_matches('_').to_lowercase();
    let name = if name.is_empty() { "imported".to_owned() } else { to_name(&name) };
    if ITEM_WORDS.contains(&name.as_str()) { format!("{name}_guard") } else { name }
}

fn declaration(
    definition: &Json,
    names: &mut BTreeSet<String>,
    types: &mut BTreeSet<String>,
    is_pattern: &dyn Fn(&str) -> bool,
) -> String {
    let text = |name: &str| definition.get(name).and_then(Json::as_str).unwrap_or_default();
    let wire = text("name");
    let name = tool_name(wire, names);
    let empty = Json::Object(Vec::new());
    let input = definition.get("inputSchema").unwrap_or(&empty);
    let mut reader = SchemaReader::new(input, &name, types, is_pattern);
    let params = reader.parameters(input);
    let mut clauses = hints(definition, &mut reader);
    if let Some(title) = definition.get("title").and_then(Json::as_str) {
        clauses.push(format!("name {}", quoted(title)));
    }
    if let Some(output) = definition.get("outputSchema") {
        clauses.extend(reader.result(output).map(|ty| format!("returns {ty}")));
    }
    clauses.extend(std::mem::take(&mut reader.clauses));
    let (items, notes) = (reader.items, reader.notes);
    let mut out: String = items.iter().map(|item| format!("{item}\n")).collect();
    for note in notes {
        let _ = writeln!(out, "// {}", one_line(&note));
    }
    out.push_str(&documentation(text("description"), ""));
    let real = if wire == name { String::new() } else { format!("{} as ", quoted(wire)) };
    let _ = write!(out, "tool {real}{name}({})", params.join(", "));
    match clauses.is_empty() {
        true => out.push('\n'),
        false => {
            out.push_str(" {\n");
            clauses.iter().for_each(|clause| _ = writeln!(out, "  {clause}"));
            out.push_str("}\n");
        }
    }
    out
}

/// A name that no other tool has.
fn tool_name(wire: &str, names: &mut BTreeSet<String>) -> String {
    let mut name = to_name(wire);
    if ITEM_WORDS.contains(&name.as_str()) {
        name = format!("_{name}");
    }
    let base = name.clone();
    let mut number = 2;
    while !names.insert(name.clone()) {
        name = format!("{base}_{number}");
        number += 1;
    }
    name
}

/// The annotations, which a server says of itself, as risk and tags.
fn hints(definition: &Json, reader: &mut SchemaReader<'_>) -> Vec<String> {
    let Some(Json::Object(hints)) = definition.get("annotations") else { return Vec::new() };
    let mut clauses = Vec::new();
    let mut tags = Vec::new();
    for (name, value) in hints {
        match (&**name, value) {
            ("readOnlyHint", Json::Bool(true)) => {
                clauses.push("risk low".to_owned());
                tags.push("read_only");
            }
            ("destructiveHint", Json::Bool(true)) => {
                clauses.push("risk high".to_owned());
                tags.push("destructive");
            }
            ("idempotentHint", Json::Bool(true)) => tags.push("idempotent"),
            ("openWorldHint", Json::Bool(true)) => tags.push("open_world"),
            (
                "readOnlyHint" | "destructiveHint" | "idempotentHint" | "openWorldHint",
                Json::Bool(false),
            ) => {}
            ("title", _) if definition.get("title").is_some() => {}
            ("title", Json::String(title)) => clauses.push(format!("name {}", quoted(title))),
            (name, value) => reader.notes.push(format!("annotation {name}: {value}")),
        }
    }
    if !tags.is_empty() {
        clauses.push(format!("tags {}", tags.join(", ")));
    }
    clauses
}

/// Documentation comments of a text.
fn documentation(text: &str, indent: &str) -> String {
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

/// A text on one line, without control characters and without the characters that reorder or hide text.
fn one_line(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
            || matches!(c, '\u{e0000}'..='\u{e0fff}')
    };
    text.chars().map(|c| if hidden(c) { ' ' } else { c }).collect::<String>().trim().to_owned()
}

/// A string literal of the language.
fn quoted(text: &str) -> String {
    format!("\"{}\"", one_line(text).replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::guard_text;
    use guard_plan::json::Json;

    #[test]
    fn texts_of_a_server_stay_texts() {
        let tool = r#"{"name": "a\"b", "description": "x\n\"} tool evil() //\u2028tool z()", "title": "t\\\" { deny",
            "inputSchema": {"properties": {"k": {"description": "d */ \n tool y()", "enum": ["p\"q", "r\\s"]}}}}"#;
        let text = guard_text("my server", &[Json::parse(tool).unwrap()], &|_| true);
        for line in text.lines().map(str::trim_start) {
            assert!(!line.starts_with("tool evil") && !line.starts_with("tool y"), "{text}");
            assert!(!line.starts_with("tool z"), "{text}");
        }
        assert!(text.starts_with("guard my_server\n"), "{text}");
    }
}
