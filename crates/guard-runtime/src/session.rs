//! The state of a session.
//!
//! The state is plain data that only the operations change. Its size is bounded, except for data
//! that rules require for the whole session: the keys of keyed memories and limits.

pub(crate) mod counter;
pub(crate) mod facts;
pub(crate) mod feedback;
pub(crate) mod flight;
pub(crate) mod items;
pub(crate) mod origins;
pub(crate) mod private;
pub(crate) mod probes;
pub(crate) mod sorted;

pub use feedback::Spoken;
pub use probes::ProbeTurn;

use crate::outcome::Learned;
use crate::session::counter::Counter;
use crate::session::facts::FactRows;
use crate::session::feedback::FeedbackMemory;
use crate::session::flight::InFlight;
use crate::session::items::ItemTable;
use crate::session::origins::{Origins, Short};
use crate::session::private::PrivateIndex;
use crate::session::probes::Attempts;
use crate::session::sorted::Keyed;
use guard_plan::json::Json;
use guard_plan::origin::{Origin, Vouched};
use guard_plan::plan::{Millis, ToolId, Trust, UnitId, VarId, WindowSize};
use guard_plan::record::Note;
use guard_plan::trust::Stain;
use guard_plan::value::{Fault, Value};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU32;
use std::sync::Arc;

/// A session of one guard: its decisions, spending, learned facts and calls in flight. Opened by
/// [`Kernel::open`](crate::Kernel::open); a clone is independent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SessionState {
    pub(crate) id: Box<str>,
    pub(crate) start: Millis,
    pub(crate) now: Millis,
    pub(crate) workspace: Box<str>,
    /// The plan's path literals, resolved in this workspace.
    #[serde(skip)]
    pub(crate) paths: Box<[Box<str>]>,
    pub(crate) state: Box<[Value]>,
    /// For each variable, the least trusted content that it has held.
    pub(crate) stains: Box<[Stain]>,
    /// The amounts spent, by unit, in units of 10⁻⁶.
    pub(crate) spent: Box<[i64]>,
    pub(crate) counters: Box<[Counter]>,
    pub(crate) tools: Box<[History]>,
    /// A bit for each tool, set if the tool has succeeded.
    pub(crate) succeeded: Box<[u64]>,
    pub(crate) indexes: Box<[Keyed<Successes>]>,
    pub(crate) windows: Box<[RecentCalls]>,
    pub(crate) facts: Box<[FactRows]>,
    pub(crate) monitors: Box<[Truth]>,
    #[allow(clippy::vec_box, reason = "a flight moves between the two without being copied")]
    pub(crate) flights: Vec<Box<InFlight>>,
    /// Released flights, for reuse.
    #[serde(skip)]
    #[allow(clippy::vec_box, reason = "as above")]
    pub(crate) spare: Vec<Box<InFlight>>,
    pub(crate) approvals: Vec<UnusedApproval>,
    /// The number of decided proposals.
    pub(crate) decisions: u64,
    /// True if the session stays on the full plan, because the optimized one decided differently.
    pub(crate) full: bool,
    /// The sampling rate of re-checks: at one of this many admitted calls; 0 for none.
    pub(crate) recheck: u32,
    /// The offset of the session in that sample, from its id.
    #[serde(skip)]
    pub(crate) phase: u64,
    /// True if a proof was found to be wrong: every invariant is checked from then on.
    pub(crate) distrusts: bool,
    pub(crate) settlements: u64,
    /// The number of moments in the session: admissions and beginnings of settlements.
    pub(crate) moments: u64,
    pub(crate) calls: u64,
    pub(crate) halted: Option<Halt>,
    pub(crate) probes: Box<[Attempts]>,
    /// The origins of values; empty if the plan does not use origins.
    pub(crate) origins: Origins,
    /// The words of the prompts; empty if no rule asks what the user mentioned.
    pub(crate) said: String,
    /// The private content of results; empty if no rule asks who may read a text.
    pub(crate) private: PrivateIndex,
    pub(crate) feedback: FeedbackMemory,
    /// The items, by lifecycle.
    pub(crate) items: Box<[ItemTable]>,
    /// The endings of calls, by call id; only if the plan requires evidence.
    #[serde(with = "sorted")]
    pub(crate) ended: HashMap<Short, CallEnd>,
    pub(crate) prompts: u64,
    /// The number of blocked stops.
    pub(crate) blocked: u32,
    /// The opening data, for the record.
    #[serde(skip)]
    pub(crate) opening: Option<Arc<Opening>>,
    /// The variables that the last settlement changed, with their previous values.
    #[serde(skip)]
    pub(crate) changes: Vec<(VarId, Value)>,
    /// The charges of the last allowed call, in units of 10⁻⁶.
    #[serde(skip)]
    pub(crate) charged: Vec<(UnitId, i64)>,
}

