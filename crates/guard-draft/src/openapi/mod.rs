//! The operations of an OpenAPI document as tools: one tool per operation, with the definition that
//! a tool of an MCP server would have.
//!
//! A definition contains the arguments that an agent gives (parameters and the members of the body,
//! side by side), the type of the result, the risk implied by the method, and the parts of the
//! document that determine the target of a call. Schemas that the document shares stay shared, so
//! that a definition is no larger than its own part of the document.

mod document;
mod media;
mod operation;
mod request;
mod schema;
mod security;
#[cfg(test)]
mod tests;
mod yaml;

use crate::text::{guard_name, one_line, unique};
use crate::tools::{TypeScope, declaration};
use document::ApiDocument;
use guard_plan::json::Json;
use schema::SchemaCopier;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

/// The members of an object of a definition.
type SchemaMembers = Vec<(Box<str>, Json)>;

/// The HTTP methods for which a document can have operations.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// The maximum length of a document's title, in characters.
const MAX_TITLE: usize = 100;

/// The maximum size of all definitions, as in memory. Each operation repeats the
/// shared parts that it needs: without it, a small document could fill the memory.
const MAX_DEFINITIONS: usize = 64 << 20;

/// The reason why a document cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// The reason, in lower case, without a full stop.
    pub message: String,
    /// A suggestion, if there is one.
    pub help: Option<String>,
}

impl ApiError {
    fn new(message: impl Into<String>) -> ApiError {
        ApiError { message: message.into(), help: None }
    }

