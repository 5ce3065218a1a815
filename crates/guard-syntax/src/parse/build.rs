//! The builder of words, strings, literals and documentation, with their diagnostics.
//!
//! A function returns `None` only for text that the grammar should have rejected; the item is then
//! dropped.

use super::Loose;
use super::elements::CLAUSES;
use super::grammar::{ChildNodes, Rule, SyntaxNode};
use super::habits;
use crate::ast::{Ident, Literal, SpanEq, Str};
use crate::diagnostic::Diagnostic;
use crate::errors;
use crate::lexical::{CommentKind, Scan, is_reserved};
use crate::nearest::nearest;
use crate::span::{FileId, Span};

/// Converts pest's nodes to the tree.
pub(super) struct TreeBuilder<'t> {
    pub file: FileId,
    pub diagnostics: Vec<Diagnostic>,
    /// The position in the file of the text given to pest; negative after the correction of a
    /// misspelled keyword.
    pub base: i64,
    /// True if the current item contains an expression that is too deep.
    pub too_deep: bool,
    text: &'t str,
    scan: &'t Scan,
    /// `///` comments: the start of the following token, the index of the comment, and true if it
    /// is used.
    docs: Vec<DocComment>,
}

struct DocComment {
    before: u32,
    comment: usize,
    taken: bool,
}

impl<'t> TreeBuilder<'t> {
    pub fn new(file: FileId, text: &'t str, scan: &'t Scan) -> Self {
        let doc = |(comment, c): (usize, &crate::lexical::Comment)| {
            let before = scan.tokens.get(c.next as usize).map_or(u32::MAX, |t| t.start);
            (c.kind != CommentKind::Plain).then_some(DocComment { before, comment, taken: false })
        };
        let docs = scan.comments.iter().enumerate().filter_map(doc).collect();
        TreeBuilder { file, diagnostics: Vec::new(), base: 0, too_deep: false, text, scan, docs }
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Returns all diagnostics, with a warning for unattached documentation, and the remaining
    /// comments.
    pub fn finish(mut self) -> (Vec<Diagnostic>, Loose) {
        let mut loose = Loose { comments: Vec::new(), docs: Vec::new() };
        // In a file with errors, the documentation may belong to an item that was dropped.
        let quiet = !self.diagnostics.is_empty() || !self.scan.faults.is_empty();
        let mut docs = self.docs.iter().peekable();
        for (index, comment) in self.scan.comments.iter().enumerate() {
            let doc = docs.next_if(|doc| doc.comment == index);
            match doc {
                Some(doc) if doc.taken => {
                    if loose.docs.last().is_none_or(|&(node, _)| node != doc.before) {
                        loose.docs.push((doc.before, comment.start));
                    }
                    continue;
                }
                Some(_) if !quiet => {
                    let marker =
                        Span { file: self.file, start: comment.start, end: comment.start + 3 };
                    self.diagnostics.push(errors::lost_documentation(
                        Span { end: comment.end, ..marker },
                        marker,
                    ));
                }
                _ => {}
            }
            loose.comments.push(*comment);
        }
        (self.diagnostics, loose)
    }

    /// Returns the `//!` lines before the first token.
    pub fn file_docs(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for doc in &mut self.docs {
            let comment = &self.scan.comments[doc.comment];
            if comment.next == 0 && comment.kind == CommentKind::FileDoc {
                doc.taken = true;
                lines.push(doc_text(self.text, comment.start, comment.end));
            }
        }
        lines
    }

    /// Returns the `///` lines directly before the token at `start`.
    fn docs_before(&mut self, start: u32) -> Vec<String> {
        let from = self.docs.partition_point(|d| d.before < start);
        let mut lines = Vec::new();
        for doc in self.docs[from..].iter_mut().take_while(|d| d.before == start) {
            let comment = &self.scan.comments[doc.comment];
            if comment.kind == CommentKind::Doc {
                doc.taken = true;
                lines.push(doc_text(self.text, comment.start, comment.end));
            }
        }
        lines
    }

    pub fn docs(&mut self, node: &SyntaxNode) -> Vec<String> {
        if self.docs.is_empty() {
            return Vec::new();
        }
        self.docs_before(self.span(node).start)
    }

    pub fn span(&self, node: &SyntaxNode) -> Span {
        let span = node.as_span();
        self.span_at(span.start(), span.end())
    }

    pub fn span_at(&self, start: usize, end: usize) -> Span {
        let place = |at: usize| (self.base + at as i64).max(0) as u32;
        Span { file: self.file, start: place(start), end: place(end) }
    }

    pub fn span_eq(&self, node: &SyntaxNode) -> SpanEq {
        SpanEq(self.span(node))
    }

    /// Returns a word as written.
    pub fn ident(&self, node: &SyntaxNode) -> Ident {
        Ident { node: node.as_str().to_owned(), span: self.span(node) }
    }

    /// Reads the contents of the next node, if it has this rule. `None` if they cannot be read.
    pub fn optional<T>(
        &mut self,
        parts: &mut ChildNodes,
        rule: Rule,
        read: impl FnOnce(&mut Self, &mut ChildNodes) -> Option<T>,
    ) -> Option<Option<T>> {
        match parts.enter(rule) {
            Some(mut inner) => read(self, &mut inner).map(Some),
            None => Some(None),
        }
    }

    pub fn name(&mut self, parts: &mut ChildNodes) -> Option<Ident> {
        parts.accept(Rule::name).map(|node| self.checked(&node))
    }

    /// Returns a name that is declared nowhere, such as a role. If it begins a line and could be a
    /// clause, that is an error: nothing else would tell the author that a clause has gone.
    pub fn undeclared(&mut self, parts: &mut ChildNodes) -> Option<Ident> {
        let ident = self.name(parts)?;
        let before = self.text.get(..ident.span.start as usize).unwrap_or_default();
        let begins_line = before.trim_end_matches([' ', '\t']).ends_with('\n');
        let meant = nearest(&ident.node, &CLAUSES);
        if begins_line && (meant.is_some() || habits::foreign_clause(&ident.node).is_some()) {
            self.report(errors::clause_as_name(ident.span, &ident.node, meant));
        }
        Some(ident)
    }

    /// Returns a name, which must not be a reserved word.
    pub fn checked(&mut self, node: &SyntaxNode) -> Ident {
        let ident = self.ident(node);
        if is_reserved(&ident.node) {
            self.report(errors::reserved_word(ident.span, &ident.node));
        }
        ident
    }

    /// Returns all names that follow.
    pub fn names(&mut self, parts: &mut ChildNodes) -> Vec<Ident> {
        std::iter::from_fn(|| self.name(parts)).collect()
    }

    pub fn literal(&mut self, node: &SyntaxNode) -> Literal {
        let text = node.as_str();
        let span = self.span(node);
        if literal_kind(text.trim_start_matches('-')).is_none() {
            self.report(errors::unknown_unit(span, text));
        }
        Literal { node: text.to_owned(), span }
    }

    pub fn take_literal(&mut self, parts: &mut ChildNodes) -> Option<Literal> {
        parts.accept(Rule::literal).map(|node| self.literal(&node))
    }

    pub fn string(&mut self, node: &SyntaxNode) -> Str {
        let span = self.span(node);
        let inner = node.as_str();
        let inner = inner.get(1..inner.len().saturating_sub(1)).unwrap_or("");
        Str { node: self.unescape(inner, span.start + 1), span }
    }

    pub fn take_string(&mut self, parts: &mut ChildNodes) -> Option<Str> {
        parts.accept(Rule::string).map(|node| self.string(&node))
    }

    /// Returns all strings that follow.
    pub fn strings(&mut self, parts: &mut ChildNodes) -> Vec<Str> {
        std::iter::from_fn(|| self.take_string(parts)).collect()
    }

    /// Returns `/re/` without its slashes, with `\/` unescaped.
    pub fn regex(&self, node: &SyntaxNode) -> Str {
        let inner = node.as_str();
        let inner = inner.get(1..inner.len().saturating_sub(1)).unwrap_or("");
        // Every other escape belongs to the pattern.
        Str { node: inner.replace("\\/", "/"), span: self.span(node) }
    }

    /// Unescapes `raw`, which begins at `at` in the file.
    pub fn unescape(&mut self, raw: &str, at: u32) -> String {
        let Some(first) = raw.find('\\') else { return raw.to_owned() };
        let mut out = String::with_capacity(raw.len());
        out.push_str(&raw[..first]);
        let mut pos = first;
        while let Some(c) = raw[pos..].chars().next() {
            if c != '\\' {
                out.push(c);
                pos += c.len_utf8();
                continue;
            }
            let (meant, length) = escape(&raw[pos..]);
            match meant {
                Some(meant) => out.push(meant),
                None => {
                    let start = at + pos as u32;
                    let span = Span { file: self.file, start, end: start + length as u32 };
                    self.report(errors::unknown_escape(span, &raw[pos..pos + length]));
                }
            }
            pos += length;
        }
        out
    }
}

/// Returns the character of the escape at the start of `raw`, and its length.
fn escape(raw: &str) -> (Option<char>, usize) {
    let mut chars = raw.chars().skip(1);
    let Some(kind) = chars.next() else { return (None, 1) };
    let meant = match kind {
        '"' | '\\' => Some(kind),
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'u' => return unicode_escape(raw),
        _ => None,
    };
    (meant, 1 + kind.len_utf8())
}

/// Reads `\u{1F600}`: one to six hexadecimal digits.
fn unicode_escape(raw: &str) -> (Option<char>, usize) {
    // A seventh digit is read to see that there are too many.
    let digits: String = raw.chars().skip(3).take_while(char::is_ascii_hexdigit).take(7).collect();
    let length = 3 + digits.len() + 1;
    let closed =
        raw.as_bytes().get(2) == Some(&b'{') && raw.as_bytes().get(length - 1) == Some(&b'}');
    if !closed {
        return (None, 2);
    }
    let code = u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() <= 6);
    (code.and_then(char::from_u32), length)
}

