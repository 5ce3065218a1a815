//! Scenarios: `test` blocks and their steps.

use super::*;

/// `test "…" { steps }`.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// Its title.
    pub title: Str,
    /// What happens, in order.
    pub steps: Vec<TestStep>,
}

/// One step of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct TestStep {
    /// What it does or expects.
    pub kind: TestStepKind,
    /// The whole step.
    pub span: SpanEq,
}

/// `TOOL(args)` in a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool.
    pub tool: Ident,
    /// Its arguments, by name.
    pub args: Vec<Arg>,
}

/// Every step of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub enum TestStepKind {
    /// `ok CALL [as NAME] [returns e]` / `fails CALL`: must be allowed; then it runs.
    Run {
        /// It succeeds.
        success: bool,
        /// What is called.
        call: ToolCall,
        /// The call's id, for evidence.
        name: Option<Ident>,
        /// What it returns.
        returns: Option<Expr>,
    },
    /// `allowed CALL`: would be allowed; nothing runs.
    Allowed(ToolCall),
    /// `denied CALL [by CODE[(names)]] [because "…"]`.
    Denied {
        /// What is asked.
        call: ToolCall,
        /// The reason code expected among the reasons.
        by: Option<Ident>,
        /// Names the reason must mention.
        names: Vec<Ident>,
        /// Text the reason must contain.
        because: Option<Str>,
    },
    /// `asks CALL [of ROLE]`.
    Asks {
        /// What is asked.
        call: ToolCall,
        /// Who must approve.
        of: Option<Ident>,
    },
    /// `waits CALL [for TOOL]`.
    Waits {
        /// What is asked.
        call: ToolCall,
        /// The tool whose call is in flight.
        for_tool: Option<Ident>,
    },
    /// `start NAME = CALL`: must be allowed, stays in flight.
    Start(Ident, ToolCall),
    /// `finish NAME ok|fails [returns e]`.
    Finish {
        /// The started call.
        name: Ident,
        /// It succeeds.
        success: bool,
        /// What it returns.
        returns: Option<Expr>,
    },
    /// `approve CALL by ROLE [within D]`.
    Approve {
        /// Exactly this call.
        call: ToolCall,
        /// Who approves.
        role: Ident,
        /// For how long.
        within: Option<Literal>,
    },
    /// `after D`: the clock advances.
    After(Literal),
    /// `at "2026-01-05T09:00:00Z"`: the clock is set.
    At(Str),
    /// `exists "p"` / `missing "p"`: the file system changes.
    Exists(bool, Str),
    /// `file "p" contains "…"`: a file with this content exists.
    File(Str, Str),
    /// `probe NAME = e`: what the probe answers from now on.
    Probe(Ident, Expr),
    /// `usage N UNIT`: the host reports use.
    Usage(Literal, Ident),
    /// `prompt "…"`: the user speaks.
    Prompt(Str),
    /// `expect e`: true of state, history and clock now.
    Expect(Expr),
    /// `halted`: the session is halted.
    Halted,
    /// `resume by ROLE`.
    Resume(Ident),
    /// `feedback NAME [contains "…"]`: delivered by the step before.
    Feedback(Ident, Option<Str>),
    /// `no feedback [NAME]`.
    NoFeedback(Option<Ident>),
    /// `stop allowed|blocked|bypassed|incomplete [because "…"]`.
    Stop(Ident, Option<Str>),
    /// `data e`, first: what the session is opened with.
    Data(Expr),
    /// `command "a" "b" exits N [contains "…"]` or `… times out`: what the command does from now on.
    Command {
        /// The binary and its arguments.
        argv: Vec<Str>,
        /// Its exit status; none where it does not end.
        exits: Option<Literal>,
        /// What it prints.
        output: Option<Str>,
    },
    /// `git committed` / `git uncommitted`.
    Git(bool),
    /// `verify "ITEM" [because "…"]`: the harness looks at its criteria; what it says contains the text.
    Verify(Str, Option<Str>),
    /// `move "ITEM" by TRANSITION [because "…"]`: the harness moves it, for this reason.
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
        /// What remains of it.
        state: Ident,
        /// It is cut.
        truncated: bool,
        /// How many items survive.
        items: Option<Literal>,
        /// Why units did not, in their order.
        quarantined: Vec<Ident>,
        /// What the report says.
        contains: Option<Str>,
    },
}
