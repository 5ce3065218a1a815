//! JSON with comments and trailing commas, as a tree of positions in its text.

use super::SettingsError;
use serde_json::Value;
use std::ops::Range;

/// The maximum depth.
const MAX_DEPTH: usize = 100;

/// A value and its position.
#[derive(Debug, Clone)]
pub struct JsonNode {
    pub span: Range<usize>,
    pub kind: NodeKind,
}

/// The parts of a value.
#[derive(Debug, Clone)]
pub enum NodeKind {
    /// The members: name, start of the name, value.
    Object(Vec<(String, usize, JsonNode)>),
    Array(Vec<JsonNode>),
    Scalar,
}

impl JsonNode {
    pub fn is_object(&self) -> bool {
        matches!(self.kind, NodeKind::Object(_))
    }

    pub fn members(&self) -> impl Iterator<Item = (&str, &JsonNode)> {
        let members = match &self.kind {
            NodeKind::Object(members) => &members[..],
            _ => &[],
        };
        members.iter().map(|(name, _, node)| (name.as_str(), node))
    }

    pub fn member(&self, name: &str) -> Option<&JsonNode> {
        self.members().find(|(known, _)| *known == name).map(|(_, node)| node)
    }

    pub fn items(&self) -> impl Iterator<Item = &JsonNode> {
        let items = match &self.kind {
            NodeKind::Array(items) => &items[..],
            _ => &[],
        };
        items.iter()
    }

    /// Returns the ranges of the parts. In an object, a part starts with its name.
    pub fn parts(&self) -> Vec<Range<usize>> {
        match &self.kind {
            NodeKind::Object(members) => {
                members.iter().map(|(_, start, node)| *start..node.span.end).collect()
            }
            NodeKind::Array(items) => items.iter().map(|node| node.span.clone()).collect(),
            NodeKind::Scalar => Vec::new(),
        }
    }

    pub fn as_text(&self, text: &str) -> Option<String> {
        self.to_value(text).as_str().map(str::to_owned)
    }

    /// Returns the value, without comments.
    pub fn to_value(&self, text: &str) -> Value {
        match &self.kind {
            NodeKind::Object(members) => {
                let member = |(name, _, node): &(String, usize, JsonNode)| {
                    (name.clone(), node.to_value(text))
                };
                Value::Object(members.iter().map(member).collect())
            }
            NodeKind::Array(items) => items.iter().map(|node| node.to_value(text)).collect(),
            NodeKind::Scalar => serde_json::from_str(&text[self.span.clone()]).unwrap_or_default(),
        }
    }
}

/// Parses a whole text.
pub fn parse(text: &str) -> Result<JsonNode, SettingsError> {
    let mut reader = TreeReader { text, at: 0 };
    // A byte order mark is kept.
    if text.starts_with('\u{feff}') {
        reader.at = 3;
    }
    let node = reader.value(0)?;
    reader.blank()?;
    if reader.at == text.len() { Ok(node) } else { Err(reader.wrong("the end of the text")) }
}

/// Returns the length of the comment `/* … */` at the beginning of a text, if it has an end. The
/// star of the beginning is not a part of the end: `/*/` has none.
pub(super) fn comment_end(text: &str) -> Option<usize> {
    text.strip_prefix("/*")?.find("*/").map(|end| end + 4)
}

struct TreeReader<'t> {
    text: &'t str,
    at: usize,
}

impl TreeReader<'_> {
    fn wrong(&self, expected: &str) -> SettingsError {
        let before = &self.text[..self.at.min(self.text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        SettingsError(format!("not JSON at line {line}, column {column}: expected {expected}"))
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.byte() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Skips whitespace and comments.
    fn blank(&mut self) -> Result<(), SettingsError> {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with("//") {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if trimmed.starts_with("/*") {
                let end = comment_end(trimmed).ok_or_else(|| self.wrong("`*/`"))?;
                self.at += end;
            } else {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<JsonNode, SettingsError> {
        self.blank()?;
        // The parser is recursive, and the file belongs to the project, so its depth could exhaust
        // the stack.
        if depth > MAX_DEPTH {
            return Err(self.wrong("fewer levels"));
        }
        let start = self.at;
        let kind = match self.byte() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => {
                self.string()?;
                NodeKind::Scalar
            }
            _ => self.literal()?,
        };
        Ok(JsonNode { span: start..self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Result<NodeKind, SettingsError> {
        self.at += 1;
        let mut members: Vec<(String, usize, JsonNode)> = Vec::new();
        loop {
            self.blank()?;
            if self.take(b'}') {
                return Ok(NodeKind::Object(members));
            }
            let start = self.at;
            if self.byte() != Some(b'"') {
                return Err(self.wrong("a member or `}`"));
            }
            let name = self.string()?;
            // It is unknown which of two equal members the host reads, so the edit could have no
            // effect.
            if members.iter().any(|(known, ..)| *known == name) {
                self.at = start;
                return Err(self.wrong(&format!("`{name}` only once")));
            }
            self.blank()?;
            if !self.take(b':') {
                return Err(self.wrong("`:`"));
            }
            let node = self.value(depth + 1)?;
            members.push((name, start, node));
            self.blank()?;
            if !self.take(b',') && self.byte() != Some(b'}') {
                return Err(self.wrong("`,` or `}`"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<NodeKind, SettingsError> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.blank()?;
            if self.take(b']') {
                return Ok(NodeKind::Array(items));
            }
            items.push(self.value(depth + 1)?);
            self.blank()?;
            if !self.take(b',') && self.byte() != Some(b']') {
                return Err(self.wrong("`,` or `]`"));
            }
        }
    }

    fn string(&mut self) -> Result<String, SettingsError> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.byte() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
                None => {
                    self.at = start;
                    return Err(self.wrong("a string with its end"));
                }
            }
        }
        self.at += 1;
        let text = self.text.get(start..self.at).unwrap_or_default();
        serde_json::from_str(text).map_err(|_| {
            self.at = start;
            self.wrong("a string")
        })
    }

    fn literal(&mut self) -> Result<NodeKind, SettingsError> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.')));
        let literal = &rest[..end.unwrap_or(rest.len())];
        match serde_json::from_str::<Value>(literal) {
            Ok(_) => {
                self.at += literal.len();
                Ok(NodeKind::Scalar)
            }
            Err(_) => Err(self.wrong("a value")),
        }
    }
}
