//! Messages and expressions.

use super::*;

/// A message with interpolation: `"{path} is outside"`; `{{` and `}}` are literal braces.
#[derive(Debug, Clone)]
pub struct Template {
    /// Text and expressions, in order; texts are neither adjacent nor empty.
    pub parts: Vec<TemplatePart>,
    /// The position, including the quotes.
    pub span: Span,
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum TemplatePart {
    /// Literal text, unescaped.
    Text(String),
    /// `{e}`.
    Expr(Expr),
}

/// An expression (reference §4).
#[derive(Debug, Clone)]
pub struct Expr {
    /// The kind of expression.
    pub kind: ExprKind,
    /// The position, without parentheses.
    pub span: Span,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// Every expression form.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// `true`, `false`.
    Bool(bool),
    /// `none`.
    None,
    /// `5`, `50.00`, as written.
    Number(String),
    /// `30s`, `1h30m`, as written.
    Duration(String),
    /// `last 10 calls`, the number as written: after `within`.
    LastCalls(String),
    /// `"…"`, unescaped, never interpolated.
    String(String),
    /// `/re/`, the text between the slashes with `\/` unescaped.
    Regex(String),
    /// A variable, parameter, binder, enum variant, tool, or one of `now elapsed workspace clock deadline result text`.
    Name(String),
    /// `e.name`.
    Field(Box<Expr>, Ident),
    /// `e[i]`, and `fact[a, b]` by several keys.
    Index(Box<Expr>, Vec<Expr>),
    /// `e[*]`: every element, in a `learn` clause.
    Each(Box<Expr>),
    /// `name(args)`: a builtin, a history question, a conversion.
    Call(Ident, Vec<Arg>),
    /// `known FACT(args)`.
    Known(Ident, Vec<Arg>),
    /// `probe NAME`.
    Probe(Ident),
    /// `not e`, `-e`, `once e`, `historically e`, `previous e`.
    Unary(UnaryOp, Box<Expr>),
    /// Every infix operator except `else`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `e is none` (false) / `e is some` (true).
    Is(Box<Expr>, bool),
    /// `e else default`.
    Else(Box<Expr>, Box<Expr>),
    /// `if c then a else b`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `all x in xs: p`, `any x in xs: p`, `first x in xs: p`, `count(x in xs: p)`, `sum(x in xs: e)`.
    Quantified {
        /// The quantifier.
        op: Quantifier,
        /// One name, or several names with `zip(…)` or for map entries.
        binders: Vec<Ident>,
        /// The collection.
        over: Box<Expr>,
        /// The body.
        body: Box<Expr>,
    },
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `{a, b}`; the empty braces are an empty set or map.
    Set(Vec<Expr>),
    /// `{name: e, "other name": e}`, never empty.
    Map(Vec<(Ident, Expr)>),
}

impl Expr {
    /// Returns the direct children, in source order.
    pub fn children(&self) -> Vec<&Expr> {
        use ExprKind as E;
        match &self.kind {
            E::Bool(_) | E::None | E::Number(_) | E::Duration(_) | E::String(_) | E::Regex(_) => {
                Vec::new()
            }
            E::Name(_) | E::Probe(_) | E::LastCalls(_) => Vec::new(),
            E::Field(record, _) | E::Each(record) | E::Unary(_, record) | E::Is(record, _) => {
                vec![record]
            }
            E::Index(collection, keys) => std::iter::once(&**collection).chain(keys).collect(),
            E::Binary(_, a, b) | E::Else(a, b) => vec![a, b],
            E::If(a, b, c) => vec![a, b, c],
            E::Call(_, args) | E::Known(_, args) => args.iter().map(|arg| &arg.value).collect(),
            E::Quantified { over, body, .. } => vec![over, body],
            E::List(xs) | E::Set(xs) => xs.iter().collect(),
            E::Map(entries) => entries.iter().map(|(_, value)| value).collect(),
        }
    }

    /// Returns the level at which the expression binds: that of its operator, 0 if it is open to the
    /// right, and 12 if it needs no parentheses anywhere.
    pub fn level(&self) -> u8 {
        match &self.kind {
            ExprKind::If(..) => 0,
            ExprKind::Quantified { op, .. } if op.is_prefix() => 0,
            ExprKind::Binary(op, ..) => op.level(),
            ExprKind::Unary(op, _) => op.level(),
            ExprKind::Is(..) => BinaryOp::COMPARISON,
            ExprKind::Else(..) => 9,
            _ => 12,
        }
    }
}

/// Prefix operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    /// `not`.
    Not,
    /// `-`.
    Neg,
    /// `once`: now or at some earlier step.
    Once,
    /// `historically`: now and at every earlier step.
    Historically,
    /// `previous`: at the step before.
    Previous,
}

