//! YAML 1.2 as JSON, by the core schema. YAML without a JSON equivalent is an error, and so is
//! everything that two parsers could parse differently: a duplicate key, merge keys, other tags, a
//! second document.

use granit_parser::{Event, Parser, ScalarStyle, Span, Tag};
use guard_plan::json::{Json, MAX_DEPTH};
use std::collections::{BTreeMap, HashSet};

/// The maximum number of values that aliases may repeat. Without it, ten lines could stand for a
/// billion values.
const MAX_REPEATED: usize = 1_000_000;

/// The maximum number of bytes of texts and keys that aliases may repeat.
const MAX_REPEATED_BYTES: usize = 32 << 20;

/// The tag of texts in the core schema.
const STRING_TAG: &str = "tag:yaml.org,2002:str";

/// The beginning of the tags of the core schema.
const TAGS: &str = "tag:yaml.org,2002:";

/// The tags of the core schema that change nothing.
const KNOWN_TAGS: [&str; 6] = ["map", "seq", "bool", "int", "float", "null"];

/// Parses one YAML document.
pub(super) fn parse(text: &str) -> Result<Json, String> {
    let mut builder = YamlBuilder::default();
    for next in Parser::new_from_str(text) {
        let (event, span) = next.map_err(|error| {
            let at = error.marker();
            format!("{} at line {}, column {}", error.info(), at.line(), at.col() + 1)
        })?;
        builder.event(event).map_err(|why| at(&why, span))?;
    }
    builder.result.ok_or_else(|| "it has no value".to_owned())
}

fn at(why: &str, span: Span) -> String {
    format!("{why} at line {}, column {}", span.start.line(), span.start.col() + 1)
}

/// A value with an anchor.
struct Anchored {
    value: Json,
    extent: ValueSize,
}

/// The measures of a value.
#[derive(Clone, Copy)]
struct ValueSize {
    /// The number of values in it, including itself.
    size: usize,
    /// The number of bytes of its texts and keys.
    bytes: usize,
    /// The nesting depth of arrays and objects.
    depth: usize,
}

/// An open array or object.
struct OpenNode {
    value: OpenValue,
    anchor: usize,
    extent: ValueSize,
}

enum OpenValue {
    Array(Vec<Json>),
    Object { members: Vec<(Box<str>, Json)>, keys: HashSet<Box<str>>, key: Option<Box<str>> },
}

#[derive(Default)]
struct YamlBuilder {
    open: Vec<OpenNode>,
    anchors: BTreeMap<usize, Anchored>,
    repeated: usize,
    repeated_bytes: usize,
    result: Option<Json>,
}

