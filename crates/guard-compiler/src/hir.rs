//! The checked program: every name is resolved, every expression is typed, and policies are applied
//! to their tools.
//!
//! It contains no syntax, only spans. It is a tree that is close to the source, but the plan
//! lowered from it is flat and sorted. The reference evaluator runs on it. The operators are the
//! same as in the plan, so that each construct can be compared. `docs/reference/semantics.md`
//! defines them.

use guard_plan::builtin::Builtin;
use guard_plan::plan::{
    ArithOp, ClockPart, CompareOp, EffectOp, Millis, QuantifierOp, Risk, TakenForms, TemporalOp,
    Undecoded, UrlPart, WindowSize,
};
pub use guard_syntax::ast::PropertyMode;
use guard_syntax::span::Span;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) mod canon;
mod contract;
mod expr;
mod session;
mod tool;
mod ty;

pub use contract::*;
pub use expr::*;
pub use guard_plan::plan::{ServedOp, Trust};
pub use session::*;
pub use tool::*;
pub use ty::*;

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

/// The built-in enum of weekdays, always the first enum.
pub const WEEKDAY: EnumId = 0;
/// The built-in enum of origins, always the second enum.
pub const ORIGIN: EnumId = 1;
/// The number of built-in enums.
pub const BUILTIN_ENUMS: usize = 2;

/// A checked guard. Declarations are in source order.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The guard's name.
    pub guard: String,
    /// The language edition.
    pub edition: u32,
    /// True if the whole guard is in shadow mode.
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
    /// The sources of facts from reports of the host.
    pub sources: Vec<Source>,
    /// The lifecycles of items.
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
    /// The properties. Their clauses are in the tools.
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

    /// Returns true if a value of a type may contain secrets, at any depth.
    pub fn holds_secrets(&self, ty: &Type) -> bool {
        match ty.required() {
            Type::List(element, _) | Type::Set(element, _) | Type::Map(_, element, _) => {
                self.holds_secrets(element)
            }
            Type::Record(id) => {
                let def = &self.records[*id];
                let cases = def.union.iter().flat_map(|union| &union.cases);
                def.fields.iter().any(|field| field.secret || self.holds_secrets(&field.ty))
                    || cases.into_iter().any(|case| self.holds_secrets(&Type::Record(case.1)))
            }
            _ => false,
        }
    }

    /// Returns the tool with this name on the wire.
    pub fn tool_on_wire(&self, wire: &str) -> Option<ToolId> {
        self.tools.iter().position(|tool| tool.wire_name == wire)
    }

    /// Visits every command that the guard may run.
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
    /// The name.
    pub name: String,
    /// The variants, in order.
    pub variants: Vec<String>,
}

/// A record.
#[derive(Debug, Clone)]
pub struct RecordDef {
    /// The name.
    pub name: String,
    /// The fields, in order; empty for a union.
    pub fields: Vec<Field>,
    /// The cases, if it is a union.
    pub union: Option<Union>,
}

impl RecordDef {
    /// Returns a record that is not a union.
    pub fn new(name: impl Into<String>, fields: Vec<Field>) -> RecordDef {
        RecordDef { name: name.into(), fields, union: None }
    }
}

/// One of several records, distinguished by a member with a literal text.
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
    /// The name.
    pub name: String,
    /// The name in JSON.
    pub wire: String,
    /// The other forms in which its value is accepted.
    pub forms: TakenForms,
    /// The type.
    pub ty: Type,
    /// True if it never leaves the kernel as plain text.
    pub secret: bool,
    /// True for a column of a fact that keeps its texts in lower case.
    pub caseless: bool,
    /// The documentation.
    pub doc: String,
    /// The position of its name in the source.
    pub span: Span,
}

/// A state variable.
#[derive(Debug, Clone)]
pub struct StateVar {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: Type,
    /// The initial value, which is constant.
    pub init: Expr,
    /// The position of its name in the source.
    pub span: Span,
}

/// A unit that is spent.
#[derive(Debug, Clone)]
pub struct Unit {
    /// The name.
    pub name: String,
    /// The budget in units of 10⁻⁶.
    pub budget: Option<i64>,
    /// True if it is charged by reports of the host.
    pub host_charged: bool,
    /// The position of the budget's declaration.
    pub span: Span,
}

/// A property: rules that the rest of the guard is claimed to imply.
#[derive(Debug, Clone)]
pub struct Property {
    /// The name.
    pub name: String,
    /// The documentation.
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
    /// The documentation.
    pub doc: String,
    /// True if the rule is in shadow mode.
    pub shadow: bool,
    /// The property that it is part of.
    pub property: Option<PropertyId>,
    /// The position of the clause.
    pub span: Span,
}

/// A counter of allowed calls.
#[derive(Debug, Clone)]
pub struct Limit {
    /// The rule that declares it.
    pub rule: RuleMeta,
    /// The maximum number of allowed calls.
    pub count: u32,
    /// True if failed calls do not count.
    pub success: bool,
    /// The scope of the count.
    pub scope: guard_plan::plan::LimitScope,
    /// True if calls are counted per key.
    pub keyed: bool,
    /// The role that approves calls over the limit. If it is `None`, these calls are refused.
    pub ask: Option<String>,
}

/// A relation.
#[derive(Debug, Clone)]
pub struct Fact {
    /// The name.
    pub name: String,
    /// The record of its columns, keys first.
    pub row: RecordId,
    /// The number of leading columns that form the key.
    pub keys: usize,
    /// The maximum number of rows.
    pub max: u64,
    /// True if a further row halts the session; false if it replaces the oldest row.
    pub halts: bool,
    /// The position of its name in the source.
    pub span: Span,
    /// True if it comes from the bundled library. A guard may use only some of these facts.
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