impl UnaryOp {
    /// Returns the operator as written.
    pub fn word(self) -> &'static str {
        match self {
            UnaryOp::Not => "not",
            UnaryOp::Neg => "-",
            UnaryOp::Once => "once",
            UnaryOp::Historically => "historically",
            UnaryOp::Previous => "previous",
        }
    }

    /// Returns the level at which the operator binds; higher levels bind tighter.
    pub fn level(self) -> u8 {
        if self == UnaryOp::Neg { 10 } else { 4 }
    }
}

/// Infix operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    /// `implies`.
    Implies,
    /// `or`.
    Or,
    /// `and`.
    And,
    /// `==`.
    Eq,
    /// `!=`.
    Ne,
    /// `<`.
    Lt,
    /// `<=`.
    Le,
    /// `>`.
    Gt,
    /// `>=`.
    Ge,
    /// `in`.
    In,
    /// `contains`.
    Contains,
    /// `matches`.
    Matches,
    /// `within`: paths, or history within a duration or within the last calls.
    Within,
    /// `since`: history since a tool, or the temporal operator.
    Since,
    /// `+`.
    Add,
    /// `-`.
    Sub,
    /// `*`.
    Mul,
    /// `/`.
    Div,
    /// `%`.
    Rem,
}

impl BinaryOp {
    /// The level of the comparisons, which cannot be chained.
    pub const COMPARISON: u8 = 5;

    /// Returns the operator that is written like this.
    pub fn from_word(word: &str) -> Option<BinaryOp> {
        use BinaryOp::*;
        let all = [
            Implies, Or, And, Eq, Ne, Lt, Le, Gt, Ge, In, Contains, Matches, Within, Since, Add,
            Sub, Mul, Div, Rem,
        ];
        all.into_iter().find(|op| op.word() == word)
    }

    /// Returns the operator as written.
    pub fn word(self) -> &'static str {
        self.row().1
    }

    /// Returns the level at which the operator binds; higher levels bind tighter.
    pub fn level(self) -> u8 {
        self.row().0
    }

    fn row(self) -> (u8, &'static str) {
        match self {
            BinaryOp::Implies => (1, "implies"),
            BinaryOp::Or => (2, "or"),
            BinaryOp::And => (3, "and"),
            BinaryOp::Eq => (BinaryOp::COMPARISON, "=="),
            BinaryOp::Ne => (BinaryOp::COMPARISON, "!="),
            BinaryOp::Lt => (BinaryOp::COMPARISON, "<"),
            BinaryOp::Le => (BinaryOp::COMPARISON, "<="),
            BinaryOp::Gt => (BinaryOp::COMPARISON, ">"),
            BinaryOp::Ge => (BinaryOp::COMPARISON, ">="),
            BinaryOp::In => (BinaryOp::COMPARISON, "in"),
            BinaryOp::Contains => (BinaryOp::COMPARISON, "contains"),
            BinaryOp::Matches => (BinaryOp::COMPARISON, "matches"),
            BinaryOp::Within => (6, "within"),
            BinaryOp::Since => (6, "since"),
            BinaryOp::Add => (7, "+"),
            BinaryOp::Sub => (7, "-"),
            BinaryOp::Mul => (8, "*"),
            BinaryOp::Div => (8, "/"),
            BinaryOp::Rem => (8, "%"),
        }
    }
}

/// Bounded quantifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    /// `all x in xs: p`.
    All,
    /// `any x in xs: p`.
    Any,
    /// `count(x in xs: p)`.
    Count,
    /// `sum(x in xs: e)`.
    Sum,
    /// `first x in xs: p`.
    First,
}

impl Quantifier {
    /// Returns the text before the variables and the text after the body.
    pub fn ends(self) -> (&'static str, &'static str) {
        match self {
            Quantifier::All => ("all ", ""),
            Quantifier::Any => ("any ", ""),
            Quantifier::First => ("first ", ""),
            Quantifier::Count => ("count(", ")"),
            Quantifier::Sum => ("sum(", ")"),
        }
    }

    /// Returns true if the quantifier is written before its operand, without its own parentheses.
    pub fn is_prefix(self) -> bool {
        matches!(self, Quantifier::All | Quantifier::Any | Quantifier::First)
    }
}
