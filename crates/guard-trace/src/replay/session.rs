//! The result of replaying one session, as counts.

use super::Options;
use super::compare::{deciding, same_reasons};
use super::hidden::{self, are_named, hide_marked};
use guard_plan::json::Json;
use guard_plan::plan::{Millis, Plan, Tool};
use guard_plan::record::{Delivered, Payload, Record, rendered};
use guard_plan::replay_report::{Aspect, Difference, Mark, TimelineRow, View};
use guard_plan::verdict::{Code, Decision, Reason, Verdict};
use guard_plan::{render, secrecy, time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The maximum length of a difference's arguments, in characters.
const ARGS_CHARS: usize = 200;

/// A rule that makes a difference: its code, its owner, its position, and the decisions then and
/// now.
pub type RuleDifference = (Code, String, Option<String>, Decision, Decision);

/// A replayed session.
#[derive(Debug, Clone)]
pub struct Replayed {
    /// The id of the session.
    pub session: String,
    /// The recorded guard.
    pub guard: String,
    /// The content hash of the recorded plan.
    pub plan: String,
    /// True if the recorded plan is also the replaying plan.
    pub own: bool,
    /// True if all records were compared byte for byte.
    pub exact: bool,
    /// The start time, in milliseconds.
    pub start: Millis,
    /// The session's clock at the end, in milliseconds.
    pub end: Millis,
    /// The number of records.
    pub records: u64,
    /// The view of the whole session.
    pub recorded: View,
    /// The view up to the first difference; complete if the session is.
    pub strict: View,
    /// The rules that make a difference.
    pub rules: BTreeMap<RuleDifference, u64>,
    /// The first differences; the caller fills in the file.
    pub differences: Vec<Difference>,
    /// The number of further differences.
    pub unlisted: u64,
    /// The calls and other differences, up to the limit.
    pub marks: Vec<Mark>,
    pub(super) options: ReplayOptions,
    /// The plan that decides now. It determines which values are secret.
    judged_by: Arc<Plan>,
    /// The recorded arguments of the current call, if they contain marks.
    marked: Option<Json>,
    /// True if a value was revealed that is not secret in the deciding plan, so that texts of that
    /// plan may contain it.
    outspoken: bool,
    /// True after the first difference.
    diverged: bool,
}

/// The options that a session remembers.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplayOptions {
    pub foreign: bool,
    keep: usize,
    marks: usize,
}

impl Replayed {
    pub(super) fn new(
        options: Options<'_>,
        [session, guard, plan]: [&str; 3],
        start: Millis,
        own: bool,
        judged_by: Arc<Plan>,
    ) -> Replayed {
        let Options { keep, marks, foreign, .. } = options;
        Replayed {
            session: session.to_owned(),
            guard: guard.to_owned(),
            plan: plan.to_owned(),
            own,
            exact: own,
            start,
            end: start,
            records: 1,
            recorded: View::default(),
            strict: View::default(),
            rules: BTreeMap::new(),
            differences: Vec::new(),
            unlisted: 0,
            marks: Vec::new(),
            options: ReplayOptions { foreign, keep, marks },
            judged_by,
            marked: None,
            outspoken: false,
            diverged: false,
        }
    }

    /// Sets the plan that decides from now on. It determines which values are secret.
    pub(super) fn judged_by(&mut self, plan: Arc<Plan>) {
        self.judged_by = plan;
    }

    /// Records that another plan has decided the recording from here on.
    pub(super) fn passed(&mut self) {
        (self.own, self.exact) = (false, false);
    }

    /// Returns the row of the session in a timeline.
    pub fn lane(&self, file: &str) -> TimelineRow {
        TimelineRow {
            file: file.to_owned(),
            session: self.session.clone(),
            begin: time::format_rfc3339(self.start),
            length: self.end.saturating_sub(self.start),
            calls: self.recorded.calls,
            marks: self.marks.clone(),
        }
    }

    /// Counts in both views, as far as the strict view reaches.
    fn count(&mut self, count: impl Fn(&mut View)) {
        count(&mut self.recorded);
        if !self.diverged {
            count(&mut self.strict);
        }
    }

    /// Returns true if a difference was found so far.
    pub(super) fn has_diverged(&self) -> bool {
        self.diverged
    }

    pub(super) fn call(&mut self) {
        self.count(|view| view.calls += 1);
    }

    pub(super) fn verdict(&mut self, record: &Record, then: &Verdict, now: &Verdict, unsure: bool) {
        if then.decision == now.decision {
            if same_reasons(then, now) {
                self.count(|view| view.same += 1);
                return self.mark(record, None, now.decision.as_str());
            }
            self.count(|view| view.reasons += 1);
            let was = then.decision.as_str();
            let is = now.decision.as_str();
            let reason = deciding(now, then).first().map(|reason| (*reason).clone());
            return self.differs(record, Aspect::Reasons, was, is, reason, None);
        }
        if unsure {
            return self.unsaid_after(record);
        }
        self.count(|view| view.shift(then.decision, now.decision));
        // An allowed call has no reasons, so the reasons of the earlier refusal explain the change.
        let deciding = match now.decision {
            Decision::Allow => deciding(then, now),
            _ => deciding(now, then),
        };
        for reason in &deciding {
            let key = (
                reason.code,
                reason.rule.clone(),
                reason.span.clone(),
                then.decision,
                now.decision,
            );
            *self.rules.entry(key).or_default() += 1;
        }
        let reason = deciding.first().map(|reason| (*reason).clone());
        let was = then.decision.as_str();
        let is = now.decision.as_str();
        self.differs(record, Aspect::Decision, was, is, reason, None);
        self.diverged = true;
    }

