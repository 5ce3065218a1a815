//! Everything a session remembers.
//!
//! Plain data, changed only by the compiled. Bounded but for what rules ask to be remembered for good: the
//! keys of keyed memories and limits.

pub(crate) mod counter;
pub(crate) mod facts;
pub(crate) mod feedback;
pub(crate) mod flight;
pub(crate) mod items;
pub(crate) mod origins;
pub(crate) mod probes;
pub(crate) mod sorted;

pub use feedback::Spoken;
pub use probes::Turn;

use crate::outcome::Learned;
use crate::session::counter::Counter;
use crate::session::facts::Table;
use crate::session::feedback::Memory;
use crate::session::flight::Flight;
use crate::session::items::Items;
use crate::session::origins::{Origins, Short};
use crate::session::probes::Attempts;
use crate::session::sorted::Keyed;
use guard_plan::json::Json;
use guard_plan::origin::Origin;
use guard_plan::plan::{Millis, ToolId, Trust, UnitId, VarId};
use guard_plan::record::Note;
use guard_plan::value::{Fault, Value};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// A session of one guard: what was decided, spent, learned, and is under way. Opened by
/// [`Kernel::open`](crate::Kernel::open); a clone goes its own way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Session {
    pub(crate) id: Box<str>,
    pub(crate) start: Millis,
    pub(crate) now: Millis,
    pub(crate) workspace: Box<str>,
    /// The plan's path literals, from this workspace.
    #[serde(skip)]
    pub(crate) paths: Box<[Box<str>]>,
    pub(crate) state: Box<[Value]>,
    /// In units of 10⁻⁶, by unit.
    pub(crate) spent: Box<[i64]>,
    pub(crate) counters: Box<[Counter]>,
    pub(crate) tools: Box<[History]>,
    /// By tool, a bit: whether it has succeeded.
    pub(crate) succeeded: Box<[u64]>,
    pub(crate) indexes: Box<[Keyed<Stamp>]>,
    pub(crate) windows: Box<[Times]>,
    pub(crate) facts: Box<[Table]>,
    pub(crate) monitors: Box<[Truth]>,
    #[allow(clippy::vec_box, reason = "a flight moves between the two without being copied")]
    pub(crate) flights: Vec<Box<Flight>>,
    /// Flights that have landed, for reuse.
    #[serde(skip)]
    #[allow(clippy::vec_box, reason = "as above")]
    pub(crate) spare: Vec<Box<Flight>>,
    pub(crate) approvals: Vec<Grant>,
    /// How many proposals were decided.
    pub(crate) decisions: u64,
    /// It stays on the full plan: the optimized one decided otherwise.
    pub(crate) full: bool,
    pub(crate) settlements: u64,
    pub(crate) calls: u64,
    pub(crate) halted: Option<Halt>,
    pub(crate) probes: Box<[Attempts]>,
    /// Empty where the plan asks for no origins.
    pub(crate) origins: Origins,
    pub(crate) feedback: Memory,
    /// By lifecycle.
    pub(crate) items: Box<[Items]>,
    /// How calls ended, by their id; only where evidence is required.
    #[serde(with = "sorted")]
    pub(crate) ended: HashMap<Short, End>,
    pub(crate) prompts: u64,
    /// How often a stop was blocked.
    pub(crate) blocked: u32,
    /// What it was opened with, for the record.
    #[serde(skip)]
    pub(crate) opening: Option<Arc<Opening>>,
    /// What the last settlement changed: variables and their values before.
    #[serde(skip)]
    pub(crate) changes: Vec<(VarId, Value)>,
    /// What the last allowed call was charged, in units of 10⁻⁶.
    #[serde(skip)]
    pub(crate) charged: Vec<(UnitId, i64)>,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum End {
    Succeeded,
    Failed,
    /// The kernel served it: no evidence.
    Served,
}

/// What the host gave when a session was opened, and what came of it.
#[derive(Debug, Clone)]
pub(crate) struct Opening {
    pub data: Json,
    pub learned: Learned,
}

/// When a call was settled.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Stamp {
    pub settlement: u64,
    pub time: Millis,
}

/// The memory of one tool's settled calls.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct History {
    pub successes: u64,
    pub failures: u64,
    pub success: Option<Stamp>,
    pub failure: Option<Stamp>,
    pub last_args: Option<Vec<Value>>,
    pub last_result: Option<Value>,
}

