//! The session-wide items: lifecycles, probes, feedback, completion, attests, goals, contracts.

use super::*;

/// `lifecycle NAME { … }` (reference §6).
#[derive(Debug, Clone, PartialEq)]
pub struct Lifecycle {
    /// The name.
    pub name: Ident,
    /// The clauses.
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
        /// The role to ask.
        role: Ident,
        /// The number of rejections of one item.
        after: Literal,
    },
}

/// A transition of a lifecycle.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// `agent` or `harness`.
    pub actor: Ident,
    /// The name.
    pub name: Ident,
    /// The source states.
    pub from: Vec<Ident>,
    /// The target state.
    pub to: Ident,
    /// `requires evidence`.
    pub evidence: bool,
    /// `when criteria pass` (true) or `when criteria fail` (false).
    pub criteria: Option<bool>,
}

/// `probe NAME { … }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// The name.
    pub name: Ident,
    /// The clauses.
    pub clauses: Vec<Spanned<ProbeClause>>,
}

/// One clause of a probe.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeClause {
    /// `returns TYPE [FORMS]`; `bool` by default.
    Returns(Type, OtherForms),
    /// `command "a" "b" [env "A" "B"]`: standard output decoded as the type, or success for a `bool`.
    Command {
        /// The binary and its arguments.
        argv: Vec<Str>,
        /// The environment variables that the command gets.
        env: Vec<Str>,
    },
    /// `file "p"`: true if the file exists.
    File(Str),
    /// `host`: the host answers by name; the default.
    Host,
    /// `every D`: the minimum interval between questions.
    Every(Literal),
    /// `backoff FACTOR up to D`.
    Backoff {
        /// The factor between consecutive delays.
        factor: Literal,
        /// The maximum delay.
        up_to: Literal,
    },
    /// `timeout D`: the time limit of one question.
    Timeout(Literal),
    /// `within D`: the time limit of all attempts together.
    Within(Literal),
}

/// `feedback NAME TRIGGER, TRIGGER { blocks }` (reference §7).
#[derive(Debug, Clone, PartialEq)]
pub struct Feedback {
    /// The name.
    pub name: Ident,
    /// The triggers, any of which activates the provider.
    pub triggers: Vec<Spanned<Trigger>>,
    /// The blocks; the first one whose condition holds is delivered.
    pub blocks: Vec<FeedbackBlock>,
}

/// A trigger of a feedback provider.
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
    /// The condition.
    pub condition: BlockCondition,
    /// The message.
    pub message: Template,
    /// `observe` and `suggest` lines, in source order.
    pub notes: Vec<FeedbackNote>,
    /// The whole block.
    pub span: SpanEq,
}

/// The condition of a feedback block.
#[derive(Debug, Clone, PartialEq)]
pub enum BlockCondition {
    /// No condition.
    Always,
    /// `when e` / `unless e`.
    Guard(ClauseCondition),
    /// `otherwise`.
    Otherwise,
}

/// A line under a feedback message.
#[derive(Debug, Clone, PartialEq)]
pub struct FeedbackNote {
    /// True for `suggest` rather than `observe`.
    pub suggest: bool,
    /// The text.
    pub text: Template,
}

/// `completion { [at most N blocks] checks }` (reference §8).
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// `at most N blocks`.
    pub at_most: Option<Literal>,
    /// The checks, all of which must pass.
    pub checks: Vec<Check>,
}

/// One completion check.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The kind of check.
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
    /// `command "a" "b" [env "A" "B"] exits N [within D]`.
    Command {
        /// The binary and its arguments.
        argv: Vec<Str>,
        /// The environment variables that the command gets.
        env: Vec<Str>,
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
    /// The name.
    pub name: Ident,
    /// The dimensions, each a check or a score in 0..=1.
    pub dimensions: Vec<(Ident, Check)>,
}

/// `goal NAME { e; e }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// The name.
    pub name: Ident,
    /// The conditions to reach.
    pub conditions: Vec<Expr>,
}

/// `contract NAME [: WHOLE] { … }` (reference §9).
#[derive(Debug, Clone, PartialEq)]
pub struct Contract {
    /// The name.
    pub name: Ident,
    /// The document, if it is not an object with the members of the clauses.
    pub whole: Option<Whole>,
    /// The clauses.
    pub clauses: Vec<Spanned<ContractClause>>,
}

/// A document that is not an envelope.
#[derive(Debug, Clone, PartialEq)]
pub enum Whole {
    /// `: TYPE`: one value.
    Value(Type),
    /// `: items SHAPE …`: a list.
    Items(ItemsClause, SpanEq),
}

/// `SHAPE [max N] [by KEY] [partial ok]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemsClause {
    /// The shape of an item.
    pub shape: ItemShape,
    /// The maximum number of items that are kept.
    pub max: Option<Literal>,
    /// The key that ranks items, best first.
    pub by: Option<Ident>,
    /// The range of `partial ok`, if it is written.
    pub partial: Option<SpanEq>,
}

/// One clause of a contract.
#[derive(Debug, Clone, PartialEq)]
pub enum ContractClause {
    /// A field of the envelope.
    Field(Field),
    /// `items NAME[.NAME]: SHAPE [max N] [by KEY] [partial ok] [as "NAME"]`.
    Items {
        /// The `///` lines; a nested list has those of the record's member.
        docs: Vec<String>,
        /// The member that holds the items; for a nested list, after the name of the outer list.
        path: Vec<Ident>,
        /// The shape of the items.
        list: ItemsClause,
        /// The name in JSON.
        wire: Option<Str>,
    },
    /// `bounds { depth 8, string 4000, bytes 1MiB, quarantine 20 }`.
    Bounds(Vec<(Ident, Literal)>),
    /// `reference a.b in e`.
    Reference {
        /// The member that contains the reference.
        path: Vec<Ident>,
        /// The allowed values.
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