    /// Counts a stop, a halt or an item with a different outcome.
    pub(super) fn aspect(
        &mut self,
        record: &Record,
        aspect: Aspect,
        then: &str,
        now: &str,
        unsure: bool,
    ) {
        if unsure {
            return self.unsaid_after(record);
        }
        self.count(|view| match aspect {
            Aspect::Stop if now == "block" => view.stops_blocked += 1,
            Aspect::Stop => view.stops_allowed += 1,
            Aspect::Halt if now == "halted" => view.halts += 1,
            Aspect::Halt => view.halts_gone += 1,
            _ => view.items += 1,
        });
        self.differs(record, aspect, then, now, None, None);
        self.diverged = true;
    }

    /// Counts different feedback. It does not necessarily change the agent's next actions, so the
    /// strict view continues.
    pub(super) fn words(
        &mut self,
        record: &Record,
        aspect: Aspect,
        then: &[Delivered],
        now: &[Delivered],
        unsure: bool,
    ) {
        if unsure {
            return;
        }
        self.count(|view| view.feedback += 1);
        let text = |delivered: &[Delivered]| render::cut(&rendered(delivered), ARGS_CHARS);
        self.differs(record, aspect, &text(then), &text(now), None, None);
    }

    pub(super) fn unsaid_world(&mut self, record: &Record, because: String) {
        self.count(|view| view.unsaid.world += 1);
        self.unsaid(record, because);
    }

    pub(super) fn unsaid_secret(&mut self, record: &Record, because: String) {
        self.count(|view| view.unsaid.secrets += 1);
        self.unsaid(record, because);
    }

    fn unsaid_after(&mut self, record: &Record) {
        self.count(|view| view.unsaid.after += 1);
        self.unsaid(record, "something before it could not be decided".into());
    }

    fn unsaid(&mut self, record: &Record, because: String) {
        self.differs(record, Aspect::Unsaid, "", "", None, Some(because));
        self.diverged = true;
    }

    /// Remembers the values of a record that were only marks before they were revealed.
    pub(super) fn keep_marks(&mut self, record: &Record, marked: Option<Json>) {
        self.marked = None;
        // Without the key, nothing was revealed.
        let is_revealed = || hidden::marked(record).is_none();
        let Some(marked) = marked.filter(|_| !self.own && is_revealed()) else { return };
        if let Payload::Propose(propose) = &record.payload {
            let mut shown = self.without_secrets(&propose.tool, &propose.args);
            self.outspoken |= hide_marked(&mut shown, &marked, render::SECRET);
            self.marked = Some(marked);
        } else {
            let plan = &self.judged_by;
            self.outspoken |= !are_named(&marked, &|name| secrecy::has_secret_name(plan, name));
        }
    }

    /// Stores a difference, up to the limit.
    pub(super) fn differs(
        &mut self,
        record: &Record,
        aspect: Aspect,
        then: &str,
        now: &str,
        reason: Option<Reason>,
        because: Option<String>,
    ) {
        if aspect == Aspect::Record {
            self.count(|view| view.records += 1);
        }
        // Texts of a guard that does not know of the secret may repeat it, so they are hidden as a
        // whole.
        let conceals = self.outspoken && aspect != Aspect::Decision && !now.is_empty();
        let now = if conceals { render::SECRET } else { now };
        let reason = reason.map(|reason| {
            if self.outspoken {
                Reason {
                    message: render::SECRET.into(),
                    help: String::new(),
                    values: Vec::new(),
                    ..reason
                }
            } else {
                reason
            }
        });
        self.mark(record, Some(aspect), now);
        if self.differences.len() >= self.options.keep {
            self.unlisted += 1;
            return;
        }
        let (tool, args) = match &record.payload {
            Payload::Propose(propose) => {
                (Some(propose.tool.to_string()), self.shown_arguments(&propose.tool, &propose.args))
            }
            _ => (None, String::new()),
        };
        self.differences.push(Difference {
            file: String::new(),
            session: self.session.clone(),
            seq: record.seq,
            time: record.time.clone(),
            call: record.call.clone(),
            tool,
            args,
            aspect,
            then: then.to_owned(),
            now: now.to_owned(),
            reason,
            because,
            strict: !self.diverged,
        });
    }

    /// Formats arguments for people, without the secrets of either guard, even if the key is known.
    fn shown_arguments(&self, tool: &str, args: &Json) -> String {
        let mut shown = self.without_secrets(tool, args);
        if let Some(marked) = &self.marked {
            hide_marked(&mut shown, marked, render::SECRET);
        }
        render::cut(&shown.to_string(), ARGS_CHARS)
    }

    fn without_secrets(&self, tool: &str, args: &Json) -> Json {
        let plan = &self.judged_by;
        let by = |name: fn(&Tool) -> &str| plan.tools.iter().find(|known| name(known) == tool);
        let declared = by(|known| &known.wire_name).or_else(|| by(|known| &known.name));
        let hide = |json: &Json| match json {
            Json::String(text) if text.starts_with("secret:") => json.clone(),
            _ => Json::string(render::SECRET),
        };
        secrecy::without_secrets(plan, declared, args, &hide)
    }

    fn mark(&mut self, record: &Record, aspect: Option<Aspect>, now: &str) {
        if self.marks.len() >= self.options.marks {
            return;
        }
        let at = time::parse_rfc3339(&record.time).unwrap_or(self.start);
        let at = at.saturating_sub(self.start).max(0);
        self.marks.push(Mark { at, seq: record.seq, aspect, now: render::cut(now, 20) });
    }
}
