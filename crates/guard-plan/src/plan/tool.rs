//! A tool of a plan, and the clauses that govern it (language reference §5).

use super::*;

/// The risk level of a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Risk {
    /// A harmless call.
    #[default]
    Low,
    /// A call that needs some care.
    Medium,
    /// A call that needs much care.
    High,
    /// A call that is disastrous if it is wrong.
    Critical,
}

/// `risk LEVEL when e`: the danger of the calls for which the condition holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConditionalRisk {
    /// The origin of the rule.
    pub rule: RuleMeta,
    /// The risk level.
    pub level: Risk,
    /// The condition. An `unless` was negated during lowering.
    pub when: Expr,
    /// The condition as written: `when …` or `unless …`.
    pub text: String,
}

/// A tool with all its rules, including those of policies (language reference §5).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The name of the tool in the guard.
    pub name: String,
    /// The name that the harness uses.
    pub wire_name: String,
    /// The title for people.
    pub title: Option<String>,
    /// The `///` text.
    pub doc: String,
    /// The tags, sorted.
    pub tags: Vec<String>,
    /// The parameters, in order.
    pub params: Vec<Field>,
    /// The type to which the result decodes. Without a declaration, the result is opaque.
    pub returns: Option<TypeId>,
    /// The other forms in which the result is accepted, if any.
    pub forms: Option<TakenForms>,
    /// The effect of a result that does not decode on the variables that the tool observes.
    pub undecoded: Undecoded,
    /// The trust in the result.
    pub trust: Trust,
    /// The lifecycle operation, if the kernel serves the tool itself.
    pub served: Option<Served>,
    /// True if the kernel serves the tool itself as a statement of the agent: the statement is
    /// recorded and written to the state, and nothing else happens.
    pub states: bool,
    /// The belief in success before there is any evidence.
    pub prior: Option<Prior>,
    /// The risk level of every call.
    pub risk: Risk,
    /// The risk levels of some calls, under conditions.
    pub risks: Vec<ConditionalRisk>,
    /// True if the call cannot be undone.
    pub irreversible: bool,
    /// The source position of the declaration.
    pub span: SpanId,
    /// The worst-case number of evaluation steps of one decision.
    pub steps: u64,
    /// The calls that must have succeeded.
    pub requires: Vec<Requires>,
    /// The conditions under which a call is refused.
    pub denies: Vec<Deny>,
    /// The limits that count the calls of the tool.
    pub limits: Vec<LimitUse>,
    /// The costs of a call.
    pub costs: Vec<Cost>,
    /// The changes of the state, simulated before the call and applied on success.
    pub effects: Vec<Effect>,
    /// The invariants that the effects can break, ascending.
    pub frame: Vec<InvariantId>,
    /// The required approvals.
    pub approvals: Vec<Approval>,
    /// The probes that must be true, by rule.
    pub ready: Vec<Ready>,
    /// The variables that are written from the result.
    pub observes: Vec<Observe>,
    /// The invariants that the observations can break, ascending.
    pub observe_frame: Vec<InvariantId>,
    /// The facts that the result teaches.
    pub learns: Vec<Learn>,
    /// The conditions that must be true after the call.
    pub reconciles: Vec<Reconcile>,
    /// The values that the agent reads in place of parts of the result.
    pub transforms: Vec<Transform>,
    /// The private parts of the result, with their readers.
    pub privates: Vec<PrivatePart>,
    /// The parts of the result that are trusted under a condition.
    pub endorsements: Vec<Endorsement>,
    /// The resources that the decision reads or the settlement may write, ascending. A call waits
    /// while an unsettled call may write any of them.
    pub touches: Vec<Touch>,
    /// The resources that the settlement may write, apart from the tool's own history, ascending.
    pub writes: Vec<Touch>,
    /// The memories to update when a call succeeds, ascending.
    pub indexes: Vec<IndexId>,
    /// The memories of times to update when a call is settled, ascending.
    pub windows: Vec<WindowId>,
    /// True if some rule reads the arguments of the last success.
    pub keeps_args: bool,
    /// True if some rule reads the result of the last success.
    pub keeps_result: bool,
}