/// The kind of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LiteralKind {
    Number,
    Duration,
    Size,
}

/// Returns the kind of literal of `text`; `None` if it is not a literal.
pub(crate) fn literal_kind(text: &str) -> Option<LiteralKind> {
    let whole = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = whole
        .strip_prefix('.')
        .map_or(whole, |f| f.trim_start_matches(|c: char| c.is_ascii_digit()));
    if rest.is_empty() {
        return Some(LiteralKind::Number);
    }
    if rest.len() < whole.len() {
        return None;
    }
    if matches!(rest, "B" | "KiB" | "MiB" | "GiB" | "TiB") {
        return Some(LiteralKind::Size);
    }
    is_duration(text).then_some(LiteralKind::Duration)
}

/// Returns true if a text is a sequence of numbers with units.
fn is_duration(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let unit = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        if unit.len() == rest.len() {
            return false;
        }
        // `ms` comes before `m`, because the first unit that fits is taken.
        let Some(after) = ["ms", "s", "m", "h", "d", "w"].iter().find_map(|u| unit.strip_prefix(u))
        else {
            return false;
        };
        rest = after;
    }
    true
}

/// Returns the text of a documentation line, without the marker and one following space.
fn doc_text(text: &str, start: u32, end: u32) -> String {
    let line = text.get(start as usize + 3..end as usize).unwrap_or("");
    line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()
}
