//! A JSON Schema as types of the language. A part without a counterpart becomes `json`, a wider
//! type, or a note.

use super::lengths::LeastLength;
use super::merge::{SILENT, is_told, merged};
use super::questions::{
    MAX_MEMBERS, alias, allows_null, description, has_more_members, is_object, is_required,
    members, others, resolve,
};
use crate::text::{UNSAYABLE, documentation, type_name};
use guard_plan::json::Json;
use guard_plan::naming::{is_name, to_name};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The maximum depth to which nested records are declared. A deeper value is `json`.
const MAX_DEPTH: usize = 5;

/// The maximum number of shared schemas that refer to one another, from the outermost on.
const MAX_SHARED: usize = 12;

/// The maximum number of schemas that are read within one another. References, merged parts and
/// branches count too, so that no chain or cycle of them exhausts the stack.
const MAX_READING: usize = 128;

/// The maximum number of levels of a type. A plan may have more, but they would be unreadable.
const MAX_HEIGHT: usize = 32;

/// The maximum number of enums and records of one tool. Without it, schemas that refer to one
/// another would be declared repeatedly.
pub(super) const MAX_ITEMS: usize = 400;

/// The maximum number of notes of a shared schema that each further tool repeats.
const MAX_REPEATED: usize = 50;

/// The maximum length that a type can state.
pub(super) const MAX_LENGTH: i64 = u32::MAX as i64;

/// The types of a guard: the names that are used, and the shared schemas with their types.
pub(crate) struct TypeScope<'c> {
    /// The names of tools that are used.
    pub tools: BTreeSet<String>,
    /// The names of types that are used.
    pub(super) names: BTreeSet<String>,
    pub(super) is_pattern: &'c dyn Fn(&str) -> bool,
    components: &'c BTreeMap<String, Json>,
    declared: BTreeMap<String, SharedType>,
}

/// The type of a shared schema, with the notes that each tool repeats.
struct SharedType {
    ty: TypeText,
    notes: Vec<String>,
}

impl<'c> TypeScope<'c> {
    pub fn new(
        components: &'c BTreeMap<String, Json>,
        is_pattern: &'c dyn Fn(&str) -> bool,
    ) -> TypeScope<'c> {
        let tools = BTreeSet::new();
        let names = BTreeSet::new();
        TypeScope { tools, names, is_pattern, components, declared: BTreeMap::new() }
    }
}

/// A reader of the schemas of one tool.
pub(super) struct SchemaReader<'a, 'c> {
    root: &'a Json,
    pub(super) tool: &'a str,
    pub(super) scope: &'a mut TypeScope<'c>,
    /// The declared schemas whose notes are already in the list.
    noted: BTreeSet<String>,
    /// The shared schemas that are being read, the outermost first.
    open: Vec<String>,
    /// The number of schemas that are being read within one another.
    reading: usize,
    /// The enums and records that the tool's types use.
    pub items: Vec<String>,
    /// The least lengths of the parameter that is being read.
    pub(super) least: Vec<LeastLength>,
    /// The clauses for restrictions that no type can express.
    pub clauses: Vec<String>,
    /// The parts of the schema that the guard does not express.
    pub notes: Vec<String>,
}

/// The location of a schema in its tool.
#[derive(Clone, Copy)]
pub(super) struct SchemaPlace<'p> {
    /// The path to the value, for notes.
    pub path: &'p str,
    pub depth: usize,
    /// The parameter, if a clause can refer to it.
    pub param: Option<&'p str>,
}

/// A type before its option mark: `string` and ` max 20`.
#[derive(Debug, Clone)]
pub(super) struct TypeText {
    pub head: String,
    pub refined: String,
    pub optional: bool,
    /// The number of levels of records and collections.
    pub height: usize,
}

impl TypeText {
    pub fn plain(head: &str) -> TypeText {
        TypeText { head: head.to_owned(), refined: String::new(), optional: false, height: 0 }
    }

    fn text(&self) -> String {
        let mark = if self.optional { "?" } else { "" };
        format!("{}{mark}{}", self.head, self.refined)
    }
}

impl<'a, 'c> SchemaReader<'a, 'c> {
    pub fn new(
        root: &'a Json,
        tool: &'a str,
        scope: &'a mut TypeScope<'c>,
    ) -> SchemaReader<'a, 'c> {
        let items = Vec::new();
        let least = Vec::new();
        let clauses = Vec::new();
        let notes = Vec::new();
        let open = Vec::new();
        let noted = BTreeSet::new();
        SchemaReader { root, tool, scope, noted, open, reading: 0, items, least, clauses, notes }
    }

