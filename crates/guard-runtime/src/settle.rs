//! The settlement of a call: what it did becomes part of the state, what it showed is learned.

pub(crate) mod learn;
mod monitors;
mod observe;

use crate::error::StepError;
use crate::eval::{Context, Decision};
use crate::feedback::Judged;
use crate::kernel::Kernel;
use crate::session::flight::Flight;
use crate::session::origins::short;
use crate::session::{End, Session, Stamp};
use crate::stage::Call;
use crate::val::Val;
use crate::world::{Answers, Questions, World};
use guard_plan::json::Json;
use guard_plan::plan::{Millis, ToolId, Trust, VarId};
use guard_plan::record::{Asked, Delivered, Note, NoteKind};
use guard_plan::value::Value;

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending<'s> {
    /// It did what it should; with its result, if it has one.
    Success(Option<&'s Json>),
    /// It failed.
    Failure,
}

/// A call that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Settlement<'s> {
    /// Its id.
    pub call: &'s str,
    /// How it ended.
    pub ending: Ending<'s>,
    /// When.
    pub now: Millis,
}

/// What a settlement came to. The changed variables are in
/// [`Session::changes`](crate::Session::changes).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settled {
    /// The tool of the call, if the guard declares it.
    pub tool: Option<ToolId>,
    /// What was noticed.
    pub notes: Vec<Note>,
    /// How many rows facts were taught.
    pub learned: u64,
    /// How many rows went for others, their tables being full.
    pub forgotten: u64,
    /// The session is halted now.
    pub halted: bool,
    /// The feedback it calls for, in order.
    pub feedback: Vec<Delivered>,
    /// What the world was asked, in order.
    pub asked: Vec<Asked>,
}

impl Settled {
    fn note(&mut self, kind: NoteKind, rule: &str, message: String) {
        self.notes.push(Note { kind, rule: rule.into(), message });
    }
}

/// What the rules after a call read.
struct After<'s> {
    call: Call<'s>,
    args: Vec<Value>,
    result: Value,
    decision: Decision,
    answers: &'s dyn Questions,
}

impl After<'_> {
    /// Runs something that reads the session.
    fn read<T>(
        &self,
        kernel: &Kernel,
        session: &Session,
        read: impl FnOnce(&Context<'_>) -> T,
    ) -> T {
        let args: Vec<Val<'_>> = self.args.iter().map(Val::of).collect();
        let context = kernel.context(session, &self.decision, self.answers);
        read(&Context { args: &args, result: Some(&self.result), ..context })
    }
}

impl Kernel {
    /// Settles a call in flight.
    pub fn settle(
        &self,
        session: &mut Session,
        settlement: &Settlement<'_>,
        world: &mut dyn World,
    ) -> Result<Settled, StepError> {
        if let Some(full) = self.instead(session) {
            return full.settle(session, settlement, world);
        }
        let place = session.flights.iter().position(|flight| flight.call == settlement.call);
        let place = place.ok_or_else(|| StepError::NoSuchCall(settlement.call.into()))?;
        session.advance(settlement.now);
        let answers = Answers::new(world);
        let mut settled = self.settle_watched(session, |kernel, session| {
            let flight = session.flights.swap_remove(place);
            kernel.finish(session, flight, settlement.ending, &answers)
        });
        settled.asked = answers.commit(session);
        Ok(settled)
    }

    /// What a call that is no longer in flight did, and the feedback on it.
    pub(crate) fn finish(
        &self,
        session: &mut Session,
        mut flight: Box<Flight>,
        ending: Ending<'_>,
        answers: &dyn Questions,
    ) -> Settled {
        session.settlements += 1;
        session.changes.clear();
        self.land(session, &flight);
        self.remember_end(session, &flight, ending);
        let mut settled = Settled { tool: flight.tool, ..Settled::default() };
        match ending {
            Ending::Failure => self.failed(session, &flight),
            Ending::Success(result) => {
                self.succeeded(session, &mut flight, result, answers, &mut settled);
                let noted = result.and_then(|json| self.see(session, flight.tool, json));
                settled.notes.extend(noted);
            }
        }
        self.step_monitors(session);
        if self.feedback.any() {
            let mut round = self.judge(session, Judged::Settled(flight.tool), answers);
            settled.notes.append(&mut round.notes);
            settled.feedback = round.delivered;
        }
        session.retire(flight);
        settled.halted = session.halted.is_some();
        settled
    }

    /// Keeps how a call ended, where it may be evidence.
    fn remember_end(&self, session: &mut Session, flight: &Flight, ending: Ending<'_>) {
        if !self.evidence {
            return;
        }
        let served = flight.tool.is_some_and(|id| self.plan().tools[id as usize].served.is_some());
        let end = match ending {
            _ if served => End::Served,
            Ending::Success(_) => End::Succeeded,
            Ending::Failure => End::Failed,
        };
        session.ended.insert(short(&flight.call), end);
    }

    fn failed(&self, session: &mut Session, flight: &Flight) {
        let Some(id) = flight.tool else { return };
        let stamp = Stamp { settlement: session.settlements, time: session.now };
        let history = &mut session.tools[id as usize];
        history.failures += 1;
        history.failure = Some(stamp);
        self.count(session, flight, true);
    }

    /// Counts a settled call in the tool's windows.
    fn count(&self, session: &mut Session, flight: &Flight, failure: bool) {
        let Some(id) = flight.tool else { return };
        for window in &self.plan().tools[id as usize].windows {
            if self.plan().windows[*window as usize].failures == failure {
                session.windows[*window as usize].push(session.now);
            }
        }
    }

