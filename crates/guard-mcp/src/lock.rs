//! The lock of the tools of a server or an API: the accepted definitions, by hash.
//!
//! A tool has two hashes: one of its schemas and annotations, which determine the meaning of a
//! call, and one of its descriptions, which only inform a model. Schemas that several tools share
//! are in the lock once, and are part of the hashes of each tool that needs them.

mod shared;

use crate::reply::object;
use crate::schema::get;
use guard_plan::hex;
use guard_plan::json::{Json, write_string};
use sha2::{Digest, Sha256};
use shared::SharedSchemas;
use std::collections::BTreeMap;

/// The version of the file's format.
const VERSION: i64 = 1;

/// Keys of a JSON Schema that do not affect validation.
const DESCRIPTIVE: [&str; 5] = ["description", "title", "examples", "$comment", "deprecated"];

/// Keys of a JSON Schema whose members are names, not keywords.
const NAMED: [&str; 6] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    "dependentRequired",
];

/// Keys of a JSON Schema whose values are data.
const DATA: [&str; 4] = ["enum", "const", "default", "required"];

/// The lock of a server's tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolLock {
    tools: BTreeMap<String, Json>,
    shared: SharedSchemas,
}

/// The state of a server's tool compared with the lock, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockState {
    /// The tool is not in the lock.
    Unlocked,
    /// The definition is the accepted one.
    Accepted,
    /// Only its descriptions have changed.
    DescriptionChanged,
    /// The schemas or annotations have changed.
    SchemaChanged,
}

/// The difference of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDifference {
    /// The tool.
    pub tool: String,
    /// The definition in the lock, as text; empty for a new tool.
    pub before: String,
    /// The current definition, as text; empty for a removed tool.
    pub after: String,
    /// True if only descriptions differ.
    pub only_described: bool,
    /// The shared schemas that the tool needs or needed, and that differ.
    pub shared: Vec<String>,
}

