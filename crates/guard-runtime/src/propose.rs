//! A proposal: decides it, and if it is allowed, puts it into flight or serves it.

use crate::compiled::CompiledPlan;
use crate::error::StepError;
use crate::event::Proposal;
use crate::feedback::{self, FeedbackCause};
use crate::outcome::Proposed;
use crate::session::SessionState;
use crate::session::flight::InFlight;
use crate::shadow::{self, Shadow};
use crate::world::{World, WorldAnswers};
use crate::{decide, flights, recheck, serve};
use guard_plan::plan::LifecycleId;
use guard_plan::verdict::{Code, Decision, Reason, Verdict};

/// The buffers that one check leaves for the next.
#[derive(Debug, Clone, Default)]
pub struct Scratch(InFlight);

/// Decides a call. An allowed call is in flight from then on. Any other decision changes only the
/// clock.
///
/// # Errors
///
/// Returns an error if a call with this id is in flight.
pub(crate) fn propose(
    compiled: &CompiledPlan,
    shadow: Option<&Shadow>,
    session: &mut SessionState,
    proposal: &Proposal<'_>,
    world: &mut dyn World,
) -> Result<Proposed, StepError> {
    if session.flights.iter().any(|flight| flight.call == proposal.call) {
        return Err(StepError::CallInFlight(proposal.call.into()));
    }
    session.advance(proposal.now);
    let mut flight = session.spare.pop().unwrap_or_default();
    let mut answers = WorldAnswers::new(world);
    let mut verdict =
        shadow::decide_watched(compiled, shadow, session, proposal, &answers, &mut flight);
    let (rechecked, broken_proof) =
        recheck::before_admission(compiled, session, &flight, &mut verdict);
    let mut proposed = Proposed::new(verdict);
    proposed.halted = broken_proof.is_some();
    (proposed.rechecked, proposed.broken_proof) = (rechecked, broken_proof);
    proposed.instead = flight.instead.take();
    if proposed.verdict.decision == Decision::Allow {
        flight.call.push_str(proposal.call);
        match served(compiled, &flight, proposal.tool) {
            Some(id) => serve::serve(compiled, session, flight, id, &answers, &mut proposed),
            None => {
                flights::admit(session, &mut flight);
                session.flights.push(flight);
            }
        }
    } else {
        session.retire(flight);
        if compiled.feedback.any() && is_judged(&proposed.verdict) {
            let event = FeedbackCause::Denied(compiled.tool(proposal.tool));
            let round = feedback::judge(compiled, session, event, &answers);
            (proposed.feedback, proposed.notes) = (round.delivered, round.notes);
        }
    }
    proposed.asked = answers.commit(session);
    Ok(proposed)
}

/// Returns the served lifecycle, or `Some(None)` for a statement; `None` if the kernel does not
/// serve the tool. If the arguments were not decoded, the guard is in shadow mode.
fn served(compiled: &CompiledPlan, flight: &InFlight, name: &str) -> Option<Option<LifecycleId>> {
    let tool = flight.tool.or_else(|| compiled.tool(name))?;
    let tool = &compiled.plan().tools[tool as usize];
    tool.is_served().then(|| tool.served.as_ref().map(|served| served.lifecycle))
}

/// Decides a call without side effects, reusing the buffers of an earlier check.
pub(crate) fn check(
    compiled: &CompiledPlan,
    session: &SessionState,
    proposal: &Proposal<'_>,
    world: &mut dyn World,
    scratch: &mut Scratch,
) -> Proposed {
    let answers = WorldAnswers::new(world);
    scratch.0.clear();
    let verdict = decide::decide(compiled, session, proposal, &answers, &mut scratch.0);
    let mut proposed = Proposed::new(verdict);
    proposed.instead = scratch.0.instead.take();
    proposed.asked = answers.into_asked();
    proposed
}

/// Returns true if the verdict is a denial for which feedback is evaluated (semantics §10).
fn is_judged(verdict: &Verdict) -> bool {
    let unread = |reason: &Reason| reason.code == Code::InvalidArguments;
    verdict.decision == Decision::Deny && !verdict.reasons.iter().any(unread)
}
