//! Coverage of a run, so that an empty run is noticed.

use super::heard::{EventReply, Heard};
use crate::generate::Event;
use guard_plan::plan::Severity;
use guard_plan::record::NoteKind;
use guard_plan::verdict::{Code, Decision};
use std::collections::{BTreeMap, BTreeSet};

/// The coverage of a run.
#[derive(Debug, Default, Clone)]
pub struct RunCoverage {
    /// Sessions played.
    pub sessions: u64,
    /// Events played.
    pub events: u64,
    /// Proposals that were allowed.
    pub allowed: u64,
    /// Proposals that were not.
    pub refused: u64,
    /// Guards that were drawn and did not compile.
    pub discarded: u64,
    /// Reasons given, by code.
    pub reasons: [u64; Code::ALL.len()],
    /// Events and sessions in which something happened, by what.
    pub seen: BTreeMap<&'static str, (u64, u64)>,
    /// What the current session has seen.
    session: BTreeSet<&'static str>,
}

/// Everything that a run of some size should have met.
pub const EXPECTED: [&str; 36] = [
    "feedback",
    "feedback of a caution or warning",
    "feedback of several at once",
    "feedback after a denial",
    "feedback fault",
    "result undecoded",
    "learned from a call",
    "learned from a prompt",
    "learned at the start",
    "forgotten",
    "item created",
    "item moved by the agent",
    "item moved by hand",
    "item rejected by hand",
    "item verified",
    "item rejected by its criteria",
    "verification left as it was",
    "verification unanswered",
    "item error",
    "items listed",
    "stated",
    "served in vain",
    "item escalated",
    "stop allowed",
    "stop blocked",
    "stop bypassed",
    "stop incomplete",
    "reply of a probe kept",
    "halt",
    "shadowed reason",
    "two calls of a `since` in flight",
    "an empty text",
    "untrusted text in a variable",
    "a text that leads beyond a fence",
    "other arguments asked for",
    "a result shown otherwise",
];

/// Constructs, by the text that shows them in a guard.
const MARKS: [(&str, &str); 65] = [
    ("guard: a gate with a condition", "risk critical when"),
    ("guard: a cost that is given back", "returned on failure"),
    ("guard: a result from a string", "returns Item from string"),
    ("guard: a rounded result", " rounded"),
    ("guard: private", "private result"),
    ("guard: private for each element", "private post."),
    ("guard: trust for each element", "trusted post."),
    ("guard: trust in what a function finds", "trusted emails("),
    ("guard: may_read", "may_read("),
    ("guard: transform", "transform "),
    ("guard: transform of a result", "transform result."),
    ("guard: use of a define", "(d_"),
    ("guard: define of a define", " d_nears("),
    ("guard: let", "let l_"),
    ("guard: let of a policy", "let q0 = "),
    ("guard: text of a value", "text("),
    ("guard: path of a text", "(path("),
    ("guard: local part", "email_local("),
    ("guard: source start", "source start"),
    ("guard: source prompt", "source prompt"),
    ("guard: origin", "origin("),
    ("guard: mentions", "mentions("),
    ("guard: mentions of a code", "mentions_code("),
    ("guard: mentions of a date", "mentions_date("),
    ("guard: mentions of a number", "mentions_number("),
    ("guard: words", "words("),
    ("guard: seen", "seen("),
    ("guard: trust in a part", "trusted result."),
    ("guard: limit that asks", " else ask "),
    ("guard: first", "(first x in xs"),
    ("guard: joined texts", " + \"\" + "),
    ("guard: rows of a fact", " r in row"),
    ("guard: map by enum", "in by_env"),
    ("guard: map by int", "k in by_int"),
    ("guard: map by bool", "by_bool["),
    ("guard: probe every", "\n  every 1"),
    ("guard: probe backoff", "backoff "),
    ("guard: probe within", "\n  within "),
    ("guard: ready", "ready when"),
    ("guard: probe in a condition", "(probe "),
    ("guard: reconcile", "reconcile "),
    ("guard: two effects on a map", "  by_int[2] = flag"),
    ("guard: the last calls", " within last "),
    ("guard: feedback every N calls", " calls {"),
    ("guard: feedback on created", "on created"),
    ("guard: feedback on denied", "on denied"),
    ("guard: feedback otherwise", " otherwise:"),
    ("guard: feedback observe", " observe \""),
    ("guard: feedback suggest", " suggest \""),
    ("guard: feedback of a secret", ".pw}"),
    ("guard: lifecycle", "lifecycle "),
    ("guard: evidence", "requires evidence"),
    ("guard: when criteria fail", "when criteria fail"),
    ("guard: escalate", "escalate to"),
    ("guard: completion", "completion {"),
    ("guard: completion at most", "at most "),
    ("guard: check file", "file \"report.md\""),
    ("guard: check conforms", "conforms Found"),
    ("guard: contract with references", "  reference "),
    ("guard: check command", "command \"make\" \"test\" exits"),
    ("guard: check git committed", "git committed"),
    ("guard: check every item", "every todo is"),
    ("guard: check all", "all { "),
    ("guard: check any", "any { "),
    ("guard: attest", "attest good {"),
];

impl RunCoverage {
    /// Counts the features of a session's guard.
    pub(super) fn guard(&mut self, text: &str) {
        for (what, mark) in MARKS {
            self.saw_if(text.contains(mark), what);
        }
    }

    /// A session begins.
    pub(super) fn begin(&mut self) {
        self.sessions += 1;
        self.session.clear();
    }

    fn saw(&mut self, what: &'static str) {
        let (events, sessions) = self.seen.entry(what).or_default();
        *events += 1;
        *sessions += u64::from(self.session.insert(what));
    }

