//! The scenarios of a guard's `test` blocks, typed and ready to run.
//!
//! Whoever runs them (the command line on the kernel, the laws on the reference evaluator) interprets the
//! steps; nothing here runs anything.

pub(crate) mod fit;

use guard_plan::json::Json;
use guard_plan::plan::{Expr, TypeId};
use guard_plan::report::{QuarantineReason, State};
use guard_plan::verdict::Code;
use guard_syntax::span::Span;

/// One `test` block.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Its title.
    pub title: String,
    /// The block.
    pub span: Span,
    /// The test whose steps come first, by its place among the scenarios.
    pub after: Option<usize>,
    /// The number of steps that come first and are another test's.
    pub beginning: usize,
    /// What happens, in order.
    pub steps: Vec<ScenarioStep>,
}

/// Puts the steps of the tests that others begin after before theirs.
pub(crate) fn join(scenarios: &mut [Scenario]) {
    for at in 0..scenarios.len() {
        let before = std::iter::successors(scenarios[at].after, |test| scenarios[*test].after);
        let chain: Vec<usize> = before.collect();
        let own = |test: &usize| &scenarios[*test].steps[scenarios[*test].beginning..];
        let mut steps: Vec<ScenarioStep> = chain.iter().rev().flat_map(own).cloned().collect();
        let joined = &mut scenarios[at];
        joined.beginning = steps.len();
        steps.append(&mut joined.steps);
        joined.steps = steps;
    }
}

/// One step.
#[derive(Debug, Clone)]
pub struct ScenarioStep {
    /// What it does or expects.
    pub kind: StepKind,
    /// The step.
    pub span: Span,
    /// Its text as the formatter prints it, one line.
    pub text: String,
}

/// A call: the tool's wire name and its arguments, an object.
#[derive(Debug, Clone)]
pub struct Call {
    /// The tool's wire name.
    pub tool: String,
    /// The arguments.
    pub args: Json,
}

/// Every step (see `docs/reference/syntax.md`, scenario steps).
#[derive(Debug, Clone)]
pub enum StepKind {
    /// Must be allowed; then settles. Result `null` where none is given.
    Run {
        /// What is called.
        call: Call,
        /// Its id; numbered where it has none.
        name: Option<String>,
        /// It succeeds.
        success: bool,
        /// What it returns.
        result: Option<Json>,
        /// That must not decode; without a result, it cannot be read as JSON.
        undecoded: bool,
    },
    /// Would be allowed; nothing runs.
    Allowed(Call),
    /// Is denied; the denial is judged by feedback, as any.
    Denied {
        /// What is asked.
        call: Call,
        /// A deny reason with this code.
        by: Option<Code>,
        /// Among whose `needs`, or as whose rule, all of these stand.
        names: Vec<String>,
        /// Whose message contains this.
        because: Option<String>,
    },
    /// Would be asked.
    Asks {
        /// What is asked.
        call: Call,
        /// A role that must approve.
        of: Option<String>,
    },
    /// Would have to wait.
    Waits {
        /// What is asked.
        call: Call,
        /// A wait reason with this code.
        by: Option<Code>,
        /// For a call of this tool (wire name).
        for_tool: Option<String>,
    },
    /// Must be allowed; stays in flight under this name.
    Start(String, Call),
    /// Settles a started call.
    Finish {
        /// Its name.
        name: String,
        /// It succeeds.
        success: bool,
        /// What it returns.
        result: Option<Json>,
        /// That must not decode; without a result, it cannot be read as JSON.
        undecoded: bool,
    },
    /// An approval is recorded.
    Approve {
        /// Of exactly this call.
        call: Call,
        /// By whom.
        role: String,
        /// Milliseconds until it expires.
        within: Option<i64>,
    },
    /// An approval is taken back.
    Revoke {
        /// Of exactly this call.
        call: Call,
        /// The role that had approved it.
        role: String,
    },
    /// The clock advances by so many milliseconds.
    After(i64),
    /// The clock is set (milliseconds since 1970).
    At(i64),
    /// A file appears, or goes. The path as written.
    Exists(String, bool),
    /// A file with this content appears.
    File(String, String),
    /// What a probe answers from now on.
    Probe(String, Json),
    /// The host reports use, in units of 10⁻⁶.
    Usage(String, i64),
    /// The user speaks.
    Prompt(String),
    /// The expression, over state, history and clock, is true. Booleans only.
    Expect {
        /// The condition.
        condition: Expr,
        /// What to show when it is not: label, value and type.
        shows: Vec<(String, Expr, TypeId)>,
    },
    /// The agent reads this of the last result.
    Shows(Json),
    /// The session is halted.
    Halted,
    /// A halt ends.
    Resume(String),
    /// Delivered by the step before.
    Feedback(String, Option<String>),
    /// Not delivered by the step before.
    NoFeedback(Option<String>),
    /// The agent would stop: `allowed`, `blocked`, `bypassed` or `incomplete`, with this text in the message.
    Stop(String, Option<String>),
    /// What the session is opened with; the first step.
    Data(Json),
    /// What a command does from now on.
    Command {
        /// Its words.
        argv: Vec<String>,
        /// Its exit status; none where it does not end.
        exits: Option<u8>,
        /// What it prints.
        output: String,
    },
    /// Whether nothing is uncommitted, from now on.
    Committed(bool),
    /// The harness looks at the criteria of an item; what it says contains the text.
    Verify(String, Option<String>),
    /// The harness moves an item by a transition, for a reason.
    Move(String, String, Option<String>),
    /// The item is in this state.
    Item(String, String),
    /// The advice about a tool (wire name): `ready`, `blocked`, `ask`, `wait` or `first`, with this text in it.
    Advice(String, String, Option<String>),
    /// What is said of a text by a contract, with what the session knows.
    Report(ReportStep),
}

/// An expectation of the report on a text.
#[derive(Debug, Clone)]
pub struct ReportStep {
    /// The contract's name.
    pub contract: String,
    /// The text.
    pub text: String,
    /// What remains of it.
    pub state: State,
    /// It is cut; not asked where false.
    pub truncated: bool,
    /// How many items survive.
    pub items: Option<u64>,
    /// Why units did not, in their order; not asked where empty.
    pub quarantined: Vec<QuarantineReason>,
    /// What the report says in words.
    pub contains: Option<String>,
}
