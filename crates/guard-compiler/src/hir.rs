//! The checked program: every name resolved, every expression typed, policies spread over their tools.
//!
//! Owns no syntax, only spans. It is a tree, close to what the author wrote; the plan made from it is flat
//! and sorted. The reference evaluator runs on it. Its operators are the plan's, so that the two can be
//! compared construct by construct; what each means is said once, in `docs/reference/semantics.md`.

use guard_plan::builtin::Builtin;
use guard_plan::plan::{
    ArithOp, ClockPart, CompareOp, EffectOp, Millis, QuantifierOp, Risk, TemporalOp, UrlPart,
};
use guard_syntax::span::Span;
use std::rc::Rc;

mod contract;
mod session;

pub use contract::*;
pub use guard_plan::plan::{Prior, ServedOp, Trust};
pub use session::*;

/// Index into [`Program::enums`].
pub type EnumId = usize;
/// Index into [`Program::records`].
pub type RecordId = usize;
/// Index into [`Program::state`].
pub type VarId = usize;
/// Index into [`Program::units`].
pub type UnitId = usize;
/// Index into [`Program::tools`].
pub type ToolId = usize;
/// Index into [`Program::limits`].
pub type LimitId = usize;
/// Index into [`Program::facts`].
pub type FactId = usize;
/// Index into [`Program::probes`].
pub type ProbeId = usize;

/// Index into [`Program::lifecycles`].
pub type LifecycleId = usize;
/// Index into [`Program::attests`].
pub type AttestId = usize;
/// Index into [`Program::contracts`].
pub type ContractId = usize;

/// The built-in enum of weekdays, always the first.
pub const WEEKDAY: EnumId = 0;
/// The built-in enum of origins, always the second.
pub const ORIGIN: EnumId = 1;
/// How many enums are built in.
pub const BUILTIN_ENUMS: usize = 2;

/// A checked guard. Declarations stand in the order in which they were read.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The guard's name.
    pub guard: String,
    /// The language edition.
    pub edition: u32,
    /// The whole guard is in shadow.
    pub shadow: bool,
    /// Undeclared tools are allowed.
    pub default_allow: bool,
    /// How long a session may last.
    pub deadline: Option<Millis>,
    /// Enums; the first is the built-in `Weekday`.
    pub enums: Vec<EnumDef>,
    /// Records.
    pub records: Vec<RecordDef>,
    /// State variables.
    pub state: Vec<StateVar>,
    /// What is spent; `calls` is always there.
    pub units: Vec<Unit>,
    /// Counters of allowed calls.
    pub limits: Vec<Limit>,
    /// Relations.
    pub facts: Vec<Fact>,
    /// Questions to the environment.
    pub probes: Vec<Probe>,
    /// What the host's own words teach.
    pub sources: Vec<Source>,
    /// Items with stable ids.
    pub lifecycles: Vec<Lifecycle>,
    /// Advice.
    pub feedback: Vec<Feedback>,
    /// Several dimensions in one verdict.
    pub attests: Vec<Attest>,
    /// What must hold before the agent may stop.
    pub completion: Option<Completion>,
    /// What progress is measured against.
    pub goals: Vec<Goal>,
    /// What a producer may hand over.
    pub contracts: Vec<Contract>,
    /// Invariants.
    pub invariants: Vec<Invariant>,
    /// Tools with everything that governs them.
    pub tools: Vec<Tool>,
}

impl Program {
    /// Visits every check of the completion and the attests.
    pub fn each_check<'p>(&'p self, visit: &mut dyn FnMut(&'p Check)) {
        let completion = self.completion.iter().flat_map(|c| &c.checks);
        let attests = self.attests.iter().flat_map(|a| &a.dimensions).map(|(_, check)| check);
        completion.chain(attests).for_each(|check| check.walk(visit));
    }

    /// Visits every command that may ever be run.
    pub fn each_command<'p>(&'p self, visit: &mut dyn FnMut(&'p Command)) {
        for probe in &self.probes {
            if let ProbeAsks::Command(command) = &probe.asks {
                visit(command);
            }
        }
        self.each_check(&mut |check| {
            if let CheckKind::Command(command, _) = &check.kind {
                visit(command);
            }
        });
    }
}

/// An enum.
#[derive(Debug, Clone)]
pub struct EnumDef {
    /// Its name.
    pub name: String,
    /// Its variants, in order.
    pub variants: Vec<String>,
}

/// A record.
#[derive(Debug, Clone)]
pub struct RecordDef {
    /// Its name.
    pub name: String,
    /// Its fields, in order.
    pub fields: Vec<Field>,
}

/// A record field, parameter or fact column.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Never leaves the kernel in the clear.
    pub secret: bool,
    /// Its name in the source.
    pub span: Span,
}

