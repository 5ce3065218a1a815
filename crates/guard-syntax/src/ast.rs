//! The abstract syntax tree of a `.guard` file.
//!
//! One type per construct of the language reference, spans everywhere, literals as they were written
//! (their values are judged by the compiler's `types` room). Knows nothing about names, types or pest.
//! Equality of trees ignores spans: two files that say the same are equal however they are laid out.

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

/// `budget UNIT = N`.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    /// What is counted.
    pub unit: Ident,
    /// How much of it there is.
    pub amount: Literal,
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

/// `lifecycle NAME { … }` (reference §6).
#[derive(Debug, Clone, PartialEq)]
pub struct Lifecycle {
    /// Its name.
    pub name: Ident,
    /// Its clauses.
    pub clauses: Vec<Spanned<LifecycleClause>>,
}

/// One clause of a lifecycle.
#[derive(Debug, Clone, PartialEq)]
pub enum LifecycleClause {
    /// `fields { … }`.
    Fields(Vec<Field>),
    /// `initial STATE`.
    Initial(Ident),
    /// `final STATE, STATE`.
    Final(Vec<Ident>),
    /// `agent NAME: a -> b …` / `harness NAME: a -> b …`.
    Transition(Transition),
    /// `criteria file, command`.
    Criteria(Vec<Ident>),
    /// `escalate to ROLE after N rejections`.
    Escalate {
        /// Who is told.
        role: Ident,
        /// After how many rejections of one item.
        after: Literal,
    },
}

/// A transition of a lifecycle.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// `agent` or `harness`.
    pub actor: Ident,
    /// Its name.
    pub name: Ident,
    /// From which states.
    pub from: Vec<Ident>,
    /// To which state.
    pub to: Ident,
    /// `requires evidence`.
    pub evidence: bool,
    /// `when criteria pass` (true) or `when criteria fail` (false).
    pub criteria: Option<bool>,
}

/// `probe NAME { … }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// Its name.
    pub name: Ident,
    /// Its clauses.
    pub clauses: Vec<Spanned<ProbeClause>>,
}

/// One clause of a probe.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeClause {
    /// `returns TYPE`; `bool` when not said.
    Returns(Type),
    /// `command "a" "b"`: standard output decoded as the type, or success for a `bool`.
    Command(Vec<Str>),
    /// `file "p"`: whether it exists.
    File(Str),
    /// `host`: the host answers by name; the default.
    Host,
    /// `every D`: not asked more often.
    Every(Literal),
    /// `backoff FACTOR up to D`.
    Backoff {
        /// Each wait is this many times the one before.
        factor: Literal,
        /// Never waiting longer.
        up_to: Literal,
    },
    /// `timeout D`: one question.
    Timeout(Literal),
    /// `within D`: all attempts together.
    Within(Literal),
}

/// `feedback NAME TRIGGER, TRIGGER { blocks }` (reference §7).
#[derive(Debug, Clone, PartialEq)]
pub struct Feedback {
    /// Its name.
    pub name: Ident,
    /// What wakes it; any of them.
    pub triggers: Vec<Spanned<Trigger>>,
    /// The first block whose condition holds speaks.
    pub blocks: Vec<FeedbackBlock>,
}

/// What wakes a feedback provider.
#[derive(Debug, Clone, PartialEq)]
pub enum Trigger {
    /// `every N calls`.
    Calls(Literal),
    /// `every D`.
    Every(Literal),
    /// `on created("file")`.
    Created(Str),
    /// `on denied` or `on denied TOOLS`.
    Denied(Option<ToolSet>),
    /// `on e`: when `e` becomes true.
    When(Expr),
}

/// `SEVERITY [when e | unless e | otherwise]: "…" [observe "…"]* [suggest "…"]*`.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedbackBlock {
    /// `info`, `caution` or `warning`.
    pub severity: Ident,
    /// When it speaks.
    pub condition: BlockCondition,
    /// What it says.
    pub message: Template,
    /// `observe` and `suggest` lines, in source order.
    pub notes: Vec<Note>,
    /// The whole block.
    pub span: SpanEq,
}

