//! What speaks of a whole session: probes, sources, lifecycles, feedback, completion, goals.

use super::{
    AttestId, ContractId, Expr, Field, Learn, LifecycleId, Message, RuleMeta, ToolId, Type,
};
use guard_plan::plan::{
    Actor, Backoff, CriterionKind, Escalate, Millis, ServedOp, Severity, SourceKind,
};
use guard_syntax::span::Span;

/// A command, word for word.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Command {
    /// The binary and its arguments.
    pub argv: Vec<String>,
    /// The environment variables it is given, sorted.
    pub env: Vec<String>,
    /// How long it may take.
    pub within: Millis,
}

/// A question to the environment.
#[derive(Debug, Clone)]
pub struct Probe {
    /// Its name.
    pub name: String,
    /// What it answers.
    pub returns: Type,
    /// Who is asked.
    pub asks: ProbeAsks,
    /// An answer younger than this is used again.
    pub every: Option<Millis>,
    /// How long to wait after a failed attempt.
    pub backoff: Option<Backoff>,
    /// How long one question may take.
    pub timeout: Millis,
    /// How long after the first of a row of failed attempts it is given up.
    pub within: Option<Millis>,
}

/// Who answers a probe.
#[derive(Debug, Clone)]
pub enum ProbeAsks {
    /// The host, by the probe's name.
    Host,
    /// A command's status or output.
    Command(Command),
    /// Whether this file exists.
    File(String),
}

/// What is learned from what the host itself reports.
#[derive(Debug, Clone)]
pub struct Source {
    /// From what.
    pub kind: SourceKind,
    /// What it teaches, and who says so.
    pub learns: Vec<(RuleMeta, Learn)>,
}

/// What the kernel does where it serves a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// Of which lifecycle.
    pub lifecycle: LifecycleId,
    /// What; transitions by position in the program.
    pub op: ServedOp,
}

/// Items with stable ids and a state machine.
#[derive(Debug, Clone)]
pub struct Lifecycle {
    /// Its name.
    pub name: String,
    /// Its documentation.
    pub doc: String,
    /// Its name in the source.
    pub span: Span,
    /// What an item says.
    pub fields: Vec<Field>,
    /// Its states, in order of mention.
    pub states: Vec<String>,
    /// The first.
    pub initial: usize,
    /// The last ones.
    pub finals: Vec<usize>,
    /// Its transitions.
    pub transitions: Vec<Transition>,
    /// The kinds of criteria an item may have.
    pub criteria: Vec<CriterionKind>,
    /// Who is asked after how many rejections.
    pub escalate: Option<Escalate>,
}

/// A transition.
#[derive(Debug, Clone)]
pub struct Transition {
    /// Its name.
    pub name: String,
    /// Its name in the source.
    pub span: Span,
    /// Who makes it.
    pub actor: Actor,
    /// From which states.
    pub from: Vec<usize>,
    /// To which.
    pub to: usize,
    /// It requires evidence.
    pub evidence: bool,
    /// Made when the criteria pass, or when they fail.
    pub criteria: Option<bool>,
}

/// Advice.
#[derive(Debug, Clone)]
pub struct Feedback {
    /// Its name.
    pub name: String,
    /// Its name in the source.
    pub span: Span,
    /// Any of them wakes it.
    pub triggers: Vec<Trigger>,
    /// The first whose condition holds speaks.
    pub blocks: Vec<Block>,
}

/// What wakes a provider.
#[derive(Debug, Clone)]
pub enum Trigger {
    /// So many judged events after it last spoke.
    Calls(u32),
    /// So long after it last spoke.
    Every(Millis),
    /// A file is there, once.
    Created(String),
    /// One of these was denied; any call where there are none.
    Denied(Option<Vec<ToolId>>),
    /// A condition becomes true.
    Becomes(Expr),
}

/// What a provider says.
#[derive(Debug, Clone)]
pub struct Block {
    /// How grave it is.
    pub severity: Severity,
    /// Only when this is true.
    pub when: Option<Expr>,
    /// What it says.
    pub message: Message,
    /// Lines under it: whether it is a suggestion, and its text.
    pub notes: Vec<(bool, Message)>,
}

/// What must hold before the agent may stop.
#[derive(Debug, Clone)]
pub struct Completion {
    /// The block.
    pub span: Span,
    /// How often a stop may be blocked.
    pub at_most: u32,
    /// All must hold.
    pub checks: Vec<Check>,
}

/// One check.
#[derive(Debug, Clone)]
pub struct Check {
    /// What it asks.
    pub kind: CheckKind,
    /// It as text.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// Every check; each is the plan's of the same name (`guard_plan::plan::CheckKind`).
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "documented once, at the plan's check of the same name")]
pub enum CheckKind {
    File(String),
    Contains(String, String),
    Conforms(String, ContractId),
    Command(Command, u8),
    Committed,
    Every(LifecycleId, usize),
    Attest(AttestId),
    All(Vec<Check>),
    Any(Vec<Check>),
    Condition(Expr),
    Score(Expr),
}

/// Several dimensions in one verdict.
#[derive(Debug, Clone)]
pub struct Attest {
    /// Its name.
    pub name: String,
    /// Its name in the source.
    pub span: Span,
    /// Its dimensions.
    pub dimensions: Vec<(String, Check)>,
}

/// What progress is measured against.
#[derive(Debug, Clone)]
pub struct Goal {
    /// Its name.
    pub name: String,
    /// Its documentation.
    pub doc: String,
    /// Its name in the source.
    pub span: Span,
    /// What is to become true, as text and as an expression.
    pub conditions: Vec<(String, Expr)>,
}

impl Check {
    /// Visits the check and all below it.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Check)) {
        visit(self);
        if let CheckKind::All(checks) | CheckKind::Any(checks) = &self.kind {
            checks.iter().for_each(|check| check.walk(visit));
        }
    }
}