    fn saw_if(&mut self, is: bool, what: &'static str) {
        if is {
            self.saw(what);
        }
    }

    /// Counts an event and the reply to it.
    pub(super) fn count(&mut self, event: &Event, said: &Result<EventReply, ()>) {
        self.events += 1;
        let Ok(said) = said else {
            self.saw_if(matches!(event, Event::Verify(_) | Event::Move(..)), "item error");
            return;
        };
        if let Some(decision) = said.decision {
            self.allowed += u64::from(decision == Decision::Allow);
            self.refused += u64::from(decision != Decision::Allow);
        }
        for (code, ..) in &said.reasons {
            self.reasons[*code as usize] += 1;
        }
        self.saw_if(!said.shadowed.is_empty(), "shadowed reason");
        self.saw_if(said.escalated, "item escalated");
        self.heard(&said.heard);
        self.items(event, said);
        if let Some(stop) = &said.stop {
            self.saw_if(stop.bypassed.is_some(), "stop bypassed");
            self.saw_if(stop.incomplete, "stop incomplete");
            self.saw_if(!stop.allowed, "stop blocked");
            self.saw_if(
                stop.allowed && !stop.incomplete && stop.bypassed.is_none(),
                "stop allowed",
            );
        }
        let learned = said.heard.learned > 0;
        self.saw_if(learned && matches!(event, Event::Prompt(_)), "learned from a prompt");
        self.saw_if(learned && matches!(event, Event::Settle(..)), "learned from a call");
        self.saw_if(said.heard.forgotten > 0, "forgotten");
    }

    fn heard(&mut self, heard: &Heard) {
        let feedback = &heard.feedback;
        self.saw_if(!feedback.is_empty(), "feedback");
        self.saw_if(feedback.len() > 1, "feedback of several at once");
        self.saw_if(
            feedback.iter().any(|entry| entry.severity > Severity::Info),
            "feedback of a caution or warning",
        );
        self.saw_if(!feedback.is_empty() && heard.denied, "feedback after a denial");
        let noted = |kind: NoteKind| heard.notes.iter().any(|(of, _)| *of == kind);
        self.saw_if(noted(NoteKind::Feedback), "feedback fault");
        self.saw_if(noted(NoteKind::Undecoded), "result undecoded");
        self.saw_if(heard.instead.is_some(), "other arguments asked for");
        self.saw_if(heard.shown.is_some(), "a result shown otherwise");
    }

    fn items(&mut self, event: &Event, said: &EventReply) {
        self.saw_if(said.served.as_ref().is_some_and(|s| s.get("items").is_some()), "items listed");
        self.saw_if(said.served.as_ref().is_some_and(|s| s.get("stated").is_some()), "stated");
        let known = ["id", "items", "stated"];
        self.saw_if(
            said.served.as_ref().is_some_and(|s| known.iter().all(|id| s.get(id).is_none())),
            "served in vain",
        );
        let by_hand = matches!(event, Event::Move(..));
        let verify = matches!(event, Event::Verify(_));
        for change in &said.heard.items {
            let created = change.before.is_none();
            self.saw_if(created, "item created");
            self.saw_if(!created && !by_hand && !verify, "item moved by the agent");
            self.saw_if(by_hand, "item moved by hand");
            self.saw_if(
                by_hand && !change.reasons.is_empty() && change.rejections > 0,
                "item rejected by hand",
            );
            let moved = change.transition.is_some();
            self.saw_if(verify && moved && change.reasons.is_empty(), "item verified");
            self.saw_if(
                verify && moved && !change.reasons.is_empty(),
                "item rejected by its criteria",
            );
            let unanswered = !change.unanswered.is_empty();
            self.saw_if(verify && unanswered, "verification unanswered");
            self.saw_if(verify && !moved && !unanswered, "verification left as it was");
        }
    }

    /// Counts an observation that is not part of a reply, if `is` is true.
    pub(super) fn also(&mut self, is: bool, what: &'static str) {
        self.saw_if(is, what);
    }

    /// Returns the expected observations that never happened.
    pub fn quiet(&self) -> Vec<&'static str> {
        let all = EXPECTED.into_iter().chain(MARKS.map(|(what, _)| what));
        all.filter(|what| !self.seen.contains_key(what)).collect()
    }
}

impl std::fmt::Display for RunCoverage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "{} sessions of {} events agree, of guards that compile ({} drawn did not)",
            self.sessions, self.events, self.discarded
        )?;
        writeln!(f, "proposals: {} allowed, {} not", self.allowed, self.refused)?;
        let given = Code::ALL.iter().zip(self.reasons).filter(|(_, n)| *n > 0);
        let given: Vec<String> = given.map(|(code, n)| format!("{} {n}", code.as_str())).collect();
        writeln!(f, "reasons: {}", given.join(", "))?;
        let guards = |what: &str| what.starts_with("guard: ");
        for (what, (_, sessions)) in self.seen.iter().filter(|(what, _)| guards(what)) {
            let share = 100.0 * *sessions as f64 / self.sessions.max(1) as f64;
            writeln!(f, "{what}: {sessions} sessions ({share:.1} %)")?;
        }
        for (what, (events, sessions)) in self.seen.iter().filter(|(what, _)| !guards(what)) {
            let of = |n: &u64, all: u64| 100.0 * *n as f64 / all.max(1) as f64;
            writeln!(
                f,
                "{what}: {events} events ({:.2} %), {sessions} sessions ({:.1} %)",
                of(events, self.events),
                of(sessions, self.sessions)
            )?;
        }
        Ok(())
    }
}
