//! Feedback: selects the providers that an event wakes, and collects their messages (semantics
//! §10).
//!
//! Providers are indexed by the events that can wake them, so that a round without messages costs a
//! few comparisons however long the session is. Rendering is in `feedback/block`.

mod block;

use crate::compiled::CompiledPlan;
use crate::compiled::feedback::{PreparedProvider, Providers};
use crate::eval::context::{Context, DecisionResources};
use crate::session::SessionState;
use crate::session::feedback::{Edge, FeedbackMemory, Provider};
use crate::world::WorldQuestions;
use guard_plan::path;
use guard_plan::plan::{Millis, Plan, ProviderId, ToolId};
use guard_plan::record::{Delivered, Note, NoteKind};
use guard_plan::value::Fault;

/// The event that feedback is judged on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FeedbackCause {
    /// A call was settled.
    Settled(Option<ToolId>),
    /// A call was denied.
    Denied(Option<ToolId>),
}

/// The result of a feedback round.
#[derive(Debug, Default)]
pub(crate) struct FeedbackRound {
    pub delivered: Vec<Delivered>,
    pub notes: Vec<Note>,
}

impl FeedbackRound {
    fn fault(&mut self, plan: &Plan, id: ProviderId, message: String) {
        let rule = plan.feedback[id as usize].name.clone();
        self.notes.push(Note { kind: NoteKind::Feedback, rule, message });
    }
}

/// The memory of the providers when a session begins.
pub(crate) fn memory(providers: &Providers, start: Millis) -> FeedbackMemory {
    let edges = providers.edges.len() as u32;
    let mut memory = FeedbackMemory {
        judged: 0,
        providers: vec![Provider::default(); providers.all.len()].into(),
        created: (0..providers.created.len() as u32).collect(),
        edges: vec![Edge::default(); providers.edges.len()].into(),
        // Each edge counts as false before the first judgement, so that judgement evaluates every
        // edge.
        stale: (0..edges).filter(|edge| !providers.always.contains(edge)).collect(),
        ..FeedbackMemory::default()
    };
    (0..).zip(&providers.all).for_each(|(id, ready)| begin(ready, &mut memory, id, start));
    memory
}

/// Records that facts have changed by an event other than a call.
pub(crate) fn facts_changed(providers: &Providers, memory: &mut FeedbackMemory) {
    memory.stale.extend(providers.by_fact.iter().copied());
}

/// Starts the cadence of a provider.
fn begin(ready: &PreparedProvider, memory: &mut FeedbackMemory, id: ProviderId, now: Millis) {
    let count = ready.calls.map(|calls| memory.judged.saturating_add(calls.into()));
    let time = ready.every.map(|every| now.saturating_add(every));
    memory.due(id, count, time);
}

/// Judges an event, if the plan has providers: wakes them and collects their messages.
pub(crate) fn judge(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    event: FeedbackCause,
    answers: &dyn WorldQuestions,
) -> FeedbackRound {
    let mut round = FeedbackRound::default();
    // The memory is taken out of the session: conditions read the session while the memory changes.
    let mut memory = std::mem::take(&mut session.feedback);
    memory.judged += 1;
    let decision = DecisionResources::default();
    let mut woken: Vec<ProviderId> = Vec::new();
    by_cadence(&memory, session.now, &mut woken);
    by_denial(compiled, event, &mut woken);
    let there = by_file(compiled, session, &memory, answers, &mut woken, &mut round);
    by_edge(compiled, session, &mut memory, event, &decision, answers, &mut woken, &mut round);
    if !woken.is_empty() {
        woken.sort_unstable();
        woken.dedup();
        let spoke = speak(compiled, session, &mut memory, &woken, &decision, answers, &mut round);
        // A trigger of a file is used up only when its provider speaks (semantics §10).
        let used = |at: &u32| spoke.contains(&compiled.feedback.created[*at as usize].0);
        memory.created.retain(|at| !(there.contains(at) && used(at)));
    }
    session.feedback = memory;
    round
}

fn by_cadence(memory: &FeedbackMemory, now: Millis, woken: &mut Vec<ProviderId>) {
    let counts = memory.by_count.range(..=(memory.judged, ProviderId::MAX));
    woken.extend(counts.map(|(_, id)| *id));
    let times = memory.by_time.range(..=(now, ProviderId::MAX));
    woken.extend(times.map(|(_, id)| *id));
}

