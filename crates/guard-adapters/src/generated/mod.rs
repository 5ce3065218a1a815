//! Generated scenarios: random guards, scripts and worlds, whose expectations come from the reference evaluator.
//!
//! What comes out is the text of a case like any other: the judge stays ignorant of compiler and runtime.

mod draw;
mod expected;
mod rng;
mod scenario;
mod shrink;

use crate::reference::Evaluator;
use expected::Expected;
use guard_ack::case::{self, Case};
use guard_ack::{Contestant, Played, RunSeen, play};
use scenario::Scenario;

/// A guard that does not compile is drawn again, this often.
const DRAWS: u64 = 60;
/// How often a script is made to fit its guard, before it is given up.
const FITS: usize = 8;

/// A scenario with what is expected of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Generated {
    /// Its area and name.
    pub name: String,
    /// The text of the case.
    pub text: String,
    scenario: Scenario,
}

impl Generated {
    /// The scenario `number` of a run with this seed.
    pub fn draw(seed: u64, number: u64) -> Option<Generated> {
        let name = format!("generated_{seed}_{number}");
        (0..DRAWS).find_map(|attempt| made(draw::scenario(seed, number, attempt), &name))
    }

    /// Scenarios from 1 on.
    pub fn all(seed: u64, count: u64) -> Vec<Generated> {
        (1..=count).filter_map(|number| Generated::draw(seed, number)).collect()
    }

    /// Leaves out turns, calls and parts of the guard as long as the contestant does not pass.
    pub fn shrunk(self, contestant: &dyn Contestant, seed: u64) -> Generated {
        // Another name: it is not what the generator gives under that one.
        let name = self.name.rsplit('/').next().unwrap_or_default();
        let name = name.replace("generated_", "shrunk_");
        let mut best = self;
        while let Some(smaller) = shrink::smaller(&best.scenario).into_iter().find_map(|scenario| {
            let smaller = made(scenario, &name)?;
            // What was left out may have been added again: then nothing is gained, and this would never end.
            let shorter = smaller.text.len() < best.text.len();
            (shorter && fails(&smaller, contestant, seed)).then_some(smaller)
        }) {
            best = smaller;
        }
        best
    }
}

/// Whether a contestant breaks a promise, or cannot be judged.
fn fails(generated: &Generated, contestant: &dyn Contestant, seed: u64) -> bool {
    let Ok(case) = case::parse(&generated.name, &generated.text, seed) else { return false };
    match play(&case, contestant, "", seed, &|_| None).0 {
        Played::Judged(broken) => !broken.is_empty(),
        Played::Errored(_) => true,
        Played::Skipped(_) => false,
    }
}

/// A scenario that ends with a stop that is allowed, with its expectations. None: its guard does not compile, or its
/// script cannot be made to fit.
fn made(mut scenario: Scenario, name: &str) -> Option<Generated> {
    crate::reference::compiled(&scenario.guard())?;
    for _ in 0..FITS {
        let seen = seen(&scenario, name, false)?;
        if !fits(&mut scenario, &seen) {
            continue;
        }
        let expected = Expected::of(&scenario, &seen);
        // Where it matters whether calls run one by one, they are held, and only those who run several are asked.
        let serial = || self::seen(&scenario, name, true).map(|it| Expected::of(&scenario, &it));
        let held = |turn: &scenario::Turn| turn.calls.len() > 1 && !turn.overlap;
        if scenario.turns.iter().any(held) && serial().as_ref() != Some(&expected) {
            scenario.turns.iter_mut().for_each(|turn| turn.overlap = turn.calls.len() > 1);
            continue;
        }
        let name = format!("{}/{name}", scenario.clause().0);
        return Some(Generated { name, text: scenario.toml(&expected), scenario });
    }
    None
}

/// Cuts what comes after the end, or adds a stop where the last was blocked. Whether nothing was to be done.
fn fits(scenario: &mut Scenario, seen: &RunSeen) -> bool {
    if seen.beyond {
        let last = scenario.turns.iter().rev().find(|turn| turn.calls.is_empty()).cloned();
        scenario.turns.extend(last);
        return false;
    }
    let asked = seen.shown.len();
    let fits = asked == scenario.turns.len();
    scenario.turns.truncate(asked);
    fits
}

/// What is seen of the reference evaluator. None where it cannot play it.
fn seen(scenario: &Scenario, name: &str, serial: bool) -> Option<RunSeen> {
    let text = scenario.toml(&Expected::nothing());
    let name = format!("{}/{name}", scenario.clause().0);
    let case: Case = case::parse(&name, &text, 0).ok()?;
    let (_, mut seen) = play(&case, &Evaluator { serial }, "", 0, &|_| None);
    seen.runs.pop().filter(|run| run.end.is_some())
}
