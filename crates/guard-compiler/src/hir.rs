//! The checked program: every name resolved, every expression typed, policies applied to their
//! tools.
//!
//! Contains no syntax, only spans. It is a tree, close to the source; the plan lowered from it is
//! flat and sorted. The reference evaluator runs on it. Its operators are those of the plan, so
//! that the two can be compared construct by construct; `docs/reference/semantics.md` defines them.

use guard_plan::builtin::Builtin;
use guard_plan::plan::{
    ArithOp, ClockPart, CompareOp, EffectOp, Millis, QuantifierOp, Risk, TakenForms, TemporalOp,
    Undecoded, UrlPart,
};
pub use guard_syntax::ast::PropertyMode;
use guard_syntax::span::Span;
use std::sync::Arc;

mod contract;
mod session;

pub use contract::*;
pub use guard_plan::plan::{ServedOp, Trust};
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
/// Index into [`Program::properties`].
pub type PropertyId = usize;
/// Index into [`Program::attests`].
pub type AttestId = usize;
/// Index into [`Program::contracts`].
pub type ContractId = usize;

/// The built-in enum of weekdays, always the first.
pub const WEEKDAY: EnumId = 0;
/// The built-in enum of origins, always the second.
pub const ORIGIN: EnumId = 1;
/// The number of built-in enums.
pub const BUILTIN_ENUMS: usize = 2;

/// A checked guard. Declarations are in the order in which they were read.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The guard's name.
    pub guard: String,
    /// The language edition.
    pub edition: u32,
    /// True if the whole guard is in shadow.
    pub shadow: bool,
    /// True if undeclared tools are allowed.
    pub default_allow: bool,
    /// The maximum duration of a session.
    pub deadline: Option<Millis>,
    /// Enums; the first is the built-in `Weekday`.
    pub enums: Vec<EnumDef>,
    /// Records.
    pub records: Vec<RecordDef>,
    /// State variables.
    pub state: Vec<StateVar>,
    /// The units that are spent; `calls` always exists.
    pub units: Vec<Unit>,
    /// Counters of allowed calls.
    pub limits: Vec<Limit>,
    /// Relations.
    pub facts: Vec<Fact>,
    /// The probes.
    pub probes: Vec<Probe>,
    /// The sources of facts from the host's own reports.
    pub sources: Vec<Source>,
    /// Items with stable ids.
    pub lifecycles: Vec<Lifecycle>,
    /// The feedback providers.
    pub feedback: Vec<Feedback>,
    /// The attestations.
    pub attests: Vec<Attest>,
    /// The conditions for a stop.
    pub completion: Option<Completion>,
    /// The goals.
    pub goals: Vec<Goal>,
    /// The contracts on producers' output.
    pub contracts: Vec<Contract>,
    /// Invariants.
    pub invariants: Vec<Invariant>,
    /// The properties: their clauses stand in the tools.
    pub properties: Vec<Property>,
    /// The tools with all rules that govern them.
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
    /// Its fields, in order; none for a union.
    pub fields: Vec<Field>,
    /// Its cases, if it is a union.
    pub union: Option<Union>,
}

impl RecordDef {
    /// A record.
    pub fn new(name: impl Into<String>, fields: Vec<Field>) -> RecordDef {
        RecordDef { name: name.into(), fields, union: None }
    }
}

/// One of several records, told apart by a member with a literal text.
#[derive(Debug, Clone)]
pub struct Union {
    /// The name of that member in JSON.
    pub tag: String,
    /// The texts and records.
    pub cases: Vec<(String, RecordId)>,
}

/// A record field, parameter or fact column.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its name in JSON.
    pub wire: String,
    /// The forms besides its own in which it is taken.
    pub forms: TakenForms,
    /// Its type.
    pub ty: Type,
    /// True if it never leaves the kernel in clear text.
    pub secret: bool,
    /// Its documentation.
    pub doc: String,
    /// The position of its name in the source.
    pub span: Span,
}

/// A type with its refinements.
#[derive(Debug, Clone, PartialEq)]
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
    /// The type of `none` and of the elements of `[]` and `{}`: fits every option, element and
    /// entry.
    Never,
    /// The type of an expression with a reported error: fits everything.
    Error,
}

/// The keys of a map. A value of the map has them as texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Default, PartialEq)]
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
            Type::Option(of) => of,
            other => other,
        }
    }

    /// Returns whether it is an option.
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
    /// Its initial value; constant.
    pub init: Expr,
    /// The position of its name in the source.
    pub span: Span,
}

/// A unit that is spent.
#[derive(Debug, Clone)]
pub struct Unit {
    /// Its name.
    pub name: String,
    /// The budget in units of 10⁻⁶.
    pub budget: Option<i64>,
    /// True if it is charged by the host's reports.
    pub host_charged: bool,
    /// The position of the budget's declaration.
    pub span: Span,
}

/// A property: rules that the rest of the guard is claimed to imply.
#[derive(Debug, Clone)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Its documentation.
    pub doc: String,
    /// The mode of the claim.
    pub mode: PropertyMode,
    /// The position of its name in the source.
    pub span: Span,
}

