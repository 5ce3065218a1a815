//! Sampled re-checks of proved invariants (semantics §15): one of N admitted calls, and one of N
//! settlements, is checked as if nothing were proved.
//!
//! A wrong proof leaves an invariant unchecked, so Guard does not rely on a proof alone. Sampling
//! depends only on the session's id and on the number of admitted calls, so that a replay repeats
//! it. An invariant that does not hold halts the session, which relies on no proof from then on.

use crate::compiled::CompiledPlan;
use crate::eval::context::{Context, DecisionResources};
use crate::outcome::{ProofViolation, Settled};
use crate::session::SessionState;
use crate::session::flight::InFlight;
use crate::world::{NoWorld, WorldAnswers};
use guard_plan::plan::{Plan, ToolId, VarId};
use guard_plan::record::NoteKind;
use guard_plan::value::Value;
use guard_plan::verdict::{self, Code, Reason, Verdict};
use std::num::NonZeroU32;

/// The default sampling rate: one of this many admitted calls.
pub(crate) const DEFAULT_EVERY: NonZeroU32 = NonZeroU32::new(256).unwrap();

/// Returns the offset of a session in the sample, so that sessions of a few calls are sampled, too.
pub(crate) fn phase(id: &str) -> u64 {
    // The FNV-1a hash.
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    id.bytes().fold(0xcbf2_9ce4_8422_2325, step) >> 16
}

/// Returns true if the next of a session's calls or settlements is in the sample; `before` is the
/// number of earlier ones.
fn is_sampled(session: &SessionState, before: u64) -> bool {
    let every = u64::from(session.recheck);
    every != 0 && session.phase.wrapping_add(before).is_multiple_of(every) && !session.distrusts
}

/// Checks the proved invariants again for a call that is about to be admitted, if the call is in
/// the sample. Returns the number of checked invariants. If one does not hold, the verdict becomes
/// a denial and the session halts.
pub(crate) fn before_admission(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    flight: &InFlight,
    verdict: &mut Verdict,
) -> (u64, Option<Box<ProofViolation>>) {
    if verdict.decision != verdict::Decision::Allow || !is_sampled(session, session.calls) {
        return (0, None);
    }
    let (checked, broken) = check(compiled, session, flight.tool, &flight.draft.writes);
    if let Some(broken) = &broken {
        halt(compiled, session, broken);
        let reasons = vec![reason(compiled, session, broken)];
        let shadowed = std::mem::take(&mut verdict.shadowed);
        *verdict = Verdict { decision: verdict::Decision::Deny, reasons, shadowed };
    }
    (checked, broken)
}

/// Checks the proved invariants of the committed state again after a settlement, if the settlement
/// is in the sample.
pub(crate) fn after_settlement(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    settled: &mut Settled,
) {
    if !is_sampled(session, session.settlements) {
        return;
    }
    let (checked, broken) = check(compiled, session, None, &[]);
    settled.rechecked = checked;
    if let Some(broken) = broken {
        let message = message(compiled, &broken);
        halt(compiled, session, &broken);
        settled.note(NoteKind::Halt, name(compiled.plan(), &broken), message);
        settled.halted = true;
        settled.broken_proof = Some(broken);
    }
}

