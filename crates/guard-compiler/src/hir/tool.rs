//! Tools and the clauses that govern them.

use super::*;

/// A tool.
#[derive(Debug, Clone, Default)]
pub struct Tool {
    /// The name in the guard.
    pub name: String,
    /// The wire name that the harness uses.
    pub wire_name: String,
    /// The display name.
    pub title: Option<String>,
    /// The documentation.
    pub doc: String,
    /// The tags.
    pub tags: Vec<String>,
    /// The parameters.
    pub params: Vec<Field>,
    /// The type of its result.
    pub returns: Option<Type>,
    /// The other forms in which its result is accepted.
    pub forms: TakenForms,
    /// The effect of a result that does not decode on the variables that it observes.
    pub undecoded: Undecoded,
    /// The trust level of its result.
    pub trust: Trust,
    /// The kernel's own implementation, if any.
    pub served: Option<Served>,
    /// True if it is the tool of a `statement`, which the kernel serves.
    pub states: bool,
    /// The risk level.
    pub risk: Risk,
    /// True if it cannot be undone.
    pub irreversible: bool,
    /// The clauses, including those of policies.
    pub clauses: Vec<Clause>,
    /// The position of its name in the source.
    pub span: Span,
}

/// A clause and its owner.
#[derive(Debug, Clone)]
pub struct Clause {
    /// The rule.
    pub rule: RuleMeta,
    /// The kind of clause.
    pub kind: ClauseKind,
}

impl Clause {
    /// Returns the rule and what it teaches; `None` for a clause that is not a lesson.
    pub fn lesson(&self) -> Option<(&RuleMeta, &Learn)> {
        match &self.kind {
            ClauseKind::Learn(learn) => Some((&self.rule, learn)),
            _ => None,
        }
    }
}

impl Tool {
    /// Returns true if every call of the tool needs an approval without an explicit rule.
    pub fn is_gated(&self) -> bool {
        self.irreversible && self.risk == Risk::Critical
    }

    /// Returns true if some calls of the tool need such an approval.
    pub fn may_be_gated(&self) -> bool {
        self.is_gated() || self.gates().next().is_some()
    }

    /// Returns the rules and conditions under which a call needs such an approval; none if every
    /// call needs one.
    pub fn gates(&self) -> impl Iterator<Item = (&RuleMeta, &Expr)> {
        let can_gate = self.irreversible && !self.is_gated();
        self.clauses.iter().filter_map(move |clause| match &clause.kind {
            ClauseKind::Risk { level: Risk::Critical, when, .. } if can_gate => {
                Some((&clause.rule, when))
            }
            _ => None,
        })
    }

    /// Returns true if the kernel serves the tool itself.
    pub fn is_served(&self) -> bool {
        self.served.is_some() || self.states
    }
}