    /// Returns the parameters of a tool.
    pub fn parameters(&mut self, schema: &Json) -> Vec<String> {
        let mut known = BTreeSet::new();
        let mut params = Vec::new();
        self.note_rest(schema, &["additionalProperties"], "the arguments");
        self.note_required(schema, "the arguments");
        for (name, property) in members(schema, "properties") {
            let param = to_name(name);
            if !known.insert(param.clone()) {
                self.notes.push(format!(
                    "{name}: another parameter is called {param} too; calls with both are denied"
                ));
                continue;
            }
            if param != **name {
                self.notes.push(format!("{param}: the server calls it {name}"));
            }
            let required = is_required(schema, name);
            let said = (required && !UNSAYABLE.contains(&&*param)).then_some(&*param);
            let mut ty = self.value(property, SchemaPlace { path: name, depth: 0, param: said });
            let clauses = std::mem::take(&mut self.least).into_iter();
            self.clauses.extend(clauses.map(|least| least.clause(&param, ty.optional)));
            ty.optional |= !required;
            let doc = description(property);
            let doc = documentation(doc, "  ");
            let start = if doc.is_empty() { String::new() } else { format!("\n{doc}  ") };
            params.push(format!("{start}{param}: {}", ty.text()));
        }
        params
    }

    /// Returns the type of a tool's results, if its schema has one that can be expressed.
    pub fn result(&mut self, schema: &'a Json) -> Option<String> {
        self.root = schema;
        let ty = self.value(schema, SchemaPlace { path: "result", depth: 0, param: None });
        let text = ty.text();
        (text != "json").then_some(text)
    }

    fn value(&mut self, schema: &Json, place: SchemaPlace<'_>) -> TypeText {
        if place.depth > MAX_DEPTH || self.reading >= MAX_READING {
            return self.unknown("nested too deep", place);
        }
        self.reading += 1;
        let ty = self.value_within(schema, place);
        self.reading -= 1;
        ty
    }

    fn value_within(&mut self, schema: &Json, place: SchemaPlace<'_>) -> TypeText {
        if schema.get("deprecated") == Some(&Json::Bool(true)) {
            self.notes.push(format!("{}: deprecated", place.path));
        }
        let mut ty = match alias(schema) {
            Some(reference) => self.referred(reference, place),
            None if schema.get("allOf").is_some() || schema.get("$ref").is_some() => {
                let components = self.scope.components;
                let root = self.root;
                let found = |reference: &str| resolve(components, root, reference);
                match merged(schema, &found) {
                    Some(whole) => self.single(&whole, place),
                    None => self.unknown("schemas that cannot be put together", place),
                }
            }
            None => self.single(schema, place),
        };
        ty.optional |= schema.get("nullable") == Some(&Json::Bool(true));
        ty
    }

    /// Returns the type of a schema without a reference.
    fn single(&mut self, schema: &Json, place: SchemaPlace<'_>) -> TypeText {
        if has_more_members(schema) {
            return self.unknown("both branches and members of its own", place);
        }
        let is_typed = schema.get("type").is_some() || schema.get("properties").is_some();
        for key in ["anyOf", "oneOf"] {
            if let Some(Json::Array(branches)) = schema.get(key)
                && (!is_typed || others(branches).len() == 1 && !is_object(schema))
            {
                return self.branches(key, branches, schema, place);
            }
        }
        let (kind, nullable) = match schema.get("type") {
            Some(Json::String(kind)) => (kind.to_string(), false),
            Some(Json::Array(kinds)) => {
                let kinds: Vec<&str> = kinds.iter().filter_map(Json::as_str).collect();
                let others: Vec<&str> =
                    kinds.iter().copied().filter(|kind| *kind != "null").collect();
                match others[..] {
                    [kind] => (kind.to_owned(), kinds.len() > 1),
                    _ => return self.unknown(&format!("type {}", kinds.join(" or ")), place),
                }
            }
            _ if schema.get("enum").is_some() || schema.get("const").is_some() => {
                ("string".into(), false)
            }
            _ if schema.get("properties").is_some() => ("object".into(), false),
            _ => return self.unknown("a schema without a type", place),
        };
        let mut ty = self.typed(&kind, schema, place);
        ty.optional |= nullable;
        ty
    }

