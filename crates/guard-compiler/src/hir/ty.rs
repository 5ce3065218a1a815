//! Types of values.

use super::*;

/// A type with its refinements.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// `bool`.
    Bool,
    /// `int`, within these bounds.
    Int(Option<i64>, Option<i64>),
    /// `decimal`, within these bounds, in units of 10⁻⁶.
    Decimal(Option<i64>, Option<i64>),
    /// `string`.
    String(StringBounds),
    /// `path`.
    Path,
    /// `url`.
    Url,
    /// `command`: a text that a shell runs.
    Command,
    /// `duration`, within these bounds.
    Duration(Option<Millis>, Option<Millis>),
    /// `time` with its format.
    Time(Option<Arc<str>>),
    /// An enum.
    Enum(EnumId),
    /// A record.
    Record(RecordId),
    /// `list<T> max N`.
    List(Arc<Type>, Option<u64>),
    /// `set<T> max N`.
    Set(Arc<Type>, Option<u64>),
    /// `map<K, T> max N`.
    Map(MapKey, Arc<Type>, Option<u64>),
    /// `T?`, where T is not an option.
    Option(Arc<Type>),
    /// `json`.
    Json,
    /// The type of `none` and of the elements of `[]` and `{}`. It fits every option, element and
    /// entry.
    Never,
    /// The type of an expression with a reported error. It fits everything.
    Error,
}

/// The key type of a map. A value of the map has the keys as texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MapKey {
    /// Strings.
    Text,
    /// `true` and `false`.
    Bool,
    /// Ints, in decimal notation.
    Int,
    /// Variants of an enum, by their names.
    Enum(EnumId),
}

impl MapKey {
    /// Returns the type of the keys.
    pub fn ty(self) -> Type {
        match self {
            MapKey::Text => Type::string(),
            MapKey::Bool => Type::Bool,
            MapKey::Int => Type::int(),
            MapKey::Enum(id) => Type::Enum(id),
        }
    }
}

/// The refinements of a string.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct StringBounds {
    /// The maximum number of characters.
    pub max_chars: Option<u64>,
    /// The maximum number of bytes.
    pub max_bytes: Option<u64>,
    /// Patterns that must match.
    pub patterns: Vec<Arc<str>>,
}

impl Type {
    /// A string without refinement.
    pub fn string() -> Type {
        Type::String(StringBounds::default())
    }

    /// An int without refinement.
    pub fn int() -> Type {
        Type::Int(None, None)
    }

    /// A decimal without refinement.
    pub fn decimal() -> Type {
        Type::Decimal(None, None)
    }

    /// A duration without refinement.
    pub fn duration() -> Type {
        Type::Duration(None, None)
    }

    /// Returns `T?`; an option stays unchanged.
    pub fn optional(self) -> Type {
        match self {
            Type::Option(_) | Type::Error => self,
            other => Type::Option(Arc::new(other)),
        }
    }

    /// Returns the type of a present value.
    pub fn required(&self) -> &Type {
        match self {
            Type::Option(inner) => inner,
            other => other,
        }
    }

    /// Returns true if it is an option.
    pub fn is_option(&self) -> bool {
        matches!(self, Type::Option(_))
    }
}
