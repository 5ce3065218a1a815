//! Typed expressions.

use super::*;

/// A typed expression.
#[derive(Debug, Clone)]
pub struct Expr {
    /// The kind of expression.
    pub kind: ExprKind,
    /// The type.
    pub ty: Type,
    /// The position in the source.
    pub span: Span,
    /// The author's name for it, if it replaces a `define` or a `let`: `booking.cabin`.
    pub name: Option<Arc<str>>,
}

/// Every form of expression. Each is the plan node of the same name (`guard_plan::plan::Node`).
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "documented once, at the plan's node of the same name")]
pub enum ExprKind {
    None,
    Bool(bool),
    Int(i64),
    Decimal(i64),
    String(String),
    Path(String),
    Duration(Millis),
    Time(Millis),
    Enum(u32),
    Url(String),
    List(Vec<Expr>),
    Set(Vec<Expr>),
    Map(Vec<(String, Expr)>),
    Record(Vec<Expr>),
    Param(u32),
    State(VarId),
    Local(u32),
    Result,
    Workspace,
    Text,
    Now,
    Elapsed,
    /// The words of the session's prompts.
    Said,
    Clock(ClockPart),
    RemainingTime,
    Remaining(UnitId),
    Spent(UnitId),
    Field(Box<Expr>, u32),
    Member(Box<Expr>, String),
    UrlPart(Box<Expr>, UrlPart),
    Index(Box<Expr>, Box<Expr>),
    /// The text of a key in a map.
    ToKey(Box<Expr>, MapKey),
    /// The key with this text.
    FromKey(Box<Expr>, MapKey),
    Row(FactId, Vec<Expr>),
    Known(FactId, Vec<Expr>),
    /// The rows of a fact, oldest first.
    Rows(FactId),
    Not(Box<Expr>),
    Neg(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Implies(Box<Expr>, Box<Expr>),
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    Arith(ArithOp, Box<Expr>, Box<Expr>),
    In(Box<Expr>, Box<Expr>),
    Within(Box<Expr>, Box<Expr>),
    Matches(Box<Expr>, Arc<str>),
    IsSome(Box<Expr>),
    Else(Box<Expr>, Box<Expr>),
    /// The text names the value in the fault.
    Unwrap(Box<Expr>, String),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Quantified {
        op: QuantifierOp,
        over: Vec<Expr>,
        binders: Vec<u32>,
        body: Box<Expr>,
    },
    Call(Builtin, Vec<Expr>),
    Called {
        tool: ToolId,
        key: Vec<(u32, Expr)>,
        since: Option<ToolId>,
        within: Option<Millis>,
    },
    Failed {
        tool: ToolId,
        since: Option<ToolId>,
        within: Option<Millis>,
    },
    Calls {
        tool: ToolId,
        failures: bool,
        recent: Option<WindowSize>,
    },
    LastArg(ToolId, u32),
    LastResult(ToolId),
    Temporal(TemporalOp, Box<Expr>, Option<Box<Expr>>),
    Exists(Box<Expr>),
    Probe(ProbeId),
    Origin(Box<Expr>),
    /// All origins of a value.
    Seen(Box<Expr>),
    /// True if the readers may read all private content in a value.
    MayRead(Box<Expr>, Box<Expr>),
    /// An expression with a reported error.
    Error,
}

impl Expr {
    /// Returns the direct children, in evaluation order.
    pub fn children(&self) -> Vec<&Expr> {
        use ExprKind::*;
        match &self.kind {
            List(xs) | Set(xs) | Record(xs) | Row(_, xs) | Known(_, xs) | Call(_, xs) => {
                xs.iter().collect()
            }
            Map(entries) => entries.iter().map(|(_, e)| e).collect(),
            Field(a, _)
            | Member(a, _)
            | UrlPart(a, _)
            | Not(a)
            | Neg(a)
            | Matches(a, _)
            | IsSome(a) => vec![a],
            Unwrap(a, _) | Exists(a) | Origin(a) | Seen(a) | ToKey(a, _) | FromKey(a, _) => vec![a],
            Index(a, b)
            | And(a, b)
            | Or(a, b)
            | Implies(a, b)
            | Compare(_, a, b)
            | Arith(_, a, b) => vec![a, b],
            In(a, b) | Within(a, b) | Else(a, b) | MayRead(a, b) => vec![a, b],
            If(a, b, c) => vec![a, b, c],
            Quantified { over, body, .. } => over.iter().chain([body.as_ref()]).collect(),
            Called { key, .. } => key.iter().map(|(_, e)| e).collect(),
            Temporal(_, a, b) => std::iter::once(a.as_ref()).chain(b.as_deref()).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns true if a test is true for the expression or for anything below it.
    pub fn any(&self, test: &mut dyn FnMut(&Expr) -> bool) -> bool {
        test(self) || self.children().into_iter().any(|child| child.any(test))
    }

    /// Returns the variables that the expression reads.
    pub fn variables(&self) -> BTreeSet<VarId> {
        let mut variables = BTreeSet::new();
        self.walk(&mut |part| {
            if let ExprKind::State(var) = part.kind {
                variables.insert(var);
            }
        });
        variables
    }

    /// Visits the expression and everything below it.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        for child in self.children() {
            child.walk(visit);
        }
    }
}
