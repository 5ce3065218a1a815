//! A first guard from a server's tools: declarations with the types of their schemas.
//!
//! Every keyword of a schema is either expressed in the guard or listed in a comment above its
//! tool. Texts of the server are comments and strings, never code.

mod lengths;
mod merge;
mod patterns;
mod questions;
mod scalars;
mod types;

use crate::text::{ToolDraft, guard_name, one_line, quoted, tool_name};
use guard_plan::json::Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use types::SchemaReader;

pub(crate) use merge::merged;
pub(crate) use questions::{has_more_members, is_object, is_required};
pub(crate) use types::TypeScope;

/// Returns a guard that declares these tools, in the order of the server. `is_pattern` returns true
/// if a text is a regular expression of the language.
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
    let components = BTreeMap::new();
    let mut scope = TypeScope::new(&components, is_pattern);
    let named = |definition: &&Json| definition.get("name").and_then(Json::as_str).is_some();
    definitions
        .iter()
        .filter(named)
        .map(|definition| declaration(definition, &[], &mut scope))
        .collect()
}

/// Returns the declaration of a tool, with the types that no earlier tool of the scope has
/// declared. `notes` are the first of its comments.
pub(crate) fn declaration(
    definition: &Json,
    notes: &[String],
    scope: &mut TypeScope<'_>,
) -> String {
    let text = |name: &str| definition.get(name).and_then(Json::as_str).unwrap_or_default();
    let wire = text("name");
    if one_line(wire) != wire {
        // A string of the language cannot hold the name, and another name is another tool.
        let shown = wire.escape_default();
        return format!("// The tool \"{shown}\" is left out: a guard cannot write its name.\n");
    }
    let name = tool_name(wire, &mut scope.tools);
    let empty = Json::Object(Vec::new());
    let input = definition.get("inputSchema").unwrap_or(&empty);
    let mut reader = SchemaReader::new(input, &name, scope);
    reader.notes.extend_from_slice(notes);
    let params = reader.parameters(input);
    let mut clauses = hints(definition, &mut reader);
    if let Some(title) = definition.get("title").and_then(Json::as_str) {
        clauses.push(format!("name {}", quoted(title)));
    }
    if let Some(output) = definition.get("outputSchema") {
        clauses.extend(reader.result(output).map(|ty| format!("returns {ty}")));
    }
    clauses.extend(std::mem::take(&mut reader.clauses));
    let items = std::mem::take(&mut reader.items);
    let mut known = BTreeSet::new();
    let mut notes = std::mem::take(&mut reader.notes);
    notes.retain(|note| known.insert(note.clone()));
    let wire = wire.to_owned();
    let description = text("description").to_owned();
    ToolDraft { wire, name, description, items, notes, params, clauses }.text()
}

/// Returns the server's annotations of the tool as risk and tags.
fn hints(definition: &Json, reader: &mut SchemaReader<'_, '_>) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::{TypeScope, declaration, guard_text};
    use guard_plan::json::Json;
    use std::collections::BTreeMap;

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

    fn drafted(tool: &str) -> String {
        guard_text("x", &[Json::parse(tool).unwrap()], &|_| true)
    }

    #[test]
    fn a_type_beside_a_reference_restricts_it() {
        let text = drafted(
            r##"{"name": "t", "inputSchema": {"properties": {"n": {"$ref": "#/$defs/N", "type": "integer"},
            "s": {"$ref": "#/$defs/S", "type": "string"}, "k": {"type": "integer", "allOf": [{"$ref": "#/$defs/N"}]}},
            "required": ["n", "s", "k"], "$defs": {"N": {"type": "number"}, "S": {"type": ["string", "null"]}}}}"##,
        );
        assert!(text.contains("tool t(n: int, s: string, k: int)"), "{text}");
    }

    #[test]
    fn least_lengths_of_options_and_of_names_that_no_rule_can_use() {
        let text = drafted(
            r#"{"name": "t", "inputSchema": {"properties": {"a": {"type": ["array", "null"], "minItems": 1},
            "b": {"type": "string", "nullable": true, "minLength": 2}, "c": {"type": "string", "minLength": 3},
            "null": {"type": "string", "minLength": 4}}, "required": ["a", "b", "c", "null"]}}"#,
        );
        assert!(text.contains("  deny when a is some and len(a) < 1 because"), "{text}");
        assert!(text.contains("  deny when b is some and len(b) < 2 because"), "{text}");
        assert!(text.contains("  deny when len(c) < 3 because"), "{text}");
        assert!(text.contains("// null: minLength 4 is not checked\n"), "{text}");
        assert!(!text.contains("len(null)"), "{text}");
    }

    #[test]
    fn lengths_that_no_type_can_state_are_noted() {
        let text = drafted(
            r#"{"name": "t", "inputSchema": {"properties": {"a": {"type": "string", "maxLength": 4294967296},
            "b": {"type": "array", "maxItems": 4294967296}, "c": {"type": "string", "maxLength": 4294967295}},
            "required": ["a", "b", "c"]}}"#,
        );
        assert!(text.contains("// a: maxLength 4294967296 is not checked\n"), "{text}");
        assert!(text.contains("// b: maxItems 4294967296 is not checked\n"), "{text}");
        assert!(text.contains("c: string max 4294967295)"), "{text}");
    }

    #[test]
    fn a_tool_whose_name_no_guard_can_write_is_left_out() {
        let tools = ["a\\tb", "a b", "a\\u200bb"];
        let tools = tools.map(|name| Json::parse(&format!(r#"{{"name": "{name}"}}"#)).unwrap());
        let text = guard_text("x", &tools, &|_| true);
        assert_eq!(text.matches("\ntool ").count(), 1, "{text}");
        assert!(text.contains("// The tool \"a\\tb\" is left out"), "{text}");
        assert!(text.contains("// The tool \"a\\u{200b}b\" is left out"), "{text}");
        assert!(text.contains("\ntool \"a b\" as a_b()"), "{text}");
    }

    #[test]
    fn each_tool_repeats_the_notes_of_a_shared_schema() {
        let shared = r#"{"properties": {"m": {"type": "integer", "multipleOf": 3}}}"#;
        let shared = Json::parse(shared).unwrap();
        let outer = r##"{"properties": {"inner": {"$ref": "#/R"}, "same": {"$ref": "#/R"}}}"##;
        let outer = Json::parse(outer).unwrap();
        let components = BTreeMap::from([("#/R".to_owned(), shared), ("#/O".to_owned(), outer)]);
        let mut scope = TypeScope::new(&components, &|_| true);
        for (name, target) in [("a", "#/R"), ("b", "#/R"), ("c", "#/O"), ("d", "#/O")] {
            let tool = format!(
                r#"{{"name": "{name}", "inputSchema": {{"properties": {{"p": {{"$ref": "{target}"}}}}}}}}"#
            );
            let text = declaration(&Json::parse(&tool).unwrap(), &[], &mut scope);
            assert_eq!(text.matches("multipleOf 3 is not checked").count(), 1, "{text}");
        }
    }
}
