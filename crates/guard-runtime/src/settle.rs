//! The settlement of a call: its effects are applied to the state, and facts are learned from its
//! result.

pub(crate) mod after;
mod endorse;
pub(crate) mod learn;
pub(crate) mod monitors;
mod observe;
pub(crate) mod part;
mod undecoded;

use crate::compiled::CompiledPlan;
use crate::error::StepError;
use crate::eval::context::{Context, DecisionResources};
use crate::event::{Ending, Settlement};
use crate::feedback::{self, FeedbackCause};
use crate::flights;
use crate::outcome::Settled;
use crate::private;
use crate::recheck;
use crate::session::flight::InFlight;
use crate::session::origins::short;
use crate::session::{CallEnd, CallStart, SessionState, Successes};
use crate::shadow::{self, Shadow};
use crate::stage::DecidedCall;
use crate::transform;
use crate::val::Val;
use crate::world::{World, WorldAnswers, WorldQuestions};
use after::{AfterCall, note, write};
use guard_plan::json::Json;
use guard_plan::origin::Vouched;
use guard_plan::plan::{Reconcile, TakenForms, ToolId, Trust, VarId};
use guard_plan::record::{Note, NoteKind};
use guard_plan::trust::{Reading, Stain};
use guard_plan::value::Value;

/// Settles a call in flight.
pub(crate) fn settle(
    compiled: &CompiledPlan,
    shadow: Option<&Shadow>,
    session: &mut SessionState,
    settlement: &Settlement<'_>,
    world: &mut dyn World,
) -> Result<Settled, StepError> {
    let place = session.flights.iter().position(|flight| flight.call == settlement.call);
    let place = place.ok_or_else(|| StepError::NoSuchCall(settlement.call.into()))?;
    session.advance(settlement.now);
    let mut answers = WorldAnswers::new(world);
    let mut settled = Settled::default();
    let finish = |compiled: &CompiledPlan, session: &mut SessionState, settled: &mut Settled| {
        let flight = session.flights.swap_remove(place);
        finish(compiled, session, flight, settlement.ending, &answers, settled);
    };
    shadow::settle_watched(compiled, shadow, session, &mut settled, finish);
    recheck::after_settlement(compiled, session, &mut settled);
    settled.asked = answers.commit(session);
    Ok(settled)
}

/// Applies the effects of a call that is no longer in flight, and collects the feedback on it. The
/// outcome is written directly into the caller's variable: it is large, and copying it takes a part
/// of the time of a settlement.
pub(crate) fn finish(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    mut flight: Box<InFlight>,
    ending: Ending<'_>,
    answers: &dyn WorldQuestions,
    settled: &mut Settled,
) {
    session.settlements += 1;
    session.touch(flight.tool);
    session.changes.clear();
    flights::release(compiled, session, &flight, matches!(ending, Ending::Failure));
    settled.tool = flight.tool;
    let end = match ending {
        Ending::Failure => {
            failed(compiled, session, &flight);
            settled.returned.clone_from(&flight.draft.returned);
            CallEnd::Failed
        }
        Ending::Success(result) => {
            let forms = flight.tool.and_then(|id| compiled.plan().tools[id as usize].forms);
            let opened = forms.zip(result).and_then(|(forms, result)| forms.opened(result));
            let result = opened.as_ref().or(result);
            let (end, vouched) =
                succeeded(compiled, session, &mut flight, Ok(result), answers, settled);
            let shown = settled.shown.take();
            settled.shown = shown.map(|shown| TakenForms::closed(opened.is_some(), shown));
            if let (CallEnd::Undecoded, Some(id)) = (end, flight.tool) {
                let raw = result.unwrap_or(&Json::Null);
                private::disclose_undecoded(compiled, session, id, Ok(raw), settled);
            }
            // A result is seen after its rules, which read what was known before the call
            // (semantics §8).
            let noted = result.and_then(|json| see(compiled, session, flight.tool, json, &vouched));
            settled.notes.extend(noted);
            end
        }
        Ending::Unreadable { text, error } => {
            if let Some(id) = flight.tool {
                private::disclose_undecoded(compiled, session, id, Err(text), settled);
            }
            succeeded(compiled, session, &mut flight, Err(error), answers, settled).0
        }
    };
    remember_end(compiled, session, &flight, end);
    monitors::step_monitors(compiled, session);
    if compiled.feedback.any() {
        let mut round =
            feedback::judge(compiled, session, FeedbackCause::Settled(flight.tool), answers);
        settled.notes.append(&mut round.notes);
        settled.feedback = round.delivered;
    }
    session.retire(flight);
    settled.halted = session.halted.is_some();
}

