//! Tools, groups, policies, invariants and facts, and the clauses of tools and policies.

use super::*;

/// `tool NAME(params) { clauses }` or `tool "real-name" as NAME(params) { clauses }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The wire name that the harness uses, if it is not an identifier.
    pub real_name: Option<Str>,
    /// The name in the guard.
    pub name: Ident,
    /// The parameters.
    pub params: Vec<Field>,
    /// The clauses.
    pub clauses: Vec<Clause>,
}

/// `group NAME = { members }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The name.
    pub name: Ident,
    /// The members.
    pub members: ToolSet,
}

/// A set of tools, with its members in source order.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSet {
    /// `deploy`, `{ a, b }`, `tag x`, `"mcp__*"`, `all`.
    pub members: Vec<Member>,
    /// True if written without braces, which is possible for one member only.
    pub bare: bool,
    /// The position in the source.
    pub span: SpanEq,
}

/// One member of a tool set.
#[derive(Debug, Clone, PartialEq)]
pub enum Member {
    /// A tool or a group, by name.
    Name(Ident),
    /// `tag NAME`: every tool with the tag.
    Tag(Ident),
    /// `"mcp__github__*"`: every declared tool whose real name matches the glob.
    Glob(Str),
    /// `all`: every declared tool.
    All(SpanEq),
}

/// `policy NAME for TOOLS [except TOOLS] [shadow] { clauses }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// The name.
    pub name: Ident,
    /// The tools that it governs.
    pub tools: ToolSet,
    /// The tools among these that the policy does not govern.
    pub except: Option<ToolSet>,
    /// True if the whole policy is in shadow mode.
    pub shadow: bool,
    /// The clauses.
    pub clauses: Vec<Clause>,
}

/// `property NAME [monitor|proved] [for TOOLS [except TOOLS]] { clauses }`: a claim that the rest
/// of the guard implies these clauses.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// The mode of the claim.
    pub mode: PropertyMode,
    /// True if it is written without `for`, and thus concerns all tools.
    pub of_all: bool,
    /// The name, the tools and the clauses, in the form of a policy that must never refuse a call.
    pub policy: Policy,
}

/// The mode of a property: how strictly its claim is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertyMode {
    /// Only `verify` checks the claim.
    Claimed,
    /// If the claim is not proved, the compiled guard reports calls that break it.
    Monitor,
    /// The claim must be proved; otherwise the guard does not compile.
    Proved,
}

/// One clause of a tool or a policy (reference §5).
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// The `///` lines before it.
    pub docs: Vec<String>,
    /// True if preceded by `shadow`.
    pub shadow: bool,
    /// The kind of clause.
    pub kind: ClauseKind,
    /// The whole clause.
    pub span: SpanEq,
}

/// Every clause (reference §5).
#[derive(Debug, Clone, PartialEq)]
pub enum ClauseKind {
    /// `requires R, R [when e | unless e]`: all of the listed requirements.
    Requires {
        /// The requirements, all of which must hold; the alternatives of one are joined by `or`.
        all: Vec<Vec<Requirement>>,
        /// `when e` / `unless e`.
        guard: Option<ClauseCondition>,
    },
    /// `deny when e because "…"` / `deny unless e because "…"`.
    Deny {
        /// The condition.
        guard: ClauseCondition,
        /// The reason, with interpolation.
        because: Option<Template>,
    },
    /// `limit …`.
    Limit(Limit),
    /// `costs e UNIT [, returned on failure]`.
    Costs {
        /// The amount.
        amount: Expr,
        /// The unit.
        unit: Ident,
        /// True for `returned on failure`.
        returned: bool,
    },
    /// `risk LEVEL`: `low`, `medium`, `high`, `critical`.
    Risk {
        /// The level.
        level: Ident,
        /// `when e` / `unless e`.
        guard: Option<ClauseCondition>,
    },
    /// `irreversible`.
    Irreversible,
    /// `approval ROLE [within D] [when e | unless e] [because "…"]`.
    Approval {
        /// The role that approves.
        role: Ident,
        /// The maximum age of an approval.
        within: Option<Literal>,
        /// `when e` / `unless e`.
        guard: Option<ClauseCondition>,
        /// The message for the person who decides.
        because: Option<Template>,
    },
    /// `ready when probe NAME`.
    Ready(Ident),
    /// `effect stmt` or `effect { stmts }`.
    Effect(Vec<Effect>),
    /// `observe TARGET = e [halt | warn]`.
    Observe {
        /// The written target.
        target: Target,
        /// The value, over `result`.
        value: Expr,
        /// The reaction to a violated invariant: `halt` or `warn`; `halt` by default.
        on_break: Option<Ident>,
    },
    /// `learn FACT(…) …`.
    Learn(Learn),
    /// `undecoded clear|keep|halt`: the effect of a result that does not decode on the observed
    /// variables.
    Undecoded(Ident),
    /// `reconcile e [because "…"]`.
    Reconcile {
        /// The condition.
        condition: Expr,
        /// The reason for a halt if the condition does not hold.
        because: Option<Template>,
    },
    /// `transform PARAM = e` or `transform result.a.b = e`, then `[when e | unless e] [because "…"]`.
    Transform {
        /// The parameter, or `result`.
        target: Ident,
        /// The fields on the path into the result.
        path: Vec<Ident>,
        /// The value that replaces it.
        value: Expr,
        /// `when e` / `unless e`.
        guard: Option<ClauseCondition>,
        /// The reason, with interpolation.
        because: Option<Template>,
    },
    /// `private result.a[*].b [to e] [for a in e …] [when e | unless e]`.
    Private {
        /// The part of the result, or of an element.
        part: PartPath,
        /// The readers of that part.
        to: Option<Expr>,
        /// `for a, b in e`, from the outermost: the binders and the collections.
        each: Vec<(Vec<Ident>, Expr)>,
        /// `when e` / `unless e`.
        guard: Option<ClauseCondition>,
    },
    /// `let NAME = e`: a name for the other clauses of its tool or policy.
    Let {
        /// The name.
        name: Ident,
        /// The expression that it stands for.
        value: Expr,
    },
    /// `prior Beta(a, b)`.
    Prior {
        /// The prior number of successes.
        alpha: Expr,
        /// The prior number of failures.
        beta: Expr,
    },
    /// `returns TYPE [FORMS]`.
    Returns(Type, OtherForms),
    /// `tags a, b`.
    Tags(Vec<Ident>),
    /// `name "…"`: the display name.
    Name(Str),
    /// `trusted [EXTRACTOR(]result.a.b[)] [for a in e …] [when e | unless e]`.
    Trusted {
        /// The extractor of the part: only the values that it extracts are trusted.
        extractor: Option<Ident>,
        /// The part of the result, or of an element; the whole result if it is absent.
        part: Option<PartPath>,
        /// `for a, b in e`, from the outermost: the binders and the collections.
        each: Vec<(Vec<Ident>, Expr)>,
        /// `when e` / `unless e`.
        guard: Option<ClauseCondition>,
    },
    /// `untrusted` or `untrusted result.a.b`.
    Untrusted(Vec<Ident>),
}

