//! The report of a replay: the results of deciding recorded sessions again.
//!
//! The replay reference defines the numbers. This module decides nothing.

use crate::verdict::{Code, Decision, Reason};
use serde::{Deserialize, Serialize};

/// The results of recorded sessions that were decided again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayReport {
    /// The guards that made the new decisions.
    pub guards: Vec<Decider>,
    /// The form of the logs, if they are not traces of Guard.
    pub from: Option<String>,
    /// The number of sessions that were decided again to their end.
    pub sessions: u64,
    /// The number of sessions in which everything was as recorded.
    pub same_sessions: u64,
    /// The number of records that were read.
    pub records: u64,
    /// The time at which the first session began, in RFC 3339.
    pub begin: Option<String>,
    /// The time at which the last session ended, in RFC 3339.
    pub end: Option<String>,
    /// The view *as recorded*: all recorded events, given to the guard one after the other.
    pub recorded: View,
    /// The strict view: the events of each session up to and including the first difference.
    pub strict: View,
    /// The rules that cause differences, most frequent first.
    pub rules: Vec<RuleCount>,
    /// The differences, in the order of the sessions, up to a maximum number.
    pub differences: Vec<Difference>,
    /// The number of differences that are not listed.
    pub unlisted: u64,
    /// The sessions with differences, up to a maximum number.
    pub lanes: Vec<TimelineRow>,
    /// The files and records that could not be decided again.
    pub failures: Vec<Failed>,
    /// The lines that the readers of foreign logs skipped.
    pub passed_over: Vec<SkippedLines>,
}

/// A guard that made the new decisions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decider {
    /// The name of the guard.
    pub guard: String,
    /// The content hash of the plan, `sha256:…`.
    pub plan: String,
    /// The number of sessions that the guard decided.
    pub sessions: u64,
    /// The number of these sessions that were recorded with the same plan.
    pub own: u64,
}

/// The counts of a replay: calls, stops and items, by the comparison of their decisions with the
/// recorded ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct View {
    /// The number of proposed calls.
    pub calls: u64,
    /// The number of calls with the same decision and the same reasons.
    pub same: u64,
    /// The number of calls with the same decision and other reasons.
    pub reasons: u64,
    /// The numbers of calls with another decision.
    pub decisions: Vec<DecisionChange>,
    /// The calls, stops and items whose decision cannot be determined.
    pub unsaid: Unsaid,
    /// The number of stops that are now blocked.
    pub stops_blocked: u64,
    /// The number of stops that are now allowed.
    pub stops_allowed: u64,
    /// The number of settlements that now halt the session.
    pub halts: u64,
    /// The number of settlements that no longer halt the session.
    pub halts_gone: u64,
    /// The number of results of served calls, and of items, that are different.
    pub items: u64,
    /// The number of events with different feedback.
    pub feedback: u64,
    /// The number of records with the same meaning but other bytes; only counted if the plan is the
    /// recorded one.
    pub records: u64,
    /// The number of settlements of calls that the guard does not allow now. They are skipped
    /// together with their call.
    pub skipped: u64,
    /// The number of approvals, reports and other events that the guard does not accept.
    pub untaken: u64,
}

/// A changed decision, with the number of calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecisionChange {
    /// The recorded decision.
    pub then: Decision,
    /// The decision now.
    pub now: Decision,
    /// The number of calls.
    pub count: u64,
}

/// The numbers of decisions that cannot be determined, by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unsaid {
    /// The decision depends on an answer of the world that was not asked for in the recording.
    pub world: u64,
    /// The decision depends on a secret, and the record has only its mark.
    pub secrets: u64,
    /// The decision differs, but an earlier decision of the session cannot be determined.
    pub after: u64,
}

impl Unsaid {
    /// Returns the sum of the counts.
    pub fn total(&self) -> u64 {
        self.world + self.secrets + self.after
    }
}

impl View {
    /// Counts a changed decision.
    pub fn shift(&mut self, then: Decision, now: Decision) {
        self.shifts(then, now, 1);
    }

    fn shifts(&mut self, then: Decision, now: Decision, more: u64) {
        match self.decisions.binary_search_by_key(&(then, now), |change| (change.then, change.now))
        {
            Ok(at) => self.decisions[at].count += more,
            Err(at) => self.decisions.insert(at, DecisionChange { then, now, count: more }),
        }
    }

    /// Returns the number of calls that changed from one decision to another.
    pub fn shifted(&self, then: Decision, now: Decision) -> u64 {
        let all = self.decisions.iter().filter(|change| (change.then, change.now) == (then, now));
        all.map(|change| change.count).sum()
    }

