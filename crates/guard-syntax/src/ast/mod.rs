//! The abstract syntax tree of a `.guard` file.
//!
//! There is one type per construct of the language reference. All nodes have spans, and literals
//! are kept as written (the compiler's `types` module evaluates them). The tree does not depend on
//! names, types and pest. Equality of trees ignores spans: two files with the same content and
//! different layout are equal.

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
    /// The node.
    pub node: T,
    /// The position.
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
    /// The `//!` lines at the top, without the marker and one following space.
    pub docs: Vec<String>,
    /// `guard NAME`; absent in a library file. The name is `unnamed` if it is invalid.
    pub header: Option<Header>,
    /// The items after the header, in source order. Invalid items are absent; their diagnostics are
    /// not.
    pub items: Vec<FileItem>,
}

/// `guard NAME [edition N] [shadow]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// The guard's name.
    pub name: Ident,
    /// `edition N`, as written.
    pub edition: Option<Literal>,
    /// True if the whole guard is in shadow mode: evaluated and recorded, without effect.
    pub shadow: bool,
    /// The whole header line.
    pub span: SpanEq,
}

/// A span that is ignored when trees are compared.
#[derive(Debug, Clone, Copy)]
pub struct SpanEq(pub Span);

impl PartialEq for SpanEq {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// One item with its documentation.
#[derive(Debug, Clone, PartialEq)]
pub struct FileItem {
    /// The `///` lines before it.
    pub docs: Vec<String>,
    /// The declaration.
    pub kind: ItemKind,
    /// The range from its first keyword to its end, without documentation.
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
    Record(RecordDecl),
    /// `union NAME by TAG { RECORD … }`.
    Union(Union),
    /// `type NAME = TYPE`.
    Alias(Alias),
    /// `define NAME(params): TYPE = e`.
    Define(Define),
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
    /// `property NAME [MODE] { clauses }`.
    Property(Property),
    /// `invariant NAME [MODE] { e }`.
    Invariant(Invariant),
    /// `fact NAME(columns) [max N]`.
    Fact(Fact),
    /// `statement NAME(params) [max N] approval ROLE …`.
    Statement(Statement),
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

/// The target of a `use`.
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
    /// The name.
    pub name: Ident,
    /// The variants; an identifier or a quoted string.
    pub variants: Vec<Variant>,
}

/// One variant of an enum.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// The variant's text.
    pub name: Ident,
    /// True if written as a string literal.
    pub quoted: bool,
}

/// `record NAME { fields }`.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordDecl {
    /// The name.
    pub name: Ident,
    /// The fields.
    pub fields: Vec<Field>,
}

/// `[secret] NAME: TYPE [key] [caseless] [FORMS] [as "NAME"]`: a record field, a parameter, a fact column, a lifecycle or contract field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The `///` lines before it.
    pub docs: Vec<String>,
    /// The name.
    pub name: Ident,
    /// The type.
    pub ty: Type,
    /// True if marked `secret`, which is written before the type: `token: secret string`.
    pub secret: bool,
    /// True if marked `key`, which is written after the type; only for fact columns.
    pub key: bool,
    /// True if marked `caseless`, which is written after `key`; only for fact columns.
    pub caseless: bool,
    /// The other forms in which a value is accepted.
    pub forms: OtherForms,
    /// `as "NAME"`: its name in JSON.
    pub wire: Option<Str>,
    /// The whole field.
    pub span: SpanEq,
}

/// `[from WORD] [rounded [N]] [timezone "±hh:mm"] [else VARIANT]`: the other forms in which a value
/// is accepted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OtherForms {
    /// `from WORD`.
    pub from: Option<Ident>,
    /// `rounded [N]`.
    pub rounded: Option<Rounding>,
    /// `timezone "±hh:mm"`: the offset of a time without one.
    pub timezone: Option<Str>,
    /// `else VARIANT`: the variant that replaces a text which is not a variant.
    pub fallback: Option<Ident>,
}