/// Times not longer ago than a span, ascending.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Times {
    within: Millis,
    times: VecDeque<Millis>,
}

impl Times {
    pub fn new(within: Millis) -> Times {
        Times { within, times: VecDeque::new() }
    }

    /// Takes the span of a window; whether these are times of one.
    pub fn adopt(&mut self, within: Millis) -> bool {
        self.within = within;
        self.times.iter().is_sorted()
    }

    pub fn push(&mut self, now: Millis) {
        while self.times.front().is_some_and(|time| now.saturating_sub(*time) > self.within) {
            self.times.pop_front();
        }
        self.times.push_back(now);
    }

    pub fn count(&self, now: Millis) -> u64 {
        let old = self.times.partition_point(|time| now.saturating_sub(*time) > self.within);
        (self.times.len() - old) as u64
    }
}

/// What a temporal operator says now, and of `previous` the operand now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Truth {
    pub value: Result<bool, Fault>,
    pub operand: Result<bool, Fault>,
}

/// An approval that was given and not used.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Grant {
    pub tool: ToolId,
    /// The canonical arguments.
    pub key: Box<[u8]>,
    pub role: Box<str>,
    pub by: Box<str>,
    pub given: Millis,
    pub expires: Millis,
}

/// Why a session denies everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Halt {
    /// The rule that halted it.
    pub rule: String,
    /// What was wrong.
    pub message: String,
    /// When.
    pub time: Millis,
}

impl Session {
    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// When it began.
    pub fn start(&self) -> Millis {
        self.start
    }

    /// Its clock: the latest time of its events.
    pub fn now(&self) -> Millis {
        self.now
    }

    /// Where relative paths start.
    pub fn workspace(&self) -> &str {
        &self.workspace
    }

    /// Whether it stays on the full plan, since the optimized one decided otherwise (semantics §16).
    pub fn is_on_full_plan(&self) -> bool {
        self.full
    }

    /// Why it denies everything, if it does.
    pub fn halted(&self) -> Option<&Halt> {
        self.halted.as_ref()
    }

    /// The ids of the calls that were allowed and are not settled, in the order of their proposals.
    pub fn in_flight(&self) -> Vec<&str> {
        let mut flights: Vec<_> = self.flights.iter().collect();
        flights.sort_by_key(|flight| flight.number);
        flights.into_iter().map(|flight| &*flight.call).collect()
    }

    /// What the last settlement changed: variables with their values before it.
    pub fn changes(&self) -> &[(VarId, Value)] {
        &self.changes
    }

    /// What the last allowed call was charged, in units of 10⁻⁶.
    pub fn charged(&self) -> &[(UnitId, i64)] {
        &self.charged
    }

    /// The committed value of a state variable.
    pub fn value(&self, var: VarId) -> Option<&Value> {
        self.state.get(var as usize)
    }

    /// What was spent of a unit, in units of 10⁻⁶.
    pub fn spent(&self, unit: u32) -> Option<i64> {
        self.spent.get(unit as usize).copied()
    }

    /// The session's clock moves to an event's time, never back.
    pub(crate) fn advance(&mut self, now: Millis) {
        self.now = self.now.max(now);
    }

    /// Remembers where the values of a text come from; notes it once when no more are remembered.
    pub(crate) fn see_text(&mut self, text: &str, origin: Origin) -> Option<Note> {
        let (workspace, origins) = (&self.workspace, &mut self.origins);
        origins.noting(|origins| {
            guard_plan::origin::in_text(text, workspace, &mut |text| origins.see(text, origin));
        })
    }

    /// The same for a result, or for what the session was opened with.
    pub(crate) fn see_result(&mut self, json: &Json, trust: &Trust) -> Option<Note> {
        let (workspace, origins) = (&self.workspace, &mut self.origins);
        origins.noting(|origins| {
            guard_plan::origin::in_json(json, workspace, trust, &mut |text, trusted| {
                origins.see(text, if trusted { Origin::Trusted } else { Origin::Untrusted });
            });
        })
    }

    /// Keeps a flight's buffers for the next.
    pub(crate) fn retire(&mut self, mut flight: Box<Flight>) {
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
