//! A first guard from recorded sessions: the tools with the types of their calls, and the rules
//! that held in every session.
//!
//! [`SessionObserver`] takes records one at a time and keeps only the observations from them, never
//! the records. Only allowed calls count. A rule is suggested if no allowed call breaks it and
//! there are enough observations. So the same sessions, decided by the suggested guard, deny no
//! call that ran.

mod orders;
mod rules;
mod secrets;
mod seen;
mod types;
mod write;

use guard_plan::json::Json;
use guard_plan::naming::is_name;
use guard_plan::path;
use guard_plan::record::{Payload, Propose, Record};
use guard_plan::verdict::Decision;
use orders::{CallKey, OrdersSeen, key_of};
use seen::ValuesSeen;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The maximum number of declared tools.
const MAX_TOOLS: usize = 500;
/// The maximum number of parameters of a tool.
const MAX_PARAMS: usize = 100;
/// The maximum length of a tool's name, in bytes.
const MAX_TOOL_NAME: usize = 200;
/// The maximum number of keys that are remembered in a session. Rules about further keys are not
/// suggested.
const MAX_KEYS: usize = 1_000_000;

/// The observations from recorded sessions, from which rules are suggested.
#[derive(Debug, Default)]
pub struct SessionObserver {
    tools: Vec<ToolSeen>,
    by_name: HashMap<String, usize>,
    live: HashMap<String, LiveSession>,
    /// The number of sessions with an allowed call.
    sessions: u64,
    /// The number of allowed calls that the guard declares.
    calls: u64,
    unseen: UnseenCalls,
}

/// The counts of calls and sessions that could not be observed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnseenCalls {
    /// The number of allowed calls whose arguments no guard can declare: not an object, a duplicate
    /// name, or an invalid name.
    pub undeclarable: u64,
    /// The number of allowed calls of tools whose names no guard can express, and of tools beyond
    /// the first 500.
    pub nameless: u64,
    /// The number of sessions whose beginning is not in the trace.
    pub headless: u64,
}

/// A suggested guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The text of the guard.
    pub text: String,
    /// The number of declared tools.
    pub tools: usize,
    /// The number of rules.
    pub rules: usize,
    /// The number of sessions on which the guard is based.
    pub sessions: u64,
    /// The number of allowed calls on which the guard is based.
    pub calls: u64,
    /// The calls and sessions that the guard does not cover.
    pub unseen: UnseenCalls,
}

/// The observations of one tool's calls.
#[derive(Debug)]
struct ToolSeen {
    wire: String,
    calls: u64,
    sessions: u64,
    /// The maximum number of calls in one session.
    most: u64,
    params: BTreeMap<Box<str>, ValuesSeen>,
    /// The tools that had succeeded before each of its calls.
    orders: OrdersSeen,
}

/// The observations of a session that is still open.
#[derive(Debug, Default)]
struct LiveSession {
    workspace: String,
    /// True if its beginning is not in the trace.
    headless: bool,
    counts: BTreeMap<usize, u64>,
    succeeded: BTreeSet<usize>,
    keys: HashSet<CallKey>,
    /// The calls in flight, with the keys that their success would give.
    pending: HashMap<String, (usize, Vec<CallKey>)>,
}

impl SessionObserver {
    /// Creates an observer without observations.
    pub fn new() -> SessionObserver {
        SessionObserver::default()
    }

    /// Adds a record of a session. Sessions may be mixed; the records of each come in order.
    pub fn record(&mut self, session: &str, record: &Record) {
        match &record.payload {
            Payload::Open(open) => {
                self.end_session(session);
                let workspace = path::normalise("/", &open.workspace);
                let workspace = workspace.map_or_else(|_| "/".to_owned(), |path| path.into_owned());
                let live = LiveSession { workspace, ..LiveSession::default() };
                self.live.insert(session.to_owned(), live);
            }
            Payload::Snapshot(_) if !self.live.contains_key(session) => {
                self.unseen.headless += 1;
                let live = LiveSession { headless: true, ..LiveSession::default() };
                self.live.insert(session.to_owned(), live);
            }
            Payload::Propose(propose) if propose.verdict.decision == Decision::Allow => {
                self.allowed(session, record.call.as_deref(), propose);
            }
            Payload::Settle(settle) => {
                let (Some(live), Some(call)) = (self.live.get_mut(session), &record.call) else {
                    return;
                };
                let Some((tool, keys)) = live.pending.remove(call) else { return };
                if settle.success {
                    live.succeeded.insert(tool);
                    if live.keys.len() < MAX_KEYS {
                        live.keys.extend(keys);
                    }
                }
            }
            _ => {}
        }
    }