    fn succeeded(
        &self,
        session: &mut Session,
        flight: &mut Flight,
        result: Option<&Json>,
        answers: &dyn Questions,
        settled: &mut Settled,
    ) {
        let Some(id) = flight.tool else { return };
        for (var, value) in flight.draft.writes.drain(..) {
            write(session, var, value);
        }
        for part in 0..flight.draft.parts.len() {
            let var = flight.draft.parts[part].var;
            let mut whole = session.state[var as usize].clone();
            let written = flight.draft.write_part(part, &mut whole);
            debug_assert!(written, "what a call in flight writes, nobody else does");
            write(session, var, whole);
        }
        let call =
            Call { id, tool: &self.plan().tools[id as usize], ready: &self.tools[id as usize] };
        if !flight.draft.parts.is_empty() {
            // On the record changes stand in the order of the effects.
            let effects = &call.tool.effects;
            let place = |var| effects.iter().position(|effect| effect.target.var == var);
            session.changes.sort_by_key(|(var, _)| place(*var));
        }
        let result = if call.ready.reads_result {
            self.result(session, call, result, settled)
        } else {
            self.undecodable(session, call, result, settled);
            None
        };
        let mut kept = None;
        if let Some(result) = result {
            let args = std::mem::take(&mut flight.args);
            let after = After { call, args, result, decision: Decision::default(), answers };
            self.observe(session, &after, settled);
            self.learn(session, &after, &flight.call, settled);
            self.reconcile(session, &after, settled);
            flight.args = after.args;
            kept = Some(after.result);
        }
        self.remember(session, flight, call, kept);
    }

    /// Remembers what a result says as seen. What a lifecycle's tool gives is the agent's own word, and not seen.
    fn see(&self, session: &mut Session, tool: Option<ToolId>, result: &Json) -> Option<Note> {
        let tool = tool.map(|id| &self.plan().tools[id as usize]);
        match tool {
            _ if !self.plan().origins => None,
            Some(tool) if tool.served.is_some() => None,
            Some(tool) => session.see_result(result, &tool.trust),
            None => session.see_result(result, &Trust { whole: false, parts: Vec::new() }),
        }
    }

    /// The decoded result; none where it does not decode, which is noted.
    fn result(
        &self,
        session: &Session,
        call: Call<'_>,
        result: Option<&Json>,
        settled: &mut Settled,
    ) -> Option<Value> {
        let json = result.unwrap_or(&Json::Null);
        let Some(ty) = call.tool.returns else {
            return Some(Value::Json(Box::new(json.clone())));
        };
        let matches = |id, text: &str| self.matches(id, text);
        match self.decoder(session, true, &matches).decode(ty, json) {
            Ok(value) => Some(value),
            Err(problems) => {
                for problem in problems {
                    settled.note(NoteKind::Undecoded, &call.tool.name, problem.to_string());
                }
                None
            }
        }
    }

    /// Notes a result that does not decode, though no rule reads it.
    fn undecodable(
        &self,
        session: &Session,
        call: Call<'_>,
        result: Option<&Json>,
        settled: &mut Settled,
    ) {
        if call.tool.returns.is_some() {
            self.result(session, call, result, settled);
        }
    }

    fn reconcile(&self, session: &mut Session, after: &After<'_>, settled: &mut Settled) {
        let call = after.call;
        for (rule, condition) in call.tool.reconciles.iter().zip(&call.ready.reconciles) {
            let holds = after.read(self, session, |cx| {
                cx.eval_shown(condition).and_then(|value| Val::own(value).truth())
            });
            let message = match holds {
                Ok(true) => continue,
                Ok(false) => format!("`{}` does not hold after the call", rule.text),
                Err(fault) => {
                    format!("`{}` cannot be evaluated after the call: {fault}", rule.text)
                }
            };
            let kind = if rule.rule.shadow { NoteKind::Shadow } else { NoteKind::Halt };
            note(session, settled, kind, &rule.rule.owner, message);
        }
    }

    /// Records the success.
    fn remember(
        &self,
        session: &mut Session,
        flight: &mut Flight,
        call: Call<'_>,
        result: Option<Value>,
    ) {
        let stamp = Stamp { settlement: session.settlements, time: session.now };
        for (index, span) in call.tool.indexes.iter().zip(&flight.draft.keys) {
            let key = flight.draft.key(*span);
            let index = &mut session.indexes[*index as usize];
            match index.get_mut(key) {
                Some(last) => *last = stamp,
                None => _ = index.insert(key.into(), stamp),
            }
        }
        self.count(session, flight, false);
        let history = &mut session.tools[call.id as usize];
        history.successes += 1;
        history.success = Some(stamp);
        session.succeeded[call.id as usize / 64] |= 1 << (call.id % 64);
        if call.tool.keeps_args {
            history.last_args = Some(std::mem::take(&mut flight.args));
        }
        if call.tool.keeps_result {
            history.last_result = result;
        }
    }
}

/// Writes a variable, and keeps its value before for the record.
fn write(session: &mut Session, var: VarId, value: Value) {
    let before = std::mem::replace(&mut session.state[var as usize], value);
    if !session.changes.iter().any(|(changed, _)| *changed == var) {
        session.changes.push((var, before));
    }
}

/// Notes something; the gravest kind halts the session.
fn note(session: &mut Session, settled: &mut Settled, kind: NoteKind, rule: &str, message: String) {
    if kind == NoteKind::Halt {
        session.halt(rule, &message);
    }
    settled.note(kind, rule, message);
}