/// The owner of a rule and its position.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleMeta {
    /// The tool, policy or invariant.
    pub owner: String,
    /// Its documentation.
    pub doc: String,
    /// True if the rule has no effect.
    pub shadow: bool,
    /// The property that it is a part of.
    pub property: Option<PropertyId>,
    /// The clause.
    pub span: Span,
}

/// A counter of allowed calls.
#[derive(Debug, Clone)]
pub struct Limit {
    /// The rule that declares it.
    pub rule: RuleMeta,
    /// How many calls are allowed.
    pub count: u32,
    /// True if calls that failed do not count.
    pub success: bool,
    /// The span of the count.
    pub scope: guard_plan::plan::LimitScope,
    /// True if counted per key.
    pub keyed: bool,
    /// The role that approves calls over the limit; without one they are refused.
    pub ask: Option<String>,
}

/// A relation.
#[derive(Debug, Clone)]
pub struct Fact {
    /// Its name.
    pub name: String,
    /// The record of its columns, keys first.
    pub row: RecordId,
    /// The number of leading columns that form the key.
    pub keys: usize,
    /// The maximum number of rows.
    pub max: u64,
    /// The position of its name in the source.
    pub span: Span,
    /// True if it comes from the bundled library, which a guard uses in part.
    pub bundled: bool,
}

/// An invariant.
#[derive(Debug, Clone)]
pub struct Invariant {
    /// The rule; its owner is the invariant's name.
    pub rule: RuleMeta,
    /// True if violations are only reported.
    pub monitor: bool,
    /// True if it must be proved at compile time.
    pub proved: bool,
    /// The condition.
    pub condition: Expr,
    /// The condition as text.
    pub text: String,
    /// The reason.
    pub because: Option<Message>,
}

/// A tool.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Its name in the guard.
    pub name: String,
    /// The wire name that the harness uses.
    pub wire_name: String,
    /// The display name.
    pub title: Option<String>,
    /// Its documentation.
    pub doc: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its parameters.
    pub params: Vec<Field>,
    /// The type of its result.
    pub returns: Option<Type>,
    /// The forms besides its own in which its result is taken.
    pub forms: TakenForms,
    /// The effect on the variables it observes of a result that does not decode.
    pub undecoded: Undecoded,
    /// The trust level of its result.
    pub trust: Trust,
    /// The kernel's own implementation, if any.
    pub served: Option<Served>,
    /// True if it is what a `statement` gives: the kernel serves it.
    pub states: bool,
    /// Its risk level.
    pub risk: Risk,
    /// True if it cannot be undone.
    pub irreversible: bool,
    /// Its clauses, including those of policies.
    pub clauses: Vec<Clause>,
    /// The position of its name in the source.
    pub span: Span,
}

/// A clause and its owner.
#[derive(Debug, Clone)]
pub struct Clause {
    /// The rule.
    pub rule: RuleMeta,
    /// The kind of clause.
    pub kind: ClauseKind,
}

impl Tool {
    /// Returns true if every call of it needs an approval without an explicit rule.
    pub fn is_gated(&self) -> bool {
        self.irreversible && self.risk == Risk::Critical
    }

    /// Returns the rules and conditions under which a call needs one; none where every call does.
    pub fn gates(&self) -> impl Iterator<Item = (&RuleMeta, &Expr)> {
        let can_gate = self.irreversible && !self.is_gated();
        self.clauses.iter().filter_map(move |clause| match &clause.kind {
            ClauseKind::Risk { level: Risk::Critical, when, .. } if can_gate => {
                Some((&clause.rule, when))
            }
            _ => None,
        })
    }

    /// Returns whether the kernel serves it itself.
    pub fn is_served(&self) -> bool {
        self.served.is_some() || self.states
    }
}