impl ToolLock {
    /// Returns the lock of these definitions, from a `tools/list` result. Definitions without a
    /// name are omitted.
    pub fn of_definitions<'a>(definitions: impl IntoIterator<Item = &'a Json>) -> ToolLock {
        ToolLock::with_shared(definitions, &BTreeMap::new())
    }

    /// Returns the lock of definitions that refer to shared schemas, which are identified by the
    /// value of `$ref`.
    pub fn with_shared<'a>(
        definitions: impl IntoIterator<Item = &'a Json>,
        shared: &BTreeMap<String, Json>,
    ) -> ToolLock {
        let named = definitions.into_iter().filter_map(|definition| {
            let name = definition.get("name")?.as_str()?;
            Some((name.to_owned(), kept(definition)))
        });
        ToolLock { tools: named.collect(), shared: SharedSchemas::new(shared) }
    }

    /// Parses a lock file.
    ///
    /// # Errors
    ///
    /// Returns the reason if the text is not a lock, or was changed by hand.
    pub fn read(text: &str) -> Result<ToolLock, String> {
        let json = Json::parse(text).map_err(|error| error.to_string())?;
        match json.get("version") {
            Some(Json::Int(VERSION)) => {}
            Some(version) => return Err(format!("version {version} is not known")),
            None => return Err("it has no `version`".into()),
        }
        let Some(Json::Object(members)) = json.get("tools") else {
            return Err("it has no `tools`".into());
        };
        let schemas = match json.get("schemas") {
            Some(Json::Object(schemas)) => schemas.as_slice(),
            Some(_) => return Err("`schemas` is not an object".into()),
            None => &[],
        };
        let schemas = schemas.iter().map(|(name, schema)| (name.to_string(), schema.clone()));
        let shared = SharedSchemas::new(&schemas.collect());
        let mut tools = BTreeMap::new();
        for (name, tool) in members {
            let definition = tool.get("definition");
            let definition = definition.ok_or_else(|| format!("`{name}` has no `definition`"))?;
            // The hash of the parsed text must be in the file, or an edit by hand would accept a
            // definition.
            for (key, hash) in hashes(definition, &shared) {
                if tool.get(key).and_then(Json::as_str) != Some(&hash) {
                    return Err(format!(
                        "the {key} of `{name}` does not have the hash in the file"
                    ));
                }
            }
            tools.insert(name.to_string(), definition.clone());
        }
        Ok(ToolLock { tools, shared })
    }

    /// Returns the text of the lock file.
    pub fn text(&self) -> String {
        let tool = |(name, definition): (&String, &Json)| {
            let [(_, schema), (_, description)] = hashes(definition, &self.shared);
            let entry = object([
                ("schema", Json::string(&schema)),
                ("description", Json::string(&description)),
                ("definition", definition.clone()),
            ]);
            (name.as_str().into(), entry)
        };
        let tools = Json::Object(self.tools.iter().map(tool).collect());
        let mut members = vec![("version".into(), Json::Int(VERSION)), ("tools".into(), tools)];
        members.extend(self.shared.json().map(|schemas| ("schemas".into(), schemas)));
        pretty(&Json::Object(members))
    }

    /// Returns the names of a tool's parameters as the server spells them; none for a tool that is
    /// not locked.
    pub(crate) fn properties(&self, name: &str) -> Vec<&str> {
        let schema = self.tools.get(name).and_then(|tool| tool.get("inputSchema"));
        match schema.and_then(|schema| schema.get("properties")) {
            Some(Json::Object(properties)) => properties.iter().map(|(name, _)| &**name).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the names of the tools in the lock.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// Compares a definition with the accepted one. The definition refers only to schemas in the
    /// lock.
    pub fn state(&self, name: &str, definition: &Json) -> LockState {
        let Some(known) = self.tools.get(name) else { return LockState::Unlocked };
        compared(&hashes(known, &self.shared), &hashes(definition, &self.shared))
    }

    /// Returns the differences from this lock to a newer one, by tool.
    pub fn differences(&self, newer: &ToolLock) -> Vec<ToolDifference> {
        let mut names: Vec<&String> = self.tools.keys().chain(newer.tools.keys()).collect();
        names.sort();
        names.dedup();
        let shown = |definition: Option<&Json>| definition.map(pretty).unwrap_or_default();
        let changed = self.shared.changed(&newer.shared);
        let mut differences = Vec::new();
        for name in names {
            let before = self.tools.get(name);
            let after = newer.tools.get(name);
            let state = before.zip(after).map(|(before, after)| {
                compared(&hashes(before, &self.shared), &hashes(after, &newer.shared))
            });
            if state == Some(LockState::Accepted) {
                continue;
            }
            let mut shared = self.shared.needed(before);
            shared.extend(newer.shared.needed(after));
            shared.retain(|schema| changed.contains(schema));
            let is_both = before.is_some() && after.is_some();
            differences.push(ToolDifference {
                tool: name.clone(),
                before: shown(before),
                after: shown(after),
                only_described: state == Some(LockState::DescriptionChanged),
                shared: shared.into_iter().filter(|_| is_both).map(str::to_owned).collect(),
            });
        }
        differences
    }

    /// Returns a shared schema as text; empty if it is not in the lock.
    pub fn schema_text(&self, name: &str) -> String {
        self.shared.get(name).map(pretty).unwrap_or_default()
    }
}

/// Compares two definitions by their hashes.
fn compared(known: &Hashes, other: &Hashes) -> LockState {
    match (known[0] == other[0], known[1] == other[1]) {
        (true, true) => LockState::Accepted,
        (true, false) => LockState::DescriptionChanged,
        (false, _) => LockState::SchemaChanged,
    }
}

/// Returns the parts of a definition that are locked, in a fixed order. `operation` is the target
/// of a call to an API.
fn kept(definition: &Json) -> Json {
    let names =
        ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "operation"];
    let member = |name: &str| definition.get(name).map(|value| (name.into(), value.sorted()));
    Json::Object(names.into_iter().filter_map(member).collect())
}

