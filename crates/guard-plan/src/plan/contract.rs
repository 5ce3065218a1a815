//! Contracts: the shape of a producer's output, and the treatment of units that violate it
//! (semantics §14).

use super::*;

/// A contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// The name of the contract.
    pub name: String,
    /// The `///` text.
    pub doc: String,
    /// The source position of the declaration.
    pub span: SpanId,
    /// The form of the document.
    pub root: Root,
    /// The document as a record: the envelope's fields and, as lists, its items. If the document is
    /// not an envelope, the record has one field: `items` or `value`.
    pub record: TypeId,
    /// The item lists, in which a list precedes the lists within its items.
    pub lists: Vec<ItemList>,
    /// The size limits.
    pub bounds: Bounds,
    /// The references that members must satisfy.
    pub references: Vec<Reference>,
}

/// The form of a contract's document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Root {
    /// An object of members and lists.
    #[default]
    Envelope,
    /// A list of items.
    Items,
    /// One value.
    Value,
}

/// A list whose elements are judged one by one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ItemList {
    /// The list whose items contain this one, by index; none if the document contains it.
    pub within: Option<u32>,
    /// The index of the field in the document's record, or in the record of the enclosing item.
    pub field: u32,
    /// The name of that field.
    pub name: String,
    /// The shape of one item.
    pub shape: ItemShape,
    /// The maximum number of items that are kept.
    pub max: Option<u64>,
    /// The member by which items are ranked, lowest first. Without one, the first items are kept.
    pub by: Option<String>,
    /// True if an item that is cut off by the end of the text counts when all its members are
    /// complete.
    pub partial: bool,
}

/// The type or schema of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum ItemShape {
    /// A record of the guard.
    Type(TypeId),
    /// A JSON Schema from outside the guard: the file from which it was read, and its text.
    Schema {
        /// The file name as written.
        file: String,
        /// The schema, as JSON.
        text: String,
    },
}

/// The size limits of items and of the quarantine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// The maximum nesting depth of an item. An item without members has depth 1.
    pub depth: u32,
    /// The maximum length of a string in an item, in characters.
    pub string: u64,
    /// The maximum length of an item's text, in bytes.
    pub bytes: u64,
    /// The maximum number of quarantined units that are kept. All of them are counted.
    pub quarantine: u32,
}

/// `reference a.b in e`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The list whose items contain the reference, by index; none for a member of the envelope.
    pub list: Option<u32>,
    /// The path to the referring member, by member names. A list on the path stands for each of its
    /// elements.
    pub path: Vec<String>,
    /// The values that it may refer to.
    pub allowed: Allowed,
    /// The reference as text.
    pub text: String,
    /// The source position of the reference.
    pub span: SpanId,
}

/// The set of values that a reference may refer to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Allowed {
    /// The rows of a fact, by its first column.
    Fact(FactId),
    /// A list with this name from the host. Without such a list, nothing is checked.
    Given(String),
    /// The elements of a list or set, or the keys of a map.
    Values(Expr),
}