    /// Returns the number of differences: decisions, stops, halts and items, but not texts.
    pub fn changed(&self) -> u64 {
        let decisions: u64 = self.decisions.iter().map(|change| change.count).sum();
        let stops = self.stops_blocked + self.stops_allowed;
        decisions + stops + self.halts + self.halts_gone + self.items
    }

    /// Returns true if everything is as recorded, including texts, and nothing is undetermined.
    pub fn is_same(&self) -> bool {
        self.changed() + self.reasons + self.feedback + self.records + self.unsaid.total() == 0
    }

    /// Adds the counts of another view.
    pub fn add(&mut self, other: &View) {
        for change in &other.decisions {
            self.shifts(change.then, change.now, change.count);
        }
        for (mine, theirs) in [
            (&mut self.calls, other.calls),
            (&mut self.same, other.same),
            (&mut self.reasons, other.reasons),
            (&mut self.unsaid.world, other.unsaid.world),
            (&mut self.unsaid.secrets, other.unsaid.secrets),
            (&mut self.unsaid.after, other.unsaid.after),
            (&mut self.stops_blocked, other.stops_blocked),
            (&mut self.stops_allowed, other.stops_allowed),
            (&mut self.halts, other.halts),
            (&mut self.halts_gone, other.halts_gone),
            (&mut self.items, other.items),
            (&mut self.feedback, other.feedback),
            (&mut self.records, other.records),
            (&mut self.skipped, other.skipped),
            (&mut self.untaken, other.untaken),
        ] {
            *mine += theirs;
        }
    }
}

/// The number of decisions that a rule changes, for one pair of recorded and new decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleCount {
    /// The reason code.
    pub code: Code,
    /// The rule's owner.
    pub rule: String,
    /// `file:line:column` of the rule, if it is known.
    pub span: Option<String>,
    /// The recorded decision.
    pub then: Decision,
    /// The decision now.
    pub now: Decision,
    /// The number of calls.
    pub count: u64,
}

/// The aspect of a session in which a replay differs from the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// The decision on a call.
    Decision,
    /// The decision on a stop.
    Stop,
    /// The halt of the session.
    Halt,
    /// The result of a served call, or an item.
    Item,
    /// The decision cannot be determined.
    Unsaid,
    /// The reasons of the same decision.
    Reasons,
    /// The feedback.
    Feedback,
    /// Another part of the record.
    Record,
}

/// A difference between a record and the replay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The path of the trace's file.
    pub file: String,
    /// The id of the session.
    pub session: String,
    /// The number of the record in its session.
    pub seq: u64,
    /// The session's clock, RFC 3339.
    pub time: String,
    /// The id of the call, if the difference is about one.
    pub call: Option<String>,
    /// The tool of the call.
    pub tool: Option<String>,
    /// The arguments as recorded, shortened.
    pub args: String,
    /// The aspect that differs.
    pub aspect: Aspect,
    /// The recorded value, in a word or two.
    pub then: String,
    /// The value now.
    pub now: String,
    /// The reason that causes the difference: the new reason, or the recorded one if there is no
    /// reason now.
    pub reason: Option<Reason>,
    /// The reason why the decision cannot be determined, or the part of the record that differs.
    pub because: Option<String>,
    /// True if the difference is also in the strict view: there is no earlier difference in its
    /// session.
    pub strict: bool,
}

/// A session with differences, for a timeline.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelineRow {
    /// The path of the trace's file.
    pub file: String,
    /// The id of the session.
    pub session: String,
    /// The time at which the session began, in RFC 3339.
    pub begin: String,
    /// The length of the session, in milliseconds.
    pub length: i64,
    /// The number of calls.
    pub calls: u64,
    /// The calls and the other differences, in order, up to a maximum number.
    pub marks: Vec<Mark>,
}

/// A mark on a timeline: a call or another difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mark {
    /// The time since the session began, in milliseconds.
    pub at: i64,
    /// The number of the record.
    pub seq: u64,
    /// The aspect that differs; none if nothing differs.
    pub aspect: Option<Aspect>,
    /// The value now.
    pub now: String,
}

/// A file or record that could not be replayed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failed {
    /// The path of the file.
    pub file: String,
    /// The line, from 1; none if the whole file failed.
    pub line: Option<u64>,
    /// The reason.
    pub message: String,
}

/// The lines of a foreign log that were skipped for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkippedLines {
    /// The path of the file.
    pub file: String,
    /// The reason.
    pub why: String,
    /// The first such line, from 1.
    pub first: u64,
    /// The number of skipped lines.
    pub lines: u64,
}
