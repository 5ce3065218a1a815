//! Contracts: the shape of a producer's output, and what becomes of units that break it (semantics §14).

use super::*;

/// A contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// Its name.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// Where it is declared.
    pub span: SpanId,
    /// What the document is.
    pub root: Root,
    /// The document: a record of the envelope's fields and, as lists, of its items. Where it is no
    /// envelope, its only field: `items` or `value`.
    pub record: TypeId,
    /// Its item lists, parents before those within their items.
    pub lists: Vec<ItemList>,
    /// How large things may be.
    pub bounds: Bounds,
    /// What members may refer to.
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
    /// The list whose items hold this one, by position; none where the document does.
    pub within: Option<u32>,
    /// The field of the document's record, or of the item's record around it.
    pub field: u32,
    /// Its name there.
    pub name: String,
    /// What one item looks like.
    pub shape: ItemShape,
    /// How many are kept.
    pub max: Option<u64>,
    /// The member that ranks them, least first; the first ones are kept where there is none.
    pub by: Option<String>,
    /// An item that the end of the text cuts counts if all its members are complete.
    pub partial: bool,
}

/// The type or schema of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum ItemShape {
    /// A record of the guard.
    Type(TypeId),
    /// A JSON Schema from elsewhere: the file it was read from, and its text.
    Schema {
        /// The file's name as written.
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
    /// How deep an item nests; an item without members is 1 deep.
    pub depth: u32,
    /// How long a string in it is, in characters.
    pub string: u64,
    /// How long its text is, in bytes.
    pub bytes: u64,
    /// How many units of the quarantine are kept; all are counted.
    pub quarantine: u32,
}

/// `reference a.b in e`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The list whose items refer, by position; none for a member of the envelope.
    pub list: Option<u32>,
    /// The way to what refers, by member; through lists on the way to every element.
    pub path: Vec<String>,
    /// What it may refer to.
    pub allowed: Allowed,
    /// As text.
    pub text: String,
    /// Where it stands.
    pub span: SpanId,
}

/// The set of values that a reference may refer to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Allowed {
    /// The rows of a fact, by its first column.
    Fact(FactId),
    /// A list that the host hands over under this name; without one nothing is checked.
    Given(String),
    /// The elements of a list or set, or the keys of a map.
    Values(Expr),
}
