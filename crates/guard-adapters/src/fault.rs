//! Faults: each one duty forgotten or half done, as a tired engineer would do it. What each does stands in `lapse`.

/// Writes the list of faults: name, the clause that it breaks (docs/reference/adapter.md), and what is wrong.
macro_rules! faults {
    ($($name:ident $clause:literal $what:literal)*) => {
        /// What an adapter gets wrong. It is looked at where the duty is done.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub enum Fault {
            /// Nothing.
            #[default]
            None,
            $(#[doc = $what] $name,)*
        }

        impl Fault {
            /// All but [`Fault::None`].
            pub const ALL: &[Fault] = &[$(Fault::$name),*];

            /// The clause that it breaks; empty of none.
            pub fn clause(self) -> &'static str {
                match self {
                    Fault::None => "",
                    $(Fault::$name => $clause,)*
                }
            }

            /// What is wrong, as a clause of a sentence.
            pub fn what(self) -> &'static str {
                match self {
                    Fault::None => "does what it should",
                    $(Fault::$name => $what,)*
                }
            }
        }
    };
}

faults! {
    ForgetsHistory "LOOP-1" "shows the model the last two messages only"
    AnswersTwice "LOOP-2" "answers each call twice"
    CutsResults "LOOP-3" "cuts what a tool gave to ten characters"
    AsksOnceMore "LOOP-4" "asks the model once more after it may stop"
    DropsOutput "LOOP-5" "hands over no output"
    TrimsOutput "LOOP-5" "trims the output"
    FailureEndsLoop "LOOP-6" "ends the loop when a tool fails"
    RunsFirst "GATE-1" "runs the tool before the guard is asked"
    AuditOnly "GATE-1" "notes denials, and runs the call"
    OtherArguments "GATE-2" "runs other arguments than it had judged"
    RunsTwice "GATE-3" "runs each call twice, to be sure"
    AllowedIsNotRun "GATE-3" "answers allowed calls without running them"
    HidesDenials "GATE-4" "answers a denied call with nothing"
    GenericDenial "GATE-4" "says of each denial the same"
    FirstReason "GATE-5" "shows the first line of a denial only"
    NoHelp "GATE-5" "leaves out what would help"
    FirstCallOnly "GATE-6" "judges only the first call of a turn"
    DenialStopsTurn "GATE-6" "runs nothing of a turn after a denial"
    DenialEndsLoop "GATE-7" "ends the loop at a denial"
    DenialIsKept "GATE-7" "remembers denials, and does not ask again"
    FailureIsSuccess "GATE-8" "settles every call as a success"
    SettlesFirst "GATE-8" "settles a call as a success before it runs"
    SettlesLate "GATE-9" "settles calls a turn late"
    UnknownRuns "GATE-10" "runs tools that the guard does not know without asking"
    FoldsNames "GATE-11" "folds the case of tools' names"
    StripsPrefix "GATE-11" "strips the prefix of tools' names"
    RepairsNames "GATE-11" "takes a tool's name for the nearest one that is declared"
    InvalidRuns "GATE-12" "leaves wrong arguments to the tool"
    CoercesArguments "GATE-13" "turns texts that look like numbers into numbers"
    DropsArguments "GATE-13" "drops arguments that are not declared"
    FillsArguments "GATE-13" "fills in what is missing"
    FloatsNumbers "GATE-13" "reads whole numbers as floats"
    TrimsArguments "GATE-13" "trims texts"
    NoWorkspace "GATE-14" "does not say where the tools work"
    KeepsFiles "GATE-15" "asks once whether a file is there"
    NeverSettles "EFFECT-1" "never settles a call"
    InvariantIsAdvice "EFFECT-3" "takes a broken invariant for advice"
    NoResults "EFFECT-4" "settles calls without their results"
    HaltIsIgnored "EFFECT-5" "goes on in a halted session"
    NobodyResumes "EFFECT-5" "does not pass on that somebody resumed the session"
    AsksTwice "EFFECT-6" "puts each call to the guard twice"
    BudgetIsAdvice "EFFECT-7" "takes an exhausted budget for advice"
    ForgetsUsage "EFFECT-8" "reports no usage"
    UsageLate "EFFECT-8" "reports usage a turn late"
    FrozenClock "EFFECT-9" "tells the guard the time of the beginning"
    FreshTurns "EFFECT-10" "begins a new session each turn"
    KeepsResults "EFFECT-11" "answers the same call from memory"
    IgnoresPrompt "EFFECT-12" "does not tell the guard what the user says"
    IgnoresData "EFFECT-12" "does not hand over what the session begins with"
    ShadowBlocks "EFFECT-13" "lets rules in shadow block"
    ShadowShown "EFFECT-13" "shows what rules in shadow say"
    Serial "PAR-1" "runs the calls of a turn one after the other"
    WaitIsAllow "PAR-2" "runs a call that should wait"
    WaitIsDeny "PAR-3" "treats *wait* as *deny* for good"
    WaitIsShown "PAR-4" "answers a call that waits, and again when it has run"
    SwapsAnswers "PAR-5" "gives the answers of parallel calls in the order in which they end"
    WaitedRuns "PAR-7" "runs what has waited without asking again"
    NoFeedback "STEER-1" "drops feedback"
    LateFeedback "STEER-1" "shows feedback a turn late"
    RepeatsFeedback "STEER-2" "shows feedback each turn from then on"
    FirstBlock "STEER-3" "shows the first block of feedback only"
    EscapesFeedback "STEER-4" "escapes feedback for HTML"
    FeedbackHidesResult "STEER-5" "shows feedback instead of the result"
    NoFeedbackOfDenials "STEER-6" "drops the feedback that a denial calls for"
    SuccessesOnly "STEER-7" "settles successes only"
    KeepsFeedback "STEER-10" "keeps feedback until the next session"
    DeadlineIsAdvice "STEER-11" "takes the deadline for advice"
    StopsBlocked "DONE-1" "stops although it was blocked"
    BlocksOnce "DONE-4" "lets the second stop pass"
    HidesMissing "DONE-2" "does not show what is missing"
    RepeatsMissing "DONE-2" "shows what is missing each turn from then on"
    BlocksFirst "DONE-3" "blocks the first stop, whatever the guard says"
    StopIsKept "DONE-4" "remembers the answer to the first stop"
    HeldAtDeadline "DONE-5" "holds up a stop although the deadline has passed"
    HeldAtBudget "DONE-6" "holds up a stop although a budget is exhausted"
    GenericMissing "DONE-7" "says only that something is missing"
    AlwaysStopped "DONE-9" "says of each end that the model stopped"
    BlockedOutput "DONE-10" "hands over the first output, though its stop was blocked"
    AssumesFiles "DONE-11" "takes files for there where nobody can say"
    RunsServed "ITEM-1" "runs calls that the guard has served"
    ServedInSilence "ITEM-1" "does not show what the guard served"
    AgentVerifies "ITEM-2" "verifies items when the agent calls for them"
    RenamesCalls "ITEM-3" "tells the guard ids of its own"
    NobodyVerifies "ITEM-4" "does not pass on that the harness verified or moved an item"
    NoReport "EDGE-1" "hands over no report"
    FinishReasonDropped "EDGE-2" "judges the output without why it ended"
    AllOrNothing "EDGE-3" "drops all items when one is bad"
    JudgesAfresh "EDGE-4" "judges the output in a new session"
    AskIsAllow "ASK-1" "treats *ask* as *allow*"
    AskIsDeny "ASK-2" "never asks anybody"
    RefusedRuns "ASK-3" "runs what was refused"
    RefusalIsKept "ASK-3" "remembers refusals, and does not ask again"
    ApprovedAgain "ASK-4" "remembers which calls were approved"
    ApprovedByTool "ASK-5" "remembers which tools were approved"
    NeverExpires "ASK-6" "lets approvals stand"
    FirstRole "ASK-7" "asks the first role only"
    NativeAround "NATIVE-1" "lets the framework's own tools around the gate"
    NativeUnsettled "NATIVE-2" "does not settle the framework's own tools"
    NoTrace "KEEP-1" "hands over no trace"
    TraceWithGaps "KEEP-1" "leaves a record out of the trace"
    NoDenialsOnRecord "KEEP-2" "records what was allowed only"
    SecretsOnRecord "KEEP-3" "writes arguments into the trace as they are"
    NewTrace "KEEP-4" "begins the trace anew in each run"
    RestoresNothing "KEEP-5" "restores a new session"
    RestoreIsNothing "KEEP-6" "keeps what happened after the snapshot"
    SnapshotInMemory "KEEP-7" "keeps snapshots in its own memory"
    RestoreRunsAgain "KEEP-8" "runs restored calls again"
    RestoresNoApprovals "KEEP-9" "does not restore what was approved and spent"
    RestoresNoCadence "KEEP-10" "restores neither calls nor what counts for feedback"
    ResetIsNothing "KEEP-11" "does not forget a session that is reset"
    OneSession "KEEP-12" "keeps one session for all"
    NewSessions "KEEP-13" "begins a new session in each run"
    ReplayRefuses "REPLAY-1" "says of each trace that it comes out otherwise"
    ReplayAgrees "REPLAY-2" "says of each trace that it comes out the same"
}

impl Fault {
    /// Its name on the command line: `runs-first`.
    pub fn name(self) -> String {
        let mut name = String::new();
        for (at, c) in format!("{self:?}").char_indices() {
            if c.is_uppercase() && at > 0 {
                name.push('-');
            }
            name.push(c.to_ascii_lowercase());
        }
        name
    }

    /// The fault with a name.
    pub fn of(name: &str) -> Option<Fault> {
        Fault::ALL.iter().copied().find(|fault| fault.name() == name)
    }
}
