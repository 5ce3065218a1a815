//! Contracts.

use super::{Expr, FactId, RecordId, Type};
use guard_plan::plan::{Bounds, Root};
use guard_syntax::span::Span;

/// The shape of a producer's output.
#[derive(Debug, Clone)]
pub struct Contract {
    /// The name.
    pub name: String,
    /// The documentation.
    pub doc: String,
    /// The position of its name in the source.
    pub span: Span,
    /// The kind of document.
    pub root: Root,
    /// The record of the document: the fields of the envelope and the item lists.
    pub record: RecordId,
    /// The item lists.
    pub lists: Vec<ItemList>,
    /// The limits on sizes and depths.
    pub bounds: Bounds,
    /// The references of members.
    pub references: Vec<Reference>,
}

/// A list whose elements are judged one by one.
#[derive(Debug, Clone)]
pub struct ItemList {
    /// The member that holds it, after the names of the lists around it.
    pub path: Vec<String>,
    /// The names of these members in JSON.
    pub wire: Vec<String>,
    /// The list whose items hold this one.
    pub within: Option<usize>,
    /// The field of the document's record, or of the outer item's record.
    pub field: usize,
    /// The shape of an item.
    pub shape: ItemShape,
    /// The maximum number of kept items.
    pub max: Option<u64>,
    /// The member that ranks items, by its name in JSON.
    pub by: Option<String>,
    /// True if an item that is cut off by the end of the text counts when all its members are
    /// complete.
    pub partial: bool,
}

/// The shape of an item.
#[derive(Debug, Clone)]
pub enum ItemShape {
    /// A record.
    Type(Type),
    /// A JSON Schema: its file as written, and its text.
    Schema(String, String),
}

/// `reference a.b in e`.
#[derive(Debug, Clone)]
pub struct Reference {
    /// The list whose items contain the reference; `None` for a member of the envelope.
    pub list: Option<usize>,
    /// The path to the referring member, by names in JSON.
    pub path: Vec<String>,
    /// The allowed values.
    pub allowed: Allowed,
    /// The reference as text.
    pub text: String,
    /// The position of the clause.
    pub span: Span,
}

/// The allowed values of a reference.
#[derive(Debug, Clone)]
pub enum Allowed {
    /// The rows of a fact.
    Fact(FactId),
    /// A list that the host provides under this name.
    Given(String),
    /// A collection.
    Values(Expr),
}
