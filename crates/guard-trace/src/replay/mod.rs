//! Recorded sessions, decided again: by the plan they were recorded with, or by another.
//!
//! With the same plan everything comes out as it was, to the byte. With another, every recorded event is given to it one
//! after the other, and what it says otherwise is counted in two views (replay reference): *as recorded*, to the end of
//! each session, and *strict*, up to the first difference. What cannot be known is counted apart and never guessed.
//! Reads no files; one record at a time is held.

mod compare;
mod hidden;
mod session;
mod world;

pub use session::{Replayed, Rule};

use crate::{Keys, resume};
use compare::{mark_of, same_feedback};
use guard_plan::json::Json;
use guard_plan::record::{self, Payload, Record};
use guard_plan::replayed::Aspect;
use guard_plan::verdict::{Code, Decision, Verdict};
use guard_plan::{LoadedPlan, hex, time};
use guard_runtime::{
    Ending, Event, Kernel, KernelError, Outcome, Proposal, Proposed, Recorder, Salt, Scratch,
    Secrets, Session, Settlement, StepError, replay,
};
use hidden::{Hidden, Looks, looks_into_result};
use std::fmt;
use std::sync::Arc;
use world::Then;

/// A plan ready to decide recorded sessions; one serves many at once.
#[derive(Debug)]
pub struct Judge {
    kernel: Kernel,
    hash: String,
    looks: Looks,
}

impl Judge {
    /// Makes a plan ready.
    ///
    /// # Errors
    ///
    /// Where no kernel can be made of it.
    pub fn new(loaded: LoadedPlan) -> Result<Judge, KernelError> {
        let kernel = Kernel::new(loaded)?;
        Ok(Judge { hash: kernel.loaded().hash_text(), looks: Looks::new(kernel.plan()), kernel })
    }

    /// The content hash of the plan, `sha256:…`.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The guard's name.
    pub fn guard(&self) -> &str {
        &self.kernel.plan().guard
    }
}

/// Why a session cannot be decided again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayError {
    /// It does not begin with its beginning.
    NoOpening,
    /// It begins with a snapshot of another plan.
    Snapshot,
    /// Its snapshot cannot be used; says why.
    Recall(String),
    /// A session that has begun begins again.
    Again,
    /// A record makes no sense: its time or an amount cannot be read.
    Senseless,
    /// The kernel cannot open it.
    Open(StepError),
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::NoOpening => f.write_str("the session does not begin with an `open` record"),
            ReplayError::Snapshot => f.write_str(
                "the session begins with a snapshot, which only the plan that it was recorded with can read",
            ),
            ReplayError::Recall(why) => f.write_str(why),
            ReplayError::Again => f.write_str("the session begins a second time"),
            ReplayError::Senseless => f.write_str("the record makes no sense as an event"),
            ReplayError::Open(error) => write!(f, "the session cannot be opened: {error}"),
        }
    }
}

impl std::error::Error for ReplayError {}

/// What of a replay is kept, and what it may know.
#[derive(Debug, Clone, Copy)]
pub struct Options<'k> {
    /// The key of sealed secrets.
    pub keys: Option<&'k Keys>,
    /// How many differences of a session are kept in full.
    pub keep: usize,
    /// How many marks of its timeline.
    pub marks: usize,
    /// The session was not decided by a guard: what ran, ran.
    pub foreign: bool,
}

/// One session on its way.
#[derive(Debug)]
pub struct Replay<'k> {
    judge: &'k Judge,
    session: Session,
    secrets: Option<Arc<dyn Secrets>>,
    /// Makes the records again; only where the plan is the recorded one.
    recorder: Option<Recorder>,
    scratch: Scratch,
    /// Something before could not be said, so that the session may be another.
    unsure: bool,
    said: Replayed,
}

