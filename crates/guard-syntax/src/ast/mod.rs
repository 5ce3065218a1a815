//! The abstract syntax tree of a `.guard` file.
//!
//! One type per construct of the language reference, spans everywhere, literals as they were written
//! (their values are judged by the compiler's `types` room). Knows nothing about names, types or pest.
//! Equality of trees ignores spans: two files that say the same are equal however they are laid out.

mod clauses;
mod expr;
mod session;
mod tests;

pub use clauses::*;
pub use expr::*;
pub use session::*;
pub use tests::*;

use crate::span::Span;

/// A node that occupies a range of the source. Equality compares the value only.
#[derive(Debug, Clone)]
pub struct Spanned<T> {
    /// What was written.
    pub node: T,
    /// Where it was written.
    pub span: Span,
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.node == other.node
    }
}

/// An identifier as written.
pub type Ident = Spanned<String>;
/// A plain string literal, unescaped.
pub type Str = Spanned<String>;
/// A literal kept as its source text: a number (`50.00`), a duration (`1h30m`) or a size (`1MiB`).
pub type Literal = Spanned<String>;

/// One source file: header, then items in any order (language reference §3).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct File {
    /// The `//!` lines at the top, without the marker and one following blank.
    pub docs: Vec<String>,
    /// `guard NAME`, absent in a library file and where it is broken.
    pub header: Option<Header>,
    /// Everything after the header, in source order. Broken items are absent; their diagnostics are not.
    pub items: Vec<Item>,
}

/// `guard NAME [edition N] [shadow]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// The guard's name.
    pub name: Ident,
    /// `edition N`, as written.
    pub edition: Option<Literal>,
    /// The whole guard is in shadow: evaluated and recorded, without effect.
    pub shadow: bool,
    /// The whole header line.
    pub span: SpanEq,
}

/// A span that never distinguishes two trees.
#[derive(Debug, Clone, Copy)]
pub struct SpanEq(pub Span);

impl PartialEq for SpanEq {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// One item with its documentation.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The `///` lines before it.
    pub docs: Vec<String>,
    /// What it declares.
    pub kind: ItemKind,
    /// From its first keyword to its end, documentation excluded.
    pub span: SpanEq,
}

/// Every item of the language (reference §3).
#[derive(Debug, Clone, PartialEq)]
pub enum ItemKind {
    /// `use "path"` or `use std.NAME`.
    Use(UseTarget),
    /// `default allow`.
    DefaultAllow,
    /// `enum NAME { a, b, "c d" }`.
    Enum(Enum),
    /// `record NAME { field: type … }`.
    Record(Record),
    /// `type NAME = TYPE`.
    Alias(Alias),
    /// `state { … }`.
    State(Vec<StateVar>),
    /// `budget UNIT = N`.
    Budget(Budget),
    /// `deadline D`.
    Deadline(Literal),
    /// `tool NAME(…) { … }`.
    Tool(Tool),
    /// `group NAME = { … }`.
    Group(Group),
    /// `policy NAME for TOOLS { … }`.
    Policy(Policy),
    /// `invariant NAME [MODE] { e }`.
    Invariant(Invariant),
    /// `fact NAME(columns) [max N]`.
    Fact(Fact),
    /// `source prompt { learn … }`.
    Source(Source),
    /// `lifecycle NAME { … }`.
    Lifecycle(Lifecycle),
    /// `probe NAME { … }`.
    Probe(Probe),
    /// `feedback NAME TRIGGERS { … }`.
    Feedback(Feedback),
    /// `completion { … }`.
    Completion(Completion),
    /// `attest NAME { … }`.
    Attest(Attest),
    /// `goal NAME { e … }`.
    Goal(Goal),
    /// `contract NAME { … }`.
    Contract(Contract),
    /// `test "…" { … }`.
    Test(Test),
}

/// What a `use` names.
#[derive(Debug, Clone, PartialEq)]
pub enum UseTarget {
    /// `use "common/limits.guard"`.
    File(Str),
    /// `use std.files`.
    Std(Ident),
}

/// `enum NAME { variants }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Enum {
    /// Its name.
    pub name: Ident,
    /// Its variants; an identifier or a quoted string.
    pub variants: Vec<Variant>,
}

/// One variant of an enum.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// The variant's text.
    pub name: Ident,
    /// Written as a string literal.
    pub quoted: bool,
}

/// `record NAME { fields }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its name.
    pub name: Ident,
    /// Its fields.
    pub fields: Vec<Field>,
}

/// `[secret] NAME: TYPE [key]`: a record field, a parameter, a fact column, a lifecycle or contract field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The `///` lines before it.
    pub docs: Vec<String>,
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: Type,
    /// Marked `secret`, written before the type: `token: secret string`.
    pub secret: bool,
    /// Marked `key`, written after the type; fact columns only.
    pub key: bool,
    /// The whole field.
    pub span: SpanEq,
}

/// `type NAME = TYPE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Alias {
    /// Its name.
    pub name: Ident,
    /// What it stands for.
    pub ty: Type,
}

/// `NAME: TYPE = e` in a `state` block.
#[derive(Debug, Clone, PartialEq)]
pub struct StateVar {
    /// The `///` lines before it.
    pub docs: Vec<String>,
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: Type,
    /// Its value when a session begins.
    pub init: Expr,
    /// The whole declaration.
    pub span: SpanEq,
}

/// `budget UNIT = N [host]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// What is counted.
    pub unit: Ident,
    /// How much of it there is.
    pub amount: Literal,
    /// The host reports what is spent; no tool needs to cost any.
    pub host: bool,
}

/// A type with its refinements: `int in 1..=5`, `list<string max 80> max 7`, `string? max 20`.
#[derive(Debug, Clone)]
pub struct Type {
    /// The type without refinements.
    pub kind: TypeKind,
    /// Followed by `?`. The refinements speak of the value when there is one.
    pub optional: bool,
    /// Refinements in source order.
    pub refinements: Vec<Refinement>,
    /// Where it stands.
    pub span: Span,
}

impl PartialEq for Type {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.optional == other.optional
            && self.refinements == other.refinements
    }
}

/// The head of a type.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeKind {
    /// A built-in or declared type, by name.
    Name(Ident),
    /// `list<T>`.
    List(Box<Type>),
    /// `set<T>`.
    Set(Box<Type>),
    /// `map<K, V>`.
    Map(Box<Type>, Box<Type>),
}

/// What narrows a type (reference §4).
#[derive(Debug, Clone, PartialEq)]
pub enum Refinement {
    /// `in LO..=HI`, `in LO..HI`, `in LO..`, `in ..=HI`.
    Range {
        /// Lower bound: a number or a duration, possibly negative (`-5`).
        low: Option<Literal>,
        /// Upper bound.
        high: Option<Literal>,
        /// `..=` rather than `..`.
        inclusive: bool,
        /// Where it stands.
        span: SpanEq,
    },
    /// `max N`: length of a string in characters, bytes when written as a size (`1MiB`), elements of a collection.
    Max(Literal),
    /// `matches /re/`.
    Matches(Str),
    /// `format "…"`, of a `time`.
    Format(Str),
}
