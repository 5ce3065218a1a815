//! Faults: each is one duty that is omitted or performed incompletely, as a careless implementation
//! would do.
//!
//! A fault overrides the duty that it gets wrong; a few override two. The faults are in tables, by
//! the clauses that they break.

mod blocked;
mod done;
mod effects;
mod framework;
mod gate;
mod kept;
mod messages;
mod runs;
mod unseen;

use crate::duties::Duties;
use std::fmt;

/// A fault in its table.
struct Spec {
    name: &'static str,
    clause: &'static str,
    summary: &'static str,
    duties: fn() -> Box<dyn Duties>,
}

/// A duty that an adapter performs wrongly.
#[derive(Clone, Copy)]
pub struct AdapterFault(&'static Spec);

impl AdapterFault {
    /// Returns all faults, in the order of the clauses that they break.
    pub fn all() -> impl Iterator<Item = AdapterFault> {
        let tables = [
            messages::LOOP,
            gate::TABLE,
            effects::TABLE,
            messages::STEER,
            done::TABLE,
            gate::ASK,
            kept::TABLE,
            framework::TABLE,
            runs::TABLE,
            blocked::TABLE,
            unseen::TABLE,
        ];
        tables.into_iter().flatten().map(AdapterFault)
    }

    /// Returns the fault with a name.
    pub fn named(name: &str) -> Option<AdapterFault> {
        AdapterFault::all().find(|fault| fault.name() == name)
    }

    /// Returns the name on the command line: `runs-first`.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the clause that the fault breaks (docs/reference/adapter.md).
    pub fn clause(self) -> &'static str {
        self.0.clause
    }

    /// Returns true if the fault concerns actions of frameworks only, such as validation or
    /// cancellation. No generated scenario contains these.
    pub fn is_of_frameworks(self) -> bool {
        [framework::TABLE, runs::TABLE, blocked::TABLE, unseen::TABLE]
            .into_iter()
            .flatten()
            .any(|spec| spec.name == self.0.name)
    }

    /// Returns the wrong behaviour, as a clause of a sentence.
    pub fn summary(self) -> &'static str {
        self.0.summary
    }

    /// Returns the duties of an adapter with this fault.
    pub(crate) fn duties(self) -> Box<dyn Duties> {
        (self.0.duties)()
    }
}

impl fmt::Debug for AdapterFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Defines a table: name, clause, summary, and the duties.
macro_rules! faults {
    ($($name:literal $clause:literal $summary:literal => $duties:expr;)*) => {
        &[$(crate::faults::Spec {
            name: $name,
            clause: $clause,
            summary: $summary,
            duties: || $duties,
        }),*]
    };
}
pub(crate) use faults;

/// Defines a function `duty(wrong)` for each duty. It returns an adapter that performs `wrong`
/// instead of that duty, and all other duties correctly.
macro_rules! overriding {
    ($($duty:ident($($arg:ident: $ty:ty),*) $(-> $out:ty)?;)*) => {
        /// Adapters with one wrong duty.
        pub(crate) mod instead {
            use crate::duties::{Duties, OpenSessions};
            use crate::engine::{Engine, WorkspaceFiles};
            use crate::harness::{AdapterResult, Gate, Harness};
            use guard_ack::protocol::{
                ApprovalAnswer, ApprovalRequest, ModelCall, Done, LoopEnd, HostEvent, ModelMessage, ReplayRequest, ReplayAnswer,
                Restore, Run, ModelTurn,
            };
            use guard_plan::verdict::Verdict;
            use guard_sdk::{Event, Outcome, Proposed, SessionError, Stopped};
            use serde_json::Value;
            use std::collections::BTreeMap;

            $(
                pub fn $duty(
                    wrong: impl FnMut($($ty),*) $(-> $out)? + 'static,
                ) -> Box<dyn Duties> {
                    struct Wrong<F>(F);
                    impl<F: FnMut($($ty),*) $(-> $out)?> Duties for Wrong<F> {
                        fn $duty(&mut self, $($arg: $ty),*) $(-> $out)? {
                            (self.0)($($arg),*)
                        }
                    }
                    Box::new(Wrong(wrong))
                }
            )*
        }
    };
}

overriding! {
    now(harness: &mut Harness) -> i64;
    report(harness: &mut Harness, event: &Event) -> Result<Outcome, SessionError>;
    conversation(harness: &Harness) -> Vec<ModelMessage>;
    assemble(turn: ModelTurn) -> ModelTurn;
    host_event(harness: &mut Harness, event: &HostEvent) -> AdapterResult<()>;
    unguarded(harness: &Harness) -> Vec<String>;
    ask_model(harness: &mut Harness) -> AdapterResult<Option<ModelTurn>>;
    usage(harness: &mut Harness, used: &BTreeMap<String, String>) -> AdapterResult<()>;
    call(harness: &mut Harness, call: &ModelCall) -> AdapterResult<Gate>;
    gate(harness: &mut Harness, call: &ModelCall) -> AdapterResult<Gate>;
    approvals(harness: &mut Harness, call: &ModelCall, verdict: &Verdict) -> AdapterResult<bool>;
    approval(harness: &mut Harness, request: &ApprovalRequest) -> ApprovalAnswer;
    obey(harness: &mut Harness, call: &ModelCall, proposed: &Proposed) -> AdapterResult<Gate>;
    denial(verdict: &Verdict) -> String;
    feedback(text: String) -> String;
    start(harness: &mut Harness, call: &ModelCall);
    settle(harness: &mut Harness, call: &ModelCall, done: &Done) -> AdapterResult<(String, String)>;
    settlement(harness: &mut Harness, call: &ModelCall, done: &Done) -> AdapterResult<String>;
    settle_overdue(harness: &mut Harness) -> AdapterResult<()>;
    stop(harness: &mut Harness, turn: &ModelTurn) -> AdapterResult<Stopped>;
    finished(harness: &mut Harness) -> Option<(String, Done)>;
    no_such_tool(harness: &mut Harness, call: &ModelCall) -> AdapterResult<String>;
    may_stop(harness: &mut Harness, stopped: &Stopped) -> bool;
    judge(harness: &mut Harness, turn: &ModelTurn) -> AdapterResult<Option<Value>>;
    end(harness: &mut Harness, turn: &ModelTurn, stopped: &Stopped) -> AdapterResult<LoopEnd>;
    open(sessions: &mut OpenSessions, run: &Run) -> AdapterResult<Engine>;
    files(workspace: Option<&str>) -> AdapterResult<WorkspaceFiles>;
    restore(sessions: &mut OpenSessions, restore: &Restore) -> AdapterResult<()>;
    reset(sessions: &mut OpenSessions, session: &str);
    replay(sessions: &mut OpenSessions, replay: &ReplayRequest) -> AdapterResult<ReplayAnswer>;
    exit() -> Result<(), String>;
}
