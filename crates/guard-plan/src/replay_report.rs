//! The report of a replay: the results of deciding recorded sessions again.
//!
//! The replay reference defines the numbers. Nothing here decides.

use crate::verdict::{Code, Decision, Reason};
use serde::{Deserialize, Serialize};

/// Recorded sessions, decided again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayReport {
    /// The guards that decided now.
    pub guards: Vec<Decider>,
    /// The form of the logs, where they are no traces of Guard.
    pub from: Option<String>,
    /// How many sessions were decided again to their end.
    pub sessions: u64,
    /// In how many of them everything was as recorded.
    pub same_sessions: u64,
    /// How many records were read.
    pub records: u64,
    /// When the first session began, RFC 3339.
    pub begin: Option<String>,
    /// When the last one ended, RFC 3339.
    pub end: Option<String>,
    /// Everything that is recorded, given to the guard one event after the other.
    pub recorded: View,
    /// Of each session only what came up to the first difference, that included.
    pub strict: View,
    /// Which rules make the difference, most frequent first.
    pub rules: Vec<RuleCount>,
    /// The differences, in the order of the sessions; the first so many.
    pub differences: Vec<Difference>,
    /// How many differences are not listed.
    pub unlisted: u64,
    /// The sessions in which something differs; the first so many.
    pub lanes: Vec<TimelineRow>,
    /// What could not be decided again at all.
    pub failures: Vec<Failed>,
    /// What the readers of foreign logs passed over.
    pub passed_over: Vec<SkippedLines>,
}

/// A guard that decided.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decider {
    /// Its name.
    pub guard: String,
    /// The content hash of its plan, `sha256:…`.
    pub plan: String,
    /// How many sessions it decided.
    pub sessions: u64,
    /// How many of these were recorded with this very plan.
    pub own: u64,
}

/// The counts of a replay: calls, stops and items by how their decisions compare with the recorded ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct View {
    /// Proposed calls.
    pub calls: u64,
    /// Calls with the same decision and the same reasons.
    pub same: u64,
    /// Calls with the same decision for other reasons.
    pub reasons: u64,
    /// Calls with another decision.
    pub decisions: Vec<DecisionChange>,
    /// Calls, stops and items of which it cannot be said.
    pub unsaid: Unsaid,
    /// Stops that are blocked now.
    pub stops_blocked: u64,
    /// Stops that are allowed now.
    pub stops_allowed: u64,
    /// Settlements that halt the session now.
    pub halts: u64,
    /// Settlements that no longer halt it.
    pub halts_gone: u64,
    /// Results of served calls, and items, that come out otherwise.
    pub items: u64,
    /// Events whose feedback is another.
    pub feedback: u64,
    /// Records that say the same and are not the same to the byte; only where the plan is the recorded one.
    pub records: u64,
    /// Settlements of calls that the guard does not allow now: skipped with their call.
    pub skipped: u64,
    /// Approvals, reports and other events that the guard has no use for.
    pub untaken: u64,
}

/// A decision that is another now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecisionChange {
    /// As recorded.
    pub then: Decision,
    /// Now.
    pub now: Decision,
    /// How often.
    pub count: u64,
}

/// The counts of undecidable replays, by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unsaid {
    /// It depends on an answer of the world that was not asked for then.
    pub world: u64,
    /// It depends on a secret of which only the mark is on record.
    pub secrets: u64,
    /// It differs, but after something in the session that cannot be said.
    pub after: u64,
}

impl Unsaid {
    /// Returns the total.
    pub fn total(&self) -> u64 {
        self.world + self.secrets + self.after
    }
}

impl View {
    /// Counts a decision that differs now.
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

    /// Returns whether everything is as recorded: texts too, and nothing is unknown.
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
    /// Its code.
    pub code: Code,
    /// The rule's owner.
    pub rule: String,
    /// `file:line:column`, where it is known.
    pub span: Option<String>,
    /// The decision as recorded.
    pub then: Decision,
    /// The decision now.
    pub now: Decision,
    /// How often.
    pub count: u64,
}

/// The aspect of a session in which a replay differs from the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// The decision on a call.
    Decision,
    /// Whether the agent may stop.
    Stop,
    /// Whether the session is halted.
    Halt,
    /// The result of a served call, or an item.
    Item,
    /// It cannot be said.
    Unsaid,
    /// The reasons of the same decision.
    Reasons,
    /// The feedback.
    Feedback,
    /// Something else of the record.
    Record,
}

/// Something that is another now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The file of the trace.
    pub file: String,
    /// The session.
    pub session: String,
    /// The number of the record in its session.
    pub seq: u64,
    /// The session's clock, RFC 3339.
    pub time: String,
    /// The call, if it is of one.
    pub call: Option<String>,
    /// Its tool.
    pub tool: Option<String>,
    /// Its arguments as they are on record, shortened.
    pub args: String,
    /// What differs.
    pub aspect: Aspect,
    /// How it was, in a word or two.
    pub then: String,
    /// How it is now.
    pub now: String,
    /// The reason that makes the difference: of now, or of then where there is none now.
    pub reason: Option<Reason>,
    /// Why it cannot be said, or which part of a record differs.
    pub because: Option<String>,
    /// It is in the strict view too: nothing before it in its session was another.
    pub strict: bool,
}

/// A session in which something differs, for a timeline.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelineRow {
    /// The file of the trace.
    pub file: String,
    /// The session.
    pub session: String,
    /// When it began, RFC 3339.
    pub begin: String,
    /// How long it took, in milliseconds.
    pub length: i64,
    /// Its calls.
    pub calls: u64,
    /// Its calls, and what else differs, in order; the first so many.
    pub marks: Vec<Mark>,
}

/// A call on a timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mark {
    /// Milliseconds since the session began.
    pub at: i64,
    /// The number of its record.
    pub seq: u64,
    /// What differs; none where nothing does.
    pub aspect: Option<Aspect>,
    /// How it is now.
    pub now: String,
}

/// A file or record that could not be replayed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Failed {
    /// The file.
    pub file: String,
    /// The line in it, from 1; none where it is the file itself.
    pub line: Option<u64>,
    /// Why.
    pub message: String,
}

/// Lines of a foreign log that were passed over for one cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkippedLines {
    /// The file.
    pub file: String,
    /// Why.
    pub why: String,
    /// The first such line, from 1.
    pub first: u64,
    /// How many.
    pub lines: u64,
}
