//! A JSON Schema as types of the language. What has no counterpart becomes `json`, a wider type, or a note.

use crate::text::{documentation, one_line, quoted, type_name};
use guard_plan::decimal;
use guard_plan::json::Json;
use guard_plan::naming::{is_name, to_name};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The maximum depth to which records are declared. A deeper value is `json`.
const MAX_DEPTH: usize = 5;

/// The most variants of an enum.
const MAX_VARIANTS: usize = 200;

/// Keywords that say nothing about a value, or are read elsewhere.
const SILENT: [&str; 12] = [
    "type",
    "description",
    "title",
    "properties",
    "required",
    "$schema",
    "$defs",
    "definitions",
    "$id",
    "$comment",
    "examples",
    "nullable",
];

/// Patterns of formats.
const FORMATS: [(&str, &str); 3] = [
    ("email", r"^[^@\s]+@[^@\s]+$"),
    ("uuid", r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"),
    ("ipv4", r"^[0-9]{1,3}(\.[0-9]{1,3}){3}$"),
];

/// A reader of the schemas of one tool.
pub(super) struct SchemaReader<'a> {
    root: &'a Json,
    tool: &'a str,
    /// The type names that are taken.
    names: &'a mut BTreeSet<String>,
    is_pattern: &'a dyn Fn(&str) -> bool,
    /// Enums and records that the tool's types use.
    pub items: Vec<String>,
    /// Clauses for what no type can say.
    pub clauses: Vec<String>,
    /// The parts of the schema that the guard does not say.
    pub notes: Vec<String>,
}

/// The place of a schema in its tool.
#[derive(Clone, Copy)]
struct SchemaPlace<'p> {
    /// The way to the value, for notes.
    path: &'p str,
    depth: usize,
    /// The parameter, where a clause can speak of it.
    param: Option<&'p str>,
}

/// A type before its option mark: `string` and ` max 20`.
struct TypeText {
    head: String,
    refined: String,
    optional: bool,
}

impl TypeText {
    fn plain(head: &str) -> TypeText {
        TypeText { head: head.to_owned(), refined: String::new(), optional: false }
    }

    fn text(&self) -> String {
        let mark = if self.optional { "?" } else { "" };
        format!("{}{mark}{}", self.head, self.refined)
    }
}

