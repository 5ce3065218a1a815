//! Bounds that proofs rely on (semantics §15), checked when a session begins, is restored or
//! continues under another plan.
//!
//! A proof by induction shows only that the calls which this plan decides preserve a bound. So the
//! bound is checked where a session comes from elsewhere: in its current state, and in the state
//! after each call in flight.

use crate::session::SessionState;
use crate::session::flight::InFlight;
use guard_plan::plan::{Plan, SessionBound, SessionMeasure};
use guard_plan::value::Value;
use guard_proof::bounds;
use std::collections::BTreeSet;

/// Returns the first bound that the session, or one of its calls in flight, violates.
pub(crate) fn broken(plan: &Plan, session: &SessionState) -> Option<SessionBound> {
    let holds = |bound: &SessionBound| {
        let within = bound.terms.iter().all(|(_, measure)| is_within(plan, session, *measure));
        // A success is recorded only if its result decodes, which is not known yet.
        let landed = |flight: &InFlight| {
            [false, true].iter().all(|success| is_kept(bound, session, Some((flight, *success))))
        };
        within
            && is_kept(bound, session, None)
            && session.flights.iter().all(|flight| landed(flight))
    };
    bounds::claimed(&plan.proofs).into_iter().find(|bound| !holds(bound))
}

/// Returns true if a count is within what the plan allows: another plan may have allowed more.
fn is_within(plan: &Plan, session: &SessionState, measure: SessionMeasure) -> bool {
    match measure {
        SessionMeasure::Counted(id) => {
            let used = session.counters[id as usize].usage(None, session.now).used;
            used <= plan.limits[id as usize].count
        }
        SessionMeasure::Spent(id) => plan.units[id as usize]
            .budget
            .is_some_and(|budget| session.spent[id as usize] <= budget),
        _ => true,
    }
}

/// Returns true if the bound holds in the committed state, or after a call in flight, with its success recorded or not.
fn is_kept(
    bound: &SessionBound,
    session: &SessionState,
    settled: Option<(&InFlight, bool)>,
) -> bool {
    bounds::value(bound, |measure| measured(session, settled, measure))
        .is_some_and(|value| value <= 0)
}

fn measured(
    session: &SessionState,
    settled: Option<(&InFlight, bool)>,
    measure: SessionMeasure,
) -> Option<i128> {
    let flying = || {
        // A flight is known by its number, which the kernel assigns; a host may use the id of a
        // settled call again.
        let flights = session.flights.iter().map(|flight| &**flight);
        flights.filter(move |flight| settled.is_none_or(|(ended, _)| flight.number != ended.number))
    };
    Some(match measure {
        SessionMeasure::State(var) => match after(session, settled, var)? {
            Value::Bool(truth) => i128::from(truth),
            Value::Int(number) | Value::Decimal(number) => i128::from(number),
            // A value that is not a number fits no bound, so the bound counts as broken.
            _ => return None,
        },
        SessionMeasure::Size(var) => match after(session, settled, var)? {
            Value::List(items) => items.len() as i128,
            Value::Set(items) => items.len() as i128,
            Value::Map(entries) => entries.len() as i128,
            _ => return None,
        },
        SessionMeasure::Counted(id) => {
            let used = session.counters.get(id as usize)?.usage(None, session.now).used;
            let counted = flying().flat_map(|flight| &flight.draft.counted);
            i128::from(used) - counted.filter(|(limit, _)| *limit == id).count() as i128
        }
        SessionMeasure::Spent(id) => {
            let charges = flying().flat_map(|flight| &flight.draft.charges);
            let open = charges.filter(|(unit, _)| *unit == id).map(|(_, sum)| i128::from(*sum));
            i128::from(*session.spent.get(id as usize)?) - open.sum::<i128>()
        }
        SessionMeasure::Called(id) => {
            // The memory stores it twice, once for each kind of look-up.
            let bit = session.succeeded.get(id as usize / 64)? >> (id % 64) & 1;
            let done = session.tools.get(id as usize)?.done.is_some();
            let now = settled.is_some_and(|(ended, success)| success && ended.tool == Some(id));
            i128::from(bit == 1 || done || now)
        }
    })
}

/// Returns the variables that a call in flight writes when it succeeds.
pub(crate) fn written(flight: &InFlight) -> BTreeSet<u32> {
    let parts = flight.draft.parts.iter().map(|part| part.var);
    flight.draft.writes.iter().map(|(var, _)| *var).chain(parts).collect()
}

/// Returns the value of a variable in the committed state, or after a call in flight.
pub(crate) fn after(
    session: &SessionState,
    settled: Option<(&InFlight, bool)>,
    var: u32,
) -> Option<Value> {
    let mut value = session.state.get(var as usize)?.clone();
    let Some((flight, _)) = settled else { return Some(value) };
    if let Some((_, written)) =
        flight.draft.writes.iter().find(|(written_var, _)| *written_var == var)
    {
        return Some(written.clone());
    }
    // Writing a part takes its value out of the draft, and the settlement still needs that value.
    let mut draft = flight.draft.clone();
    for part in 0..draft.parts.len() {
        if draft.parts[part].var == var && !draft.write_part(part, &mut value) {
            return None;
        }
    }
    Some(value)
}