    fn help(self, help: impl Into<String>) -> ApiError {
        ApiError { help: Some(help.into()), ..self }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

/// The tools of a document.
#[derive(Debug, Clone)]
pub struct ApiTools {
    /// The title and the version of the document.
    title: String,
    definitions: Vec<Json>,
    /// Notes on what each definition does not express.
    notes: Vec<Vec<String>>,
    components: BTreeMap<String, Json>,
}

impl ApiTools {
    /// Reads a JSON or YAML document.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are neither JSON nor YAML, if the document is not OpenAPI 3.0
    /// or 3.1, if it refers to another document, or if an argument of an operation cannot be
    /// determined.
    pub fn read(bytes: &[u8]) -> Result<ApiTools, ApiError> {
        let json = read_text(bytes)?;
        let document = ApiDocument::new(&json)?;
        let mut copier = SchemaCopier::new(&document);
        let found = operations(&document)?;
        let names = tool_names(&found)?;
        let mut tools = ApiTools {
            title: title(&json),
            definitions: Vec::new(),
            notes: Vec::new(),
            components: BTreeMap::new(),
        };
        let mut size = 0_usize;
        for (operation, (name, note)) in found.iter().zip(names) {
            let (definition, mut notes) = operation::definition(operation, &name, &mut copier)?;
            notes.extend(note);
            size = size.saturating_add(memory(&definition));
            if size > MAX_DEFINITIONS {
                let mib = MAX_DEFINITIONS >> 20;
                return Err(ApiError::new(format!("its operations are larger than {mib} MiB"))
                    .help("each operation repeats its parameters and its body"));
            }
            tools.definitions.push(definition);
            tools.notes.push(notes);
        }
        tools.components = copier.components()?;
        Ok(tools)
    }

    /// Returns the definitions of the tools, in the order of the document.
    pub fn definitions(&self) -> &[Json] {
        &self.definitions
    }

    /// Returns the schemas that definitions refer to, by the value of `$ref`.
    pub fn components(&self) -> &BTreeMap<String, Json> {
        &self.components
    }

    /// Returns a guard that declares the tools. `is_pattern` returns true if a text is a regular
    /// expression of the language.
    pub fn guard_text(&self, name: &str, is_pattern: &dyn Fn(&str) -> bool) -> String {
        let mut scope = TypeScope::new(&self.components, is_pattern);
        let mut out = String::new();
        if !self.title.is_empty() {
            let _ = writeln!(out, "//! {}", self.title);
        }
        let _ = writeln!(out, "guard {}", guard_name(name));
        for (definition, notes) in self.definitions.iter().zip(&self.notes) {
            let _ = write!(out, "\n{}", declaration(definition, notes, &mut scope));
        }
        out
    }

    /// Returns the declaration of one tool, with all types that it uses; empty if there is no such tool.
    pub fn declaration(&self, tool: &str, is_pattern: &dyn Fn(&str) -> bool) -> String {
        let named = |definition: &Json| definition.get("name").and_then(Json::as_str) == Some(tool);
        let Some(at) = self.definitions.iter().position(named) else { return String::new() };
        let mut scope = TypeScope::new(&self.components, is_pattern);
        declaration(&self.definitions[at], &self.notes[at], &mut scope)
    }
}

/// Returns the approximate size of a value in memory, without spare capacity.
fn memory(json: &Json) -> usize {
    let inside = match json {
        Json::Array(items) => items.iter().map(memory).sum(),
        Json::Object(members) => {
            members.iter().map(|(name, value)| name.len() + 16 + memory(value)).sum()
        }
        Json::String(text) | Json::Number(text) => text.len(),
        Json::Null | Json::Bool(_) | Json::Int(_) => 0,
    };
    inside + size_of::<Json>()
}

/// Parses JSON or YAML. Text that begins like a JSON object is parsed as JSON, so that its errors
/// are those of JSON.
fn read_text(bytes: &[u8]) -> Result<Json, ApiError> {
    let text = std::str::from_utf8(bytes).map_err(|_| ApiError::new("it is not UTF-8"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.trim_start().chars().next() {
        None => Err(ApiError::new("it is empty")),
        Some('{' | '[') => {
            Json::parse(text).map_err(|error| ApiError::new(format!("it is not JSON: {error}")))
        }
        Some(_) => yaml::parse(text).map_err(|why| {
            ApiError::new(format!("it is neither JSON nor YAML: {}", one_line(&why)))
        }),
    }
}

fn title(document: &Json) -> String {
    let info = document.get("info");
    let text = |name: &str| match info.and_then(|info| info.get(name)) {
        Some(Json::String(text)) => one_line(text),
        Some(number @ (Json::Int(_) | Json::Number(_))) => number.to_string(),
        _ => String::new(),
    };
    let whole = format!("{} {}", text("title"), text("version"));
    whole.trim().chars().take(MAX_TITLE).collect::<String>().trim().to_owned()
}

/// An operation and its location.
pub(crate) struct FoundOperation<'d> {
    path: &'d str,
    method: &'d str,
    operation: &'d Json,
    /// The path item, with the parts that all operations of the path share.
    item: &'d Json,
    document: &'d ApiDocument<'d>,
}

impl FoundOperation<'_> {
    /// Formats the operation as people write it: `GET /pets`.
    fn place(&self) -> String {
        one_line(&format!("{} {}", self.method.to_uppercase(), self.path))
    }
}

/// Returns the operations in the order of the document.
fn operations<'d>(document: &'d ApiDocument<'d>) -> Result<Vec<FoundOperation<'d>>, ApiError> {
    let paths = match document.json.get("paths") {
        Some(Json::Object(paths)) => paths,
        Some(other) => {
            return Err(ApiError::new(format!("`paths` is {}, not an object", other.kind())));
        }
        None => {
            return Err(ApiError::new("it has no `paths`").help(
                "operations are under `paths`; operations of webhooks are not calls of an agent",
            ));
        }
    };
    let mut found = Vec::new();
    for (path, item) in paths.iter().filter(|(path, _)| !path.starts_with("x-")) {
        let item = document.object(item, &format!("the path `{}`", one_line(path)))?;
        let Json::Object(members) = item else { continue };
        for (method, operation) in members {
            let method = &**method;
            if !METHODS.contains(&method) {
                continue;
            }
            let found_operation = FoundOperation { path, method, operation, item, document };
            if !matches!(operation, Json::Object(_)) {
                let kind = operation.kind();
                return Err(ApiError::new(format!(
                    "`{}` is {kind}, not an object",
                    found_operation.place()
                )));
            }
            found.push(found_operation);
        }
    }
    Ok(found)
}

/// Returns a name for each operation, with a note if it is not the operation's own name. The first
/// operation with an `operationId` keeps it. Others are distinguished by their method and path, so
/// that one more operation renames no other.
fn tool_names(found: &[FoundOperation<'_>]) -> Result<Vec<(String, Option<String>)>, ApiError> {
    let mut owners: BTreeMap<String, usize> = BTreeMap::new();
    let mut own = Vec::new();
    for (at, operation) in found.iter().enumerate() {
        let id = match operation.operation.get("operationId") {
            None | Some(Json::Null) => String::new(),
            Some(Json::String(id)) => one_line(id),
            Some(other) => {
                let message =
                    format!("the `operationId` of `{}` is {}", operation.place(), other.kind());
                return Err(ApiError::new(message).help("an `operationId` is a text"));
            }
        };
        if !id.is_empty() {
            owners.entry(id.clone()).or_insert(at);
        }
        own.push(id);
    }
    let mut taken: BTreeSet<String> = owners.keys().cloned().collect();
    let named = found.iter().zip(own).enumerate().map(|(at, (operation, id))| {
        if owners.get(&id) == Some(&at) {
            return (id, None);
        }
        let folded = folded(&format!("{}_{}", operation.method, operation.path));
        let base = if id.is_empty() { folded } else { format!("{id}_{folded}") };
        let name = unique(base, "_", |name| taken.insert(name.to_owned()));
        let note = match owners.get(&id) {
            None => "it has no operationId: its name is made of method and path".to_owned(),
            Some(owner) => {
                let owner = found[*owner].place();
                format!("the operationId {id} is that of {owner} too: this one is called {name}")
            }
        };
        (name, Some(note))
    });
    Ok(named.collect())
}

/// Converts a text to a name: each run of other characters becomes one `_`.
fn folded(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}