/// `when e` or `unless e`.
#[derive(Debug, Clone, PartialEq)]
pub struct ClauseCondition {
    /// True if written as `unless`.
    pub unless: bool,
    /// The condition.
    pub condition: Expr,
}

/// `[latest] TOOL [(keys)] [since TOOL] [within D]` in a `requires`.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    /// True if the most recently settled call must be the success.
    pub latest: bool,
    /// The tool that must have succeeded.
    pub tool: Ident,
    /// `(path)` or `(path: target)`.
    pub keys: Vec<Arg>,
    /// The tool whose calls must all have ended before the success began.
    pub since: Option<Ident>,
    /// The maximum age of the success.
    pub within: Option<Literal>,
    /// The whole requirement.
    pub span: SpanEq,
}

/// `limit N …`.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// The maximum count.
    pub count: Literal,
    /// True for `success`: failed calls do not count.
    pub success: bool,
    /// The scope of the count.
    pub scope: LimitScope,
    /// `by e`: a count per value of `e`.
    pub by: Option<Expr>,
    /// `else ask ROLE`: the role that approves calls over the limit.
    pub ask: Option<Ident>,
}

/// The scope of a limit.
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
    /// The operation.
    pub kind: EffectKind,
    /// The written target.
    pub target: Target,
    /// `for a, b in e`, from the outermost: the binders and the collections.
    pub each: Vec<(Vec<Ident>, Expr)>,
    /// `when e`, only with `for`.
    pub when: Option<Expr>,
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
    /// The path into it.
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

/// `FACT(args) [for a, b in e …] [when e]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Learn {
    /// The fact taught.
    pub fact: Ident,
    /// Column values, by position or by name.
    pub args: Vec<Arg>,
    /// `for id, v in e`, from the outermost: the binders and the collections.
    pub each: Vec<(Vec<Ident>, Expr)>,
    /// `when e`.
    pub when: Option<Expr>,
}

/// `e` or `name: e`.
#[derive(Debug, Clone, PartialEq)]
pub struct Arg {
    /// The name, if given.
    pub name: Option<Ident>,
    /// The value.
    pub value: Expr,
}

/// A part of a result: `result.a[*].b`, or `m.a` of a name that a `for` binds.
#[derive(Debug, Clone, PartialEq)]
pub struct PartPath {
    /// `result`, or the bound name.
    pub of: Ident,
    /// The steps on the path from there.
    pub steps: Vec<ResultStep>,
}

/// A step on the path into a result.
#[derive(Debug, Clone, PartialEq)]
pub enum ResultStep {
    /// `.name`.
    Field(Ident),
    /// `[*]`: each element of a list, or each member of an object.
    Elements(SpanEq),
}

/// The mode of an invariant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvariantMode {
    /// Checked before every call that could break it.
    Enforced,
    /// Reported and recorded, without denying calls.
    Monitor,
    /// Must be proved when the guard is compiled.
    Proved,
    /// Evaluated and recorded as a shadow denial.
    Shadow,
}

/// `invariant NAME [MODE] { e } [because "…"]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Invariant {
    /// The name.
    pub name: Ident,
    /// The mode.
    pub mode: InvariantMode,
    /// The condition.
    pub condition: Expr,
    /// The reason, for the denied agent.
    pub because: Option<Template>,
}

/// `fact NAME(columns) [max N [else halt]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// The name.
    pub name: Ident,
    /// The columns; `key` marks those that identify a row.
    pub columns: Vec<Field>,
    /// The maximum number of rows.
    pub max: Option<Literal>,
    /// True for `else halt`: a further row halts the session. False if the oldest row is removed.
    pub halts: bool,
}

/// `statement NAME(params) [max N] approval ROLE …`: an assertion of the agent that a person
/// approves.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The name.
    pub name: Ident,
    /// The parameters: the key, then the rest.
    pub params: Vec<Field>,
    /// The maximum number of statements that are kept.
    pub max: Option<Literal>,
    /// The `approval` clause.
    pub approval: Clause,
}

/// `source NAME { learn … }`: `prompt` (the user's message, as `text`) or `start` (the opening
/// data).
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// `prompt` or `start`.
    pub name: Ident,
    /// The lessons learned from it.
    pub learns: Vec<Spanned<Learn>>,
}
