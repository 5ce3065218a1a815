//! Edits of a text at positions of its tree, in the existing layout of the text.

use super::tree::{self, JsonNode, comment_end};
use super::{EditStep, SettingsError};
use serde_json::Value;
use std::ops::Range;

/// A text under edit.
pub struct Editor {
    pub text: String,
    /// One level of indentation.
    indent: String,
    newline: &'static str,
}

impl Editor {
    pub fn new(text: &str) -> Editor {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indented =
            text.lines().find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
        let indent = indented.map(|line| line[..line.len() - line.trim_start().len()].to_owned());
        Editor { text: text.to_owned(), indent: indent.unwrap_or_else(|| "  ".into()), newline }
    }

    pub fn parse(&self) -> Result<JsonNode, SettingsError> {
        tree::parse(&self.text)
    }

    pub fn apply(&mut self, step: EditStep) {
        match step {
            EditStep::Member(object, name, value) => {
                let name = Value::String(name);
                self.add(&object, &format!("{name}: "), &value);
            }
            EditStep::Item(array, value) => self.add(&array, "", &value),
            EditStep::RemoveItem(node, at) | EditStep::RemoveMember(node, at) => {
                self.remove(&node, at)
            }
        }
    }

    /// Returns the indentation of the line of a position.
    fn indent_at(&self, at: usize) -> String {
        let line = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = self.text[line..].trim_start_matches('\u{feff}');
        line[..line.len() - line.trim_start_matches([' ', '\t']).len()].to_owned()
    }

    /// Adds a part at the end of an object or array.
    fn add(&mut self, node: &JsonNode, prefix: &str, value: &Value) {
        let outer = self.indent_at(node.span.start);
        let inner = format!("{outer}{}", self.indent);
        let part = format!("{}{inner}{prefix}{}", self.newline, self.pretty(value, &inner));
        let Some(last) = node.parts().pop() else {
            // The part is inserted before the closing bracket; comments between the brackets are
            // kept.
            let close = node.span.end - 1;
            let keeps = self.text[node.span.start + 1..close].trim_end().len();
            let from = node.span.start + 1 + keeps;
            self.text.replace_range(from..close, &format!("{part}{}{outer}", self.newline));
            return;
        };
        let comma = self.comma_after(last.end, node.span.end);
        let after = comma.map_or(last.end, |at| at + 1);
        let line_end = self.line_end(after, node.span.end - 1);
        let close = node.span.end - 1;
        // A closing bracket on the same line is moved to a separate line.
        let tail = match self.text[line_end..close].trim().is_empty() {
            true if !self.text[line_end..close].contains('\n') => {
                self.text.replace_range(line_end..close, "");
                format!("{}{outer}", self.newline)
            }
            _ => String::new(),
        };
        self.text.insert_str(line_end, &format!("{part}{tail}"));
        // The comma is inserted last, because it precedes the part and would move its position.
        if comma.is_none() {
            self.text.insert(last.end, ',');
        }
    }

    /// Returns the position of the comma after a part, before an end.
    fn comma_after(&self, from: usize, end: usize) -> Option<usize> {
        let mut at = from;
        while at < end {
            let rest = &self.text[at..end];
            if rest.starts_with("//") {
                at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                at += comment_end(rest).unwrap_or(rest.len());
            } else if rest.starts_with(',') {
                return Some(at);
            } else if rest.starts_with([' ', '\t', '\r', '\n']) {
                at += 1;
            } else {
                return None;
            }
        }
        None
    }

    /// Returns the position after a place and the comments on its line.
    fn line_end(&self, from: usize, end: usize) -> usize {
        let rest = &self.text[from..end];
        let line = &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())];
        let comment = line.trim_start();
        if comment.starts_with("//")
            || (comment_end(comment).is_some() && comment.trim_end().ends_with("*/"))
        {
            from + line.trim_end().len()
        } else {
            from
        }
    }

    /// Removes a part with its comma and its line.
    fn remove(&mut self, node: &JsonNode, at: usize) {
        let parts = node.parts();
        let part = parts[at].clone();
        let start = self.line_start(part.start, node.span.start + 1);
        match self.comma_after(part.end, node.span.end) {
            Some(comma) => self.cut(start..comma + 1),
            None if at > 0 => {
                let before = self.comma_after(parts[at - 1].end, part.start);
                // The later text is cut first, so that the position of the earlier comma stays
                // valid.
                self.cut(start..part.end);
                if let Some(before) = before {
                    self.cut(before..before + 1);
                }
            }
            None => {
                // It is the only part: the brackets are joined, unless a comment is between them.
                self.cut(start..part.end);
                let open = node.span.start + 1;
                let close = self.text[open..].len() - self.text[open..].trim_start().len();
                if self.text[open + close..].starts_with(['}', ']']) {
                    self.cut(open..open + close);
                }
            }
        }
    }

    /// Returns the position, or the line break before it if there is only whitespace between.
    fn line_start(&self, at: usize, from: usize) -> usize {
        let before = &self.text[from..at];
        let bare = before.trim_end_matches([' ', '\t']);
        match bare.strip_suffix("\r\n").or_else(|| bare.strip_suffix('\n')) {
            Some(rest) => from + rest.len(),
            None => at,
        }
    }

    fn cut(&mut self, range: Range<usize>) {
        self.text.replace_range(range, "");
    }

    /// Formats a value over several lines, from a level of indentation on.
    fn pretty(&self, value: &Value, outer: &str) -> String {
        let inner = format!("{outer}{}", self.indent);
        let block = |open: char, parts: Vec<String>, close: char| {
            let newline = self.newline;
            let parts = parts.join(&format!(",{newline}{inner}"));
            format!("{open}{newline}{inner}{parts}{newline}{outer}{close}")
        };
        match value {
            Value::Object(members) if !members.is_empty() => {
                let mut names: Vec<&String> = members.keys().collect();
                names.sort_by_key(|name| (!matches!(name.as_str(), "type" | "matcher"), *name));
                let member = |name: &&String| {
                    let value = self.pretty(&members[*name], &inner);
                    format!("{}: {value}", Value::String((*name).clone()))
                };
                block('{', names.iter().map(member).collect(), '}')
            }
            Value::Array(items) if !items.is_empty() => {
                block('[', items.iter().map(|item| self.pretty(item, &inner)).collect(), ']')
            }
            other => other.to_string(),
        }
    }
}