/// When a feedback block speaks.
#[derive(Debug, Clone, PartialEq)]
pub enum BlockCondition {
    /// Nothing said.
    Always,
    /// `when e` / `unless e`.
    Guard(Guard),
    /// `otherwise`.
    Otherwise,
}

/// A line under a feedback message.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// `suggest` rather than `observe`.
    pub suggest: bool,
    /// Its text.
    pub text: Template,
}

/// `completion { [at most N blocks] checks }` (reference §8).
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// `at most N blocks`.
    pub at_most: Option<Literal>,
    /// All must pass.
    pub checks: Vec<Check>,
}

/// One completion check.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// What it asks.
    pub kind: CheckKind,
    /// The whole check.
    pub span: SpanEq,
}

/// Every completion check (reference §8).
#[derive(Debug, Clone, PartialEq)]
pub enum CheckKind {
    /// `file "p"`.
    File(Str),
    /// `file "p" contains "…"`.
    FileContains(Str, Str),
    /// `file "p" conforms CONTRACT`.
    FileConforms(Str, Ident),
    /// `command "a" "b" exits N [within D]`.
    Command {
        /// The binary and its arguments.
        argv: Vec<Str>,
        /// The expected exit status.
        exits: Literal,
        /// The time limit.
        within: Option<Literal>,
    },
    /// `git committed`.
    GitCommitted,
    /// `every ITEM is STATE`.
    Every {
        /// The lifecycle.
        lifecycle: Ident,
        /// The state every item must be in.
        state: Ident,
    },
    /// `attest NAME`.
    Attest(Ident),
    /// `all { checks }`.
    All(Vec<Check>),
    /// `any { checks }`.
    Any(Vec<Check>),
    /// A boolean expression.
    Expr(Expr),
}

/// `attest NAME { dimension: check … }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Attest {
    /// Its name.
    pub name: Ident,
    /// Its dimensions, each a check or a score in 0..=1.
    pub dimensions: Vec<(Ident, Check)>,
}

/// `goal NAME { e; e }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// Its name.
    pub name: Ident,
    /// What is to become true.
    pub conditions: Vec<Expr>,
}

/// `contract NAME { … }` (reference §9).
#[derive(Debug, Clone, PartialEq)]
pub struct Contract {
    /// Its name.
    pub name: Ident,
    /// Its clauses.
    pub clauses: Vec<Spanned<ContractClause>>,
}

/// One clause of a contract.
#[derive(Debug, Clone, PartialEq)]
pub enum ContractClause {
    /// A field of the envelope.
    Field(Field),
    /// `items NAME: SHAPE [max N] [by KEY]`.
    Items {
        /// The member that holds the items.
        name: Ident,
        /// What one item looks like.
        shape: ItemShape,
        /// How many are kept.
        max: Option<Literal>,
        /// Best first, by this key.
        by: Option<Ident>,
    },
    /// `bounds { depth 8, string 4000, bytes 1MiB, quarantine 20 }`.
    Bounds(Vec<(Ident, Literal)>),
    /// `reference a.b in e`.
    Reference {
        /// The member that refers.
        path: Vec<Ident>,
        /// What it may refer to.
        allowed: Expr,
    },
}

/// The shape of a contract's items.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemShape {
    /// A declared type (its refinements exclude `max`, which belongs to the list).
    Type(Type),
    /// `schema "file"`.
    Schema(Str),
}

/// `test "…" { steps }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// Its title.
    pub title: Str,
    /// What happens, in order.
    pub steps: Vec<TestStep>,
}

/// One step of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct TestStep {
    /// What it does or expects.
    pub kind: TestStepKind,
    /// The whole step.
    pub span: SpanEq,
}

/// `TOOL(args)` in a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool.
    pub tool: Ident,
    /// Its arguments, by name.
    pub args: Vec<Arg>,
}