impl<'a> SchemaReader<'a> {
    pub fn new(
        root: &'a Json,
        tool: &'a str,
        names: &'a mut BTreeSet<String>,
        is_pattern: &'a dyn Fn(&str) -> bool,
    ) -> SchemaReader<'a> {
        let (items, clauses, notes) = (Vec::new(), Vec::new(), Vec::new());
        SchemaReader { root, tool, names, is_pattern, items, clauses, notes }
    }

    /// The parameters of a tool.
    pub fn parameters(&mut self, schema: &Json) -> Vec<String> {
        let mut known = BTreeSet::new();
        let mut params = Vec::new();
        self.note_rest(schema, &["additionalProperties"], "the arguments");
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
            let place = SchemaPlace { path: name, depth: 0, param: required.then_some(&*param) };
            let mut ty = self.value(property, place);
            ty.optional |= !required;
            let doc = description(property);
            let doc = documentation(doc, "  ");
            let start = if doc.is_empty() { String::new() } else { format!("\n{doc}  ") };
            params.push(format!("{start}{param}: {}", ty.text()));
        }
        params
    }

    /// The type of a tool's results, if its schema has one that can be said.
    pub fn result(&mut self, schema: &'a Json) -> Option<String> {
        self.root = schema;
        let ty = self.value(schema, SchemaPlace { path: "result", depth: 0, param: None });
        let text = ty.text();
        (text != "json").then_some(text)
    }

    fn value(&mut self, schema: &Json, place: SchemaPlace<'_>) -> TypeText {
        if place.depth > MAX_DEPTH {
            self.notes.push(format!("{}: nested too deep; any JSON is accepted", place.path));
            return TypeText::plain("json");
        }
        if let Some(reference) = schema.get("$ref").and_then(Json::as_str) {
            return match self.resolved(reference) {
                Some(target) => {
                    self.value(&target, SchemaPlace { depth: place.depth + 1, ..place })
                }
                None => self.unknown(&format!("$ref {reference}"), place),
            };
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(Json::Array(branches)) = schema.get(key) {
                return self.branches(key, branches, place);
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
        ty.optional |= nullable || schema.get("nullable") == Some(&Json::Bool(true));
        ty
    }

    fn branches(&mut self, key: &str, branches: &[Json], place: SchemaPlace<'_>) -> TypeText {
        let null = |branch: &&Json| branch.get("type").and_then(Json::as_str) == Some("null");
        let others: Vec<&Json> = branches.iter().filter(|branch| !null(branch)).collect();
        match others[..] {
            [branch] => {
                let mut ty = self.value(branch, SchemaPlace { param: None, ..place });
                ty.optional |= others.len() < branches.len();
                ty
            }
            _ => self.unknown(&format!("{key} of {} schemas", others.len()), place),
        }
    }

    /// Any JSON, with a note that says why.
    fn unknown(&mut self, what: &str, place: SchemaPlace<'_>) -> TypeText {
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

    fn string(&mut self, schema: &Json, place: SchemaPlace<'_>) -> TypeText {
        let values = match (schema.get("enum"), schema.get("const")) {
            (Some(Json::Array(values)), _) => Some(values.clone()),
            (None, Some(value)) => Some(vec![value.clone()]),
            _ => None,
        };
        if let Some(values) = values {
            return self.enumeration(&values, schema, place);
        }
        let mut ty = TypeText::plain("string");
        let mut said = vec!["maxLength"];
        match schema.get("format").and_then(Json::as_str) {
            Some("uri" | "url") => ty = TypeText::plain("url"),
            Some("date-time") => ty = TypeText::plain("time"),
            Some("date") => {
                (ty.head, ty.refined) = ("time".into(), " format \"%Y-%m-%d\"".into());
            }
            Some(format) => {
                if let Some((_, pattern)) = FORMATS.iter().find(|(name, _)| *name == format) {
                    let _ = write!(ty.refined, " matches /{pattern}/");
                    said.push("format");
                }
            }
            None => {}
        }
        if ty.head != "string" {
            said = vec!["format"];
        }
        if ty.head == "string" {
            if let Some(Json::Int(most @ 0..)) = schema.get("maxLength") {
                let _ = write!(ty.refined, " max {most}");
            }
            if let Some(pattern) = schema.get("pattern").and_then(Json::as_str)
                && let Some(literal) = self.pattern(pattern)
            {
                let _ = write!(ty.refined, " matches {literal}");
                said.push("pattern");
            }
            if let (Some(Json::Int(least @ 1..)), Some(param)) =
                (schema.get("minLength"), place.param)
            {
                self.clauses.push(format!(
                    "deny when len({param}) < {least} because \"{param} is too short\""
                ));
                said.push("minLength");
            }
        }
        self.note_rest(schema, &said, place.path);
        ty
    }

    /// A pattern as a literal of the language, if it is one.
    fn pattern(&self, pattern: &str) -> Option<String> {
        let mut literal = String::new();
        let mut escaped = false;
        for c in pattern.chars() {
            match c {
                '/' if !escaped => literal.push_str("\\/"),
                c if c.is_control() => return None,
                c => literal.push(c),
            }
            escaped = c == '\\' && !escaped;
        }
        let valid = !pattern.is_empty() && one_line(pattern) == pattern;
        (valid && (self.is_pattern)(pattern)).then(|| format!("/{literal}/"))
    }

    fn enumeration(&mut self, values: &[Json], schema: &Json, place: SchemaPlace<'_>) -> TypeText {
        let mut variants: Vec<&str> = values.iter().filter_map(Json::as_str).collect();
        let nullable = values.contains(&Json::Null);
        let strings = variants.len() + usize::from(nullable) == values.len();
        let plain = |text: &&str| !text.is_empty() && one_line(text) == **text;
        if !strings
            || variants.is_empty()
            || variants.len() > MAX_VARIANTS
            || !variants.iter().all(plain)
        {
            self.note_rest(schema, &[], place.path);
            return TypeText::plain(if strings { "string" } else { "json" });
        }
        let mut known = BTreeSet::new();
        variants.retain(|variant| known.insert(*variant));
        let name = type_name(self.tool, place.path, self.names);
        let variants: Vec<String> = variants.iter().map(|text| variant(text)).collect();
        self.items.push(format!("enum {name} {{ {} }}\n", variants.join(", ")));
        self.note_rest(schema, &["enum", "const"], place.path);
        TypeText { optional: nullable, ..TypeText::plain(&name) }
    }

    fn number(&mut self, kind: &str, schema: &Json, place: SchemaPlace<'_>) -> TypeText {
        let integer = kind == "integer";
        let mut said = Vec::new();
        let mut bound = |key: &'static str| {
            let value = schema.get(key).and_then(|value| number_text(value, integer))?;
            said.push(key);
            Some(value)
        };
        let low = bound("minimum");
        let high = bound("maximum");
        let below = if integer && high.is_none() { bound("exclusiveMaximum") } else { None };
        let above = match low {
            None if integer => {
                bound("exclusiveMinimum").and_then(|text| text.parse::<i64>().ok()?.checked_add(1))
            }
            _ => None,
        };
        let low = low.or(above.map(|number| number.to_string()));
        let range = match (&low, &high, &below) {
            (None, None, None) => String::new(),
            (low, Some(high), _) => format!(" in {}..={high}", low.as_deref().unwrap_or_default()),
            (low, None, Some(below)) => {
                format!(" in {}..{below}", low.as_deref().unwrap_or_default())
            }
            (Some(low), None, None) => format!(" in {low}.."),
        };
        let value = |text: &Option<String>| text.as_deref().and_then(decimal::parse);
        if let (Some(low), Some(high)) = (value(&low), value(&high).or(value(&below)))
            && low >= high.saturating_add(i64::from(below.is_none()))
        {
            return self.unknown("bounds that no number has", place);
        }
        self.note_rest(schema, &said, place.path);
        let head = if integer { "int" } else { "decimal" };
        TypeText { refined: range, ..TypeText::plain(head) }
    }

    fn array(&mut self, schema: &Json, place: SchemaPlace<'_>) -> TypeText {
        let path = format!("{}[]", place.path);
        let inner = SchemaPlace { path: &path, depth: place.depth + 1, param: None };
        let element = match schema.get("items") {
            Some(items @ Json::Object(_)) => self.value(items, inner),
            Some(_) => self.unknown("items that are no schema", inner),
            None => TypeText::plain("json"),
        };
        let mut ty = TypeText::plain(&format!("list<{}>", element.text()));
        let mut said = vec!["items"];
        if let Some(Json::Int(most @ 0..)) = schema.get("maxItems") {
            let _ = write!(ty.refined, " max {most}");
            said.push("maxItems");
        }
        if let (Some(Json::Int(least @ 1..)), Some(param)) = (schema.get("minItems"), place.param) {
            self.clauses.push(format!(
                "deny when len({param}) < {least} because \"{param} has too few elements\""
            ));
            said.push("minItems");
        }
        self.note_rest(schema, &said, place.path);
        ty
    }

    fn object(&mut self, schema: &Json, place: SchemaPlace<'_>) -> TypeText {
        let properties = members(schema, "properties");
        if properties.is_empty() {
            return match schema.get("additionalProperties") {
                Some(values @ Json::Object(members)) if !members.is_empty() => {
                    let path = format!("{}.*", place.path);
                    let inner = SchemaPlace { path: &path, depth: place.depth + 1, param: None };
                    let value = self.value(values, inner);
                    self.note_rest(schema, &["additionalProperties"], place.path);
                    TypeText::plain(&format!("map<string, {}>", value.text()))
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
        let name = type_name(self.tool, place.path, self.names);
        let mut fields = String::new();
        for (member, property) in properties {
            let path = format!("{}.{member}", place.path);
            let inner = SchemaPlace { path: &path, depth: place.depth + 1, param: None };
            let mut ty = self.value(property, inner);
            ty.optional |= !is_required(schema, member);
            fields.push_str(&documentation(description(property), "  "));
            let _ = writeln!(fields, "  {member}: {}", ty.text());
        }
        self.items.push(format!("record {name} {{\n{fields}}}\n"));
        let closed =
            !matches!(schema.get("additionalProperties"), Some(Json::Bool(true) | Json::Object(_)));
        let said: &[&str] = if closed { &["additionalProperties"] } else { &[] };
        self.note_rest(schema, said, place.path);
        TypeText::plain(&name)
    }

    /// A schema of the same document.
    fn resolved(&self, reference: &str) -> Option<Json> {
        let mut target = self.root;
        for part in reference.strip_prefix("#/")?.split('/') {
            target = target.get(&part.replace("~1", "/").replace("~0", "~"))?;
        }
        Some(target.clone())
    }

    /// Notes each keyword that is not said.
    fn note_rest(&mut self, schema: &Json, said: &[&str], path: &str) {
        let Json::Object(members) = schema else { return };
        for (name, value) in members {
            let silent = SILENT.contains(&&**name) || said.contains(&&**name);
            let harmless = **name == *"additionalProperties" && *value == Json::Bool(false);
            if !silent && !harmless && !name.starts_with("x-") {
                let mut text = value.to_string();
                if text.chars().count() > 120 {
                    text = format!("{}…", text.chars().take(120).collect::<String>());
                }
                self.notes.push(format!("{path}: {name} {text} is not checked"));
            }
        }
    }
}

fn members<'s>(schema: &'s Json, key: &str) -> &'s [(Box<str>, Json)] {
    match schema.get(key) {
        Some(Json::Object(members)) => members,
        _ => &[],
    }
}

fn is_required(schema: &Json, name: &str) -> bool {
    matches!(schema.get("required"), Some(Json::Array(names)) if names.iter().any(|known| known.as_str() == Some(name)))
}

fn description(schema: &Json) -> &str {
    schema.get("description").and_then(Json::as_str).unwrap_or_default()
}

/// A variant of an enum: a name, or a string.
fn variant(text: &str) -> String {
    if is_name(text) { text.to_owned() } else { quoted(text) }
}

/// A bound as a literal of the language.
fn number_text(value: &Json, integer: bool) -> Option<String> {
    match value {
        Json::Int(number) if integer => Some(number.to_string()),
        Json::Int(number) => number.checked_mul(1_000_000).map(decimal::format),
        Json::Number(text) => {
            let exact = decimal::parse(text)?;
            match integer {
                true => (exact % 1_000_000 == 0).then(|| (exact / 1_000_000).to_string()),
                false => Some(decimal::format(exact)),
            }
        }
        _ => None,
    }
}