/// The clauses that decide or change something.
#[derive(Debug, Clone)]
pub enum ClauseKind {
    /// One of the alternatives must hold.
    Requires {
        /// The alternatives.
        any_of: Vec<Requirement>,
        /// The condition under which it applies.
        when: Option<Expr>,
    },
    /// Refuses the call if the condition is true.
    Deny {
        /// The condition; an `unless` is negated here.
        condition: Expr,
        /// As written: `when …` or `unless …`.
        text: String,
        /// The reason.
        because: Option<Message>,
        /// For a `transform` of an argument.
        replacement: Option<Replacement>,
    },
    /// Counts the call with a limit.
    Limit {
        /// The limit.
        limit: LimitId,
        /// The key.
        by: Option<Expr>,
    },
    /// Charges a unit.
    Costs {
        /// The unit.
        unit: UnitId,
        /// The amount: a decimal.
        amount: Expr,
        /// True if a failure gives it back.
        returned: bool,
    },
    /// Says the risk of the calls for which the condition holds.
    Risk {
        /// The level.
        level: Risk,
        /// The condition; an `unless` is negated here.
        when: Expr,
        /// As written: `when …` or `unless …`.
        text: String,
    },
    /// Says the belief in the success of a call before any evidence.
    Prior {
        /// The successes, as it were: a decimal.
        alpha: Expr,
        /// The failures, as it were: a decimal.
        beta: Expr,
    },
    /// Requires an approval.
    Approval {
        /// The role.
        role: String,
        /// The maximum age.
        within: Option<Millis>,
        /// The condition under which it applies.
        when: Option<Expr>,
        /// The message for the person who decides.
        because: Option<Message>,
    },
    /// The probe must answer true.
    Ready(ProbeId),
    /// Writes state on success.
    Effect {
        /// The target.
        target: Target,
        /// The operation.
        op: EffectOp,
        /// The operand.
        value: Option<Expr>,
    },
    /// Writes state from the result.
    Observe {
        /// The target.
        target: Target,
        /// The value.
        value: Expr,
        /// The type of the target: `json` is decoded to it.
        ty: Type,
        /// True if a violated invariant is only reported.
        warn: bool,
    },
    /// Teaches a fact.
    Learn(Learn),
    /// Shows the agent a value in the place of a part of the result.
    Transform {
        /// The members on the path to the part, by wire name.
        path: Vec<String>,
        /// The value.
        value: Expr,
        /// The condition under which it applies.
        when: Option<Expr>,
    },
    /// Makes a part of the result private.
    Private {
        /// The part.
        part: SelectedPart,
        /// Who may read it; nobody where it is absent.
        to: Option<Expr>,
        /// The condition under which it applies.
        when: Option<Expr>,
    },
    /// Makes a part of the result trusted.
    Endorse {
        /// The part.
        part: SelectedPart,
        /// Only what this function reads in it is trusted.
        extractor: Option<Builtin>,
        /// The condition under which it is trusted.
        when: Option<Expr>,
    },
    /// Must be true after the call.
    Reconcile {
        /// The condition.
        condition: Expr,
        /// The condition as text.
        text: String,
        /// Why the session halts where it does not hold.
        because: Option<Message>,
    },
}

/// The value that a `transform` asks for in the place of an argument.
#[derive(Debug, Clone)]
pub struct Replacement {
    /// The parameter.
    pub param: u32,
    /// The value that is not refused.
    pub value: Expr,
    /// The condition as written: `when …`, `unless …` or nothing.
    pub text: String,
}

/// One alternative of a requirement.
#[derive(Debug, Clone)]
pub struct Requirement {
    /// The last call that settled must be the success.
    pub latest: bool,
    /// The tool that must have succeeded.
    pub tool: ToolId,
    /// The required values of these parameters, ascending.
    pub key: Vec<(u32, Expr)>,
    /// The call must have begun after every call of this tool ended.
    pub since: Option<ToolId>,
    /// The maximum age of the success.
    pub within: Option<Millis>,
}

/// A variable or a part of one.
#[derive(Debug, Clone)]
pub struct Target {
    /// The variable.
    pub var: VarId,
    /// The path into it.
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
    /// The collections to iterate over, from the outermost.
    pub ranges: Vec<Range>,
    /// The condition on rows.
    pub when: Option<Expr>,
    /// One value per column.
    pub row: Vec<Expr>,
}

impl Learn {
    /// Returns all expressions, in the order of evaluation.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.ranges.iter().map(|range| &range.over).chain(&self.when).chain(&self.row)
    }
}

/// A part of a result, once for each element that its ranges bind.
#[derive(Debug, Clone)]
pub struct SelectedPart {
    /// The members on the path to the part, by wire name, and `[*]` for each element. The first `[*]` are the elements of the
    /// ranges.
    pub path: Vec<String>,
    /// The lists whose elements are told apart, from the outermost.
    pub ranges: Vec<Range>,
}

/// `for a, b in e` of a `learn`, `private` or `trusted`.
#[derive(Debug, Clone)]
pub struct Range {
    /// The collection.
    pub over: Expr,
    /// The bound slots.
    pub binders: Vec<u32>,
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
    /// The kind of expression.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// The position in the source.
    pub span: Span,
    /// The author's name for it, if it stands for a `define` or a `let`: `booking.cabin`.
    pub name: Option<Arc<str>>,
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
    /// The text that a key has in a map.
    ToKey(Box<Expr>, MapKey),
    /// The key that has this text.
    FromKey(Box<Expr>, MapKey),
    Row(FactId, Vec<Expr>),
    Known(FactId, Vec<Expr>),
    /// The rows of a fact, the oldest first.
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
        within: Option<Millis>,
    },
    LastArg(ToolId, u32),
    LastResult(ToolId),
    Temporal(TemporalOp, Box<Expr>, Option<Box<Expr>>),
    Exists(Box<Expr>),
    Probe(ProbeId),
    Origin(Box<Expr>),
    /// All places where a value was seen.
    Seen(Box<Expr>),
    /// Whether readers may read all private content in a value.
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

    /// Visits the expression and everything below it.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        for child in self.children() {
            child.walk(visit);
        }
    }
}