impl<'k> Replay<'k> {
    /// Begins with the first record of a session. The line is the record as it stands in the trace.
    ///
    /// # Errors
    ///
    /// Where the record does not begin a session, or none can be opened so.
    pub fn begin(judge: &'k Judge, options: Options<'_>, mut record: Record, line: Option<&[u8]>) -> Result<Replay<'k>, ReplayError> {
        let id = match &record.payload {
            Payload::Open(open) => open.session.to_string(),
            Payload::Snapshot(it) => return Replay::recalled(judge, options, it, line),
            _ => return Err(ReplayError::NoOpening),
        };
        let secrets = options.keys.map(|keys| Arc::new(keys.session(&id)) as Arc<dyn Secrets>);
        let closed = record.sealed().is_some() && secrets.is_none();
        hidden::reveal(&mut record, secrets.as_deref());
        let hidden = !options.foreign && Hidden::of(&record).any();
        let closed = closed || hidden;
        let Payload::Open(open) = &record.payload else { return Err(ReplayError::NoOpening) };
        let start = time::parse_rfc3339(&record.time).ok_or(ReplayError::Senseless)?;
        let kernel = &judge.kernel;
        let session = kernel
            .open_with(&id, start, &open.workspace, open.data.as_deref())
            .map_err(ReplayError::Open)?;
        let own = !options.foreign && *open.plan == *judge.hash;
        let mut replay = Replay {
            session,
            recorder: own.then(|| Recorder::new(replayed_secrets(secrets.as_ref()))),
            secrets,
            judge,
            scratch: Scratch::default(),
            unsure: hidden && !kernel.plan().sources.is_empty(),
            said: Replayed::new(options, [&id, &open.guard, &open.plan], start, own),
        };
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