/// Stores the ending of a call, if it may serve as evidence.
fn remember_end(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    flight: &InFlight,
    end: CallEnd,
) {
    if !compiled.evidence {
        return;
    }
    let served = flight.tool.is_some_and(|id| compiled.plan().tools[id as usize].is_served());
    let end = if served { CallEnd::Served } else { end };
    session.ended.insert(short(&flight.call), end);
}

fn failed(compiled: &CompiledPlan, session: &mut SessionState, flight: &InFlight) {
    let Some(id) = flight.tool else { return };
    let stamp = session.stamp();
    let history = &mut session.tools[id as usize];
    history.failures += 1;
    history.failure = Some(stamp);
    count(compiled, session, flight, true);
    end_latest(compiled, session, flight, id);
}

/// Records that the last settled call of a tool, and of its keys, is not a success.
fn end_latest(compiled: &CompiledPlan, session: &mut SessionState, flight: &InFlight, id: ToolId) {
    if let Some(done) = &mut session.tools[id as usize].done {
        done.latest = None;
    }
    let indexes = &compiled.plan().tools[id as usize].indexes;
    for (index, span) in indexes.iter().zip(&flight.draft.keys) {
        let key = flight.draft.key(*span);
        if let Some(done) = session.indexes[*index as usize].get_mut(key) {
            done.latest = None;
        }
    }
}

/// Counts a settled call in the tool's windows.
fn count(compiled: &CompiledPlan, session: &mut SessionState, flight: &InFlight, failure: bool) {
    let Some(id) = flight.tool else { return };
    let stamp = session.stamp();
    for window in &compiled.plan().tools[id as usize].windows {
        if compiled.plan().windows[*window as usize].failures == failure {
            session.windows[*window as usize].push(stamp);
        }
    }
}

/// Applies the changes of a call that ran. Returns its ending, and the parts of its result that are
/// vouched for.
fn succeeded<'j>(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    flight: &mut InFlight,
    result: Result<Option<&'j Json>, &str>,
    answers: &dyn WorldQuestions,
    settled: &mut Settled,
) -> (CallEnd, Vouched<'j>) {
    let mut vouched = Vouched::default();
    let raw = result.ok().flatten().unwrap_or(&Json::Null);
    let Some(id) = flight.tool else {
        return (if result.is_ok() { CallEnd::Succeeded } else { CallEnd::Undecoded }, vouched);
    };
    // The call ran, so its effects are written even if its result does not decode (semantics §4).
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
    let call = DecidedCall {
        id,
        tool: &compiled.plan().tools[id as usize],
        ready: &compiled.tools[id as usize],
    };
    if !flight.draft.parts.is_empty() {
        // The record lists the changes in the order of the effects.
        let effects = &call.tool.effects;
        let place = |var| effects.iter().position(|effect| effect.target.var == var);
        session.changes.sort_by_key(|(var, _)| place(*var));
    }
    stain(session, &call.ready.readings.effects);
    let read = match result {
        // No rule needs a result without a declared type.
        Ok(_) if call.tool.returns.is_none() && !call.ready.reads_result => Some(Value::None),
        Ok(result) => decoded(compiled, session, call, result, settled),
        Err(error) => {
            let message = if call.ready.secrets {
                "the result cannot be read".into()
            } else {
                format!("the result cannot be read: {error}")
            };
            settled.note(NoteKind::Undecoded, &call.tool.name, message);
            None
        }
    };
    let Some(result) = read else {
        if guard_proof::mutant!("an undecoded result is a success") {
            remember(compiled, session, flight, call, None);
            return (CallEnd::Succeeded, vouched);
        }
        transform::withhold(compiled, call.tool, settled);
        undecoded::forget(compiled, session, call, &flight.args, answers, settled);
        session.tools[id as usize].undecoded += 1;
        count(compiled, session, flight, false);
        end_latest(compiled, session, flight, id);
        return (CallEnd::Undecoded, vouched);
    };
    let mut kept = None;
    if call.ready.reads_result {
        // The arguments move into the context and back, because the history may keep them.
        let args = std::mem::take(&mut flight.args);
        let after =
            AfterCall { call, args, result, decision: DecisionResources::default(), answers };
        // The steps have the order of semantics §4.
        observe::observe(compiled, session, &after, settled);
        stain(session, &call.ready.readings.observes);
        learn::learn(compiled, session, &after, &flight.call, settled);
        reconcile(compiled, session, &after, settled);
        transform::show(compiled, session, &after, settled);
        private::disclose(compiled, session, &after, raw, settled);
        vouched = endorse::vouched(compiled, session, &after, raw, settled);
        flight.args = after.args;
        kept = Some(after.result);
    }
    remember(compiled, session, flight, call, kept);
    (CallEnd::Succeeded, vouched)
}

