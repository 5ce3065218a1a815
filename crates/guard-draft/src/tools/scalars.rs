//! Texts, enums and numbers of a JSON Schema as types of the language.

use super::lengths::LeastLength;
use super::patterns::translated;
use super::types::{MAX_ITEMS, MAX_LENGTH, SchemaPlace, SchemaReader, TypeText};
use crate::text::{one_line, quoted, type_name};
use guard_plan::decimal;
use guard_plan::json::Json;
use guard_plan::naming::is_name;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The maximum number of variants of an enum.
const MAX_VARIANTS: usize = 200;

/// The patterns of formats.
const FORMATS: [(&str, &str); 3] = [
    ("email", r"^[^@\s]+@[^@\s]+$"),
    ("uuid", r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"),
    ("ipv4", r"^[0-9]{1,3}(\.[0-9]{1,3}){3}$"),
];

impl SchemaReader<'_, '_> {
    pub(super) fn string(&mut self, schema: &Json, place: SchemaPlace<'_>) -> TypeText {
        let values = match (schema.get("enum"), schema.get("const")) {
            (Some(Json::Array(values)), Some(value)) => {
                Some(values.iter().filter(|known| *known == value).cloned().collect())
            }
            (Some(Json::Array(values)), None) => Some(values.clone()),
            (_, Some(value)) => Some(vec![value.clone()]),
            _ => None,
        };
        if let Some(values) = values {
            return self.enumeration(&values, schema, place);
        }
        let mut ty = TypeText::plain("string");
        let mut said = Vec::new();
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
            if let Some(Json::Int(most @ 0..=MAX_LENGTH)) = schema.get("maxLength") {
                let _ = write!(ty.refined, " max {most}");
                said.push("maxLength");
            }
            if let Some(pattern) = schema.get("pattern").and_then(Json::as_str)
                && let Some(literal) = self.pattern(pattern)
            {
                let _ = write!(ty.refined, " matches {literal}");
                said.push("pattern");
            }
            if let (Some(Json::Int(least @ 1..)), Some(_)) = (schema.get("minLength"), place.param)
            {
                self.least.push(LeastLength { least: *least, what: "is too short" });
                said.push("minLength");
            }
        }
        self.note_rest(schema, &said, place.path);
        ty
    }

    /// Returns a pattern as a literal of the language, if it has one with the same meaning.
    fn pattern(&self, pattern: &str) -> Option<String> {
        let valid = !pattern.is_empty() && one_line(pattern) == pattern;
        let pattern = translated(pattern).filter(|_| valid)?;
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
        (self.scope.is_pattern)(&pattern).then(|| format!("/{literal}/"))
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
        if self.items.len() >= MAX_ITEMS {
            return self.unknown("too many types in one tool", place);
        }
        let mut known = BTreeSet::new();
        variants.retain(|variant| known.insert(*variant));
        let name = type_name(self.tool, place.path, &mut self.scope.names);
        let variants: Vec<String> = variants.iter().map(|text| variant(text)).collect();
        self.items.push(format!("enum {name} {{ {} }}\n", variants.join(", ")));
        self.note_rest(schema, &["enum", "const"], place.path);
        TypeText { optional: nullable, ..TypeText::plain(&name) }
    }

    pub(super) fn number(&mut self, kind: &str, schema: &Json, place: SchemaPlace<'_>) -> TypeText {
        let integer = kind == "integer";
        let mut said = Vec::new();
        let mut bound = |key: &'static str| {
            let value = schema.get(key).and_then(|value| number_text(value, integer))?;
            said.push(key);
            Some(value)
        };
        let mut low = bound("minimum");
        let mut high = bound("maximum");
        let below = if high.is_none() { bound("exclusiveMaximum") } else { None };
        if low.is_none()
            && let Some(above) = bound("exclusiveMinimum")
        {
            low = next_number(&above, integer);
            if low.is_none() {
                return self.unknown("bounds that no number has", place);
            }
        }
        match schema.get("format").and_then(Json::as_str) {
            Some("int32") if integer => {
                said.push("format");
                low = low.or_else(|| Some(i32::MIN.to_string()));
                if below.is_none() {
                    high = high.or_else(|| Some(i32::MAX.to_string()));
                }
            }
            // The language's own numbers have this format.
            Some("int64") if integer => said.push("format"),
            Some("float" | "double" | "decimal") if !integer => said.push("format"),
            _ => {}
        }
        let unit = |text: &Option<String>| amount(text.as_deref()?, integer);
        let most = match &below {
            Some(below) => amount(below, integer).and_then(|below| below.checked_sub(1)),
            None => unit(&high),
        };
        let is_empty = unit(&low).zip(most).is_some_and(|(low, most)| low > most);
        if is_empty || below.is_some() && most.is_none() {
            return self.unknown("bounds that no number has", place);
        }
        let least = low.as_deref().unwrap_or_default();
        let range = match (&high, &below) {
            (Some(high), _) => format!(" in {least}..={high}"),
            (None, Some(below)) => format!(" in {least}..{below}"),
            (None, None) if low.is_some() => format!(" in {least}.."),
            (None, None) => String::new(),
        };
        self.note_rest(schema, &said, place.path);
        let head = if integer { "int" } else { "decimal" };
        TypeText { refined: range, ..TypeText::plain(head) }
    }
}

/// Returns a variant of an enum: a name, or a string.
fn variant(text: &str) -> String {
    if is_name(text) { text.to_owned() } else { quoted(text) }
}

/// Returns a bound as a literal of the language.
fn number_text(value: &Json, integer: bool) -> Option<String> {
    match value {
        Json::Int(number) if integer => Some(number.to_string()),
        Json::Int(number) => number.checked_mul(1_000_000).map(decimal::format),
        Json::Number(text) => {
            let exact = decimal::parse(text)?;
            if integer {
                (exact % 1_000_000 == 0).then(|| (exact / 1_000_000).to_string())
            } else {
                Some(decimal::format(exact))
            }
        }
        _ => None,
    }
}

/// Returns a number in units of its type, which are the smallest difference between two numbers.
fn amount(text: &str, integer: bool) -> Option<i64> {
    if integer { text.parse().ok() } else { decimal::parse(text) }
}

fn next_number(text: &str, integer: bool) -> Option<String> {
    let next = amount(text, integer)?.checked_add(1)?;
    Some(if integer { next.to_string() } else { decimal::format(next) })
}