    /// Begins with a snapshot, which only the plan that it is of can read.
    fn recalled(judge: &'k Judge, options: Options<'_>, it: &record::Snapshot<'_>, line: Option<&[u8]>) -> Result<Replay<'k>, ReplayError> {
        if *it.plan != *judge.hash {
            return Err(ReplayError::Snapshot);
        }
        let keys = options.keys.map(|keys| Arc::new(keys.session(&it.session)) as Arc<dyn Secrets>);
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
            said: Replayed::new(options, [&it.session, &it.guard, &it.plan], start, true),
        })
    }

    /// The next record.
    ///
    /// # Errors
    ///
    /// Where it is of no event that may stand here.
    pub fn record(&mut self, mut record: Record, line: Option<&[u8]>) -> Result<(), ReplayError> {
        self.said.records += 1;
        match record.payload {
            Payload::Open(_) => return Err(ReplayError::Again),
            // Not of the kernel, which goes on as if they were not there.
            Payload::Answers(_) | Payload::Contract(_) | Payload::Snapshot(_) => {
                self.follow(&record);
                return Ok(());
            }
            _ => {}
        }
        // What is sealed cannot be sealed again without the key.
        let closed = record.sealed().is_some() && self.secrets.is_none();
        hidden::reveal(&mut record, self.secrets.as_deref());
        let hidden = match self.said.options.foreign {
            true => Hidden::default(),
            false => Hidden::of(&record),
        };
        let closed = closed || hidden.any();
        let event = replay::event(&record).ok_or(ReplayError::Senseless)?;
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
        let time = time::parse_rfc3339(&record.time).unwrap_or(self.said.end);
        self.said.end = self.said.end.max(time);
        let closed = closed || self.unsure;
        self.said.exact &= !closed;
        let alike = before == self.said.recorded.changed() + self.said.recorded.unsaid.total();
        self.again(&record, line, &event, outcome.as_ref(), alike && !closed);
        Ok(())
    }

    /// What it all came to.
    pub fn end(self) -> Replayed {
        self.said
    }

    /// Goes on after a record as it stands in the trace.
    fn follow(&mut self, record: &Record) {
        if self.recorder.is_some() {
            let hash = hex::decode(&record.hash).unwrap_or_default();
            let secrets = replayed_secrets(self.secrets.as_ref());
            self.recorder = Some(Recorder::after(record.seq.saturating_add(1), hash, secrets));
        }
    }

    /// With the plan of the record: makes the record again, and looks whether it is the same to the byte.
    fn again(&mut self, record: &Record, line: Option<&[u8]>, event: &Event<'_>, outcome: Option<&Outcome>, alike: bool) {
        let Some(recorder) = &mut self.recorder else { return };
        if let (Some(line), Some(outcome)) = (line, outcome) {
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

    fn propose(&mut self, record: &Record, proposal: &Proposal<'_>, then: &record::Propose<'_>, hidden: Hidden) -> Option<Outcome> {
        let kernel = &self.judge.kernel;
        let was = then.verdict.decision;
        let blind = hidden.asked
            || (hidden.body && self.judge.looks.into_call(kernel, proposal.tool, proposal.args));
        let mut world = Then::new(&then.asked);
        let own = self.recorder.is_some() && was == Decision::Allow;
        let checked = match own {
            // It can hardly be otherwise, and the one who looks twice pays twice.
            true => None,
            false => Some(kernel.check_with(&self.session, proposal, &mut world, &mut self.scratch)),
        };
        let mut supposed = Then::new(&then.asked);
        let mut unsaid = None;
        let mut verdict = checked.map(|checked| checked.verdict);
        if let (Some(decided), Some(missing)) = (&verdict, world.missing.take())
            && depends_on_world(decided)
        {
            match self.suppose(proposal, &world, was) {
                Supposed::Said(now, answer) => {
                    verdict = Some(now);
                    supposed = world.supposing(answer);
                }
                Supposed::Goes(answer) => {
                    unsaid = Some(missing);
                    verdict = Some(Verdict { decision: was, ..decided.clone() });
                    supposed = world.supposing(answer);
                }
                Supposed::Open => unsaid = Some(missing),
            }
        }
        let goes = verdict.as_ref().is_none_or(|verdict| verdict.decision == Decision::Allow);
        let mut proposed = None;
        // A call that did not run then, and would now, leaves no mark: nobody knows what it would have come to.
        if was == Decision::Allow || !goes {
            match kernel.propose(&mut self.session, proposal, &mut supposed) {
                Ok(now) => proposed = Some(now),
                Err(_) => {
                    self.said.recorded.untaken += 1;
                    return None;
                }
            }
        }
        let verdict = match (&proposed, verdict) {
            (Some(proposed), None) => proposed.verdict.clone(),
            (_, Some(verdict)) => verdict,
            (None, None) => return None,
        };
        let lost = was == Decision::Allow
            && proposed.as_ref().is_some_and(|now| now.verdict.decision != Decision::Allow);
        self.said.call();
        if blind {
            self.unsure |= was == Decision::Allow || self.remembers_refusals();
            let why = "an argument or answer is known by its mark only".into();
            self.said.unsaid_secret(record, why);
        } else if let Some(missing) = unsaid {
            let settled = verdict.decision == was;
            self.unsure |= lost || (!settled && self.remembers_refusals());
            self.said.unsaid_world(record, format!("nobody was asked {missing}"));
        } else {
            self.said.verdict(record, &then.verdict, &verdict, self.unsure);
        }
        self.served(record, then, proposal, proposed.as_ref());
        let delivered = proposed.as_ref().map_or(&[][..], |now| &now.feedback);
        if supposed.missing.is_none() && !same_feedback(&then.feedback, delivered) {
            self.said.words(record, Aspect::Feedback, &then.feedback, delivered, self.unsure);
        }
        proposed.map(Outcome::Proposed)
    }

    /// Whether a refused call leaves something in the session: a cadence, an answer of a probe.
    fn remembers_refusals(&self) -> bool {
        let plan = self.judge.kernel.plan();
        !plan.feedback.is_empty() || !plan.probes.is_empty()
    }

    /// Decides with the one missing answer put both ways. Nothing is guessed: only where both ways come to the same
    /// decision is it said.
    fn suppose(&mut self, proposal: &Proposal<'_>, world: &Then<'_>, was: Decision) -> Supposed {
        if world.open {
            return Supposed::Open;
        }
        let mut ways = [true, false].map(|answer| {
            let mut world = world.supposing(answer);
            let now = self.judge.kernel.check_with(&self.session, proposal, &mut world, &mut self.scratch);
            // A second question shows itself only when the first is answered.
            (answer, now.verdict, world.open)
        });
        if !ways[0].2 && !ways[1].2 && ways[0].1.decision == ways[1].1.decision {
            let [(answer, verdict, _), _] = ways;
            return Supposed::Said(verdict, answer);
        }
        ways.reverse();
        let goes = ways.iter().find(|(_, verdict, _)| verdict.decision == was);
        goes.map_or(Supposed::Open, |(answer, ..)| Supposed::Goes(*answer))
    }

    /// A call that the kernel served, then or now.
    fn served(&mut self, record: &Record, then: &record::Propose<'_>, proposal: &Proposal<'_>, now: Option<&Proposed>) {
        let Some(now) = now.filter(|now| now.verdict.decision == Decision::Allow) else { return };
        match (&then.served, &now.served) {
            (Some(then), Some(now)) if **then != *now => {
                let (then, now) = (short(then), short(now));
                self.said.aspect(record, Aspect::Item, &then, &now, self.unsure);
            }
            (Some(result), None) => {
                // The host runs it now; what the kernel did then is the best that is known of it.
                let ending = Ending::Success(Some(result));
                let settlement = Settlement { call: proposal.call, ending, now: proposal.now };
                let _ = self.judge.kernel.settle(&mut self.session, &settlement, &mut Then::new(&[]));
            }
            _ => {}
        }
    }

    fn settle(&mut self, record: &Record, settlement: &Settlement<'_>, then: &record::Settle<'_>, hidden: Hidden) -> Option<Outcome> {
        let mut world = Then::new(&then.asked);
        let Ok(settled) = self.judge.kernel.settle(&mut self.session, settlement, &mut world) else {
            // The call is not in flight: this plan did not allow it.
            self.said.recorded.skipped += 1;
            return None;
        };
        let missing = world.missing.take();
        self.unsure |= hidden.asked;
        self.unsure |= hidden.body && looks_into_result(&self.judge.kernel);
        if then.halted != settled.halted {
            let word = |halted: bool| if halted { "halted" } else { "goes on" };
            let (was, now) = (word(then.halted), word(settled.halted));
            match missing {
                Some(missing) => {
                    self.unsure = true;
                    self.said.unsaid_world(record, format!("nobody was asked {missing}"));
                }
                None => self.said.aspect(record, Aspect::Halt, was, now, self.unsure),
            }
        } else if missing.is_none() && !same_feedback(&then.feedback, &settled.feedback) {
            self.said.words(record, Aspect::Feedback, &then.feedback, &settled.feedback, self.unsure);
        }
        Some(Outcome::Settled(settled))
    }

    /// Approvals, usage, resumes, prompts, stops, items.
    fn other(&mut self, record: &Record, event: &Event<'_>, hidden: Hidden) -> Option<Outcome> {
        let asked = replay::world(record);
        let mut world = Then::new(asked.0);
        let Ok(outcome) = self.judge.kernel.step(&mut self.session, event, &mut world) else {
            self.said.recorded.untaken += 1;
            return None;
        };
        let missing = world.missing.map(|missing| format!("nobody was asked {missing}"));
        if let Event::Approve(approve) = event {
            let looks = &self.judge.looks;
            self.unsure |= hidden.body && looks.into_call(&self.judge.kernel, approve.tool, approve.args);
        }
        match (&record.payload, &outcome) {
            (Payload::Stop(then), Outcome::Stopped(now)) => {
                let (was, is) = (mark_of(then.decision, then.incomplete), mark_of(now.decision, now.incomplete));
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
                let same = (&then.change.transition, &then.change.after) == (&change.transition, &change.after);
                match missing {
                    Some(missing) if !change.unanswered.is_empty() => {
                        self.unsure = true;
                        self.said.unsaid_world(record, missing);
                    }
                    _ if !same => {
                        let (was, now) = (&then.change.after, &change.after);
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

/// What a decision is when its one missing answer is put both ways.
enum Supposed {
    /// The same; with one of the answers.
    Said(Verdict, bool),
    /// Another; with this answer as it was recorded.
    Goes(bool),
    /// Another, and never as recorded; or it cannot be put both ways.
    Open,
}

/// Whether a refusal may come from a missing answer: nothing else refuses.
fn depends_on_world(verdict: &Verdict) -> bool {
    let from_world = |code| matches!(code, Code::EvaluationError | Code::NotReady | Code::Lifecycle);
    verdict.decision == Decision::Deny
        && verdict
            .reasons
            .iter()
            .all(|reason| reason.decision != Decision::Deny || from_world(reason.code))
}

/// A result in a few words.
fn short(json: &Json) -> String {
    guard_plan::render::cut(&json.to_string(), 100)
}

/// Without a key, marks that nobody compares.
fn replayed_secrets(secrets: Option<&Arc<dyn Secrets>>) -> Arc<dyn Secrets> {
    secrets.cloned().unwrap_or_else(|| Arc::new(Salt::new(b"")))
}