/// The hashes of a definition by their names: one of the meaning of a call, and one of the
/// descriptions.
type Hashes = [(&'static str, String); 2];

fn hashes(definition: &Json, shared: &SharedSchemas) -> Hashes {
    let definition = kept(definition);
    let [schema, description] = shared.hashes(&definition);
    let Json::Object(mut definition) = definition else { return Hashes::default() };
    let mut schemas: Vec<(Box<str>, Json)> = Vec::new();
    for (name, part) in &definition {
        let part = match (&**name, part) {
            ("inputSchema" | "outputSchema" | "annotations", part) => undescribed(part),
            ("operation", Json::Object(members)) => {
                // A warning that the operation is deprecated does not change the meaning of a call.
                let told = members.iter().filter(|(name, _)| **name != *"deprecated");
                Json::Object(told.cloned().collect())
            }
            _ => continue,
        };
        schemas.push((name.clone(), part));
    }
    schemas.extend(schema.map(|hashes| ("schemas".into(), hashes)));
    definition.extend(description.map(|hashes| ("schemas".into(), hashes)));
    let schema = hash(&Json::Object(schemas));
    [("schema", schema), ("description", hash(&Json::Object(definition)))]
}

fn hash(json: &Json) -> String {
    let mut text = String::new();
    json.sorted().write(&mut text);
    format!("sha256:{}", hex::encode(&Sha256::digest(text.as_bytes())))
}

/// Returns a schema without its descriptions.
fn undescribed(schema: &Json) -> Json {
    match schema {
        Json::Object(members) => Json::Object(
            members
                .iter()
                .filter(|(name, _)| !DESCRIPTIVE.contains(&&**name))
                .map(|(name, value)| (name.clone(), undescribed_member(name, value)))
                .collect(),
        ),
        Json::Array(items) => Json::Array(items.iter().map(undescribed).collect()),
        other => other.clone(),
    }
}

fn undescribed_member(name: &str, value: &Json) -> Json {
    match value {
        // A `description` in the data is a value and belongs to the meaning.
        _ if DATA.contains(&name) => value.clone(),
        Json::Object(members) if NAMED.contains(&name) => Json::Object(
            members.iter().map(|(name, schema)| (name.clone(), undescribed(schema))).collect(),
        ),
        _ => undescribed(value),
    }
}

/// Formats a value on several lines, with each object and array indented.
fn pretty(json: &Json) -> String {
    let mut out = String::new();
    write_pretty(json, 0, &mut out);
    out.push('\n');
    out
}

fn write_pretty(json: &Json, depth: usize, out: &mut String) {
    let indent = |depth: usize| format!("\n{}", "  ".repeat(depth));
    match json {
        Json::Object(members) if !members.is_empty() => {
            for (at, (name, value)) in members.iter().enumerate() {
                out.push(if at == 0 { '{' } else { ',' });
                out.push_str(&indent(depth + 1));
                write_string(name, out);
                out.push_str(": ");
                write_pretty(value, depth + 1, out);
            }
            out.push_str(&indent(depth));
            out.push('}');
        }
        Json::Array(items) if items.iter().any(|item| matches!(item, Json::Object(_))) => {
            for (at, item) in items.iter().enumerate() {
                out.push(if at == 0 { '[' } else { ',' });
                out.push_str(&indent(depth + 1));
                write_pretty(item, depth + 1, out);
            }
            out.push_str(&indent(depth));
            out.push(']');
        }
        other => other.write(out),
    }
}

/// Returns the definitions of a `tools/list` result: the result itself, a response, or a bare list.
pub fn definitions(json: &Json) -> Option<Vec<Json>> {
    let tools = match json {
        Json::Array(tools) => tools,
        Json::Object(members) => match get(members, "result").unwrap_or(json).get("tools") {
            Some(Json::Array(tools)) => tools,
            _ => return None,
        },
        _ => return None,
    };
    Some(tools.clone())
}

#[cfg(test)]
mod tests {
    use super::{Json, LockState, ToolLock};

    fn json(text: &str) -> Json {
        Json::parse(text).unwrap()
    }

    const TOOL: &str = r#"{"name": "a", "description": "d", "inputSchema": {"type": "object",
        "properties": {"description": {"type": "string", "description": "x"}}}}"#;

    #[test]
    fn locks_are_read_back() {
        let lock = ToolLock::of_definitions(&[json(TOOL)]);
        assert_eq!(ToolLock::read(&lock.text()), Ok(lock.clone()));
        assert!(ToolLock::read(&lock.text().replace("object", "array")).is_err());
        assert!(ToolLock::read(&lock.text().replace("\"d\"", "\"e\"")).is_err());
        assert!(ToolLock::read("{}").is_err());
    }

    #[test]
    fn changes_of_descriptions_are_told_apart() {
        let lock = ToolLock::of_definitions(&[json(TOOL)]);
        let state = |from: &str, to: &str| lock.state("a", &json(&TOOL.replace(from, to)));
        assert_eq!(state("", ""), LockState::Accepted);
        assert_eq!(state("\"d\"", "\"e\""), LockState::DescriptionChanged);
        assert_eq!(state("\"x\"", "\"y\""), LockState::DescriptionChanged);
        assert_eq!(state("\"string\"", "\"number\""), LockState::SchemaChanged);
        assert_eq!(state("{\"description\": {", "{\"other\": {"), LockState::SchemaChanged);
        assert_eq!(lock.state("b", &json(TOOL)), LockState::Unlocked);
    }

    /// Returns the lock of two tools. The first needs `A`, and through it `B`.
    fn shared(b: &str) -> ToolLock {
        let tools = [
            r##"{"name": "x", "inputSchema": {"properties": {"a": {"$ref": "#/A"}}}, "operation": {"path": "/x"}}"##,
            r#"{"name": "y", "inputSchema": {}}"#,
        ];
        let schemas = [
            ("#/A".to_owned(), json(r##"{"items": {"$ref": "#/B"}, "not": {"$ref": "#/A"}}"##)),
            ("#/B".to_owned(), json(b)),
        ];
        ToolLock::with_shared(&tools.map(json), &schemas.into_iter().collect())
    }

    #[test]
    fn shared_schemas_are_part_of_the_tools_that_need_them() {
        let lock = shared(r#"{"type": "string", "description": "d"}"#);
        assert_eq!(ToolLock::read(&lock.text()), Ok(lock.clone()));
        assert!(ToolLock::read(&lock.text().replace("string", "number")).is_err());
        assert!(ToolLock::read(&lock.text().replace("/x", "/z")).is_err());
        assert_eq!(lock.differences(&lock), []);
        let differences = lock.differences(&shared(r#"{"type": "number", "description": "d"}"#));
        let [difference] = &differences[..] else { panic!("{differences:?}") };
        assert_eq!((&*difference.tool, difference.only_described), ("x", false));
        assert_eq!(difference.shared, ["#/B"]);
        let differences = lock.differences(&shared(r#"{"type": "string", "description": "e"}"#));
        let [difference] = &differences[..] else { panic!("{differences:?}") };
        assert!(difference.only_described);
    }

    #[test]
    fn where_a_call_goes_is_locked() {
        let tool = r#"{"name": "x", "operation": {"method": "get", "security": [{"title": []}]}}"#;
        let lock = ToolLock::of_definitions(&[json(tool)]);
        let state = |to: &str| lock.state("x", &json(to));
        assert_eq!(state(&tool.replace("get", "put")), LockState::SchemaChanged);
        assert_eq!(state(&tool.replace("title", "description")), LockState::SchemaChanged);
        let deprecated = tool.replace(r#""get""#, r#""get", "deprecated": true"#);
        assert_eq!(state(&deprecated), LockState::DescriptionChanged);
    }
}
