//! Expressions: arrays of nodes.

use super::*;

/// An expression: an array of nodes in which children precede parents. The last node is the root.
/// The array is never empty, and every node except the root is used exactly once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Expr(pub Vec<Node>);

/// One node of an expression. `docs/reference/semantics.md` defines the meaning of each node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Node {
    /// The missing option.
    None,
    /// A boolean.
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
    /// An instant, in milliseconds since 1970.
    Time(Millis),
    /// A variant of an enum, by index.
    Enum(u32),
    /// The URL with this text; valid.
    Url(String),
    /// A list of the children.
    List(Vec<NodeId>),
    /// A set of the children.
    Set(Vec<NodeId>),
    /// A map from these keys to the children.
    Map(Vec<(String, NodeId)>),
    /// A record of the children, in field order.
    Record(Vec<NodeId>),
    /// An argument of the call, by parameter index.
    Param(u32),
    /// A state variable.
    State(VarId),
    /// A bound variable, by slot.
    Local(u32),
    /// The call's result (observe, learn, reconcile), or the data with which a session was opened
    /// (sources).
    Result,
    /// The session's workspace, a path.
    Workspace,
    /// The text of a prompt (sources).
    Text,
    /// The time of the decision.
    Now,
    /// The time since the session began.
    Elapsed,
    /// A part of the time of the decision, in UTC.
    Clock(ClockPart),
    /// The time left until the deadline, never negative; a fault if there is no deadline.
    RemainingTime,
    /// The remainder of a budget, a decimal.
    Remaining(UnitId),
    /// The amount spent of a unit, a decimal.
    Spent(UnitId),
    /// A field of a record. On an option, none gives none.
    Field(NodeId, u32),
    /// A member of a `json` object, as an option: none if the member is missing or the value is not
    /// an object.
    Member(NodeId, String),
    /// A part of a url.
    UrlPart(NodeId, UrlPart),
    /// An element of a list (by int), an entry of a map (by string), or either of these in a
    /// `json`, as an option.
    Index(NodeId, NodeId),
    /// The text of a bool, int or variant of this type as the key of a map.
    ToKey(NodeId, TypeId),
    /// The value of this type whose text is the given key of a map.
    FromKey(NodeId, TypeId),
    /// The row of a fact with this key, as an option of its record.
    Row(FactId, Vec<NodeId>),
    /// True if a fact has a row with these leading columns.
    Known(FactId, Vec<NodeId>),
    /// The rows of a fact, oldest first, as a list of records.
    Rows(FactId),
    /// `not`.
    Not(NodeId),
    /// `-`, of an int, decimal or duration.
    Neg(NodeId),
    /// `and`, left to right; the right operand is evaluated only if needed.
    And(NodeId, NodeId),
    /// `or`, left to right; the right operand is evaluated only if needed.
    Or(NodeId, NodeId),
    /// `implies`, left to right; the right operand is evaluated only if needed.
    Implies(NodeId, NodeId),
    /// A comparison. If an option is missing, the comparison is false, except `!=`, which is true.
    Compare(CompareOp, NodeId, NodeId),
    /// Arithmetic on two values of compatible types.
    Arith(ArithOp, NodeId, NodeId),
    /// True if the element is in the list or set or among the keys of the map, or if the substring
    /// is in the string.
    In(NodeId, NodeId),
    /// True if the first path equals the second or lies below it.
    Within(NodeId, NodeId),
    /// True if the regular expression matches somewhere in the string.
    Matches(NodeId, RegexId),
    /// True if the option has a value.
    IsSome(NodeId),
    /// The option's value, or the right operand if there is none.
    Else(NodeId, NodeId),
    /// The option's value, whose presence another rule has established; otherwise the fault
    /// `missing`.
    Unwrap(NodeId),
    /// `if c then a else b`.
    If(NodeId, NodeId, NodeId),
    /// A bounded quantifier.
    Quantified {
        /// The quantifier.
        op: QuantifierOp,
        /// One collection, or several lists that are iterated together. The lengths of the lists
        /// must be equal (a fault otherwise).
        over: Vec<NodeId>,
        /// The bound slots. Several lists have one slot each. One map or list with two slots has
        /// the key (or index) and the element. A single slot is the key of a map, or the element of
        /// another collection.
        binders: Vec<u32>,
        /// The body.
        body: NodeId,
    },
    /// A call of a pure builtin.
    Call(Builtin, Vec<NodeId>),
    /// True if a tool has succeeded.
    Called {
        /// The tool.
        tool: ToolId,
        /// The required argument values, if any: the memory and the nodes of the key.
        key: Option<(IndexId, Vec<NodeId>)>,
        /// Only successes after this tool's last success count, if it ever succeeded.
        since: Option<ToolId>,
        /// The maximum age of the success.
        within: Option<Millis>,
    },
    /// True if a tool has failed.
    Failed {
        /// The tool.
        tool: ToolId,
        /// Only failures after this tool's last success count, if it ever succeeded.
        since: Option<ToolId>,
        /// The maximum age of the failure.
        within: Option<Millis>,
    },
    /// The number of times that a tool has succeeded (or failed), an int.
    Calls {
        /// The tool.
        tool: ToolId,
        /// True if failures are counted rather than successes.
        failures: bool,
        /// Only the calls in this window count.
        window: Option<WindowId>,
    },
    /// An argument of a tool's last success, as an option.
    LastArg(ToolId, u32),
    /// The result of a tool's last success, as an option.
    LastResult(ToolId),
    /// The value of a temporal operator over the history up to now.
    Temporal(MonitorId),
    /// True if the file exists; asks the world.
    Exists(NodeId),
    /// The answer of a probe; asks the world.
    Probe(ProbeId),
    /// The words of the session's prompts: a string.
    Said,
    /// The origin where the value was first seen, in the built-in enum `prompt trusted untrusted
    /// unknown`, by index.
    Origin(NodeId),
    /// All origins where a value was seen, as a set.
    Seen(NodeId),
    /// True if the readers (a string, or a list or set of strings) may read all private content in
    /// a value.
    MayRead(NodeId, NodeId),
}

/// Parts of the time of a decision, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum ClockPart {
    /// The hour, 0 to 23.
    Hour,
    /// The minute, 0 to 59.
    Minute,
    /// The weekday, in the built-in enum `mon tue wed thu fri sat sun`, by index.
    Weekday,
    /// The day of the month, 1 to 31.
    Day,
    /// The month, 1 to 12.
    Month,
    /// The year, for instance 2026.
    Year,
}

/// Parts of a url.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum UrlPart {
    /// The scheme in lower case, without the colon.
    Scheme,
    /// The host in lower case; empty if there is none.
    Host,
    /// The port, an int: as written, or else 80 or 443 as the default of the scheme, or else 0.
    Port,
    /// The path with the leading slash, without query and fragment.
    Path,
    /// The query without the question mark; empty if there is none.
    Query,
}

/// Comparison operators.
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
    /// Returns true if the comparison holds for two values in this order.
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

/// Arithmetic operators.
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
    /// True if the body is true for every element; stops at the first for which it is not.
    All,
    /// True if the body is true for some element; stops at the first one.
    Any,
    /// The number of elements for which the body is true.
    Count,
    /// The sum of the bodies, for ints; 0 if there are no elements.
    SumInt,
    /// The sum of the bodies, for decimals.
    SumDecimal,
    /// The sum of the bodies, for durations.
    SumDuration,
    /// The first element for which the body is true, where the iteration stops: an option of the
    /// value of the last binder.
    First,
}