impl YamlBuilder {
    fn event(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.map(|tag| format!("{}{}", tag.handle(), tag.suffix()));
                if self.expects_key() {
                    // Some parsers act on the tag of a key: `!!merge` inserts members.
                    if !matches!(tag.as_deref(), None | Some(STRING_TAG | "!")) {
                        return Err("a key with a tag".into());
                    }
                    let merge = style == ScalarStyle::Plain && tag.is_none() && *text == *"<<";
                    return if merge {
                        Err("merge keys (`<<`) are not part of YAML 1.2".into())
                    } else {
                        self.key(&text)
                    };
                }
                let value = match (tag.as_deref(), style) {
                    (Some(STRING_TAG | "!"), _) => Json::string(&text),
                    (tag, style) => {
                        check_tag(tag)?;
                        match tag {
                            Some(tag) => tagged(&text, tag)?,
                            None if style == ScalarStyle::Plain => plain(&text)?,
                            None => Json::string(&text),
                        }
                    }
                };
                self.value(value, anchor, ValueSize { size: 1, bytes: text.len(), depth: 0 })
            }
            Event::SequenceStart(_, anchor, tag) => {
                check_node_tag(tag.as_deref(), "seq")?;
                self.begin(OpenValue::Array(Vec::new()), anchor)
            }
            Event::MappingStart(_, anchor, tag) => {
                check_node_tag(tag.as_deref(), "map")?;
                let members = Vec::new();
                let keys = HashSet::new();
                self.begin(OpenValue::Object { members, keys, key: None }, anchor)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => {
                if self.expects_key() {
                    return Err("a key that is an alias".into());
                }
                let Some(known) = self.anchors.get(&anchor) else {
                    return Err("an alias within the value that it names".into());
                };
                let extent = known.extent;
                // The bounds come first: the copy must not be made before it is allowed.
                self.count("aliases repeat", extent)?;
                let value = self.anchors.get(&anchor).map(|known| known.value.clone());
                self.value(value.unwrap_or(Json::Null), 0, extent)
            }
            Event::DocumentStart(..) if self.result.is_some() => Err("a second document".into()),
            _ => Ok(()),
        }
    }

    fn expects_key(&self) -> bool {
        let last = self.open.last().map(|open| &open.value);
        matches!(last, Some(OpenValue::Object { key: None, .. }))
    }

    fn key(&mut self, text: &str) -> Result<(), String> {
        if let Some(OpenNode { value: OpenValue::Object { keys, key, .. }, extent, .. }) =
            self.open.last_mut()
        {
            if !keys.insert(text.into()) {
                return Err(format!("the key `{text}` appears twice"));
            }
            extent.bytes = extent.bytes.saturating_add(text.len());
            *key = Some(text.into());
        }
        Ok(())
    }

    fn begin(&mut self, value: OpenValue, anchor: usize) -> Result<(), String> {
        if self.expects_key() {
            return Err("a key that is not a text".into());
        }
        if self.open.len() == MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} levels"));
        }
        let extent = ValueSize { size: 1, bytes: 0, depth: 1 };
        self.open.push(OpenNode { value, anchor, extent });
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let value = match open.value {
            OpenValue::Array(items) => Json::Array(items),
            OpenValue::Object { members, .. } => Json::Object(members),
        };
        self.value(value, open.anchor, open.extent)
    }

    /// Counts one more copy of a value. `what` begins the error if there are too many.
    fn count(&mut self, what: &str, extent: ValueSize) -> Result<(), String> {
        self.repeated = self.repeated.saturating_add(extent.size);
        self.repeated_bytes = self.repeated_bytes.saturating_add(extent.bytes);
        if self.repeated > MAX_REPEATED {
            return Err(format!("{what} more than {MAX_REPEATED} values"));
        }
        if self.repeated_bytes > MAX_REPEATED_BYTES {
            return Err(format!("{what} more than {} MiB of text", MAX_REPEATED_BYTES >> 20));
        }
        Ok(())
    }

    /// Puts a value at the position of the next one.
    fn value(&mut self, value: Json, anchor: usize, extent: ValueSize) -> Result<(), String> {
        if self.open.len() + extent.depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} levels"));
        }
        if anchor != 0 {
            // A copy that an alias could repeat counts as if it did.
            self.count("anchors are on", extent)?;
            self.anchors.insert(anchor, Anchored { value: value.clone(), extent });
        }
        let Some(open) = self.open.last_mut() else {
            self.result = Some(value);
            return Ok(());
        };
        open.extent.size = open.extent.size.saturating_add(extent.size);
        open.extent.bytes = open.extent.bytes.saturating_add(extent.bytes);
        open.extent.depth = open.extent.depth.max(extent.depth + 1);
        match &mut open.value {
            OpenValue::Array(items) => items.push(value),
            OpenValue::Object { members, key, .. } => {
                let key = key.take().ok_or("a key that is not a text")?;
                members.push((key, value));
            }
        }
        Ok(())
    }
}

fn check_tag(tag: Option<&str>) -> Result<(), String> {
    let Some(tag) = tag else { return Ok(()) };
    if tag.strip_prefix(TAGS).is_some_and(|name| KNOWN_TAGS.contains(&name)) {
        Ok(())
    } else {
        Err(format!("the tag `{tag}` is not known"))
    }
}

/// Refuses the tag of an array or object that is not its own.
fn check_node_tag(tag: Option<&Tag>, own: &str) -> Result<(), String> {
    let Some(tag) = tag.map(|tag| format!("{}{}", tag.handle(), tag.suffix())) else {
        return Ok(());
    };
    check_tag(Some(&tag))?;
    if tag.strip_prefix(TAGS) == Some(own) {
        Ok(())
    } else {
        Err(format!("a value that does not fit its tag `{tag}`"))
    }
}

/// Parses a text with a tag of the core schema. Parsers differ in how they read a text that does
/// not fit its tag.
fn tagged(text: &str, tag: &str) -> Result<Json, String> {
    let value = plain(text)?;
    let fits = match (tag.strip_prefix(TAGS), &value) {
        (Some("int"), Json::Number(number)) => {
            number.strip_prefix('-').unwrap_or(number).bytes().all(|byte| byte.is_ascii_digit())
        }
        (Some("bool"), Json::Bool(_))
        | (Some("int"), Json::Int(_))
        | (Some("float"), Json::Int(_) | Json::Number(_))
        | (Some("null"), Json::Null) => true,
        _ => false,
    };
    if fits { Ok(value) } else { Err(format!("a value that does not fit its tag `{tag}`")) }
}