fn by_denial(compiled: &CompiledPlan, event: FeedbackCause, woken: &mut Vec<ProviderId>) {
    let FeedbackCause::Denied(tool) = event else { return };
    woken.extend(&compiled.feedback.denied_any);
    if let Some(tool) = tool {
        woken.extend(&compiled.feedback.denied[tool as usize]);
    }
}

/// Checks for the files that did not exist before, and returns the triggers whose files exist.
fn by_file(
    compiled: &CompiledPlan,
    session: &SessionState,
    memory: &FeedbackMemory,
    answers: &dyn WorldQuestions,
    woken: &mut Vec<ProviderId>,
    round: &mut FeedbackRound,
) -> Vec<u32> {
    let exists = |at: &u32| {
        let (id, file) = compiled.feedback.created[*at as usize];
        let place = &session.paths[file as usize];
        // Only an opened session knows its workspace, so the compiler cannot refuse every such
        // path.
        if !path::within(place, &session.workspace) {
            let written = &compiled.plan().paths[file as usize];
            let message = format!("`{written}` is outside the workspace");
            round.fault(compiled.plan(), id, message);
            return false;
        }
        let there = answers.file(place) == Some(true);
        if there {
            woken.push(id);
        }
        there
    };
    memory.created.iter().copied().filter(exists).collect()
}

#[allow(clippy::too_many_arguments, reason = "it reads the session and changes its memory")]
fn by_edge(
    compiled: &CompiledPlan,
    session: &SessionState,
    memory: &mut FeedbackMemory,
    event: FeedbackCause,
    decision: &DecisionResources,
    answers: &dyn WorldQuestions,
    woken: &mut Vec<ProviderId>,
    round: &mut FeedbackRound,
) {
    let cx = Context::new(compiled, session, decision, answers);
    let stale = std::mem::take(&mut memory.stale);
    let mut look = |edge: u32| {
        let (id, condition) = &compiled.feedback.edges[edge as usize];
        match cx.holds(condition) {
            Ok(is) => {
                let was = std::mem::replace(&mut memory.edges[edge as usize].was, is);
                if is && !was {
                    woken.push(*id);
                }
            }
            Err(fault) => {
                // After a fault there is no current value, so the next judgement tries again
                // whatever has changed.
                memory.stale.insert(edge);
                let message = format!("its trigger cannot be evaluated: {fault}");
                round.fault(compiled.plan(), *id, message);
            }
        }
    };
    compiled.feedback.always.iter().for_each(|edge| look(*edge));
    // An edge that faulted is stale, and may be one that is always judged: once is enough.
    let always = |edge: &&u32| compiled.feedback.always.contains(edge);
    stale.iter().filter(|edge| !always(edge)).for_each(|edge| look(*edge));
    if let FeedbackCause::Settled(Some(tool)) = event {
        let changed = compiled.feedback.by_tool[tool as usize].iter();
        changed.filter(|edge| !stale.contains(edge)).for_each(|edge| look(*edge));
    }
}

/// Collects the providers' messages. All blocks are rendered before any change is stored. Returns
/// the providers that delivered a message, or would have done so without a fault.
fn speak(
    compiled: &CompiledPlan,
    session: &SessionState,
    memory: &mut FeedbackMemory,
    woken: &[ProviderId],
    decision: &DecisionResources,
    answers: &dyn WorldQuestions,
    round: &mut FeedbackRound,
) -> Vec<ProviderId> {
    let cx = Context::new(compiled, session, decision, answers);
    let mut spoke = Vec::new();
    let said: Vec<Result<Option<Delivered>, Fault>> = woken
        .iter()
        .map(|id| {
            let ready = &compiled.feedback.all[*id as usize];
            let feedback = &compiled.plan().feedback[*id as usize];
            block::first_message(&cx, feedback, &ready.when, memory.judged)
        })
        .collect();
    for (id, said) in woken.iter().zip(said) {
        match said {
            Ok(None) => continue,
            Ok(Some(delivered)) => {
                let provider = &mut memory.providers[*id as usize];
                provider.spoke += 1;
                provider.last = Some((delivered.clone(), session.now));
                round.delivered.push(delivered);
            }
            Err(fault) => {
                let message = format!("its feedback cannot be given: {fault}");
                round.fault(compiled.plan(), *id, message);
            }
        }
        // A fault restarts the cadence, too: otherwise the provider would be due again at every
        // event.
        spoke.push(*id);
        begin(&compiled.feedback.all[*id as usize], memory, *id, session.now);
    }
    // The sort is stable, and providers are numbered in the order of their names (semantics §10).
    round.delivered.sort_by_key(|message| std::cmp::Reverse(message.severity));
    spoke
}
