//! Lifecycles as state machines.

use super::model::cut;
use guard_plan::plan::{Actor, Lifecycle, Plan};
use guard_plan::words::session;

/// A lifecycle as it is drawn.
#[derive(Debug)]
pub struct Machine {
    /// The name.
    pub name: String,
    /// The states.
    pub states: Vec<MachineState>,
    /// The transitions, one for each state that they leave.
    pub moves: Vec<MachineTransition>,
}

/// A state.
#[derive(Debug)]
pub struct MachineState {
    /// The name.
    pub name: String,
    /// True if it is the initial state.
    pub initial: bool,
    /// True if it is a final state.
    pub last: bool,
}

/// A transition from one state.
#[derive(Debug)]
pub struct MachineTransition {
    /// The state where the transition starts.
    pub from: usize,
    /// The state where the transition ends.
    pub to: usize,
    /// The name and conditions.
    pub label: String,
    /// True if the harness makes it, not the agent.
    pub harness: bool,
}

/// Returns the lifecycles of a plan.
pub fn machines(plan: &Plan) -> Vec<Machine> {
    plan.lifecycles.iter().map(machine).collect()
}

fn machine(items: &Lifecycle) -> Machine {
    let order = order(items);
    let place = |state: u32| order.iter().position(|at| *at == state).unwrap_or(0);
    let states = order.iter().map(|at| MachineState {
        name: cut(session::state_name(items, *at), 32),
        initial: *at == items.initial,
        last: items.finals.contains(at),
    });
    let moves = items.transitions.iter().flat_map(|transition| {
        let label = match (transition.evidence, transition.criteria) {
            (true, _) => format!("{} (evidence)", transition.name),
            (false, Some(true)) => format!("{} (criteria pass)", transition.name),
            (false, Some(false)) => format!("{} (criteria fail)", transition.name),
            (false, None) => transition.name.clone(),
        };
        transition.from.iter().map(move |from| MachineTransition {
            from: place(*from),
            to: place(transition.to),
            label: cut(&label, 32),
            harness: transition.actor == Actor::Harness,
        })
    });
    Machine { name: items.name.clone(), states: states.collect(), moves: moves.collect() }
}

/// Returns the states in the order in which an item can reach them, then the unreachable ones.
fn order(items: &Lifecycle) -> Vec<u32> {
    let mut order = vec![items.initial];
    let mut next = 0;
    while let Some(at) = order.get(next).copied() {
        next += 1;
        for transition in items.transitions.iter().filter(|t| t.from.contains(&at)) {
            if !order.contains(&transition.to) {
                order.push(transition.to);
            }
        }
    }
    let rest = (0..).zip(&items.states).map(|(at, _)| at).filter(|at| !order.contains(at));
    let rest: Vec<u32> = rest.collect();
    order.extend(rest);
    order
}

impl Machine {
    /// Returns the actor of a transition.
    pub fn actor(&self, transition: &MachineTransition) -> &'static str {
        session::actor(if transition.harness { Actor::Harness } else { Actor::Agent })
    }
}
