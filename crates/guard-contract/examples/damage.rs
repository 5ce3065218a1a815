//! The laws of damaged documents over as many generated ones as asked.
//!
//! `damage [DOCUMENTS] [SEED] [SHOWN]`; prints how many undamaged items were found, and what breaks a law.

#[path = "../tests/main/build.rs"]
#[allow(dead_code, missing_docs)]
mod build;
#[path = "../tests/main/damage.rs"]
#[allow(dead_code, missing_docs)]
mod damage;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arg = |at: usize, or: u64| {
        std::env::args().nth(at).and_then(|arg| arg.parse().ok()).unwrap_or(or)
    };
    let count = arg(1, 100_000);
    let outcome = damage::run(count, arg(2, 1), arg(3, 5) as usize);
    for (kind, recall) in &outcome.recall {
        println!("{kind:?}: {recall}");
    }
    for broken in &outcome.broken {
        println!("{broken}");
    }
    let (broken, valid) = (outcome.count, outcome.falsely_valid);
    println!("{broken} of {count} documents break a law, {valid} of them are valid");
    if outcome.holds(count) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
