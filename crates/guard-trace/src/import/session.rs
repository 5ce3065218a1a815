//! The records of one session of a log: its clock and its pending calls.

use guard_plan::json::Json;
use guard_plan::plan::Millis;
use guard_plan::record::{Open, Payload, Prompt, Propose, Record, Settle};
use guard_plan::time;
use guard_plan::verdict::{Decision, Verdict};
use std::borrow::Cow;
use std::collections::HashMap;

/// The start of a session whose log has no times: 2000-01-01.
const BEGIN: Millis = 946_684_800_000;
/// The interval between the events of such a session, in milliseconds.
const STEP: Millis = 1000;
/// The maximum number of pending calls.
const PENDING: usize = 10_000;
/// The workspace of a session whose log does not name one.
pub(super) const NOWHERE: &str = "/workspace";

/// The outcome of a call in a log.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum LoggedOutcome {
    Success(Json),
    Failure,
}

/// Builds the records of one session as they arrive.
#[derive(Debug)]
pub(super) struct RecordBuilder {
    name: String,
    workspace: Option<String>,
    now: Option<Millis>,
    seq: u64,
    /// Maps the id in the log to the id in the session.
    pending: HashMap<String, String>,
    calls: u64,
}

impl RecordBuilder {
    pub fn new(name: &str) -> RecordBuilder {
        let name = name.to_owned();
        let pending = HashMap::new();
        RecordBuilder { name, workspace: None, now: None, seq: 0, pending, calls: 0 }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the current time of the session.
    pub fn now(&self) -> Option<Millis> {
        self.now
    }

    /// Returns true if a call with this log id is pending.
    pub fn has(&self, id: &str) -> bool {
        self.pending.contains_key(id)
    }

    /// The number of calls without an outcome.
    pub fn open(&self) -> u64 {
        self.pending.len() as u64
    }

    /// Sets the workspace; the first one given is kept.
    pub fn workspace(&mut self, path: Option<&str>) {
        if self.workspace.is_none() {
            self.workspace = path.filter(|path| path.starts_with('/')).map(str::to_owned);
        }
    }

    /// Advances the clock: to the time of the log, or by one second.
    fn tick(&mut self, at: Option<Millis>) -> Millis {
        let now = match (self.now, at) {
            (None, at) => at.unwrap_or(BEGIN),
            // Lines of a log may be out of order, and the clock of a session never runs backwards.
            (Some(now), Some(at)) => now.max(at),
            (Some(now), None) => now.saturating_add(STEP),
        };
        self.now = Some(now);
        now
    }

    fn record(
        &mut self,
        at: Option<Millis>,
        call: Option<String>,
        payload: Payload,
    ) -> Vec<Record> {
        let now = self.tick(at);
        let mut records = Vec::with_capacity(2);
        if self.seq == 0 {
            let open = Open {
                plan: "".into(),
                guard: "".into(),
                session: self.name.clone().into(),
                workspace: self.workspace.clone().unwrap_or_else(|| NOWHERE.into()).into(),
                version: "".into(),
                actor: None,
                data: None,
                learned: 0,
                forgotten: 0,
                notes: Cow::Borrowed(&[]),
                recheck: None,
                sealed: None,
            };
            records.push(self.numbered(now, None, Payload::Open(open)));
        }
        records.push(self.numbered(now, call, payload));
        records
    }

    fn numbered(&mut self, now: Millis, call: Option<String>, payload: Payload) -> Record {
        let seq = self.seq;
        let time = time::format_rfc3339(now);
        self.seq += 1;
        Record { seq, time, call, payload, prev: String::new(), hash: String::new() }
    }

    /// Records a user message. Calls that are pending at that time were aborted.
    pub fn prompt(&mut self, at: Option<Millis>, text: &str) -> Vec<Record> {
        let mut left: Vec<String> = self.pending.drain().map(|(_, call)| call).collect();
        // The map has no order, and an import of the same log must give the same records.
        left.sort_unstable();
        let mut records = Vec::new();
        for call in left {
            records.extend(self.record(at, Some(call), settled(LoggedOutcome::Failure)));
        }
        let prompt = Prompt {
            text: text.to_owned().into(),
            learned: 0,
            forgotten: 0,
            notes: Cow::Borrowed(&[]),
            asked: Cow::Borrowed(&[]),
            sealed: None,
        };
        records.extend(self.record(at, None, Payload::Prompt(prompt)));
        records
    }

    /// Records a call; `None` if one with this id is pending, or too many are.
    pub fn call(
        &mut self,
        at: Option<Millis>,
        id: &str,
        tool: &str,
        args: Json,
        ran: bool,
    ) -> Option<Vec<Record>> {
        if self.pending.contains_key(id) || self.pending.len() >= PENDING {
            return None;
        }
        self.calls += 1;
        // Some logs reuse ids.
        let call = match id {
            "" => format!("call-{}", self.calls),
            id if id.parse::<i64>().is_ok() => format!("call-{id}-{}", self.calls),
            id => id.to_owned(),
        };
        if ran {
            self.pending.insert(id.to_owned(), call.clone());
        }
        let decision = if ran { Decision::Allow } else { Decision::Deny };
        let verdict = Verdict { decision, reasons: Vec::new(), shadowed: Vec::new() };
        let tool = tool.to_owned().into();
        let propose = Propose::plain(tool, Cow::Owned(args), Cow::Owned(verdict));
        Some(self.record(at, Some(call), Payload::Propose(propose)))
    }

    /// Records the outcome of a call; `None` if no such call is pending.
    pub fn outcome(
        &mut self,
        at: Option<Millis>,
        id: &str,
        outcome: LoggedOutcome,
    ) -> Option<Vec<Record>> {
        let call = self.pending.remove(id)?;
        Some(self.record(at, Some(call), settled(outcome)))
    }
}

fn settled(outcome: LoggedOutcome) -> Payload {
    let (success, result) = match outcome {
        LoggedOutcome::Success(result) => (true, result),
        LoggedOutcome::Failure => (false, Json::Null),
    };
    Payload::Settle(Settle::plain(success, Cow::Owned(result)))
}
