//! Temporal monitors: each operator over the past keeps one or two truth values, updated with every
//! state.

use crate::compiled::CompiledPlan;
use crate::eval::context::{Context, DecisionResources};
use crate::session::{SessionState, Truth};
use crate::world::{NoWorld, WorldAnswers};
use guard_plan::plan::{Monitor, TemporalOp};
use guard_plan::value::Fault;

type Maybe = Result<bool, Fault>;

/// Initializes the monitors with the initial state.
pub(crate) fn begin_monitors(compiled: &CompiledPlan, session: &mut SessionState) {
    for monitor in session.monitors.iter_mut() {
        *monitor = Truth { value: Ok(false), operand: Ok(false) };
    }
    for (id, monitor) in compiled.plan().monitors.iter().enumerate() {
        // `historically` starts as true, so that its first value is that of its operand.
        let historically = monitor.op == TemporalOp::Historically;
        session.monitors[id].value = Ok(historically);
    }
    step_monitors(compiled, session);
}

/// Updates the monitors with the committed state.
pub(crate) fn step_monitors(compiled: &CompiledPlan, session: &mut SessionState) {
    let mut world = NoWorld;
    for (id, monitor) in compiled.plan().monitors.iter().enumerate() {
        let decision = DecisionResources::default();
        let answers = WorldAnswers::new(&mut world);
        let (of, trigger) = &compiled.monitors[id];
        let context = Context::new(compiled, session, &decision, &answers);
        let operand = context.holds(of);
        let trigger = trigger.as_ref().map_or(Ok(false), |trigger| context.holds(trigger));
        let truth = step(monitor, &session.monitors[id], operand, trigger);
        session.monitors[id] = truth;
    }
}

fn step(monitor: &Monitor, before: &Truth, operand: Maybe, trigger: Maybe) -> Truth {
    let was = || before.value.clone();
    let value = match monitor.op {
        TemporalOp::Once => or(was(), operand.clone()),
        TemporalOp::Historically => and(was(), operand.clone()),
        TemporalOp::Previous => before.operand.clone(),
        TemporalOp::Since => or(trigger, and(was(), operand.clone())),
    };
    Truth { value, operand }
}

/// Returns true if either operand is true; otherwise a fault if an operand is a fault.
fn or(a: Maybe, b: Maybe) -> Maybe {
    match (a, b) {
        (Ok(true), _) | (_, Ok(true)) => Ok(true),
        (Err(fault), _) | (_, Err(fault)) => Err(fault),
        _ => Ok(false),
    }
}

fn and(a: Maybe, b: Maybe) -> Maybe {
    match (a, b) {
        (Ok(false), _) | (_, Ok(false)) => Ok(false),
        (Err(fault), _) | (_, Err(fault)) => Err(fault),
        _ => Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use guard_plan::plan::{Expr, Node};

    /// Runs an operator over operands (and triggers) and returns its value at each step.
    fn run(op: TemporalOp, operands: &str, triggers: &str) -> String {
        let monitor = Monitor { op, of: Expr(vec![Node::Bool(true)]), trigger: None };
        let mut truth = Truth { value: Ok(op == TemporalOp::Historically), operand: Ok(false) };
        let truth_of = |c| match c {
            '1' => Ok(true),
            '0' => Ok(false),
            _ => Err(Fault::DivisionByZero),
        };
        let triggers = triggers.chars().chain(std::iter::repeat('0'));
        let steps = operands.chars().zip(triggers).map(|(operand, trigger)| {
            truth = step(&monitor, &truth, truth_of(operand), truth_of(trigger));
            match truth.value {
                Ok(true) => '1',
                Ok(false) => '0',
                Err(_) => '?',
            }
        });
        steps.collect()
    }

    #[test]
    fn operators() {
        assert_eq!(run(TemporalOp::Once, "0010?0", ""), "001111");
        assert_eq!(run(TemporalOp::Once, "0?01", ""), "0??1");
        assert_eq!(run(TemporalOp::Historically, "1101", ""), "1100");
        assert_eq!(run(TemporalOp::Historically, "1?10", ""), "1??0");
        assert_eq!(run(TemporalOp::Previous, "101?0", ""), "0101?");
        assert_eq!(run(TemporalOp::Since, "1110111", "0100010"), "0110011");
    }
}
