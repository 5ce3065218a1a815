//! Messages: strings with expressions in braces.
//!
//! The text between braces is unescaped like the rest of the string, and then parsed as an
//! expression, so `"{m[\"k\"]}"` means `m["k"]`.

use super::build::TreeBuilder;
use super::grammar::{self, ChildNodes, Rule, SyntaxNode};
use crate::ast::{Expr, ExprKind, Template, TemplatePart};
use crate::errors;
use crate::lexical;
use crate::span::Span;
use crate::structure;

impl TreeBuilder<'_> {
    pub fn take_message(&mut self, parts: &mut ChildNodes) -> Option<Template> {
        let node = parts.accept(Rule::message)?;
        Some(self.message(&node))
    }

    fn message(&mut self, node: &SyntaxNode) -> Template {
        let span = self.span(node);
        let raw = node.as_str();
        let raw = raw.get(1..raw.len().saturating_sub(1)).unwrap_or("");
        let at = span.start + 1;
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut pos = 0;
        while let Some(next) = raw[pos..].find(['{', '}', '\\']).map(|n| pos + n) {
            text.push_str(&raw[pos..next]);
            let rest = &raw.as_bytes()[next..];
            pos = match rest {
                [b'\\', ..] => {
                    let end = escape_end(raw, next);
                    text.push_str(&self.unescape(&raw[next..end], at + next as u32));
                    end
                }
                [b'{', b'{', ..] | [b'}', b'}', ..] => {
                    text.push(char::from(rest[0]));
                    next + 2
                }
                [b'{', ..] => {
                    if !text.is_empty() {
                        parts.push(TemplatePart::Text(std::mem::take(&mut text)));
                    }
                    self.interpolation(raw, next, at, &mut parts)
                }
                _ => {
                    self.report(errors::lone_brace(self.place(at, next, next + 1)));
                    next + 1
                }
            };
        }
        text.push_str(&raw[pos..]);
        if !text.is_empty() {
            parts.push(TemplatePart::Text(text));
        }
        Template { parts, span }
    }

    fn place(&self, at: u32, start: usize, end: usize) -> Span {
        Span { file: self.file, start: at + start as u32, end: at + end as u32 }
    }

    /// Reads `{e}` at `open`; returns the position where the text continues.
    fn interpolation(
        &mut self,
        raw: &str,
        open: usize,
        at: u32,
        parts: &mut Vec<TemplatePart>,
    ) -> usize {
        let Some(close) = closing_brace(&raw[open..]).map(|n| open + n) else {
            self.report(errors::open_interpolation(self.place(at, open, open + 1)));
            return raw.len();
        };
        let inner = &raw[open + 1..close];
        let start = at + open as u32 + 1;
        let expr = if inner.contains('\\') {
            let text = self.unescape(inner, start);
            let before = self.diagnostics.len();
            let expr = self.embedded(&text, start);
            // The text without its escapes is shorter than the source, so no exact position is
            // known.
            let inside = Span { file: self.file, start, end: at + close as u32 };
            for diagnostic in &mut self.diagnostics[before..] {
                diagnostic.primary.span = inside;
                diagnostic.secondary.clear();
                diagnostic.fix = None;
            }
            expr
        } else {
            self.embedded(inner, start)
        };
        parts.extend(expr.map(TemplatePart::Expr));
        close + 1
    }

    /// Parses `text`, which begins at `start` in the file, as an expression.
    fn embedded(&mut self, text: &str, start: u32) -> Option<Expr> {
        let blank = text.len() - text.trim_start().len();
        let trimmed = text.trim();
        let span = Span { file: self.file, start, end: start + text.len() as u32 };
        if trimmed.is_empty() {
            self.report(errors::empty_interpolation(span));
            return None;
        }
        // Most interpolations are one name, which needs no scan; `null` and `nil` need their error.
        if super::is_name(trimmed) && !matches!(trimmed, "null" | "nil") {
            let kind = ExprKind::Name(trimmed.to_owned());
            let at = start + blank as u32;
            return Some(Expr {
                kind,
                span: clamp(Span { start: at, end: at + trimmed.len() as u32, ..span }, span),
            });
        }
        let scan = lexical::scan(self.file, trimmed);
        let nesting = structure::structure(self.file, trimmed, &scan);
        if let Some(fault) =
            scan.faults.into_iter().chain(nesting.faults).find_map(|f| f.diagnostic)
        {
            self.report(errors::shifted(*fault, start + blank as u32));
            return None;
        }
        let base = std::mem::replace(&mut self.base, i64::from(start) + blank as i64);
        let expr = match grammar::whole(Rule::expr, trimmed) {
            Some(node) => self.expr(node),
            None => {
                self.explain_expression(trimmed, &scan.tokens);
                None
            }
        };
        self.base = base;
        expr.map(|e| Expr { span: clamp(e.span, span), ..e })
    }
}

/// Returns the end of the escape at `start`.
fn escape_end(raw: &str, start: usize) -> usize {
    let unicode = raw[start + 1..].starts_with("u{");
    // The longest escape, `\u{10FFFF}`, has ten bytes.
    let close = raw[start..].bytes().take(10).position(|b| b == b'}');
    if let Some(n) = close.filter(|_| unicode) {
        return start + n + 1;
    }
    let skipped = raw[start + 1..].chars().next().map_or(0, char::len_utf8);
    start + 1 + skipped
}

/// Returns the `}` that closes the `{` at the start of `raw`; strings and nested braces are
/// skipped.
fn closing_brace(raw: &str) -> Option<usize> {
    let bytes = raw.as_bytes();
    let mut depth = 0usize;
    let mut in_string = false;
    let mut pos = 0;
    while let Some(&b) = bytes.get(pos) {
        match b {
            b'\\' if in_string && bytes.get(pos + 1) == Some(&b'\\') => {
                // An escaped backslash escapes the next character inside the string.
                pos += if bytes.get(pos + 2) == Some(&b'\\') { 3 } else { 2 };
            }
            b'\\' if bytes.get(pos + 1) == Some(&b'"') => {
                in_string = !in_string;
                pos += 1;
            }
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                // The text begins with `{`, so the depth is at least 1 here.
                depth -= 1;
                if depth == 0 {
                    return Some(pos);
                }
            }
            _ => {}
        }
        pos += 1;
    }
    None
}

fn clamp(span: Span, within: Span) -> Span {
    Span {
        start: span.start.clamp(within.start, within.end),
        end: span.end.clamp(within.start, within.end),
        ..span
    }
}
