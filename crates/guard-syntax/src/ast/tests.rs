//! Scenarios: `test` blocks and their steps.

use super::*;

/// `test "…" { steps }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// The title.
    pub title: Str,
    /// The title of the test whose steps run first, from `after`.
    pub after: Option<Str>,
    /// The steps, in order.
    pub steps: Vec<TestStep>,
}

/// One step of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct TestStep {
    /// The kind of step.
    pub kind: TestStepKind,
    /// The whole step.
    pub span: SpanEq,
}

/// `TOOL(args)` in a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct TestCall {
    /// The tool.
    pub tool: Ident,
    /// The arguments, by name.
    pub args: Vec<Arg>,
}

/// Every step of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub enum TestStepKind {
    /// `ok CALL [as NAME] [returns e] [undecoded]` / `fails CALL`: the call must be allowed, and then runs.
    Run {
        /// True if it succeeds.
        success: bool,
        /// The call.
        call: TestCall,
        /// The call's id, for evidence.
        name: Option<Ident>,
        /// The result that the call returns.
        returns: Option<Expr>,
        /// True if the result must not decode. Without `returns`, it cannot be parsed as JSON.
        undecoded: bool,
    },
    /// `allowed CALL`: the call would be allowed. It does not run.
    Allowed(TestCall),
    /// `denied CALL [by CODE[(names)]] [because "…"]`.
    Denied {
        /// The proposed call.
        call: TestCall,
        /// The reason code expected among the reasons.
        by: Option<Ident>,
        /// Names the reason must mention.
        names: Vec<Ident>,
        /// Text the reason must contain.
        because: Option<Str>,
    },
    /// `asks CALL [of ROLE]`.
    Asks {
        /// The proposed call.
        call: TestCall,
        /// The role that must approve.
        of: Option<Ident>,
    },
    /// `waits CALL [by CODE] [for TOOL]`.
    Waits {
        /// The proposed call.
        call: TestCall,
        /// The reason code expected among the reasons.
        by: Option<Ident>,
        /// The tool whose call is in flight.
        for_tool: Option<Ident>,
    },
    /// `start NAME = CALL`: the call must be allowed, and stays in flight.
    Start(Ident, TestCall),
    /// `finish NAME ok|fails [returns e] [undecoded]`.
    Finish {
        /// The started call.
        name: Ident,
        /// True if it succeeds.
        success: bool,
        /// The result that the call returns.
        returns: Option<Expr>,
        /// True if the result must not decode. Without `returns`, it cannot be parsed as JSON.
        undecoded: bool,
    },
    /// `approve CALL by ROLE [within D]`.
    Approve {
        /// The exact call.
        call: TestCall,
        /// The role that approves.
        role: Ident,
        /// The validity of the approval.
        within: Option<Literal>,
    },
    /// `revoke CALL by ROLE`.
    Revoke {
        /// The exact call.
        call: TestCall,
        /// The role that revokes its approval.
        role: Ident,
    },
    /// `after D`: the clock advances.
    After(Literal),
    /// `at "2026-01-05T09:00:00Z"`: the clock is set.
    At(Str),
    /// `exists "p"` / `missing "p"`: the file system changes.
    Exists(bool, Str),
    /// `file "p" contains "…"`: a file with this content exists.
    File(Str, Str),
    /// `probe NAME = e`: the probe's answer from now on.
    Probe(Ident, Expr),
    /// `usage N UNIT`: the host reports usage.
    Usage(Literal, Ident),
    /// `prompt "…"`: a message from the user.
    Prompt(Str),
    /// `expect e`: a condition on the current state, history and clock.
    Expect(Expr),
    /// `shows e`: the part of the last result that the agent reads.
    Shows(Expr),
    /// `halted`: the session is halted.
    Halted,
    /// `resume by ROLE`.
    Resume(Ident),
    /// `feedback NAME [contains "…"]`: feedback delivered by the previous step.
    Feedback(Ident, Option<Str>),
    /// `no feedback [NAME]`.
    NoFeedback(Option<Ident>),
    /// `stop allowed|blocked|bypassed|incomplete [because "…"]`.
    Stop(Ident, Option<Str>),
    /// `data e`, as the first step: the opening data of the session.
    Data(Expr),
    /// `command "a" "b" exits N [contains "…"]` or `… times out`: the command's result from now on.
    Command {
        /// The binary and its arguments.
        argv: Vec<Str>,
        /// The exit status; `None` if it times out.
        exits: Option<Literal>,
        /// The output.
        output: Option<Str>,
    },
    /// `git committed` / `git uncommitted`.
    Git(bool),
    /// `verify "ITEM" [because "…"]`: the harness judges the item's criteria. The resulting reasons
    /// contain the text.
    Verify(Str, Option<Str>),
    /// `move "ITEM" by TRANSITION [because "…"]`: the harness moves the item, with this reason.
    Move(Str, Ident, Option<Str>),
    /// `item "ITEM" is STATE`.
    Item(Str, Ident),
    /// `advice TOOL is ready|blocked|ask|wait|first [contains "…"]`.
    Advice(Ident, Ident, Option<Str>),
    /// `expect report CONTRACT "…"… is valid|partial|lost [truncated] [items N] [quarantined R, …] [contains "…"]`.
    Report {
        /// The contract.
        contract: Ident,
        /// The lines of the text.
        lines: Vec<Str>,
        /// The expected state of the report.
        state: Ident,
        /// True if the text is cut off.
        truncated: bool,
        /// The number of valid items.
        items: Option<Literal>,
        /// The reasons of the quarantined units, in order.
        quarantined: Vec<Ident>,
        /// A text that the report contains.
        contains: Option<Str>,
    },
}