/// Marks the variables into which untrusted content was written. Reads are judged by the content of
/// the variables before any of these writes.
fn stain(session: &mut SessionState, written: &[(VarId, Reading)]) {
    let level = |(var, reading): &(VarId, Reading)| (*var, reading.level(&session.stains));
    // A call with the same trust as before marks nothing new, and allocates nothing.
    let is_worse = |(var, level): &(VarId, Stain)| *level > session.stains[*var as usize];
    let found: Vec<(VarId, Stain)> = written.iter().map(level).filter(is_worse).collect();
    for (var, level) in found {
        let stain = &mut session.stains[var as usize];
        *stain = (*stain).max(level);
    }
}

/// Remembers the values of a result as seen. The result of a lifecycle's tool repeats the agent's
/// own words, and does not count as seen.
fn see(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    tool: Option<ToolId>,
    result: &Json,
    vouched: &Vouched<'_>,
) -> Option<Note> {
    let tool = tool.map(|id| &compiled.plan().tools[id as usize]);
    match tool {
        _ if !compiled.plan().origins => None,
        Some(tool) if tool.is_served() => None,
        Some(tool) => session.see_result(result, &tool.trust, vouched),
        None => session.see_result(result, &Trust { whole: false, parts: Vec::new() }, vouched),
    }
}

/// Returns the decoded result; `None`, with a note, if it does not decode.
fn decoded(
    compiled: &CompiledPlan,
    session: &SessionState,
    call: DecidedCall<'_>,
    result: Option<&Json>,
    settled: &mut Settled,
) -> Option<Value> {
    let json = result.unwrap_or(&Json::Null);
    let Some(ty) = call.tool.returns else {
        return Some(Value::Json(Box::new(json.clone())));
    };
    let matches = |id, text: &str| compiled.matches(id, text);
    let forms = call.tool.forms.unwrap_or_default();
    match compiled.decoder(&session.workspace, true, &matches).decode_as(ty, &forms, json) {
        Ok(value) => Some(value),
        Err(problems) => {
            if let Some(error) = forms.unread(json) {
                let message = format!("the text is not JSON: {error}");
                settled.note(NoteKind::Undecoded, &call.tool.name, message);
                return None;
            }
            for problem in problems {
                settled.note(NoteKind::Undecoded, &call.tool.name, problem.to_string());
            }
            None
        }
    }
}

fn reconcile(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    after: &AfterCall<'_>,
    settled: &mut Settled,
) {
    let call = after.call;
    for (rule, condition) in call.tool.reconciles.iter().zip(&call.ready.reconciles) {
        let holds = after.read(compiled, session, |cx| {
            cx.eval_shown(condition).and_then(|value| Val::own(value).truth())
        });
        let message = match holds {
            Ok(true) => continue,
            Ok(false) => after.read(compiled, session, |cx| unreconciled(cx, rule)),
            Err(fault) => {
                format!("`{}` cannot be evaluated after the call: {fault}", rule.text)
            }
        };
        let kind = if rule.rule.shadow { NoteKind::Shadow } else { NoteKind::Halt };
        note(session, settled, kind, &rule.rule.owner, message);
    }
}

/// Explains why a reconciliation does not hold, with the values of both sides.
fn unreconciled(cx: &Context<'_>, rule: &Reconcile) -> String {
    let values = cx.values(&rule.shows);
    let values: Vec<String> =
        values.iter().map(|(label, value)| format!("{label} is {value}")).collect();
    let values = if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
    let condition = format!("`{}` does not hold after the call{values}", rule.text);
    match &rule.because {
        Some(because) => format!("{} ({condition})", cx.message(because)),
        None => condition,
    }
}

/// Records the success.
fn remember(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    flight: &mut InFlight,
    call: DecidedCall<'_>,
    result: Option<Value>,
) {
    let stamp = session.stamp();
    let begun = if guard_proof::mutant!("a success counts from its end") {
        CallStart { moment: session.moments, time: session.now }
    } else {
        flight.begun
    };
    for (index, span) in call.tool.indexes.iter().zip(&flight.draft.keys) {
        let key = flight.draft.key(*span);
        let index = &mut session.indexes[*index as usize];
        match index.get_mut(key) {
            Some(done) => *done = Successes::and(Some(*done), begun),
            None => _ = index.insert(key.into(), Successes::and(None, begun)),
        }
    }
    count(compiled, session, flight, false);
    let history = &mut session.tools[call.id as usize];
    history.successes += 1;
    history.success = Some(stamp);
    history.done = Some(Successes::and(history.done, begun));
    session.succeeded[call.id as usize / 64] |= 1 << (call.id % 64);
    if call.tool.keeps_args {
        history.last_args = Some(std::mem::take(&mut flight.args));
    }
    if call.tool.keeps_result {
        history.last_result = result;
    }
}
