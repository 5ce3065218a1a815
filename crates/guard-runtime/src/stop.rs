//! The decision on a stop: the checks of the guard's completion (semantics §12).

mod checks;

use crate::compiled::CompiledPlan;
use crate::eval::context::{Context, DecisionResources};
use crate::event::StopAttempt;
use crate::outcome::Stopped;
use crate::session::SessionState;
use crate::world::{World, WorldAnswers};
use guard_plan::record::{Missing, StopDecision};

/// Decides whether the agent may stop.
pub(crate) fn stop(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    stop: &StopAttempt<'_>,
    world: &mut dyn World,
) -> Stopped {
    session.advance(stop.now);
    if let Some(why) = bypass(compiled, session) {
        return Stopped::allowed(Some(why));
    }
    let Some(completion) = &compiled.plan().completion else {
        return Stopped::allowed(None);
    };
    let mut answers = WorldAnswers::new(world);
    let decision = DecisionResources::default();
    let missing = checks::missing(&Context::new(compiled, session, &decision, &answers));
    let mut stopped = Stopped::allowed(None);
    stopped.asked = answers.commit(session);
    if missing.is_empty() {
        return stopped;
    }
    if session.blocked >= completion.at_most || compiled.plan().shadow {
        stopped.incomplete = true;
    } else {
        session.blocked += 1;
        stopped.decision = StopDecision::Block;
    }
    stopped.message = message(&missing, stopped.incomplete);
    stopped.missing = missing;
    stopped
}

/// Returns the reason why nothing is checked: the session cannot continue.
fn bypass(compiled: &CompiledPlan, session: &SessionState) -> Option<String> {
    if session.halted.is_some() {
        return Some("halted".into());
    }
    let plan = compiled.plan();
    let ended = |deadline| session.now >= session.start.saturating_add(deadline);
    if plan.deadline.is_some_and(ended) {
        return Some("deadline".into());
    }
    let mut units = plan.units.iter().zip(&session.spent);
    let exhausted = units.find(|(unit, spent)| unit.budget.is_some_and(|budget| **spent >= budget));
    exhausted.map(|(unit, _)| unit.name.clone())
}

/// Returns the message to the agent.
fn message(missing: &[Missing], incomplete: bool) -> String {
    let lead = if incomplete { "Stopped with work missing:" } else { "The work is not complete:" };
    let mut out = String::from(lead);
    for check in missing {
        out.push_str("\n- ");
        out.push_str(&check.message);
    }
    if !incomplete {
        out.push_str("\nDo the missing work, then stop again.");
    }
    out
}
