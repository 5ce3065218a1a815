//! Tools, groups, policies, invariants and facts, and the clauses that govern calls.

use super::*;

/// `tool NAME(params) { clauses }` or `tool "real-name" as NAME(params) { clauses }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name the harness uses, where it is no identifier.
    pub real_name: Option<Str>,
    /// Its name in the guard.
    pub name: Ident,
    /// Its parameters.
    pub params: Vec<Field>,
    /// What governs it.
    pub clauses: Vec<Clause>,
}

/// `group NAME = { members }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its name.
    pub name: Ident,
    /// Its members.
    pub members: ToolSet,
}

/// A set of tools: members in source order.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSet {
    /// `deploy`, `{ a, b }`, `tag x`, `"mcp__*"`, `all`.
    pub members: Vec<Member>,
    /// Written without braces (one member only).
    pub bare: bool,
    /// Where it stands.
    pub span: SpanEq,
}

/// One member of a tool set.
#[derive(Debug, Clone, PartialEq)]
pub enum Member {
    /// A tool or a group, by name.
    Name(Ident),
    /// `tag NAME`: every tool that bears the tag.
    Tag(Ident),
    /// `"mcp__github__*"`: every declared tool whose real name matches the glob.
    Glob(Str),
    /// `all`: every declared tool.
    All(SpanEq),
}

/// `policy NAME for TOOLS [shadow] { clauses }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Its name.
    pub name: Ident,
    /// Which tools it governs.
    pub tools: ToolSet,
    /// The whole policy is in shadow.
    pub shadow: bool,
    /// Its clauses.
    pub clauses: Vec<Clause>,
}

/// One clause of a tool or a policy (reference §5).
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// The `///` lines before it.
    pub docs: Vec<String>,
    /// Preceded by `shadow`.
    pub shadow: bool,
    /// What it says.
    pub kind: ClauseKind,
    /// The whole clause.
    pub span: SpanEq,
}

/// Every clause (reference §5).
#[derive(Debug, Clone, PartialEq)]
pub enum ClauseKind {
    /// `requires R, R [when e | unless e]`: all of the listed requirements.
    Requires {
        /// Each must hold; the alternatives of one are joined by `or`.
        all: Vec<Vec<Requirement>>,
        /// `when e` / `unless e`.
        guard: Option<Guard>,
    },
    /// `deny when e because "…"` / `deny unless e because "…"`.
    Deny {
        /// The condition.
        guard: Guard,
        /// Why, with interpolation.
        because: Option<Template>,
    },
    /// `limit …`.
    Limit(Limit),
    /// `costs e UNIT`.
    Costs {
        /// The amount.
        amount: Expr,
        /// Of what.
        unit: Ident,
    },
    /// `risk LEVEL`: `low`, `medium`, `high`, `critical`.
    Risk(Ident),
    /// `irreversible`.
    Irreversible,
    /// `approval ROLE [within D] [when e | unless e]`.
    Approval {
        /// Who approves.
        role: Ident,
        /// How long an approval is good for.
        within: Option<Literal>,
        /// `when e` / `unless e`.
        guard: Option<Guard>,
    },
    /// `ready when probe NAME`.
    Ready(Ident),
    /// `effect stmt` or `effect { stmts }`.
    Effect(Vec<Effect>),
    /// `observe TARGET = e [halt | warn]`.
    Observe {
        /// What is written.
        target: Target,
        /// The value, over `result`.
        value: Expr,
        /// What a broken invariant does: `halt` or `warn`; `halt` when not said.
        on_break: Option<Ident>,
    },
    /// `learn FACT(…) …`.
    Learn(Learn),
    /// `reconcile e`.
    Reconcile(Expr),
    /// `prior Beta(a, b)`.
    Prior {
        /// Imagined successes.
        alpha: Literal,
        /// Imagined failures.
        beta: Literal,
    },
    /// `returns TYPE`.
    Returns(Type),
    /// `tags a, b`.
    Tags(Vec<Ident>),
    /// `name "…"`: the name a person reads.
    Name(Str),
    /// `trusted` (whole result) or `trusted result.a.b`.
    Trusted(Vec<Ident>),
    /// `untrusted` or `untrusted result.a.b`.
    Untrusted(Vec<Ident>),
}

