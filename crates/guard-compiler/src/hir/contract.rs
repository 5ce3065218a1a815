//! Contracts.

use super::{Expr, FactId, RecordId, Type};
use guard_plan::plan::Bounds;
use guard_syntax::span::Span;

/// The shape of a producer's output.
#[derive(Debug, Clone)]
pub struct Contract {
    /// Its name.
    pub name: String,
    /// Its documentation.
    pub doc: String,
    /// Its name in the source.
    pub span: Span,
    /// The document: the envelope's fields and the item lists.
    pub record: RecordId,
    /// Its item lists.
    pub lists: Vec<ItemList>,
    /// How large things may be.
    pub bounds: Bounds,
    /// What members may refer to.
    pub references: Vec<Reference>,
}

/// A list whose elements are judged one by one.
#[derive(Debug, Clone)]
pub struct ItemList {
    /// The member that holds it, after the names of the lists around it.
    pub path: Vec<String>,
    /// The list whose items hold this one.
    pub within: Option<usize>,
    /// The field of the document's record, or of the item's record around it.
    pub field: usize,
    /// What one item looks like.
    pub shape: ItemShape,
    /// How many are kept.
    pub max: Option<u64>,
    /// The member that ranks them.
    pub by: Option<String>,
}

/// What an item looks like.
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
    /// The list whose items refer; none for a member of the envelope.
    pub list: Option<usize>,
    /// The way to what refers, by member.
    pub path: Vec<String>,
    /// What it may refer to.
    pub allowed: Allowed,
    /// As text.
    pub text: String,
    /// The clause.
    pub span: Span,
}

/// What a reference may refer to.
#[derive(Debug, Clone)]
pub enum Allowed {
    /// The rows of a fact.
    Fact(FactId),
    /// A list that the host hands over under this name.
    Given(String),
    /// A collection.
    Values(Expr),
}
