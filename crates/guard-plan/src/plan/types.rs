//! Types of the plan: the rows of its table of types, and fields, which have names and types.

use super::*;

/// One type with its refinements (language reference §4).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum TypeDef {
    /// `bool`.
    Bool,
    /// `int in min..=max`.
    Int {
        /// The minimum value.
        min: Option<i64>,
        /// The maximum value.
        max: Option<i64>,
    },
    /// `decimal in min..=max`, in units of 10⁻⁶.
    Decimal {
        /// The minimum value.
        min: Option<i64>,
        /// The maximum value.
        max: Option<i64>,
    },
    /// `string max N matches /re/`.
    String {
        /// The maximum number of characters.
        max_chars: Option<u64>,
        /// The maximum number of bytes.
        max_bytes: Option<u64>,
        /// The patterns. Each of them must match somewhere in the string.
        patterns: Vec<RegexId>,
    },
    /// `path`.
    Path,
    /// `url`.
    Url,
    /// `duration in min..=max`.
    Duration {
        /// The minimum value.
        min: Option<Millis>,
        /// The maximum value.
        max: Option<Millis>,
    },
    /// `time`, in RFC 3339 unless a format (a subset of `%Y-%m-%d %H:%M:%S`) is given.
    Time {
        /// The format.
        format: Option<String>,
    },
    /// An enum.
    Enum {
        /// The name of the enum.
        name: String,
        /// The names of the variants. A value is an index.
        variants: Vec<String>,
    },
    /// A record.
    Record {
        /// The name of the record.
        name: String,
        /// The fields of the record.
        fields: Vec<Field>,
    },
    /// One of several records, distinguished by a member with a literal text; only in contracts.
    Union {
        /// The name of the union.
        name: String,
        /// The member that distinguishes the cases.
        tag: String,
        /// The cases of the union.
        cases: Vec<UnionCase>,
    },
    /// `list<T> max N`.
    List {
        /// The element type.
        of: TypeId,
        /// The maximum number of elements.
        max: Option<u64>,
    },
    /// `set<T> max N`.
    Set {
        /// The element type.
        of: TypeId,
        /// The maximum number of elements.
        max: Option<u64>,
    },
    /// `map<K, T> max N`.
    Map {
        /// The type of the keys, if they are not strings: `bool`, `int` or an enum. A value stores
        /// its keys as texts.
        key: Option<TypeId>,
        /// The type of the values.
        of: TypeId,
        /// The maximum number of entries.
        max: Option<u64>,
    },
    /// `T?`.
    Option {
        /// The type of the value if it is present; never an option itself.
        of: TypeId,
    },
    /// `json`: passed through and measured.
    Json,
    /// `command`: a text that a shell runs.
    Command,
}

/// A case of a union.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UnionCase {
    /// The literal text of the tag member.
    pub tag: String,
    /// The record with the other members.
    pub ty: TypeId,
}

/// A parameter, a record field or a fact column.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// The name in JSON.
    pub name: String,
    /// The type.
    pub ty: TypeId,
    /// True if the value is secret and never leaves the kernel in clear text.
    pub secret: bool,
    /// The `///` text.
    pub doc: String,
}
