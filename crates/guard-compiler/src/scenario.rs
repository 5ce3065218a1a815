//! The scenarios of the `test` blocks of a guard, typed and ready to run.
//!
//! The caller interprets the steps: the command line on the kernel, the laws on the reference
//! evaluator. Nothing here runs a step.

pub(crate) mod fit;

use guard_plan::json::Json;
use guard_plan::plan::{Expr, TypeId};
use guard_plan::report::{QuarantineReason, State};
use guard_plan::verdict::Code;
use guard_syntax::span::Span;

/// One `test` block.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The title.
    pub title: String,
    /// The position of the block.
    pub span: Span,
    /// The test whose steps are run first, by its index among the scenarios.
    pub after: Option<usize>,
    /// The number of steps at the beginning that belong to another test.
    pub beginning: usize,
    /// The steps, in order.
    pub steps: Vec<ScenarioStep>,
}

/// Inserts the steps of the tests that other tests begin after, in front of the steps of those
/// tests.
pub(crate) fn join(scenarios: &mut [Scenario]) {
    for at in 0..scenarios.len() {
        let before = std::iter::successors(scenarios[at].after, |test| scenarios[*test].after);
        let chain: Vec<usize> = before.collect();
        // A test that was joined before already begins with the steps of others.
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
    /// The kind of step.
    pub kind: StepKind,
    /// The position of the step.
    pub span: Span,
    /// The text on one line, as the formatter prints it.
    pub text: String,
}

/// A call: the wire name of the tool, and the arguments as an object.
#[derive(Debug, Clone)]
pub struct Call {
    /// The tool's wire name.
    pub tool: String,
    /// The arguments.
    pub args: Json,
}

/// Every kind of step (see `docs/reference/syntax.md`, scenario steps).
#[derive(Debug, Clone)]
pub enum StepKind {
    /// The call must be allowed, and is then settled. The default result is `null`.
    Run {
        /// The call.
        call: Call,
        /// The id of the call; numbered if `None`.
        name: Option<String>,
        /// True if the call succeeds.
        success: bool,
        /// The result of the call.
        result: Option<Json>,
        /// True if the result must not decode. Without a result, it cannot be parsed as JSON.
        undecoded: bool,
    },
    /// The call would be allowed. It is not run.
    Allowed(Call),
    /// The call is denied. The denial is judged for feedback, like any denial.
    Denied {
        /// The call.
        call: Call,
        /// A deny reason must have this code.
        by: Option<Code>,
        /// All of these names must be among the `needs` of the reason, or be its rule.
        names: Vec<String>,
        /// The message of the reason must contain this text.
        because: Option<String>,
    },
    /// The call would need an approval.
    Asks {
        /// The call.
        call: Call,
        /// A role that must approve.
        of: Option<String>,
    },
    /// The call would have to wait.
    Waits {
        /// The call.
        call: Call,
        /// A wait reason must have this code.
        by: Option<Code>,
        /// The call would wait for a call of this tool (wire name).
        for_tool: Option<String>,
    },
    /// The call must be allowed, and stays in flight under this name.
    Start(String, Call),
    /// Settles a started call.
    Finish {
        /// The name.
        name: String,
        /// True if the call succeeds.
        success: bool,
        /// The result of the call.
        result: Option<Json>,
        /// True if the result must not decode. Without a result, it cannot be parsed as JSON.
        undecoded: bool,
    },
    /// Records an approval.
    Approve {
        /// The exact call that is approved.
        call: Call,
        /// The role that approves it.
        role: String,
        /// The time until the approval expires, in milliseconds.
        within: Option<i64>,
    },
    /// Revokes an approval.
    Revoke {
        /// The exact call.
        call: Call,
        /// The role that had approved the call.
        role: String,
    },
    /// Advances the clock by this number of milliseconds.
    After(i64),
    /// Sets the clock (milliseconds since 1970).
    At(i64),
    /// Creates or removes a file. The path is as written.
    Exists(String, bool),
    /// Creates a file with this content.
    File(String, String),
    /// Sets the answer of a probe from now on.
    Probe(String, Json),
    /// The host reports use of a unit, in units of 10⁻⁶.
    Usage(String, i64),
    /// The user sends a prompt.
    Prompt(String),
    /// The expression over state, history and clock must be true. It must be a bool.
    Expect {
        /// The condition.
        condition: Expr,
        /// The values to show if it is not true: label, value and type.
        shows: Vec<(String, Expr, TypeId)>,
    },
    /// The agent reads this value of the last result.
    Shows(Json),
    /// The session must be halted.
    Halted,
    /// Ends a halt.
    Resume(String),
    /// The previous step must have delivered this feedback.
    Feedback(String, Option<String>),
    /// The previous step must not have delivered this feedback.
    NoFeedback(Option<String>),
    /// The agent tries to stop: `allowed`, `blocked`, `bypassed` or `incomplete`, with this text in
    /// the message.
    Stop(String, Option<String>),
    /// The data with which the session is opened. It must be the first step.
    Data(Json),
    /// Sets the result of a command from now on.
    Command {
        /// The words.
        argv: Vec<String>,
        /// The exit status; `None` if the command does not end.
        exits: Option<u8>,
        /// The output.
        output: String,
    },
    /// True if there are no uncommitted changes from now on.
    Committed(bool),
    /// The harness verifies the criteria of an item. The report must contain the text.
    Verify(String, Option<String>),
    /// The harness moves an item by a transition, with a reason.
    Move(String, String, Option<String>),
    /// The item must be in this state.
    Item(String, String),
    /// The advice about a tool (wire name): `ready`, `blocked`, `ask`, `wait` or `first`, with this
    /// text in the advice.
    Advice(String, String, Option<String>),
    /// The report of a contract on a text, with the data of the session.
    Report(ReportStep),
}

/// An expectation of the report on a text.
#[derive(Debug, Clone)]
pub struct ReportStep {
    /// The contract's name.
    pub contract: String,
    /// The text.
    pub text: String,
    /// The state of the text after it was judged.
    pub state: State,
    /// True if the text must be cut off; not checked if false.
    pub truncated: bool,
    /// The number of items that remain.
    pub items: Option<u64>,
    /// The reasons of the quarantined units, in order; not checked if empty.
    pub quarantined: Vec<QuarantineReason>,
    /// A text that the report must contain.
    pub contains: Option<String>,
}
