//! Parser and printer for the syntax of the Guard language.
//!
//! [`parse`] never fails: it returns the tree of the valid parts and a diagnostic for every invalid
//! part. [`print()`] writes a tree in the canonical layout; [`format()`] also keeps the author's
//! comments. The crate does not know the meaning of names and types.
//!
//! ```
//! let parse = guard_syntax::parse(guard_syntax::span::FileId(0), "guard demo\ntool lint()\n");
//! assert!(parse.diagnostics.is_empty());
//! assert_eq!(guard_syntax::print(&parse.file), "guard demo\n\ntool lint()\n");
//! ```

pub mod ast;
pub mod diagnostic;
pub mod span;

mod errors;
mod lexical;
mod limits;
mod nearest;
mod parse;
mod print;
mod structure;

pub use errors::CODES;
pub use limits::{MAX_BYTES, MAX_DEPTH};
pub use parse::{Parse, parse};
pub use print::{format, print};

/// Returns the byte ranges of the comments in a text that are not documentation, each with its
/// slashes (syntax §2).
pub fn comments(text: &str) -> Vec<std::ops::Range<usize>> {
    let scan = lexical::scan(span::FileId(0), text);
    let plain = scan.comments.iter().filter(|comment| comment.kind == lexical::CommentKind::Plain);
    plain.map(|comment| comment.start as usize..comment.end as usize).collect()
}
