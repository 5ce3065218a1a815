//! A tool of a plan, and the clauses that govern it (language reference §5).

use super::*;

/// The risk level of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Risk {
    /// Nothing to fear.
    Low,
    /// Some care.
    Medium,
    /// Much care.
    High,
    /// Disastrous when wrong.
    Critical,
}

/// `risk LEVEL when e`: the danger of the calls for which the condition holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConditionalRisk {
    /// Which rule.
    pub rule: RuleMeta,
    /// The level.
    pub level: Risk,
    /// The condition (an `unless` is negated when lowered).
    pub when: Expr,
    /// As written: `when …` or `unless …`.
    pub text: String,
}

/// A tool and everything that governs it, policies included (language reference §5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Its name in the guard.
    pub name: String,
    /// The name the harness uses.
    pub wire_name: String,
    /// The name a person reads.
    pub title: Option<String>,
    /// Its `///` text.
    pub doc: String,
    /// Its tags, sorted.
    pub tags: Vec<String>,
    /// Its parameters, in order.
    pub params: Vec<Field>,
    /// The type that its result decodes to; opaque where not said.
    pub returns: Option<TypeId>,
    /// The forms besides its own in which its result is taken, if any.
    pub forms: Option<TakenForms>,
    /// The effect on the variables it observes of a result that does not decode.
    pub undecoded: Undecoded,
    /// The trust in its result.
    pub trust: Trust,
    /// The kernel serves it itself.
    pub served: Option<Served>,
    /// The kernel serves it itself: what the agent states is on record and in the state, and nothing else happens.
    pub states: bool,
    /// Belief in success before any evidence.
    pub prior: Option<Prior>,
    /// The danger of every call.
    pub risk: Risk,
    /// The danger of some calls.
    pub risks: Vec<ConditionalRisk>,
    /// It cannot be undone.
    pub irreversible: bool,
    /// The span of its declaration.
    pub span: SpanId,
    /// Worst-case number of evaluation steps of one decision.
    pub steps: u64,
    /// The calls that must have succeeded.
    pub requires: Vec<Requires>,
    /// When it is refused.
    pub denies: Vec<Deny>,
    /// Which counters it is held to.
    pub limits: Vec<LimitUse>,
    /// The costs of a call.
    pub costs: Vec<Cost>,
    /// The changes of the state, simulated before and applied on success.
    pub effects: Vec<Effect>,
    /// The invariants its effects can break, ascending.
    pub frame: Vec<InvariantId>,
    /// Who must approve.
    pub approvals: Vec<Approval>,
    /// Which probes must be true, by rule.
    pub ready: Vec<Ready>,
    /// The variables that are written from its result.
    pub observes: Vec<Observe>,
    /// The invariants its observations can break, ascending.
    pub observe_frame: Vec<InvariantId>,
    /// The facts that its result teaches.
    pub learns: Vec<Learn>,
    /// The conditions that must be true after it.
    pub reconciles: Vec<Reconcile>,
    /// The values that the agent reads in the place of parts of the result.
    pub transforms: Vec<Transform>,
    /// The parts of its result that are private, and who may read them.
    pub privates: Vec<PrivatePart>,
    /// The parts of its result that are trusted under a condition.
    pub endorsements: Vec<Endorsement>,
    /// The resources that its decision reads or its settlement may write, ascending. A call waits while one is unsettled
    /// that may write any of it.
    pub touches: Vec<Touch>,
    /// The resources that its settlement may write besides its own history, ascending.
    pub writes: Vec<Touch>,
    /// Memories to update when it succeeds, ascending.
    pub indexes: Vec<IndexId>,
    /// Memories of times to update when it settles, ascending.
    pub windows: Vec<WindowId>,
    /// The arguments of its last success are asked for.
    pub keeps_args: bool,
    /// The result of its last success is asked for.
    pub keeps_result: bool,
}

impl Tool {
    /// Returns whether the kernel serves it itself.
    pub fn is_served(&self) -> bool {
        self.served.is_some() || self.states
    }

    /// Returns the highest level that a call of it can have.
    pub fn highest_risk(&self) -> Risk {
        self.risks.iter().map(|risk| risk.level).fold(self.risk, Risk::max)
    }

