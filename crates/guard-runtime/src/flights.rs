//! Calls in flight: the charges and counts of an allowed call, and their release when it settles.

use crate::compiled::CompiledPlan;
use crate::session::flight::InFlight;
use crate::session::{CallStart, SessionState};
use guard_plan::plan::LimitScope;

/// Admits an allowed call: charges its costs, counts it and adds it to the calls in flight.
pub(crate) fn admit(session: &mut SessionState, flight: &mut InFlight) {
    session.calls += 1;
    flight.number = session.calls;
    flight.begun = CallStart { moment: session.touch(flight.tool), time: session.now };
    let draft = &mut flight.draft;
    session.charged.clone_from(&draft.charges);
    for (unit, amount) in &draft.charges {
        let spent = &mut session.spent[*unit as usize];
        *spent = spent.saturating_add(*amount);
    }
    for (limit, span) in &draft.counted {
        let key = span.map(|span| draft.key(span));
        session.counters[*limit as usize].add(key, session.now);
    }
    draft.approvals.sort_unstable();
    draft.approvals.dedup();
    // The removal goes from the back, so that the remaining positions stay valid.
    for place in draft.approvals.drain(..).rev() {
        session.approvals.remove(place);
    }
}

/// Releases a call that is no longer in flight: removes the counts that apply only during the
/// flight, and if the call has failed, the counts of successes and the charges that are returned.
pub(crate) fn release(
    compiled: &CompiledPlan,
    session: &mut SessionState,
    flight: &InFlight,
    failed: bool,
) {
    for (id, span) in &flight.draft.counted {
        let limit = &compiled.plan().limits[*id as usize];
        if limit.scope == LimitScope::InFlight || limit.success && failed {
            let key = span.map(|span| flight.draft.key(span));
            session.counters[*id as usize].remove(key, flight.begun.time);
        }
    }
    let returns = failed && !guard_proof::mutant!("a failure gives nothing back");
    for (unit, amount) in flight.draft.returned.iter().filter(|_| returns) {
        let spent = &mut session.spent[*unit as usize];
        *spent = spent.saturating_sub(*amount);
    }
}
