//! The events of a guard's own tests, for searches to begin with.

use super::session::{Act, Then};
use crate::scenario::{Call, Scenario, StepKind};

/// The events of each `test` block, in order. A call that a test only asks about is among them: a search plays what is
/// allowed and leaves the rest out.
pub fn events_of(scenarios: &[Scenario]) -> Vec<Vec<Act>> {
    let events =
        |scenario: &Scenario| scenario.steps.iter().filter_map(|s| event(&s.kind)).collect();
    scenarios.iter().map(events).filter(|acts: &Vec<Act>| !acts.is_empty()).collect()
}

fn event(step: &StepKind) -> Option<Act> {
    let call = |call: &Call, then: Then| {
        let (tool, args) = (call.tool.clone(), call.args.clone());
        Some(Act::Call { id: String::new(), tool, args, then })
    };
    match step {
        StepKind::Run { call: of, success: true, result, .. } => {
            call(of, Then::Succeeds(result.clone()))
        }
        StepKind::Run { call: of, .. } => call(of, Then::Fails),
        StepKind::Allowed(of)
        | StepKind::Denied { call: of, .. }
        | StepKind::Asks { call: of, .. }
        | StepKind::Waits { call: of, .. }
        | StepKind::Start(_, of) => call(of, Then::Succeeds(None)),
        StepKind::After(millis) => Some(Act::Wait(*millis)),
        StepKind::Usage(unit, amount) => Some(Act::Usage(unit.clone(), *amount)),
        StepKind::Prompt(text) => Some(Act::Prompt(text.clone())),
        StepKind::Resume(_) => Some(Act::Resume),
        StepKind::Verify(item, _) => Some(Act::Verify(item.clone())),
        StepKind::Move(item, transition, _) => Some(Act::Move(item.clone(), transition.clone())),
        _ => None,
    }
}
