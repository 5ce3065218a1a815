//! The differential law: kernel and reference evaluator say the same of every event.
//!
//! Compared after every event are decisions, the code, rule and decision of every reason, results of served calls,
//! feedback to the letter, what was noted and learned, items, stops with the checks they lack, and errors of the
//! host; then the state, facts with who taught them, items whole, what was spent, and halts. The sentences of
//! reasons, of what a stop lacks and of why an item was rejected are the kernel's alone. The session of the kernel without
//! the optimizer is taken up from its memory again and again (semantics §17).

mod coverage;
mod evolution;
mod heard;
mod kernel;
mod play;
mod recorded;
mod reference;
mod trace;
mod world;

use crate::generate::{Generated, Timed, events, guard};
use guard_plan::random::Rng;
use play::Subject;

pub use coverage::RunCoverage;
pub use evolution::first_difference;
pub use recorded::recorded;

/// Guards that do not compile are drawn again, this often.
const DRAWS: usize = 40;
/// Sessions of one guard.
const SESSIONS: u64 = 10;
/// Events of one session.
const EVENTS: usize = 30;

/// A disagreement, reduced.
#[derive(Debug)]
pub struct Divergence {
    /// The seed that gives it again.
    pub seed: u64,
    /// The guard.
    pub guard: String,
    /// The events up to the disagreement.
    pub events: Vec<Timed>,
    /// What each said.
    pub what: String,
}

impl std::fmt::Display for Divergence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "seed {}\n{}\n", self.seed, self.guard)?;
        for Timed { step, event, .. } in &self.events {
            writeln!(f, "{step:+} ms  {event:?}")?;
        }
        writeln!(f, "{}", self.what)
    }
}

/// Plays `sessions` sessions of guards drawn from `seed` on.
pub fn run(seed: u64, sessions: u64) -> Result<RunCoverage, Box<Divergence>> {
    let mut coverage = RunCoverage::default();
    let mut at = seed;
    while coverage.sessions < sessions {
        play_seed(at, &mut coverage)?;
        at = at.wrapping_add(1);
    }
    Ok(coverage)
}

/// Takes sessions of as many guards up from spoilt memories. How many were taken and refused; panics are errors.
pub fn spoil(seed: u64, guards: u64) -> (u64, u64) {
    let mut total = (0, 0);
    for seed in seed..seed + guards {
        let mut rng = Rng::new(seed);
        let drawn = guard(&mut rng);
        let Some(subject) = Subject::compile(&drawn.text()) else { continue };
        let events = events(&mut rng, &drawn, EVENTS);
        let (taken, refused) = subject.spoil(&events, &mut rng);
        total = (total.0 + taken, total.1 + refused);
    }
    total
}

/// Plays the sessions of one seed.
pub fn play_seed(seed: u64, coverage: &mut RunCoverage) -> Result<(), Box<Divergence>> {
    let mut rng = Rng::new(seed);
    for _ in 0..DRAWS {
        let drawn = guard(&mut rng);
        let Some(subject) = Subject::compile(&drawn.text()) else {
            coverage.discarded += 1;
            continue;
        };
        for _ in 0..SESSIONS {
            let events = events(&mut rng, &drawn, EVENTS);
            coverage.begin();
            if let Err((at, what)) = subject.play(&events, coverage) {
                return Err(Box::new(reduce(seed, drawn, events[..=at].to_vec(), what)));
            }
        }
        return Ok(());
    }
    Ok(())
}

/// The part of a disagreement's text that says of which kind it is.
fn kind(what: &str) -> &str {
    what.split([':', '{', '\n', '"']).next().unwrap_or_default()
}

/// Leaves out events and items as long as the two still disagree in the same way.
fn reduce(seed: u64, drawn: Generated, events: Vec<Timed>, what: String) -> Divergence {
    let wanted = kind(&what).to_owned();
    let mut best = Divergence { seed, guard: drawn.text(), events, what };
    let mut items = drawn.items;
    let diverges = |text: &str, events: &[Timed]| {
        let found = Subject::compile(text)?.play(events, &mut RunCoverage::default()).err();
        found.filter(|(_, what)| kind(what) == wanted)
    };
    let mut progress = true;
    while progress {
        progress = false;
        for at in (0..best.events.len()).rev() {
            let mut fewer = best.events.clone();
            fewer.remove(at);
            if let Some((_, what)) = diverges(&best.guard, &fewer) {
                (best.events, best.what, progress) = (fewer, what, true);
            }
        }
        for at in (0..items.len()).rev() {
            let without: Vec<String> = items
                .iter()
                .enumerate()
                .filter(|(i, _)| *i != at)
                .map(|(_, t)| t.clone())
                .collect();
            for candidate in std::iter::once(without).chain(shorter(&items, at)) {
                let text = candidate.join("\n");
                if let Some((_, what)) = diverges(&text, &best.events) {
                    (best.guard, best.what, progress) = (text, what, true);
                    items = candidate;
                    break;
                }
            }
            if at >= items.len() {
                continue;
            }
        }
    }
    best
}

/// The guard with one line less in one of its items.
fn shorter(items: &[String], at: usize) -> Vec<Vec<String>> {
    let lines: Vec<&str> = items[at].lines().collect();
    (1..lines.len().saturating_sub(1))
        .map(|cut| {
            let kept: Vec<&str> =
                lines.iter().enumerate().filter(|(i, _)| *i != cut).map(|(_, l)| *l).collect();
            let mut items = items.to_vec();
            items[at] = kept.join("\n");
            items
        })
        .collect()
}