impl Plan {
    /// Returns the tool that a call of this name is a call of: by the name that the harness uses, or
    /// by the name in the guard if no tool has that name (semantics §3).
    pub fn called(&self, name: &str) -> Option<&Tool> {
        let by_name = || self.tools.iter().find(|tool| tool.name == name);
        self.tools.iter().find(|tool| tool.wire_name == name).or_else(by_name)
    }
}

impl Tool {
    /// Returns true if the kernel serves the tool itself.
    pub fn is_served(&self) -> bool {
        self.served.is_some() || self.states
    }

    /// Returns the highest risk level that a call of the tool can have.
    pub fn highest_risk(&self) -> Risk {
        self.risks.iter().map(|risk| risk.level).fold(self.risk, Risk::max)
    }

    /// Returns true if every call of the tool needs an approval without an explicit rule (semantics
    /// §3.9).
    pub fn is_gated(&self) -> bool {
        self.irreversible && self.risk == Risk::Critical
    }

    /// Returns true if some calls of the tool need an approval without an explicit rule.
    pub fn may_be_gated(&self) -> bool {
        self.is_gated() || self.gates().next().is_some()
    }

    /// Returns the conditions under which a call needs an approval without an explicit rule
    /// (semantics §3.9). The result is empty if every call needs one.
    pub fn gates(&self) -> impl Iterator<Item = &ConditionalRisk> {
        let can_gate = self.irreversible && !self.is_gated();
        self.risks.iter().filter(move |risk| can_gate && risk.level == Risk::Critical)
    }

    /// Returns true if a call of this tool must wait for an unsettled call of `other`, whose id is `id` (semantics §7).
    pub fn waits_for(&self, id: ToolId, other: &Tool) -> bool {
        let touched = |touch: &Touch| self.touches.binary_search(touch).is_ok();
        touched(&Touch::History(id)) || other.writes.iter().any(touched)
    }
}

/// A resource over which parallel calls may conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Touch {
    /// A state variable.
    State(VarId),
    /// The rows of a fact.
    Fact(FactId),
    /// The history of a tool: the calls that were settled, and their outcomes.
    History(ToolId),
}

/// `requires A or B … when e`: one of the alternatives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Requires {
    /// The origin of the rule.
    pub rule: RuleMeta,
    /// The alternatives, one of which must hold.
    pub any_of: Vec<Requirement>,
    /// The condition under which the rule applies.
    pub when: Option<Expr>,
}

/// One alternative of a requirement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// True if the most recently settled call (with these values) must be the success.
    pub latest: bool,
    /// The tool that must have succeeded.
    pub tool: ToolId,
    /// The required argument values, if any: the memory and one expression per key parameter.
    pub key: Option<Key>,
    /// The tool whose calls must all have ended before the success began, with none begun since.
    pub since: Option<ToolId>,
    /// The maximum time since the success began, in milliseconds.
    pub within: Option<Millis>,
}

/// The key of a lookup in a [`SuccessIndex`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The memory.
    pub index: IndexId,
    /// One value per parameter of the memory.
    pub values: Vec<Expr>,
}

/// `deny when e`. An `unless` was negated during lowering.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Deny {
    /// The origin of the rule.
    pub rule: RuleMeta,
    /// The condition under which the call is refused.
    pub condition: Expr,
    /// The condition as text: `when …` or `unless …`.
    pub text: String,
    /// The reason from the source.
    pub because: Option<Message>,
    /// The values to show.
    pub shows: Vec<Show>,
    /// The value that is accepted, for a `transform` of an argument.
    pub replacement: Option<Replacement>,
}

/// `transform PARAM = e`. The deny rule applies if the argument has another value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// The index of the parameter.
    pub param: u32,
    /// The required value, an expression over the proposed arguments.
    pub value: Show,
    /// The condition as written: `when …` or `unless …`; empty if there is none.
    pub text: String,
}