/// A type with its refinements.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// `bool`.
    Bool,
    /// `int`, between these.
    Int(Option<i64>, Option<i64>),
    /// `decimal`, between these, in units of 10⁻⁶.
    Decimal(Option<i64>, Option<i64>),
    /// `string`.
    String(StringBounds),
    /// `path`.
    Path,
    /// `url`.
    Url,
    /// `duration`, between these.
    Duration(Option<Millis>, Option<Millis>),
    /// `time` with its format.
    Time(Option<Rc<str>>),
    /// An enum.
    Enum(EnumId),
    /// A record.
    Record(RecordId),
    /// `list<T> max N`.
    List(Rc<Type>, Option<u64>),
    /// `set<T> max N`.
    Set(Rc<Type>, Option<u64>),
    /// `map<string, T> max N`.
    Map(Rc<Type>, Option<u64>),
    /// `T?`, T no option.
    Option(Rc<Type>),
    /// `json`.
    Json,
    /// Of `none` and of the elements of `[]` and `{}`: fits every option, element and entry.
    Never,
    /// Of something already reported: fits everything.
    Error,
}

/// The refinements of a string.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StringBounds {
    /// Most characters.
    pub max_chars: Option<u64>,
    /// Most bytes.
    pub max_bytes: Option<u64>,
    /// Patterns that must match.
    pub patterns: Vec<Rc<str>>,
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

    /// `T?`; an option stays as it is.
    pub fn optional(self) -> Type {
        match self {
            Type::Option(_) | Type::Error => self,
            other => Type::Option(Rc::new(other)),
        }
    }

    /// The type of the value when there is one.
    pub fn required(&self) -> &Type {
        match self {
            Type::Option(of) => of,
            other => other,
        }
    }

    /// Whether it is an option.
    pub fn is_option(&self) -> bool {
        matches!(self, Type::Option(_))
    }
}

/// A state variable.
#[derive(Debug, Clone)]
pub struct StateVar {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its first value; constant.
    pub init: Expr,
    /// Its name in the source.
    pub span: Span,
}

/// Something that is spent.
#[derive(Debug, Clone)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// The budget in units of 10⁻⁶.
    pub budget: Option<i64>,
    /// Charged by the host's reports.
    pub host_charged: bool,
    /// Where the budget was declared.
    pub span: Span,
}

/// Who says a rule and where.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleMeta {
    /// The tool, policy or invariant.
    pub owner: String,
    /// Its documentation.
    pub doc: String,
    /// Without effect.
    pub shadow: bool,
    /// The clause.
    pub span: Span,
}

/// A counter of allowed calls.
#[derive(Debug, Clone)]
pub struct Limit {
    /// Who declares it.
    pub rule: RuleMeta,
    /// How many calls are allowed.
    pub count: u32,
    /// Over which span.
    pub scope: guard_plan::plan::LimitScope,
    /// A count per key.
    pub keyed: bool,
}

/// A relation.
#[derive(Debug, Clone)]
pub struct Fact {
    /// Its name.
    pub name: String,
    /// The record of its columns, keys first.
    pub row: RecordId,
    /// How many leading columns are the key.
    pub keys: usize,
    /// Most rows.
    pub max: u64,
    /// Its name in the source.
    pub span: Span,
}

/// An invariant.
#[derive(Debug, Clone)]
pub struct Invariant {
    /// Its name is the owner.
    pub rule: RuleMeta,
    /// Reported only.
    pub monitor: bool,
    /// Must be proved when compiled.
    pub proved: bool,
    /// What must be true.
    pub condition: Expr,
    /// As text.
    pub text: String,
    /// Why.
    pub because: Option<Message>,
}

/// A tool.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Its name in the guard.
    pub name: String,
    /// The name the harness uses.
    pub wire_name: String,
    /// The name a person reads.
    pub title: Option<String>,
    /// Its documentation.
    pub doc: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its parameters.
    pub params: Vec<Field>,
    /// What its result decodes to.
    pub returns: Option<Type>,
    /// Whose word its result is.
    pub trust: Trust,
    /// The kernel serves it itself.
    pub served: Option<Served>,
    /// Belief in success before any evidence.
    pub prior: Option<Prior>,
    /// How dangerous it is.
    pub risk: Risk,
    /// It cannot be undone.
    pub irreversible: bool,
    /// Everything that governs it, its own and its policies'.
    pub clauses: Vec<Clause>,
    /// Its name in the source.
    pub span: Span,
}

/// A clause with who says it.
#[derive(Debug, Clone)]
pub struct Clause {
    /// Who says it.
    pub rule: RuleMeta,
    /// What it says.
    pub kind: ClauseKind,
}

