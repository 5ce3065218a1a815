//! One session under replay, record by record.

use super::compare::{self, mark_of, same_feedback};
use super::hidden::{self, Hidden, looks_into_result};
use super::world::RecordedAnswers;
use super::{Judge, Options, ReplayError, Replayed};
use crate::resume::{self, ResumeError, resume};
use guard_plan::record::{self, Payload, Record};
use guard_plan::replay_report::Aspect;
use guard_plan::{hex, time};
use guard_runtime::{
    Event, Outcome, Recorder, Salt, Scratch, Secrets, SessionState, Settlement, StepError, replay,
};
use std::sync::Arc;

/// No session has this many records; the numbers of hostile ones continue after it.
const LAST: u64 = u64::MAX / 2;

/// The replay of one session.
#[derive(Debug)]
pub struct Replay<'k> {
    pub(super) judge: &'k Judge,
    pub(super) session: SessionState,
    secrets: Option<Arc<dyn Secrets>>,
    /// Writes the records again; only if the plan is the recorded one.
    pub(super) recorder: Option<Recorder>,
    pub(super) scratch: Scratch,
    /// True if an earlier event could not be decided, so that the session may differ.
    pub(super) unsure: bool,
    /// The error of an event that the session does not accept.
    pub(super) refusal: Option<StepError>,
    pub(super) said: Replayed,
}