    /// Returns the type of the schema that a `$ref` names. A shared enum or record is declared once
    /// for all tools.
    fn referred(&mut self, reference: &str, place: SchemaPlace<'_>) -> TypeText {
        let components = self.scope.components;
        let root = self.root;
        let Some(target) = resolve(components, root, reference) else {
            return self.unknown(&format!("$ref {reference}"), place);
        };
        let deeper = SchemaPlace { depth: place.depth + 1, ..place };
        if !components.contains_key(reference) {
            return self.value(target, deeper);
        }
        if let Some(declared) = self.scope.declared.get(reference) {
            if self.noted.insert(reference.to_owned()) {
                self.notes.extend_from_slice(&declared.notes);
            }
            return declared.ty.clone();
        }
        if self.open.iter().any(|open| open == reference) {
            return self.unknown("it holds itself", place);
        }
        if self.open.len() == MAX_SHARED {
            return self.unknown("nested too deep", place);
        }
        self.open.push(reference.to_owned());
        let told = |key: &&str| target.get(key).is_some();
        let is_declared = ["properties", "enum", "const", "allOf"].iter().any(told);
        let ty = if is_declared {
            let name = reference.rsplit('/').next().unwrap_or_default();
            let tool = std::mem::take(&mut self.tool);
            let noted = std::mem::take(&mut self.noted);
            let before = self.notes.len();
            let ty = self.value(target, SchemaPlace { path: name, depth: 0, param: None });
            self.tool = tool;
            self.noted = noted;
            self.noted.insert(reference.to_owned());
            let mut notes = self.notes.get(before..).unwrap_or_default().to_vec();
            if notes.len() > MAX_REPEATED {
                let more = notes.len() - MAX_REPEATED;
                notes.truncate(MAX_REPEATED);
                notes.push(format!("{name}: {more} more comments are above its first tool"));
            }
            let shared = SharedType { ty: ty.clone(), notes };
            self.scope.declared.insert(reference.to_owned(), shared);
            ty
        } else {
            // A text or a number is clearer if it is declared beside its parameter.
            self.value(target, deeper)
        };
        self.open.pop();
        ty
    }

    /// Returns the type of `anyOf` or `oneOf`. The members beside it apply to the branch too.
    fn branches(
        &mut self,
        key: &str,
        branches: &[Json],
        schema: &Json,
        place: SchemaPlace<'_>,
    ) -> TypeText {
        let others = others(branches);
        let [branch] = others[..] else {
            return self.unknown(&format!("{key} of {} schemas", others.len()), place);
        };
        let Json::Object(members) = schema else { return self.unknown("no object", place) };
        let beside: Vec<_> = members.iter().filter(|(name, _)| **name != *key).cloned().collect();
        let restricts = |name: &str| name == "type" || is_told(name);
        let place = SchemaPlace { param: None, ..place };
        let mut ty = if beside.iter().any(|(name, _)| restricts(name)) {
            let parts = vec![Json::Object(beside.clone()), branch.clone()];
            self.value(&Json::Object(vec![("allOf".into(), Json::Array(parts))]), place)
        } else {
            self.value(branch, place)
        };
        ty.optional |= others.len() < branches.len() && allows_null(&Json::Object(beside));
        ty
    }

    /// Returns any JSON, with a note that gives the reason.
    pub(super) fn unknown(&mut self, what: &str, place: SchemaPlace<'_>) -> TypeText {
        self.notes.push(format!("{}: {what}; any JSON is accepted", place.path));
        TypeText::plain("json")
    }

    fn typed(&mut self, kind: &str, schema: &Json, place: SchemaPlace<'_>) -> TypeText {
        match kind {
            "string" => self.string(schema, place),
            "integer" | "number" => self.number(kind, schema, place),
            "boolean" => {
                self.note_rest(schema, &[], place.path);
                TypeText::plain("bool")
            }
            "array" => self.array(schema, place),
            "object" => self.object(schema, place),
            _ => self.unknown(&format!("type {kind}"), place),
        }
    }

    fn array(&mut self, schema: &Json, place: SchemaPlace<'_>) -> TypeText {
        let path = format!("{}[]", place.path);
        let inner = SchemaPlace { path: &path, depth: place.depth + 1, param: None };
        let element = match schema.get("items") {
            Some(items @ Json::Object(_)) => self.element(items, inner),
            Some(_) => self.unknown("items that are not a schema", inner),
            None => TypeText::plain("json"),
        };
        let Some(mut ty) = collection("list<", &element) else {
            return self.unknown("nested too deep", place);
        };
        let mut said = vec!["items"];
        if let Some(Json::Int(most @ 0..=MAX_LENGTH)) = schema.get("maxItems") {
            let _ = write!(ty.refined, " max {most}");
            said.push("maxItems");
        }
        if let (Some(Json::Int(least @ 1..)), Some(_)) = (schema.get("minItems"), place.param) {
            self.least.push(LeastLength { least: *least, what: "has too few elements" });
            said.push("minItems");
        }
        self.note_rest(schema, &said, place.path);
        ty
    }