/// The ending of a call, as the session remembers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum CallEnd {
    Succeeded,
    Failed,
    /// The kernel served the call: it is not evidence.
    Served,
    /// The call ran, and its result did not decode.
    Undecoded,
}

/// The data that the host provided when the session was opened, and its outcome.
#[derive(Debug, Clone)]
pub(crate) struct Opening {
    pub data: Json,
    pub learned: Learned,
}

/// The time of a call's settlement.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Stamp {
    pub settlement: u64,
    pub time: Millis,
}

/// The admission of a call. A success counts from its admission, because its result may describe
/// the world at that time.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct CallStart {
    pub moment: u64,
    pub time: Millis,
}

/// The successes of a tool, or of its calls with one key.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Successes {
    /// The admission of the successful call that began most recently.
    pub begun: CallStart,
    /// The admission of the call that settled most recently, if it succeeded.
    pub latest: Option<CallStart>,
}

impl Successes {
    /// Returns the successes with one more added.
    pub fn and(before: Option<Successes>, begun: CallStart) -> Successes {
        let earlier = before.map(|before| before.begun);
        // Calls may settle in another order than the one in which they began.
        let last = earlier.filter(|earlier| earlier.moment > begun.moment).unwrap_or(begun);
        Successes { begun: last, latest: Some(begun) }
    }
}

/// The history of one tool's calls.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct History {
    pub successes: u64,
    pub failures: u64,
    /// The calls that succeeded with a result that did not decode.
    pub undecoded: u64,
    pub success: Option<Stamp>,
    pub failure: Option<Stamp>,
    pub done: Option<Successes>,
    /// The moment of the last admission or settlement of a call, whatever its outcome. Until then,
    /// the tool may have changed the world.
    pub touched: u64,
    pub last_args: Option<Vec<Value>>,
    pub last_result: Option<Value>,
}

/// The settlements of calls within a window, ascending: times or sequence numbers, depending on the
/// size of the window.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RecentCalls {
    size: WindowSize,
    settled: VecDeque<i64>,
}

impl RecentCalls {
    pub fn new(size: WindowSize) -> RecentCalls {
        RecentCalls { size, settled: VecDeque::new() }
    }

    /// Sets the size of a window. Returns true if these are valid calls of such a window.
    pub fn adopt(&mut self, size: WindowSize) -> bool {
        self.size = size;
        self.settled.iter().is_sorted()
    }

    /// Adds a call that has settled now.
    pub fn push(&mut self, now: Stamp) {
        let old = self.old(now);
        let now = self.place(now);
        self.settled.drain(..old);
        self.settled.push_back(now);
    }

    pub fn count(&self, now: Stamp) -> u64 {
        (self.settled.len() - self.old(now)) as u64
    }

    fn place(&self, stamp: Stamp) -> i64 {
        match self.size {
            WindowSize::Within(_) => stamp.time,
            WindowSize::Last(_) => stamp.settlement as i64,
        }
    }

    /// Returns the number of calls that have left the window.
    fn old(&self, now: Stamp) -> usize {
        let now = self.place(now);
        self.settled.partition_point(|settled| {
            let age = now.saturating_sub(*settled);
            match self.size {
                WindowSize::Within(most) => age > most,
                WindowSize::Last(count) => {
                    let more = guard_proof::mutant!("the last calls are one more");
                    age >= i64::from(count) + i64::from(more)
                }
            }
        })
    }
}

/// The current value of a temporal operator; for `previous`, the current value of its operand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Truth {
    pub value: Result<bool, Fault>,
    pub operand: Result<bool, Fault>,
}

/// An unused approval.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct UnusedApproval {
    pub tool: ToolId,
    /// The canonical arguments.
    pub key: Box<[u8]>,
    pub role: Box<str>,
    pub by: Box<str>,
    pub given: Millis,
    pub expires: Millis,
}

/// The reason why a session denies every call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Halt {
    /// The rule that halted the session.
    pub rule: String,
    /// The problem.
    pub message: String,
    /// The time of the halt.
    pub time: Millis,
}

