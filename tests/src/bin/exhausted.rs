//! Explorations that tried everything, over many guards: `exhausted [GUARDS] [SEED]`. Prints the guards of which one was wrong.

use guard_plan::random::Rng;
use guard_tests::compiled;
use guard_tests::exhausted::{ExplorationCounts, source, try_guard};
use std::process::ExitCode;

fn main() -> ExitCode {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let number = |at: usize, usual| numbers.get(at).copied().unwrap_or(usual);
    let guards = number(0, 2_000);
    let first = number(1, 0);
    let mut tried = ExplorationCounts::default();
    let mut compiles = 0;
    let mut broken = 0;
    for seed in first..first + guards {
        let rng = &mut Rng::new(seed);
        let text = source(rng);
        let Some(output) = compiled(&text) else { continue };
        compiles += 1;
        if let Err(why) = try_guard(&output.program, rng, &mut tried) {
            broken += 1;
            println!("seed {seed}: {why}\n{text}");
        }
    }
    println!("{compiles} of {guards} guards compile, {broken} broken: {tried:?}");
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
