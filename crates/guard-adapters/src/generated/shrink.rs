//! Scenarios with one part removed.

use super::scenario::{GeneratedCall, GeneratedScenario, GeneratedTurn};

/// Returns every scenario with one part removed, the largest parts first.
pub fn smaller(scenario: &GeneratedScenario) -> Vec<GeneratedScenario> {
    let mut all = Vec::new();
    let turns = scenario.turns.len();
    // The last turn is a stop.
    for at in (0..turns.saturating_sub(1)).rev() {
        all.push(with(scenario, |smaller| drop(smaller.turns.remove(at))));
    }
    for at in 0..scenario.items.len() {
        all.push(with(scenario, |smaller| drop(smaller.items.remove(at))));
    }
    for at in 0..scenario.tools.len() {
        all.push(with(scenario, |smaller| drop(smaller.tools.remove(at))));
        for clause in 0..scenario.tools[at].clauses.len() {
            all.push(with(scenario, |smaller| drop(smaller.tools[at].clauses.remove(clause))));
        }
    }
    for at in 0..scenario.approvals.len() {
        all.push(with(scenario, |smaller| drop(smaller.approvals.remove(at))));
    }
    for (at, turn) in scenario.turns.iter().enumerate() {
        for call in 0..turn.calls.len() {
            if turn.calls.len() > 1 {
                all.push(with(scenario, |smaller| {
                    smaller.turns[at].calls.remove(call);
                    smaller.turns[at].overlap &= smaller.turns[at].calls.len() > 1;
                }));
            }
            all.push(with(scenario, |smaller| plain(&mut smaller.turns[at].calls[call])));
        }
        all.push(with(scenario, |smaller| bare(&mut smaller.turns[at])));
    }
    all.retain(|smaller| smaller != scenario);
    all
}

fn with(
    scenario: &GeneratedScenario,
    change: impl FnOnce(&mut GeneratedScenario),
) -> GeneratedScenario {
    let mut smaller = scenario.clone();
    change(&mut smaller);
    smaller
}

fn plain(call: &mut GeneratedCall) {
    (call.takes, call.writes, call.removes) = (None, None, None);
}

fn bare(turn: &mut GeneratedTurn) {
    (turn.after, turn.usage, turn.prompt) = (None, None, None);
}