/// The clauses that decide or change something.
#[derive(Debug, Clone)]
pub enum ClauseKind {
    /// One of the alternatives must hold.
    Requires {
        /// The alternatives.
        any_of: Vec<Requirement>,
        /// The condition under which it applies.
        when: Option<Expr>,
    },
    /// Refuses the call if the condition is true.
    Deny {
        /// The condition; an `unless` is negated here.
        condition: Expr,
        /// The condition as written: `when …` or `unless …`.
        text: String,
        /// The reason.
        because: Option<Message>,
        /// The replacement, for a `transform` of an argument.
        replacement: Option<Replacement>,
    },
    /// Counts the call with a limit.
    Limit {
        /// The limit.
        limit: LimitId,
        /// The key.
        by: Option<Expr>,
    },
    /// Charges a unit.
    Costs {
        /// The unit.
        unit: UnitId,
        /// The amount: a decimal.
        amount: Expr,
        /// True if a failure returns the amount.
        returned: bool,
    },
    /// Sets the risk of the calls for which the condition holds.
    Risk {
        /// The level.
        level: Risk,
        /// The condition; an `unless` is negated here.
        when: Expr,
        /// The condition as written: `when …` or `unless …`.
        text: String,
    },
    /// Sets the prior of the success of a call, which applies before there is any evidence.
    Prior {
        /// The assumed number of successes: a decimal.
        alpha: Expr,
        /// The assumed number of failures: a decimal.
        beta: Expr,
    },
    /// Requires an approval.
    Approval {
        /// The role.
        role: String,
        /// The maximum age.
        within: Option<Millis>,
        /// The condition under which it applies.
        when: Option<Expr>,
        /// The message for the person who decides.
        because: Option<Message>,
    },
    /// The probe must answer true.
    Ready(ProbeId),
    /// Writes state on success.
    Effect {
        /// The collections to iterate over, from the outermost; without any, the effect is written
        /// once.
        ranges: Vec<Range>,
        /// The condition on elements, only with ranges.
        when: Option<Expr>,
        /// The target.
        target: Target,
        /// The operation.
        op: EffectOp,
        /// The operand.
        value: Option<Expr>,
    },
    /// Writes state from the result.
    Observe {
        /// The target.
        target: Target,
        /// The value.
        value: Expr,
        /// The type of the target: `json` is decoded to it.
        ty: Type,
        /// True if a violated invariant is only reported.
        warn: bool,
    },
    /// Teaches a fact.
    Learn(Learn),
    /// Shows a value to the agent instead of a part of the result.
    Transform {
        /// The members on the path to the part, by wire name.
        path: Vec<String>,
        /// The value.
        value: Expr,
        /// The condition under which it applies.
        when: Option<Expr>,
    },
    /// Makes a part of the result private.
    Private {
        /// The part.
        part: SelectedPart,
        /// The readers; `None` if nobody may read it.
        to: Option<Expr>,
        /// The condition under which it applies.
        when: Option<Expr>,
    },
    /// Makes a part of the result trusted.
    Endorse {
        /// The part.
        part: SelectedPart,
        /// If present, only the values that this function finds in the part are trusted.
        extractor: Option<Builtin>,
        /// The condition under which it is trusted.
        when: Option<Expr>,
    },
    /// Must be true after the call.
    Reconcile {
        /// The condition.
        condition: Expr,
        /// The condition as text.
        text: String,
        /// The reason for the halt if the condition does not hold.
        because: Option<Message>,
    },
}

/// The value that a `transform` asks for instead of an argument.
#[derive(Debug, Clone)]
pub struct Replacement {
    /// The parameter.
    pub param: u32,
    /// The value that is not refused.
    pub value: Expr,
    /// The condition as written: `when …`, `unless …` or nothing.
    pub text: String,
}

/// One alternative of a requirement.
#[derive(Debug, Clone)]
pub struct Requirement {
    /// True if the last settled call must be the success.
    pub latest: bool,
    /// The tool that must have succeeded.
    pub tool: ToolId,
    /// The required values of these parameters, ascending.
    pub key: Vec<(u32, Expr)>,
    /// The tool of which every call must have ended before the call began.
    pub since: Option<ToolId>,
    /// The maximum age of the success.
    pub within: Option<Millis>,
}

/// A variable or a part of one.
#[derive(Debug, Clone)]
pub struct Target {
    /// The variable.
    pub var: VarId,
    /// The path into it.
    pub path: Vec<Step>,
}

/// One step into a value.
#[derive(Debug, Clone)]
pub enum Step {
    /// A record field.
    Field(u32),
    /// A map entry or list element.
    Index(Expr),
}

/// `learn`.
#[derive(Debug, Clone)]
pub struct Learn {
    /// The relation.
    pub fact: FactId,
    /// The collections to iterate over, from the outermost.
    pub ranges: Vec<Range>,
    /// The condition on rows.
    pub when: Option<Expr>,
    /// One value per column.
    pub row: Vec<Expr>,
}

impl Learn {
    /// Returns all expressions, in the order of evaluation.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.ranges.iter().map(|range| &range.over).chain(&self.when).chain(&self.row)
    }
}

/// A part of a result, one for each element that its ranges bind.
#[derive(Debug, Clone)]
pub struct SelectedPart {
    /// The members on the path to the part, by wire name, and `[*]` for each element. The first `[*]` are the elements of the
    /// ranges.
    pub path: Vec<String>,
    /// The lists whose elements are distinguished, from the outermost.
    pub ranges: Vec<Range>,
}

/// `for a, b in e` of an `effect`, `learn`, `private` or `trusted`.
#[derive(Debug, Clone)]
pub struct Range {
    /// The collection.
    pub over: Expr,
    /// The bound slots.
    pub binders: Vec<u32>,
}

/// A message.
#[derive(Debug, Clone)]
pub struct Message {
    /// The parts.
    pub parts: Vec<Part>,
}

/// A part of a message.
#[derive(Debug, Clone)]
pub enum Part {
    /// Text.
    Text(String),
    /// An expression as text, and the expression.
    Value(String, Expr),
}