    /// Returns the type of an element. The language has no collections of options.
    fn element(&mut self, schema: &Json, place: SchemaPlace<'_>) -> TypeText {
        // This is checked first, so that no unused type is declared.
        if self.may_be_null(schema) {
            return self.unknown("an element that may be null", place);
        }
        let element = self.value(schema, place);
        if element.optional { self.unknown("an element that may be null", place) } else { element }
    }

    fn may_be_null(&self, schema: &Json) -> bool {
        let mut schema = schema;
        for _ in 0..MAX_SHARED {
            let null = Json::string("null");
            let list = |key: &str| match schema.get(key) {
                Some(Json::Array(list)) => list.as_slice(),
                _ => &[],
            };
            let has_null =
                ["anyOf", "oneOf"].iter().any(|key| others(list(key)).len() < list(key).len());
            if has_null
                || schema.get("nullable") == Some(&Json::Bool(true))
                || list("type").contains(&null)
                || list("enum").contains(&Json::Null)
            {
                return true;
            }
            let target =
                alias(schema).and_then(|name| resolve(self.scope.components, self.root, name));
            let Some(target) = target else { return false };
            schema = target;
        }
        false
    }

    fn object(&mut self, schema: &Json, place: SchemaPlace<'_>) -> TypeText {
        let properties = members(schema, "properties");
        self.note_required(schema, place.path);
        if properties.is_empty() {
            return match schema.get("additionalProperties") {
                Some(values @ Json::Object(members)) if !members.is_empty() => {
                    let path = format!("{}.*", place.path);
                    let inner = SchemaPlace { path: &path, depth: place.depth + 1, param: None };
                    let value = self.element(values, inner);
                    self.note_rest(schema, &["additionalProperties"], place.path);
                    match collection("map<string, ", &value) {
                        Some(ty) => ty,
                        None => self.unknown("nested too deep", place),
                    }
                }
                _ => {
                    self.note_rest(schema, &["additionalProperties"], place.path);
                    TypeText::plain("json")
                }
            };
        }
        if !properties.iter().all(|(name, _)| is_name(name)) {
            return self.unknown("members whose names a guard cannot say", place);
        }
        if properties.len() > MAX_MEMBERS {
            return self.unknown("too many members", place);
        }
        if self.items.len() >= MAX_ITEMS {
            return self.unknown("too many types in one tool", place);
        }
        let name = type_name(self.tool, place.path, &mut self.scope.names);
        let mut fields = String::new();
        let mut height = 0;
        for (member, property) in properties {
            let path = format!("{}.{member}", place.path);
            let inner = SchemaPlace { path: &path, depth: place.depth + 1, param: None };
            let mut ty = self.value(property, inner);
            if ty.height + 1 > MAX_HEIGHT {
                ty = self.unknown("nested too deep", inner);
            }
            height = height.max(ty.height + 1);
            ty.optional |= !is_required(schema, member);
            fields.push_str(&documentation(description(property), "  "));
            let _ = writeln!(fields, "  {member}: {}", ty.text());
        }
        self.items.push(format!("record {name} {{\n{fields}}}\n"));
        let closed =
            !matches!(schema.get("additionalProperties"), Some(Json::Bool(true) | Json::Object(_)));
        let said: &[&str] = if closed { &["additionalProperties"] } else { &[] };
        self.note_rest(schema, said, place.path);
        TypeText { height, ..TypeText::plain(&name) }
    }

    /// Adds a note for each required member without a schema.
    fn note_required(&mut self, schema: &Json, path: &str) {
        let known = members(schema, "properties");
        let Some(Json::Array(names)) = schema.get("required") else { return };
        for name in names {
            if !known.iter().any(|(known, _)| Some(&**known) == name.as_str()) {
                self.notes.push(format!("{path}: required {name} is not checked"));
            }
        }
    }

    /// Adds a note for each keyword that is not expressed.
    pub(super) fn note_rest(&mut self, schema: &Json, said: &[&str], path: &str) {
        let Json::Object(members) = schema else { return };
        for (name, value) in members {
            let silent = SILENT.contains(&&**name) || said.contains(&&**name);
            let harmless = **name == *"additionalProperties" && *value == Json::Bool(false);
            if !silent && !harmless && !name.starts_with("x-") {
                let mut text = value.to_string();
                if text.chars().count() > 120 {
                    text = format!("{}…", text.chars().take(120).collect::<String>());
                }
                let says = if **name == *"default" { "" } else { " is not checked" };
                self.notes.push(format!("{path}: {name} {text}{says}"));
            }
        }
    }
}

/// Returns the type of a collection; `None` if it has too many levels.
fn collection(before: &str, element: &TypeText) -> Option<TypeText> {
    let height = element.height + 1;
    let head = format!("{before}{}>", element.text());
    (height <= MAX_HEIGHT).then(|| TypeText { height, ..TypeText::plain(&head) })
}