/// Checks everything that is proved over the state with these writes. Returns the number of checked
/// invariants and variables, and the first that does not hold.
fn check(
    compiled: &CompiledPlan,
    session: &SessionState,
    tool: Option<ToolId>,
    writes: &[(VarId, Value)],
) -> (u64, Option<Box<ProofViolation>>) {
    let decision = DecisionResources::default();
    let mut world = NoWorld;
    let answers = WorldAnswers::new(&mut world);
    let before = Context::new(compiled, session, &decision, &answers);
    let after = Context { writes, ..before };
    let of_tool = tool.map_or(&[][..], |tool| compiled.rechecks.preserved_by(tool));
    let mut checked = 0;
    for id in compiled.rechecks.committed.iter().chain(of_tool) {
        checked += 1;
        let condition = &compiled.invariants[*id as usize];
        let holds = after.holds(condition);
        if holds != Ok(true) {
            let read =
                guard_proof::frame::variables(&compiled.plan().invariants[*id as usize].condition);
            let broken = ProofViolation {
                tool,
                invariant: Some(*id),
                already: before.holds(condition) != Ok(true),
                fault: holds.err().map(|fault| fault.to_string()),
                state: shown(session, writes, &read),
            };
            return (checked, Some(Box::new(broken)));
        }
    }
    let matches = |id, text: &str| compiled.matches(id, text);
    let decoder = compiled.decoder(&session.workspace, false, &matches);
    let refined = tool.map_or(&[][..], |tool| &compiled.tools[tool as usize].proven.refined);
    // Parts are not listed here: the type of a part is checked when it is drafted, proved or not.
    for (var, value) in writes.iter().filter(|(var, _)| refined.binary_search(var).is_ok()) {
        checked += 1;
        if let Err(problem) = decoder.conform(compiled.plan().state[*var as usize].ty, value) {
            let broken = ProofViolation {
                tool,
                invariant: None,
                already: false,
                fault: Some(problem.to_string()),
                state: shown(session, writes, &[*var]),
            };
            return (checked, Some(Box::new(broken)));
        }
    }
    (checked, None)
}

/// Returns variables with their committed values and with the values that the call would write.
fn shown(
    session: &SessionState,
    writes: &[(VarId, Value)],
    vars: &[VarId],
) -> Vec<(VarId, Value, Value)> {
    let shown = vars.iter().map(|var| {
        let before = session.state[*var as usize].clone();
        let written = writes.iter().find(|(written, _)| written == var);
        let after = written.map_or_else(|| before.clone(), |(_, value)| value.clone());
        (*var, before, after)
    });
    shown.collect()
}

fn halt(compiled: &CompiledPlan, session: &mut SessionState, broken: &ProofViolation) {
    session.distrusts = true;
    session.halt(name(compiled.plan(), broken), &message(compiled, broken));
}

fn reason(compiled: &CompiledPlan, session: &SessionState, broken: &ProofViolation) -> Reason {
    let decision = DecisionResources::default();
    let mut world = NoWorld;
    let answers = WorldAnswers::new(&mut world);
    let cx = Context::new(compiled, session, &decision, &answers);
    let name = name(compiled.plan(), broken);
    let span = span(compiled.plan(), broken);
    let mut reason = cx.reason_at(Code::BrokenProof, name, span, message(compiled, broken));
    reason.help =
        "the session is halted; report the defect with `broken_proof` of its trace".into();
    reason
}

/// Returns the name of the invariant, or of the variable whose type was proved.
fn name<'p>(plan: &'p Plan, broken: &ProofViolation) -> &'p str {
    let var = || broken.state.first().and_then(|(var, ..)| plan.state.get(*var as usize));
    match broken.invariant {
        Some(id) => &plan.invariants[id as usize].rule.owner,
        None => var().map_or("", |var| &var.name),
    }
}

fn span(plan: &Plan, broken: &ProofViolation) -> Option<u32> {
    broken.invariant.map(|id| plan.invariants[id as usize].rule.span)
}

fn message(compiled: &CompiledPlan, broken: &ProofViolation) -> String {
    let plan = compiled.plan();
    let Some(id) = broken.invariant else {
        return format!(
            "a wrong proof: the call would take `{}` outside its type",
            name(plan, broken)
        );
    };
    let text = &plan.invariants[id as usize].text;
    match (broken.tool, broken.already) {
        (Some(_), false) => format!("a wrong proof: `{text}` would be false after this call"),
        _ => format!("a wrong proof: `{text}` is false"),
    }
}

#[cfg(test)]
mod tests;