/// A tool's use of a limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitUse {
    /// The limit.
    pub limit: LimitId,
    /// The key, if the limit is keyed.
    pub by: Option<Expr>,
    /// The type of the key, for messages.
    pub by_type: Option<TypeId>,
}

/// `costs e UNIT`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// The origin of the rule.
    pub rule: RuleMeta,
    /// The unit.
    pub unit: UnitId,
    /// The amount, a decimal.
    pub amount: Expr,
    /// True if a failed call gives the cost back.
    pub returned: bool,
}

/// `approval ROLE when e`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// The origin of the rule.
    pub rule: RuleMeta,
    /// The role that approves.
    pub role: String,
    /// The maximum age of an approval, in milliseconds.
    pub within: Option<Millis>,
    /// The condition under which the approval is needed.
    pub when: Option<Expr>,
    /// The message for the person who decides.
    pub because: Option<Message>,
    /// The values to show.
    pub shows: Vec<Show>,
}

/// `ready when probe NAME`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// The origin of the rule.
    pub rule: RuleMeta,
    /// The probe, which must answer `true`.
    pub probe: ProbeId,
}

/// An effect of a call on the state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Effect {
    /// The origin of the rule.
    pub rule: RuleMeta,
    /// The collections to iterate over, from the outermost. Without ranges, the effect runs once.
    /// At most [`MAX_RANGES`].
    pub ranges: Vec<Range>,
    /// The condition under which an element is processed.
    pub when: Option<Expr>,
    /// The variable, or part of one, that is written.
    pub target: Target,
    /// The operation.
    pub op: EffectOp,
    /// The operand; none for `delete`.
    pub value: Option<Expr>,
}

/// The seven operations on state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum EffectOp {
    /// `x = e`.
    Set,
    /// `x += e`.
    Add,
    /// `x -= e`.
    Subtract,
    /// `x *= e`.
    Multiply,
    /// `append e to xs`.
    Append,
    /// `add e to s`.
    Insert,
    /// `remove e from xs`: the element of a set, the first equal element of a list, the key of a map.
    Remove,
    /// `delete x`: an option becomes none, a map entry is removed.
    Delete,
}

impl Effect {
    /// Returns all expressions.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let over = self.ranges.iter().map(|range| &range.over);
        over.chain(&self.when).chain(self.target.keys()).chain(&self.value)
    }
}

impl EffectOp {
    /// Returns true if the written value depends on how often the effect is applied.
    pub fn accumulates(self) -> bool {
        use EffectOp::*;
        match self {
            Add | Subtract | Multiply | Append | Remove => true,
            Set | Insert | Delete => false,
        }
    }
}

/// A variable or a part of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The variable.
    pub var: VarId,
    /// The path from the variable to the part.
    pub path: Vec<Step>,
}

impl Target {
    /// Returns the keys on the path, from the outermost.
    pub fn keys(&self) -> impl Iterator<Item = &Expr> {
        self.path.iter().filter_map(|step| match step {
            Step::Index(key) => Some(key),
            Step::Field(_) => None,
        })
    }
}

/// One step of a path into a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Step {
    /// A record field.
    Field(u32),
    /// A map entry or list element. Setting a missing map entry as the last step creates it.
    Index(Expr),
}

/// A message with interpolated values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The parts, in order.
    pub parts: Vec<Part>,
}

impl Message {
    /// Returns the values that the message shows, in order.
    pub fn values(&self) -> impl Iterator<Item = &Show> {
        self.parts.iter().filter_map(|part| match part {
            Part::Value(show) => Some(show),
            Part::Text(_) => None,
        })
    }
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Part {
    /// Literal text.
    Text(String),
    /// An interpolated value.
    Value(Show),
}

/// A value to show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Show {
    /// The expression as text: `env`, `orders[order_id].status`.
    pub label: String,
    /// The expression.
    pub expr: Expr,
    /// The type by which the value is rendered.
    pub ty: TypeId,
    /// True if the expression reads a secret: it is then rendered as `(secret)`.
    pub secret: bool,
}
