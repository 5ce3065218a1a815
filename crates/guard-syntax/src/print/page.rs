//! The text that is being written: indentation, comments, blank lines.
//!
//! The module uses only the spans and the documentation of the tree. Without a source it writes no
//! comments, and only the blank lines that the layout requires.

use crate::lexical::{Comment, CommentKind};
use crate::span::Span;

/// The formatter's information about the source text.
pub(super) struct SourceText<'t> {
    pub text: &'t str,
    /// The comments that are not documentation, in order.
    pub comments: Vec<Comment>,
    /// For each documented node: its start and the start of its documentation.
    pub docs: Vec<(u32, u32)>,
    /// The opening bracket of each closing bracket, sorted by the closing one.
    pub brackets: Vec<(u32, u32)>,
}

/// Text being written.
pub(super) struct PrintedText<'t> {
    pub out: String,
    pub indent: usize,
    /// True while testing if the text fits on one line.
    pub trying: bool,
    source: Option<SourceText<'t>>,
    /// The next comment to write.
    next: usize,
}

impl<'t> PrintedText<'t> {
    pub fn new(source: Option<SourceText<'t>>) -> Self {
        PrintedText { out: String::new(), indent: 0, trying: false, source, next: 0 }
    }

    pub fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Begins a new line, indented.
    pub fn line(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.extend(std::iter::repeat_n(' ', self.indent));
    }

    /// Returns the width of the current line.
    pub fn column(&self) -> usize {
        let start = self.out.rfind('\n').map_or(0, |n| n + 1);
        self.out[start..].chars().count()
    }

    /// Returns true if the author wrote this on one line and without comments.
    pub fn was_one_line(&self, span: Span) -> bool {
        let Some(source) = &self.source else { return false };
        let text = source.text.get(span.start as usize..span.end as usize);
        text.is_some_and(|t| !t.contains('\n')) && !self.comment_before(span.end)
    }

    /// Returns true if there is an unwritten comment before `end`.
    pub fn comment_before(&self, end: u32) -> bool {
        self.peek().is_some_and(|c| c.start < end)
    }

    fn peek(&self) -> Option<Comment> {
        self.source.as_ref()?.comments.get(self.next).copied()
    }

    /// Returns the position of the opening brace for the brace at the end of `span`.
    pub fn opened(&self, span: Span) -> u32 {
        let Some(source) = &self.source else { return span.end };
        let close = span.end.saturating_sub(1);
        if source.text.as_bytes().get(close as usize) != Some(&b'}') {
            return span.end;
        }
        match source.brackets.binary_search_by_key(&close, |&(close, _)| close) {
            Ok(at) => source.brackets[at].1,
            Err(_) => span.end,
        }
    }

    /// Returns true if there is an empty line before this position in the source.
    pub fn blank_before(&self, place: u32) -> bool {
        let Some(source) = &self.source else { return false };
        let Some(before) = source.text.get(..place as usize) else { return false };
        let gap = before.len() - before.trim_end().len();
        before[before.len() - gap..].bytes().filter(|&b| b == b'\n').count() > 1
    }

    /// Returns the start of a node, including its documentation.
    pub fn start(&self, start: u32) -> u32 {
        let Some(source) = &self.source else { return start };
        source
            .docs
            .binary_search_by_key(&start, |&(node, _)| node)
            .map_or(start, |at| source.docs[at].1)
    }

    /// Begins an element on a new line: comments and blank lines before it, its documentation, comments
    /// from inside it up to `front_end`.
    pub fn lead(&mut self, start: u32, front_end: u32, docs: &[String], mut first: bool) {
        let place = self.start(start);
        while self.comment_before(place) {
            self.own_line(&mut first);
        }
        if !first && self.blank_before(place) {
            self.out.push('\n');
        }
        self.docs(docs, "///");
        // The documentation stays above what it describes.
        while self.comment_before(front_end) {
            self.line();
            self.comment();
        }
        self.line();
    }

    /// Writes the comments before the documentation of the file: licences, directives.
    pub fn above_file_docs(&mut self) {
        let Some(source) = &self.source else { return };
        let docs_from = |from: usize| source.text[from..].find("//!").map_or(from, |at| from + at);
        let mut place = docs_from(0);
        // An ordinary comment may contain `//!` as well.
        for comment in &source.comments {
            if (comment.start as usize..comment.end as usize).contains(&place) {
                place = docs_from(comment.end as usize);
            }
        }
        let place = place as u32;
        let mut first = true;
        while self.comment_before(place) {
            self.own_line(&mut first);
        }
        if !first && self.blank_before(place) {
            self.push("\n");
        }
    }

    pub fn docs(&mut self, docs: &[String], marker: &str) {
        for line in docs {
            self.line();
            self.push(marker);
            if !line.is_empty() {
                self.push(" ");
                self.push(line);
            }
        }
    }

    /// Writes the next comment on its own line, with its preceding blank line.
    fn own_line(&mut self, first: &mut bool) {
        if !*first && self.peek().is_some_and(|c| self.blank_before(c.start)) {
            self.out.push('\n');
        }
        *first = false;
        self.line();
        self.comment();
    }

    /// Writes the next comment. A comment that looks like documentation becomes an ordinary one.
    fn comment(&mut self) {
        let Some(comment) = self.peek() else { return };
        self.next += 1;
        let text = self
            .source
            .as_ref()
            .and_then(|s| s.text.get(comment.start as usize..comment.end as usize));
        let text = text.unwrap_or("").trim_end();
        match comment.kind {
            CommentKind::Plain => self.out.push_str(text),
            CommentKind::Doc | CommentKind::FileDoc => {
                let rest = text.get(3..).unwrap_or("");
                // The comment must not look like documentation again.
                self.out.push_str(if rest.starts_with(['/', '!']) { "// " } else { "//" });
                self.out.push_str(rest);
            }
        }
    }

    /// Writes the comment after the element that ends at `end`, on the same line.
    pub fn trail(&mut self, end: u32) {
        let (Some(comment), Some(source)) = (self.peek(), &self.source) else { return };
        let gap = source.text.get(end as usize..comment.start as usize);
        if gap.is_some_and(|gap| gap.chars().all(|c| matches!(c, ' ' | '\t' | '\r' | ',' | ';'))) {
            self.push("  ");
            self.comment();
        }
    }

    /// Writes the comments before a closing bracket, each on its own line.
    pub fn dangling(&mut self, close: u32, mut first: bool) {
        while self.comment_before(close) {
            self.own_line(&mut first);
        }
    }
}
