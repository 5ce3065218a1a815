//! One step from arbitrary states, over many guards: `steps [CLAIMS] [SEED] [CALLS]`.
//!
//! Runs until so many claims were tried, from a seed on, with so many calls for each tool; prints how much was tried. The first claim that
//! does not hold ends it, with the guard.

use guard_plan::random::Rng;
use guard_tests::compiled;
use guard_tests::steps::{self, StepCounts};
use std::process::ExitCode;

fn main() -> ExitCode {
    let numbers: Vec<u64> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let number = |at: usize, usual| numbers.get(at).copied().unwrap_or(usual);
    let claims = number(0, 10_000);
    let first = number(1, 0);
    let calls = number(2, 150);
    let show_all = std::env::args().any(|arg| arg == "--all");
    let mut tried = StepCounts::default();
    let mut drawn = 0;
    let mut broken = 0;
    for seed in first.. {
        if tried.claims as u64 >= claims {
            break;
        }
        drawn += 1;
        let rng = &mut Rng::new(seed);
        let text = steps::grammar::source(rng);
        let Some(output) = compiled(&text) else { continue };
        if let Err(why) = steps::try_guard(&output, rng, calls as usize, &mut tried) {
            broken += 1;
            println!(
                "seed {seed}, after {} claims and {} calls: {why}\n{text}",
                tried.claims, tried.calls
            );
            if !show_all {
                return ExitCode::FAILURE;
            }
        }
    }
    println!("{drawn} guards drawn, {broken} broken: {tried:#?}");
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