    /// Returns true if every call of it needs an approval without an explicit rule (semantics §3.9).
    pub fn is_gated(&self) -> bool {
        self.irreversible && self.risk == Risk::Critical
    }

    /// Returns true if some calls of it need an approval without an explicit rule.
    pub fn may_be_gated(&self) -> bool {
        self.is_gated() || self.gates().next().is_some()
    }

    /// Returns the conditions under which a call needs an approval without an explicit rule (semantics §3.9); none where
    /// every call does.
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

/// Something that calls in parallel may get into one another's way over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Touch {
    /// A state variable.
    State(VarId),
    /// The rows of a fact.
    Fact(FactId),
    /// Which calls of a tool have settled, and how.
    History(ToolId),
}

/// `requires A or B … when e`: one of the alternatives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Requires {
    /// Who says it.
    pub rule: RuleMeta,
    /// One of these must hold.
    pub any_of: Vec<Requirement>,
    /// Only when this is true.
    pub when: Option<Expr>,
}

/// One alternative of a requirement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// The last call that settled (with these values) must be the success.
    pub latest: bool,
    /// The tool that must have succeeded.
    pub tool: ToolId,
    /// With these values: the memory and one expression per key parameter.
    pub key: Option<Key>,
    /// Begun after every call of this tool ended, and none of them began from then on.
    pub since: Option<ToolId>,
    /// Begun not longer ago than this.
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

/// `deny when e` (an `unless` is negated when lowered).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Deny {
    /// Who says it.
    pub rule: RuleMeta,
    /// Refused when this is true.
    pub condition: Expr,
    /// The condition as text, `when …` or `unless …`.
    pub text: String,
    /// Why.
    pub because: Option<Message>,
    /// The values to show.
    pub shows: Vec<Show>,
    /// For a `transform` of an argument: the value that is not refused.
    pub replacement: Option<Replacement>,
}

/// `transform PARAM = e`: its deny holds where the argument has another value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// The parameter.
    pub param: u32,
    /// The value in its place, over the arguments as proposed.
    pub value: Show,
    /// The condition as written, `when …` or `unless …`; empty where there is none.
    pub text: String,
}

/// A tool's use of a counter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LimitUse {
    /// The counter.
    pub limit: LimitId,
    /// Which key, where it is keyed.
    pub by: Option<Expr>,
    /// The key's type, for messages.
    pub by_type: Option<TypeId>,
}

/// `costs e UNIT`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Who says it.
    pub rule: RuleMeta,
    /// Of what.
    pub unit: UnitId,
    /// The amount: a decimal.
    pub amount: Expr,
    /// A failure of the call gives it back.
    pub returned: bool,
}

/// `approval ROLE when e`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// Who says it.
    pub rule: RuleMeta,
    /// Who approves.
    pub role: String,
    /// An approval older than this is not accepted.
    pub within: Option<Millis>,
    /// Only when this is true.
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
    /// Who says it.
    pub rule: RuleMeta,
    /// The probe, which must answer `true`.
    pub probe: ProbeId,
}

/// One effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Effect {
    /// Who says it.
    pub rule: RuleMeta,
    /// The collections to iterate over, from the outermost; once where there are none. At most [`MAX_RANGES`].
    pub ranges: Vec<Range>,
    /// Only elements for which this is true.
    pub when: Option<Expr>,
    /// The place that is written.
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
    /// `delete x`: an option becomes none, a map entry goes.
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
    /// True if what is written depends on how often it is done.
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
    /// The way into it.
    pub path: Vec<Step>,
}

impl Target {
    /// Returns the keys of the way, from the outermost.
    pub fn keys(&self) -> impl Iterator<Item = &Expr> {
        self.path.iter().filter_map(|step| match step {
            Step::Index(key) => Some(key),
            Step::Field(_) => None,
        })
    }
}

/// One step into a value.
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
    /// Its parts, in order.
    pub parts: Vec<Part>,
}

impl Message {
    /// The values that it shows, in order.
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
    /// Text.
    Text(String),
    /// A value.
    Value(Show),
}

/// A value to show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Show {
    /// Its expression as text: `env`, `orders[order_id].status`.
    pub label: String,
    /// The value.
    pub expr: Expr,
    /// The type by which it is rendered.
    pub ty: TypeId,
    /// It reads a secret: rendered as `(secret)`.
    pub secret: bool,
}