/// Every step of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub enum TestStepKind {
    /// `ok CALL [returns e]` / `fails CALL`: must be allowed; then it runs.
    Run {
        /// It succeeds.
        success: bool,
        /// What is called.
        call: ToolCall,
        /// What it returns.
        returns: Option<Expr>,
    },
    /// `allowed CALL`: would be allowed; nothing runs.
    Allowed(ToolCall),
    /// `denied CALL [by CODE[(names)]] [because "…"]`.
    Denied {
        /// What is asked.
        call: ToolCall,
        /// The reason code expected among the reasons.
        by: Option<Ident>,
        /// Names the reason must mention.
        names: Vec<Ident>,
        /// Text the reason must contain.
        because: Option<Str>,
    },
    /// `asks CALL [of ROLE]`.
    Asks {
        /// What is asked.
        call: ToolCall,
        /// Who must approve.
        of: Option<Ident>,
    },
    /// `waits CALL [for TOOL]`.
    Waits {
        /// What is asked.
        call: ToolCall,
        /// The tool whose call is in flight.
        for_tool: Option<Ident>,
    },
    /// `start NAME = CALL`: must be allowed, stays in flight.
    Start(Ident, ToolCall),
    /// `finish NAME ok|fails [returns e]`.
    Finish {
        /// The started call.
        name: Ident,
        /// It succeeds.
        success: bool,
        /// What it returns.
        returns: Option<Expr>,
    },
    /// `approve CALL by ROLE [within D]`.
    Approve {
        /// Exactly this call.
        call: ToolCall,
        /// Who approves.
        role: Ident,
        /// For how long.
        within: Option<Literal>,
    },
    /// `after D`: the clock advances.
    After(Literal),
    /// `at "2026-01-05T09:00:00Z"`: the clock is set.
    At(Str),
    /// `exists "p"` / `missing "p"`: the file system changes.
    Exists(bool, Str),
    /// `file "p" contains "…"`: a file with this content exists.
    File(Str, Str),
    /// `probe NAME = e`: what the probe answers from now on.
    Probe(Ident, Expr),
    /// `usage N UNIT`: the host reports use.
    Usage(Literal, Ident),
    /// `prompt "…"`: the user speaks.
    Prompt(Str),
    /// `expect e`: true of state, history and clock now.
    Expect(Expr),
    /// `halted`: the session is halted.
    Halted,
    /// `resume by ROLE`.
    Resume(Ident),
    /// `feedback NAME [contains "…"]`: delivered by the step before.
    Feedback(Ident, Option<Str>),
    /// `no feedback [NAME]`.
    NoFeedback(Option<Ident>),
    /// `stop allowed|blocked|bypassed [because "…"]`.
    Stop(Ident, Option<Str>),
}

/// A message with interpolation: `"{path} is outside"`; `{{` and `}}` are literal braces.
#[derive(Debug, Clone)]
pub struct Template {
    /// Text and expressions, in order; no two texts adjacent, no text empty.
    pub parts: Vec<TemplatePart>,
    /// With the quotes.
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
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands, parentheses excluded.
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
    /// `"…"`, unescaped, never interpolated.
    String(String),
    /// `/re/`, the text between the slashes with `\/` unescaped.
    Regex(String),
    /// A variable, parameter, binder, enum variant, tool, or one of `now elapsed workspace clock deadline result text`.
    Name(String),
    /// `e.name`.
    Field(Box<Expr>, Ident),
    /// `e[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `name(args)`: a builtin, a history question, a conversion.
    Call(Ident, Vec<Arg>),
    /// `known FACT(args)`.
    Known(Ident, Vec<Arg>),
    /// `probe NAME`.
    Probe(Ident),
    /// `not e`, `-e`, `once e`, `historically e`, `previous e`.
    Unary(UnaryOp, Box<Expr>),
    /// Every infix operator but `else`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `e is none` (false) / `e is some` (true).
    Is(Box<Expr>, bool),
    /// `e else default`.
    Else(Box<Expr>, Box<Expr>),
    /// `if c then a else b`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `all x in xs: p`, `any x in xs: p`, `count(x in xs: p)`, `sum(x in xs: e)`.
    Quantified {
        /// Which.
        op: Quantifier,
        /// One name, or several in step with `zip(…)` or map entries.
        binders: Vec<Ident>,
        /// What they range over.
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
    /// `within`: paths, or history within a duration.
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
}