impl SessionState {
    /// The session's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The session's start time.
    pub fn start(&self) -> Millis {
        self.start
    }

    /// Returns the session's clock: the latest time of its events.
    pub fn now(&self) -> Millis {
        self.now
    }

    /// The directory that relative paths are resolved against.
    pub fn workspace(&self) -> &str {
        &self.workspace
    }

    /// Returns true if the session stays on the full plan, because the optimized one decided
    /// differently (semantics §16).
    pub fn is_on_full_plan(&self) -> bool {
        self.full
    }

    /// Returns the N of the session's sample: one of N admitted calls has its proved invariants
    /// checked again. Returns `None` if nothing is checked again, because the plan proves nothing
    /// or the host has disabled it.
    pub fn rechecked_every(&self) -> Option<NonZeroU32> {
        NonZeroU32::new(self.recheck)
    }

    /// Returns true if a proof was found to be wrong in this session, which then relies on no
    /// proof.
    pub fn distrusts_proofs(&self) -> bool {
        self.distrusts
    }

    /// Returns the halt, if the session is halted.
    pub fn halted(&self) -> Option<&Halt> {
        self.halted.as_ref()
    }

    /// Returns the ids of the calls that are allowed and not settled, in the order of their
    /// proposals.
    pub fn in_flight(&self) -> Vec<&str> {
        let mut flights: Vec<_> = self.flights.iter().collect();
        // A settlement removes its flight with `swap_remove`, which changes the order.
        flights.sort_by_key(|flight| flight.number);
        flights.into_iter().map(|flight| &*flight.call).collect()
    }

    /// Returns the variables that the last settlement changed, with their previous values.
    pub fn changes(&self) -> &[(VarId, Value)] {
        &self.changes
    }

    /// Returns the charges of the last allowed call, in units of 10⁻⁶.
    pub fn charged(&self) -> &[(UnitId, i64)] {
        &self.charged
    }

    /// Returns the committed value of a state variable.
    pub fn value(&self, var: VarId) -> Option<&Value> {
        self.state.get(var as usize)
    }

    /// Returns the amount spent of a unit, in units of 10⁻⁶.
    pub fn spent(&self, unit: u32) -> Option<i64> {
        self.spent.get(unit as usize).copied()
    }

    /// Counts an admission or a settlement of a tool's call, and returns its moment.
    pub(crate) fn touch(&mut self, tool: Option<ToolId>) -> u64 {
        self.moments += 1;
        if let Some(tool) = tool {
            self.tools[tool as usize].touched = self.moments;
        }
        self.moments
    }

    /// Moves the session's clock to the time of an event, never back.
    pub(crate) fn advance(&mut self, now: Millis) {
        self.now = self.now.max(now);
    }

    /// Remembers the origin of the values in a text. Returns a note when the table becomes full.
    pub(crate) fn see_text(&mut self, text: &str, origin: Origin) -> Option<Note> {
        let workspace = &self.workspace;
        let origins = &mut self.origins;
        origins.noting(|origins| {
            let trusted = origin != Origin::Untrusted;
            let see = &mut |text: &str| origins.see(text, origin);
            guard_plan::origin::in_text(text, trusted, workspace, see);
        })
    }

    /// Remembers the origin of the values in a result or in the opening data, like
    /// [`SessionState::see_text`].
    pub(crate) fn see_result(
        &mut self,
        json: &Json,
        trust: &Trust,
        vouched: &Vouched<'_>,
    ) -> Option<Note> {
        let workspace = &self.workspace;
        let origins = &mut self.origins;
        origins.noting(|origins| {
            guard_plan::origin::in_json(json, workspace, (trust, vouched), &mut |text, trusted| {
                origins.see(text, if trusted { Origin::Trusted } else { Origin::Untrusted });
            });
        })
    }

    /// Returns the stamp of the last settlement.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp { settlement: self.settlements, time: self.now }
    }

    /// Keeps a flight's buffers for reuse.
    pub(crate) fn retire(&mut self, mut flight: Box<InFlight>) {
        flight.clear();
        self.spare.push(flight);
    }

    pub(crate) fn halt(&mut self, rule: &str, message: &str) {
        if self.halted.is_none() {
            let time = self.now;
            self.halted = Some(Halt { rule: rule.into(), message: message.into(), time });
        }
    }
}
