//! Counts of a session: drawn beside its state, put into the reference evaluator, and asked of bounds.

use super::points::Pools;
use guard_compiler::reference::ReferenceSession;
use guard_plan::plan::{Plan, SessionBound, SessionMeasure};
use guard_plan::random::Rng;
use guard_plan::value::Value;
use guard_proof::bounds;
use std::collections::BTreeMap;

/// Counts by what they are of.
pub type MeasureCounts = BTreeMap<SessionMeasure, i64>;

/// Counts that a session of the plan may have, of what bounds measure.
pub fn draw(plan: &Plan, bounds: &[SessionBound], pools: &Pools, rng: &mut Rng) -> MeasureCounts {
    let measures = bounds.iter().flat_map(|bound| bound.terms.iter().map(|(_, measure)| *measure));
    measures.filter_map(|measure| Some((measure, number(plan, measure, pools, rng)?))).collect()
}

fn number(plan: &Plan, measure: SessionMeasure, pools: &Pools, rng: &mut Rng) -> Option<i64> {
    Some(match measure {
        SessionMeasure::State(_) | SessionMeasure::Size(_) => return None,
        SessionMeasure::Counted(id) => {
            rng.below(plan.limits[id as usize].count as usize + 1) as i64
        }
        SessionMeasure::Spent(id) => {
            let budget = plan.units[id as usize].budget?;
            pools.number_in((Some(0), Some(budget)), 500_000, rng)
        }
        SessionMeasure::Called(_) => i64::from(rng.chance(50)),
    })
}

/// Puts a session that has just begun where it has counted so much.
pub fn place(plan: &Plan, counts: &MeasureCounts, session: &mut ReferenceSession<'_>) {
    for (measure, count) in counts {
        match *measure {
            SessionMeasure::Counted(id) => session.place_counted(id, *count as usize),
            SessionMeasure::Spent(id) => {
                session.place_spent(&plan.units[id as usize].name, *count);
            }
            SessionMeasure::Called(id) if *count == 1 => {
                session.place_success(&plan.tools[id as usize].name);
            }
            _ => {}
        }
    }
}

/// The bounds that are broken in a state with these counts, by number.
pub fn broken(
    plan: &Plan,
    bounds: &[SessionBound],
    session: &ReferenceSession<'_>,
    counts: &MeasureCounts,
) -> Vec<usize> {
    let value = |var: u32| {
        let name = &plan.state[var as usize].name;
        session.state().find(|(known, _)| known == name).map(|(_, value)| value)
    };
    let measured = |measure| match measure {
        SessionMeasure::State(var) => match value(var)? {
            Value::Bool(truth) => Some(i128::from(*truth)),
            Value::Int(number) | Value::Decimal(number) => Some(i128::from(*number)),
            _ => None,
        },
        SessionMeasure::Size(var) => match value(var)? {
            Value::List(items) => Some(items.len() as i128),
            Value::Set(items) => Some(items.len() as i128),
            Value::Map(entries) => Some(entries.len() as i128),
            _ => None,
        },
        count => counts.get(&count).map(|count| i128::from(*count)),
    };
    let holds = |bound: &SessionBound| bounds::value(bound, measured).is_some_and(|sum| sum <= 0);
    (0..bounds.len()).filter(|at| !holds(&bounds[*at])).collect()
}

/// The counts after a call of a tool has settled, with what it was charged, and whether its success is recorded.
pub fn settled(
    plan: &Plan,
    tool: u32,
    counts: &MeasureCounts,
    charged: impl Fn(&str) -> i64,
    success: bool,
) -> MeasureCounts {
    let counted = |id: u32| plan.tools[tool as usize].limits.iter().any(|at| at.limit == id);
    let mut after = counts.clone();
    for (measure, count) in &mut after {
        match *measure {
            SessionMeasure::Counted(id) if counted(id) => *count += 1,
            SessionMeasure::Spent(id) => *count += charged(&plan.units[id as usize].name),
            SessionMeasure::Called(id) if id == tool && success => *count = 1,
            _ => {}
        }
    }
    after
}