impl OtherForms {
    /// Returns the words of the first form, and its position.
    pub fn first(&self) -> Option<(&'static str, Span)> {
        let from = self.from.as_ref().map(|form| ("a coercion (`from`)", form.span));
        let rounded = self.rounded.as_ref().map(|form| ("`rounded`", form.span.0));
        let timezone = self.timezone.as_ref().map(|form| ("`timezone`", form.span));
        let fallback = self.fallback.as_ref().map(|form| ("a default (`else`)", form.span));
        from.or(rounded).or(timezone).or(fallback)
    }
}

/// `rounded [N]`: rounding to N decimal places.
#[derive(Debug, Clone, PartialEq)]
pub struct Rounding {
    /// The number of decimal places.
    pub places: Option<Literal>,
    /// The position in the source.
    pub span: SpanEq,
}

/// `union NAME by TAG [as "NAME"] { cases }`: one of several records, distinguished by a member
/// with a literal text.
#[derive(Debug, Clone, PartialEq)]
pub struct Union {
    /// The name.
    pub name: Ident,
    /// The member that distinguishes the records.
    pub tag: Ident,
    /// The tag's name in JSON.
    pub wire: Option<Str>,
    /// The records.
    pub cases: Vec<UnionCase>,
}

/// `RECORD [as "TEXT"]`: a case of a union.
#[derive(Debug, Clone, PartialEq)]
pub struct UnionCase {
    /// The record.
    pub record: Ident,
    /// The text of the tag.
    pub wire: Option<Str>,
}

/// `type NAME = TYPE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Alias {
    /// The name.
    pub name: Ident,
    /// The type that it stands for.
    pub ty: Type,
}

/// `define NAME(params): TYPE = e`: a named expression; a constant if it has no parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Define {
    /// The name.
    pub name: Ident,
    /// The parameters; none for a constant.
    pub params: Vec<Field>,
    /// The type of its value.
    pub ty: Type,
    /// The expression that it stands for.
    pub value: Expr,
}

/// `NAME: TYPE = e` in a `state` block.
#[derive(Debug, Clone, PartialEq)]
pub struct StateVar {
    /// The `///` lines before it.
    pub docs: Vec<String>,
    /// The name.
    pub name: Ident,
    /// The type.
    pub ty: Type,
    /// The initial value of a session.
    pub init: Expr,
    /// The whole declaration.
    pub span: SpanEq,
}

/// `budget UNIT = N [host]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// The unit.
    pub unit: Ident,
    /// The amount.
    pub amount: Literal,
    /// True if the host reports the amount spent; no tool needs to have a cost in this unit.
    pub host: bool,
}

/// A type with its refinements: `int in 1..=5`, `list<string max 80> max 7`, `string? max 20`.
#[derive(Debug, Clone)]
pub struct Type {
    /// The type without refinements.
    pub kind: TypeKind,
    /// True if followed by `?`. The refinements apply to a present value.
    pub optional: bool,
    /// Refinements in source order.
    pub refinements: Vec<Refinement>,
    /// The position in the source.
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

/// A refinement of a type (reference §4).
#[derive(Debug, Clone, PartialEq)]
pub enum Refinement {
    /// `in LO..=HI`, `in LO..HI`, `in LO..`, `in ..=HI`.
    Range {
        /// Lower bound: a number or a duration, possibly negative (`-5`).
        low: Option<Literal>,
        /// Upper bound.
        high: Option<Literal>,
        /// True for `..=` rather than `..`.
        inclusive: bool,
        /// The position in the source.
        span: SpanEq,
    },
    /// `max N`: length of a string in characters, bytes when written as a size (`1MiB`), elements of a collection.
    Max(Literal),
    /// `matches /re/`.
    Matches(Str),
    /// `format "…"`, of a `time`.
    Format(Str),
}
