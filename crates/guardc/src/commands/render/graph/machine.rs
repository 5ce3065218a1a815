//! Lifecycles as state machines.

use super::model::cut;
use guard_plan::plan::{Actor, Lifecycle, Plan};
use guard_plan::words::session;

/// A lifecycle as it is drawn.
#[derive(Debug)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// The tools that the kernel serves for it.
    pub tools: Vec<String>,
    /// Its states.
    pub states: Vec<State>,
    /// Its transitions, one for each state they leave.
    pub moves: Vec<Move>,
}

/// A state.
#[derive(Debug)]
pub struct State {
    /// Its name.
    pub name: String,
    /// Items begin here.
    pub initial: bool,
    /// Items end here.
    pub last: bool,
}

/// A transition from one state.
#[derive(Debug)]
pub struct Move {
    /// From this state.
    pub from: usize,
    /// To this one.
    pub to: usize,
    /// Its name, and what it needs.
    pub label: String,
    /// The harness makes it, not the agent.
    pub harness: bool,
}

/// The lifecycles of a plan.
pub fn machines(plan: &Plan) -> Vec<Machine> {
    (0..).zip(&plan.lifecycles).map(|(id, items)| machine(plan, id, items)).collect()
}

fn machine(plan: &Plan, id: u32, items: &Lifecycle) -> Machine {
    let serves = plan.tools.iter().filter(|t| t.served.as_ref().is_some_and(|s| s.lifecycle == id));
    let states = (0..).zip(&items.states).map(|(at, name)| State {
        name: cut(name, 32),
        initial: at == items.initial,
        last: items.finals.contains(&at),
    });
    let moves = items.transitions.iter().flat_map(|transition| {
        let label = match (transition.evidence, transition.criteria) {
            (true, _) => format!("{} (evidence)", transition.name),
            (false, Some(true)) => format!("{} (criteria pass)", transition.name),
            (false, Some(false)) => format!("{} (criteria fail)", transition.name),
            (false, None) => transition.name.clone(),
        };
        transition.from.iter().map(move |from| Move {
            from: *from as usize,
            to: transition.to as usize,
            label: cut(&label, 32),
            harness: transition.actor == Actor::Harness,
        })
    });
    Machine {
        name: items.name.clone(),
        tools: serves.map(|tool| tool.name.clone()).collect(),
        states: states.collect(),
        moves: moves.collect(),
    }
}

impl Machine {
    /// Who makes a transition.
    pub fn actor(&self, one: &Move) -> &'static str {
        session::actor(if one.harness { Actor::Harness } else { Actor::Agent })
    }
}
