//! Printing of a tree in the canonical layout: two spaces of indentation, a soft width of 100
//! columns.
//!
//! `page` writes lines and comments, `expr` and `text` write the contents of a line; `items`,
//! `blocks`, `clauses` and `steps` print the constructs of these names. The layout has no options.

mod blocks;
mod clauses;
mod expr;
mod items;
mod page;
mod steps;
mod text;

use crate::ast::{File, FileItem, ItemKind};
use crate::diagnostic::Diagnostic;
use crate::lexical::Scan;
use crate::parse::{self, Loose};
use crate::span::FileId;
use crate::structure::Structure;
use page::{PrintedText, SourceText};

/// Prints a tree. Parsing the text gives the same tree.
pub fn print(file: &File) -> String {
    write(file, PrintedText::new(None))
}

/// Formats a text in the canonical layout, with all its comments.
///
/// # Errors
///
/// Returns the errors of the text, if it has any.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let (parse, scan, structure, loose) = parse::read(FileId(0), text);
    if parse.diagnostics.iter().any(Diagnostic::is_error) {
        return Err(parse.diagnostics);
    }
    Ok(write(&parse.file, PrintedText::new(Some(source(text, &scan, &structure, loose)))))
}

fn source<'t>(text: &'t str, scan: &Scan, structure: &Structure, loose: Loose) -> SourceText<'t> {
    let place = |token: u32| scan.tokens.get(token as usize).map_or(0, |t| t.start);
    let mut brackets: Vec<(u32, u32)> =
        structure.partners.iter().map(|&(o, c)| (place(c), place(o))).collect();
    brackets.sort_unstable();
    SourceText { text, comments: loose.comments, docs: loose.docs, brackets }
}

/// Returns the class of an item. Adjacent items of the same class stay together as the author wrote
/// them.
fn class(item: &FileItem) -> u8 {
    match &item.kind {
        ItemKind::Use(_) => 1,
        ItemKind::Budget(_) | ItemKind::Deadline(_) => 2,
        ItemKind::Enum(_) => 3,
        ItemKind::Record(_) | ItemKind::Union(_) => 4,
        ItemKind::Alias(_) => 5,
        ItemKind::Tool(_) => 6,
        ItemKind::Group(_) => 7,
        ItemKind::Invariant(_) => 8,
        ItemKind::Fact(_) => 9,
        ItemKind::Define(_) => 10,
        ItemKind::Statement(_) => 11,
        _ => 0,
    }
}

fn write(file: &File, mut page: PrintedText) -> String {
    if !file.docs.is_empty() {
        page.above_file_docs();
        page.docs(&file.docs, "//!");
        page.push("\n");
    }
    let mut before: Option<(u8, bool)> = None;
    if let Some(header) = &file.header {
        let span = header.span.0;
        if !page.out.is_empty() && !page.comment_before(span.end) {
            page.out.pop();
        }
        page.lead(span.start, span.end, &[], true);
        page.header(header);
        page.trail(span.end);
        before = Some((0, false));
    }
    for item in &file.items {
        let mark = page.out.len();
        let span = item.span.0;
        let place = page.start(span.start);
        let front_end = page.front_end(item);
        let adjacent = !page.blank_before(place) && !page.comment_before(front_end);
        page.lead(span.start, front_end, &item.docs, true);
        let text_start = page.out.len();
        page.item(item);
        let one_line = !page.out[text_start..].contains('\n');
        page.trail(span.end);
        let this = (class(item), one_line);
        let together = adjacent && one_line && this.0 != 0 && before == Some(this);
        if mark > 0 && !together && !page.out[..mark].ends_with("\n\n") && before.is_some() {
            page.out.insert(mark, '\n');
        }
        before = Some(this);
    }
    // A blank line follows the documentation in any case.
    page.dangling(u32::MAX, file.header.is_none() && file.items.is_empty());
    if !page.out.is_empty() && !page.out.ends_with('\n') {
        page.push("\n");
    }
    page.out
}