impl<'k> Replay<'k> {
    /// Begins with the first record of a session. The line is the record as written in the trace.
    ///
    /// # Errors
    ///
    /// Returns an error if the record does not begin a session, or the session cannot be opened.
    pub fn begin(
        judge: &'k Judge,
        options: Options<'_>,
        mut record: Record,
        line: Option<&[u8]>,
    ) -> Result<Replay<'k>, ReplayError> {
        if record.seq >= LAST {
            return Err(ReplayError::Senseless);
        }
        let id = match &record.payload {
            Payload::Open(open) => open.session.to_string(),
            Payload::Snapshot(snapshot) => return Replay::recalled(judge, options, snapshot, line),
            _ => return Err(ReplayError::NoOpening),
        };
        let secrets = options.keys.map(|keys| Arc::new(keys.session(&id)) as Arc<dyn Secrets>);
        let closed = record.sealed().is_some() && secrets.is_none();
        let marked = hidden::marked(&record);
        hidden::reveal(&mut record, secrets.as_deref());
        let hidden = !options.foreign && Hidden::new(&record).any();
        let closed = closed || hidden;
        let Payload::Open(open) = &record.payload else { return Err(ReplayError::NoOpening) };
        let start = time::parse_rfc3339(&record.time).ok_or(ReplayError::Senseless)?;
        let kernel = &judge.kernel;
        let mut session = kernel
            .open_with(&id, start, &open.workspace, open.data.as_deref())
            .map_err(ReplayError::Open)?;
        kernel.set_recheck(&mut session, open.recheck);
        let own = !options.foreign && *open.plan == *judge.hash;
        let mut replay = Replay {
            session,
            recorder: own.then(|| Recorder::new(replayed_secrets(secrets.as_ref()))),
            secrets,
            judge,
            scratch: Scratch::default(),
            unsure: hidden && !kernel.plan().sources.is_empty(),
            refusal: None,
            said: Replayed::new(
                options,
                [&id, &open.guard, &open.plan],
                start,
                own,
                judge.shown.clone(),
            ),
        };
        replay.said.keep_marks(&record, marked);
        // Another version of Guard may write the same decisions with other words.
        let known = open.version.is_empty() || *open.version == *env!("CARGO_PKG_VERSION");
        if let Some(recorder) = &mut replay.recorder {
            let again = recorder.open(kernel, &replay.session, open.actor.as_deref());
            let differs = line.is_some_and(|line| line != again) && !closed && known;
            replay.said.exact &= !closed && known;
            if differs {
                let because = line.map(|line| compare::parts(line, again));
                replay.said.differs(&record, Aspect::Record, "", "", None, because);
            }
        }
        replay.follow(&record);
        Ok(replay)
    }

    /// Begins with a snapshot, which only the plan that wrote it can read.
    fn recalled(
        judge: &'k Judge,
        options: Options<'_>,
        snapshot: &record::Snapshot<'_>,
        line: Option<&[u8]>,
    ) -> Result<Replay<'k>, ReplayError> {
        if *snapshot.plan != *judge.hash {
            return Err(ReplayError::Snapshot);
        }
        let keys =
            options.keys.map(|keys| Arc::new(keys.session(&snapshot.session)) as Arc<dyn Secrets>);
        let text = line.and_then(|line| std::str::from_utf8(line).ok());
        let resumed = resume(&judge.kernel, &replayed_secrets(keys.as_ref()), text)
            .map_err(|error| ReplayError::Recall(error.to_string()))?;
        let start = resumed.session.now();
        Ok(Replay {
            judge,
            session: resumed.session,
            secrets: keys,
            recorder: Some(resumed.recorder),
            scratch: Scratch::default(),
            unsure: false,
            refusal: None,
            said: Replayed::new(
                options,
                [&snapshot.session, &snapshot.guard, &snapshot.plan],
                start,
                true,
                judge.shown.clone(),
            ),
        })
    }

    /// Replays the next record.
    ///
    /// # Errors
    ///
    /// Returns an error if its event is invalid here.
    pub fn record(&mut self, mut record: Record, line: Option<&[u8]>) -> Result<(), ReplayError> {
        self.said.records += 1;
        if record.seq >= LAST {
            return Err(ReplayError::Senseless);
        }
        match record.payload {
            Payload::Open(_) => return Err(ReplayError::Again),
            // A plan that decides the whole session continues to decide it.
            Payload::Upgrade(_) => return self.passed(&record),
            Payload::Answers(_)
            | Payload::Contract(_)
            | Payload::Snapshot(_)
            | Payload::Ledger(_) => return self.no_event(record, line),
            _ => {}
        }
        // Without the key, a sealed part cannot be sealed again.
        let closed = record.sealed().is_some() && self.secrets.is_none();
        let marked = hidden::marked(&record);
        hidden::reveal(&mut record, self.secrets.as_deref());
        self.said.keep_marks(&record, marked);
        let hidden =
            if self.said.options.foreign { Hidden::default() } else { Hidden::new(&record) };
        let closed = closed || hidden.any();
        let event = replay::event(&record).ok_or(ReplayError::Senseless)?;
        let certain = self.recorder.is_some() && !closed && !self.unsure;
        let before = self.said.recorded.changed() + self.said.recorded.unsaid.total();
        let outcome = match (&event, &record.payload) {
            (Event::Propose(proposal), Payload::Propose(then)) => {
                self.propose(&record, proposal, then, hidden)
            }
            (Event::Settle(settlement), Payload::Settle(then)) => {
                self.settle(&record, settlement, then, hidden)
            }
            _ => self.other(&record, &event, hidden),
        };
        let refusal = self.refusal.take().filter(|_| certain && !self.said.has_diverged());
        if let Some(error) = refusal {
            // The recorded plan never wrote a record of such an event. After a difference, the
            // event may be a consequence of it.
            return Err(ReplayError::Forged(resume::refused(&record, &error)));
        }
        let time = time::parse_rfc3339(&record.time).unwrap_or(self.said.end);
        self.said.end = self.said.end.max(time);
        let closed = closed || self.unsure;
        self.said.exact &= !closed;
        let alike = before == self.said.recorded.changed() + self.said.recorded.unsaid.total();
        self.again(&record, line, &event, outcome.as_ref(), alike && !closed);
        Ok(())
    }

    /// Replays a record that is not an event. The kernel skips it, and the recorded plan writes it
    /// again.
    fn no_event(&mut self, mut record: Record, line: Option<&[u8]>) -> Result<(), ReplayError> {
        let closed = record.sealed().is_some() && self.secrets.is_none();
        hidden::reveal(&mut record, self.secrets.as_deref());
        let sealed = matches!(&record.payload, Payload::Snapshot(it) if it.sealed);
        let closed = closed || (sealed && self.secrets.is_none()) || self.unsure;
        let own = self.recorder.as_mut().zip(line).filter(|_| !closed);
        if let Some((recorder, line)) = own {
            let secrets = replayed_secrets(self.secrets.as_ref());
            let kernel = &self.judge.kernel;
            let again = resume::rewritten(kernel, &secrets, &self.session, recorder, &record);
            match again.map_err(ReplayError::Forged)? {
                Some(again) if again != line => {
                    let because = Some(compare::parts(line, again));
                    self.said.differs(&record, Aspect::Record, "", "", None, because);
                }
                _ => {}
            }
        } else {
            self.said.exact &= self.recorder.is_none();
        }
        self.follow(&record);
        Ok(())
    }

    /// Replays the record with which the session continued under another plan, which decides from
    /// then on. The transfer of the session must give the same result as in the recording.
    ///
    /// # Errors
    ///
    /// Returns an error if the recorded plans cannot have written the record.
    pub fn upgrade(
        &mut self,
        judge: &'k Judge,
        record: Record,
        line: Option<&[u8]>,
    ) -> Result<(), ReplayError> {
        let Payload::Upgrade(upgrade) = &record.payload else { return Err(ReplayError::Senseless) };
        let own = self.recorder.is_some() && *upgrade.from == *self.judge.hash;
        if !own || *upgrade.snapshot.plan != *judge.hash {
            return Err(ReplayError::OtherPlan(upgrade.from.to_string()));
        }
        self.said.records += 1;
        let secrets = replayed_secrets(self.secrets.as_ref());
        let closed = upgrade.snapshot.sealed && self.secrets.is_none();
        if closed {
            return Err(ReplayError::Closed);
        }
        let text = line.and_then(|line| std::str::from_utf8(line).ok());
        let resumed = resume::resume_from(&judge.kernel, &secrets, text);
        let resumed = resumed.map_err(ReplayError::Forged)?;
        let now = time::parse_rfc3339(&record.time).ok_or(ReplayError::Senseless)?;
        let again = self.judge.kernel.upgrade(&self.session, &judge.kernel, now);
        let again = again.map_err(|error| {
            ReplayError::Forged(ResumeError::Refused(record.seq, error.to_string()))
        })?;
        let said = |all: &[guard_runtime::Forgotten], was: &[String]| {
            all.iter().map(ToString::to_string).eq(was.iter().cloned())
        };
        let same = again.session.memory() == resumed.session.memory()
            && said(&again.anew, &upgrade.anew)
            && said(&again.dropped, &upgrade.dropped);
        // Until a difference is found, the session is identical to the recorded one.
        if !same && !self.unsure && !self.said.has_diverged() {
            return Err(ReplayError::Forged(ResumeError::Diverged(record.seq)));
        }
        (self.session, self.recorder) = (resumed.session, Some(resumed.recorder));
        self.judge = judge;
        self.said.judged_by(judge.shown.clone());
        Ok(())
    }

    /// Skips an upgrade: in the recording, another plan has decided from there on.
    fn passed(&mut self, record: &Record) -> Result<(), ReplayError> {
        self.said.passed();
        self.recorder = None;
        let time = time::parse_rfc3339(&record.time).unwrap_or(self.said.end);
        self.said.end = self.said.end.max(time);
        Ok(())
    }

    /// Returns the result of the replay.
    pub fn end(self) -> Replayed {
        self.said
    }

    /// Continues after a record as written in the trace.
    fn follow(&mut self, record: &Record) {
        if self.recorder.is_some() {
            let hash = hex::decode(&record.hash).unwrap_or_default();
            let secrets = replayed_secrets(self.secrets.as_ref());
            self.recorder = Some(Recorder::after(record.seq.saturating_add(1), hash, secrets));
        }
    }

    /// Replays with the recorded plan: writes the record again and compares it byte for byte.
    fn again(
        &mut self,
        record: &Record,
        line: Option<&[u8]>,
        event: &Event<'_>,
        outcome: Option<&Outcome>,
        alike: bool,
    ) {
        let (Some(recorder), Some(line)) = (&mut self.recorder, line) else { return };
        if let Some(outcome) = outcome {
            let again = recorder.event(&self.judge.kernel, &self.session, event, outcome);
            if line == again {
                return;
            }
            if alike {
                let because = Some(compare::parts(line, again));
                self.said.differs(record, Aspect::Record, "", "", None, because);
            }
        }
        self.follow(record);
    }

    fn settle(
        &mut self,
        record: &Record,
        settlement: &Settlement<'_>,
        then: &record::Settle<'_>,
        hidden: Hidden,
    ) -> Option<Outcome> {
        let mut world = RecordedAnswers::new(&then.asked);
        let settled = self.judge.kernel.settle(&mut self.session, settlement, &mut world);
        let settled = match settled {
            Ok(settled) => settled,
            Err(error) => {
                // The call is not in flight: this plan refused it.
                self.said.recorded.skipped += 1;
                self.refusal = Some(error);
                return None;
            }
        };
        let missing = world.missing.take();
        self.unsure |= hidden.asked;
        self.unsure |= hidden.body && looks_into_result(&self.judge.kernel);
        if then.halted != settled.halted {
            let word = |halted: bool| if halted { "halted" } else { "continues" };
            let was = word(then.halted);
            let now = word(settled.halted);
            match missing {
                Some(missing) => {
                    self.unsure = true;
                    self.said.unsaid_world(
                        record,
                        format!("the recorded session did not ask {missing}"),
                    );
                }
                None => self.said.aspect(record, Aspect::Halt, was, now, self.unsure),
            }
        } else if missing.is_none() && !same_feedback(&then.feedback, &settled.feedback) {
            self.said.words(
                record,
                Aspect::Feedback,
                &then.feedback,
                &settled.feedback,
                self.unsure,
            );
        }
        Some(Outcome::Settled(settled))
    }

    /// Replays approvals, usage, resumes, prompts, stops and items.
    fn other(&mut self, record: &Record, event: &Event<'_>, hidden: Hidden) -> Option<Outcome> {
        let asked = replay::world(record);
        let mut world = RecordedAnswers::new(asked.0);
        let outcome = match self.judge.kernel.step(&mut self.session, event, &mut world) {
            Ok(outcome) => outcome,
            Err(error) => {
                self.said.recorded.untaken += 1;
                self.refusal = Some(error);
                return None;
            }
        };
        let missing =
            world.missing.map(|missing| format!("the recorded session did not ask {missing}"));
        let exact = match event {
            Event::Approve(approve) => Some((approve.tool, approve.args)),
            Event::Revoke(revoke) => Some((revoke.tool, revoke.args)),
            _ => None,
        };
        if let Some((tool, args)) = exact {
            let looks = &self.judge.looks;
            self.unsure |= hidden.body && looks.at_call(&self.judge.kernel, tool, args);
        }
        match (&record.payload, &outcome) {
            (Payload::Stop(then), Outcome::Stopped(now)) => {
                let was = mark_of(then.decision, then.incomplete);
                let is = mark_of(now.decision, now.incomplete);
                match missing {
                    Some(missing) if is != "allow" => self.said.unsaid_world(record, missing),
                    _ if was != is => {
                        self.said.aspect(record, Aspect::Stop, was, is, self.unsure);
                    }
                    _ => {}
                }
            }
            (Payload::Item(then), Outcome::Item(now)) => {
                let change = &now.change;
                let same = (&then.change.transition, &then.change.after)
                    == (&change.transition, &change.after);
                match missing {
                    Some(missing) if !change.unanswered.is_empty() => {
                        self.unsure = true;
                        self.said.unsaid_world(record, missing);
                    }
                    _ if !same => {
                        let was = &then.change.after;
                        let now = &change.after;
                        self.said.aspect(record, Aspect::Item, was, now, self.unsure);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        Some(outcome)
    }
}

/// Returns the secrets for the replay. Without a key, these are marks that are never compared.
fn replayed_secrets(secrets: Option<&Arc<dyn Secrets>>) -> Arc<dyn Secrets> {
    secrets.cloned().unwrap_or_else(|| Arc::new(Salt::new(b"")))
}
