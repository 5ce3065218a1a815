//! Symbolic values: what an expression comes to, over all states and arguments at once.

use crate::formula::Formula;
use crate::linear::Linear;
use crate::terms::TermId;
use guard_plan::plan::{TypeDef, TypeId};
use std::rc::Rc;

/// The width of a guard's integers, in bits. Tests use small widths, in which a statement can be checked exhaustively.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Width(pub u32);

impl Width {
    /// The width of every guard that runs: 64 bits.
    pub const REAL: Width = Width(64);

    /// The least integer.
    pub fn least(self) -> i128 {
        -(1 << (self.0 - 1))
    }

    /// The greatest integer.
    pub fn greatest(self) -> i128 {
        (1 << (self.0 - 1)) - 1
    }
}

/// The sort of a number. Different sorts never mix.
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
    /// A variant, by index.
    Enum,
    /// A string: equal texts are equal numbers, and their order says nothing.
    Text,
    /// A path, likewise.
    Path,
    /// A url, likewise.
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
    /// A truth value.
    Bool(Formula),
    /// A value where the condition holds, none elsewhere. The value is never itself one.
    Option(Formula, Box<SymbolicValue>),
    /// A record.
    Record(Vec<SymbolicValue>),
    /// A collection.
    Collection(Rc<Collection>),
    /// One of this type, of which nothing else is known: looked into when somebody asks.
    Typed(TypeId, TermId),
    /// Something that is not looked into.
    Opaque(TermId),
}

/// Lists, sets and maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CollectionKind {
    /// A list.
    List,
    /// A set.
    Set,
    /// A map.
    Map,
}

/// A collection: one that is there before the call or written out, and what was done to it since.
#[derive(Debug)]
pub enum Collection {
    /// One that is only known by its term.
    Base {
        /// The term.
        term: TermId,
        /// What it is.
        kind: CollectionKind,
        /// The type of its elements or values.
        of: TypeId,
        /// Most elements.
        max: Option<u64>,
    },
    /// A list or set, written out.
    Literal(CollectionKind, Vec<SymbolicValue>),
    /// A map, written out: texts and values.
    Entries(Vec<(SymbolicValue, SymbolicValue)>),
    /// A list with one more at its end.
    Append(Rc<Collection>, SymbolicValue),
    /// A set with an element.
    Insert(Rc<Collection>, SymbolicValue),
    /// A list without the first element equal to this, or a set without it.
    Remove(Rc<Collection>, SymbolicValue),
    /// A map with this value at this key.
    Put(Rc<Collection>, SymbolicValue, SymbolicValue),
    /// A list with this value at this index, which is there.
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

/// The sort of the numbers that stand for values of a type, with their range; none for other types.
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

/// The encoding takes more than it may, in steps or in the size of numbers: what it was for is not proved, and not given. No
/// term, variable or condition stands for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMuch;

/// The result of an encoding, or [`TooMuch`].
pub(crate) type Encoded<T> = Result<T, TooMuch>;

/// The symbolic outcome of an expression, and the condition under which its evaluation is without fault.
#[derive(Debug, Clone)]
pub(crate) struct SymbolicOutcome {
    /// Its value; where there is a fault, anything.
    pub value: SymbolicValue,
    /// There is no fault.
    pub sound: Formula,
}

impl SymbolicOutcome {
    /// A value that is always there.
    pub fn sound(value: SymbolicValue) -> SymbolicOutcome {
        SymbolicOutcome { value, sound: Formula::True }
    }
}
