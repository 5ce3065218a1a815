//! Generated scenarios: random guards, scripts and worlds, with expectations from the reference
//! evaluator.
//!
//! The output is the text of an ordinary case, so the judge is independent of compiler and runtime.

mod draw;
mod expected;
mod scenario;
mod shrink;

use crate::reference::Evaluator;
use expected::Expected;
use guard_ack::case::{self, Case};
use guard_ack::{Contestant, Played, RunSeen, play};
use scenario::GeneratedScenario;

/// The maximum number of draws to get a guard that compiles.
const DRAWS: u64 = 60;
/// The maximum number of attempts to fit a script to its guard.
const FITS: usize = 8;

/// A scenario with its expectations.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedCase {
    /// The area and name.
    pub name: String,
    /// The text of the case.
    pub text: String,
    scenario: GeneratedScenario,
}

impl GeneratedCase {
    /// Generates the scenario with this number, for a run with this seed.
    pub fn draw(seed: u64, number: u64) -> Option<GeneratedCase> {
        let name = format!("generated_{seed}_{number}");
        (0..DRAWS).find_map(|attempt| made(draw::scenario(seed, number, attempt), &name))
    }

    /// Generates the scenarios from 1 on.
    pub fn all(seed: u64, count: u64) -> Vec<GeneratedCase> {
        (1..=count).filter_map(|number| GeneratedCase::draw(seed, number)).collect()
    }

    /// Removes turns, calls and parts of the guard while the contestant still fails.
    pub fn shrunk(self, contestant: &dyn Contestant, seed: u64) -> GeneratedCase {
        // The name is changed, because the generator gives a different case under the original
        // name.
        let name = self.name.rsplit('/').next().unwrap_or_default();
        let name = name.replace("generated_", "shrunk_");
        let mut best = self;
        while let Some(smaller) = shrink::smaller(&best.scenario).into_iter().find_map(|scenario| {
            let smaller = made(scenario, &name)?;
            // Fitting may have added the removed part again. Without a shorter text the loop would
            // not end.
            let shorter = smaller.text.len() < best.text.len();
            (shorter && fails(&smaller, contestant, seed)).then_some(smaller)
        }) {
            best = smaller;
        }
        best
    }
}

/// Returns true if a contestant breaks a promise or cannot be judged.
fn fails(generated: &GeneratedCase, contestant: &dyn Contestant, seed: u64) -> bool {
    let Ok(case) = case::parse(&generated.name, &generated.text, seed) else { return false };
    match play(&case, contestant, "", seed, &|_| None).0 {
        Played::Judged(broken) => !broken.is_empty(),
        Played::Errored(_) => true,
        Played::Skipped(_) => false,
    }
}

/// Completes a scenario so that it ends with an allowed stop, and adds its expectations. `None` if
/// its guard does not compile, or its script cannot be fitted.
fn made(mut scenario: GeneratedScenario, name: &str) -> Option<GeneratedCase> {
    crate::reference::compiled(&scenario.guard())?;
    for _ in 0..FITS {
        let seen = seen(&scenario, name, false)?;
        if !fits(&mut scenario, &seen) {
            continue;
        }
        let expected = Expected::from_run(&scenario, &seen);
        // If the result depends on serial execution, the calls are held, and only adapters with
        // parallel calls are tested.
        let serial =
            || self::seen(&scenario, name, true).map(|seen| Expected::from_run(&scenario, &seen));
        let held = |turn: &scenario::GeneratedTurn| turn.calls.len() > 1 && !turn.overlap;
        if scenario.turns.iter().any(held) && serial().as_ref() != Some(&expected) {
            scenario.turns.iter_mut().for_each(|turn| turn.overlap = turn.calls.len() > 1);
            continue;
        }
        let name = format!("{}/{name}", scenario.clause().0);
        return Some(GeneratedCase { name, text: scenario.toml(&expected), scenario });
    }
    None
}

/// Removes the turns after the end, or adds a stop if the last one was blocked. Returns true if the
/// script already fitted.
fn fits(scenario: &mut GeneratedScenario, seen: &RunSeen) -> bool {
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

/// Returns the observations on the reference evaluator; `None` if it cannot run the scenario.
fn seen(scenario: &GeneratedScenario, name: &str, serial: bool) -> Option<RunSeen> {
    let text = scenario.toml(&Expected::nothing());
    let name = format!("{}/{name}", scenario.clause().0);
    let case: Case = case::parse(&name, &text, 0).ok()?;
    let (_, mut seen) = play(&case, &Evaluator { serial }, "", 0, &|_| None);
    seen.runs.pop().filter(|run| run.end.is_some())
}
