//! The session-wide items: probes, sources, lifecycles, feedback, completion, goals.

use super::{
    AttestId, ContractId, Expr, Field, Learn, LifecycleId, Message, RuleMeta, ToolId, Type,
};
pub use guard_plan::plan::Command;
use guard_plan::plan::{
    Actor, Backoff, CriterionKind, Escalate, Millis, ServedOp, Severity, SourceKind, TakenForms,
};
use guard_syntax::span::Span;

impl Probe {
    /// Returns true if an answer may be reused for later questions.
    pub fn remembers(&self) -> bool {
        self.every.is_some() || self.backoff.is_some() || self.within.is_some()
    }
}

/// A question to the environment.
#[derive(Debug, Clone)]
pub struct Probe {
    /// The name.
    pub name: String,
    /// The type of its answer.
    pub returns: Type,
    /// The other forms in which its answer is accepted.
    pub forms: TakenForms,
    /// The source of its answer.
    pub asks: ProbeAsks,
    /// The maximum age of a reused answer.
    pub every: Option<Millis>,
    /// The delays after failed attempts.
    pub backoff: Option<Backoff>,
    /// The time limit of one question.
    pub timeout: Millis,
    /// The time after the first of consecutive failed attempts at which it gives up.
    pub within: Option<Millis>,
}

/// The source of a probe's answer.
#[derive(Debug, Clone)]
pub enum ProbeAsks {
    /// The host, by the probe's name.
    Host,
    /// A command's status or output.
    Command(Command),
    /// The existence of this file.
    File(String),
}

/// Facts that are learned from reports of the host.
#[derive(Debug, Clone)]
pub struct Source {
    /// The kind of report.
    pub kind: SourceKind,
    /// The lessons, with their rules.
    pub learns: Vec<(RuleMeta, Learn)>,
}

/// The action of the kernel for a tool that it serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// The lifecycle.
    pub lifecycle: LifecycleId,
    /// The action; transitions by position in the program.
    pub op: ServedOp,
}

/// Items with stable ids and a state machine.
#[derive(Debug, Clone)]
pub struct Lifecycle {
    /// The name.
    pub name: String,
    /// The documentation.
    pub doc: String,
    /// The position of its name in the source.
    pub span: Span,
    /// The fields of an item.
    pub fields: Vec<Field>,
    /// The states, in order of mention.
    pub states: Vec<String>,
    /// The initial state.
    pub initial: usize,
    /// The final states.
    pub finals: Vec<usize>,
    /// The transitions.
    pub transitions: Vec<Transition>,
    /// The kinds of criteria an item may have.
    pub criteria: Vec<CriterionKind>,
    /// The role to ask after a number of rejections.
    pub escalate: Option<Escalate>,
}

/// A transition.
#[derive(Debug, Clone)]
pub struct Transition {
    /// The name.
    pub name: String,
    /// The position of its name in the source.
    pub span: Span,
    /// The actor that makes it.
    pub actor: Actor,
    /// The source states.
    pub from: Vec<usize>,
    /// The target state.
    pub to: usize,
    /// True if it requires evidence.
    pub evidence: bool,
    /// True if it is made when the criteria pass, false if it is made when they fail.
    pub criteria: Option<bool>,
}

/// A feedback provider.
#[derive(Debug, Clone)]
pub struct Feedback {
    /// The name.
    pub name: String,
    /// The position of its name in the source.
    pub span: Span,
    /// The triggers, any of which wakes it.
    pub triggers: Vec<Trigger>,
    /// The blocks; the first one whose condition holds is delivered.
    pub blocks: Vec<Block>,
}

/// A trigger of a provider.
#[derive(Debug, Clone)]
pub enum Trigger {
    /// A number of judged events after its last message.
    Calls(u32),
    /// A time after its last message.
    Every(Millis),
    /// A file exists for the first time.
    Created(String),
    /// A call of one of these tools was denied; of any tool if there is no list.
    Denied(Option<Vec<ToolId>>),
    /// A condition becomes true.
    Becomes(Expr),
}

/// A message of a provider.
#[derive(Debug, Clone)]
pub struct Block {
    /// The severity.
    pub severity: Severity,
    /// The condition.
    pub when: Option<Expr>,
    /// The message.
    pub message: Message,
    /// The lines below it: true for a suggestion, and the text.
    pub notes: Vec<(bool, Message)>,
}

/// The conditions for a stop.
#[derive(Debug, Clone)]
pub struct Completion {
    /// The position of the block.
    pub span: Span,
    /// The maximum number of blocked stops.
    pub at_most: u32,
    /// The checks, all of which must hold.
    pub checks: Vec<Check>,
}

/// One check.
#[derive(Debug, Clone)]
pub struct Check {
    /// The kind of check.
    pub kind: CheckKind,
    /// The check as text.
    pub text: String,
    /// The position in the source.
    pub span: Span,
}

/// Every kind of check. Each is the plan's check of the same name (`guard_plan::plan::CheckKind`).
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

/// An attestation: several dimensions in one verdict.
#[derive(Debug, Clone)]
pub struct Attest {
    /// The name.
    pub name: String,
    /// The position of its name in the source.
    pub span: Span,
    /// The dimensions.
    pub dimensions: Vec<(String, Check)>,
}

/// A goal that measures progress.
#[derive(Debug, Clone)]
pub struct Goal {
    /// The name.
    pub name: String,
    /// The documentation.
    pub doc: String,
    /// The position of its name in the source.
    pub span: Span,
    /// The conditions, as text and as expressions.
    pub conditions: Vec<(String, Expr)>,
}

impl Check {
    /// Returns the condition or the score that decides the check by itself.
    pub fn expr(&self) -> Option<&Expr> {
        match &self.kind {
            CheckKind::Condition(e) | CheckKind::Score(e) => Some(e),
            _ => None,
        }
    }

    /// Visits the check and all checks below it.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Check)) {
        visit(self);
        if let CheckKind::All(checks) | CheckKind::Any(checks) = &self.kind {
            checks.iter().for_each(|check| check.walk(visit));
        }
    }
}
