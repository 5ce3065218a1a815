//! The events of a guard's own tests, for searches to begin with.

use super::session::{Act, ExploredEnding, START, start_of};
use crate::hir::Program;
use crate::scenario::{Call, Scenario, StepKind};

/// The events of each `test` block of one of these guards, in order. A call that a test only asks about is among them: a search
/// plays what is allowed and leaves the rest out. Where the searched sessions begin before a test does, it waits first.
pub fn events_of(scenarios: &[Scenario], programs: &[&Program]) -> Vec<Vec<Act>> {
    let start = start_of(programs.iter().copied());
    let events = |scenario: &Scenario| {
        let begins = match scenario.steps.iter().map(|step| &step.kind).find(|kind| !is_data(kind))
        {
            Some(StepKind::At(time)) => *time,
            _ => START,
        };
        let mut acts = Vec::new();
        let mut now = start;
        wait_until(begins, &mut now, &mut acts);
        for step in &scenario.steps {
            match &step.kind {
                StepKind::At(time) => wait_until(*time, &mut now, &mut acts),
                StepKind::After(millis) => wait_until(now + millis, &mut now, &mut acts),
                kind => acts.extend(event(kind)),
            }
        }
        acts
    };
    let waits = |act: &Act| matches!(act, Act::Wait(_));
    scenarios.iter().map(events).filter(|acts| !acts.iter().all(waits)).collect()
}

fn is_data(step: &StepKind) -> bool {
    matches!(step, StepKind::Data(_))
}

/// Lets time pass up to a moment that has not come yet.
fn wait_until(time: i64, now: &mut i64, acts: &mut Vec<Act>) {
    if time > *now {
        acts.push(Act::Wait(time - *now));
        *now = time;
    }
}

fn event(step: &StepKind) -> Option<Act> {
    let call = |call: &Call, then: ExploredEnding| {
        let tool = call.tool.clone();
        let args = call.args.clone();
        Some(Act::Call { id: String::new(), tool, args, then })
    };
    match step {
        StepKind::Run { call: of, success: true, result, .. } => {
            call(of, ExploredEnding::Succeeds(result.clone()))
        }
        StepKind::Run { call: of, .. } => call(of, ExploredEnding::Fails),
        StepKind::Allowed(of)
        | StepKind::Denied { call: of, .. }
        | StepKind::Asks { call: of, .. }
        | StepKind::Waits { call: of, .. }
        | StepKind::Start(_, of) => call(of, ExploredEnding::Succeeds(None)),
        StepKind::Usage(unit, amount) => Some(Act::Usage(unit.clone(), *amount)),
        StepKind::Prompt(text) => Some(Act::Prompt(text.clone())),
        StepKind::Resume(_) => Some(Act::Resume),
        StepKind::Verify(item, _) => Some(Act::Verify(item.clone())),
        StepKind::Move(item, transition, _) => Some(Act::Move(item.clone(), transition.clone())),
        _ => None,
    }
}