    /// Ends all sessions. The following records belong to other files, and may use the same session
    /// names.
    pub fn end_source(&mut self) {
        let names: Vec<String> = self.live.keys().cloned().collect();
        names.iter().for_each(|name| self.end_session(name));
    }

    fn end_session(&mut self, session: &str) {
        let Some(live) = self.live.remove(session) else { return };
        self.sessions += u64::from(!live.counts.is_empty());
        for (tool, count) in live.counts {
            let tool = &mut self.tools[tool];
            tool.sessions += 1;
            tool.most = tool.most.max(count);
        }
    }

    fn allowed(&mut self, session: &str, call: Option<&str>, propose: &Propose<'_>) {
        let Some(live) = self.live.get(session) else {
            self.unseen.headless += 1;
            let live = LiveSession { headless: true, ..LiveSession::default() };
            self.live.insert(session.to_owned(), live);
            return;
        };
        if live.headless {
            return;
        }
        let Json::Object(members) = &*propose.args else {
            self.unseen.undeclarable += 1;
            return;
        };
        if propose.unreadable.is_some() || !are_declarable(members) {
            self.unseen.undeclarable += 1;
            return;
        }
        let Some(tool) = self.tool(&propose.tool) else {
            self.unseen.nameless += 1;
            return;
        };
        let seen = &mut self.tools[tool];
        let known = |name: &str| seen.params.contains_key(name);
        let new = members.iter().filter(|(name, _)| !known(name)).count();
        if seen.params.len() + new > MAX_PARAMS {
            self.unseen.undeclarable += 1;
            return;
        }
        let Some(live) = self.live.get_mut(session) else { return };
        self.calls += 1;
        seen.calls += 1;
        for (name, value) in members {
            let values = seen.params.entry(name.clone()).or_default();
            values.see(name, value, &live.workspace, 0);
        }
        *live.counts.entry(tool).or_default() += 1;
        seen.orders.see(members, &live.succeeded, &live.keys);
        if let Some(call) = call {
            let scalars = members.iter().filter(|(_, value)| orders::is_key(value));
            let keys = scalars.map(|(name, value)| key_of(tool, name, value)).collect();
            live.pending.insert(call.to_owned(), (tool, keys));
        }
    }

    /// Returns the index of a tool; `None` if no guard can name it.
    fn tool(&mut self, wire: &str) -> Option<usize> {
        if let Some(tool) = self.by_name.get(wire) {
            return Some(*tool);
        }
        let sayable = !wire.is_empty() && wire.len() <= MAX_TOOL_NAME;
        if !sayable || crate::text::one_line(wire) != wire || self.tools.len() >= MAX_TOOLS {
            return None;
        }
        self.by_name.insert(wire.to_owned(), self.tools.len());
        let params = BTreeMap::new();
        let orders = OrdersSeen::default();
        let wire = wire.to_owned();
        self.tools.push(ToolSeen { wire, calls: 0, sessions: 0, most: 0, params, orders });
        Some(self.tools.len() - 1)
    }

    /// Returns the guard of this name that the sessions suggest, with rules that are based on at
    /// least `min_support` observations: values of a parameter, or sessions in which a tool was
    /// called. With `u64::MAX` it has types and no rules.
    pub fn suggestion(&mut self, name: &str, min_support: u64) -> Suggestion {
        self.end_source();
        write::suggestion(self, name, min_support)
    }
}

/// Returns true if a guard can declare parameters of these names.
fn are_declarable(members: &[(Box<str>, Json)]) -> bool {
    let mut names = HashSet::new();
    members
        .iter()
        .all(|(name, _)| is_name(name) && name.len() <= MAX_TOOL_NAME && names.insert(name))
}