/// `when e` or `unless e`.
#[derive(Debug, Clone, PartialEq)]
pub struct Guard {
    /// Written `unless`.
    pub unless: bool,
    /// The condition.
    pub condition: Expr,
}

/// `TOOL [(keys)] [since TOOL] [within D]` in a `requires`.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    /// The tool that must have succeeded.
    pub tool: Ident,
    /// `(path)` or `(path: target)`.
    pub keys: Vec<Arg>,
    /// After this tool's last success.
    pub since: Option<Ident>,
    /// Not longer ago than this.
    pub within: Option<Literal>,
    /// The whole requirement.
    pub span: SpanEq,
}

/// `limit N …`.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// How many.
    pub count: Literal,
    /// Of what, over which span.
    pub scope: LimitScope,
    /// `by e`: a count per value of `e`.
    pub by: Option<Expr>,
}

/// What a limit counts over.
#[derive(Debug, Clone, PartialEq)]
pub enum LimitScope {
    /// `per D`: a sliding window.
    Window(Literal),
    /// `per session`.
    Session,
    /// `in flight`.
    InFlight,
    /// `identical`.
    Identical,
}

/// One statement of an `effect`.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// What it does.
    pub kind: EffectKind,
    /// What it writes.
    pub target: Target,
    /// The whole statement.
    pub span: SpanEq,
}

/// The seven operations on a variable (reference §5).
#[derive(Debug, Clone, PartialEq)]
pub enum EffectKind {
    /// `x = e`.
    Set(Expr),
    /// `x += e`.
    Add(Expr),
    /// `x -= e`.
    Subtract(Expr),
    /// `x *= e`.
    Multiply(Expr),
    /// `append e to xs`.
    Append(Expr),
    /// `add e to s`.
    Insert(Expr),
    /// `remove e from xs`.
    Remove(Expr),
    /// `delete x`.
    Delete,
}

/// A variable or a part of one: `orders[order_id].status`.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The variable.
    pub var: Ident,
    /// The way into it.
    pub path: Vec<Step>,
    /// The whole target.
    pub span: SpanEq,
}

/// One step into a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// `.field`.
    Field(Ident),
    /// `[key]`.
    Index(Expr),
}

/// `FACT(args) [for a, b in e] [when e]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Learn {
    /// The fact taught.
    pub fact: Ident,
    /// Column values, by position or by name.
    pub args: Vec<Arg>,
    /// `for id, v in e`: binders and what they range over.
    pub each: Option<(Vec<Ident>, Expr)>,
    /// `when e`.
    pub when: Option<Expr>,
}

/// `e` or `name: e`.
#[derive(Debug, Clone, PartialEq)]
pub struct Arg {
    /// The name, where given.
    pub name: Option<Ident>,
    /// The value.
    pub value: Expr,
}

/// How an invariant is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvariantMode {
    /// Checked before every call that could break it.
    Enforced,
    /// Reported and recorded, denies nothing.
    Monitor,
    /// Must be proved when the guard is compiled.
    Proved,
    /// Evaluated, recorded as would deny.
    Shadow,
}

/// `invariant NAME [MODE] { e } [because "…"]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Invariant {
    /// Its name.
    pub name: Ident,
    /// How it is held.
    pub mode: InvariantMode,
    /// What must be true.
    pub condition: Expr,
    /// Why, for the denied agent.
    pub because: Option<Template>,
}

/// `fact NAME(columns) [max N]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// Its name.
    pub name: Ident,
    /// Its columns; `key` marks those that identify a row.
    pub columns: Vec<Field>,
    /// How many rows are kept.
    pub max: Option<Literal>,
}

/// `source NAME { learn … }`: `prompt` (the user's words, as `text`) or `start` (given at session start).
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// `prompt` or `start`.
    pub name: Ident,
    /// What is learned from it.
    pub learns: Vec<Spanned<Learn>>,
}
