//! Expressions: arrays of nodes.

use super::*;

/// An expression: nodes in which children precede parents; the last one is the root. Never empty, and
/// every node but the root is used exactly once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Expr(pub Vec<Node>);

/// One node of an expression. The reference of what each means is `docs/reference/semantics.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Node {
    /// The missing option.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A decimal in units of 10⁻⁶.
    Decimal(i64),
    /// A string.
    String(String),
    /// A path literal.
    Path(PathId),
    /// A duration.
    Duration(Millis),
    /// An instant, milliseconds since 1970.
    Time(Millis),
    /// A variant, by index in its enum.
    Enum(u32),
    /// The URL with this text; valid.
    Url(String),
    /// A list of its children.
    List(Vec<NodeId>),
    /// A set of its children.
    Set(Vec<NodeId>),
    /// A map from these keys to the children.
    Map(Vec<(String, NodeId)>),
    /// A record of its children, in field order.
    Record(Vec<NodeId>),
    /// An argument of the call, by parameter.
    Param(u32),
    /// A state variable.
    State(VarId),
    /// A bound variable, by slot.
    Local(u32),
    /// The call's result (observe, learn, reconcile), or what a session was opened with (sources).
    Result,
    /// The session's workspace, a path.
    Workspace,
    /// The text of a prompt (sources).
    Text,
    /// The time of the decision.
    Now,
    /// Time since the session began.
    Elapsed,
    /// A part of the time of the decision, in UTC.
    Clock(ClockPart),
    /// Time left until the deadline, never negative; a fault where there is none.
    RemainingTime,
    /// What is left of a budget, a decimal.
    Remaining(UnitId),
    /// What was spent of a unit, a decimal.
    Spent(UnitId),
    /// A field of a record; of an option: none stays none.
    Field(NodeId, u32),
    /// A member of a `json` object: an option; none where there is none or it is no object.
    Member(NodeId, String),
    /// A part of a url.
    UrlPart(NodeId, UrlPart),
    /// An element of a list (by int), an entry of a map (by string), of `json` either: an option.
    Index(NodeId, NodeId),
    /// The text that a bool, int or variant of this type has as the key of a map.
    ToKey(NodeId, TypeId),
    /// The value of this type whose text is the key of a map.
    FromKey(NodeId, TypeId),
    /// The row of a fact with this key: an option of its record.
    Row(FactId, Vec<NodeId>),
    /// Whether a fact has a row whose leading columns are these.
    Known(FactId, Vec<NodeId>),
    /// The rows of a fact, the oldest first: a list of records.
    Rows(FactId),
    /// `not`.
    Not(NodeId),
    /// `-`, of an int, decimal or duration.
    Neg(NodeId),
    /// `and`, left to right, the right one only if needed.
    And(NodeId, NodeId),
    /// `or`, left to right, the right one only if needed.
    Or(NodeId, NodeId),
    /// `implies`, left to right, the right one only if needed.
    Implies(NodeId, NodeId),
    /// A comparison. A missing option makes it false, `!=` true.
    Compare(CompareOp, NodeId, NodeId),
    /// Arithmetic on two values of fitting types.
    Arith(ArithOp, NodeId, NodeId),
    /// The element is in the list, set, or the keys of the map; the substring in the string.
    In(NodeId, NodeId),
    /// The path is the other or lies below it.
    Within(NodeId, NodeId),
    /// The string matches somewhere.
    Matches(NodeId, RegexId),
    /// The option has a value.
    IsSome(NodeId),
    /// The option's value, or the right one.
    Else(NodeId, NodeId),
    /// The option's value, which another rule has established; the fault `missing` otherwise.
    Unwrap(NodeId),
    /// `if c then a else b`.
    If(NodeId, NodeId, NodeId),
    /// A bounded quantifier.
    Quantified {
        /// Which.
        op: QuantifierOp,
        /// One collection; or several lists in step, whose lengths must be equal (a fault otherwise).
        over: Vec<NodeId>,
        /// The slots bound: one per list; for one map or list two: key (index) and element; one: of a map the
        /// key, else the element.
        binders: Vec<u32>,
        /// The body.
        body: NodeId,
    },
    /// A pure builtin.
    Call(Builtin, Vec<NodeId>),
    /// Whether a tool has succeeded.
    Called {
        /// The tool.
        tool: ToolId,
        /// With these values: memory and key nodes.
        key: Option<(IndexId, Vec<NodeId>)>,
        /// After this tool's last success, if it ever succeeded.
        since: Option<ToolId>,
        /// Not longer ago than this.
        within: Option<Millis>,
    },
    /// Whether a tool has failed.
    Failed {
        /// The tool.
        tool: ToolId,
        /// After this tool's last success, if it ever succeeded.
        since: Option<ToolId>,
        /// Not longer ago than this.
        within: Option<Millis>,
    },
    /// How often a tool has succeeded (or failed), an int.
    Calls {
        /// The tool.
        tool: ToolId,
        /// Failures rather than successes.
        failures: bool,
        /// Only those in this window.
        window: Option<WindowId>,
    },
    /// An argument of a tool's last success: an option.
    LastArg(ToolId, u32),
    /// The result of a tool's last success: an option.
    LastResult(ToolId),
    /// What a temporal operator says of the history up to now.
    Temporal(MonitorId),
    /// Whether the file exists; asks the world.
    Exists(NodeId),
    /// What the probe answers; asks the world.
    Probe(ProbeId),
    /// The words of the session's prompts: a string.
    Said,
    /// Where the value was first seen: the built-in enum `prompt trusted untrusted unknown`, by index.
    Origin(NodeId),
    /// All places where a value was seen: a set of origins.
    Seen(NodeId),
    /// Whether readers (a string, or a list or set of strings) may read all private content that stands in a value.
    MayRead(NodeId, NodeId),
}

/// Parts of the time of a decision, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum ClockPart {
    /// 0 to 23.
    Hour,
    /// 0 to 59.
    Minute,
    /// The built-in enum `mon tue wed thu fri sat sun`, by index.
    Weekday,
    /// Day of the month, 1 to 31.
    Day,
    /// 1 to 12.
    Month,
    /// For instance 2026.
    Year,
}

/// Parts of a url.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum UrlPart {
    /// Lower case, without the colon.
    Scheme,
    /// Lower case; empty where there is none.
    Host,
    /// An int; 80 or 443 where the scheme says so, 0 where nothing does.
    Port,
    /// With the leading slash; never with query or fragment.
    Path,
    /// Without the question mark; empty where there is none.
    Query,
}

/// Comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum CompareOp {
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
}

impl CompareOp {
    /// Returns true if the comparison holds of two values in this order.
    #[inline(always)]
    pub fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            CompareOp::Eq => order.is_eq(),
            CompareOp::Ne => order.is_ne(),
            CompareOp::Lt => order.is_lt(),
            CompareOp::Le => order.is_le(),
            CompareOp::Gt => order.is_gt(),
            CompareOp::Ge => order.is_ge(),
        }
    }
}

/// Arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum ArithOp {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum QuantifierOp {
    /// True of every element; stops at the first that is not.
    All,
    /// True of some element; stops at the first that is.
    Any,
    /// Of how many it is true.
    Count,
    /// The sum of the bodies; an int, decimal or duration by `SumKind`; 0 where there are none.
    SumInt,
    /// The sum of decimals.
    SumDecimal,
    /// The sum of durations.
    SumDuration,
    /// The first element of which it is true: an option of the value that the last binder has; stops there.
    First,
}
