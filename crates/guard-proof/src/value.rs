//! Symbolic values: the value of an expression over all states and arguments at once.

use crate::formula::Formula;
use crate::linear::Linear;
use crate::terms::TermId;
use guard_plan::plan::{TypeDef, TypeId};
use std::rc::Rc;

/// The width of a guard's integers, in bits. Tests use small widths, for which a statement can be
/// checked exhaustively.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Width(pub u32);

impl Width {
    /// The width of every guard outside of tests: 64 bits.
    pub const REAL: Width = Width(64);

    /// Returns the minimum integer.
    pub fn least(self) -> i128 {
        -(1 << (self.0 - 1))
    }

    /// Returns the maximum integer.
    pub fn greatest(self) -> i128 {
        (1 << (self.0 - 1)) - 1
    }
}

/// The sort of a number. Different sorts are never mixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sort {
    /// `int`.
    Int,
    /// `decimal`, in units of 10⁻⁶.
    Decimal,
    /// `duration`.
    Duration,
    /// `time`.
    Time,
    /// A variant of an enum, by index.
    Enum,
    /// A string. Equal texts are equal numbers, and their order has no meaning.
    Text,
    /// A path, as a number like a string.
    Path,
    /// A URL, as a number like a string.
    Url,
}

impl Sort {
    /// Returns true if `<` is defined for the sort.
    pub fn is_ordered(self) -> bool {
        !matches!(self, Sort::Text | Sort::Path | Sort::Url)
    }

    /// Returns true if arithmetic is defined for the sort.
    pub fn is_number(self) -> bool {
        self.is_ordered() && self != Sort::Enum
    }
}

/// A symbolic value.
#[derive(Debug, Clone)]
pub enum SymbolicValue {
    /// A number, variant or text.
    Number(Sort, Linear),
    /// A boolean.
    Bool(Formula),
    /// A value if the condition holds, otherwise none. The value is never an option itself.
    Option(Formula, Box<SymbolicValue>),
    /// A record.
    Record(Vec<SymbolicValue>),
    /// A collection.
    Collection(Rc<Collection>),
    /// A value of this type about which nothing else is known. Its structure is created when it is
    /// needed.
    Typed(TypeId, TermId),
    /// A value that is not interpreted.
    Opaque(TermId),
}

/// The kinds of collections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CollectionKind {
    /// A list.
    List,
    /// A set.
    Set,
    /// A map.
    Map,
}

/// A collection: one that exists before the call or is a literal, and the changes to it since.
#[derive(Debug)]
pub enum Collection {
    /// A collection that is known only by its term.
    Base {
        /// The term.
        term: TermId,
        /// The kind of the collection.
        kind: CollectionKind,
        /// The type of its elements or values.
        of: TypeId,
        /// The maximum number of elements.
        max: Option<u64>,
    },
    /// A literal list or set.
    Literal(CollectionKind, Vec<SymbolicValue>),
    /// A literal map: keys as texts, and values.
    Entries(Vec<(SymbolicValue, SymbolicValue)>),
    /// A list with one more element at its end.
    Append(Rc<Collection>, SymbolicValue),
    /// A set with one more element.
    Insert(Rc<Collection>, SymbolicValue),
    /// A list without the first element equal to this, or a set without it.
    Remove(Rc<Collection>, SymbolicValue),
    /// A map with this value at this key.
    Put(Rc<Collection>, SymbolicValue, SymbolicValue),
    /// A list with this value at this index, which exists.
    Replace(Rc<Collection>, SymbolicValue, SymbolicValue),
    /// A map without this key.
    Drop(Rc<Collection>, SymbolicValue),
}

impl Collection {
    /// Returns the kind of the collection.
    pub fn kind(&self) -> CollectionKind {
        match self {
            Collection::Base { kind, .. } | Collection::Literal(kind, _) => *kind,
            Collection::Entries(_) | Collection::Put(..) | Collection::Drop(..) => {
                CollectionKind::Map
            }
            Collection::Append(..) | Collection::Replace(..) => CollectionKind::List,
            Collection::Insert(..) => CollectionKind::Set,
            Collection::Remove(base, _) => base.kind(),
        }
    }
}

/// Returns the sort and the range of the numbers that stand for values of a type; `None` for other
/// types.
pub(crate) fn number_of(def: &TypeDef, width: Width) -> Option<(Sort, Option<i128>, Option<i128>)> {
    let bounded = |sort, min: &Option<i64>, max: &Option<i64>| {
        let least = min.map_or(width.least(), i128::from);
        let greatest = max.map_or(width.greatest(), i128::from);
        let greatest = greatest - i128::from(mutant!("a type ends one earlier"));
        let least = least + i128::from(mutant!("a type begins one later"));
        Some((sort, Some(least), Some(greatest)))
    };
    match def {
        TypeDef::Int { min, max } => bounded(Sort::Int, min, max),
        TypeDef::Decimal { min, max } => bounded(Sort::Decimal, min, max),
        TypeDef::Duration { min, max } => bounded(Sort::Duration, min, max),
        TypeDef::Time { .. } => bounded(Sort::Time, &None, &None),
        TypeDef::Enum { variants, .. } => {
            let last = variants.len() as i128 - 1;
            Some((Sort::Enum, Some(0), Some(last - i128::from(mutant!("an enum lacks a variant")))))
        }
        TypeDef::String { .. } | TypeDef::Command => Some((Sort::Text, None, None)),
        TypeDef::Path => Some((Sort::Path, None, None)),
        TypeDef::Url => Some((Sort::Url, None, None)),
        _ => None,
    }
}

/// The error of an encoding that exceeds its limits, in steps or in the size of numbers. The
/// statement is then neither proved nor given. No term, variable or condition stands for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMuch;

/// The result of an encoding, or [`TooMuch`].
pub(crate) type Encoded<T> = Result<T, TooMuch>;

/// The symbolic outcome of an expression, and the condition under which its evaluation is without fault.
#[derive(Debug, Clone)]
pub(crate) struct SymbolicOutcome {
    /// The value; unspecified if there is a fault.
    pub value: SymbolicValue,
    /// The condition that there is no fault.
    pub sound: Formula,
}

impl SymbolicOutcome {
    /// Returns a value whose evaluation is never a fault.
    pub fn sound(value: SymbolicValue) -> SymbolicOutcome {
        SymbolicOutcome { value, sound: Formula::True }
    }
}
