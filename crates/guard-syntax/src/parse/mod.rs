//! The parser. `build` parses words and literals, `expr` expressions, `types` types and fields;
//! `items`, `clauses`, `blocks` and `scenario` parse the constructs of these names; `recover` finds
//! the errors in an item that does not parse. Names are not resolved here.

mod blocks;
mod build;
mod clauses;
mod elements;
mod explain;
mod expr;
mod grammar;
mod habits;
mod items;
mod message;
mod recover;
mod scenario;
mod site;
mod types;

use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::errors;
use crate::lexical::{self, Comment, LexFault, Scan, is_reserved};
use crate::limits::{MAX_BYTES, MAX_ERRORS};
use crate::span::{FileId, Span};
use crate::structure::{self, Chunk, Structure};

use build::TreeBuilder;
use std::borrow::Cow;

/// The result of parsing: the tree of the valid parts, and the diagnostics.
#[derive(Debug, Clone, PartialEq)]
pub struct Parse {
    /// The tree, without invalid items and clauses.
    pub file: ast::File,
    /// The diagnostics, in source order.
    pub diagnostics: Vec<Diagnostic>,
    /// The names of the items that could not be parsed. They are declared, but nothing else is
    /// known about them.
    pub dropped: Vec<String>,
}

/// Parses a `.guard` text. It never fails, never panics, and takes linear time.
pub fn parse(file: FileId, text: &str) -> Parse {
    read(file, text).0
}

/// Returns true if a text is a name for the grammar.
pub(crate) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !is_reserved(text)
}

/// The comments, for the formatter.
#[derive(Debug, Default)]
pub(crate) struct Loose {
    /// The comments that are not documentation, in order.
    pub comments: Vec<Comment>,
    /// For each documented node: its start and the start of its documentation.
    pub docs: Vec<(u32, u32)>,
}

/// Parses like [`parse`], and also returns the formatter's input.
pub(crate) fn read(file: FileId, text: &str) -> (Parse, Scan, Structure, Loose) {
    if text.len() > MAX_BYTES {
        let diagnostics = vec![errors::too_large(Span::new(file, 0, 0), text.len())];
        let parse = Parse { file: ast::File::default(), diagnostics, dropped: Vec::new() };
        return (parse, Scan::default(), Structure::default(), Loose::default());
    }
    let mut scan = lexical::scan(file, text);
    let mut structure = structure::structure(file, text, &scan);
    scan.faults.append(&mut structure.faults);
    scan.faults.sort_by_key(|fault| fault.at);
    let bare = without_comments(text, &scan);
    let mut parser = Parser {
        file,
        text: &bare,
        scan: &scan,
        structure: &structure,
        builder: TreeBuilder::new(file, text, &scan),
        dropped: Vec::new(),
    };
    let mut tree = ast::File { docs: parser.builder.file_docs(), header: None, items: Vec::new() };
    parser.chunks(&mut tree);
    let dropped = parser.dropped;
    let (mut diagnostics, loose) = parser.builder.finish();
    diagnostics.extend(scan.faults.iter().filter_map(|fault| fault.diagnostic.as_deref().cloned()));
    diagnostics.sort_by_key(|d| d.primary.span.start);
    diagnostics.truncate(MAX_ERRORS);
    (Parse { file: tree, diagnostics, dropped }, scan, structure, loose)
}

/// Returns the text with every comment overwritten by spaces, so that all positions stay the same.
fn without_comments<'t>(text: &'t str, scan: &Scan) -> Cow<'t, str> {
    if scan.comments.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for comment in &scan.comments {
        out.push_str(&text[out.len()..comment.start as usize]);
        out.extend(std::iter::repeat_n(' ', (comment.end - comment.start) as usize));
    }
    out.push_str(&text[out.len()..]);
    Cow::Owned(out)
}

/// The parser of one file.
struct Parser<'t> {
    file: FileId,
    text: &'t str,
    scan: &'t Scan,
    structure: &'t Structure,
    builder: TreeBuilder<'t>,
    dropped: Vec<String>,
}

impl<'t> Parser<'t> {
    fn chunks(&mut self, tree: &mut ast::File) {
        let mut header = None;
        for (index, chunk) in self.structure.chunks.iter().enumerate() {
            if self.builder.diagnostics.len() > MAX_ERRORS {
                return;
            }
            let word = self.scan.tokens[chunk.first].text(self.text);
            if word == "guard" {
                self.header(*chunk, index, &mut header, tree);
            } else if let Some(item) = self.item(*chunk, word) {
                tree.items.push(item);
            } else if let Some(name) = self.scan.tokens[chunk.first..chunk.last].get(1) {
                self.dropped.push(name.text(self.text).to_string());
            }
        }
    }

    fn header(
        &mut self,
        chunk: Chunk,
        index: usize,
        first: &mut Option<Span>,
        tree: &mut ast::File,
    ) {
        // The words on the first line that may belong to the header.
        let site = self.site(chunk.first, chunk.last);
        let words = (chunk.first + 1..chunk.last.min(chunk.first + 5))
            .take_while(|&i| !site.fresh_line(i))
            .count();
        let span = self.chunk_span(Chunk { last: chunk.first + 1 + words, ..chunk });
        if let Some(earlier) = *first {
            self.builder.report(errors::second_header(span, earlier));
            return;
        }
        if index > 0 {
            self.builder.report(errors::late_header(span));
        }
        *first = Some(span);
        tree.header = Some(self.read_header(chunk));
    }

    fn item(&mut self, chunk: Chunk, word: &str) -> Option<ast::FileItem> {
        let Some(rule) = items::rule_of(word) else { return self.unknown_item(chunk) };
        if !self.faulty(chunk) {
            let (start, end) = self.bounds(chunk);
            if let Some(pair) = grammar::whole(rule, &self.text[start..end]) {
                return self.builder.item(start as i64, pair);
            }
        }
        self.recover_item(chunk, rule)
    }

    /// Returns true if the chunk contains a lexical or bracket fault.
    fn faulty(&self, chunk: Chunk) -> bool {
        !self.faults(chunk).is_empty()
    }

    fn faults(&self, chunk: Chunk) -> &'t [LexFault] {
        let (start, end) = self.bounds(chunk);
        let faults = &self.scan.faults;
        let from = faults.partition_point(|f| (f.at as usize) < start);
        let to = faults.partition_point(|f| (f.at as usize) < end);
        &faults[from..to.max(from)]
    }

    /// Returns the first byte of a chunk, and the byte after it.
    fn bounds(&self, chunk: Chunk) -> (usize, usize) {
        let tokens = &self.scan.tokens[chunk.first..chunk.last];
        match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => (first.start as usize, last.end as usize),
            _ => (0, 0),
        }
    }

    fn chunk_span(&self, chunk: Chunk) -> Span {
        let (start, end) = self.bounds(chunk);
        Span::new(self.file, start, end)
    }
}