/// Every clause that decides or changes something.
#[derive(Debug, Clone)]
pub enum ClauseKind {
    /// One of these must hold.
    Requires {
        /// The alternatives.
        any_of: Vec<Requirement>,
        /// Only when this is true.
        when: Option<Expr>,
    },
    /// Refused when the condition is true.
    Deny {
        /// The condition; an `unless` is negated here.
        condition: Expr,
        /// As written: `when …` or `unless …`.
        text: String,
        /// Why.
        because: Option<Message>,
    },
    /// Held to a counter.
    Limit {
        /// Which.
        limit: LimitId,
        /// Which key.
        by: Option<Expr>,
    },
    /// Costs.
    Costs {
        /// Of what.
        unit: UnitId,
        /// How much: a decimal.
        amount: Expr,
    },
    /// Must be approved.
    Approval {
        /// By whom.
        role: String,
        /// Not longer ago.
        within: Option<Millis>,
        /// Only when this is true.
        when: Option<Expr>,
    },
    /// The probe must answer true.
    Ready(ProbeId),
    /// Writes state on success.
    Effect {
        /// What.
        target: Target,
        /// How.
        op: EffectOp,
        /// The operand.
        value: Option<Expr>,
    },
    /// Writes state from the result.
    Observe {
        /// What.
        target: Target,
        /// The value.
        value: Expr,
        /// The type of the target: `json` is decoded to it.
        ty: Type,
        /// A broken invariant is reported only.
        warn: bool,
    },
    /// Teaches a fact.
    Learn(Learn),
    /// Must be true after the call.
    Reconcile {
        /// What.
        condition: Expr,
        /// As text.
        text: String,
    },
}

/// One alternative of a requirement.
#[derive(Debug, Clone)]
pub struct Requirement {
    /// The tool that must have succeeded.
    pub tool: ToolId,
    /// With these values of these parameters, ascending.
    pub key: Vec<(u32, Expr)>,
    /// After this tool's last success.
    pub since: Option<ToolId>,
    /// Not longer ago than this.
    pub within: Option<Millis>,
}

/// A variable or a part of one.
#[derive(Debug, Clone)]
pub struct Target {
    /// The variable.
    pub var: VarId,
    /// The way into it.
    pub path: Vec<Step>,
}

/// One step into a value.
#[derive(Debug, Clone)]
pub enum Step {
    /// A record field.
    Field(u32),
    /// A map entry or list element.
    Index(Expr),
}

/// `learn`.
#[derive(Debug, Clone)]
pub struct Learn {
    /// The relation.
    pub fact: FactId,
    /// What is ranged over.
    pub over: Option<Expr>,
    /// The slots bound.
    pub binders: Vec<u32>,
    /// Only rows for which this is true.
    pub when: Option<Expr>,
    /// One value per column.
    pub row: Vec<Expr>,
}

/// A message.
#[derive(Debug, Clone)]
pub struct Message {
    /// Its parts.
    pub parts: Vec<Part>,
}

/// A part of a message.
#[derive(Debug, Clone)]
pub enum Part {
    /// Text.
    Text(String),
    /// An expression as text, and the expression.
    Value(String, Expr),
}

/// A typed expression.
#[derive(Debug, Clone)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// Where it stands.
    pub span: Span,
}

/// Every expression form; each is the plan node of the same name (`guard_plan::plan::Node`).
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
    Clock(ClockPart),
    RemainingTime,
    Remaining(UnitId),
    Spent(UnitId),
    Field(Box<Expr>, u32),
    Member(Box<Expr>, String),
    UrlPart(Box<Expr>, UrlPart),
    Index(Box<Expr>, Box<Expr>),
    Row(FactId, Vec<Expr>),
    Known(FactId, Vec<Expr>),
    Not(Box<Expr>),
    Neg(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Implies(Box<Expr>, Box<Expr>),
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    Arith(ArithOp, Box<Expr>, Box<Expr>),
    In(Box<Expr>, Box<Expr>),
    Within(Box<Expr>, Box<Expr>),
    Matches(Box<Expr>, Rc<str>),
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
        within: Option<Millis>,
    },
    LastArg(ToolId, u32),
    LastResult(ToolId),
    Temporal(TemporalOp, Box<Expr>, Option<Box<Expr>>),
    Exists(Box<Expr>),
    Probe(ProbeId),
    Origin(Box<Expr>),
    /// Of something already reported.
    Error,
}

impl Expr {
    /// The direct children, in evaluation order.
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
            Unwrap(a, _) | Exists(a) | Origin(a) => vec![a],
            Index(a, b)
            | And(a, b)
            | Or(a, b)
            | Implies(a, b)
            | Compare(_, a, b)
            | Arith(_, a, b) => vec![a, b],
            In(a, b) | Within(a, b) | Else(a, b) => vec![a, b],
            If(a, b, c) => vec![a, b, c],
            Quantified { over, body, .. } => over.iter().chain([body.as_ref()]).collect(),
            Called { key, .. } => key.iter().map(|(_, e)| e).collect(),
            Temporal(_, a, b) => std::iter::once(a.as_ref()).chain(b.as_deref()).collect(),
            _ => Vec::new(),
        }
    }

    /// Visits the expression and everything below it.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        for child in self.children() {
            child.walk(visit);
        }
    }
}