/// Parses a text without quotes, by the core schema.
fn plain(text: &str) -> Result<Json, String> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Json::Null),
        "true" | "True" | "TRUE" => return Ok(Json::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Json::Bool(false)),
        _ => {}
    }
    let unsigned = text.trim_start_matches(['-', '+']);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err(format!("`{text}` is a number that JSON does not have"));
    }
    let based = |prefix: &str, base: u32| {
        let digits = text.strip_prefix(prefix)?;
        let digits = digits.chars().all(|c| c.is_digit(base)).then_some(digits)?;
        i64::from_str_radix(digits, base).ok().map(Json::Int)
    };
    let number = Json::number(text).or_else(|| based("0x", 16)).or_else(|| based("0o", 8));
    Ok(number.or_else(|| loose_number(text)).unwrap_or_else(|| Json::string(text)))
}

/// Parses a number in a form that YAML permits and JSON does not: `+5`, `007`, `.5`, `5.`.
fn loose_number(text: &str) -> Option<Json> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || whole.is_empty() && part.is_empty() {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let part = if part.is_empty() { String::new() } else { format!(".{part}") };
    Json::number(&format!("{sign}{whole}{part}{exponent}"))
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn json(text: &str) -> String {
        parse(text).map_or_else(|why| format!("error: {why}"), |json| json.to_string())
    }

    #[test]
    fn values_of_the_core_schema() {
        assert_eq!(
            json("a: [1, -2.50, +3, 007, .5, 0x1F, 0o17, 1e3]"),
            r#"{"a":[1,-2.50,3,7,0.5,31,15,1e3]}"#
        );
        assert_eq!(
            json("a: [yes, No, on, 'true', \"1\", 1.2.3]"),
            r#"{"a":["yes","No","on","true","1","1.2.3"]}"#
        );
        assert_eq!(
            json("a: [~, True, !!str 5, 2026-01-05]"),
            r#"{"a":[null,true,"5","2026-01-05"]}"#
        );
        assert_eq!(
            json("!!str a: [!!bool 'true', !!int 5, !!float 5, !!null ~]\nb: !!map {c: !!seq []}"),
            r#"{"a":[true,5,5,null],"b":{"c":[]}}"#
        );
        assert_eq!(json("200: |\n  x\n  y\n1.5: >-\n  x\n  y"), r#"{"200":"x\ny\n","1.5":"x y"}"#);
        assert_eq!(json("a: &x [1, {b: 2}]\nc: *x"), r#"{"a":[1,{"b":2}],"c":[1,{"b":2}]}"#);
    }

    #[test]
    fn what_two_readers_could_read_differently_is_an_error() {
        for text in [
            "a: 1\na: 2",
            "a: &x {}\nb: {<<: *x}",
            "a: !x 1",
            "? [a]\n: 1",
            "? {a: 1}\n: 1",
            "&x a: 1\n*x : 2",
            "a: .inf",
            "a: 1\n---\na: 2",
            "a: *x",
            "a: &x {b: 1}\nc:\n  !!merge <<: *x",
            "!foo a: 1",
            "!!int 1: 1",
            "a: !!bool \"yes\"",
            "a: !!bool yes",
            "a: !!int \"x\"",
            "a: !!int 1.5",
            "a: !!null 0",
            "a: !!seq x",
            "a: !!map [x]",
            "a: !!seq {x: 1}",
            "a: &x [*x]",
            "",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn aliases_and_levels_have_bounds() {
        let list = |name: &str, inside: &str| {
            format!("- &{name} [{}]\n", format!("{inside}, ").repeat(10))
        };
        let mut text = list("a", "x");
        for (name, inside) in
            ["b", "c", "d", "e", "f", "g"].iter().zip(["a", "b", "c", "d", "e", "f"])
        {
            text += &list(name, &format!("*{inside}"));
        }
        assert!(json(&text).contains("repeat more than"), "{}", json(&text));
        let long = format!("a: &x '{}'\nb: [{}]", "a".repeat(1 << 20), "*x, ".repeat(40));
        assert!(json(&long).contains("32 MiB"), "{:.99}", json(&long));
        assert!(parse(&format!("{}1{}", "[".repeat(128), "]".repeat(128))).is_ok());
        assert!(parse(&format!("{}1{}", "[".repeat(129), "]".repeat(129))).is_err());
        let deep = format!(
            "- &a {}1{}\n- {}*a{}",
            "[".repeat(100),
            "]".repeat(100),
            "[".repeat(100),
            "]".repeat(100)
        );
        assert!(parse(&deep).is_err());
    }
}
